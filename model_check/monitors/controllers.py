"""Claims about controllers: one in office, epochs that rise before they are used, and no act of a former one.

An act is a decision about a partition (a state znode is created, or its leader epoch rises) or a request; both name
the controller epoch. Other writes of a controller do not, so there is asked whether a successor has raised the epoch
since this broker was last elected. Sessions that are no member's are an admin's, who may do anything; once one has
changed /controller_epoch by hand, epochs prove nothing any more.

Kafka: `KafkaController.incrementControllerEpoch`, `ZookeeperLeaderElector.elect`, 0.10.2.2. PROTOCOL.md section 6.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from model_check.monitors.claims import Answers, Break, monitored
from model_check.monitors.contents import ELECTIONS, Assignment, ControllerEpoch, Elected, Elections, State
from model_check.monitors.history import CONTROLLER, CONTROLLER_EPOCH, History, Write
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.protocol.admin_requests import ADMIN_REQUESTS

CONTROLLERS_OWN = (
    paths.STATE,
    paths.BROKER_TOPIC,
    paths.TOPIC_CONFIG,
    *(one.kind for one in ADMIN_REQUESTS.values()),
    paths.ISR_CHANGE,
)
"""What, among brokers, only a controller deletes."""
TIMES = 3
"""How often somebody gives /controller up until that is no accident any more."""
HASTE = 2000
"""Within how many milliseconds: a planned handover takes longer, and real Kafka (D42) fails 36 times a second."""


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
    before, after = write.before, write.after
    return isinstance(after, State) and not (isinstance(before, State) and before.leader_epoch == after.leader_epoch)


def acts(history: History) -> Iterator[Act]:
    """All that brokers did as controllers that names an epoch; in the transaction that raises one, behind that."""
    for one in history.of_kind(paths.STATE):
        if decides(one) and isinstance(one.after, State) and one.author.broker is not None:
            text = f"broker {one.author.broker} wrote controller epoch {one.after.controller_epoch} into {one.name}"
            if one.number < history.epochs_end:
                yield Act(one.place, one.author.broker, one.after.controller_epoch, history.past(one), text)
    for request in history.arrivals.all():
        if request.controller is not None and request.epoch is not None:
            number = history.before(request.ms + SKEW + 1)
            if number <= history.epochs_end:
                yield Act(request.place, request.controller, request.epoch, number, f"{request} arrived")


def raisers(history: History) -> Mapping[int, list[Write]]:
    """The writes of each epoch to /controller_epoch, the first to do so first, while epochs prove anything."""
    return history.once(_raisers)


def _raisers(history: History) -> Mapping[int, list[Write]]:
    found: dict[int, list[Write]] = {}
    for one in history.of(CONTROLLER_EPOCH):
        if isinstance(one.after, ControllerEpoch) and one.number < history.epochs_end:
            found.setdefault(one.after.epoch, []).append(one)
    return found


@monitored(source="PROTOCOL.md section 6, D42, D53, D56; KafkaController.onControllerFailover")
def failovers_come_to_their_end(history: History) -> Answers:
    """A broker that is elected and raises the epoch does not give /controller up again and again in one session."""
    given_up: dict[int, list[Write]] = {}
    told = set[int]()
    for one in history.of(CONTROLLER):
        owner = one.office.owner
        if isinstance(one.after, Elected) and one.author.broker is not None:
            yield None
        elif one.is_delete and owner == one.author and history.has_raised(one.office):
            given_up.setdefault(owner.session, []).append(one)
            times = [each for each in given_up[owner.session] if one.ms - each.ms <= HASTE]
            if len(times) == TIMES and owner.session not in told:
                told.add(owner.session)
                text = f"{owner} gave /controller up {TIMES} times in one session, first at {times[0].place}"
                yield Break(one.place, text, _row_of_failing(history, times[0]))


def _row_of_failing(history: History, first: Write) -> str:
    """What ends failovers: a request that cannot be met, a topic removed by hand, or what an earlier one has left."""
    asked = history.at(ELECTIONS, first.number)
    named = asked.partitions if isinstance(asked, Elections) else ()
    if any(history.state(one, first.number) is None for one in named):
        return "D42"
    if any(history.replicas(one, first.number) == () for one in named):
        return "D61"
    if removed_by_others(history, first.number):
        return "D53"
    has_left = len(history.elections(first.author.broker, first.number)) > 1
    return "D56" if has_left else ""


def removed_by_others(history: History, number: int) -> list[Write]:
    """The removals of topics, by hand or by a broker not in office, before the write of a number."""
    gone = (one for one in history.of_kind(paths.BROKER_TOPIC) if one.is_delete and one.number < number)
    return [one for one in gone if not one.is_in_office]


@monitored()
def controller_znode_is_its_owners(history: History) -> Answers:
    """Asked of each delete of /controller by a broker."""
    for one in history.of(CONTROLLER):
        owner = one.office.owner
        if not one.is_delete or owner is None or owner.broker is None or one.author.broker is None:
            continue
        text = f"{one.author} deleted /controller, which was {owner}'s, whose session lived"
        was_controller = any(history.elections(one.author.broker, one.number))
        row = "D3" if was_controller else ""
        yield None if owner.broker == one.author.broker else Break(one.place, text, row)


@monitored(source="PROTOCOL.md sections 2 and 6; KafkaController.incrementControllerEpoch")
def each_election_raises_the_epoch_by_one(history: History) -> Answers:
    """/controller_epoch is 1 at first, and each write of it adds one; a later release (2.1.0) creates it with 0."""
    for one in history.of(CONTROLLER_EPOCH):
        if not one.author.is_members:
            continue
        before = one.before.epoch if isinstance(one.before, ControllerEpoch) else None
        after = one.after.epoch if isinstance(one.after, ControllerEpoch) else None
        text = f"{one.author} wrote {'nothing' if after is None else after} to /controller_epoch"
        if before is None:
            yield None if after in {0, 1} else Break(one.place, f"{text}, which was not there")
        elif after == before:
            yield Break(one.place, f"{text} again", "D1-first" if _has_found_none(history, one) else "")
        else:
            yield None if after == before + 1 else Break(one.place, f"{text}, which was {before}")


def _has_found_none(history: History, write: Write) -> bool:
    """Whether the broker that writes the first epoch again was elected before it was there."""
    created = next(one for one in history.of(CONTROLLER_EPOCH) if one.is_create)
    return write.after == created.after and any(history.elections(write.author.broker, created.number))


@monitored(source="PROTOCOL.md section 6, D1; KafkaController.incrementControllerEpoch")
def who_acts_has_raised_the_epoch(history: History) -> Answers:
    """Whoever acts in a controller epoch has itself written that epoch to /controller_epoch, and before."""
    raised = raisers(history)
    for act in acts(history):
        writes = raised.get(act.epoch, [])
        if not writes:
            yield Break(act.place, f"{act.text}, and nobody has ever written {act.epoch} to /controller_epoch")
        elif writes[0].number >= act.number:
            place = writes[0].place
            yield Break(act.place, f"{act.text}, before {act.epoch} was written to /controller_epoch ({place})")
        else:
            by = f"{writes[0].author} ({writes[0].place}), and not by itself"
            text = f"{act.text}; {act.epoch} was written to /controller_epoch by {by}"
            is_its = any(one.author.broker in {act.broker, None} for one in writes)
            yield None if is_its else Break(act.place, text, _row_of_borrowed(history, act))


def _row_of_borrowed(history: History, act: Act) -> str:
    """A controller that acts in another's epoch has written the first one again, or failed to raise it, and gone on."""
    has_written = any(one.author.broker == act.broker for one in raisers(history).get(act.epoch, []))
    if has_written:
        return "D1-first"
    return "D1" if history.is_refused(act.broker, "BadVersion", act.number) else ""


@monitored()
def one_term_acts_in_an_epoch(history: History) -> Answers:
    """Asked of each epoch, of brokers: a second one that acts in it is reported once."""
    rightful = {epoch: writes[0].author.broker for epoch, writes in raisers(history).items()}
    done = list(acts(history))
    acted = {(act.epoch, act.broker) for act in done}
    told = set[tuple[int, int]]()
    for act in done:
        if (act.epoch, act.broker) in told:
            continue
        told.add((act.epoch, act.broker))
        first = rightful.get(act.epoch)
        others = sorted(broker for epoch, broker in acted if epoch == act.epoch and broker != act.broker)
        if others and act.broker != first:
            text = f"{act.text}, and broker {others[0]} has acted in epoch {act.epoch}, too"
            yield Break(act.place, text, _row_of_borrowed(history, act))
        else:
            yield None


@monitored()
def only_the_latest_term_writes(history: History) -> Answers:
    """Asked of each decision by its epoch, and of what else only controllers write by the broker elected since."""
    for one in history.writes[: history.epochs_end]:
        if decides(one) and one.author.is_members:
            yield _decision(history, one)
        elif one.author.broker is not None and is_a_controllers(one, history):
            yield _unfenced(history, one)


def _decision(history: History, write: Write) -> Break | None:
    epoch = write.after.controller_epoch if isinstance(write.after, State) else 0
    office = write.office
    if office.epoch is None or epoch >= office.epoch:
        return None
    is_in_office = office.owner is not None and office.owner.session == write.author.session
    text = f"{write.author} wrote controller epoch {epoch} into {write.name} while {office}"
    if not is_in_office:
        return Break(write.place, text, "D2")
    return Break(write.place, text, "D1" if history.is_refused(write.author.broker, "BadVersion", write.number) else "")


def is_a_controllers(write: Write, history: History) -> bool:
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
    deleted = any(one.after is None for one in history.until(write.name, write.number))
    return deleted and history.at(f"/config/topics/{write.topic}", write.number) is None


def _unfenced(history: History, write: Write) -> Break | None:
    """Whether a successor had raised the epoch when a broker wrote that was a controller, or it never was one."""
    office, did = write.office, f"{write.author} {_did(write)}"
    elected = history.elections(write.author.broker, history.past(write))
    if not elected:
        is_any_brokers = write.path is not None and write.path.kind is paths.BROKER_TOPIC and write.is_create
        return None if is_any_brokers else Break(write.place, f"{did}, but was never elected controller")
    if office.owner is not None and office.owner.broker == write.author.broker:
        return None
    if office.raised_by is None or office.raised_by.broker in {None, write.author.broker}:
        return None
    if history.writes[office.raised].zxid < elected[-1].zxid:
        return None
    row = "D1" if write.name == CONTROLLER_EPOCH else "D52-topic" if write.is_create else "D2"
    return Break(write.place, f"{did} while {office}", row)


def _did(write: Write) -> str:
    return f"{'deleted' if write.is_delete else 'created' if write.is_create else 'wrote'} {write.name}"
