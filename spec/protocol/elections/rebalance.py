"""Automatic rebalance: giving partitions back to their preferred replicas where a broker has lost too many of them.

The working controller has a thread that looks, every five minutes, at the partitions that each broker is the first
assigned replica of. Where the share of those that it does not lead is *more* than
`leader.imbalance.per.broker.percentage`, each of these has an election of its own: the thread takes the lock, and asks
again whether the broker lives, no reassignment and no requested election is under way, and the topic is known. A
requested election that sticks (D49) therefore stops every rebalance until there is another controller. Topics that are
queued for deletion are neither counted nor touched. The scheduler of this thread is started at the end of a failover,
just before the deletion thread, and shut down by a resignation: that the deletion thread has ended (D37) does not stop
it.

Left out: the period, so a check comes whenever the lock is free and the last one is through; that the partitions are
grouped by broker once, before the first broker is looked at, so that it is the head of AR by then whom the elections
ask to live (it differs where a reassignment begins and ends between the check and the election); that a resignation
waits for the running check, whose elections may as well come before it (up to 0.10.1 it holds the lock meanwhile, D9).

Kafka 0.10.2.2: `KafkaController.checkAndTriggerPartitionRebalance`. PROTOCOL.md section 7.6.
"""

from collections.abc import Mapping

from spec.language.rules import observe, require, say, when
from spec.language.terms import Value, both, choose, either, flag, number
from spec.logs.controller_log.elections import ImbalanceRatio
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.places import locking_step
from spec.protocol.controller.threads import end_turn, has_threads
from spec.protocol.elections.requested import say_begun, say_who_leads
from spec.protocol.leadership.partitions import visit_at_once
from spec.protocol.leadership_cache import assigned_replicas, is_cached, lacks_head
from spec.protocol.zookeeper import can_operate
from spec.state.cluster import State
from spec.state.enumerations import Handler
from spec.variants import Switch

SOURCE = "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"
PARTS = ("auto_rebalance",)


@locking_step(source=SOURCE, parts=PARTS)
def check_imbalance(s: State, m: Model, c: int, h: int) -> None:
    """The check finds that a broker leads too few of the partitions that it is to lead: these are to be elected for.

    An empty AR has no first broker to be grouped by: that raises, and ends the whole check, each time (D61).
    """
    controller = s.controllers[c]
    require(controller.active, has_threads(s, c))
    require(~either(*(controller.imbalanced[p] for p in m.partitions)))
    require(~either(*(both(lacks_head(s, m, c, p), ~is_queued(s, m, c, p)) for p in m.partitions)))
    its_own = {p: is_headed_by(s, m, c, p, h) for p in m.partitions}
    lost = {p: both(its_own[p], is_led_by_another(s, c, p, h)) for p in m.partitions}
    require(is_beyond(m, lost, its_own))
    taken_up = {p: both(lost[p], _could_lead(s, m, c, p)) for p in m.partitions}
    require(either(*taken_up.values()))
    for p in m.partitions:
        controller.imbalanced[p] = taken_up[p]
    observe(f"controller {c}", "find imbalance", broker=h)
    say(ImbalanceRatio, broker=h, ratio=(lost, its_own))


def is_headed_by(s: State, m: Model, c: int, p: int, h: int) -> Value:
    """Whether a controller knows a partition, not to be deleted, whose first assigned replica is on this broker."""
    stays = both(s.controllers[c].topics[m.topic_of(p)], ~is_queued(s, m, c, p))
    return both(stays, m.brokers.first(assigned_replicas(s, m, c, p)) == h)


def is_led_by_another(s: State, c: int, p: int, h: int) -> Value:
    """Whether a partition has leadership in a controller's cache, and not by this broker."""
    cached = s.controllers[c].partitions[p]
    return both(is_cached(cached), cached.leader != h)


def _could_lead(s: State, m: Model, c: int, p: int) -> Value:
    """Where the fix is on: whether the first assigned replica lives and is in sync, for all the controller knows.

    It hears of a replica that has come to be in sync by the notification only, so where there is none nothing is asked.
    """
    if not (m.fixes(Switch.REBALANCE_ONLY_TO_IN_SYNC) and m.has("notifications")):
        return flag(True)
    preferred, cached = m.brokers.first(assigned_replicas(s, m, c, p)), s.controllers[c].partitions[p]
    in_sync = m.brokers.contains(cached.isr, preferred)
    return both(in_sync, m.brokers.in_set(preferred, live_brokers(s, m, c)))


def is_beyond(m: Model, some: Mapping[int, Value], all_of_them: Mapping[int, Value]) -> Value:
    """Whether the share is strictly more than the percentage of the scope."""
    lost, total = _count(some), _count(all_of_them)
    counts = range(len(m.partitions) + 1)
    percentage = m.scope.imbalance_percentage
    return either(*(both(lost == a, total == b) for b in counts for a in counts if a * 100 > percentage * b))


def _count(flags: Mapping[int, Value]) -> Value:
    """How many of the flags hold."""
    counted = number(len(flags), "count").constant(0)
    for one in flags.values():
        counted = choose(one, counted.plus(1), counted)
    return counted


@locking_step(source=SOURCE, parts=PARTS)
def rebalance_partition(s: State, m: Model, c: int, p: int) -> None:
    """The thread takes the lock for one partition and reads its state znode; unless it is not to rebalance now."""
    controller = s.controllers[c]
    allowed = may_rebalance(s, m, c, p)
    require(controller.imbalanced[p], either(~allowed, can_operate(s, c)))
    controller.imbalanced[p] = False
    with when(allowed):
        controller.handler = Handler.REBALANCE
        say_begun(s, m, c, {q: flag(p == q) for q in m.partitions})
        visit_at_once(s, m, c, p)


def end_election(s: State, m: Model, c: int, p: int) -> None:
    """The partition has been visited."""
    say_who_leads(s, m, c, p)
    end_turn(s, m, c)


def may_rebalance(s: State, m: Model, c: int, p: int) -> Value:
    """The preferred broker lives, nothing is reassigned or elected by request, and the topic is known, and stays."""
    controller = s.controllers[c]
    busy = [either(controller.electing[q], controller.reassigned[q] != ()) for q in m.partitions]
    preferred = m.brokers.first(assigned_replicas(s, m, c, p))
    stays = both(controller.topics[m.topic_of(p)], ~is_queued(s, m, c, p))
    return both(stays, m.brokers.in_set(preferred, live_brokers(s, m, c)), ~either(*busy))
