"""Which lines a step of a controller prints to state-change.log: a table from lines to what must be true of the step.

A step takes the next lines of its process for as long as it accounts for them. Some lines it must take: Kafka prints
one for every transition, every elected leader, every partition of a LeaderAndIsr. Where they do not come next, the step
did not happen here. (A process that is killed may not come to print them: after its last line, nothing is missed that
Kafka prints later than that. Nor is it where the log ends, which may have been copied early. If the log goes on, a
controller that lives takes no more steps behind what it did not print: a log has no hole.)

Kafka 0.10.2.2: `PartitionStateMachine`, `ReplicaStateMachine`, `ControllerBrokerRequestBatch`. PROTOCOL.md section
12.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import dropwhile
from typing import Any, Final

from model_check.judging.hidden_steps import part
from model_check.judging.lines.controller_step import (
    CREATIONS,
    GIVEN_UP,
    READS_FOR_ELECTION,
    VISITS,
    VISITS_TO_REPLICAS,
)
from model_check.judging.lines.election_step import ElectionStep
from model_check.judging.lines.state_change_log_keys import DELETION, KEYS, Key, key_of, rows_of_step_9, up_to
from model_check.judging.lines.state_change_log_metadata import MetadataPrinting
from model_check.recordings.processes import ControllerSaid
from spec.logs.controller_request_lines import (
    ControllerLine,
    LeaderAndIsrSending,
    ReassignmentSent,
    UpdateMetadataSending,
)
from spec.logs.log_lines import Line
from spec.logs.logged_values import Role
from spec.logs.state_change_lines import (
    ElectionAborted,
    ElectionFailed,
    LeaderElected,
    LeaderElectionStarted,
    NoAssignedReplicaAlive,
    PartitionBecameNew,
    PartitionBecameOnline,
    PartitionChangeFailed,
    PartitionLostLeader,
    ReplicaChanged,
    ReplicaChangeFailed,
    StateZnodeExists,
)
from spec.protocol.context.live_brokers import live_brokers
from spec.state.controller import Controller
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState, is_valid

ORDER: Final = (
    PartitionBecameNew, LeaderElectionStarted, LeaderElected, PartitionBecameOnline,
    LeaderAndIsrSending, UpdateMetadataSending, ReplicaChanged,
)  # fmt: skip
ORDER_FOR_BROKERS: Final = (ReplicaChanged, LeaderAndIsrSending, UpdateMetadataSending, PartitionLostLeader)
"""How the lines that must be printed follow each other in a step, and where it is about replicas or their brokers."""
REPLICAS_FIRST: Final = VISITS_TO_REPLICAS | {"delete_queued_topic"}
"""The rules that take replicas on their way before anything is said of partitions."""

ABOUT_TO_WRITE: Final = frozenset({At.ONLINE_WRITE, At.MOVE_WRITE})
"""Where a leader has been chosen: the visit has not failed."""
WITH_BATCHES: Final = frozenset({"read_whether_caught_up"})
"""The rules that bring replicas Online one by one, each with a batch of its own: step 5 of a reassignment."""
CHANGES_OF_MANY: Final[Mapping[str, tuple[type[Line], PartitionState, PartitionState]]] = {
    "on_topic_change": (PartitionBecameNew, PartitionState.NON_EXISTENT, PartitionState.NEW),
    "on_partition_modifications": (PartitionBecameNew, PartitionState.NON_EXISTENT, PartitionState.NEW),
    "on_broker_change": (PartitionLostLeader, PartitionState.ONLINE, PartitionState.OFFLINE),
}
"""The rules that change partitions without visiting them one by one, and the line that each has."""
CREATING: Final = frozenset({"on_topic_change", "read_for_new_replica"})
"""The rules that take what is created to New, which the table refuses of what is left over from a topic before it."""
BUMPS: Final = frozenset({"write_bump", "write_move"})
"""The rules of a reassignment that may raise a leader epoch and tell it, whoever leads."""


class Printing(MetadataPrinting, ElectionStep):
    """A step of a controller, to be compared with what its process printed next."""

    def taken(self, lines: Sequence[ControllerSaid]) -> int | None:
        """How many of the lines that its process has yet to print are this step's; None if one that must be is not."""
        count = 0
        while count < len(lines) and self._may_say(lines, count):
            count += 1
        missing = self.demands - {key_of(one.line) for one in lines[:count]}
        ends_here = count == len(lines)
        return count if not missing or (ends_here and self._come_later(missing, lines[:count])) else None

    def _come_later(self, missing: Iterable[Key], said: Sequence[ControllerSaid]) -> bool:
        """Whether what is missing is printed after what was said; within one step, lines come kind by kind."""
        kinds: Iterable[type[Line]] = [type(one.line) for one in said]
        if self.rule in WITH_BATCHES or self._deletes:
            return True
        if self.for_brokers:  # before anything else, a new broker is told of all partitions
            kinds = dropwhile(lambda kind: kind is UpdateMetadataSending, kinds)
        last = max(map(self._rank, kinds), default=0)
        return all(self._rank(kind) >= last for kind, *_ in missing)

    def _rank(self, kind: type[Line]) -> int:
        order = ORDER_FOR_BROKERS if self.for_brokers or self.rule in REPLICAS_FIRST else ORDER
        return order.index(kind) if kind in order else 0

    def _may_say(self, lines: Sequence[ControllerSaid], at: int) -> bool:
        """Whether this step prints the line, too: once, or an UpdateMetadata's with each of its batches."""
        line = lines[at].line
        is_new = all(one.line != line for one in lines[:at])
        if isinstance(line, UpdateMetadataSending) and line.brokers:
            is_new = sum(one.line == line for one in lines[:at]) < self.updates_naming(line)
        return is_new and self.accounts_for(line)

    def is_cut_short(self, lines: Sequence[ControllerSaid]) -> bool:
        """Whether something that must be said is not among these."""
        return not self.demands <= {key_of(one.line) for one in lines}

    @property
    def must_say(self) -> bool:
        """Whether there is a line that it must print."""
        return bool(self.demands)

    # ------------------------------------------------------------------------------------------------ what must be said

    @cached_property
    def demands(self) -> frozenset[Key]:
        """The lines that this step must print, by their keys."""
        return frozenset(self._demanded())

    def _demanded(self) -> Iterable[Key]:
        yield from self._sent()
        yield from self.said_of_removals()
        yield from (
            (PartitionChangeFailed, self._name(one.fields["partition"].raw))
            for one in self.seen
            if one.kind in GIVEN_UP
        )
        p = self.parameters.get("p")
        yield from self.elected(p) if p is not None else ()
        if p is not None and self.sends_bumped:
            yield ReassignmentSent, self._name(p)
        starts_in_vain = self.rule in {"read_for_new_replica", "start_new_replica"}
        if p is not None and self.stops_in_vain | (starts_in_vain and self._stays(p, self.parameters["r"])):
            yield ReplicaChangeFailed, self._name(p), self.cluster.broker_ids[self.parameters["r"] - 1]
        if p is not None and self.stops_unchanged:
            kind = ReplicaChangeFailed if self.raises_on_telling() else ReplicaChanged
            yield kind, self._name(p), self.cluster.broker_ids[self.parameters["r"] - 1]
        if p is not None and self.rule == "read_notified" and self.updates and self._is_cached(p):
            yield UpdateMetadataSending, self._name(p)
        for q in self.system.model.partitions if self.rule == "delete_queued_topic" else ():
            yield from self.said_of_completion(q)
        if self.rule in CHANGES_OF_MANY:
            yield from self._changed_partitions(*CHANGES_OF_MANY[self.rule])
        if not self.starts_machines:
            yield from self._changed_replicas()

    def _is_cached(self, p: int) -> bool:
        return bool(self._cached(self.after, self._name(p)).version.raw)

    def _changed_partitions(self, kind: type[Line], old: PartitionState, new: PartitionState) -> Iterable[Key]:
        """Every partition that went from the one state to the other."""
        for p in self.system.model.partitions:
            if (self._state(self.before, p), self._state(self.after, p)) == (old, new):
                fields = {"partition": self._name(p), "target": new}
                yield kind, *(fields[name] for name in KEYS[kind])

    @property
    def _deletes(self) -> bool:
        """Whether the step is the end of step 8 and the whole of step 9 of a reassignment."""
        return self.place(self.after) is At.WRITE_TARGET and self.place(self.before) is not At.WRITE_TARGET

    def _sent(self) -> Iterable[Key]:
        """What is said of each partition of a LeaderAndIsr; to a new broker, it is sent as its replica comes Online."""
        for one in self.seen:
            if one.kind == "queue LeaderAndIsr":
                partition = self._name(one.fields["partition"].raw)
                broker = self.cluster.broker_ids[one.fields["broker"].raw - 1]
                yield LeaderAndIsrSending, partition, broker
                if self._cached(self.after, partition).version.raw:  # a New partition's leadership is not cached yet
                    yield UpdateMetadataSending, partition
                if self.for_brokers or self.rule in WITH_BATCHES:
                    yield ReplicaChanged, partition, broker

    def _changed_replicas(self) -> Iterable[Key]:
        """Every replica that is in another state now; nothing is said when a controller forgets them all."""
        before, after = (part(state, "controllers", self.parameters["c"], "partitions") for state in self._states)
        for p in after if before is not after else ():
            old, new = (part(one, p, "replicas") for one in (before, after))
            for r in {*new, *(old if self._deletes else ())} if old is not new else ():
                if old.get(r) != new.get(r) and not self._comes_online_unsaid(p, r):
                    name = self._name(p), self.cluster.broker_ids[r - 1]
                    yield from ((ReplicaChanged, *name, *target) for target in self._said_of(p, r))

    def _said_of(self, p: int, r: int) -> Iterable[tuple[ReplicaState, ...]]:
        """Which lines a changed replica has: one, or those of its deletion, after which it goes at once."""
        if rows := self.rows_of_deletion(p, r):
            return [(target,) if target in DELETION else () for _, target in rows]
        if not self._deletes_now(p, r):
            return [()]
        rows = rows_of_step_9(self._replica(self.before, p, r))
        return [(target,) if target in DELETION else () for source, target in rows if source is not target]

    def _deletes_now(self, p: int, r: int) -> bool:
        """Whether the step takes a replica through the steps 8 and 9 of a reassignment, or what is left of them."""
        return self._deletes and self._replica(self.after, p, r) is ReplicaState.NON_EXISTENT

    def _comes_online_unsaid(self, p: int, r: int) -> bool:
        """Kafka says nothing of a replica that comes Online, and was not New, where no leadership is cached."""
        comes = self._replica(self.after, p, r) is ReplicaState.ONLINE
        was_new = self._replica(self.before, p, r) is ReplicaState.NEW
        return comes and not was_new and not self._cached(self.after, self._name(p)).version.raw

    # ------------------------------------------------------------------------------------------------- what may be said

    def accounts_for(self, line: Line) -> bool:
        """Whether this step prints such a line, in the epoch that its controller holds."""
        return isinstance(line, ControllerLine) and line.epoch == self.epoch and self._is_of_the_table(line)

    def _is_of_the_table(self, line: ControllerLine) -> bool:
        return type(line) in TABLE and TABLE[type(line)](self, line)

    @property
    def starts_election(self) -> bool:
        """Whether a state znode is read for an election."""
        return self.begins_election or (self.rule == "read_for_move" and self.moves)

    def elects(self, line: LeaderElected) -> bool:
        """The leader of the partition that is visited has been written."""
        return self.elects_leader and self.visits(line) and self._leads(line)

    def brings_online(self, line: PartitionBecameOnline) -> bool:
        """The partition that is visited has a leader now."""
        came_from = self._state(self.before, self.cluster.partition(line.partition)) is line.source
        brings = self.rule in CREATIONS | READS_FOR_ELECTION or self.elects_leader
        return brings and self.visits(line) and self._leads(line) and came_from

    def fails(self, line: PartitionChangeFailed | NoAssignedReplicaAlive) -> bool:
        """A visit found no leader; or the partition is not even visited.

        No assigned replica of a New one lives, or a preferred election is asked for of one that is not known, or one
        that is created was not forgotten when its topic was removed by hand (D53). It stays in the state it was in.
        """
        gives_up = self.rule in VISITS and self.visits(line) and self.place(self.after) not in ABOUT_TO_WRITE
        if isinstance(line, PartitionChangeFailed):
            if line.target is PartitionState.NEW:
                return self._is_left_over(line)
            if line.source is not self._state(self.after, self.cluster.partition(line.partition)):
                return False
        return gives_up or self._has_nobody_alive(line.partition) or self.is_unknown(line.partition)

    def _is_left_over(self, line: PartitionChangeFailed) -> bool:
        """Whether a partition is created that the controller has in a state already."""
        p = self.cluster.partition(line.partition)
        known = (self._controller(state).topics[self.system.model.topic_of(p)].raw for state in self._states)
        return tuple(known) == (0, 1) and line.source is self._state(self.before, p) is not PartitionState.NON_EXISTENT

    def _leads(self, line: LeaderElected | PartitionBecameOnline) -> bool:
        leader: int = self._cached(self.after, line.partition).leader.raw
        return leader == self.cluster.broker(line.leader)

    def goes_to(self, line: PartitionBecameNew | PartitionLostLeader) -> bool:
        """The partition went from the one state to the other, perhaps on its way to a third."""
        if isinstance(line, PartitionLostLeader) and self.ends_partition(line):
            return True
        p = self.cluster.partition(line.partition)
        return (self._state(self.before, p), self._state(self.after, p)) == (line.source, line.target)

    def fails_replica(self, line: ReplicaChangeFailed) -> bool:
        """A replica stays in its state.

        One of a partition without cached leadership cannot go Offline, nor one whose state znode is of no use; one that
        its state znode names as leader cannot become New, and then not Online either, since the table has no such row;
        nor has it one for a replica whose deletion has begun and which a reassignment would have Online, or Offline,
        nor for what is left over of a topic that is created again.
        """
        if self.does_not_delete(line):
            return True
        p, r = self.cluster.partition(line.partition), self.cluster.broker(line.replica)
        visited = self.parameters.get("p") == p and self.parameters.get("r") == r
        old = self._replica(self.before, p, r)
        if old in DELETION and self._deletes_now(p, r):
            return line.source is old and (line.target is ReplicaState.OFFLINE or line.target in up_to(old))
        if line.target is ReplicaState.OFFLINE:
            known = any(self._cached(state, line.partition).version.raw for state in self._states)
            in_vain = self.stops_in_vain or (self.stops_unchanged and self.raises_on_telling())
            return not known or (in_vain and visited and old is line.source)
        stays = self._stays(p, r) and self._replica(self.after, p, r) is line.source
        if line.target in DELETION:
            return stays and self._deletes
        if line.target is ReplicaState.NEW:
            return stays and (visited or (self.rule in CREATING and line.source is not ReplicaState.NON_EXISTENT))
        goes_online = self.rule in WITH_BATCHES or self._ends_creation(p)
        in_vain = goes_online and not is_valid(line.source, line.target)
        return stays and (in_vain or line.source is ReplicaState.NON_EXISTENT)

    def _has_nobody_alive(self, partition: Any) -> bool:
        """Whether a partition stays New because no assigned replica lives: it is tried again with the others."""
        p = self.cluster.partition(partition)
        live: int = live_brokers(self.system.view(self.after), self.system.model, self.parameters["c"]).raw
        alive = any(live >> r - 1 & 1 for r in self.assigned(p))
        return self._state(self.after, p) is PartitionState.NEW and not alive

    def is_assigned(self, line: ReplicaChanged) -> bool:
        """Whether there may be such a replica."""
        assigned = self.system.model.assigned(self.cluster.partition(line.partition))
        return self.cluster.broker(line.replica) in assigned

    def changes_replica(self, line: ReplicaChanged) -> bool:
        """A replica went to another state; to Online also from Online, where that is sent to its broker once more."""
        if self.deletes_replica(line):
            return True
        p, r = self.cluster.partition(line.partition), self.cluster.broker(line.replica)
        old, new = self._replica(self.before, p, r), self._replica(self.after, p, r)
        visited = self.parameters.get("p") == p and self.parameters.get("r") == r
        if self._deletes_now(p, r):
            return (line.source, line.target) in rows_of_step_9(old)
        if line.target is ReplicaState.NEW:
            return visited and old is line.source and new in {ReplicaState.NEW, ReplicaState.ONLINE}
        if line.target is not ReplicaState.ONLINE:
            return visited and old is line.source and new is line.target
        return new is ReplicaState.ONLINE and self._comes_online(line, p, r, visited=visited)

    def _comes_online(self, line: ReplicaChanged, p: int, r: int, *, visited: bool) -> bool:
        old = self._replica(self.before, p, r)
        if line.source is ReplicaState.NEW:
            return old is ReplicaState.NEW or visited
        if self.starts_machines:
            return line.source is ReplicaState.ONLINE
        again = self._is_new_broker(r) or self._is_wanted(p, r) or self._ends_creation(p)
        return old is line.source and again

    def _ends_creation(self, p: int) -> bool:
        """Whether a topic is created, and its replicas go Online from what its namesake has left them in (D53)."""
        if not self.system.model.keeps(Controller.created) or self.place(self.after) is not At.IDLE:
            return False
        t, (before, after) = self.system.model.topic_of(p), map(self._controller, self._states)
        return bool(before.created[t].raw) or before.topics[t].raw < after.topics[t].raw

    def _is_wanted(self, p: int, r: int) -> bool:
        """Whether it is step 5 of a reassignment of the partition, to this replica."""
        if self.rule not in WITH_BATCHES or self.parameters["p"] != p:
            return False
        wanted = self.system.model.brokers.lists[self._controller(self.before).reassigned[p].raw]
        return r in wanted

    def _is_new_broker(self, r: int) -> bool:
        old, new = self._controller(self.before).live.raw, self._controller(self.after).live.raw
        return bool(new & ~old & 1 << r - 1)

    def sends(self, line: LeaderAndIsrSending) -> bool:
        """A LeaderAndIsr is queued that says just this; or dropped, for want of a channel."""
        p, b = self.cluster.partition(line.partition), self.cluster.broker(line.broker)
        for one in self.seen:
            named = one.kind == "queue LeaderAndIsr" and one.fields["partition"].raw == p
            if named and one.fields["broker"].raw == b:
                leads = one.fields["leader"].raw == b
                return self.says(one.fields, line) and leads == (line.role is Role.LEADER)
        # A line to a broker without a channel tells of a request that is dropped; it may repeat an earlier leadership.
        known = self._cached(self.after, line.partition), self.system.view(self.after).zookeeper.state[p]
        epoch = self.system.model.leader_epoch.encode(line.leadership.leader_epoch)
        dropped = not self._controller(self.after).channels.raw >> b - 1 & 1
        return dropped and any(epoch <= one.leader_epoch.raw for one in known)

    @property
    def sends_bumped(self) -> bool:
        """Whether a leader epoch that a reassignment has raised is told, with nobody elected."""
        return self.rule in BUMPS and not self.elects_leader and self.is_done and not self.fails_reassignment

    def raises_epoch(self, line: ReassignmentSent) -> bool:
        """A higher leader epoch was written, and told together with the assigned replicas."""
        p = self.cluster.partition(line.partition)
        assigned = self.system.model.brokers.lists[self._controller(self.after).partitions[p].assigned.raw]
        told = self.sends_bumped and self.visits(line)
        znode = self.system.view(self.after).zookeeper.state[p]
        return told and self.says(znode, line) and tuple(map(self.cluster.broker, line.assigned_replicas)) == assigned


TABLE: Final[Mapping[type[Line], Callable[[Printing, Any], bool]]] = {
    LeaderElectionStarted: lambda step, line: step.starts_election and step.visits(line),
    LeaderElected: Printing.elects,
    PartitionBecameOnline: Printing.brings_online,
    ElectionFailed: lambda step, line: step.rule in VISITS and step.visits(line),
    ElectionAborted: lambda step, line: step.rule in VISITS and step.visits(line),
    StateZnodeExists: lambda step, line: step.rule in VISITS and step.visits(line),
    PartitionChangeFailed: Printing.fails,
    NoAssignedReplicaAlive: Printing.fails,
    PartitionBecameNew: Printing.goes_to,
    PartitionLostLeader: Printing.goes_to,
    ReplicaChanged: lambda step, line: step.is_assigned(line) and step.changes_replica(line),
    ReplicaChangeFailed: Printing.fails_replica,
    LeaderAndIsrSending: Printing.sends,
    UpdateMetadataSending: Printing.informs,
    ReassignmentSent: Printing.raises_epoch,
}
"""Which lines a step may print, and what must be true of it."""
