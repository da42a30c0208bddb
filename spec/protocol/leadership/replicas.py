"""Replica transitions: to OnlineReplica, to OfflineReplica (with removal from the ISR), to NewReplica.

A replica goes Online by being sent the cached leadership; nothing is written. A replica of a dead broker goes Offline
by being removed from the ISR: read the state znode, give up if it is absent or a newer controller's, write ISR less the
replica with leader_epoch + 1 (the leader becomes -1 if it was the one that died; the last member stays where unclean
election is off), again and again until the version holds. The other assigned replicas are then sent that.

A write that fails overwrites the cache, too, with what was to be written and data version -1. The next round corrects
that, unless it finds a newer controller's znode; then the old controller keeps, and may send, a leadership that never
was, in the leader epoch of one that is. A broker that it tells to lead has version -1 then, on which ZooKeeper takes
any write. That is modelled where a scope has the part `failed_removals`.

Nothing waits until a broker that leaves AR has deleted its replica (D38). The fix tells a broker, when it has started
and when a controller has come to work, all that it is to have, and it deletes the rest, as KIP-516 would have it:
`LeaderAndIsr` has a type for that since 2.8.0, of which 3.7.0 makes use for brokers that leave ZooKeeper behind
(KAFKA-15605). Here such a list is a StopReplica with delete for each partition that it lacks, whose answers nobody
waits for.

Left out: a znode that is gone by the next round, where Kafka takes the failed attempt for the result.

Kafka 0.10.2.2: `ReplicaStateMachine.handleStateChange`, `KafkaController.removeReplicaFromIsr`. PROTOCOL.md section 4.
"""

from collections.abc import Mapping

from spec.language.rules import in_any_order, observe, only_said, require, reset, say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.broker_changes import NotInIsr
from spec.model import Model
from spec.protocol.context.assignment import assigned_set
from spec.protocol.context.deletion_marks import adding_raises, is_doomed, is_queued, is_reassigned
from spec.protocol.controller.failed_sends import Machine, can_begin, is_sent
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.junctions import Junction, proceed
from spec.protocol.leadership.leader_selectors import may_be_unclean
from spec.protocol.leadership.partitions import send_online_batch
from spec.protocol.leadership.state_writes import (
    cache_decision,
    cache_state,
    decide,
    forget_decision,
    write_decision,
    write_decision_unanswered,
)
from spec.protocol.leadership_cache import has_assignment, is_cached
from spec.protocol.requests.batch import FIELDS, Batch, send
from spec.protocol.state_change_log import log_replica, refused, replica_goes, replica_stays
from spec.protocol.zookeeper import exists, is_read_in_vain, note_read
from spec.state.cluster import State
from spec.state.controller import CachedPartition
from spec.state.enumerations import At
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import move
from spec.variants import Switch

#: From these a replica may go Online, and from the same ones Offline, by the documented table.
ONLINE_OR_OFFLINE_FROM = (ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE)


def replicas_to_online(s: State, m: Model, c: int, on: Value) -> None:
    """Every replica on these brokers goes Online."""
    assigned = {p: m.brokers.intersection(on, assigned_set(s, m, c, p)) for p in m.partitions}
    go_online(s, m, c, assigned, _strays(s, m, c, on))


def go_online(s: State, m: Model, c: int, replicas: Mapping[int, Value], strays: Mapping[int, Value]) -> None:
    """Replicas, by partition, go Online; those whose leadership is cached are sent it, unless they are New; one batch.

    With it, strays are deleted.
    """
    with when(can_begin(s, c, Machine.REPLICAS)):
        _go_online(s, m, c, replicas, strays)


def _go_online(s: State, m: Model, c: int, replicas: Mapping[int, Value], strays: Mapping[int, Value]) -> None:
    partitions, anybody = s.controllers[c].partitions, ~m.brokers.is_empty(s.controllers[c].live)
    told, informed, raises = {}, {}, adding_raises(s, m, c)
    with in_any_order():
        for p, going in replicas.items():
            cached = is_cached(partitions[p])
            moving = {
                r: both(m.brokers.in_set(r, going), may_go_online_or_offline(partitions[p].replicas[r]))
                for r in m.assigned(p)
            }
            from_new = {r: flag(partitions[p].replicas[r] == ReplicaState.NEW) for r in m.assigned(p)}
            receivers = {r: both(moving[r], ~from_new[r], cached, ~is_spared(s, m, c, p)) for r in m.assigned(p)}
            told[p] = m.brokers.set_from(receivers)
            informed[p] = either(*receivers.values())
            for r in m.assigned(p):
                _to_online(s, m, c, p, r, moving[r], both(receivers[r], raises))
                with when(both(m.brokers.in_set(r, going), ~moving[r])):
                    refused(s, m, c, p, r, ReplicaState.ONLINE)
    named = (~m.brokers.is_empty(brokers) for brokers in (*told.values(), *strays.values()))
    with when(is_sent(s, m, c, Machine.REPLICAS, either(*named, both(anybody, either(*informed.values()))))):
        send(s, m, c, Batch(ordered=told, metadata=informed, deleted=strays))


def _to_online(s: State, m: Model, c: int, p: int, r: int, moves: Value, raises: Value) -> None:
    """A replica goes Online, which is not logged of one whose leadership is not cached, unless it is New."""
    cached = s.controllers[c].partitions[p]
    logged = either(cached.replicas[r] == ReplicaState.NEW, is_cached(cached))
    with when(both(moves, raises)):
        replica_stays(s, m, c, p, r, ReplicaState.ONLINE)
    with when(both(moves, ~raises)):
        with when(logged):
            log_replica(s, c, p, r, ReplicaState.ONLINE)
        move(cached.replicas, r, ReplicaState.ONLINE)


def _strays(s: State, m: Model, c: int, on: Value) -> dict[int, Value]:
    """Where the fix is on: by partition, those of the brokers that AR lacks, to delete what they may have.

    A topic that is gone has no AR. Only where partitions move is that looked at: any other deletion waits for all who
    have it, and what a zombie tells a broker that has just started is not fixed.
    """
    if not (m.stops_replicas and m.fixes(Switch.DELETE_STRAYS)):
        return {}
    leaves = m.moves_replicas and m.topics_vanish
    strays, nobody = {}, m.brokers.empty_set()
    for p in m.partitions:
        assigned = assigned_set(s, m, c, p)
        possible = m.brokers.intersection(on, m.brokers.set_kind.constant(m.assigned(p)))
        unknown = m.brokers.is_empty(assigned)
        gone = ~s.controllers[c].topics[m.topic_of(p)] if leaves else flag(False)
        strays[p] = choose(unknown & ~gone, nobody, m.brokers.difference(possible, assigned))
    return strays


def is_spared(s: State, m: Model, c: int, p: int) -> Value:
    """Whether no broker is told to host a partition, because its topic is queued, and not being reassigned (a fix)."""
    if not m.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP):
        return flag(False)
    return both(is_queued(s, m, c, p), ~is_reassigned(s, m, c, m.topic_of(p)))


def may_go_online_or_offline(state: Value) -> Value:
    """Whether the table lets a replica go Online, and Offline, from this state."""
    return either(*(state == source for source in ONLINE_OR_OFFLINE_FROM))


def movable_replicas(m: Model, cached: CachedPartition, p: int) -> Value:
    """The replicas that the table lets go Online, and Offline, of a partition that a controller has cached so."""
    return m.brokers.set_from({r: may_go_online_or_offline(cached.replicas[r]) for r in m.assigned(p)})


def send_removals(s: State, m: Model, c: int, leaving: Mapping[int, Value]) -> None:
    """Send what the removal of replicas on dead brokers has gathered, unless that could not begin."""
    movable = {p: movable_replicas(m, s.controllers[c].partitions[p], p) for p in leaving}
    content = either(*(~m.brokers.disjoint(replicas, movable[p]) for p, replicas in leaving.items()))
    with when(can_begin(s, c, Machine.REPLICAS)):
        sent = is_sent(s, m, c, Machine.REPLICAS, content)
        with when(sent):
            _drop_stop_replica(s, m, c, leaving)
        send_online_batch(s, m, c, goes_out=sent)


def _drop_stop_replica(s: State, m: Model, c: int, leaving: Mapping[int, Value]) -> None:
    """With the batch of a removal goes a StopReplica to each replica that was to go Offline; its broker has no channel.

    It is dropped, whether or not the replica went Offline.
    """
    for p, replicas in leaving.items():
        for r in m.assigned(p):
            movable = may_go_online_or_offline(s.controllers[c].partitions[p].replicas[r])
            with when(both(m.brokers.in_set(r, replicas), movable)):
                observe(f"controller {c}", "drop StopReplica", broker=r, partition=p)


def begin_removal(s: State, m: Model, c: int, leaving: Mapping[int, Value]) -> Value:
    """Replicas, by partition, are to go Offline; say whether there is any that takes a ZooKeeper operation.

    Those of a partition without leadership stay as they are (D16).
    """
    begins = can_begin(s, c, Machine.REPLICAS)
    waiting = flag(False)
    with when(begins):
        waiting = _begin_removal(s, m, c, leaving)
    return both(begins, waiting)


def _begin_removal(s: State, m: Model, c: int, leaving: Mapping[int, Value]) -> Value:
    controller = s.controllers[c]
    with in_any_order():
        for p, replicas in leaving.items():
            _begin_removal_of(s, m, c, p, replicas)
    _say_of_the_unborn(s, m, c)
    waiting = either(*(~m.brokers.is_empty(controller.partitions[p].visiting) for p in leaving))
    with when(waiting):
        controller.at = At.REMOVE_READ
    return waiting


def _begin_removal_of(s: State, m: Model, c: int, p: int, replicas: Value) -> None:
    """The replicas of one partition."""
    cached = s.controllers[c].partitions[p]
    movable = movable_replicas(m, cached, p)
    movable = choose(has_assignment(s, m, c, p), movable, m.brokers.empty_set())
    candidates = m.brokers.intersection(replicas, movable)
    with when(is_cached(cached)):
        cached.visiting = candidates
    if m.fixes(Switch.OFFLINE_WITHOUT_LEADERSHIP):
        for r in m.assigned(p):
            with when(both(~is_cached(cached), m.brokers.in_set(r, candidates))):
                replica_goes(s, c, p, r, ReplicaState.OFFLINE)
    for r in m.assigned(p):
        with when(m.brokers.in_set(r, replicas)):
            refused(s, m, c, p, r, ReplicaState.OFFLINE)


@only_said
def _say_of_the_unborn(s: State, m: Model, c: int) -> None:
    """Replicas of partitions without leadership do not go Offline, which is found among the visits to the others."""
    for p in m.partitions:
        cached = s.controllers[c].partitions[p]
        for r in m.assigned(p):
            unborn = both(~is_cached(cached), _needs_leadership(s, m, c, p))
            with when(both(unborn, may_go_online_or_offline(cached.replicas[r]))):
                replica_stays(s, m, c, p, r, ReplicaState.OFFLINE, perhaps=True)


def _needs_leadership(s: State, m: Model, c: int, p: int) -> Value:
    """Whether it is a failure that a replica without leadership does not go Offline."""
    return flag(True) if m.always_fails_offline else ~is_doomed(s, m, c, p)


@controller_step(At.REMOVE_READ, source="KafkaController.removeReplicaFromIsr 0.10.2.2", parts=("partitions",))
def read_for_removal(s: State, m: Model, c: int, p: int, r: int) -> None:
    """To Offline: read the state znode; give up if absent or a newer controller's; done if r is not in the ISR."""
    controller = s.controllers[c]
    require(m.brokers.in_set(r, controller.partitions[p].visiting))
    remove_from_znode(s, m, c, p, r)


def remove_from_znode(s: State, m: Model, c: int, p: int, r: int) -> None:
    """What comes of the read: a write of the ISR less r, nothing to write, or a failure."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    note_read(s, m, c, p)
    fenced = is_read_in_vain(s, m, c)
    usable = both(~fenced, exists(znode), znode.controller_epoch <= controller.epoch)
    member = m.brokers.contains(znode.isr, r)
    with when(both(usable, member)):
        leader, isr = without_replica(s, m, p, r)
        decide(s, c, p, leader=leader, isr=isr, at=At.REMOVE_WRITE)
        controller.replica = r
    with when(both(usable, ~member)):
        say(NotInIsr, replica=r, partition=p, leader=znode.leader, isr=znode.isr)
        earlier = _word(s, c, p)
        cache_state(s, c, p)
        controller.partitions[p].controller_epoch = controller.epoch
        _now_offline(s, m, c, p, r, earlier)
    with when(both(~fenced, ~usable, either(exists(znode), _needs_leadership(s, m, c, p)))):
        replica_stays(s, m, c, p, r, ReplicaState.OFFLINE)
    with when(~both(usable, member) & ~fenced):
        finish_removal(s, m, c, p, r)
    controller_moved(s, m, c, where=fenced)


@controller_step(At.REMOVE_WRITE, source="KafkaController.removeReplicaFromIsr 0.10.2.2", parts=("partitions",))
def write_removal(s: State, m: Model, c: int, p: int, r: int) -> None:
    """To Offline: write the ISR less r with leader_epoch + 1, if the version is the one read; otherwise read again."""
    require(s.controllers[c].partition == p, s.controllers[c].replica == r)
    done, again = write_decision(s, m, c, p)
    with when(done):
        _removed(s, m, c, p, r)
    with when(again):
        if m.has("failed_removals") and not m.fixes(Switch.CACHE_WHAT_IS_WRITTEN):
            cache_decision(s, c, p)
        _read_again(s, c)


@controller_step(At.REMOVE_WRITE, source="KAFKA-1382", budget="losses", parts=("partitions",))
def write_removal_unanswered(s: State, m: Model, c: int, p: int, r: int) -> None:
    """To Offline: the write is applied, but the connection is lost before the answer."""
    require(s.controllers[c].partition == p, s.controllers[c].replica == r)
    write_decision_unanswered(s, m, c, p)


def _read_again(s: State, c: int) -> None:
    """The next round reads the znode again."""
    forget_decision(s, c, At.REMOVE_READ)
    s.controllers[c].replica = 0


def without_replica(s: State, m: Model, p: int, r: int) -> tuple[Value, Value]:
    """Leader and ISR without a replica; the last member of the ISR stays in it where unclean election is off."""
    znode, drops_last = s.zookeeper.state[p], not m.fixes(Switch.KEEP_LAST_IN_SYNC) and may_be_unclean(s, m, p)
    shrunk = m.brokers.without(znode.isr, r)
    shrunk = choose(both(shrunk == (), ~flag(drops_last)), znode.isr, shrunk)
    return choose(znode.leader == r, 0, znode.leader), shrunk


def _removed(s: State, m: Model, c: int, p: int, r: int) -> None:
    """The znode is without r: cache it, go on with the next replica."""
    earlier = _word(s, c, p)
    cache_state(s, c, p)
    _now_offline(s, m, c, p, r, earlier)
    _read_again(s, c)
    finish_removal(s, m, c, p, r)


def _word(s: State, c: int, p: int) -> dict[str, Value]:
    """What the cache says of a partition, and a batch in which it has been put."""
    return {name: s.controllers[c].partitions[p][name] for name in FIELDS}


def _now_offline(s: State, m: Model, c: int, p: int, r: int, earlier: Mapping[str, Value]) -> None:
    """The replica is Offline, and every other assigned replica is to be sent that, unless the topic is being deleted.

    Partitions that were added to a queued topic are sent all the same (S9). Before 0.8.2 only the leader was sent it
    (D21). With it goes UpdateMetadata to everybody, also where there is no other replica.
    """
    cached, untold = s.controllers[c].partitions[p], either(is_doomed(s, m, c, p), is_spared(s, m, c, p))
    goes = either(untold, ~adding_raises(s, m, c))
    with when(goes):
        replica_goes(s, c, p, r, ReplicaState.OFFLINE)
    with when(~goes):
        replica_stays(s, m, c, p, r, ReplicaState.OFFLINE)
    others = m.brokers.difference(assigned_set(s, m, c, p), m.brokers.set_kind.constant((r,)))
    if m.reintroduces(Switch.TELL_ONLY_THE_LEADER):
        others = m.brokers.intersection(others, m.brokers.set_from({b: cached.leader == b for b in m.brokers.ids}))
    with when(~untold):
        _keep_word(m, cached, p, r, others, earlier)
        cached.batched = m.brokers.union(cached.batched, others)
        cached.informed = True


def _keep_word(m: Model, cached: CachedPartition, p: int, r: int, others: Value, earlier: Mapping[str, Value]) -> None:
    """Of whoever goes Offline the batch may have the word on the one before; all others get a newer one."""
    if not m.keeps_words:
        return
    for other in m.assigned(p):
        with when(m.brokers.in_set(other, others)):
            reset(cached.found[other])
    changed = either(*(cached[name] != word for name, word in earlier.items()))
    with when(both(m.brokers.in_set(r, cached.batched), changed)):
        for name, word in earlier.items():
            cached.found[r][name] = word


def finish_removal(s: State, m: Model, c: int, p: int, r: int) -> None:
    """The replica is done; after the last one whoever wanted the replicas Offline goes on."""
    partitions = s.controllers[c].partitions
    _say_of_the_unborn(s, m, c)
    partitions[p].visiting = m.brokers.difference(partitions[p].visiting, m.brokers.set_kind.constant((r,)))
    with when(~either(*(~m.brokers.is_empty(partitions[q].visiting) for q in m.partitions))):
        proceed(Junction.REMOVALS_DONE, s, m, c, p=p)
