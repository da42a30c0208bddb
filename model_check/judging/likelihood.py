"""How likely a move is that a search for an explanation has the choice of.

Unlikely is what only a slow process or an unlucky moment explains: a read made well before the write that depends on
it, an answer lost, a queue dropped that was still in use, a process that falls silent and lives on.
"""

from collections.abc import Mapping
from typing import Final

from model_check.judging.deliveries import Deliveries
from model_check.judging.on_demand import LEAVING
from model_check.judging.positions import DELIVERIES, Explained, Position
from model_check.recordings.processes import Handled, RequestHandled
from model_check.recordings.recording import Observed
from model_check.recordings.tracks import REPORTS, SKEW, Place, Tracks
from model_check.recordings.zookeeper import SessionEnded, StateWritten, WriteConflicted
from model_check.stepping.enabled import Candidate, place_of
from model_check.stepping.plain_state import PlainState, part
from spec.logs.controller_log.broker_changes import BrokerDifference
from spec.logs.controller_log.failover import Resigned, SessionExpired
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.protocol.broker_events.controlled_shutdown import (
    accept_shutdown,
    answer_shutdown,
    move_partition,
    refuse_shutdown,
)
from spec.protocol.broker_events.isr_notification import read_notification
from spec.protocol.brokers.processes import expire_session, expire_session_heard, fail_registration
from spec.protocol.controller.early_reads import read_for_listener, stop_deletions
from spec.protocol.controller.places import WHERE_LOCK_MAY_BE_FREE
from spec.protocol.controller.threads import skip_callback
from spec.protocol.elections.rebalance import rebalance_partition
from spec.protocol.leadership.partitions import read_for_election
from spec.protocol.leadership.replicas import read_for_removal
from spec.protocol.reassignment.phase_a import read_for_bump
from spec.protocol.reassignment.phase_b import read_for_move
from spec.protocol.requests.connections import deliver_deletion_unanswered, deliver_request_unanswered
from spec.protocol.requests.single_stops import deliver_stop_unanswered
from spec.state.elections import Leaving
from spec.state.enumerations import Callback

TAKE_THE_LOCK: Final = frozenset({move_partition.name, rebalance_partition.name})
"""What another thread than ZkClient's does first, having taken the lock; or it finds nothing to do and leaves it."""
READS_BEFORE_WRITES: Final = TAKE_THE_LOCK | {
    one.name for one in (read_for_election, read_for_removal, read_for_bump, read_for_move)
}
ANSWERS: Final = frozenset({accept_shutdown.name, refuse_shutdown.name})
EARLY: Final = frozenset({read_for_listener.name, stop_deletions.name})
"""What is mostly one with what the listener does first."""
UNANSWERED: Final = frozenset(
    one.name for one in (deliver_request_unanswered, deliver_stop_unanswered, deliver_deletion_unanswered)
)
HEARD, UNHEARD = expire_session_heard.name, expire_session.name
CALLBACKS: Final = list(Callback)


class Likelihood:
    """What is likely, as far as the recording tells what comes yet; deaths may have to be inferred."""

    def __init__(self, tracks: Tracks, deliveries: Deliveries, *, deaths_are_inferred: bool) -> None:
        self.tracks = tracks
        self.deliveries = deliveries
        self.deaths_are_inferred = deaths_are_inferred

    def is_likely(self, candidate: Candidate, at: Position, to: Position, one: Observed) -> bool:
        """Whether an action that shows what was observed next is likely what happened."""
        rule = candidate[0]
        if rule in DELIVERIES:
            assert isinstance(one, Handled)  # noqa: S101 - nothing else is explained by a delivery
            if isinstance(one, RequestHandled) and self.deliveries.skips_numbers(one, at):
                return False
            return rule not in UNANSWERED or self.deliveries.may_be_unanswered(one, at.place)
        b = candidate[1].get("b", 0)
        if rule in {HEARD, UNHEARD} and self._hears_of_its_end(at, b) != (rule == HEARD):
            return False
        if rule == UNHEARD and self.deaths_are_inferred and isinstance(one, SessionEnded) and not one.survived:
            return False  # a process that never gets another session is rather dead than paused
        return not to.is_cut_short and not self.deliveries.are_lost(at.state, to.state, at.place)

    def _hears_of_its_end(self, at: Position, c: int) -> bool:
        """Whether a controller acts on the end of its session before it says so, for no reason that it knew before.

        It has heard that its znodes are gone, as who is stopped may while its connection stands.
        """
        waiting = {CALLBACKS[one] for one in part(at.state, "controllers", c, "callbacks").values()}
        own = self.tracks.cluster.broker_ids[c - 1]
        for one in self.tracks.lines(at.place, c, REPORTS)[1]:
            match one.line:
                case SessionExpired():
                    return False
                case Resigned():
                    return Callback.CONTROLLER not in waiting
                case BrokerDifference(dead=dead) if own in dead and Callback.BROKERS not in waiting:
                    return True
        return False

    def is_by_itself(self, one: Observed, place: Place) -> bool:
        """Whether this was handled, once and answered, and nothing else near it depends on when: it can be taken first.

        What a broker made of a LeaderAndIsr bears on the next changes of these ISRs, by itself or by their leaders.
        """
        if not isinstance(one, RequestHandled) or self.deliveries.comes_again(one, place):
            return False
        near = self.tracks.transactions(place, one.time + SKEW)
        return not any(_may_depend_on(other, one) for other in near)

    def is_likely_at_once(self, at: Position, to: Position) -> bool:
        """Whether a hidden step is to be taken as soon as it can: it is not too early, and loses no requests."""
        assert to.step is not None  # noqa: S101 - a hidden step is a step
        if to.step.rule == fail_registration.name and not self.tracks.gives_up(at.place, to.step.parameters["b"]):
            return False
        if to.step.rule == skip_callback.name and self._runs_next(at, to.step.parameters):
            return False
        if to.step.rule == read_notification.name and self._tells_of_less(at, to):
            return False
        if to.step.rule == answer_shutdown.name and self._lets_one_go_that_asks_again(at, to):
            return False
        early = self._is_only_on_demand(to.step, to.state) and not to.step.observations
        early = early or self.tracks.are_of_the_next_session(at.place, to.step.observations)
        early = early or self.tracks.has_said_more(to.place, to.step.observations)
        early = early or self.tracks.registers_before(at.place, to.step.observations)
        if to.step.rule in READS_BEFORE_WRITES:
            early = early and not self.tracks.conflicts_next(at.place, to.step.parameters["c"])
        return not early and not to.is_cut_short and not self.deliveries.are_lost(at.state, to.state, at.place)

    def _runs_next(self, at: Position, skipped: Mapping[str, int]) -> bool:
        """Whether a controller says next that a listener runs of which the callback would be skipped."""
        _, lines = self.tracks.lines(at.place, skipped["c"], REPORTS)
        says = bool(lines) and isinstance(lines[0].line, NotificationsFound)
        return says and CALLBACKS[skipped["callback"]] is Callback.ISR_CHANGES

    def _tells_of_less(self, at: Position, to: Position) -> bool:
        """Whether a notification would be read that names more than its reader tells of next, whom another spares the
        deletion: it rather read it when it was gone.
        """
        assert to.step is not None  # noqa: S101 - a hidden step is a step
        c, n = to.step.parameters["c"], to.step.parameters["n"]
        named = {p for p, one in part(to.state, "controllers", c, "partitions").items() if one.get("todo")}
        return not named <= self.tracks.told_next(at.place, c) and self.tracks.next_deleter(at.place, n) != c

    def _lets_one_go_that_asks_again(self, at: Position, to: Position) -> bool:
        """Whether a broker has its answer and yet asks once more: the controller rather died before it answered."""
        assert to.step is not None  # noqa: S101 - a hidden step is a step
        b = to.step.parameters["b"]
        leaving = LEAVING[part(to.state, "processes", b).get("leaving", 0)]
        return leaving is Leaving.MAY_GO and self.tracks.asks_again(at.place, b)

    @staticmethod
    def _is_only_on_demand(step: Explained, after: PlainState) -> bool:
        """Whether a hidden step is better taken when what follows from it comes next."""
        if step.rule in TAKE_THE_LOCK:
            return place_of(after, step.parameters["c"]) not in WHERE_LOCK_MAY_BE_FREE
        return step.rule in READS_BEFORE_WRITES | ANSWERS | EARLY


def _may_depend_on(change: Observed, one: RequestHandled) -> bool:
    """Whether a leader changes, or fails to change, an ISR that a LeaderAndIsr is about; it may not tell which."""
    match change:
        case StateWritten(by_leader=True, partition=p) | WriteConflicted(of_leader=int(p)):
            return p in one.states
        case WriteConflicted(by=b):
            return bool(one.states) and b == one.broker
        case _:
            return False
