"""The leader selectors as terms: the new leader, its ISR, and the brokers that are sent it.

Each is a function of what the selector reads: the assigned (or reassigned) replicas in order, the ISR in order, and
sets of brokers. `reference/leadership/leader_selectors.py` has them once more as plain functions for people to read;
the two are equal on every input of up to four brokers.

Kafka 0.10.2.2: `PartitionLeaderSelector.scala`. PROTOCOL.md section 5.
"""

from dataclasses import dataclass, replace

from spec.language.broker_lists import Brokers
from spec.language.terms import Value, both, choose, either, flag
from spec.model import Model
from spec.protocol.leadership_cache import is_cached
from spec.state.cluster import State
from spec.state.controller import CachedPartition
from spec.state.zookeeper import ZooKeeper


@dataclass(frozen=True)
class ElectionTerms:
    """What a selector answers: whether there is a leader at all, the leader, the new ISR, and the receivers."""

    possible: Value
    leader: Value
    isr: Value
    receivers: Value


def chosen(condition: object, then: ElectionTerms, otherwise: ElectionTerms) -> ElectionTerms:
    """One selector's answer where the condition holds, else another's."""
    names = ("possible", "leader", "isr", "receivers")
    return ElectionTerms(*(choose(condition, getattr(then, name), getattr(otherwise, name)) for name in names))


def may_be_unclean(s: State, m: Model, p: int) -> Value | bool:
    """Whether a partition's topic is configured to elect who is not in sync, as whoever wants to know reads it."""
    return s.zookeeper.unclean[m.topic_of(p)] if m.keeps(ZooKeeper.unclean) else m.unclean


def preferred_replica_leader(
    m: Model, assigned: Value, isr: Value, live: Value, cached: CachedPartition
) -> ElectionTerms:
    """The preferred selector for a partition of a model; it raises where the controller knows of no leadership."""
    election = elect_preferred(m.brokers, assigned, isr, live, cached.leader)
    return replace(election, possible=both(election.possible, is_cached(cached)))


def elect_offline(
    brokers: Brokers, assigned: Value, isr: Value, live: Value, *, unclean: Value | bool
) -> ElectionTerms:
    """First live in-sync replica of AR; if none lives and unclean election is on, the first live one."""
    live_assigned = brokers.filtered(assigned, live)
    live_isr = brokers.filtered(isr, live)
    in_sync = brokers.filtered(live_assigned, brokers.members(live_isr))
    clean = flag(live_isr != ())
    fallback = both(unclean, live_assigned != ())
    leader = choose(clean, brokers.first(in_sync), brokers.first(live_assigned))
    return ElectionTerms(
        possible=choose(clean, in_sync != (), fallback),
        leader=leader,
        isr=choose(clean, live_isr, brokers.single(leader)),
        receivers=brokers.members(live_assigned),
    )


def elect_reassigned(brokers: Brokers, reassigned: Value, isr: Value, live: Value) -> ElectionTerms:
    """First live in-sync replica of RAR; the ISR stays as it is, and all of RAR is sent it."""
    in_sync = brokers.filtered(brokers.filtered(reassigned, live), brokers.members(isr))
    return ElectionTerms(flag(in_sync != ()), brokers.first(in_sync), isr, brokers.members(reassigned))


def elect_preferred(brokers: Brokers, assigned: Value, isr: Value, live: Value, cached_leader: Value) -> ElectionTerms:
    """The first of AR, if it lives, is in sync, and is not the cached leader already."""
    preferred = brokers.first(assigned)
    fit = both(brokers.in_set(preferred, live), brokers.contains(isr, preferred), cached_leader != preferred)
    return ElectionTerms(fit, preferred, isr, brokers.members(assigned))


def elect_controlled_shutdown(
    brokers: Brokers, assigned: Value, isr: Value, registered: Value, shutting_down: Value, *, by_isr: bool = False
) -> ElectionTerms:
    """First of AR that is registered and in sync and not leaving; all leaving brokers go from the ISR.

    Before 0.10.0.0 (`by_isr`) the first of that ISR, whether it is registered or not (D66).
    """
    staying = brokers.filtered(isr, brokers.complement(shutting_down))
    informed = brokers.filtered(assigned, registered)
    candidates = staying if by_isr else brokers.filtered(informed, brokers.members(staying))
    return ElectionTerms(flag(candidates != ()), brokers.first(candidates), staying, brokers.members(informed))


def elect_noop(brokers: Brokers, assigned: Value, isr: Value, leader: Value) -> ElectionTerms:
    """Leader and ISR stay as they are."""
    return ElectionTerms(either(True), leader, isr, brokers.members(assigned))
