"""What a step writes to controller.log of preferred elections, the automatic rebalance and controlled shutdowns.

A preferred election tells what it begins with, and at its end of each partition who leads it, in the order of a hash;
where a partition has no leadership, it ends there, in the middle (D49). A failover tells what it found requested, also
where that is nothing.

Kafka 0.10.2.2: `KafkaController.onPreferredReplicaElection`, `initializePreferredReplicaElection`,
`checkAndTriggerPartitionRebalance`, `shutdownBroker`. PROTOCOL.md sections 7.2, 7.5, 7.6 and 12.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from model_check.judging.lines.controller_step import Expected
from model_check.judging.lines.election_step import ElectionStep
from model_check.stepping.plain_state import PlainState
from spec.formats.kafka_types import NO_LEADER
from spec.logs.controller_log.broker_changes import AllLeaders, AllShuttingDown, LiveBrokers, ShuttingDownBroker
from spec.logs.controller_log.preferred_election import (
    ImbalanceRatio,
    PreferredElectionDone,
    PreferredElectionFound,
    PreferredElectionResumed,
    PreferredElectionStarted,
    PreferredReplicaDoesNotLead,
    PreferredReplicaLeads,
)
from spec.logs.controller_log.topic_deletion import DeletionHalted
from spec.logs.logged_values import Leadership
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.elections.rebalance import is_headed_by, is_led_by_another
from spec.state.enumerations import At, Handler

BEFORE_CHANNELS: Final = frozenset({At.READ_BROKERS, At.READ_TOPICS, At.READ_STATES})
"""What a failover reads before it opens its channels; what is requested comes right after that."""
PREFERRING: Final = frozenset({Handler.PREFERRED_ELECTION, Handler.PENDING_ELECTION, Handler.REBALANCE})


class ElectionReporting(ElectionStep):
    """A step of a controller, and what it writes of elections and shutdowns."""

    def ids(self, brokers: int) -> frozenset[int]:
        """The ids of a set of brokers."""
        return frozenset(name for number, name in enumerate(self.cluster.broker_ids) if brokers >> number & 1)

    # -------------------------------------------------------------------------------------------------- a failover

    def found_requested(self) -> Iterator[Expected]:
        """What a failover reads of a request; of none, where none is in the recording."""
        if not self.system.model.has("preferred_election"):
            opens = self.place(self.before) in BEFORE_CHANNELS and self.place(self.after) not in BEFORE_CHANNELS
            if opens and self.place(self.after) is not At.RESIGN_DELETE:
                yield from self._request((), (), ())
        elif self.rule == "read_election_request" and not self.saw("fail on a leaderless partition"):
            preferred, after = self.system.view(self.before).zookeeper.preferred, self._controller(self.after)
            named = [p for p in self.system.model.partitions if preferred[p].raw]
            done = [p for p in named if not self._topic_is_known(p) or self._is_led_as_preferred(p)]
            left = [p for p in self.system.model.partitions if after.electing[p].raw]
            yield from self._request(named, done, left)

    def _request(self, named: Any, done: Any, left: Any) -> Iterator[Expected]:
        kinds = PreferredElectionFound, PreferredElectionDone, PreferredElectionResumed
        for kind, partitions in zip(kinds, (named, done, left), strict=True):
            yield kind, {"partitions": frozenset(map(self._name, partitions))}

    def _topic_is_known(self, p: int) -> bool:
        model = self.system.model
        return bool(self._controller(self.before).topics[model.topic_of(p)].raw)

    def _is_led_as_preferred(self, p: int) -> bool:
        cached = self._controller(self.before).partitions[p]
        return bool(cached.version.raw) and cached.leader.raw == self._preferred(self.before, p)

    def _preferred(self, state: PlainState, p: int) -> int:
        """The first of a partition's AR, as the controller holds it; 0 if it knows none."""
        model = self.system.model
        if not model.keeps_assignments:
            return model.first_assigned(p)[0]
        return next(iter(model.brokers.lists[self._controller(state).partitions[p].assigned.raw]), 0)

    @cached_property
    def begins_pending(self) -> bool:
        """Whether a failover runs what is pending of preferred elections; it does, also where that is nothing."""
        if self.handler(self.before) is Handler.PENDING_ELECTION:
            return False
        arrives = self.place(self.after) is At.FINISH and self.place(self.before) is not At.FINISH
        ended = self.starts_machines or self.handler(self.before) is Handler.FAILOVER
        fails = self.are_results_cut_short and ended
        return self.handler(self.after) is Handler.PENDING_ELECTION or arrives or fails

    # ------------------------------------------------------------------------------------------------- an election

    def begun(self) -> Iterator[Expected]:
        """A preferred election begins."""
        listens = self.rule == "on_preferred_election" and self.handler(self.after) is not Handler.NONE
        takes_up = self.rule == "rebalance_partition" and self.begins_election
        if listens or takes_up or self.begins_pending or self._ends_at_once:
            partitions = self.asked if self.system.model.elects_preferred else ()
            yield PreferredElectionStarted, {"partitions": frozenset(map(self._name, partitions))}
            if halted := self._queued_topics(partitions):
                yield DeletionHalted, {"topics": halted}

    def _queued_topics(self, partitions: Iterable[int]) -> frozenset[str]:
        """The topics of these that are queued for deletion, which an election of theirs holds back."""
        view, model, c = self.system.view(self.after), self.system.model, self.parameters["c"]
        queued = (p for p in partitions if is_queued(view, model, c, p).raw)
        return frozenset(self.cluster.topics[model.topic_of(p)] for p in queued)

    @property
    def _ends_at_once(self) -> bool:
        """A request was found, and none of what it names needs a look at ZooKeeper."""
        requested = self.rule == "on_preferred_election" and self.system.view(self.before).zookeeper.preferred
        stands = requested and any(requested[p].raw for p in self.system.model.partitions)
        return bool(stands) and self.handler(self.after) is Handler.NONE

    @cached_property
    def results(self) -> tuple[Expected, ...]:
        """Who leads the partitions of an election that ends, in any order."""
        if not self.system.model.elects_preferred or not self._ends:
            return ()
        led = [p for p in sorted(self.asked) if self._controller(self.after).partitions[p].version.raw]
        return tuple(map(self._result, led))

    @property
    def are_results_cut_short(self) -> bool:
        """Whether an election ends at a partition without leadership, before all of the others are told of (D49)."""
        return self.saw("fail preferred election")

    @property
    def _ends(self) -> bool:
        begins = self.begins_pending or self._ends_at_once or (self.rule == "rebalance_partition" and self.asked)
        if self.rule == "rebalance_partition" and not self.begins_election:
            return False
        return bool((self.handler(self.before) in PREFERRING or begins) and self.handler(self.after) not in PREFERRING)

    def _result(self, p: int) -> Expected:
        leader = self._controller(self.after).partitions[p].leader.raw
        kind = PreferredReplicaLeads if leader == self._preferred(self.after, p) else PreferredReplicaDoesNotLead
        name = self.cluster.broker_ids[leader - 1] if leader else NO_LEADER
        return kind, {"partition": self._name(p), "leader": name}

    # -------------------------------------------------------------------------------- rebalance, controlled shutdown

    def of_other_threads(self) -> Iterator[Expected]:
        """What the rebalance thread finds; how a controlled shutdown begins, and what is left at its end."""
        match self.rule:
            case "check_imbalance":
                broker = self.cluster.broker_ids[self.parameters["h"] - 1]
                yield ImbalanceRatio, {"broker": broker, "ratio": self._ratio(self.parameters["h"])}
            case "refuse_shutdown" if self._controller(self.before).active.raw:
                yield ShuttingDownBroker, {"broker": self.cluster.broker_ids[self.parameters["b"] - 1]}
            case "accept_shutdown":
                after, view = self._controller(self.after), self.system.view(self.after)
                live: int = live_brokers(view, self.system.model, self.parameters["c"]).raw
                yield ShuttingDownBroker, {"broker": self.cluster.broker_ids[self.parameters["b"] - 1]}
                yield AllShuttingDown, {"brokers": self.ids(after.shutting_down.raw)}
                yield LiveBrokers, {"brokers": self.ids(live)}
            case "answer_shutdown" if not self._has_failed:
                yield AllLeaders, {"leaders": frozenset(self._leaderships())}

    @property
    def _has_failed(self) -> bool:
        """Whether an exception has ended the shutdown that is answered."""
        return self.system.model.shutdowns_fail and bool(self._controller(self.before).shutdown_fails.raw)

    def _ratio(self, h: int) -> float:
        """The share that a broker does not lead of what it is to lead, as it is printed."""
        view, model, c = self.system.view(self.before), self.system.model, self.parameters["c"]
        own = [p for p in model.partitions if is_headed_by(view, model, c, p, h).raw]
        lost = [p for p in own if is_led_by_another(view, c, p, h).raw]
        return round(len(lost) / len(own), 6)

    def _leaderships(self) -> Iterator[tuple[Any, Leadership]]:
        for p in self.system.model.partitions:
            cached = self._controller(self.before).partitions[p]
            if cached.version.raw:
                yield self._name(p), self.leadership(cached)

    def leadership(self, cached: Any) -> Leadership:
        """What is cached of a partition, as it is printed."""
        ids = self.cluster.broker_ids
        return Leadership(
            leader=ids[cached.leader.raw - 1] if cached.leader.raw else NO_LEADER,
            isr=tuple(ids[r - 1] for r in self.system.model.brokers.lists[cached.isr.raw]),
            leader_epoch=cached.leader_epoch.raw - 1,
            controller_epoch=cached.controller_epoch.raw,
        )
