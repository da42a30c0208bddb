"""What a step of a controller writes to controller.log, of those lines that tell more than state-change.log does.

These are the lines about what the controller read, and when: the epoch at the beginning of its term, the live brokers
and the topics, what a callback finds when it runs, where a failover ends. Kafka writes them one by one on the thread
that holds the controller's lock, so each step has its own, in this order, and no other step may take them.
(A process that is killed may not come to write them, and a log that was copied early does not have them; but behind
what is missing in a log that goes on, no more steps of that process follow.)

Kafka 0.10.2.2: `KafkaController`, `PartitionStateMachine`, `ReplicaStateMachine`. PROTOCOL.md section 12.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from model_check.judging.lines.controller_log_deletion import DeletionReporting
from model_check.judging.lines.controller_log_elections import ElectionReporting
from model_check.judging.lines.controller_log_reassignment import ReassignmentReporting, are_of
from model_check.judging.lines.controller_step import Expected
from model_check.recordings.processes import ControllerSaid
from model_check.stepping.plain_state import PlainState
from spec.formats.kafka_types import V0102
from spec.logs.controller_log.broker_changes import BrokerDifference, NotInIsr
from spec.logs.controller_log.failover import (
    ActiveBrokers,
    BecomingController,
    CurrentTopics,
    EpochIncremented,
    EpochIncrementFailed,
    EpochRead,
    ReadyToServe,
    Resigned,
    SessionExpired,
    SessionExpiredElectedAlready,
    TopicsToBeDeleted,
)
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.state_machines import PartitionMachineStarted
from spec.logs.controller_log.topics import PartitionsAdded, TopicDifference
from spec.logs.log_lines import Line
from spec.protocol.controller.threads import has_started
from spec.state.enumerations import At, Handler
from spec.tables.partition_states import PartitionState

NOT_RESUMED: Final = frozenset({At.ONLINE_READ, At.ONLINE_WRITE, At.RESIGN_DELETE, At.IDLE})
"""Where a failover still brings partitions online, or is over."""


MAY_BE_OFF: Final = frozenset({"DEBUG", "TRACE"})
"""Levels at which a line need not be written; whether its kind is, holds for the whole life of a process."""


def _must_be_written(kind: type[Line]) -> bool:
    """Whether a line of a kind is there, if its step happened; a resignation at the very end is not read."""
    return kind is not Resigned and kind.level_at(V0102) not in MAY_BE_OFF


class Reporting(ElectionReporting, ReassignmentReporting, DeletionReporting):
    """A step of a controller, to be compared with what its process wrote to controller.log next."""

    def taken(self, lines: Sequence[ControllerSaid]) -> int | None:
        """How many of the lines that its process has yet to write are this step's; None if one of its lines differs."""
        count = 0
        for kind, fields in self._expected():
            if count == len(lines):
                break
            line = lines[count].line
            if type(line) is not kind and kind.level_at(V0102) in MAY_BE_OFF and kind not in lines[count].details:
                continue
            if type(line) is not kind or not are_of(line, fields):
                return None
            count += 1
        return self._with_results(lines, count)

    def _with_results(self, lines: Sequence[ControllerSaid], count: int) -> int | None:
        """The results of an election come last, in any order."""
        left = list(self.results)
        for one in lines[count:]:
            found = next(
                (result for result in left if type(one.line) is result[0] and are_of(one.line, result[1])), None
            )
            if found is None:
                break
            left.remove(found)
            count += 1
        is_over = not left or count == len(lines) or self.are_results_cut_short
        return count if is_over else None

    def is_cut_short(self, lines: Sequence[ControllerSaid]) -> bool:
        """Whether something that must be written is not among these lines of the step."""
        results = () if self.are_results_cut_short else self.results
        must = sum(_must_be_written(kind) for kind, _ in (*self._expected(), *results))
        return must > sum(_must_be_written(type(one.line)) for one in lines)

    @property
    def must_say(self) -> bool:
        """Whether there is a line that it must write."""
        return next(self._expected(), None) is not None or bool(self.results)

    def _expected(self) -> Iterator[Expected]:
        yield from self._begins()
        yield from self._callbacks()
        if any(one.kind == "resigned" for one in self.seen):
            yield Resigned, {}
        yield from self.found_requested()
        if self.system.model.has("reassignment"):
            yield from self.reassignments_found()
        yield from self._reads()
        if self._ends_start():
            yield PartitionMachineStarted, {"states": self._partition_states()}
            yield ReadyToServe, {"epoch": self.epoch}
        if self.system.model.has("reassignment"):
            yield from self.of_a_reassignment()
        yield from self.of_a_deletion()
        yield from self.begun()
        yield from self.of_other_threads()

    def _ends_start(self) -> bool:
        """Whether both machines have just been started: the elections of a failover's start are over."""
        runs = self._runs_machines(self.after) and not self._runs_machines(self.before)
        return runs or (self.begins_pending and not self._runs_machines(self.before))

    def _runs_machines(self, state: PlainState) -> bool:
        """Whether a failover has started both machines, and is at what follows."""
        resumes = self.handler(state) is Handler.FAILOVER and self.place(state) not in NOT_RESUMED
        return self.place(state) is At.FINISH or self.handler(state) is Handler.PENDING_ELECTION or resumes

    # ------------------------------------------------------------------------------------------------ the term begins

    def _begins(self) -> Iterator[Expected]:
        """From winning /controller to the term's own epoch."""
        after = self._controller(self.after)
        if self.rule == "elect_create" and self.place(self.after) in {At.READ_EPOCH, At.SUBSCRIBE}:
            yield BecomingController, {}
        if self.rule == "read_epoch" and self.system.view(self.before).zookeeper.epoch.raw:
            version = {"epoch_zk_version": after.epoch_version.raw} if self.system.model.counts_epoch_versions else {}
            yield EpochRead, {"epoch": after.epoch.raw, **version}
        if self.rule in {"increment_epoch", "create_epoch"}:
            if any(one.kind == "fail to write /controller_epoch" for one in self.seen):
                yield EpochIncrementFailed, {}
            if self._arrives_at(At.SUBSCRIBE):
                yield EpochIncremented, {"epoch": after.epoch.raw}

    def _reads(self) -> Iterator[Expected]:
        """What the context holds once all is read and the channels are open; what a removal finds in the znode."""
        after = self._controller(self.after)
        if self.has_read_all:
            yield TopicsToBeDeleted, {"topics": self._titles(self._flags(self.after, "queued"))}
            yield ActiveBrokers, {"brokers": self.ids(after.live.raw)}
            yield CurrentTopics, {"topics": self._topics(self.after)}
        if self._removes() and self.is_not_in_isr():
            znode = self.system.view(self.before).zookeeper.state[self.parameters["p"]]
            leader = self.cluster.broker_ids[znode.leader.raw - 1] if znode.leader.raw else -1
            isr = frozenset(self.cluster.broker_ids[r - 1] for r in self.system.model.brokers.lists[znode.isr.raw])
            yield (
                NotInIsr,
                {
                    "replica": self.cluster.broker_ids[self.parameters["r"] - 1],
                    "partition": self._name(self.parameters["p"]),
                    "leader": leader,
                    "isr": isr,
                },
            )

    def _removes(self) -> bool:
        """Whether the step reads a state znode to remove a replica from the ISR."""
        if self.rule == "move_partition":
            return self.stops_follower and not self.stops_in_vain
        return self.rule == "read_for_removal"

    # ---------------------------------------------------------------------------------------------- a callback begins

    def _callbacks(self) -> Iterator[Expected]:
        """What a callback finds."""
        match self.rule:
            case "on_new_session":
                yield SessionExpired, {}
                if self.system.view(self.before).zookeeper.controller.raw == self.parameters["c"]:
                    yield SessionExpiredElectedAlready, {}
            case "on_broker_change" if self._has_started:
                fields = next(one.fields for one in self.seen if one.kind == "read /brokers/ids")
                names = {"new": "new", "dead": "dead", "live": "brokers"}
                yield BrokerDifference, {name: self.ids(fields[field].raw) for name, field in names.items()}
            case "on_topic_change" if self._has_started:
                old, new = self._topics(self.before), self._topics(self.after)
                yield TopicDifference, {"new": new - old, "deleted": old - new}
            case "on_isr_change":
                yield NotificationsFound, {}
            case "on_partition_modifications" if added := self._added():
                yield PartitionsAdded, {"assignment": added}

    def _added(self) -> frozenset[tuple[Any, tuple[int, ...]]]:
        """The partitions that a topic has now, as the controller sees it, with their replicas."""
        lists = self.system.model.brokers.lists
        before, after = (self._controller(state).partitions for state in self._states)
        return frozenset(
            (self._name(p), tuple(self.cluster.broker_ids[r - 1] for r in lists[after[p].assigned.raw]))
            for p in self.system.model.partitions
            if after[p].assigned.raw != before[p].assigned.raw
        )

    @property
    def _has_started(self) -> bool:
        """Whether the state machines are up; where they are not, a listener has nothing to say."""
        return bool(has_started(self.system.view(self.before), self.system.model, self.parameters["c"]).raw)

    # ---------------------------------------------------------------------------------------------------- in its words

    def _arrives_at(self, place: At) -> bool:
        return self.place(self.after) is place and self.place(self.before) is not place

    def _topics(self, state: Any) -> frozenset[str]:
        """The topics that the controller knows."""
        known = self._controller(state).topics
        return frozenset(name for number, name in enumerate(self.cluster.topics) if known[number].raw)

    def _partition_states(self) -> frozenset[Any]:
        """The partitions that the controller knows, with their states; those that are added later have none."""
        topics = self._controller(self.after).topics
        known = (p for p, topic in enumerate(self.cluster.topic_of) if topics[topic].raw)
        states = ((self._name(p), self._state(self.after, p)) for p in known)
        return frozenset(one for one in states if one[1] is not PartitionState.NON_EXISTENT)
