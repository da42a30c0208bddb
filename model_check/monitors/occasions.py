"""Occasions: how often that happened in a recording which a claim is there for.

Many claims are asked of whatever is written. That no deposed controller writes says little of a run in which none was
deposed, or none had anything to write. So a claim that is asked without it has an occasion here, which is counted; of
one that stands not here every answer is one.

PROTOCOL.md section 13 tells what the claims are there for.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from model_check.monitors import controllers, leadership, rest
from model_check.monitors.claims import Monitored
from model_check.monitors.contents import Assignment, Elected, State
from model_check.monitors.controllers import decides
from model_check.monitors.history import CONTROLLER, History, Write
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import NO_LEADER


class Occasion(NamedTuple):
    """What happens, as a clause without its subject's absence: "a broker comes back"; and how often it did."""

    what: str
    count: Callable[[History], int]


def _elections(history: History) -> int:
    """Elections after the first one."""
    return max(0, sum(isinstance(one.after, Elected) for one in history.of(CONTROLLER)) - 1)


def _of_the_deposed(history: History) -> int:
    """What brokers wrote, or tried to, that had been in office and were not any more."""
    return history.once(_deposed)


def _deposed(history: History) -> int:
    won = {one.author.broker: one.number for one in reversed(history.of(CONTROLLER)) if isinstance(one.after, Elected)}
    acts = [(one.author.broker, one.number) for one in history.writes if _is_a_controllers(one)]
    acts += [(one.author.broker, one.number) for one in history.refusals]
    return sum(b in won and won[b] < number and _owner(history, number) != b for b, number in acts)


def _owner(history: History, number: int) -> int | None:
    owner = history.office(number).owner
    return None if owner is None else owner.broker


def _is_a_controllers(write: Write) -> bool:
    """Whether only a controller writes so: a decision, or the assignment of a topic that is there."""
    return decides(write) or (isinstance(write.before, Assignment) and isinstance(write.after, Assignment))


def _states(history: History) -> Iterator[tuple[State, State]]:
    """Each change of a state znode: what it was and is."""
    for one in history.of_kind(paths.STATE):
        if isinstance(one.before, State) and isinstance(one.after, State):
            yield one.before, one.after


def _leaders_replaced(history: History) -> int:
    pairs = (pair for pair in _states(history) if NO_LEADER not in {one.leader for one in pair})
    return sum(before.leader != after.leader for before, after in pairs)


def _isrs_shrunk(history: History) -> int:
    return sum(not {*before.isr} <= {*after.isr} for before, after in _states(history))


def _replicas_gone(history: History) -> int:
    """Replicas that left AR by a broker's write, and topics that a broker deleted."""
    gone = 0
    for one in history.of_kind(paths.BROKER_TOPIC):
        if not one.author.is_members:
            continue
        if isinstance(one.before, Assignment) and isinstance(one.after, Assignment):
            after = one.after.replicas
            gone += sum(bool({*ids} - {*after.get(p, ())}) for p, ids in one.before.replicas.items())
        gone += one.is_delete
    return gone


def _brokers_back(history: History) -> int:
    """Registrations of brokers that had been registered."""
    created = [one.name for one in history.of_kind(paths.BROKER) if one.is_create]
    return len(created) - len(set(created))


DEPOSED: Final = Occasion("a deposed controller writes, or tries to", _of_the_deposed)
ELECTED: Final = Occasion("somebody is elected after another", _elections)
REPLACED: Final = Occasion("another leader is elected", _leaders_replaced)
SHRINKS: Final = Occasion("an ISR loses a member", _isrs_shrunk)
GOES: Final = Occasion("a replica has to go", _replicas_gone)
RETURNS: Final = Occasion("a broker comes back", _brokers_back)

OCCASIONS: Final[Mapping[Monitored, Occasion]] = {
    controllers.failovers_come_to_their_end: ELECTED,
    controllers.each_election_raises_the_epoch_by_one: ELECTED,
    controllers.one_term_acts_in_an_epoch: DEPOSED,
    controllers.only_the_latest_term_writes: DEPOSED,
    leadership.leader_epoch_never_goes_back: REPLACED,
    leadership.decisions_raise_the_leader_epoch_by_one: REPLACED,
    leadership.writers_epochs_never_go_back: DEPOSED,
    leadership.leaders_are_in_sync: REPLACED,
    leadership.isr_is_not_empty: SHRINKS,
    leadership.isr_is_within_assigned: GOES,
    leadership.leaders_are_assigned: GOES,
    rest.eventually_one_working_controller: ELECTED,
    rest.eventually_partitions_are_led: REPLACED,
    rest.eventually_leaders_can_lead: REPLACED,
    rest.eventually_live_replicas_are_informed: RETURNS,
    rest.eventually_live_brokers_know_the_leaders: RETURNS,
    rest.eventually_only_assigned_replicas_have_logs: GOES,
}
"""Of the claims that are asked without it, too."""
