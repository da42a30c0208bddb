"""A model: one scope with its switches, and the kinds that its variables take.

Every action is a function of the state and of a model; the model answers what the scope fixes (which brokers,
controllers and partitions there are, the assigned replicas, whether unclean election is on) and what the variant
fixes. Whether epochs are bounded or mathematical integers is decided here and nowhere else.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from spec.language.broker_lists import Brokers, brokers_of, plain
from spec.language.records import Declared
from spec.language.terms import Kind, epoch
from spec.scopes import APART, PARTS, Purgatory, Scope
from spec.variants import Switch, Switches

Found = TypeVar("Found")

UNFIXED = {
    "separate_epoch": Switch.ATOMIC_ELECTION,
    "epochless_fetches": Switch.FETCH_EPOCHS,
    "listeners_given_what_was": Switch.READ_UNDER_LOCK,
    "deletions_stopped_before_the_lock": Switch.RESIGN_UNDER_LOCK,
    "late_arming": Switch.ARM_BEFORE_SECOND_TRY,
    "unguarded_insertion": Switch.INSERT_UNDER_MONITOR,
    "announcements": Switch.ANNOUNCE_NO_ISR,
    "heard_deletions": Switch.LEAVE_REFUSED_DELETIONS,
}
"""What a rule may ask for that a switch takes away: a fix, or what older releases did (`heard_deletions` only where
topics are not deleted).
"""

BROUGHT = {
    "adopted_epochs": Switch.ADOPT_NEW_EPOCHS,
    "brokers_read_twice": Switch.READ_BROKERS_TWICE,
    "allowed_elections": Switch.ELECT_WHERE_ALLOWED,
    "single_stops": Switch.RUN_WHEN_NOT_ACTIVE,
}
"""What a rule may ask for that only an older release did, or only a fix does.

That before 0.10.2.0 each replica is stopped by a request of its own (KAFKA-4420) has no switch to itself: it shows only
where a broker has carried out some of them.
"""

#: What a controller may lose its office by while its process lives: its session's end, an exception, or an election
#: whose answer it does not get.
DEPOSING = frozenset({"expiries", "heard_expiries", "exceptions", "losses", "failing_requests"})


@dataclass(frozen=True)
class Model:
    """A scope with switches; `proving` lifts budgets and makes epochs and versions mathematical integers."""

    scope: Scope
    switches: Switches
    proving: bool = False

    def has(self, part: str) -> bool:
        """Whether a part of the protocol is in the scope."""
        return part in self.scope.parts

    @cached_property
    def features(self) -> frozenset[str]:
        """What a rule may ask for: the scope's parts and budgets, what is there unless fixed, or only by a switch,
        what is implied, whether deletions are refused, whether requests for them are heard of, whether there are
        several partitions, and whether requests to reassign have lists that are not of distinct brokers.
        """
        unfixed = {name for name, fix in UNFIXED.items() if not self.fixes(fix)}
        brought = {name for name, switch in BROUGHT.items() if self.reintroduces(switch)}
        implied = set[str]().union(*(PARTS[part] for part in self.scope.parts))
        if not self.has("connections"):
            implied -= {"stopped_replicas", "several_requests"}
        if self.refuses_deletions:
            implied |= {"refused_deletions"}
        if self.scope.deletes_topics:
            implied |= {"heard_deletions"}
        if len(self.scope.assigned) > 1:
            implied |= {"several_partitions"}
        if self.scope.odd_targets:
            implied |= {"odd_targets"}
        return self.scope.features | unfixed | brought | implied

    def is_about(self, parts: frozenset[str]) -> bool:
        """Whether a rule or a claim with these parts is one of this scope: it has them, and both are of one system."""
        return parts <= self.features and parts & APART == self.scope.parts & APART

    def keeps(self, field: Declared[Any]) -> bool:
        """Whether a field of the state is kept, which the field itself says (spec/state/)."""
        found = self._kept.get(field)
        if found is None:
            found = self._kept[field] = self.noting(lambda: field.is_kept(self))
        answer, asked = found
        self.asked.update(asked)
        return answer

    @cached_property
    def _kept(self) -> "dict[Declared[Any], tuple[bool, frozenset[Switch]]]":
        return {}

    @property
    def purgatory(self) -> Purgatory:
        """The bounds of the purgatory that the scope has."""
        if self.scope.purgatory is None:
            raise ValueError(f"the scope {self.scope.name} has no purgatory")
        return self.scope.purgatory

    @property
    def stops_replicas(self) -> bool:
        """Whether StopReplica requests are delivered: only parts that stop replicas of living brokers have any."""
        return "stopped_replicas" in self.features

    @property
    def stops_one_by_one(self) -> bool:
        """Whether each replica is stopped by a request of its own, not all of a broker's by one."""
        return self.stops_replicas and "single_stops" in self.features

    @property
    def elects_preferred(self) -> bool:
        """Whether some handler asks the preferred selector."""
        return "preferred_leaders" in self.features

    def fixes(self, switch: Switch) -> bool:
        """Whether a fix is switched on."""
        self.asked.add(switch)
        return switch in self.switches

    reintroduces = fixes
    """Whether what an older release did is reintroduced."""

    @cached_property
    def asked(self) -> set[Switch]:
        """The switches that were asked for, whether they are on or not; `noting` tells by whom."""
        return set()

    def noting(self, ask: Callable[[], Found]) -> tuple[Found, frozenset[Switch]]:
        """What comes of asking, and which switches it depends on: those that were asked for meanwhile."""
        before = self.asked.copy()
        self.asked.clear()
        found = ask()
        meanwhile = frozenset(self.asked)
        self.asked.update(before)
        return found, meanwhile

    @property
    def removes_topics(self) -> bool:
        """Whether topics may be removed by hand."""
        return bool(self.scope.budget("removals"))

    @property
    def loses_topics(self) -> bool:
        """Whether a controller may find a topic gone that it knows: removed by hand, or deleted by another controller,
        which takes that one of the two is deposed and lives on.
        """
        outlives = len(self.controllers) > 1 and not DEPOSING.isdisjoint(self.features)
        return self.removes_topics or (self.has("deletion") and outlives)

    @property
    def shutdowns_outlive_terms(self) -> bool:
        """Whether a controlled shutdown that was begun goes on when its controller has resigned."""
        return self.has("shutdown") and not self.fixes(Switch.SHUTDOWN_ENDS_WITH_TERM)

    @property
    def reassignments_outlive_terms(self) -> bool:
        """Whether a resigned controller goes on with a reassignment that it hears of (D8)."""
        older = self.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE) and not self.fixes(Switch.CLEAR_CONTEXT)
        return self.has("reassignment") and older

    @property
    def notifications_outlive_terms(self) -> bool:
        """Whether a resigned controller sends ISR changes that it hears of (D8), and what it has cached."""
        return self.has("notifications") and self.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)

    @property
    def sends_after_terms(self) -> bool:
        """Whether somebody may have something to send whose term has ended, and has no channels any more."""
        return self.shutdowns_outlive_terms or self.reassignments_outlive_terms or self.notifications_outlive_terms

    @property
    def tells_only_the_known(self) -> bool:
        """Whether UpdateMetadata is dropped when all its partitions are unknown: before 0.10.2.0 (KAFKA-4415).

        It has no switch of its own: it matters where there are no channels, to a resigned controller (D8).
        """
        return self.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)

    @property
    def opens_channels_twice(self) -> bool:
        """Whether channels are opened beside those that an earlier term left over: before 0.9.0.0 no metrics forbid it.

        It has no switch of its own, since no claim is broken by it here: a controller that goes on beside another (D7)
        is elected again with all its channels open.
        """
        return self.reintroduces(Switch.IGNORE_WHO_IS_NEW)

    @property
    def always_fails_offline(self) -> bool:
        """Whether a replica without leadership fails to go Offline also while it is being deleted: before 0.9.0.1.

        It has no switch of its own: it stays Online either way (D16), and only a line tells.
        """
        return self.reintroduces(Switch.IGNORE_WHO_IS_NEW)

    @property
    def keeps_assignments(self) -> bool:
        """Whether AR is a variable, in ZooKeeper and in each controller."""
        return self.has("reassignment") or self.has("addition")

    @property
    def moves_replicas(self) -> bool:
        """Whether AR of a partition may change once it is there: by a reassignment, or by hand."""
        return self.has("reassignment") or (self.has("addition") and "edits" in self.features)

    @property
    def has_several_topics(self) -> bool:
        """Whether there is more than one topic."""
        return len(self.topics) > 1

    @property
    def tells_all(self) -> bool:
        """Whether UpdateMetadata of all partitions says that it is; kept where brokers may miss that one is deleted."""
        return self.has("deletion") and self.has("cached_leaderships") and self.fixes(Switch.FULL_METADATA)

    @property
    def takes_the_dead_offline(self) -> bool:
        """Whether a failover takes replicas Offline that are dead already; kept where it is asked what they are."""
        return self.has("dead_replicas") and self.fixes(Switch.TAKE_THE_DEAD_OFFLINE)

    @property
    def refuses_deletions(self) -> bool:
        """Whether topics may be asked to be deleted, and are not: `delete.topic.enable` is off, the era's default."""
        return self.has("deletion") and not self.scope.deletes_topics

    @property
    def leaves_deletions(self) -> bool:
        """Whether nobody listens to requests to delete topics, since they are refused, in older releases."""
        return self.refuses_deletions and self.reintroduces(Switch.LEAVE_REFUSED_DELETIONS)

    @property
    def refusals_outlive_terms(self) -> bool:
        """Whether a resigned controller still sends a removal of what stays (D71), since its listeners run on (D8)."""
        return self.leaves_deletions and self.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)

    @property
    def topics_vanish(self) -> bool:
        """Whether a topic may go at all."""
        return self.has("deletion") or self.removes_topics

    @property
    def keeps_words(self) -> bool:
        """Whether receivers may hold an older leadership than the cache: two replicas may go Offline in one batch (S9),
        so a receiver can be sent the first removal, not its own. A topic is deleted that is younger than its request.
        """
        return self.has("creation") and self.has("deletion")

    @property
    def unclean(self) -> bool:
        """Whether a replica that is not in sync may be elected, as is the default of the era."""
        return self.scope.unclean and not self.fixes(Switch.CLEAN_BY_DEFAULT)

    @cached_property
    def brokers(self) -> Brokers:
        """The brokers of the scope."""
        return brokers_of(self.scope.brokers, self.scope.odd_targets)

    @cached_property
    def notices(self) -> Brokers:
        """The places for ISR change notifications, and sets of them: each broker's first place, then each's second."""
        return brokers_of(self.scope.brokers * self.scope.notification_capacity)

    def notices_of(self, broker: int) -> range:
        """The places of a broker's notifications; the first has the broker's own number."""
        return self.notices.ids[broker - 1 :: self.scope.brokers]

    def creator(self, notice: int) -> int:
        """The broker whose notifications have this place."""
        return (notice - 1) % self.scope.brokers + 1

    @property
    def controllers(self) -> range:
        """The brokers that may become controller: the first ones."""
        return range(1, self.scope.controllers + 1)

    @property
    def partitions(self) -> range:
        """The partitions, numbered over all topics."""
        return range(len(self.scope.assigned))

    @property
    def topics(self) -> range:
        """The topics that a partition is of."""
        return range(1 + max(self.scope.topic_of, default=0))

    def choices(self, names: Iterable[str]) -> Iterable[Mapping[str, int]]:
        """Every choice of things by the names that rules and claims have for them; `r` is a broker that may ever be
        assigned the partition `p`.
        """
        chosen: list[dict[str, int]] = [{}]
        for name in names:
            chosen = [
                one | {name: number}
                for one in chosen
                for number in (self.assigned(one["p"]) if name == "r" else self.domains[name])
            ]
        return chosen

    @cached_property
    def domains(self) -> Mapping[str, Sequence[int]]:
        """The controllers, partitions, topics, brokers, places of a queue, and operations of a purgatory, by name."""
        operations = range(len(self.scope.purgatory.requests)) if self.scope.purgatory else ()
        return {
            "c": self.controllers, "p": self.partitions, "t": self.topics, "b": self.brokers.ids, "k": self.slots,
            "o": operations,
        }  # fmt: skip

    @property
    def topics_stand(self) -> bool:
        """Whether the topics are there from the start."""
        return not self.has("creation") or self.scope.topics_stand

    def topic_of(self, partition: int) -> int:
        """The topic of a partition; all are of topic 0 unless the scope says otherwise."""
        return self.scope.topic_of[partition] if self.scope.topic_of else 0

    def partitions_of(self, topic: int) -> list[int]:
        """The partitions of a topic."""
        return [p for p in self.partitions if self.topic_of(p) == topic]

    @property
    def slots(self) -> range:
        """The places of a connection's queue, head first."""
        return range(self.scope.connection_capacity)

    def assigned(self, partition: int) -> tuple[int, ...]:
        """The brokers that may ever be assigned a partition: its AR in order, then those that requests or edits add."""
        return self._ever_assigned[partition]

    @cached_property
    def _ever_assigned(self) -> tuple[tuple[int, ...], ...]:
        lists = zip(self.scope.assigned, *self.scope.requests, *self.scope.edited, strict=True)
        return tuple(tuple(dict.fromkeys(broker for one in of_it for broker in plain(one))) for of_it in lists)

    def requested(self, partition: int) -> tuple[tuple[int, ...], ...]:
        """What a partition may be reassigned to: RAR, in order, of each request that names it."""
        lists = (one[partition] for one in self.scope.requests)
        return tuple(dict.fromkeys(replicas for replicas in lists if replicas))

    def edited(self, edit: int) -> Mapping[int, tuple[int, ...]]:
        """What somebody writes by hand: the AR, in order, of each partition that the edit names."""
        return {p: replicas for p, replicas in enumerate(self.scope.edited[edit]) if replicas}

    def named(self, partition: int) -> tuple[tuple[int, ...], ...]:
        """The assignments of a partition that somebody names: its first AR, RAR of requests, and AR of edits."""
        edits = (one[partition] for one in self.scope.edited)
        return (self.first_assigned(partition), *self.requested(partition), *(one for one in edits if one))

    def first_assigned(self, partition: int) -> tuple[int, ...]:
        """The assigned replicas (AR) with which a partition starts, in order; without reassignment they stay so."""
        return self.scope.assigned[partition]

    @cached_property
    def controller_epoch(self) -> Kind:
        """A controller epoch: 0 before the first."""
        return epoch(self.scope.controller_epochs, unbounded=self.proving)

    @cached_property
    def leader_epoch(self) -> Kind:
        """A partition's leader epoch; raw 0 is "none yet" and prints as -1."""
        return epoch(self.scope.versions, unbounded=self.proving, offset=-1)

    @cached_property
    def version(self) -> Kind:
        """The data version of a state znode; raw 0 is "no znode" and prints as -1."""
        return epoch(self.scope.versions, unbounded=self.proving, offset=-1)
