"""The broker's side: the fences, and becoming leader or follower.

A broker keeps the highest controller epoch it has seen and, for each partition, the leader epoch of the last
LeaderAndIsr it accepted. A request of an older controller epoch is refused whole; a partition state whose leader epoch
is not strictly higher is ignored. All of this is memory: a restarted broker accepts anything once.

StopReplica carries no leader epoch, so whatever its age and order it is obeyed. Without delete it stops the fetcher and
no more: a leader goes on leading, a follower stays idle until a LeaderAndIsr names another leader. With delete it takes
the log and all memory of the replica, its leader epoch included.

A broker that is to follow must know the new leader to be alive, from UpdateMetadata; otherwise it creates the replica
but does not store the leader epoch, and still answers 0 (D11). Scopes without the part `metadata` take every leader as
known.

Left out: that Kafka goes through the partitions one by one. A leader may be made of the first, and write its ISR, while
the second waits for an ISR write that holds its lock; here the whole LeaderAndIsr waits (`waits_for_isr_write`).

Kafka 0.10.2.2: `ReplicaManager.becomeLeaderOrFollower`, `stopReplicas`, `maybeUpdateMetadataCache`, `Partition`.
PROTOCOL.md section 10.
"""

from collections.abc import Iterable

from spec.language.rules import observe, reset, when
from spec.language.terms import Value, both, choose, either, flag
from spec.model import Model
from spec.protocol.requests.batch import FIELDS
from spec.state.brokers import Broker, BrokerPartition, LateCopy, Slot, SlotPartition
from spec.state.cluster import State
from spec.variants import Switch


def handle_leader_and_isr(s: State, m: Model, c: int, b: int, request: Slot) -> None:
    """Refuse an older controller epoch with 11; otherwise adopt it and decide each partition on its leader epoch."""
    broker = s.brokers[b]
    fresh = flag(request.epoch >= broker.controller_epoch)
    with when(~fresh):
        observe(f"broker {b}", "refuse LeaderAndIsr", controller=c, epoch=request.epoch, known=broker.controller_epoch)
    with when(fresh):
        broker.controller_epoch = request.epoch
        for p in m.partitions:
            if b in m.assigned(p):
                with when(request.partitions[p].ordered):
                    _handle_partition_state(s, m, b, p, request.partitions[p])


def _is_newer(m: Model, known: BrokerPartition, state: SlotPartition) -> Value:
    newer = flag(state.leader_epoch > known.leader_epoch)
    return newer | (state.topic_id != known.topic_id)


def accepts(s: State, m: Model, b: int, p: int, state: SlotPartition) -> Value:
    """Whether a broker accepts what a LeaderAndIsr of no older controller epoch may say of a partition."""
    accepted = both(state.ordered, _is_newer(m, s.brokers[b].partitions[p], state))
    return accepted & m.brokers.in_set(b, state.assigned) if m.keeps(SlotPartition.assigned) else accepted


def _handle_partition_state(s: State, m: Model, b: int, p: int, state: SlotPartition) -> None:
    """Accept a strictly higher leader epoch, ignore any other; refuse a replica that AR does not have with 3."""
    known = s.brokers[b].partitions[p]
    fields = {name: state[name] for name in FIELDS}
    newer = _is_newer(m, known, state)
    with when(~newer):
        observe(f"broker {b}", "ignore LeaderAndIsr", partition=p, **fields)
    if m.keeps(SlotPartition.assigned):
        assigned = m.brokers.in_set(b, state.assigned)
        with when(newer & ~assigned):
            observe(f"broker {b}", "is not assigned", partition=p, **fields)
        newer = newer & assigned
    leads = flag(state.leader == b)
    follows = both(~leads, knows_alive(s, m, b, state))
    with when(both(newer, leads)):
        observe(f"broker {b}", "become leader", partition=p, **fields)
    with when(both(newer, follows)):
        observe(f"broker {b}", "become follower", partition=p, **fields)
    with when(both(newer, ~leads, ~follows)):
        observe(f"broker {b}", "cannot become follower", partition=p, **fields)
    with when(newer):
        host(s, b, p)  # even where the new leader is unknown
    with when(both(newer, leads | follows, state.leader != known.leader)):
        known.idle = False
    with when(both(newer, leads | follows)):
        store(m, known, state, leads)


def waits_for_isr_write(s: State, m: Model, b: int, request: Slot) -> Value:
    """Whether a request would change a partition whose ISR write is still to be repeated: that one holds its lock."""
    facts = []
    for p in m.partitions:
        if b in m.assigned(p):
            known, state = s.brokers[b].partitions[p], request.partitions[p]
            follows_or_leads = either(state.leader == b, knows_alive(s, m, b, state))
            changes = both(state.ordered, state.leader_epoch > known.leader_epoch, follows_or_leads)
            facts.append(both(changes, known.retrying != ()))
    return both(request.epoch >= s.brokers[b].controller_epoch, either(*facts))


def store(m: Model, known: BrokerPartition, state: SlotPartition, leads: Value) -> None:
    """Remember the accepted state; only a leader keeps the ISR."""
    for name in FIELDS:
        known[name] = state[name]
    known.topic_id = state.topic_id
    known.assigned = state.assigned
    known.isr = choose(leads, state.isr, m.brokers.list_kind.constant(()))


def knows_alive(s: State, m: Model, b: int, state: SlotPartition) -> Value:
    """Whether this broker's metadata cache, or before 0.9.0.0 the request, lists the leader as alive; -1 never is."""
    if m.keeps(SlotPartition.leader_lives):
        return flag(state.leader_lives)
    return m.brokers.in_set(state.leader, s.brokers[b].alive) if m.has("metadata") else flag(state.leader != 0)


def handle_update_metadata(s: State, m: Model, c: int, b: int, request: Slot) -> None:
    """Refuse an older controller epoch with 11; otherwise adopt it and replace the list of living brokers."""
    broker = s.brokers[b]
    fresh = flag(request.epoch >= broker.controller_epoch)
    with when(fresh):
        broker.controller_epoch = request.epoch
        broker.alive = request.alive
        _cache_leaderships(m, broker, request)
        observe(f"broker {b}", "cache metadata", controller=c, epoch=request.epoch, alive=request.alive)
    with when(~fresh):
        observe(f"broker {b}", "refuse UpdateMetadata", controller=c, epoch=request.epoch)


def _cache_leaderships(m: Model, broker: Broker, request: Slot) -> None:
    """The leaderships are overwritten, whatever their leader epochs (D43); what is removed is forgotten."""
    for p in m.partitions:
        known, told = broker.partitions[p], request.told_epoch[p]
        newer = flag(True)
        if m.fixes(Switch.COMPARE_METADATA_EPOCHS):
            newer = flag(known.cached_epoch <= told)
            if m.has("deletion"):
                newer = either(told == -1, newer)
        with when(both(request.told[p], newer)):
            known.cached_epoch = told


def handle_stop_replica(s: State, m: Model, c: int, b: int, request: Slot, partitions: Iterable[int]) -> None:
    """Refuse an older controller epoch with 11; otherwise adopt it and stop the fetchers. A leader goes on leading."""
    broker = s.brokers[b]
    with when(_adopts(s, c, b, request)):
        for p in partitions:
            if b in m.assigned(p):
                with when(request.stop[p]):
                    known = broker.partitions[p]
                    known.idle = both(known.leader != 0, known.leader != b)
                    observe(f"broker {b}", "stop replica", partition=p, delete=0)


def handle_deletion(
    s: State, m: Model, c: int, b: int, p: int, request: Slot | LateCopy, leader_epoch: Value | None = None
) -> None:
    """Refuse an older controller epoch with 11; otherwise adopt it, and delete the replica and all memory of it.

    With a leader epoch (a fix) one that is not higher than the replica's is refused, too, with 74 (2.6.0).
    """
    with when(_adopts(s, c, b, request)):
        obeyed = flag(True)
        if leader_epoch is not None:
            known = s.brokers[b].partitions[p].leader_epoch
            obeyed = either(known == -1, known < leader_epoch)
        with when(obeyed):
            if b in m.assigned(p):
                log_is_left = s.brokers[b].partitions[p].abandoned
                forget_replica(s, b, p)
                s.logs[b][p] = both(s.logs[b][p], log_is_left)
            observe(f"broker {b}", "stop replica", partition=p, delete=1)
        with when(~obeyed):
            observe(f"broker {b}", "refuse StopReplica", controller=c, epoch=request.epoch)


def host(s: State, b: int, p: int) -> None:
    """There is a log, which the log manager has: one that lay on the disk is taken over."""
    s.logs[b][p] = True
    s.brokers[b].partitions[p].abandoned = False


def forget_replica(s: State, b: int, p: int) -> None:
    """The memory is gone. What is not the replica's stays: an ISR change that is to be announced, the metadata cache,
    and whether the log manager has given up its log.
    """
    known = s.brokers[b].partitions[p]
    kept = {name: known[name] for name in ("unreported", "cached_epoch", "abandoned")}
    reset(known)
    for name, value in kept.items():
        known[name] = value


def _adopts(s: State, c: int, b: int, request: Slot | LateCopy) -> Value:
    """Whether a StopReplica is obeyed; its controller epoch is the broker's from then on."""
    broker = s.brokers[b]
    fresh = flag(request.epoch >= broker.controller_epoch)
    with when(~fresh):
        observe(f"broker {b}", "refuse StopReplica", controller=c, epoch=request.epoch)
    with when(fresh):
        broker.controller_epoch = request.epoch
    return fresh


def is_stale_registration(s: State, m: Model, c: int, b: int) -> Value:
    """Where broker epochs are on, a request for an earlier registration of the broker is refused with 77 (2.2.0)."""
    if not m.fixes(Switch.BROKER_EPOCHS):
        return flag(False)
    return flag(~s.controllers[c].seen[b])


def leads(s: State, b: int, p: int) -> Value:
    """Whether a broker believes that it leads a partition."""
    return flag(s.brokers[b].partitions[p].leader == b)
