"""A step of a controller that elects: in a preferred election, in a rebalance, or for a controlled shutdown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from model_check.judging.lines.controller_step import (
    CREATIONS,
    ELECTIONS,
    FAILS_TO_SEND,
    FINDS_DIRTY,
    GIVEN_UP,
    READS_FOR_ELECTION,
    ControllerStep,
)
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import LeaderElected, LeaderElectionStarted, PartitionBecameOnline
from spec.protocol.context.deletion_marks import adding_raises, is_doomed, is_queued
from spec.protocol.controller.threads import has_started
from spec.protocol.elections.rebalance import may_rebalance
from spec.state.enumerations import Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState, is_valid


class ElectionStep(ControllerStep):
    """Questions about the election that a step begins, goes on with, or ends."""

    def saw(self, kind: str) -> bool:
        """Whether such a thing is seen of the step."""
        return any(one.kind == kind for one in self.seen)

    @cached_property
    def begins_election(self) -> bool:
        """Whether the step reads a state znode to elect, having taken the lock for that or not."""
        if self.rule not in READS_FOR_ELECTION:
            return False
        c, p = self.parameters["c"], self.parameters["p"]
        if self.rule == "rebalance_partition":
            return bool(may_rebalance(self.system.view(self.before), self.system.model, c, p).raw)
        if self.rule == "read_for_election":
            return True
        is_up = bool(has_started(self.system.view(self.before), self.system.model, c).raw)
        cached = self._controller(self.before).partitions[p]
        return is_up and bool(cached.version.raw and cached.leader.raw == self.parameters["r"])

    @cached_property
    def stops_follower(self) -> bool:
        """Whether a shutdown takes a follower Offline, having sent it a StopReplica."""
        if self.rule != "move_partition" or self.saw(FINDS_DIRTY) or self.saw(FAILS_TO_SEND):
            return False
        cached = self._controller(self.before).partitions[self.parameters["p"]]
        return bool(cached.version.raw) and bool(cached.leader.raw != self.parameters["r"])

    @property
    def stops_in_vain(self) -> bool:
        """Whether a replica that is to go Offline cannot.

        The table has no row, for it is deleted or is to be so; or its state znode is a newer controller's, or absent.
        A shutdown that cannot send does not come to it.
        """
        if not (self.rule == "read_for_removal" or self.stops_follower):
            return False
        p, r = self.parameters["p"], self.parameters["r"]
        if not self._controller(self.before).partitions[p].version.raw:
            return False
        is_gone = self._is_dying(self._name(p)) and not self._znode(p).version.raw  # which is no failure
        return not (is_valid(self._replica(self.before, p, r), ReplicaState.OFFLINE) and (is_gone or self.may_use(p)))

    @property
    def stops_unchanged(self) -> bool:
        """Whether a replica that is to go Offline is in no ISR to be removed from, so that the others are told at once.

        A replica that is Offline already goes Offline once more.
        """
        return self.rule == "read_for_removal" and self.is_not_in_isr() and not self.stops_in_vain

    def raises_on_telling(self) -> bool:
        """Whether a request to the others cannot be added to the batch, which ends the transition (D53)."""
        state, model, (c, p) = self.system.view(self.before), self.system.model, (self.parameters[n] for n in "cp")
        return bool(adding_raises(state, model, c).raw) and not bool(is_doomed(state, model, c, p).raw)

    def is_not_in_isr(self) -> bool:
        """Whether a removal reads a znode of no later controller, and in it an ISR without the replica."""
        p, r = self.parameters["p"], self.parameters["r"]
        return self.may_use(p) and r not in self.system.model.brokers.lists[self._znode(p).isr.raw]

    def may_use(self, p: int) -> bool:
        """Whether a state znode is there, and no newer controller's."""
        znode = self._znode(p)
        return bool(znode.version.raw) and bool(znode.controller_epoch.raw <= self._controller(self.before).epoch.raw)

    def _znode(self, p: int) -> Any:
        return self.system.view(self.before).zookeeper.state[p]

    def ends_online(self, p: int) -> bool:
        """Whether a visit ends with a leader: with another, with the first, or because the preferred one leads."""
        visits = self._controller(self.before).partitions[p].todo.raw or self.begins_election
        if self.rule not in CREATIONS | ELECTIONS | READS_FOR_ELECTION or not visits:
            return False
        over = not self._controller(self.after).partitions[p].todo.raw
        well = not any(self.saw(kind) for kind in GIVEN_UP)
        return over and well and self._state(self.after, p) is PartitionState.ONLINE

    @cached_property
    def asked(self) -> frozenset[int]:
        """The partitions of a preferred election, of a request or of the rebalance."""
        before, after = self._controller(self.before), self._controller(self.after)
        partitions, handler = self.system.model.partitions, self.handler(self.before)
        if self.rule == "rebalance_partition" or handler is Handler.REBALANCE:
            return frozenset({self.parameters["p"]})
        if self.rule == "on_preferred_election":
            c, named = self.parameters["c"], self.system.view(self.before).zookeeper.preferred
            queued = [is_queued(self.system.view(self.before), self.system.model, c, p) for p in partitions]
            return frozenset(p for p in partitions if named[p].raw and not before.electing[p].raw | queued[p].raw)
        if handler in {Handler.PREFERRED_ELECTION, Handler.PENDING_ELECTION}:
            return frozenset(p for p in partitions if before.asked[p].raw)
        if not self.system.model.has("preferred_election"):
            return frozenset()
        return frozenset(p for p in partitions if after.electing[p].raw)

    @property
    def elects_leader(self) -> bool:
        """Whether the step writes a leader that was elected."""
        return self.rule in ELECTIONS or self.moves_leader

    @property
    def moves_leader(self) -> bool:
        """Whether it is that of a reassignment's step 7."""
        return self.rule == "write_move" and self.moves and self.is_done

    def elected(self, p: int) -> Iterator[tuple[type[Line], Any]]:
        """What is said of the election that the step begins, or ends with a leader."""
        if self.ends_online(p) or self.moves_leader:
            yield PartitionBecameOnline, self._name(p)
            if self.elects_leader:
                yield LeaderElected, self._name(p)
        if self.rule != "read_for_election" and self.begins_election:
            yield LeaderElectionStarted, self._name(p)

    def is_unknown(self, partition: Any) -> bool:
        """Whether a preferred election runs for a partition that the controller does not know."""
        p = self.cluster.partition(partition)
        asked = self.system.model.has("preferred_election") and p in self.asked
        return asked and self._state(self.after, p) is PartitionState.NON_EXISTENT
