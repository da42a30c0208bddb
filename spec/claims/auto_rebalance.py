"""What is claimed of the automatic rebalance: when it acts, and that it gets there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spec.claims.goals import both_claims
from spec.language import Action, claim
from spec.model import Model
from spec.state import At, Session
from spec.terms import Value, both, choose, either, flag, number
from spec.zookeeper import exists

PARTS = ("auto_rebalance",)


@claim("sometimes", source="PROTOCOL.md section 7.6", parts=PARTS)
def a_broker_is_out_of_balance(s: Any, m: Model) -> Value:
    """A controller has found that a broker leads too few of the partitions that it is to lead."""
    return either(*(s.controllers[c].imbalanced[p] for c in m.controllers for p in m.partitions))


@claim("step", source="PROTOCOL.md section 7.6", witness="a_broker_is_out_of_balance", parts=PARTS)
def rebalance_acts_only_beyond_the_percentage(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """Partitions are taken up for a broker only if it does not lead more than the percentage of those it is to lead."""
    if action.rule != "check_imbalance":
        return None
    controller, h = before.controllers[action.parameters["c"]], action.parameters["h"]
    if m.keeps_assignments:
        return None
    own = [p for p in m.partitions if m.first_assigned(p)[:1] == (h,)]
    known = {p: flag(controller.topics[m.topic_of(p)]) for p in own}
    cached = {p: controller.partitions[p] for p in own}
    lost = {p: both(known[p], cached[p].leader_epoch != -1, cached[p].leader != h) for p in own}
    return _is_more_than_the_percentage(m, lost.values(), known.values())


def _is_more_than_the_percentage(m: Model, some: Collection[Value], all_of_them: Collection[Value]) -> Value:
    """Whether so many flags hold: each of the first weighs 100, and each of all of them as much as the percentage."""
    return _weight(some, 100) > _weight(all_of_them, m.scope.imbalance_percentage)


def _weight(flags: Collection[Value], of_each: int) -> Value:
    total = number(100 * len(flags), "weight").constant(0)
    for one in flags:
        total = choose(one, total.plus(of_each), total)
    return total


@claim("step", source="PROTOCOL.md section 7.6", witness="a_broker_is_out_of_balance", parts=PARTS)
def rebalance_elects_live_brokers_one_by_one(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """A rebalance elects one partition at a time, and only where its preferred broker is taken to live."""
    if action.rule != "rebalance_partition" or m.keeps_assignments:
        return None
    c, p = action.parameters["c"], action.parameters["p"]
    new = after.controllers[c]
    begun = flag(new.at == At.ONLINE_WRITE)
    alone = ~either(*(new.partitions[q].todo for q in m.partitions if q != p))
    lives = m.brokers.in_set(m.first_assigned(p)[0], before.controllers[c].live)
    return either(~begun, both(new.partitions[p].todo, alone, lives))


@claim(
    "step",
    source="PROTOCOL.md D36, KAFKA-9866",
    witness="a_broker_is_out_of_balance",
    parts=(*PARTS, "notifications"),
)
def rebalance_takes_up_what_can_be_led(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """No check takes up a partition whose preferred replica it knows to be dead or out of sync, again and again."""
    if action.rule != "check_imbalance":
        return None
    controller, h = before.controllers[action.parameters["c"]], action.parameters["h"]
    taken_up = after.controllers[action.parameters["c"]].imbalanced
    lives = m.brokers.in_set(h, controller.live)
    in_sync = {p: m.brokers.contains(controller.partitions[p].isr, h) for p in m.partitions}
    return both(*(either(~taken_up[p], both(lives, in_sync[p])) for p in m.partitions))


def leaders_are_in_balance(s: Any, m: Model) -> Value:
    """No running broker that is in sync leads less than it is to lead, by more than the percentage."""
    return ~either(*(_is_robbed(s, m, h) for h in m.brokers.ids))


def _is_robbed(s: Any, m: Model, h: int) -> Value:
    """Whether others lead more than the percentage of what a running broker is to lead, and could."""
    own = [p for p in m.partitions if m.first_assigned(p)[:1] == (h,)]
    runs = flag(s.processes[h].session == Session.LIVE)
    lost = [_is_lost(s, m, p, h) for p in own]
    return both(runs, _is_more_than_the_percentage(m, lost, [flag(True) for _ in own]))


def _is_lost(s: Any, m: Model, p: int, h: int) -> Value:
    """Whether another leads a partition that this broker could."""
    znode = s.zookeeper.state[p]
    return both(exists(znode), znode.leader != h, m.brokers.contains(znode.isr, h))


CLAIMS = (
    a_broker_is_out_of_balance, rebalance_acts_only_beyond_the_percentage, rebalance_elects_live_brokers_one_by_one,
    rebalance_takes_up_what_can_be_led,
    *both_claims(leaders_are_in_balance, "PROTOCOL.md section 7.6", PARTS),
)  # fmt: skip
