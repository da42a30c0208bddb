"""Partitions to OnlinePartition: creating the state znode, or electing a leader and writing it conditionally.

A New partition is initialised: its live assigned replicas become the ISR, the first of them the leader, and the state
znode is created; if it exists already, the attempt fails and the partition stays New. An Offline partition is elected:
read the znode, give up if a newer controller wrote it, run the offline selector, write if the version is still the one
read; otherwise read again. After the last partition one batch tells the live assigned replicas.

Left out: that Kafka stays with a partition whose write failed, or whose create is to be repeated, until it is done.
Here the next visit is free again; it commutes with those of other partitions, so no state is reached by that alone but
those on the way. That the answer to a create is lost which a controlled shutdown or a rebalance asks for: there the
partition was led before, and is New only where a failover has broken off (D56). And that step 7 of a reassignment finds
it so: Kafka would create the znode, which is there, and go on with step 8; here it elects.

Kafka 0.10.2.2: `PartitionStateMachine.triggerOnlinePartitionStateChange`, `electLeaderForPartition`,
`initializeLeaderAndIsrForPartition`. PROTOCOL.md section 3.
"""

from collections.abc import Mapping

from spec.language.rules import observe, only_said, require, reset, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.state_change_lines import (
    ElectionAborted,
    ElectionFailed,
    LeaderElected,
    LeaderElectionStarted,
    NoAssignedReplicaAlive,
    PartitionBecameOnline,
    StateZnodeExists,
)
from spec.model import Model
from spec.protocol.context.deletion_marks import adding_raises, is_queued
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.failed_sends import Machine, can_begin, is_sent
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.junctions import Junction, proceed
from spec.protocol.leadership.leader_selectors import (
    ElectionTerms,
    chosen,
    elect_controlled_shutdown,
    elect_offline,
    may_be_unclean,
    preferred_replica_leader,
)
from spec.protocol.leadership.state_writes import (
    cache_state,
    decide,
    forget_decision,
    write_decision,
    write_decision_unanswered,
)
from spec.protocol.leadership_cache import assigned_replicas, is_cached
from spec.protocol.requests.batch import FIELDS, Batch, send
from spec.protocol.state_change_log import log, partition_stays
from spec.protocol.zookeeper import acts, exists, is_fenced_off, note_read, state_changed
from spec.state.cluster import State
from spec.state.controller import CachedPartition, Controller
from spec.state.enumerations import PREFERRED_HANDLERS, At, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.taken_rows import move
from spec.variants import Switch


def live_assigned(s: State, m: Model, c: int, p: int) -> Value:
    """The live assigned replicas, in the order of AR, as this controller sees them."""
    return m.brokers.filtered(assigned_replicas(s, m, c, p), live_brokers(s, m, c))


def needs_visit(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a partition is to be brought online with all others that wait, unless its topic is to be deleted."""
    return both(can_begin(s, c, Machine.PARTITIONS), ~is_queued(s, m, c, p), can_be_visited(s, m, c, p))


def can_be_visited(s: State, m: Model, c: int, p: int) -> Value:
    """Whether bringing a partition online takes a ZooKeeper operation: it is Offline, or New with a live replica."""
    cached = s.controllers[c].partitions[p]
    new = both(cached.state == PartitionState.NEW, live_assigned(s, m, c, p) != ())
    return either(cached.state == PartitionState.OFFLINE, new)


def takes_operation(s: State, m: Model, c: int, p: int) -> Value:
    """Whether bringing one online that is asked for takes a ZooKeeper operation: an Online one is elected for, too."""
    return either(s.controllers[c].partitions[p].state == PartitionState.ONLINE, can_be_visited(s, m, c, p))


def begin_online(s: State, m: Model, c: int, handler: Handler) -> None:
    """Start the visits of all that waits; where there is nothing to visit, the caller goes on by itself."""
    begin_visits(s, m, c, handler, {p: needs_visit(s, m, c, p) for p in m.partitions})


def begin_visits(s: State, m: Model, c: int, handler: Handler, visited: Mapping[int, Value]) -> None:
    """Start the visits of these partitions."""
    controller = s.controllers[c]
    for p in m.partitions:
        with when(visited[p]):
            controller.partitions[p].todo = True
            controller.handler = handler
            controller.at = At.ONLINE_READ
    with when(can_begin(s, c, Machine.PARTITIONS)):
        say_of_the_unvisited(s, m, c)


@only_said
def say_of_the_unvisited(s: State, m: Model, c: int) -> None:
    """Among those that are visited Kafka finds some that cannot go Online, without a look at ZooKeeper.

    No assigned replica of a New one lives, or an election is asked for of one that is not known.
    """
    controller = s.controllers[c]
    for p in m.partitions:
        state = controller.partitions[p].state
        nobody_lives = both(state == PartitionState.NEW, live_assigned(s, m, c, p) == ())
        with when(nobody_lives):
            log(s, c, NoAssignedReplicaAlive, perhaps=True, partition=p)
        unknown = both(controller.asked[p], state == PartitionState.NON_EXISTENT)
        with when(nobody_lives | unknown):
            partition_stays(s, m, c, p, target=PartitionState.ONLINE, perhaps=True)


@controller_step(At.ONLINE_READ, source="initializeLeaderAndIsrForPartition 0.10.2.2", parts=("partitions",))
def create_state(s: State, m: Model, c: int, p: int) -> None:
    """New to Online: create the state znode with the first live replica as leader and all live ones as ISR."""
    cached = s.controllers[c].partitions[p]
    require(cached.todo, cached.state == PartitionState.NEW)
    answered = _initialize(s, m, c, p)
    with when(answered):
        finish_visit(s, m, c, p)


def _initialize(s: State, m: Model, c: int, p: int) -> Value:
    """The create, which is done, fails or is fenced off. Returns whether the visit is over: not if it is fenced off."""
    fenced, absent = is_fenced_off(s, m, c), ~exists(s.zookeeper.state[p])
    done = absent | _is_own_create(s, m, c, p)
    with when(~fenced & absent):
        _create_znode(s, m, c, p)
    with when(~fenced & done):
        now_online(s, m, c, p)
        s.controllers[c].partitions[p].batched = m.brokers.members(live_assigned(s, m, c, p))
    with when(~fenced & ~done):
        observe(f"controller {c}", "fail to create state", partition=p)
        log(s, c, StateZnodeExists, perhaps=True, partition=p)
        partition_stays(s, m, c, p, target=PartitionState.ONLINE)
    controller_moved(s, m, c, where=fenced)
    return ~fenced


@controller_step(At.ONLINE_READ, source="PROTOCOL.md D54", budget="losses", parts=("partitions",))
def create_state_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """New to Online: the create is applied, but the connection is lost before the answer; the client creates again."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    cached = controller.partitions[p]
    require(cached.todo, cached.state == PartitionState.NEW)
    require(~exists(znode), ~is_fenced_off(s, m, c))
    _create_znode(s, m, c, p)


def _is_own_create(s: State, m: Model, c: int, p: int) -> Value:
    """Where the fix is on: whether the znode that is in the way is what this controller meant to create."""
    if not m.fixes(Switch.RECOGNISE_OWN_CREATE):
        return flag(False)
    znode, replicas = s.zookeeper.state[p], live_assigned(s, m, c, p)
    mine = both(znode.controller_epoch == s.controllers[c].epoch, znode.version == 0)
    return both(mine, znode.isr == replicas, znode.leader == m.brokers.first(replicas))


def _create_znode(s: State, m: Model, c: int, p: int) -> None:
    znode, replicas = s.zookeeper.state[p], live_assigned(s, m, c, p)
    znode.leader = m.brokers.first(replicas)
    znode.isr = replicas
    znode.leader_epoch = 0
    znode.version = 0
    znode.controller_epoch = s.controllers[c].epoch
    acts(s, m, c)
    state_changed(s, m, p)
    observe(f"controller {c}", "create state", partition=p, **{name: znode[name] for name in FIELDS})


def visit_at_once(s: State, m: Model, c: int, p: int) -> None:
    """Bring one partition online within the step that asks for it: an election, a creation, or a refusal."""
    cached = s.controllers[c].partitions[p]
    new, takes = flag(cached.state == PartitionState.NEW), takes_operation(s, m, c, p)
    elects, creates = both(takes, ~new), both(takes, new)
    cached.todo = True
    elected = created = flag(False)
    with when(elects):
        elected = elect_from_znode(s, m, c, p)
    with when(creates):
        created = _initialize(s, m, c, p)
    with when(~takes):
        partition_stays(s, m, c, p, target=PartitionState.ONLINE)
    with when(either(~takes, both(elects, elected), both(creates, created))):
        finish_visit(s, m, c, p)


@controller_step(At.ONLINE_READ, source="electLeaderForPartition 0.10.2.2", parts=("partitions",))
def read_for_election(s: State, m: Model, c: int, p: int) -> None:
    """To Online: read the state znode; give up if it is a newer controller's or nobody can be elected."""
    controller = s.controllers[c]
    cached = controller.partitions[p]
    require(cached.todo, _may_be_elected(m, cached))
    over = elect_from_znode(s, m, c, p, again=True)
    with when(over):
        finish_visit(s, m, c, p)


def elect_from_znode(s: State, m: Model, c: int, p: int, *, again: bool = False) -> Value:
    """What comes of the read, which may be another one: a leader to write, or a failure, or nothing to do.

    Returns whether the visit is over: not if there is a leader to write.
    """
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    log(s, c, LeaderElectionStarted, perhaps=again, partition=p)
    note_read(s, m, c, p)
    usable = both(exists(znode), znode.controller_epoch <= controller.epoch)
    election = election_of(s, m, c, p)
    possible = both(usable, election.possible)
    needless = both(usable, _is_needless(s, m, c, p))
    with when(possible):
        decide(s, c, p, leader=election.leader, isr=election.isr, at=At.ONLINE_WRITE)
    with when(needless):
        _become_online(s, c, p)
    with when(~possible & ~needless):
        says_why = either(elects_preferred(controller), controller.handler == Handler.SHUTDOWN)
        fail_election(s, m, c, p, says_why=says_why)
    return either(needless, ~possible)


def fail_election(s: State, m: Model, c: int, p: int, *, says_why: Value) -> None:
    """Nobody is elected: the znode is absent, or a newer controller's, or the selector finds nobody.

    Some selectors say why they elect nobody. Kafka tells so of an abort, and not where no replica is online
    (`NoReplicaOnlineException`); in recordings of the reference up to 2026-11-26 that is the other way round.
    """
    observe(f"controller {c}", "fail election", partition=p)
    znode = s.zookeeper.state[p]
    aborts = both(exists(znode), znode.controller_epoch > s.controllers[c].epoch)
    with when(aborts):
        log(s, c, ElectionAborted, partition=p, controller_epoch=znode.controller_epoch)
    says_why = either(~exists(znode), both(~aborts, says_why))
    log(s, c, ElectionFailed, perhaps=~says_why, partition=p)
    partition_stays(s, m, c, p, target=PartitionState.ONLINE)


def _become_online(s: State, c: int, p: int) -> None:
    """A partition goes Online, with the leader that is cached."""
    cached = s.controllers[c].partitions[p]
    fields = {"leader": cached.leader, "source": cached.state, "target": PartitionState.ONLINE}
    log(s, c, PartitionBecameOnline, partition=p, **fields)
    move(cached, "state", PartitionState.ONLINE)


def election_of(s: State, m: Model, c: int, p: int) -> ElectionTerms:
    """What the selector of the running handler makes of the state znode."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    replicas = assigned_replicas(s, m, c, p)
    live = live_brokers(s, m, c)
    election = elect_offline(m.brokers, replicas, znode.isr, live, unclean=may_be_unclean(s, m, p))
    if m.elects_preferred:
        preferred = preferred_replica_leader(m, replicas, znode.isr, live, controller.partitions[p])
        election = chosen(elects_preferred(controller), preferred, election)
    if m.has("shutdown"):
        leaving = elect_controlled_shutdown(
            m.brokers, replicas, znode.isr, controller.live, controller.shutting_down,
            by_isr=m.reintroduces(Switch.SHUTDOWN_FOLLOWS_ISR),
        )  # fmt: skip
        election = chosen(controller.handler == Handler.SHUTDOWN, leaving, election)
    return election


def elects_preferred(controller: Controller) -> Value:
    """Whether the running handler asks the preferred selector."""
    return either(*(controller.handler == one for one in PREFERRED_HANDLERS))


def _may_be_elected(m: Model, cached: CachedPartition) -> Value:
    """From OfflinePartition; from OnlinePartition, too, where handlers elect anew, or topics are created again."""
    if m.elects_preferred or m.has("shutdown") or m.keeps(Controller.created):
        return flag(cached.state != PartitionState.NEW)
    return flag(cached.state == PartitionState.OFFLINE)


def _is_needless(s: State, m: Model, c: int, p: int) -> Value:
    """Whether the preferred replica leads already, by the cache: the election is left, and counts as done."""
    if not m.elects_preferred:
        return flag(False)
    controller = s.controllers[c]
    return both(elects_preferred(controller), is_led_as_preferred(s, m, c, p))


def is_led_as_preferred(s: State, m: Model, c: int, p: int) -> Value:
    """Whether the first of AR leads a partition, by what a controller holds."""
    cached, preferred = s.controllers[c].partitions[p], m.brokers.first(assigned_replicas(s, m, c, p))
    return both(is_cached(cached), preferred != 0, cached.leader == preferred)


@controller_step(At.ONLINE_WRITE, source="electLeaderForPartition 0.10.2.2", parts=("partitions",))
def write_elected_leader(s: State, m: Model, c: int, p: int) -> None:
    """Offline to Online: write the elected leader and ISR with leader_epoch + 1, if the version is the one read."""
    require(s.controllers[c].partition == p)
    receivers = election_of(s, m, c, p).receivers
    done, again = write_decision(s, m, c, p)
    with when(done):
        now_led(s, m, c, p)
        s.controllers[c].partitions[p].batched = receivers
        forget_decision(s, c, At.ONLINE_READ)
        finish_visit(s, m, c, p)
    with when(again):
        forget_decision(s, c, At.ONLINE_READ)


@controller_step(At.ONLINE_WRITE, source="KAFKA-1382", budget="losses", parts=("partitions",))
def write_elected_leader_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Offline to Online: the write is applied, but the connection is lost before the answer."""
    require(s.controllers[c].partition == p)
    write_decision_unanswered(s, m, c, p)


def now_led(s: State, m: Model, c: int, p: int) -> None:
    """A leader is elected, and the znode says so."""
    log(s, c, LeaderElected, partition=p, leader=s.zookeeper.state[p].leader)
    with when(adding_raises(s, m, c)):
        log(s, c, ElectionFailed, partition=p)
    now_online(s, m, c, p)


def now_online(s: State, m: Model, c: int, p: int) -> None:
    """The znode is as this controller would have it: cache it, then Online, unless adding to the batch throws."""
    cache_state(s, c, p)
    raises = adding_raises(s, m, c)
    with when(~raises):
        _become_online(s, c, p)
    with when(raises):
        partition_stays(s, m, c, p, target=PartitionState.ONLINE)


def finish_visit(s: State, m: Model, c: int, p: int) -> None:
    """The partition is done; after the last one the batch goes out and the handler goes on."""
    controller = s.controllers[c]
    controller.partitions[p].todo = False
    controller.at = At.ONLINE_READ
    say_of_the_unvisited(s, m, c)
    last = ~either(*(controller.partitions[q].todo for q in m.partitions))
    with when(last):
        content = either(*(_has_content(s, m, c, q) for q in m.partitions))
        send_online_batch(s, m, c, goes_out=is_sent(s, m, c, Machine.PARTITIONS, content))
        proceed(Junction.VISITS_DONE, s, m, c, p=p)


def _has_content(s: State, m: Model, c: int, p: int) -> Value:
    """Whether the running batch has a request in it that tells of a partition."""
    controller = s.controllers[c]
    cached, anybody = controller.partitions[p], ~m.brokers.is_empty(controller.live)
    return either(~m.brokers.is_empty(cached.batched), both(anybody, everybody_is_informed(m, cached)))


def send_online_batch(
    s: State,
    m: Model,
    c: int,
    stopped: Mapping[int, Value] | None = None,
    deleted: Mapping[int, Value] | None = None,
    *,
    goes_out: object = True,
) -> None:
    """Send what the visits of this call have gathered, and forget it; a replica that is to be deleted calls back.

    Where it does not go out, it stays in the machine's batch, of which nothing else is known.
    """
    partitions = s.controllers[c].partitions
    told = {p: partitions[p].batched for p in m.partitions}
    informed = {p: everybody_is_informed(m, partitions[p]) for p in m.partitions}
    calls_back = deleted is not None
    content = _last_words(s, m, c)
    batch = Batch(told, stopped or {}, deleted or {}, metadata=informed, content=content, calls_back=calls_back)
    with when(goes_out):
        send(s, m, c, batch)
    for p in m.partitions:
        partitions[p].batched = m.brokers.empty_set()
        reset(partitions[p], "informed")
        if m.keeps_words:
            reset(partitions[p], "found")


def everybody_is_informed(m: Model, cached: CachedPartition) -> Value:
    """Whether the running batch's UpdateMetadata names a partition: LeaderAndIsr of it was added, be it for nobody."""
    return either(~m.brokers.is_empty(cached.batched), cached.informed)


def _last_words(s: State, m: Model, c: int) -> dict[tuple[int, int], dict[str, Value]]:
    """What each broker is sent of each partition: what is cached, unless that became so when it was not sent."""
    words: dict[tuple[int, int], dict[str, Value]] = {}
    if m.keeps_words:
        for p in m.partitions:
            cached = s.controllers[c].partitions[p]
            for r in m.assigned(p):
                kept = cached.found[r].leader_epoch != -1
                words[p, r] = {name: choose(kept, cached.found[r][name], cached[name]) for name in FIELDS}
    return words
