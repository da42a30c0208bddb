"""The broker's side: the fences, and becoming leader or follower.

A broker keeps the highest controller epoch it has seen and, for each partition, the leadership that it accepted last. A
request of an older controller epoch is refused whole; a partition whose leader epoch is not strictly higher is ignored.
All of it is memory: a restarted broker takes anything once.

StopReplica carries no leader epoch and is obeyed whatever its age. Without delete it ends a follower's fetching and no
more: a leader leads on. With delete the replica goes, its log and all that the broker knew of it.

Kafka 0.10.2.2: `ReplicaManager`, `Partition`, `MetadataCache`. PROTOCOL.md section 10. Left out on purpose: what is in
the logs, high watermarks and fetchers, so that a replica's being in sync is a matter of the ISR alone; the partitions
that a metadata cache tells clients of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from reference.forking import shallow_copy
from reference.journal import Journal, StateChange, nowhere
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import LEADER_DURING_DELETE, NO_LEADER, TopicPartition
from spec.formats.leadership import NO_LEADERSHIP, LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    PartitionError,
    PartitionLeadership,
    PartitionsResponse,
    Request,
    Response,
    StopReplicaRequest,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from spec.logs import broker_change_lines as changes
from spec.logs import leader_and_isr_lines as lines
from spec.logs.logged_values import PartitionInfo, Role

NO_LEADER_EPOCH = NO_LEADERSHIP.leader_epoch
"""The leader epoch of a partition that accepted no LeaderAndIsr yet."""


class BrokenOff(Exception):
    """An exception has come up in the middle of a LeaderAndIsr."""


@dataclass(frozen=True)
class Partition:
    """A partition as a broker knows it; only the leader keeps the ISR.

    `is_idle`: its fetcher was stopped by a StopReplica, or not started by a broker that is shutting down; it starts
    for another leader only. `topic_id` tells its topic from earlier ones of that name, where that is fixed.
    """

    leadership: LeaderIsrAndControllerEpoch = NO_LEADERSHIP
    assigned_replicas: tuple[int, ...] = ()
    is_idle: bool = False
    topic_id: int | None = None


@dataclass(frozen=True)
class Received:
    """A request with its correlation id, the ids of its topics, and how far an exception lets it come."""

    request: LeaderAndIsrRequest
    number: int
    topic_ids: Mapping[str, int]
    reaches: frozenset[TopicPartition] | None

    def has_reached(self, state: PartitionLeadership) -> bool:
        """Whether this part of the request is done before the exception comes, if one does."""
        return self.reaches is None or state.topic_partition in self.reaches


@dataclass
class Broker:
    """The memory of a broker, and the log directories on its disk.

    `alive` are the brokers that its metadata cache lists, None where every leader counts as known, and `cached_epochs`
    the leader epochs of the partitions that it has; `compares_epochs`: none is replaced by a lower one, which is a fix
    (D43). `compares_content`: an ISR write that fails on its version, but finds its very content, counts as done, as it
    does since 0.8.2.0 (D31); `asks_its_cache` who lives, and not the request, since 0.9.0.0 (D60).
    `isr_changes` are the partitions whose ISR it wrote and has not announced. `logs` are the partitions that have a log
    here; it is what the next incarnation finds. Those that are `abandoned` could not be deleted, and are not the log
    manager's any more, unless it `keeps_undeleted` ones (a fix, D72-log). Where it `is_shutting_down`, no fetcher
    starts any more.
    """

    broker_id: int
    alive: frozenset[int] | None = frozenset()
    journal: Journal = nowhere
    controller_epoch: int = 0
    partitions: dict[TopicPartition, Partition] = field(default_factory=dict)
    isr_changes: frozenset[TopicPartition] = frozenset()
    logs: frozenset[TopicPartition] = frozenset()
    abandoned: frozenset[TopicPartition] = frozenset()
    cached_epochs: dict[TopicPartition, int] = field(default_factory=dict)
    compares_epochs: bool = False
    compares_content: bool = True
    asks_its_cache: bool = True
    keeps_undeleted: bool = False
    is_shutting_down: bool = False

    def partition(self, partition: TopicPartition) -> Partition:
        """What this broker knows of a partition."""
        return self.partitions.get(partition, Partition())

    def fork(self) -> Self:
        """A copy that goes its own way."""
        twin = shallow_copy(self)
        twin.partitions, twin.cached_epochs = dict(self.partitions), dict(self.cached_epochs)
        return twin

    # --------------------------------------------------------------------------------------------------------- requests

    def handle(
        self,
        request: Request,
        correlation_id: int,
        leader_epoch: int | None = None,
        topic_ids: Mapping[str, int] | None = None,
        *,
        whole: bool = False,
        reaches: frozenset[TopicPartition] | None = None,
        fails: bool = False,
    ) -> Response:
        """Carry out a request of a controller and answer it.

        A StopReplica with delete may have a leader epoch, a LeaderAndIsr the ids of its topics, and an UpdateMetadata
        may be of all partitions. A LeaderAndIsr of which an exception is in the way `reaches` some partitions only; a
        StopReplica with delete `fails` whose first log cannot be removed.
        """
        match request:
            case LeaderAndIsrRequest():
                return self._become_leader_or_follower(Received(request, correlation_id, topic_ids or {}, reaches))
            case UpdateMetadataRequest():
                return self._maybe_update_metadata_cache(request, correlation_id, whole=whole)
            case StopReplicaRequest():
                return self._stop_replicas(request, leader_epoch, fails=fails)
            case _:
                raise TypeError(f"no broker is ever sent a {type(request).__name__}")

    def _is_old(self, request: Request, line: type[changes.BrokerLine], **values: Any) -> bool:
        """Whether a request is refused, which a line tells, as of an older controller; else its epoch counts now."""
        epoch: int = getattr(request, "controller_epoch")  # noqa: B009 - every request of a controller has one
        if epoch < self.controller_epoch:
            self._tell(line, epoch=epoch, known_epoch=self.controller_epoch, **values)
            return True
        self.controller_epoch = epoch
        return False

    def _become_leader_or_follower(self, received: Received) -> PartitionsResponse:
        request, states = received.request, received.request.partition_states
        for state in states:
            info = PartitionInfo(state.leadership, state.replicas)
            self._log(lines.LeaderAndIsrReceived, request, received.number, state, state=info)
        about = {"controller": request.controller_id, "correlation_id": received.number}
        if self._is_old(request, lines.LeaderAndIsrFromOldController, **about):
            return PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
        codes = {state.topic_partition: self._decide(state, received) for state in states}
        accepted = [state for state in states if codes[state.topic_partition] is ErrorCode.NONE]
        led = [one for one in accepted if one.leadership.leader == self.broker_id]
        try:
            self._make_leaders(led, received)
            self._make_followers([one for one in accepted if one not in led], received)
        except BrokenOff:
            codes = dict.fromkeys(codes, ErrorCode.UNKNOWN)
        for state in filter(received.has_reached, accepted):
            self.logs |= {state.topic_partition}
            self.abandoned -= {state.topic_partition}
            self._note_topic(state, request, received.topic_ids.get(state.topic))
        return PartitionsResponse(
            ErrorCode.NONE,
            tuple(PartitionError(one.topic, one.partition, codes[one.topic_partition]) for one in states),
        )

    def _decide(self, state: PartitionLeadership, received: Received) -> ErrorCode:
        """What becomes of a partition, and the line for one that is refused."""
        code, request, number = self.verdict(state, received.topic_ids), received.request, received.number
        if code is ErrorCode.STALE_CONTROLLER_EPOCH:
            current = self.partition(state.topic_partition).leadership.leader_epoch
            epochs = {"leader_epoch": state.leadership.leader_epoch, "current_leader_epoch": current}
            self._log(lines.LeaderEpochNotHigher, request, number, state, **epochs)
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self._log(lines.NotInAssignedReplicas, request, number, state, assigned_replicas=state.replicas)
        return code

    def verdict(self, state: PartitionLeadership, topic_ids: Mapping[str, int]) -> ErrorCode:
        """Accept a strictly higher leader epoch, or another topic of that name, for one of our replicas, or refuse."""
        known = self.partition(state.topic_partition)
        same_topic = topic_ids.get(state.topic) in {None, known.topic_id}
        if same_topic and state.leadership.leader_epoch <= known.leadership.leader_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        return ErrorCode.NONE if self.broker_id in state.replicas else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def _note_topic(self, state: PartitionLeadership, request: LeaderAndIsrRequest, topic_id: int | None) -> None:
        """Remember which topic of that name an accepted state was about."""
        if topic_id is not None and self._stores(state.leadership.leader, request):
            partition = state.topic_partition
            self.partitions[partition] = replace(self.partition(partition), topic_id=topic_id)

    def _make_leaders(self, states: Sequence[PartitionLeadership], received: Received) -> None:
        """`makeLeaders`: stop to fetch, and take over what is said; a partition not reached has stopped, too."""
        request, number = received.request, received.number
        for state in states:
            self._log(lines.TransitionStarted, request, number, state, role=Role.LEADER)
        new = []
        for state in states:
            known = self.partition(state.topic_partition)
            if not received.has_reached(state):
                followed = known.leadership.leader not in {NO_LEADER, self.broker_id}
                self.partitions[state.topic_partition] = replace(known, is_idle=followed)
                continue
            self.partitions[state.topic_partition] = _accepted(known, state, state.leadership.isr)
            if known.leadership.leader == self.broker_id:
                self._log(lines.BecomeLeaderUnchanged, request, number, state)
            else:
                new.append(state)
        if not all(map(received.has_reached, states)):
            for state in states:
                self._log(lines.BecomeLeaderError, request, number, state)
            raise BrokenOff
        for state in new:
            self._log(lines.FetchersStopped, request, number, state, role=Role.LEADER)
        for state in states:
            self._log(lines.TransitionCompleted, request, number, state, role=Role.LEADER)

    def _make_followers(self, states: Sequence[PartitionLeadership], received: Received) -> None:
        """`makeFollowers`: take over what the request says, and fetch from the leader where that is another one."""
        request, number = received.request, received.number
        for state in states:
            self._log(lines.TransitionStarted, request, number, state, role=Role.FOLLOWER)
        moved = [one for one in states if received.has_reached(one) and self._make_follower(one, request, number)]
        if received.reaches is not None:
            for state in moved:
                partition = state.topic_partition
                self.partitions[partition] = replace(self.partition(partition), is_idle=True)
            self._tell(lines.BecomeFollowerError, request.controller_id, request.controller_epoch, number)
            raise BrokenOff
        last = lines.FetcherNotStarted if self.is_shutting_down else lines.FetcherStarted
        for line, values in ((lines.FetchersStopped, {"role": Role.FOLLOWER}), (lines.LogsTruncated, {}), (last, {})):
            for state in moved:
                self._log(line, request, number, state, **values)
        for state in states:
            self._log(lines.TransitionCompleted, request, number, state, role=Role.FOLLOWER)

    def _make_follower(self, state: PartitionLeadership, request: LeaderAndIsrRequest, number: int) -> bool:
        """Whether the leader is another one now; the two lines for where it is not name the epoch of the decision."""
        partition, known = state.topic_partition, self.partition(state.topic_partition)
        leader, epoch = state.leadership.leader, state.leadership.controller_epoch
        about = (request.controller_id, epoch, number, partition, leader)
        if not self.knows_alive(leader, request):
            # The replica is created, but the leader epoch is not stored, and the answer is 0 all the same (D11).
            self._tell(lines.LeaderUnavailable, *about)
            return False
        self.partitions[partition] = _accepted(known, state, ())
        if known.leadership.leader == leader:
            self._tell(lines.BecomeFollowerUnchanged, *about)
        elif self.is_shutting_down:
            self.partitions[partition] = replace(self.partition(partition), is_idle=True)
        return known.leadership.leader != leader

    def would_change(self, request: LeaderAndIsrRequest, state: PartitionLeadership) -> bool:
        """Whether this part of a request would change what is known of the partition, under the partition's lock."""
        told, known = state.leadership, self.partition(state.topic_partition).leadership
        newer = told.leader_epoch > known.leader_epoch
        return request.controller_epoch >= self.controller_epoch and newer and self._stores(told.leader, request)

    def _stores(self, leader: int, request: LeaderAndIsrRequest) -> bool:
        """Whether an accepted leadership is stored, in which this broker leads."""
        return leader == self.broker_id or self.knows_alive(leader, request)

    def knows_alive(self, leader: int, request: LeaderAndIsrRequest) -> bool:
        """Whether this broker takes a leader for one that lives."""
        if self.alive is None:
            return leader != NO_LEADER
        return leader in (self.alive if self.asks_its_cache else {live.id for live in request.live_leaders})

    def _maybe_update_metadata_cache(
        self, request: UpdateMetadataRequest, correlation_id: int, *, whole: bool
    ) -> UpdateMetadataResponse:
        """Replace the living brokers, and the leaderships; leader epochs are not compared (D43).

        What is not named stays, unless the request is of all partitions, and says so (a fix, S10).
        """
        about = {"controller": request.controller_id, "correlation_id": correlation_id}
        if self._is_old(request, changes.UpdateMetadataFromOldController, **about):
            return UpdateMetadataResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
        self.alive = frozenset(broker.id for broker in request.live_brokers)
        for state in request.partition_states:
            partition, told = state.topic_partition, state.leadership
            cached = self.cached_epochs.get(partition, NO_LEADER_EPOCH)
            if told.leader == LEADER_DURING_DELETE:
                self.cached_epochs.pop(partition, None)
                self._log(changes.PartitionUncached, request, correlation_id, state)
            elif not (self.compares_epochs and told.leader_epoch < cached):
                self.cached_epochs[partition] = told.leader_epoch
                info = PartitionInfo(told, state.replicas)
                self._log(changes.LeaderInfoCached, request, correlation_id, state, info=info)
        if whole:
            named = {state.topic_partition for state in request.partition_states}
            self.cached_epochs = {one: epoch for one, epoch in self.cached_epochs.items() if one in named}
        return UpdateMetadataResponse(ErrorCode.NONE)

    def _stop_replicas(
        self, request: StopReplicaRequest, leader_epoch: int | None, *, fails: bool
    ) -> PartitionsResponse:
        """Stop to fetch these partitions, and delete them if asked to; leader epochs are not known, let alone compared
        (D22), but where that is fixed: one that is not higher than the replica's is refused.
        """
        if self._is_old(request, changes.StopReplicaFromOldController):
            return PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
        if fails:
            self._fail_to_delete(request.partitions[0])
            codes = dict.fromkeys(request.partitions, ErrorCode.UNKNOWN)
            return PartitionsResponse(ErrorCode.NONE, _errors(codes))
        codes = {one: self._stop_unless_newer(request, one, leader_epoch) for one in request.partitions}
        return PartitionsResponse(ErrorCode.NONE, _errors(codes))

    def _stop_unless_newer(
        self, request: StopReplicaRequest, partition: TopicPartition, leader_epoch: int | None
    ) -> ErrorCode:
        """Obey for one partition, or refuse."""
        known = self.partition(partition).leadership.leader_epoch
        if leader_epoch is not None and known != NO_LEADER_EPOCH and known >= leader_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        self._stop_replica(partition, delete=request.delete_partitions)
        return ErrorCode.NONE

    def _stop_replica(self, partition: TopicPartition, *, delete: bool) -> None:
        """`stopReplica`: a leader leads on, except at a deletion; a log without a replica is deleted all the same."""
        known = self.partitions.get(partition)
        self._tell(changes.StopReplicaStarted, delete=delete, partition=partition)
        if known is None:
            self._tell(changes.ReplicaDoesNotExist, delete=delete, partition=partition)
        elif not delete:
            leads_or_idles = known.leadership.leader in {NO_LEADER, self.broker_id}
            self.partitions[partition] = replace(known, is_idle=not leads_or_idles)
        if delete:
            self.partitions.pop(partition, None)
            self.logs -= {partition} - self.abandoned
        self._tell(changes.StopReplicaFinished, delete=delete, partition=partition)

    def _fail_to_delete(self, partition: TopicPartition) -> None:
        """`LogManager.asyncDelete` raises: the replica is forgotten by then, and so is the log, whose files stay."""
        self._tell(changes.StopReplicaStarted, delete=True, partition=partition)
        self.partitions.pop(partition, None)
        if not self.keeps_undeleted:
            self.abandoned |= {partition}

    def _log(
        self,
        line: type[changes.PartitionLine],
        request: LeaderAndIsrRequest | UpdateMetadataRequest,
        correlation_id: int,
        told: PartitionLeadership,
        /,
        **values: Any,
    ) -> None:
        """Write a line about a partition of a request to state-change.log."""
        about = (request.controller_id, request.controller_epoch, correlation_id, told.topic_partition)
        self._tell(line, *about, **values)

    def _tell(self, line: type[changes.BrokerLine], *about: Any, **values: Any) -> None:
        """Write a line to state-change.log."""
        self.journal(StateChange(line(self.broker_id, *about, **values)))


def _accepted(known: Partition, state: PartitionLeadership, isr: tuple[int, ...]) -> Partition:
    """What is known from now on; only another leader lets an idle follower fetch again."""
    is_idle = known.is_idle and known.leadership.leader == state.leadership.leader
    return Partition(replace(state.leadership, isr=isr), state.replicas, is_idle)


def _errors(codes: Mapping[TopicPartition, ErrorCode]) -> tuple[PartitionError, ...]:
    """The codes of an answer, partition by partition."""
    return tuple(PartitionError(one.topic, one.partition, code) for one, code in codes.items())
