"""How likely a move is that a search for an explanation has the choice of.

Unlikely is what only a slow process or an unlucky moment explains: a read made well before the write that depends on
it, an answer lost, a queue dropped that was still in use, a process that falls silent and lives on.
"""

from collections.abc import Mapping
from itertools import islice
from math import inf
from typing import Final

from model_check.judging.deliveries import Deliveries
from model_check.judging.positions import DELIVERIES, UNANSWERED, Explained, Position
from model_check.judging.told_first import READS, ToldFirst
from model_check.judging.told_next import ToldNext
from model_check.recordings.recording import Observed
from model_check.recordings.seen import (
    ControllerDeleted,
    ControllerSaid,
    Handled,
    NotificationCreated,
    NotificationDeleted,
    ReplicaStopped,
    RequestHandled,
    SessionBegan,
    SessionEnded,
    StateWritten,
    WriteConflicted,
)
from model_check.recordings.tracks import LOGS, REPORTS, SKEW, STATE_CHANGES, UNLOCKED, Place, Tracks
from model_check.stepping.enabled import Candidate, place_of
from model_check.stepping.plain_state import PlainState, part
from spec.logs.controller_log.broker_changes import BrokerDifference
from spec.logs.controller_log.failover import Resigned, SessionExpired, SessionExpiredElectedAlready
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.logs.state_change_lines import ReplicaChanged, ReplicaChangeFailed
from spec.protocol.broker_events.controlled_shutdown import accept_shutdown, move_partition, refuse_shutdown
from spec.protocol.broker_events.isr_notification import on_isr_change, read_notification, report_isr_changes_before
from spec.protocol.brokers.processes import expire_session, expire_session_heard, fail_registration
from spec.protocol.controller.early_reads import read_for_listener, stop_deletions
from spec.protocol.controller.places import WHERE_LOCK_MAY_BE_FREE
from spec.protocol.controller.threads import skip_callback
from spec.protocol.elections.rebalance import rebalance_partition
from spec.protocol.failover.election import resign_delete
from spec.protocol.leadership.partitions import read_for_election
from spec.protocol.leadership.replicas import read_for_removal
from spec.protocol.reassignment.phase_a import read_for_bump
from spec.protocol.reassignment.phase_b import read_for_move
from spec.state.enumerations import At, Callback

TAKE_THE_LOCK: Final = frozenset({move_partition.name, rebalance_partition.name})
"""What another thread than ZkClient's does first, having taken the lock; or it finds nothing to do and leaves it."""
READS_BEFORE_WRITES: Final = TAKE_THE_LOCK | {
    one.name for one in (read_for_election, read_for_removal, read_for_bump, read_for_move)
}
WRITES: Final = frozenset({At.ONLINE_WRITE, At.REMOVE_WRITE, At.BUMP_WRITE, At.MOVE_WRITE})
ON_DEMAND: Final = READS_BEFORE_WRITES | {
    one.name for one in (accept_shutdown, refuse_shutdown, read_for_listener, stop_deletions)
}
"""Better taken when what follows comes next; the last two are mostly one with what the listener does first."""
ISR_CHANGES: Final = list(Callback).index(Callback.ISR_CHANGES)
SESSION_IS_OVER: Final = SessionExpired, SessionExpiredElectedAlready


class Likelihood:
    """What is likely, as far as the recording tells what comes yet; deaths may have to be inferred."""

    def __init__(self, tracks: Tracks, deliveries: Deliveries, *, deaths_are_inferred: bool) -> None:
        self.tracks = tracks
        self.deliveries = deliveries
        self.deaths_are_inferred = deaths_are_inferred
        self.told_first = ToldFirst(tracks, deliveries.system.model)
        self.told_next = ToldNext(tracks, deliveries.system.model)
        self._by_itself: dict[tuple[int, int], bool] = {}
        """What is known, by the observation, which the recording keeps, and by how many transactions are left."""

    def is_likely(self, candidate: Candidate, at: Position, to: Position, one: Observed) -> bool:
        """Whether an action that shows what was observed next is likely what happened."""
        rule, parameters = candidate
        if rule in DELIVERIES:
            assert isinstance(one, Handled)  # noqa: S101 - nothing else is explained by a delivery
            if isinstance(one, RequestHandled) and self.deliveries.skips_numbers(one, at):
                return False
            lost = self.deliveries.is_a_last_deletion(one, at.place) or self._closes_next(one, at, parameters["c"])
            return rule not in UNANSWERED or lost
        if (is_told := self._is_told_later(candidate, at, to, one)) is not None:
            return is_told
        if self._is_woken_later(at, to, parameters.get("c", 0)):
            return False
        is_last = isinstance(one, SessionEnded) and not one.survived
        if rule == expire_session.name and is_last and self.deaths_are_inferred:
            return False  # a process that never gets another session is rather dead than paused
        return not to.is_cut_short and not self.deliveries.are_lost(at.state, to.state, at.place)

    def _closes_next(self, one: Handled, at: Position, c: int) -> bool:
        """Whether this is a replica's deletion, and its controller says next that it has resigned.

        It closes its channels before it says so, with the lock held. The callback of the answer would have waited for
        that lock, and the controller for the callback (D50): the answer may be lost.
        """
        next_ones = self.tracks.lines(at.place, c, REPORTS)[:1]
        deletes = isinstance(one, ReplicaStopped) and one.delete
        return deletes and any(isinstance(closing.line, Resigned) for closing in next_ones)

    def _is_woken_later(self, at: Position, to: Position, c: int) -> bool:
        """Whether a controller that resigns says next that its listener on notifications runs, which nothing has woken.

        A resignation unsubscribes that listener, so the notification that wakes it comes, or goes, before.
        """
        was, now = (part(one.state, "controllers", c) for one in (at, to))
        if not was.get("active") or now.get("active"):
            return False
        next_ones = self.tracks.lines(to.place, c, REPORTS)[:1]
        waiting = now.get("callbacks", {}).values()
        return any(isinstance(one.line, NotificationsFound) for one in next_ones) and ISR_CHANGES not in waiting

    def _is_told_later(self, candidate: Candidate, at: Position, to: Position, one: Observed) -> bool | None:
        """Whether what a process shows later tells of something rare; None if an action and that have no bearing."""
        rule, parameters = candidate
        again = self._named_again(one, at.place) if isinstance(one, NotificationCreated) else frozenset()
        match rule:
            case expire_session_heard.name:
                return parameters["heard"] == 1 and self._hears_first(at, parameters["b"])
            case expire_session.name if self._hears_first(at, parameters["b"]):
                return False
            case expire_session.name if self._is_over_first(to, parameters["b"]):
                return False
            case report_isr_changes_before.name:
                return parameters["p"] in again
            case _:
                return False if again else None

    def _hears_first(self, at: Position, c: int) -> bool:
        """Whether a controller says, before it says that its session is over, what it does when it hears of that.

        That is that it has resigned; or how the brokers have changed, where nothing has shown it that before.
        """
        unaware = bool(part(at.state, "controllers", c, "watching").get("brokers"))
        kinds = (Resigned, BrokerDifference) if unaware else Resigned
        hears = (one.number for one in self.tracks.lines(at.place, c, REPORTS) if isinstance(one.line, kinds))
        ends = (one.number for one in self.tracks.lines(at.place, c, UNLOCKED) if isinstance(one.line, SESSION_IS_OVER))
        return next(hears, inf) < next(ends, 0)

    def _is_over_first(self, to: Position, c: int) -> bool:
        """Whether a controller says that its session is over before its listener on notifications runs, which waits.

        ZkClient's thread calls that listener first, where the event has reached it.
        """
        if ISR_CHANGES not in part(to.state, "controllers", c, "callbacks").values():
            return False
        listens = (one for one in self.tracks.lines(to.place, c, REPORTS) if isinstance(one.line, NotificationsFound))
        ends = (one for one in self.tracks.lines(to.place, c, UNLOCKED) if isinstance(one.line, SESSION_IS_OVER))
        over = next(ends, None)
        if over is None or NotificationsFound not in over.details:
            return False
        return over.number < next((one.number for one in listens), inf)

    def _named_again(self, one: NotificationCreated, place: Place) -> frozenset[int]:
        """The partitions of a notification that its leader's next one names, too, and has not written in between.

        Their last change was noted too late for this one.
        """
        written = set[int]()
        for other in islice(self.tracks.changes(place), 1, None):
            match other:
                case StateWritten(by=one.by, by_leader=True, partition=p):
                    written.add(p)
                case NotificationCreated(by=one.by, partitions=partitions):
                    return one.partitions & partitions - written
                case SessionBegan(by=one.by, first=True):
                    break
        return frozenset()

    def is_by_itself(self, one: Observed, place: Place) -> bool:
        """Whether this was handled, and nothing else near it depends on when: it can be taken first.

        What a broker made of a LeaderAndIsr bears on the next changes of these ISRs, by itself or by their leaders.
        """
        if not isinstance(one, RequestHandled):
            return False
        key = id(one), len(self.tracks.changes(place))
        if key not in self._by_itself:
            near = self.tracks.transactions(place, one.time + SKEW)
            self._by_itself[key] = not any(_may_depend_on(other, one) for other in near)
        return self._by_itself[key]

    def is_likely_at_once(self, at: Position, to: Position) -> bool:
        """Whether a hidden step is to be taken as soon as it can: it is not too early, and loses no requests."""
        assert to.step is not None  # noqa: S101 - a hidden step is a step
        if self.is_too_early(at, to) or self._is_woken_later(at, to, to.step.parameters.get("c", 0)):
            return False
        if self._is_due_later(at, to, to.step):
            return False
        early = self._is_only_on_demand(to.step, to.state) and not to.step.observations
        early = early and not isinstance(self._what_comes_of(at, to.step), WriteConflicted)
        early = early or self.tracks.is_late(to.place, to.step.observations)
        return not early and not to.is_cut_short and not self.deliveries.are_lost(at.state, to.state, at.place)

    def _is_due_later(self, at: Position, to: Position, step: Explained) -> bool:
        """Whether the next record of the process that takes a step shows that the step comes later, or not at all."""
        match step.rule:
            case fail_registration.name:
                return not self.tracks.gives_up(at.place, step.parameters["b"])
            case skip_callback.name:
                return self._runs_next(at, step.parameters)
            case move_partition.name:
                return self._tells_of_another(to, step.parameters)
            case resign_delete.name if not step.observations:
                return self._deletes_next(at, step.parameters["c"])
            case rule if rule in READS:
                return self.told_first.is_yet_to_come(to, step.parameters)
            case _:
                return self.told_next.is_yet_to_come(to, step)

    def _deletes_next(self, at: Position, c: int) -> bool:
        """Whether a broker that finds no /controller now deletes one before, by the clocks, it says anything more."""
        says = min((one.time for log in LOGS for one in self.tracks.lines(at.place, c, log)[:1]), default=inf)
        deleted = (one for one in self.tracks.changes(at.place) if isinstance(one, ControllerDeleted) and one.by == c)
        return any(one.time <= says for one in islice(deleted, 1))

    def _tells_of_another(self, to: Position, turn: Mapping[str, int]) -> bool:
        """Whether a controller says next what becomes of a replica of another partition than its shutdown turns to."""
        next_ones = (one.line for one in self.tracks.lines(to.place, turn["c"], STATE_CHANGES)[:1])
        told = (line.partition for line in next_ones if isinstance(line, ReplicaChanged | ReplicaChangeFailed))
        return any(one != self.tracks.cluster.partitions[turn["p"]] for one in told)

    def _runs_next(self, at: Position, skipped: Mapping[str, int]) -> bool:
        """Whether a controller says next that a listener runs of which the callback would be skipped."""
        next_ones = self.tracks.lines(at.place, skipped["c"], REPORTS)[:1]
        says = any(isinstance(one.line, NotificationsFound) for one in next_ones)
        return says and list(Callback)[skipped["callback"]] is Callback.ISR_CHANGES

    def is_too_early(self, at: Position, to: Position) -> bool:
        """Whether a controller reads what it is to write, which another writes before, and no write of its fails.

        Or it lists or reads a notification that is still there, and sends nothing of it: another deletes that before.
        """
        assert to.step is not None  # noqa: S101 - a read is a step
        if to.step.rule in {on_isr_change.name, read_notification.name}:
            return self._tells_nobody(at, to, to.step.parameters["c"])
        if to.step.rule in READS_BEFORE_WRITES and self._reads_what_is_written_later(at, to.step):
            return True
        leads_to_write = to.step.rule in READS_BEFORE_WRITES and place_of(to.state, to.step.parameters["c"]) in WRITES
        written = self._what_comes_of(at, to.step) if leads_to_write else None
        return isinstance(written, StateWritten) and written.partition == to.step.parameters["p"]

    def _reads_what_is_written_later(self, at: Position, read: Explained) -> bool:
        """Whether somebody writes a state znode again before a controller says, by the clocks, that it reads it."""
        said = [one.time for one in read.observations if isinstance(one, ControllerSaid)]
        written = self.tracks.transactions(at.place, min(said) - 1) if said else ()
        return any(isinstance(one, StateWritten) and one.partition == read.parameters.get("p") for one in written)

    def _tells_nobody(self, at: Position, to: Position, c: int) -> bool:
        """Whether a controller knows of changes of ISRs now, and does not say next that it tells of them.

        Those that it has only listed are another's, who deletes the next notification. If it sends nothing any more,
        although its log tells of what it sends, it tells of them only where it says nothing else any more, either.
        With a batch that an exception has left dirty the answer is no: it may know of them, and fail before it says so.
        """
        if part(at.state, "controllers", c).get("dirty"):
            return False
        knows = any(one.get("todo") for one in part(to.state, "controllers", c, "partitions").values())
        if part(to.state, "controllers", c).get("unread"):
            deleted = (one.by for one in self.tracks.changes(at.place) if isinstance(one, NotificationDeleted))
            knows = knows or next(deleted, c) != c
        if next_ones := self.tracks.lines(to.place, c, STATE_CHANGES)[:1]:
            line, epoch = next_ones[0].line, part(to.state, "controllers", c).get("epoch", 0)
            tells = isinstance(line, UpdateMetadataSending) and line.epoch == epoch
        else:
            tells = not (self.tracks.tells(c, STATE_CHANGES) and self.tracks.lines(to.place, c, REPORTS))
        return knows and not tells

    def _what_comes_of(self, at: Position, read: Explained) -> Observed | None:
        """The next write of whoever reads, or its failure, if another writes before that what is read."""
        if read.rule not in READS_BEFORE_WRITES:
            return None
        c, is_overtaken = read.parameters["c"], False
        for one in self.tracks.changes(at.place):
            match one:
                case StateWritten(by=by, by_leader=False) | WriteConflicted(by=by, of_leader=None) if by == c:
                    return one if is_overtaken else None
                case StateWritten(partition=p) if p == read.parameters["p"]:
                    is_overtaken = True
        return None

    @staticmethod
    def _is_only_on_demand(step: Explained, after: PlainState) -> bool:
        """Whether a hidden step is better taken when what follows from it comes next.

        What is read of a state znode for a removal leads to no write, whenever that is, once the znode is gone.
        """
        if step.rule in TAKE_THE_LOCK:
            return place_of(after, step.parameters["c"]) not in WHERE_LOCK_MAY_BE_FREE
        is_gone = step.rule == read_for_removal.name and not part(after, "zookeeper", "state", step.parameters["p"])
        return step.rule in ON_DEMAND and not is_gone


def _may_depend_on(change: Observed, one: RequestHandled) -> bool:
    """Whether a leader changes, or fails to change, an ISR that a LeaderAndIsr is about; it may not tell which."""
    match change:
        case StateWritten(by_leader=True, partition=p) | WriteConflicted(of_leader=int(p)):
            return p in one.states
        case WriteConflicted(by=b):
            return bool(one.states) and b == one.broker
        case _:
            return False
