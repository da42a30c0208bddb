"""What a step of topic deletion writes to controller.log: the queue, the thread's decisions, how replicas fared.

All of it is written under the controller lock, so each line is one step's.

Kafka 0.10.2.2: `TopicDeletionManager`, `PartitionStateMachine.DeleteTopicsListener`. PROTOCOL.md sections 7.4 and 12.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from model_check.judging.lines.controller_step import FINDS_DIRTY, ControllerStep, Expected
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.controller_log.topic_deletion import (
    DeadReplicasFound,
    DeletionBegun,
    DeletionHalted,
    DeletionIneligible,
    DeletionInProgress,
    DeletionQueued,
    DeletionRequested,
    DeletionRetried,
    HandlingDeletion,
    PartitionDeletionStarted,
    ReplicaDeletionFailed,
    ReplicaDeletionStarted,
    ReplicasDeleted,
    TopicDeleted,
    TopicDeletionStarted,
    UnknownTopicsIgnored,
)
from spec.logs.controller_log.values import PartitionReplica
from spec.protocol.context.assignment import assigned_set
from spec.protocol.context.deletion_marks import is_busy
from spec.state.brokers import Stage
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.replica_states import ReplicaState

Replica: TypeAlias = tuple[int, int]
"""A replica as partition and broker."""

HANDLED: Final = frozenset({At.IDLE, At.RESIGN_DELETE})
"""Where a broker's death has been handled, or the send that ends it has found its batch dirty."""
WAITING: Final = frozenset({Handler.DELETION_RETRY, Handler.DELETION_START})
"""Why the deletion thread takes replicas Offline, before it goes on."""
UNTOLD: Final = frozenset({FINDS_DIRTY, "fail to add UpdateMetadata"})
"""What is seen where nobody is told of a topic's deletion, and the thread ends."""


class DeletionReporting(ControllerStep):
    """A step of a controller that deletes topics, to be compared with what its process wrote to controller.log."""

    def of_a_deletion(self) -> Iterator[Expected]:
        """What it writes of deletion, in this order."""
        if not self.system.model.has("deletion"):
            return
        match self.rule:
            case "on_deletion_change":
                yield from self._requests_found()
            case "drop_request" if self.system.model.has_several_topics and self.place(self.after) is At.IDLE:
                yield from self._queued(self._flags(self.before, "to_queue"))
            case "delete_queued_topic":
                yield from self.turned_to()
            case "on_replica_deleted":
                yield from self._answered()
            case "accept_reassignment":
                yield from self._reassignment_accepted()
            case "delete_request":
                yield from self._completed()
        yield from self._deletions_failed()
        yield from self._decision()
        if self._thread(self.before) is not self._thread(self.after) is DeletionThread.ENDED:
            yield DeletionThreadFailed, {}

    # ------------------------------------------------------------------------------------------------- the queue

    def _requests_found(self) -> Iterator[Expected]:
        """The listener: the requests for unknown topics are dropped, then the known ones are queued."""
        asked, known = self._flags(self.before, "zookeeper", "deletions"), self._flags(self.before, "topics")
        yield DeletionRequested, {"topics": self._titles(asked)}
        if asked - known:
            yield UnknownTopicsIgnored, {"topics": self._titles(asked - known)}
        else:
            yield from self._queued(asked)

    def _queued(self, topics: frozenset[int]) -> Iterator[Expected]:
        """Known topics are queued; one that is so already is held back where something is in the way."""
        if topics:
            yield DeletionQueued, {"topics": self._titles(topics)}
        for t in topics & self._flags(self.before, "queued"):
            if is_busy(self.system.view(self.before), self.system.model, self.parameters["c"], t).raw:
                yield DeletionHalted, {"topics": self._titles({t})}

    def _reassignment_accepted(self) -> Iterator[Expected]:
        """A failover takes up a reassignment, which holds back the deletion of its topic."""
        t = self.system.model.topic_of(self.parameters["p"])
        if t in self._flags(self.before, "queued"):
            yield DeletionHalted, {"topics": self._titles({t})}

    # ------------------------------------------------------------------------------------------------ the thread

    def turned_to(self) -> Iterator[Expected]:
        """The thread has the lock, and turns to a topic; what it decides is told where it does."""
        if self.place(self.before) is not At.DELETE_QUEUED:
            yield HandlingDeletion, {"topics": self._titles(self._flags(self.before, "queued"))}
        t = self.parameters["t"]
        started = self.replicas_in(t, ReplicaState.DELETION_STARTED)
        failed = self.replicas_in(t, ReplicaState.DELETION_INELIGIBLE)
        if started:
            yield (
                DeletionInProgress,
                {
                    "replicas": frozenset(self.cluster.broker_ids[r - 1] for _, r in started),
                    "partitions": frozenset(self._name(p) for p, _ in started),
                    "topic": self.cluster.topics[t],
                },
            )
        elif failed:
            yield DeletionRetried, {"topic": self.cluster.topics[t], "replicas": self._named(failed)}

    def _decision(self) -> Iterator[Expected]:
        """A topic is started, once nothing is left to retry, or it is held back; then its replicas are."""
        if self.rule not in DECIDING or self._completes():
            return
        t = self._turn()
        began = self.rule == "delete_queued_topic" or self.handler(self.before) is Handler.DELETION_RETRY
        handler, told = self.handler(self.after), not any(one.kind in UNTOLD for one in self.seen)
        if began and handler is not Handler.DELETION_RETRY:
            in_progress = bool(self.replicas_in(t, ReplicaState.DELETION_STARTED))
            if in_progress or self._flags(self.before, "ineligible") & {t}:
                yield from self.held_back(t)
                return
            yield DeletionBegun, {"topic": self.cluster.topics[t]}
            yield TopicDeletionStarted, {"topics": self._titles({t})}
            if not told:
                return
            partitions = frozenset(self._name(p) for p in self.system.model.partitions_of(t) if self._assigned(p))
            yield PartitionDeletionStarted, {"partitions": partitions}
        if (began or self.handler(self.before) is Handler.DELETION_START) and handler not in WAITING:
            yield from self._replicas_started(t)

    def _replicas_started(self, t: int) -> Iterator[Expected]:
        live = self.live(self.after)
        replicas = {(p, r) for p in self.system.model.partitions_of(t) for r in self._assigned(p)}
        alive = {(p, r) for p, r in replicas if live >> r - 1 & 1}
        done = self.replicas_in(t, ReplicaState.DELETION_SUCCESSFUL)
        yield ReplicaDeletionStarted, {"replicas": self._named(alive - done)}
        if replicas - alive:
            named = {"replicas": self._named(replicas - alive), "topic": self.cluster.topics[t]}
            yield DeadReplicasFound, named
            yield DeletionHalted, {"topics": self._titles({t})}

    def _completed(self) -> Iterator[Expected]:
        """The request is gone, and the topic with it, but for the mark that held it back."""
        t = self.parameters["t"]
        yield TopicDeleted, {"topic": self.cluster.topics[t]}
        yield from self.held_back(t)

    def held_back(self, t: int) -> Iterator[Expected]:
        """The topic is marked, so that the thread leaves it."""
        if t in self._flags(self.before, "ineligible"):
            yield DeletionIneligible, {"topic": self.cluster.topics[t]}

    def _completes(self) -> bool:
        """Whether all replicas of the topic are deleted, so that its znodes go next, or the thread ends."""
        is_ended = self._thread(self.after) is DeletionThread.ENDED
        return self.rule == "delete_queued_topic" and (
            is_ended or self.place(self.after) in {At.DELETE_STATE, At.DELETE_TOPIC}
        )

    def _turn(self) -> int:
        """The topic that the thread is busy with."""
        topic: int = self._controller(self.before).topic.raw
        return self.parameters.get("t", topic)

    # --------------------------------------------------------------------------------------------------- replicas

    def _answered(self) -> Iterator[Expected]:
        """The callback of a StopReplica with delete; one whose answer names no partition says nothing."""
        b, p = self.parameters["b"], self.parameters["p"]
        head = self.system.view(self.before).connections[self.parameters["c"]][b][0]
        if list(Stage)[head.stage.raw] is Stage.ANSWERED:
            is_queued = self.system.model.topic_of(p) in self._flags(self.before, "queued")
            yield ReplicasDeleted, {"replicas": self._named({(p, b)} if is_queued else ())}

    def _deletions_failed(self) -> Iterator[Expected]:
        """Brokers have died, and have been handled: their replicas of queued topics will not answer."""
        dead = next((one.fields["dead"].raw for one in self.seen if "dead" in one.fields), None)
        dead = self._controller(self.before).dead.raw if dead is None else dead
        if not dead or self._controller(self.after).dead.raw or self.place(self.after) not in HANDLED:
            return
        model, queued = self.system.model, self._flags(self.before, "queued")
        failed = {
            (p, r) for t in queued for p in model.partitions_of(t) for r in self._assigned(p) if dead >> r - 1 & 1
        }
        if failed:
            topics = self._titles({model.topic_of(p) for p, _ in failed})
            yield ReplicaDeletionFailed, {"replicas": self._named(failed), "topics": topics}
            yield DeletionHalted, {"topics": topics}

    # ------------------------------------------------------------------------------------------------ in its words

    def _thread(self, state: Any) -> DeletionThread:
        raw: int = self._controller(state).deletion.raw
        return list(DeletionThread)[raw]

    def _flags(self, state: Any, *names: str) -> frozenset[int]:
        """The topics with a mark of the controller's, or with a znode."""
        if not self.system.model.has("deletion"):
            return frozenset()
        of = self._controller(state) if len(names) == 1 else self.system.view(state)
        for name in names:
            of = of[name]
        return frozenset(t for t in self.system.model.topics if of[t].raw)

    def _assigned(self, p: int) -> frozenset[int]:
        """AR as the controller has it before the step."""
        raw: int = assigned_set(self.system.view(self.before), self.system.model, self.parameters["c"], p).raw
        return frozenset(r for r in self.system.model.brokers.ids if raw >> r - 1 & 1)

    def replicas_in(self, t: int, state: ReplicaState) -> frozenset[Replica]:
        """The replicas of a topic that are in a state before the step."""
        of_it = ((p, r) for p in self.system.model.partitions_of(t) for r in self._assigned(p))
        return frozenset((p, r) for p, r in of_it if self._replica(self.before, p, r) is state)

    def _titles(self, topics: Iterable[int]) -> frozenset[str]:
        return frozenset(self.cluster.topics[t] for t in topics)

    def _named(self, replicas: Iterable[Replica]) -> frozenset[PartitionReplica]:
        return frozenset(
            PartitionReplica(self._name(p).topic, self._name(p).partition, self.cluster.broker_ids[r - 1])
            for p, r in replicas
        )


DECIDING: Final = frozenset({"delete_queued_topic", "read_for_removal", "write_removal"})
"""The rules in which the thread decides what to do about a topic."""
