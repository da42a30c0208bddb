"""ISR changes: a leader shrinks and expands its ISR through the version of the state znode that it has cached.

The write is conditional on the cached version; when it fails, the leader keeps its memory as it is and tries again
later *with the same version*. Nothing but an own success or an accepted LeaderAndIsr refreshes that version, so a
leader that misses one is stuck (D6). A leader that was sent version -1, after a failed removal, writes unconditionally.
The write is done under the partition's lock, so no LeaderAndIsr is accepted between a lost answer and the retry. Lag is
not modelled: a leader may shrink at will, which counts as a fault, and expands for a live follower of its own leader
epoch, which is progress; that it takes in one of another leader epoch is a fault, except where brokers shut down. A
failed write changes nothing and is no step.

Kafka 0.10.2.2: `Partition.maybeExpandIsr`, `maybeShrinkIsr`, `updateIsr`. PROTOCOL.md section 10.
"""

from spec.language.rules import action, observe, require, successor, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.requests.batch import FIELDS, see_conflict
from spec.protocol.zookeeper import can_operate, exists, state_changed
from spec.state.brokers import BrokerPartition
from spec.state.cluster import State
from spec.state.enumerations import Session
from spec.state.zookeeper import Leadership
from spec.variants import Switch


@action(actor="broker {b}", source="Partition.maybeShrinkIsr 0.10.2.2", budget="shrinks", parts=("partitions",))
def shrink_isr(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A leader takes a follower out of its ISR."""
    _write_isr(s, m, b, p, _without(s, m, b, p, r))


@action(actor="broker {b}", source="KAFKA-1382 on an ISR write", budget="losses", parts=("partitions", "shrinks"))
def shrink_isr_unanswered(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A leader's ISR write without a follower is applied, but the connection is lost before the answer."""
    _write_unanswered(s, m, b, p, _without(s, m, b, p, r))


@action(actor="broker {b}", source="Partition.maybeShrinkIsr 0.10.2.2", budget="joint_shrinks", parts=("partitions",))
def shrink_isr_jointly(s: State, m: Model, b: int, p: int, lagging: int) -> None:
    """A leader takes several followers out of its ISR, in one write; `lagging` is a set of them, a bit for each."""
    _write_isr(s, m, b, p, _without(s, m, b, p, *m.brokers.ids_in(lagging)))


@action(actor="broker {b}", source="KAFKA-1382 on an ISR write", budget="losses", parts=("partitions", "joint_shrinks"))
def shrink_isr_jointly_unanswered(s: State, m: Model, b: int, p: int, lagging: int) -> None:
    """A leader's ISR write without several followers is applied, but the connection is lost before the answer."""
    _write_unanswered(s, m, b, p, _without(s, m, b, p, *m.brokers.ids_in(lagging)))


def _without(s: State, m: Model, b: int, p: int, *followers: int) -> Value:
    """The ISR of a leader without some of its followers."""
    isr = _leading(s, m, b, p).isr
    for r in followers:
        require(r != b, m.brokers.contains(isr, r))
        isr = m.brokers.without(isr, r)
    return isr


def _with(s: State, m: Model, b: int, p: int, r: int) -> Value:
    """The ISR of a leader with one more follower, which fetches from it."""
    isr = _leading(s, m, b, p).isr
    require(r != b, ~m.brokers.contains(isr, r))
    _require_fetching(s, m, b, p, r)
    return m.brokers.appended(isr, r)


@action(actor="broker {b}", source="Partition.maybeExpandIsr 0.10.2.2", parts=("partitions",))
def expand_isr(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A leader takes a live follower of its own leader epoch, mostly, into its ISR."""
    isr = _with(s, m, b, p, r)
    _require_same_epoch(s, m, b, p, r)
    _write_isr(s, m, b, p, isr)


@action(actor="broker {b}", source="KAFKA-1382 on an ISR write", budget="losses", parts=("partitions",))
def expand_isr_unanswered(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A leader's ISR write is applied, but the connection is lost before the answer; it will write the same again."""
    isr = _with(s, m, b, p, r)
    _require_same_epoch(s, m, b, p, r)
    _write_unanswered(s, m, b, p, isr)


@action(
    actor="broker {b}",
    source="Partition.maybeExpandIsr 0.10.2.2 (KAFKA-7395, KAFKA-14140)",
    budget="stale_fetches",
    parts=("partitions", "epochless_fetches"),
)
def expand_isr_on_a_stale_fetch(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A leader takes in a follower that has not heard of its leader epoch yet, or never will: a fetch names none."""
    isr = _with(s, m, b, p, r)
    require(
        flag(not _takes_any_epoch(m)),
        s.brokers[r].partitions[p].leader_epoch != s.brokers[b].partitions[p].leader_epoch,
    )
    _write_isr(s, m, b, p, isr)


def _require_fetching(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A broker follows this leader, and fetches from it, which takes no fetch but of AR.

    Before 0.8.1 a leader did not know AR, and took whoever fetched, also who had not heard of its removal yet (D20).
    """
    known, follower = s.brokers[b].partitions[p], s.brokers[r].partitions[p]
    require(s.processes[r].session != Session.NONE, follower.leader == b)
    require(~follower.idle)
    if m.keeps(BrokerPartition.assigned) and not m.reintroduces(Switch.TAKE_ANY_FOLLOWER):
        require(m.brokers.in_set(r, known.assigned))


def _require_same_epoch(s: State, m: Model, b: int, p: int, r: int) -> None:
    """A follower has heard of its leader's epoch, as all mostly do before they are taken in.

    A fetch of the era names no epoch (D58). A follower that has not heard of it is a fault of its own, except one that
    is shut down: that is not sent it, and is often taken in once more.
    """
    if not _takes_any_epoch(m):
        require(s.brokers[r].partitions[p].leader_epoch == s.brokers[b].partitions[p].leader_epoch)


def _takes_any_epoch(m: Model) -> bool:
    """Whether a follower of another leader epoch is taken in as any other is."""
    any_epoch = m.has("shutdown") or m.reintroduces(Switch.TAKE_ANY_FOLLOWER)
    return any_epoch and not m.fixes(Switch.FETCH_EPOCHS)


def _write_unanswered(s: State, m: Model, b: int, p: int, isr: Value) -> None:
    """The write is applied; it will be repeated."""
    known = s.brokers[b].partitions[p]
    require(_accepts(m, s.zookeeper.state[p], known))
    known.retrying = isr
    _write_znode(s, m, b, p, isr)


@action(actor="broker {b}", source="ReplicationUtils.checkLeaderAndIsrZkData, KAFKA-1382", parts=("losses",))
def rewrite_isr(s: State, m: Model, b: int, p: int) -> None:
    """A leader writes its ISR again and fails on the version; content as written counts as success."""
    known, znode = s.brokers[b].partitions[p], s.zookeeper.state[p]
    require(can_operate(s, b), known.leader == b, known.retrying != ())
    anew = both(exists(znode), _is_unconditional(m, known))
    accepted = either(anew, both(exists(znode), _content_is(m, znode, known, known.retrying)))
    with when(anew):
        _write_znode(s, m, b, p, known.retrying)
    with when(~anew & exists(znode)):
        see_conflict(f"broker {b}", p)
    with when(accepted):
        known.isr = known.retrying
        known.version = znode.version
        note_isr_change(known)
    known.retrying = ()


def _leading(s: State, m: Model, b: int, p: int) -> BrokerPartition:
    """The partition as its leader knows it; the leader runs, can operate, and has no write under way."""
    known = s.brokers[b].partitions[p]
    require(b in m.assigned(p), can_operate(s, b), known.leader == b)
    require(known.retrying == ())
    return known


def _write_isr(s: State, m: Model, b: int, p: int, isr: Value) -> None:
    """The conditional write, or the content-equal rule (KAFKA-1382) where the version has moved."""
    known, znode = s.brokers[b].partitions[p], s.zookeeper.state[p]
    unchanged = both(_accepts(m, znode, known), _is_of_this_topic(s, m, b, p))
    equal = both(exists(znode), _content_is(m, znode, known, isr))
    require(either(unchanged, equal))
    with when(unchanged):
        _write_znode(s, m, b, p, isr)
    with when(~unchanged):
        see_conflict(f"broker {b}", p)
    known.isr = isr
    known.version = znode.version
    note_isr_change(known)


def _accepts(m: Model, znode: Leadership, known: BrokerPartition) -> Value:
    """Whether ZooKeeper takes a write on the leader's version."""
    return both(exists(znode), either(znode.version == known.version, _is_unconditional(m, known)))


def _is_unconditional(m: Model, known: BrokerPartition) -> Value:
    """Whether the leader's version is the -1 that only a failed removal tells: ZooKeeper takes a write on it always."""
    return flag(known.version == -1) if m.has("failed_removals") else flag(False)


def _is_of_this_topic(s: State, m: Model, b: int, p: int) -> Value:
    """Where topics have ids (a fix): whether the state znode is one of the topic that the leader knows."""
    return flag(s.zookeeper.topic_ids[m.topic_of(p)] == s.brokers[b].partitions[p].topic_id)


def note_isr_change(known: BrokerPartition) -> None:
    """The change is to be announced to the controller."""
    known.unreported = True


def _write_znode(s: State, m: Model, b: int, p: int, isr: Value) -> None:
    """The leader writes itself, its leader epoch, the controller epoch that it was sent, and the new ISR."""
    known, znode = s.brokers[b].partitions[p], s.zookeeper.state[p]
    znode.leader = b
    znode.leader_epoch = known.leader_epoch
    znode.controller_epoch = known.controller_epoch
    znode.isr = isr
    znode.version = successor(znode.version)
    state_changed(s, m, p)
    observe(f"broker {b}", "write state", partition=p, **{name: znode[name] for name in FIELDS})


def _content_is(m: Model, znode: Leadership, known: BrokerPartition, isr: Value) -> Value:
    """Whether the znode says what this leader would write with that ISR; before 0.8.2.0 nobody asked."""
    if m.reintroduces(Switch.COMPARE_NO_CONTENT):
        return flag(False)
    names = ("leader", "leader_epoch", "controller_epoch")
    return both(znode.isr == isr, *(znode[name] == known[name] for name in names))
