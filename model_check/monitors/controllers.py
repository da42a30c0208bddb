"""Claims about controllers: one in office, epochs that rise before they are used, and no act of who is none any more.

Who acts decides about a partition (a state znode is created, or its leader epoch rises) or sends a request; both name
the controller epoch. Other writes of a controller do not, so there is asked whether a successor has raised the epoch
since this broker was last elected. Sessions that are no broker's are an admin's, who may do anything.

Kafka: `KafkaController.incrementControllerEpoch`, `ZookeeperLeaderElector.elect`, 0.10.2.2. PROTOCOL.md section 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model_check.monitors.claims import Answers, Break, monitored
from model_check.monitors.contents import Assignment, ControllerEpoch, Elected, State
from model_check.monitors.history import CONTROLLER, CONTROLLER_EPOCH, ELECTIONS, History, Write
from model_check.recordings.recorded_tracks import SKEW
from spec.formats import znode_paths as paths

CONTROLLERS_OWN = (
    paths.STATE,
    paths.BROKER_TOPIC,
    paths.TOPIC_CONFIG,
    paths.DELETE_TOPIC,
    paths.REASSIGN_PARTITIONS,
    paths.PREFERRED_REPLICA_ELECTION,
    paths.ISR_CHANGE,
)
"""What, among brokers, only a controller deletes."""
TIMES = 3
"""How often somebody gives /controller up until that is no accident any more."""


@dataclass(frozen=True)
class Act:
    """What a broker did as controller, in a controller epoch; `number` is the write's, or that by which it was done."""

    place: str
    broker: int
    epoch: int
    number: int
    text: str


def decides(write: Write) -> bool:
    """Whether this is a controller's decision about a partition: others never change a leader epoch."""
    if write.path is None or write.path.kind is not paths.STATE or not isinstance(write.after, State):
        return False
    return not isinstance(write.before, State) or write.after.leader_epoch != write.before.leader_epoch


def acts(history: History) -> Iterator[Act]:
    """All that brokers did as controllers and that names an epoch."""
    for one in history.of_kind(paths.STATE):
        if decides(one) and isinstance(one.after, State) and one.author.broker is not None:
            text = f"broker {one.author.broker} wrote controller epoch {one.after.controller_epoch} into {one.name}"
            yield Act(one.place, one.author.broker, one.after.controller_epoch, one.number, text)
    for request in history.arrivals.all():
        if request.controller is not None and request.epoch is not None:
            number = history.before(request.ms + SKEW + 1)
            yield Act(request.place, request.controller, request.epoch, number, f"{request} arrived")


def raisers(history: History) -> dict[int, Write]:
    """Who has written each epoch to /controller_epoch, at first."""
    found: dict[int, Write] = {}
    for one in history.raises():
        if isinstance(one.after, ControllerEpoch):
            found.setdefault(one.after.epoch, one)
    return found


@monitored()
def controller_znode_is_its_owners(history: History) -> Answers:
    """Asked of each delete of /controller by a broker."""
    for one in history.of(CONTROLLER):
        owner = one.office.owner
        if not one.is_delete or owner is None or owner.broker is None or one.author.broker is None:
            continue
        text = f"{one.author} deleted /controller, which was {owner}'s, whose session lived"
        yield None if owner.broker == one.author.broker else Break(one.place, text, "D3")


@monitored(source="PROTOCOL.md sections 2 and 6; KafkaController.incrementControllerEpoch")
def each_election_raises_the_epoch_by_one(history: History) -> Answers:
    """/controller_epoch is 1 at first, and each write of it adds one; a later release (2.1.0) creates it with 0."""
    for one in history.of(CONTROLLER_EPOCH):
        before = one.before.epoch if isinstance(one.before, ControllerEpoch) else None
        after = one.after.epoch if isinstance(one.after, ControllerEpoch) else None
        text = f"{one.author} wrote {'nothing' if after is None else after} to /controller_epoch"
        if before is None:
            yield None if after in {0, 1} else Break(one.place, f"{text}, which was not there")
        elif after == before:
            yield Break(one.place, f"{text} again", "D1-first")
        else:
            yield None if after == before + 1 else Break(one.place, f"{text}, which was {before}")


@monitored(source="PROTOCOL.md section 6, D1; KafkaController.incrementControllerEpoch")
def who_acts_has_raised_the_epoch(history: History) -> Answers:
    """Whoever acts in a controller epoch has itself written that epoch to /controller_epoch, and before."""
    raised = raisers(history)
    for act in acts(history):
        write = raised.get(act.epoch)
        if write is None:
            yield Break(act.place, f"{act.text}, and nobody has ever written {act.epoch} to /controller_epoch")
        elif write.number >= act.number:
            yield Break(act.place, f"{act.text}, before {act.epoch} was written to /controller_epoch ({write.place})")
        elif write.author.broker is not None:
            by = f"{write.author} ({write.place}), and not by itself"
            text = f"{act.text}; {act.epoch} was written to /controller_epoch by {by}"
            yield None if write.author.broker == act.broker else Break(act.place, text, "D1")


@monitored()
def one_term_acts_in_an_epoch(history: History) -> Answers:
    """Asked of each epoch, of brokers: a second one that acts in it is told once."""
    raised = raisers(history)
    rightful = {epoch: one.author.broker for epoch, one in raised.items() if one.author.broker is not None}
    done = list(acts(history))
    acted = {(act.epoch, act.broker) for act in done}
    told = set[tuple[int, int]]()
    for act in done:
        first = rightful.get(act.epoch)
        others = sorted(broker for epoch, broker in acted if epoch == act.epoch and broker != act.broker)
        if (act.epoch, act.broker) in told:
            continue
        told.add((act.epoch, act.broker))
        if others and act.broker != first:
            yield Break(act.place, f"{act.text}, and broker {others[0]} has acted in epoch {act.epoch}, too", "D1")
        else:
            yield None


@monitored()
def only_the_latest_term_writes(history: History) -> Answers:
    """Asked of each decision by its epoch, and of what else only controllers write by who was elected since."""
    elected: dict[int, int] = {}
    for one in history.writes:
        if one.name == CONTROLLER and isinstance(one.after, Elected) and one.author.broker is not None:
            elected[one.author.broker] = one.number
        if decides(one):
            yield _decision(one)
        elif one.author.broker is not None and _is_a_controllers(one, history):
            yield _unfenced(one, elected.get(one.author.broker))


def _decision(write: Write) -> Break | None:
    epoch = write.after.controller_epoch if isinstance(write.after, State) else 0
    office = write.office
    if office.epoch is None or epoch >= office.epoch:
        return None
    is_in_office = office.owner is not None and office.owner.session == write.author.session
    text = f"{write.author} wrote controller epoch {epoch} into {write.name} while {office}"
    return Break(write.place, text, "D1" if is_in_office else "D2")


def _is_a_controllers(write: Write, history: History) -> bool:
    """Whether among brokers only a controller makes such a write. Any broker may create a topic for its client."""
    if write.name == CONTROLLER_EPOCH:
        return isinstance(write.after, ControllerEpoch) and write.after.epoch > 0
    if write.path is None or write.path.kind not in CONTROLLERS_OWN:
        return False
    if write.path.kind is paths.BROKER_TOPIC and isinstance(write.after, Assignment):
        return not write.is_create or _comes_back(write, history)
    return write.is_delete or (write.path.kind is paths.REASSIGN_PARTITIONS and not write.is_create)


def _comes_back(write: Write, history: History) -> bool:
    """Whether a topic is created that was deleted, without its configuration: so an upsert creates it (D52)."""
    deleted = any(one.after is None and one.number < write.number for one in history.of(write.name))
    return deleted and history.at(f"/config/topics/{write.topic}", write.number) is None


def _unfenced(write: Write, elected: int | None) -> Break | None:
    """Whether a successor had raised the epoch when a broker wrote that was a controller, or it never was one."""
    office, did = write.office, f"{write.author} {_did(write)}"
    if elected is None:
        return None if _may_be_any_brokers(write) else Break(write.place, f"{did}, but was never elected controller")
    if office.owner is not None and office.owner.broker == write.author.broker:
        return None
    if office.raised_by is None or office.raised_by.broker in {None, write.author.broker} or office.raised < elected:
        return None
    row = "D1" if write.name == CONTROLLER_EPOCH else "D52-topic" if write.is_create else "D2"
    return Break(write.place, f"{did} while {office}", row)


def _may_be_any_brokers(write: Write) -> bool:
    return write.path is not None and write.path.kind is paths.BROKER_TOPIC and write.is_create


def _did(write: Write) -> str:
    return f"{'deleted' if write.is_delete else 'created' if write.is_create else 'wrote'} {write.name}"


@monitored(source="PROTOCOL.md section 6, D42, D53, D56; KafkaController.onControllerFailover")
def failovers_come_to_their_end(history: History) -> Answers:
    """Who is elected and raises the epoch does not give /controller up again, time after time in one session."""
    given_up: dict[int, list[Write]] = {}
    for one in history.of(CONTROLLER):
        owner = one.office.owner
        if isinstance(one.after, Elected) and one.author.broker is not None:
            yield None
        elif one.is_delete and owner is not None and owner.session == one.author.session:
            times = given_up.setdefault(owner.session, [])
            times.append(one)
            if len(times) == TIMES:
                text = f"{owner} gave /controller up {TIMES} times in one session, first at {times[0].place}"
                yield Break(one.place, text, _row_of_failing(history, times[0].number))


def _row_of_failing(history: History, number: int) -> str:
    """What ends failovers: a request that cannot be met, a topic removed by hand, or what an earlier one has left."""
    if history.at(ELECTIONS, number) is not None:
        return "D42"
    by_hand = any(one.is_delete and one.author.broker is None for one in history.of_kind(paths.BROKER_TOPIC))
    return "D53" if by_hand else "D56"


CLAIMS = (
    failovers_come_to_their_end,
    controller_znode_is_its_owners,
    each_election_raises_the_epoch_by_one,
    who_acts_has_raised_the_epoch,
    one_term_acts_in_an_epoch,
    only_the_latest_term_writes,
)
