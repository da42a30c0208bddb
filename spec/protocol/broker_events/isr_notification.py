"""ISR change notification: how the controller hears of the ISR changes that leaders write.

A leader remembers that it wrote an ISR and, some seconds later, creates one sequential znode that names its partitions.
The controller reads the children, reads the state znodes that they name into its cache, tells every broker, and deletes
the children that it handled. Until then its cache is behind the znode.

The znodes are sequential, so a broker's reports do not replace each other; while no controller works, they pile up. A
scope has places for so many of each broker's at a time, one unless it says otherwise, and one more hits a bound. Before
0.9.0 there are none (ANNOUNCE_NO_ISR, D65). The children are listed, and then read one by one, so another controller
may delete one in between, which names nothing then; that is in where a scope asks for it ("notification_reads"), and
elsewhere all are read as they are listed. Left out: the delays (2.5 to 7.5 seconds).

Kafka 0.10.2.2: `ReplicaManager.maybePropagateIsrChanges`, `KafkaController.IsrChangeNotificationListener`. PROTOCOL.md
section 7.7.
"""

from collections.abc import Mapping

from spec.language.rules import action, fits, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.model import Model
from spec.protocol.controller.controller_batch import tell
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.controller.threads import become_idle
from spec.protocol.leadership.state_writes import cache_state
from spec.protocol.requests.batch import Batch, known_partitions
from spec.protocol.zookeeper import (
    acts,
    can_operate,
    exists,
    is_fenced_off,
    is_read_in_vain,
    note_read,
    notify,
    rearm_watch,
    take_head,
)
from spec.state.cluster import State
from spec.state.controller import CachedPartition, Controller
from spec.state.enumerations import At, Callback
from spec.variants import Switch

SOURCE = "KafkaController.IsrChangeNotificationListener 0.10.2.2"
PARTS = ("notifications", "announcements")


@action(actor="broker {b}", source="ReplicaManager.maybePropagateIsrChanges 0.10.2.2", parts=PARTS)
def report_isr_changes(s: State, m: Model, b: int) -> None:
    """A leader announces the partitions whose ISR it wrote."""
    _announce(s, m, b, {p: flag(s.brokers[b].partitions[p].unreported) for p in m.partitions})
    for p in m.partitions:
        s.brokers[b].partitions[p].unreported = False


@action(actor="broker {b}", source="Partition.updateIsr 0.10.2.2", budget="slow_notes", parts=PARTS)
def report_isr_changes_without(s: State, m: Model, b: int, p: int) -> None:
    """A leader announces ISR changes just before it notes its last one, which it announces the next time."""
    _report_before_note(s, m, b, p, announced=False)


@action(actor="broker {b}", source="Partition.updateIsr 0.10.2.2", budget="slow_notes", parts=PARTS)
def report_isr_changes_before(s: State, m: Model, b: int, p: int) -> None:
    """The same, where an earlier change of that partition is announced: it is named this time and the next time."""
    _report_before_note(s, m, b, p, announced=True)


def _report_before_note(s: State, m: Model, b: int, p: int, *, announced: bool) -> None:
    """The write of p's ISR has succeeded, but the thread that made it has not come to note it."""
    require(s.brokers[b].partitions[p].unreported)
    others = {q: flag(s.brokers[b].partitions[q].unreported) for q in m.partitions if q != p}
    _announce(s, m, b, {**others, p: flag(announced)})
    for q in others:
        s.brokers[b].partitions[q].unreported = False


def _announce(s: State, m: Model, b: int, unreported: Mapping[int, Value]) -> None:
    """Create a notification that names these partitions, of which there is one."""
    zookeeper = s.zookeeper
    require(can_operate(s, b), either(*unreported.values()))
    free = {n: ~stands(s, m, n) for n in m.notices_of(b)}
    fits(either(*free.values()))
    before = flag(True)
    for n, is_free in free.items():
        for p in m.partitions:
            with when(both(before, is_free, unreported[p])):
                zookeeper.notified[p] = m.notices.union(zookeeper.notified[p], m.notices.set_kind.constant((n,)))
        before = both(before, ~is_free)
    observe(f"broker {b}", "create isr_change")
    notify(s, m, "isr_changes")


@listener(Callback.ISR_CHANGES, source=SOURCE, parts=PARTS)
def on_isr_change(s: State, m: Model, c: int) -> None:
    """Notifications came or went: those that are there are to be handled."""
    controller, notified = s.controllers[c], s.zookeeper.notified
    require(either(controller.active, m.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)))
    take_head(s, m, c)
    rearm_watch(s, c, "isr_changes")
    say(NotificationsFound)
    for p in m.partitions:
        controller.taken = m.notices.union(controller.taken, notified[p])
    if m.keeps(Controller.unread):
        controller.unread = controller.taken
    else:
        _take_up(s, m, c, {p: ~m.notices.is_empty(notified[p]) for p in m.partitions})
    with when(~m.notices.is_empty(controller.taken)):
        controller.at = At.NOTIFIED_READ


@controller_step(At.NOTIFIED_READ, source=SOURCE, parts=(*PARTS, "notification_reads"))
def read_notification(s: State, m: Model, c: int, n: int) -> None:
    """Read one of the notifications that were listed: it names nothing if it is gone. If all are, that is all."""
    controller, partitions = s.controllers[c], s.controllers[c].partitions
    require(m.notices.in_set(n, controller.unread))
    stands = m.notices.in_set(n, controller.taken)
    named = {p: both(stands, m.notices.in_set(n, s.zookeeper.notified[p])) for p in m.partitions}
    _take_up(s, m, c, {p: either(partitions[p].todo, one) for p, one in named.items()})
    controller.unread = m.notices.difference(controller.unread, m.notices.set_kind.constant((n,)))
    with when(both(m.notices.is_empty(controller.unread), *(~partitions[p].todo for p in m.partitions))):
        controller.at = At.NOTIFIED_DELETE


def _take_up(s: State, m: Model, c: int, named: Mapping[int, Value]) -> None:
    """The state znodes of these partitions are to be read."""
    for p, one in named.items():
        s.controllers[c].partitions[p].todo = one
        s.controllers[c].partitions[p].named = one


@controller_step(At.NOTIFIED_READ, source=SOURCE, parts=PARTS)
def read_notified(s: State, m: Model, c: int, p: int) -> None:
    """Read the state znode of a partition that was named; after the last one, tell every broker."""
    controller, partitions = s.controllers[c], s.controllers[c].partitions
    require(partitions[p].todo, m.notices.is_empty(controller.unread))
    note_read(s, m, c, p)
    fenced = is_read_in_vain(s, m, c)
    with when(both(~fenced, exists(s.zookeeper.state[p]))):
        cache_state(s, c, p)
    partitions[p].todo = False
    with when(both(~fenced, ~either(*(partitions[q].todo for q in m.partitions)))):
        batch = Batch(metadata=_to_be_told(s, m, c), about=_named(s, m, c), perhaps=_perhaps_named(s, m, c))
        told = tell(s, m, c, batch)
        with when(told):
            controller.at = At.NOTIFIED_DELETE
        for q in m.partitions:
            reset(partitions[q], "named")
    controller_moved(s, m, c, where=fenced)


def _to_be_told(s: State, m: Model, c: int) -> Mapping[int, Value]:
    """The partitions that were named; where it does not matter which, all that are known."""
    known, named = known_partitions(s, m, c), _named(s, m, c)
    return {p: both(known[p], one) for p, one in named.items()} or known


def _named(s: State, m: Model, c: int) -> dict[int, Value]:
    """The partitions that were named, where that is kept."""
    partitions = s.controllers[c].partitions
    return {p: flag(partitions[p].named) for p in m.partitions} if m.keeps(CachedPartition.named) else {}


def _perhaps_named(s: State, m: Model, c: int) -> dict[int, Value]:
    """The partitions of which it is not kept whether they were named: no notification that is still there does."""
    if m.keeps(CachedPartition.named):
        return {}
    taken = s.controllers[c].taken
    return {p: m.notices.disjoint(taken, s.zookeeper.notified[p]) for p in m.partitions}


@controller_step(At.NOTIFIED_DELETE, source=SOURCE, parts=PARTS)
def delete_notification(s: State, m: Model, c: int, n: int) -> None:
    """Delete one of the notifications that were handled, unless it is gone; after the last one the handler is done."""
    controller = s.controllers[c]
    left = m.notices.union(controller.taken, controller.gone)
    require(m.notices.in_set(n, left))
    fenced = is_fenced_off(s, m, c)
    controller_moved(s, m, c, where=fenced)
    with when(~fenced):
        with when(m.notices.in_set(n, controller.taken)):
            _delete(s, m, c, n)
        one = m.notices.set_kind.constant((n,))
        controller.taken = m.notices.difference(controller.taken, one)
        controller.gone = m.notices.difference(controller.gone, one)
        with when(left == (n,)):
            become_idle(s, c)


def stands(s: State, m: Model, n: int) -> Value:
    """Whether there is a notification in this place: it names a partition, as every notification does."""
    return either(*(m.notices.in_set(n, s.zookeeper.notified[p]) for p in m.partitions))


def _delete(s: State, m: Model, c: int, n: int) -> None:
    """A notification disappears; whoever else handles it will find it gone."""
    notified, one = s.zookeeper.notified, m.notices.set_kind.constant((n,))
    observe(f"controller {c}", "delete isr_change", creator=m.creator(n))
    acts(s, m, c)
    notify(s, m, "isr_changes")
    for p in m.partitions:
        notified[p] = m.notices.difference(notified[p], one)
    for other in (s.controllers[d] for d in m.controllers if d != c):
        with when(m.notices.in_set(n, other.taken)):
            other.taken = m.notices.difference(other.taken, one)
            other.gone = m.notices.union(other.gone, one)
