"""What is claimed of requests: whom a batch tells, in which order it is delivered, and what becomes of a queue.

What a batch has still to say to a broker is what its place in the queue names; what is due is its `stage`. So the order
is claimed by what is named, whatever it is that computes the stage.

Not claimed, since no state could show otherwise: that of a partition's entries for one broker the last one counts, and
that no StopReplica without delete comes twice (a batch of this model maps partitions to brokers), and that one request
at a time is in flight (only the head of a queue can be delivered).

Kafka 0.10.2.2: `ControllerBrokerRequestBatch`, `ControllerChannelManager`, `RequestSendThread`. PROTOCOL.md section 9.
"""

from collections.abc import Iterator

from spec.language.records import Array
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.leadership.partitions import everybody_is_informed
from spec.protocol.leadership_cache import is_cached
from spec.protocol.requests.connections import CALLBACK_WAITS
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At
from spec.variants import Switch

SOURCE = "PROTOCOL.md section 9"
PARTS = ("connections",)

#: The steps in which an answer comes to the request that is due.
DELETIONS = ("deliver_deletion", "deliver_failing_deletion")
ANSWERS = ("deliver_request", "deliver_request_in_half", "deliver_stop", *DELETIONS, "on_replica_deleted")

#: The steps in which a controller finds out who is registered, and changes its channels.
BROKER_CHANGES = ("on_broker_change", "read_broker_data")


def _filled(m: Model, queue: Array[int, Slot]) -> Iterator[int]:
    """The places of a queue, except those that are known to be empty: what is claimed of such a place is true."""
    if not queue.is_blank():
        yield from (k for k in m.slots if not queue[k].is_blank())


def _is_open(s: State, m: Model, c: int, b: int) -> Value:
    """Whether there is a channel, be it one that an earlier term left behind."""
    controller = s.controllers[c]
    return either(m.brokers.in_set(b, controller.channels), m.brokers.in_set(b, controller.stranded))


def _waits(place: Slot) -> Value:
    """Whether there is a batch in a place of a queue."""
    return flag(place.stage != Stage.EMPTY)


def _orders(m: Model, place: Slot) -> Value:
    """Whether LeaderAndIsr is still to be delivered."""
    return either(*(place.partitions[p].ordered for p in m.partitions))


def _kinds(m: Model, place: Slot) -> tuple[Value, Value, Value, Value]:
    """Whether LeaderAndIsr, UpdateMetadata, StopReplica without delete, and with it, are still to be delivered."""
    stops, deletes = (either(*(one[p] for p in m.partitions)) for one in (place.stop, place.delete))
    return _orders(m, place), place.metadata, stops, deletes


# ---------------------------------------------------------------------------------------------------------- the queues


@claim("sometimes", source=SOURCE, parts=PARTS)
def a_request_is_on_its_way(s: State, m: Model, c: int, b: int) -> Value:
    """A controller has a request for some broker that is not answered yet."""
    return _waits(s.connections[c][b][0])


@claim("always", source=SOURCE, witness="a_request_is_on_its_way", parts=PARTS)
def requests_wait_where_there_is_a_channel(s: State, m: Model, c: int, b: int) -> Facts:
    """What waits for a broker is on a channel that is open to it; without a channel, nothing is queued, or stays so."""
    queue, open_ = s.connections[c][b], _is_open(s, m, c, b)
    yield from (either(open_, ~_waits(queue[k])) for k in _filled(m, queue))


@claim("always", source=SOURCE, witness="a_request_is_on_its_way", parts=PARTS)
def requests_are_of_the_present_term(s: State, m: Model, c: int, b: int) -> Facts:
    """What waits was queued by an active controller in its present epoch: a queue does not outlast its term."""
    controller, queue = s.controllers[c], s.connections[c][b]
    places = [queue[k] for k in _filled(m, queue)]
    yield from (either(~_waits(one), both(controller.active, one.epoch == controller.epoch)) for one in places)


# ----------------------------------------------------------------------------------------------------------- the order


@claim("sometimes", source=SOURCE, parts=(*PARTS, "several_requests"))
def a_batch_has_several_requests(s: State, m: Model, c: int, b: int) -> Facts:
    """A batch has requests of two kinds for one broker."""
    kinds = _kinds(m, s.connections[c][b][0])
    yield from (both(one, either(*kinds[i + 1 :])) for i, one in enumerate(kinds))


@claim("always", source=SOURCE, witness="a_batch_has_several_requests", parts=(*PARTS, "several_requests"))
def requests_of_a_batch_go_in_order(s: State, m: Model, c: int, b: int) -> Facts:
    """What is due of a batch is the first that it has: LeaderAndIsr, UpdateMetadata, StopReplica, with delete last.

    StopReplica without delete may be of no partition.
    """
    queue = s.connections[c][b]
    for place in (queue[k] for k in _filled(m, queue)):
        orders, informs, stops, deletes = _kinds(m, place)
        due = place.stage
        yield (due == Stage.LEADER_AND_ISR) == orders
        yield (due == Stage.UPDATE_METADATA) == both(informs, ~orders)
        yield either(~stops, orders, informs, due == Stage.STOP_REPLICA)
        yield either(due == Stage.EMPTY, orders, informs, stops, deletes)
        yield either(due != Stage.EMPTY, ~deletes)


@claim("step", source=SOURCE, witness="a_batch_has_several_requests", parts=(*PARTS, "several_requests"), of=ANSWERS)
def an_answer_ends_the_first_request(before: State, after: State, m: Model, action: Action, c: int, b: int) -> Value:
    """An answer ends one request, the first of the oldest batch; with the last one of that, the next batch is due."""
    old, new = before.connections[c][b], after.connections[c][b]
    left = _left(m, old[0], action)
    over = ~either(*left.values())
    moved_up = both(*(_is_same(m, old[k + 1], new[k]) for k in m.slots[:-1]), ~_waits(new[m.slots[-1]]))
    behind = both(*(_is_same(m, old[k], new[k]) for k in m.slots[1:]))
    now = _named(m, new[0])
    kept = both(new[0].epoch == old[0].epoch, _waits(new[0]), *(now[of] == one for of, one in left.items()))
    return either(both(over, moved_up), both(~over, kept, behind), both(_calls_back(m, old[0], new[0], action), behind))


def _calls_back(m: Model, old: Slot, new: Slot, action: Action) -> Value:
    """Whether the answer to a deletion has come, and its callback waits for the controller lock."""
    if action.rule not in DELETIONS:
        return flag(False)
    waits = either(*(new.stage == one for one in CALLBACK_WAITS))
    return both(old.stage == Stage.DELETE_REPLICA, waits, _is_same(m, old, new, due=False))


def _named(m: Model, place: Slot) -> dict[tuple[str, int], Value]:
    """All that a batch has still to say to a broker."""
    named = {("ordered", p): place.partitions[p].ordered for p in m.partitions} | {("metadata", 0): place.metadata}
    named |= {("stop", p): place.stop[p] for p in m.partitions}
    return named | {("delete", p): place.delete[p] for p in m.partitions}


def _left(m: Model, head: Slot, action: Action) -> dict[tuple[str, int], Value]:
    """What is left to say once the first request of a batch is answered; a deletion, and perhaps a stop, has one
    for each partition.
    """
    named = _named(m, head)
    orders, informs, _, _ = _kinds(m, head)
    single = "stop" if action.rule == "deliver_stop" else "delete"
    left = {}
    for (kind, p), one in named.items():
        if kind == "ordered":
            left[kind, p] = flag(False)
        elif kind == "metadata":
            left[kind, p] = both(one, orders)
        elif kind == single and action.parameters.get("p") == p:
            left[kind, p] = flag(False)
        elif kind == "stop" and kind != single:
            left[kind, p] = both(one, either(orders, informs))
        else:
            left[kind, p] = one
    return left


def _is_same(m: Model, one: Slot, other: Slot, *, due: bool = True) -> Value:
    """Whether two places have the same batch: the same names, epoch and leader epochs."""
    if one.is_blank() and other.is_blank():
        return flag(True)
    named = _named(m, other)
    facts = [one.epoch == other.epoch, *(named[of] == value for of, value in _named(m, one).items())]
    facts += [one.partitions[p].leader_epoch == other.partitions[p].leader_epoch for p in m.partitions]
    return both(*facts, one.stage == other.stage) if due else both(*facts)


@claim("step", source=SOURCE, witness="a_request_is_on_its_way", parts=PARTS)
def requests_stay_until_they_are_answered(
    before: State, after: State, m: Model, action: Action, *, c: int, b: int
) -> Value | None:
    """What waits for a broker stays, and before what is queued later, until it is answered or its channel is closed."""
    if action.rule in ANSWERS:
        return None
    old, new = before.connections[c][b], after.connections[c][b]
    if new.is_untouched():
        return None
    stay = both(*(either(~_waits(old[k]), _is_same(m, old[k], new[k])) for k in _filled(m, old)))
    return either(stay, ~_is_open(after, m, c, b), _is_renewed(before, after, m, action, c, b))


def _is_renewed(before: State, after: State, m: Model, action: Action, c: int, b: int) -> Value:
    """Whether a broker was found to have registered anew, so that the channel to it is not the one that it was."""
    if not m.fixes(Switch.BROKER_EPOCHS) or action.rule not in BROKER_CHANGES or action.parameters["c"] != c:
        return flag(False)
    was = before.controllers[c]
    had = m.brokers.in_set(b, m.brokers.intersection(was.live, was.channels))
    return both(had, ~was.seen[b], after.controllers[c].seen[b])


# ------------------------------------------------------------------------------------------------------ who is sent it


@claim("sometimes", source=SOURCE, parts=(*PARTS, "metadata"))
def metadata_is_on_its_way(s: State, m: Model, c: int, b: int) -> Value:
    """An UpdateMetadata waits for its answer."""
    return s.connections[c][b][0].metadata


@claim("step", source=SOURCE, witness="metadata_is_on_its_way", parts=(*PARTS, "metadata"))
def metadata_goes_to_all_registered_brokers(
    before: State, after: State, m: Model, action: Action, c: int
) -> Value | None:
    """Where LeaderAndIsr goes to some, UpdateMetadata goes to all who are registered, also who shuts down; never to
    fewer. Before 0.10.2.0 that is so of what is cached.
    """
    if action.rule in ANSWERS:
        return None
    controller = after.controllers[c]
    told = {
        b: either(*(both(new, place.metadata) for new, place in queued_places(before, after, m, action, b)))
        for b in m.brokers.ids
    }
    ordered = [
        both(new, place.partitions[p].ordered, is_cached(controller.partitions[p]) | (not m.tells_only_the_known))
        for b in m.brokers.ids for new, place in queued_places(before, after, m, action, b) for p in m.partitions
    ]  # fmt: skip
    registered = m.brokers.intersection(controller.live, controller.channels)
    everybody = both(*(either(~m.brokers.in_set(b, registered), told[b]) for b in m.brokers.ids))
    return either(everybody, ~either(*told.values(), *ordered))


def queued_places(before: State, after: State, m: Model, action: Action, b: int) -> Iterator[tuple[Value, Slot]]:
    """Each place of a queue after a step, and whether the step has put a batch there."""
    c = action.parameters["c"]
    renewed = _is_renewed(before, after, m, action, c, b)
    queue = after.connections[c][b]
    for k in _filled(m, queue):
        old, new = before.connections[c][b][k], queue[k]
        yield both(either(renewed, ~_waits(old)), _waits(new)), new


# --------------------------------------------------------------------------------------------------------- newBatch


#: Where a state change is in progress, which gathers a batch.
GATHERING = (At.ONLINE_READ, At.ONLINE_WRITE, At.REMOVE_READ, At.REMOVE_WRITE, At.NEW_REPLICA_READ)


def _gathers(controller: Controller) -> Value:
    """Whether a controller is in the middle of a state change."""
    return either(*(controller.at == at for at in GATHERING))


def _has_gathered(m: Model, controller: Controller) -> Value:
    """Whether there is something in the batch of a controller's state machines."""
    return either(*(everybody_is_informed(m, controller.partitions[p]) for p in m.partitions))


@claim("sometimes", source=SOURCE, parts=(*PARTS, "several_partitions"))
def a_batch_is_being_gathered(s: State, m: Model, c: int) -> Value:
    """A state change goes on while there is something in its batch already."""
    return both(_gathers(s.controllers[c]), _has_gathered(m, s.controllers[c]))


@claim("always", source=SOURCE, witness="a_batch_is_being_gathered", parts=(*PARTS, "several_partitions"))
def nothing_is_left_in_a_batch(s: State, m: Model, c: int) -> Value:
    """A state machine's batch has something in it only in the middle of a state change: newBatch finds it empty."""
    return either(_gathers(s.controllers[c]), ~_has_gathered(m, s.controllers[c]))
