"""Claims about announcements of ISR changes: the controller takes them away, and tells everybody before it does.

They are asked of what was announced to a controller at work, and of what one in office has taken: a controller that is
not at work yet may read too early, or not hear. Before 0.9.0.0 nobody announces anything, and no controller listens
(D65).

Kafka: `KafkaController.IsrChangeNotificationListener`, 0.10.2.2. PROTOCOL.md section 7.7.
"""

from collections.abc import Iterator, Mapping

from model_check.monitors import signatures
from model_check.monitors.arrivals import Arrival, accepted
from model_check.monitors.claims import Break, Needs
from model_check.monitors.contents import Announced
from model_check.monitors.controllers import removed_by_others
from model_check.monitors.history import History, Write, state_path
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.requests import writes_told
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey

SOURCE = "PROTOCOL.md section 7.7; KafkaController.IsrChangeNotificationListener"


@at_rest(needs=Needs.REST_AND_REQUESTS, kind="eventually", source=SOURCE)
def eventually_announcements_are_taken(at: Moment) -> Shown:
    """No announcement of ISR changes exists that was made while the controller in office was at work."""
    history, office = at.history, at.history.office(at.number)
    since = _at_work_since(history, at.number)
    for one in history.of_kind(paths.ISR_CHANGE):
        is_heard = one.is_create and one.author.is_members and since is not None and one.ms > since + SKEW
        if is_heard and office.raised < one.number < at.number and at.controller is not None:
            text = f"{one.name} exists, with which {one.author} announced ISR changes ({one.place})"
            stands = history.at(one.name, at.number) is not None
            yield one.name, at.broken(text, signatures.of_idleness(at) or "D65") if stands else None


def _at_work_since(history: History, number: int) -> int | None:
    """When the first request arrived of the controller in office, in the epoch that it has raised."""
    office = history.office(number)
    owner = None if office.owner is None else office.owner.broker
    sent = (one.ms for one in history.arrivals.all() if one.epoch == office.epoch and one.controller == owner)
    return min(sent, default=None)


@at_rest(needs=Needs.REST_AND_REQUESTS, kind="eventually", source=SOURCE)
def eventually_announced_isrs_are_known(at: Moment) -> Shown:
    """Every live broker has received UpdateMetadata of each ISR that was announced, and taken by the controller."""
    taken = _taken(at.history, at.number)
    stays = {partition for partition, _, state in at.partitions() if state is not None}
    for partition in sorted(taken.keys() & stays):
        written, gone = taken[partition]
        for broker in at.history.brokers if at.controller is not None else ():
            came = at.history.registered(broker, at.number)
            received = at.received(broker) if came is not None and at.is_up(broker) else None
            if came is not None and received is not None and came.number < written.number:
                yield f"ISR of {partition} {broker}", _unknown(at, received, partition, broker, (written, gone))


def _taken(history: History, number: int) -> Mapping[TopicPartition, tuple[Write, Write]]:
    """Of each partition whose announcement was taken last: the write of its state before that, and the taking."""
    taken = {}
    for gone in history.of_kind(paths.ISR_CHANGE):
        if gone.number < number and gone.is_delete and gone.is_in_office and isinstance(gone.before, Announced):
            made = history.until(gone.name, gone.number)[-1]
            for partition in gone.before.partitions:
                written = history.last(state_path(partition), made.number)
                born = history.birth(partition.topic, number)
                if written is not None and born is not None and born.number < written.number:
                    taken[partition] = written, gone
    return taken


def _unknown(
    at: Moment, received: list[Arrival], partition: TopicPartition, broker: int, taken: tuple[Write, Write]
) -> Break | None:
    written, gone = taken
    if any(one.number >= written.number for one in _known(at.history, received, partition)):
        return None
    text = f"{gone.author} took {gone.name} ({gone.place}), and broker {broker}, which runs, has not been sent by"
    text = f"{text} UpdateMetadata that {partition} had {written.after} ({written.place}), nor anything since"
    row = "D53" if removed_by_others(at.history, gone.number) else signatures.of_idleness(at)
    row = row or signatures.of_stale_metadata(at, partition, broker, -1)  # a removal is sent in place of its leadership
    return at.broken(text, row)


def _known(history: History, received: list[Arrival], partition: TopicPartition) -> Iterator[Write]:
    """The writes of which a broker may have been sent what they wrote."""
    for one in received:
        if one.kind is ApiKey.UPDATE_METADATA and partition in one.states and accepted(one, partition):
            yield from writes_told(history, one, partition, one.states[partition])
