"""The request batch: what one call of a state machine tells the brokers, put on their queues when the call ends.

A batch maps brokers to the partitions of their LeaderAndIsr, and says which partitions every registered broker gets in
UpdateMetadata. Within a batch the last word for a broker and a partition wins, and since every word is taken from the
controller's cache under the lock, what is sent is the cache as it stands at the end of the call; so a running call
keeps only *which* broker is sent *what*. But a replica that is taken Offline is not sent that, and keeps the word that
it had, of the replica before it (`content`). LeaderAndIsr goes first, then UpdateMetadata; a broker without a channel
is skipped.

Every UpdateMetadata, whatever it is about, tells also of the partitions that are to be deleted: that they are removed.
Before 0.9.0.0 none goes out that tells of no partition (D60), and before 0.10.2.0 none that tells of none of those
which it is about (KAFKA-4415).

StopReplica goes last: a request without delete for all partitions that a broker is to stop, sent even if there is none
(before 0.10.2.0 one for each, spec/protocol/requests/single_stops.py), then one with delete for each partition that it
is to delete. To a broker whose channel has been removed Kafka drops it ("since it is offline"), which is all that ever
happens where only failed brokers' replicas are stopped.

Left out: that the order of a broker's deletions is fixed when the batch is sent; here each delivery may be of any. And
most of the sends that fail: requests go on unbounded queues, and only a leader that is registered without the listener
which brokers use among themselves, or an interrupt, raises (spec/protocol/controller/failed_sends.py), and a controller
without channels, which only sends where after its term it handles a shutdown, or before 0.10.2.0 a notification or a
reassignment (spec/protocol/controller/controller_batch.py). Kafka then logs what is left in the batch, which stays
dirty: a state machine's for ever (D28-machines); the controller's own is cleared, and the elector resigns.

Kafka 0.10.2.2: `ControllerBrokerRequestBatch`. PROTOCOL.md section 9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.language.records import names
from spec.language.rules import fits, in_any_order, observe, only_said, when, where_possible
from spec.language.terms import Value, both, choose, either, enumeration, flag
from spec.logs.controller_request_lines import LeaderAndIsrSending, UpdateMetadataSending
from spec.model import Model
from spec.protocol.leadership_cache import is_cached, lacks_assignment, leadership
from spec.protocol.state_change_log import log
from spec.protocol.zookeeper import acts
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.zookeeper import Leadership
from spec.variants import Switch

FIELDS = names(Leadership)

Content: TypeAlias = Leadership | Mapping[str, Value]
"""What a request says of a partition: what a record holds, or values by the same names."""
_Named: TypeAlias = Mapping[int, tuple[Value, Content]]
"""By partition, whether a broker's LeaderAndIsr names it, and what it says then."""
STAGE = enumeration(Stage)


@dataclass(frozen=True)
class Batch:
    """Which brokers are sent what: brokers by partition for LeaderAndIsr, and a flag by partition for UpdateMetadata.

    `stopped` and `deleted` are the brokers by partition of StopReplica without and with delete; `calls_back`: the
    answers to the latter are for the deletion manager.

    `everybody` is true where UpdateMetadata goes out although it tells of no partition: it carries the broker list.
    `about` are the partitions that were asked for, known or not; where none were, all that are known are sent.
    `receivers` get UpdateMetadata, where that is not every registered broker.
    With `whole` (a fix) all that UpdateMetadata does not name is removed. `content` gives what LeaderAndIsr says of a
    partition to a broker where that is not the controller's cache. `perhaps` tells of partitions for which it is not
    known whether they are named.
    """

    ordered: Mapping[int, Value] = field(default_factory=dict)
    stopped: Mapping[int, Value] = field(default_factory=dict)
    deleted: Mapping[int, Value] = field(default_factory=dict)
    metadata: Mapping[int, Value] = field(default_factory=dict)
    everybody: object = False
    about: Mapping[int, object] = field(default_factory=dict)
    receivers: Value | None = None
    whole: object = False
    content: Mapping[tuple[int, int], Content] = field(default_factory=dict)
    calls_back: bool = False
    perhaps: Mapping[int, Value] = field(default_factory=dict)


def known_partitions(s: State, m: Model, c: int) -> dict[int, Value]:
    """The partitions with cached leadership: "UpdateMetadata with all partitions"."""
    return {p: is_cached(s.controllers[c].partitions[p]) for p in m.partitions}


def tells_removal(s: State, m: Model, c: int, p: int) -> Value:
    """Whether every UpdateMetadata, whichever partitions it is about, tells that a partition is removed.

    That is one of a topic that is to be deleted, with cached leadership: on the wire it has leader -2, leader epoch 0
    and version 0. Here its leader epoch is -1, which no leadership has. One that has lost its AR raises instead (D53).
    """
    told = both(s.controllers[c].doomed[p], is_cached(s.controllers[c].partitions[p]))
    return both(told, ~lacks_assignment(s, m, c, p))


def removal(s: State, c: int, p: int) -> dict[str, object]:
    """What is printed of a partition that is sent as removed."""
    return {**leadership(s.controllers[c].partitions[p]), "leader": LEADER_DURING_DELETE, "leader_epoch": 0}


def see_conflict(role: str, p: int) -> None:
    """A conditional write of a state znode fails on its version; ZooKeeper logs that, without the path."""
    observe(role, "fail to write state", partition=p)


def send(s: State, m: Model, c: int, batch: Batch) -> None:
    """Put the batch on the queue of every broker that has a channel and something to be sent."""
    controller = s.controllers[c]
    informs, receivers = goes_out(s, m, c, batch), _receivers(s, c, batch)
    informed = both(informs, ~m.brokers.disjoint(controller.channels, receivers))
    named = (*batch.ordered.values(), *batch.stopped.values(), *batch.deleted.values())
    named_with_channel = (~m.brokers.disjoint(controller.channels, brokers) for brokers in named)
    with when(either(informed, *named_with_channel)):
        acts(s, m, c)
    _log_batch(s, m, c, batch, informs)
    if not m.has("connections"):
        return
    for b in m.brokers.ids:
        ordered = {p: m.brokers.in_set(b, brokers) for p, brokers in batch.ordered.items()}
        told = both(informs, m.brokers.in_set(b, receivers)) if m.has("metadata") else flag(False)
        stops = either(*(m.brokers.in_set(b, to) for to in (*batch.stopped.values(), *batch.deleted.values())))
        reached = m.brokers.in_set(b, controller.channels)
        with when(both(reached, either(*ordered.values(), told, stops))):
            _put(s, m, c, b, batch, ordered, told)
        _observe_stops(s, m, c, b, batch, reached)


def goes_out(s: State, m: Model, c: int, batch: Batch) -> Value:
    """Whether UpdateMetadata goes out: before 0.9.0.0 only where it tells of a partition, before 0.10.2.0 not where it
    was asked to, and cannot.
    """
    alone, removal = flag(batch.everybody), either(*(tells_removal(s, m, c, p) for p in m.partitions))
    if m.reintroduces(Switch.TELL_ONLY_THE_NEW):
        alone = both(alone, removal)
    elif m.tells_only_the_known:
        asked = either(*(both(one, ~s.controllers[c].doomed[p]) for p, one in batch.about.items()))
        alone = both(alone, either(removal, ~asked))
    return either(alone, *batch.metadata.values())


def _receivers(s: State, c: int, batch: Batch) -> Value:
    """The brokers that get UpdateMetadata, if it goes out."""
    return s.controllers[c].live if batch.receivers is None else batch.receivers


@only_said
def _log_batch(s: State, m: Model, c: int, batch: Batch, informs: Value) -> None:
    """A line for each partition of each LeaderAndIsr, whether or not there is a channel, then for each that is named.

    What a broker without a channel is not sent, the batch need not have in its latest form.
    """
    controller = s.controllers[c]
    with in_any_order():
        for p, brokers in batch.ordered.items():
            for b in m.assigned(p):
                with when(m.brokers.in_set(b, brokers)):
                    _log_leadership(s, m, c, p, b, batch.content.get((p, b), controller.partitions[p]))
    with when(informs):
        _log_metadata(s, m, c, batch)


def _log_metadata(s: State, m: Model, c: int, batch: Batch) -> None:
    controller, to = s.controllers[c], _receivers(s, c, batch)
    with in_any_order():
        for p in m.partitions:
            cached, removed = controller.partitions[p], tells_removal(s, m, c, p)
            told, nobody = leadership(cached), m.brokers.is_empty(to)
            with when(removed):
                log(s, c, UpdateMetadataSending, perhaps=nobody, partition=p, brokers=to, leadership=removal(s, c, p))
            with when(both(~removed, batch.metadata.get(p, flag(False)))):
                perhaps = either(nobody, batch.perhaps.get(p, flag(False)))
                log(s, c, UpdateMetadataSending, perhaps=perhaps, partition=p, brokers=to, leadership=told)


def _log_leadership(s: State, m: Model, c: int, p: int, b: int, content: Content) -> None:
    reached = m.brokers.in_set(b, s.controllers[c].channels)
    with when(reached):
        said = {"leadership": leadership(content), "role": content["leader"] == b}
        log(s, c, LeaderAndIsrSending, partition=p, broker=b, **said)
    with when(~reached):
        log(s, c, LeaderAndIsrSending, perhaps=True, partition=p, broker=b)


def _observe_stops(s: State, m: Model, c: int, b: int, batch: Batch, reached: Value) -> None:
    """The StopReplica requests to a broker are queued, or dropped for want of a channel."""
    for delete, stops in ((0, batch.stopped), (1, batch.deleted)):
        for p, brokers in stops.items():
            stopped = m.brokers.in_set(b, brokers)
            with when(both(stopped, reached)):
                observe(f"controller {c}", "queue StopReplica", broker=b, partition=p, delete=delete)
            with when(both(stopped, ~reached)):
                observe(f"controller {c}", "drop StopReplica", broker=b, partition=p)


@where_possible
def _put(s: State, m: Model, c: int, b: int, batch: Batch, ordered: Mapping[int, Value], told: Value) -> None:
    """Put one broker's part of the batch in the first empty place of its queue."""
    queue, controller = s.connections[c][b], s.controllers[c]
    fits(queue[m.slots[-1]].stage == Stage.EMPTY)
    named = {p: (one, batch.content.get((p, b), controller.partitions[p])) for p, one in ordered.items()}
    part = _part(s, m, c, b, batch, named, told)
    for k in reversed(m.slots):
        before = flag(True) if k == 0 else queue[k - 1].stage != Stage.EMPTY
        with when(both(queue[k].stage == Stage.EMPTY, before)):
            _fill(m, controller, queue[k], part)
    for p, (is_named, content) in named.items():
        with when(is_named):
            fields = {name: content[name] for name in FIELDS}
            observe(f"controller {c}", "queue LeaderAndIsr", broker=b, partition=p, **fields)
    with when(told):
        observe(f"controller {c}", "queue UpdateMetadata", broker=b)


@dataclass(frozen=True)
class _Part:
    """One broker's part of a batch, the same in whichever place it comes to be: fields of a slot, by their names."""

    stage: Value
    calls_back: Value
    metadata: Value
    told: Mapping[int, Value]
    told_epoch: Mapping[int, Value]
    stop: Mapping[int, Value]
    delete: Mapping[int, Value]
    delete_epoch: Mapping[int, Value]
    named: Mapping[int, tuple[Value, Mapping[str, object]]]
    """By partition, whether LeaderAndIsr names it, and what it says then."""


def _part(s: State, m: Model, c: int, b: int, batch: Batch, named: _Named, told: Value) -> _Part:
    cached = s.controllers[c].partitions
    stop, delete = (
        {p: m.brokers.in_set(b, to[p]) if p in to else flag(False) for p in m.partitions}
        for to in (batch.stopped, batch.deleted)
    )
    about = {p: batch.metadata.get(p, flag(False)) for p in m.partitions}
    removed = {p: either(tells_removal(s, m, c, p), both(batch.whole, ~is_cached(cached[p]))) for p in m.partitions}
    leads = {p: both(told, about[p], ~removed[p]) for p in m.partitions}
    return _Part(
        stage=_first_stage(m, either(*(one for one, _ in named.values())), told, either(*stop.values())),
        calls_back=both(batch.calls_back, either(*delete.values())),
        metadata=told,
        told={p: both(told, either(about[p], removed[p])) for p in m.partitions},
        told_epoch={p: choose(leads[p], cached[p].leader_epoch, -1) for p in m.partitions},
        stop=stop,
        delete=delete,
        delete_epoch={p: choose(delete[p], cached[p].leader_epoch, -1) for p in m.partitions},
        named={p: (one, _of_leader_and_isr(s, m, c, p, content)) for p, (one, content) in named.items()},
    )


def _first_stage(m: Model, orders: Value, informs: Value, stops: Value) -> Value:
    """Which request of a batch is the first."""
    last = STAGE.constant(Stage.STOP_REPLICA if m.stops_replicas else Stage.UPDATE_METADATA)
    if m.stops_one_by_one:
        last = choose(stops, last, Stage.DELETE_REPLICA)
    after_orders = choose(informs, STAGE.constant(Stage.UPDATE_METADATA), last)
    return choose(orders, STAGE.constant(Stage.LEADER_AND_ISR), after_orders)


def _of_leader_and_isr(s: State, m: Model, c: int, p: int, content: Content) -> dict[str, object]:
    """What LeaderAndIsr says of a partition."""
    controller = s.controllers[c]
    return {name: content[name] for name in FIELDS} | {
        "ordered": True, "topic_id": controller.topic_ids[m.topic_of(p)],
        "assigned": m.brokers.members(controller.partitions[p].assigned),
        "leader_lives": m.brokers.in_set(content["leader"], controller.live),
    }  # fmt: skip


def _fill(m: Model, controller: Controller, slot: Slot, part: _Part) -> None:
    """Write a batch into an empty slot; fields of partitions that it does not name stay as they are in an empty one."""
    slot.epoch, slot.stage = controller.epoch, part.stage
    slot.calls_back, slot.metadata = part.calls_back, part.metadata
    slot.alive = choose(part.metadata, controller.live, slot.alive)
    for p, (is_named, content) in part.named.items():
        with when(is_named):
            for name, value in content.items():
                slot.partitions[p][name] = value
    for p in m.partitions:
        slot.told[p], slot.told_epoch[p] = part.told[p], part.told_epoch[p]
        slot.stop[p], slot.delete[p], slot.delete_epoch[p] = part.stop[p], part.delete[p], part.delete_epoch[p]
