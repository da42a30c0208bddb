"""Occasions: how often that happened in a recording which a claim is there for.

Many claims are asked of whatever is written. That no deposed controller writes says little of a run in which none was
deposed, or none had anything to write. So a claim that is asked without it has an occasion here, which is counted; of a
claim that is not here every answer is one.

PROTOCOL.md section 13 tells what the claims are there for.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from model_check.monitors import controllers, leadership, named_brokers, rest
from model_check.monitors.claims import Monitored
from model_check.monitors.contents import Assignment, Elected, State
from model_check.monitors.controllers import decides, is_a_controllers
from model_check.monitors.history import CONTROLLER, Author, History, Refusal
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import NO_LEADER


class Occasion(NamedTuple):
    """What happens, as a clause: "a broker comes back"; and how often it did."""

    what: str
    count: Callable[[History], int]


def _elections(history: History) -> int:
    """Elections after the first one."""
    return max(0, sum(isinstance(one.after, Elected) for one in history.of(CONTROLLER)) - 1)


def _of_the_deposed(history: History) -> int:
    """What only controllers do, done by processes that had been in office and were not any more."""
    return history.once(_deposed)


def _deposed(history: History) -> int:
    won = [one for one in history.of(CONTROLLER) if isinstance(one.after, Elected)]
    first = {(one.author.broker, one.author.incarnation): one.number for one in reversed(won)}

    def is_deposed(author: Author, number: int) -> bool:
        since = first.get((author.broker, author.incarnation), number)
        owner = history.office(number).owner
        return since < number and (owner is None or owner.broker != author.broker)

    writes = (one for one in history.writes if decides(one) or is_a_controllers(one, history))
    written = sum(is_deposed(one.author, one.number) for one in writes)
    refused = (one for one in history.refusals if one.error == "BadVersion" and not _leads(history, one))
    epochs = ((one.epoch, history.office(history.before(one.ms)).epoch) for one in history.arrivals.all())
    sent = sum(epoch is not None and latest is not None and epoch < latest for epoch, latest in epochs)
    return written + sum(is_deposed(one.author, one.number) for one in refused) + sent


def _leads(history: History, refusal: Refusal) -> bool:
    """Whether a broker leads anything, so that what was refused may be its write of an ISR."""
    states = (history.state(partition, refusal.number) for partition, _ in history.partitions(refusal.number))
    return any(one is not None and one.leader == refusal.author.broker for one in states)


def _states(history: History) -> Iterator[tuple[State, State]]:
    """Each change of a state znode: what it was and is."""
    for one in history.of_kind(paths.STATE):
        if isinstance(one.before, State) and isinstance(one.after, State):
            yield one.before, one.after


def _partitions_born(history: History) -> int:
    return sum(one.is_create for one in history.of_kind(paths.STATE))


def _leaders_elected(history: History) -> int:
    return sum(after.leader not in {before.leader, NO_LEADER} for before, after in _states(history))


def _isrs_shrunk(history: History) -> int:
    return sum(not {*before.isr} <= {*after.isr} for before, after in _states(history))


def _assignments_shrunk(history: History) -> int:
    """How often a partition's AR lost a member by a broker's write."""
    shrunk = 0
    for one in history.of_kind(paths.BROKER_TOPIC):
        if one.author.is_members and isinstance(one.before, Assignment) and isinstance(one.after, Assignment):
            after = one.after.replicas
            shrunk += sum(not {*ids} <= {*after.get(p, ())} for p, ids in one.before.replicas.items())
    return shrunk


def _replicas_gone(history: History) -> int:
    """The same, and topics that a broker deleted."""
    topics = history.of_kind(paths.BROKER_TOPIC)
    return _assignments_shrunk(history) + sum(one.is_delete and one.author.is_members for one in topics)


def _brokers_back(history: History) -> int:
    """Registrations of brokers that had been registered."""
    created = [one.name for one in history.of_kind(paths.BROKER) if one.is_create]
    return len(created) - len(set(created))


DEPOSED: Final = Occasion("a deposed controller acts, or tries to", _of_the_deposed)
ELECTED: Final = Occasion("somebody is elected after another", _elections)
BORN: Final = Occasion("a partition is created", _partitions_born)
REPLACED: Final = Occasion("another leader is elected", _leaders_elected)
SHRINKS: Final = Occasion("an ISR loses a member", _isrs_shrunk)
LEAVES: Final = Occasion("a broker leaves an AR", _assignments_shrunk)
GOES: Final = Occasion("a replica has to go", _replicas_gone)
RETURNS: Final = Occasion("a broker comes back", _brokers_back)

OCCASIONS: Final[Mapping[Monitored, Occasion]] = {
    controllers.failovers_come_to_their_end: ELECTED,
    controllers.each_election_raises_the_epoch_by_one: ELECTED,
    controllers.who_acts_has_raised_the_epoch: ELECTED,
    controllers.one_term_acts_in_an_epoch: DEPOSED,
    controllers.only_the_latest_term_writes: DEPOSED,
    leadership.leader_epoch_never_goes_back: REPLACED,
    leadership.decisions_raise_the_leader_epoch_by_one: REPLACED,
    leadership.writers_epochs_never_go_back: DEPOSED,
    leadership.decisions_bring_nobody_into_the_isr: SHRINKS,
    leadership.leaders_are_in_sync: REPLACED,
    leadership.isr_is_not_empty: SHRINKS,
    leadership.isr_is_within_assigned: LEAVES,
    leadership.leaders_are_assigned: LEAVES,
    rest.eventually_one_working_controller: ELECTED,
    rest.eventually_partitions_are_led: BORN,
    rest.eventually_leaders_can_lead: REPLACED,
    rest.eventually_live_replicas_are_informed: RETURNS,
    rest.eventually_live_brokers_know_the_leaders: RETURNS,
    rest.eventually_only_assigned_replicas_have_logs: GOES,
    named_brokers.eventually_live_brokers_know_each_other: RETURNS,
}
"""The occasion of each claim that is asked without it, too."""
