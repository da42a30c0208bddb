"""What is claimed of the automatic rebalance: when it acts, and that it gets there.

The thread gives the lock back between the check and each election. Before each election it asks again, under the lock
that it then keeps, whether anything forbids it, so that is claimed of every state in which it elects. The percentage it
asks once: partitions that were taken up are given back also where those before them have been enough.

Of topics that vanish without being deleted nothing is claimed: in no scope is there a rebalance and a removal by hand.
"""

from collections.abc import Collection

from spec.language.rules import Facts, claim
from spec.language.terms import Value, both, choose, either, flag, is_false, number, same
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.leadership_cache import assigned_replicas, is_cached
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, DeletionThread, Handler, Session

SOURCE = "PROTOCOL.md section 7.6"
PARTS = ("auto_rebalance",)


@claim("sometimes", source=SOURCE, parts=PARTS)
def a_broker_is_out_of_balance(s: State, m: Model, c: int, p: int) -> Value:
    """A controller has found that a broker leads too few of the partitions that it is to lead."""
    return s.controllers[c].imbalanced[p]


@claim("step", source=SOURCE, witness="a_broker_is_out_of_balance", parts=PARTS)
def rebalance_acts_only_beyond_the_percentage(before: State, after: State, m: Model, c: int) -> Facts:
    """Partitions are taken up for a broker only if it does not lead more than the percentage of those it is to lead.

    Those of topics that are queued for deletion do not count. Exactly the percentage is not more.
    """
    old, new = before.controllers[c], after.controllers[c]
    taken_up = {p: _becomes_true(old.imbalanced[p], new.imbalanced[p]) for p in m.partitions}
    if is_false(either(*taken_up.values()).term):
        return
    counted = {p: both(old.topics[m.topic_of(p)], ~is_queued(before, m, c, p)) for p in m.partitions}
    heads = {p: m.brokers.first(assigned_replicas(before, m, c, p)) for p in m.partitions}
    for h in m.brokers.ids:
        own = {p: both(counted[p], heads[p] == h) for p in m.partitions}
        lost = [both(own[p], is_cached(old.partitions[p]), old.partitions[p].leader != h) for p in m.partitions]
        concerned = either(*(both(taken_up[p], heads[p] == h) for p in m.partitions))
        yield either(~concerned, _is_more_than_the_percentage(m, lost, own.values()))


def _becomes_true(old: Value, new: Value) -> Value:
    return flag(False) if same(old.term, new.term) else both(~old, new)


def _is_more_than_the_percentage(m: Model, some: Collection[Value], all_of_them: Collection[Value]) -> Value:
    """Whether so many flags hold: each of the first weighs 100, and each of all of them as much as the percentage."""
    return _weight(some, 100) > _weight(all_of_them, m.scope.imbalance_percentage)


def _weight(flags: Collection[Value], of_each: int) -> Value:
    total = number(100 * len(flags), "weight").constant(0)
    for one in flags:
        total = choose(one, total.plus(of_each), total)
    return total


# -------------------------------------------------------------------------------------------------------- its elections


def _elects(controller: Controller) -> Value:
    """Whether a controller is at an election that nobody has asked for; it has the lock until that is over."""
    at_it = either(controller.at == At.ONLINE_READ, controller.at == At.ONLINE_WRITE)
    return both(controller.handler == Handler.REBALANCE, at_it)


@claim("sometimes", source=SOURCE, parts=PARTS)
def a_rebalance_elects(s: State, m: Model, c: int) -> Value:
    """A rebalance is about to give a partition back to the broker that is to lead it."""
    return both(_elects(s.controllers[c]), s.controllers[c].at == At.ONLINE_WRITE)


@claim("always", source=SOURCE, witness="a_rebalance_elects", parts=PARTS)
def rebalance_elects_live_brokers_one_by_one(s: State, m: Model, c: int, p: int) -> Value:
    """A rebalance elects one partition at a time, and only while it takes the preferred broker to live, and to stay."""
    controller, live = s.controllers[c], live_brokers(s, m, c)
    elected = both(_elects(controller), controller.partitions[p].todo)
    alone = ~either(*(controller.partitions[q].todo for q in m.partitions if q != p))
    lives = m.brokers.in_set(m.brokers.first(assigned_replicas(s, m, c, p)), live)
    return either(~elected, both(alone, lives))


@claim("sometimes", source=SOURCE, parts=(*PARTS, "busy_topics"))
def a_rebalance_has_to_wait(s: State, m: Model, c: int) -> Value:
    """A broker is out of balance while its controller moves partitions, or elects preferred replicas by request."""
    imbalanced = either(*(s.controllers[c].imbalanced[p] for p in m.partitions))
    return both(imbalanced, either(*_under_way(s, m, c)))


def _under_way(s: State, m: Model, c: int) -> list[Value]:
    """For each partition, what is under way with it that keeps every rebalance from electing."""
    controller = s.controllers[c]
    return [either(controller.reassigned[p] != (), controller.electing[p]) for p in m.partitions]


@claim("always", source=SOURCE, witness="a_rebalance_has_to_wait", parts=(*PARTS, "busy_topics"))
def rebalance_waits_for_what_is_under_way(s: State, m: Model, c: int) -> Value:
    """No rebalance elects while its controller moves any partition, or elects any preferred replica by request."""
    return ~both(_elects(s.controllers[c]), either(*_under_way(s, m, c)))


@claim("sometimes", source="PROTOCOL.md section 6, D37", parts=(*PARTS, "deletion", "stray_deletions"))
def a_rebalance_outlives_the_deletion_thread(s: State, m: Model, c: int) -> Value:
    """A rebalance elects where an exception has ended the deletion thread, which the scheduler does not depend on."""
    return both(_elects(s.controllers[c]), s.controllers[c].deletion == DeletionThread.ENDED)


@claim("sometimes", source=SOURCE, parts=(*PARTS, "deletion"))
def a_dying_topic_is_out_of_balance(s: State, m: Model, c: int, p: int) -> Value:
    """A partition that was taken up for its broker is of a topic that is to be deleted by now, or is known no more."""
    return both(s.controllers[c].imbalanced[p], ~_stays(s, m, c, p))


def _stays(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a controller knows the topic of a partition, and has not queued it for deletion."""
    return both(s.controllers[c].topics[m.topic_of(p)], ~is_queued(s, m, c, p))


@claim("always", source=SOURCE, witness="a_dying_topic_is_out_of_balance", parts=(*PARTS, "deletion"))
def rebalance_leaves_dying_topics_alone(s: State, m: Model, c: int, p: int) -> Value:
    """No rebalance elects for a topic that is queued for deletion, or that has been deleted and is known no more."""
    controller = s.controllers[c]
    return either(~both(_elects(controller), controller.partitions[p].todo), _stays(s, m, c, p))


@claim(
    "step", source="PROTOCOL.md D36, KAFKA-9866", witness="a_broker_is_out_of_balance", parts=(*PARTS, "notifications"),
    of={"check_imbalance"},
)  # fmt: skip
def rebalance_skips_unelectable_preferred_replicas(
    before: State, after: State, m: Model, c: int, h: int, *, p: int
) -> Value:
    """No check takes up a partition whose preferred replica it knows to be dead or out of sync, again and again."""
    controller = before.controllers[c]
    electable = both(m.brokers.in_set(h, controller.live), m.brokers.contains(controller.partitions[p].isr, h))
    return either(~after.controllers[c].imbalanced[p], electable)


@claim("goal", source=SOURCE, parts=PARTS)
def leaders_are_in_balance(s: State, m: Model) -> Value:
    """No running broker that is in sync leads less than it is to lead, by more than the percentage."""
    return ~either(*(_is_robbed(s, m, h) for h in m.brokers.ids))


def _is_robbed(s: State, m: Model, h: int) -> Value:
    """Whether others lead more than the percentage of what a running broker is to lead, and could."""
    own = {p: _is_headed_by(s, m, p, h) for p in m.partitions}
    runs = flag(s.processes[h].session == Session.LIVE)
    lost = [both(own[p], _is_lost(s, m, p, h)) for p in m.partitions]
    return both(runs, _is_more_than_the_percentage(m, lost, own.values()))


def _is_headed_by(s: State, m: Model, p: int, h: int) -> Value:
    """Whether a broker is the first of AR, as ZooKeeper has it."""
    if m.keeps_assignments:
        return flag(m.brokers.first(s.zookeeper.assigned[p]) == h)
    return flag(m.first_assigned(p)[:1] == (h,))


def _is_lost(s: State, m: Model, p: int, h: int) -> Value:
    """Whether another leads a partition that this broker could."""
    znode = s.zookeeper.state[p]
    return both(exists(znode), znode.leader != h, m.brokers.contains(znode.isr, h))
