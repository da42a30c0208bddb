"""The effects of reassignments: a class for each action of the specification about them.

The request's znode is read and written whole, and a topic's assignment, too: neither write asks for a version, nor
whether there is a znode to be written (D39, D52). The writes of a state znode are conditional like all others.

Kafka 0.10.2.2: `ZkUtils.getPartitionsBeingReassigned`, `updatePartitionReassignmentData`,
`KafkaController.updateAssignedReplicasForPartition`, `areReplicasInIsr`, `updateLeaderEpoch`. PROTOCOL.md section 8.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from reference.leadership.effects import Replicas, StateRead, StateWrite
from reference.procedures import Effect, Script
from reference.scripts import (
    REASSIGN_PARTITIONS,
    Fence,
    check,
    create_persistent,
    parsed,
    parsed_if_json,
    read_data,
    state_path,
    text_of,
    topic_path,
)
from reference.zookeeper.api import Delete, Exists, NodeData, NoNode, SetData
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import PartitionReassignment, ReassignPartitionsPayload, TopicPayload
from spec.state.enumerations import At


@dataclass(frozen=True)
class Reassignments:
    """What is left of a request: RAR by partition; `czxid` tells which request it was, -1 if there was none."""

    wanted: tuple[tuple[TopicPartition, tuple[int, ...]], ...]
    czxid: int


@dataclass(frozen=True)
class ReassignmentRequest:
    """What /admin/reassign_partitions holds: its text, and RAR by partition; `czxid` tells two requests apart.

    `error` says what is wrong with the text, for which nothing is wanted.
    """

    text: str
    wanted: Mapping[TopicPartition, tuple[int, ...]]
    czxid: int
    error: MalformedInput | None = field(default=None, compare=False)


NOTHING_ASKED: Final = ReassignmentRequest("", {}, -1)
"""There is no request."""


def _read_request() -> Script[ReassignmentRequest]:
    """`getPartitionsBeingReassigned`: the request, if there is one."""
    node = yield from read_data(REASSIGN_PARTITIONS)
    return NOTHING_ASKED if node is None else _request_in(node)


def _request_in(node: NodeData) -> ReassignmentRequest:
    """The request that a znode holds; MalformedInput where it cannot be used."""
    payload = parsed_if_json(ReassignPartitionsPayload, REASSIGN_PARTITIONS, node.data)
    named = () if payload is None else payload.partitions
    wanted = {TopicPartition(one.topic, one.partition): one.replicas for one in named}
    return ReassignmentRequest(text_of(node.data), wanted, node.stat.czxid)


class OnReassignmentRequest(Effect[ReassignmentRequest]):
    """A data callback of the request's path: the request, which may have been read before."""

    given: ReassignmentRequest | None = None

    def script(self) -> Script[ReassignmentRequest]:
        """ZkClient sets the watch again, whether or not the znode is there, then reads."""
        if self.given is not None:
            return self.given
        yield Exists(REASSIGN_PARTITIONS)
        node = yield from read_data(REASSIGN_PARTITIONS)
        if node is None:
            return NOTHING_ASKED
        try:
            return _request_in(node)
        except MalformedInput as error:  # which the listener comes to only once it has told of the text
            return ReassignmentRequest(text_of(node.data), {}, node.stat.czxid, error)


class ReadReassignments(Effect[ReassignmentRequest]):
    """Failover: what is being reassigned."""

    at = At.READ_REASSIGNMENTS
    parts = frozenset({"reassignment"})
    script = staticmethod(_read_request)


class AcceptReassignment(Effect[None]):
    """`watchIsrChangesForReassignedPartition`."""

    partition: TopicPartition
    at = At.REASSIGN_NEXT

    def script(self) -> Script[None]:
        """`subscribeDataChanges` sets a watch, whether or not the znode is there."""
        yield Exists(state_path(self.partition), watch=True)


class ReadRemaining(Effect[Reassignments]):
    """A partition is refused, or has failed: what else is to be reassigned."""

    partition: TopicPartition
    at = At.REFUSE_READ
    action = "read_remaining"  # the same step, wherever it is taken

    def script(self) -> Script[Reassignments]:
        """Read the request, and leave the partition out."""
        request = yield from _read_request()
        return Reassignments(tuple(one for one in request.wanted.items() if one[0] != self.partition), request.czxid)


class RefuseReassignment(ReadRemaining):
    """The same for a partition that is refused before it was accepted."""

    at = At.REASSIGN_NEXT


class CompleteReassignment(ReadRemaining):
    """The same for a partition that is done with (step 11)."""

    at = At.COMPLETE_READ


class WriteRemaining(Effect[None]):
    """Step 11, or a refusal: what was read less the partition is written, or the request deleted if that is nothing.

    Where that is fixed, `only_as_read`: not unless the request is the one that was read.
    """

    partition: TopicPartition
    remaining: Reassignments
    fence: Fence | None
    only_as_read: bool
    at = At.REFUSE_WRITE
    action = "write_remaining"  # the same step, wherever it is taken
    written = REASSIGN_PARTITIONS

    def script(self) -> Script[None]:
        """`updatePersistentPath`, or `deletePath`; what a fix asks before sets no watch."""
        yield from check(self.fence)
        if self.only_as_read:
            node = yield from read_data(REASSIGN_PARTITIONS, watches=False)
            if node is None or node.stat.czxid != self.remaining.czxid:
                return
        if not self.remaining.wanted:
            with suppress(NoNode):
                yield Delete(REASSIGN_PARTITIONS)
            return
        left = self.remaining.wanted
        entries = tuple(PartitionReassignment(tp.topic, tp.partition, replicas) for tp, replicas in left)
        yield from _upsert(REASSIGN_PARTITIONS, ReassignPartitionsPayload(partitions=entries).encode())


class WriteRemainingAtEnd(WriteRemaining):
    """The same at the end of a reassignment."""

    at = At.COMPLETE_WRITE


def _upsert(path: str, data: bytes | None) -> Script[None]:
    """`updatePersistentPath`: set the data whatever the version, or create the znode."""
    try:
        yield SetData(path, data)
    except NoNode:
        yield from create_persistent(path, data)


# ------------------------------------------------------------------------------------------------------ the state znode


class OnStateChange(Effect["NodeData | None"]):
    """A data callback of a partition's state znode: what it holds, or None where it is gone."""

    partition: TopicPartition

    def script(self) -> Script[NodeData | None]:
        """ZkClient sets the watch again, whether or not the znode is there, then reads; the listener reads afresh."""
        path = state_path(self.partition)
        yield Exists(path)
        return (yield from read_data(path))


class ReadWhetherCaughtUp(StateRead):
    """`areReplicasInIsr`: the ISR that says which phase it is."""

    at = At.REASSIGN_READ


class BeginAgain(ReadWhetherCaughtUp):
    """The same, with which a partition is begun again because a broker of RAR has started."""

    at = At.REASSIGN_NEXT
    action = "read_whether_caught_up"  # the same step, wherever it is taken


class ReadForBump(StateRead):
    """Step 2: the state znode whose leader epoch is to be raised; `remaining` are the replicas to be started then."""

    remaining: Replicas
    at = At.BUMP_READ


class WriteBump(StateWrite):
    """Step 2: the same leader and ISR, leader_epoch + 1."""

    remaining: Replicas
    at = At.BUMP_WRITE


class ReadForMove(StateRead):
    """Step 7: the state znode, for a leader of RAR to be elected, or for the leader epoch to be raised."""

    at = At.MOVE_READ


class WriteMove(StateWrite):
    """Step 7: the elected leader, or the same one, leader_epoch + 1."""

    at = At.MOVE_WRITE


# ------------------------------------------------------------------------------------------------------ the assignment


class WriteUnion(Effect["bytes | None"]):
    """Step 1: the whole topic's assignment as it is in memory, but RAR + OAR for this partition; what was written.

    Where that is fixed, `keeps_others`: the other partitions stay as they are in the znode.
    """

    partition: TopicPartition
    assignment: tuple[tuple[int, tuple[int, ...]], ...]
    fence: Fence | None
    keeps_others: bool
    at = At.WRITE_UNION

    @property
    def written(self) -> str:
        """The topic's znode."""
        return topic_path(self.partition.topic)

    def script(self) -> Script[bytes | None]:
        """An upsert."""
        path, written = topic_path(self.partition.topic), dict(self.assignment)
        yield from check(self.fence)
        if self.keeps_others:
            number, node = self.partition.partition, (yield from read_data(path, watches=False))
            others = {} if node is None else parsed(TopicPayload, path, node.data).partitions
            written = {**others, number: written[number]}
        data = TopicPayload(partitions=written).encode()
        yield from _upsert(path, data)
        return data


class WriteTarget(WriteUnion):
    """Step 10: the same with RAR."""

    at = At.WRITE_TARGET
