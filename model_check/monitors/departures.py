"""Claims about brokers that stop in order: they are let go once they lead nothing that another could.

They are asked only where the same controller was in office, and could be asked, from the moment that a broker was told
to stop until it was gone. What the broker was answered shows in no recording; that it goes after the last of its tries,
whatever the answers were, is the controller's doing, too, if somebody else could have led.

Kafka: `KafkaController.shutdownBroker`, `ControlledShutdownLeaderSelector`, 0.10.2.2. PROTOCOL.md section 7.2.
"""

from collections.abc import Iterator

from model_check.monitors.claims import Answers, Break, monitored
from model_check.monitors.contents import State, is_in_sync
from model_check.monitors.controllers import removed_by_others
from model_check.monitors.history import History, Write, state_path
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition


@monitored(source="PROTOCOL.md section 7.2; KafkaController.shutdownBroker")
def who_stops_in_order_leads_nothing(history: History) -> Answers:
    """A broker that is told to stop does not go while it leads what another replica in sync could lead."""
    for broker, gone, told in _departures(history):
        row = "D53" if removed_by_others(history, gone.number) else ""
        for partition, state, fit in _led_by_several(history, broker, gone, told):
            others = ", ".join(map(str, fit))
            text = f"broker {broker} was told to stop, and went while {partition} had {state}, and {others} could lead"
            yield Break(gone.place, text, row) if state.leader == broker else None


def _led_by_several(
    history: History, broker: int, gone: Write, told: int
) -> Iterator[tuple[TopicPartition, State, tuple[int, ...]]]:
    """The partitions that stay as they are assigned, with the state as the broker goes, and who else could lead."""
    for partition, replicas in history.partitions(gone.number):
        state = history.state(partition, gone.number)
        is_let_be = not history.is_doomed(partition.topic, gone.number) and partition not in history.moves(gone.number)
        states = history.during(state_path(partition), told, gone.ms)
        others = (one for one in replicas if one != broker and all(is_in_sync(each, one) for each in states))
        fit = tuple(one for one in others if _stays(history, one, told, gone))
        if state is not None and is_let_be and fit:
            yield partition, state, fit


def _departures(history: History) -> Iterator[tuple[int, Write, int]]:
    """Each broker that was asked to stop, and could ask, with the end of its registration, and when it was asked."""
    for gone in history.of_kind(paths.BROKER):
        broker = gone.path.broker if gone.path and gone.after is None else None
        if broker is not None:
            for told, ended in history.acts.departures.get(broker, ()):
                if told - SKEW <= gone.ms <= ended + SKEW and _is_asked(history, broker, told, gone):
                    yield broker, gone, told


def _is_asked(history: History, broker: int, told: int, gone: Write) -> bool:
    """Whether one controller, another broker's, was at work all the time, and registered, where it can be asked."""
    before, after = history.office(history.before(told - SKEW)), gone.office
    owner = before.owner.broker if before.owner is not None else None
    is_same = (before.owner, before.since, before.raised) == (after.owner, after.since, after.raised)
    is_at_work = owner is not None and is_same and history.has_raised(before)
    return is_at_work and owner is not None and owner != broker and _stays(history, owner, told, gone)


def _stays(history: History, broker: int, told: int, gone: Write) -> bool:
    """Whether a broker was registered, and let alone, from before another was told to stop until that was gone."""
    first, last = history.registered(broker, history.before(told - SKEW)), history.registered(broker, gone.number)
    is_same = first is not None and last is not None and first.number == last.number
    return is_same and history.acts.is_let_alone(broker, told - SKEW, gone.ms + SKEW)
