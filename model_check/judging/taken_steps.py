"""Taking an action of the specification: it is enabled, and shows exactly what was recorded next, or nothing.

An action may explain one observation of a sequence, and with it lines that its controller writes. Where it changes
ZooKeeper, or is handled by a broker, that must be what was observed; where nothing was, it must not.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from model_check.judging.deliveries import Deliveries
from model_check.judging.positions import DELIVERIES, BreakOff, Explained, Position
from model_check.judging.recorded_trees import agrees
from model_check.judging.writing import Writing, as_written, names_of
from model_check.recordings import seen
from model_check.recordings.recording import Cluster, Observed
from model_check.recordings.seen import ControllerSaid
from model_check.recordings.tracks import APART, LOGS, REPORTS, SKEW, STATE_CHANGES, UNLOCKED, Place, Tracks
from model_check.stepping.enabled import Candidate, is_of_another_thread
from model_check.stepping.open_system import NoRoom, OpenSystem, Step
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from model_check.stepping.said_lines import Expected
from spec.logs.controller_log.parts import Thread
from spec.logs.controller_request_lines import ControllerLine
from spec.protocol.brokers.processes import crash, end_orphaned_session, expire_session, expire_session_heard
from spec.protocol.deletion.thread import on_replica_deleted
from spec.protocol.requests.late_copies import leave_late_request
from spec.protocol.requests.single_stops import leave_late_stop

WITHOUT_THE_PROCESS: Final = frozenset(
    one.name
    for one in (end_orphaned_session, expire_session, expire_session_heard, crash, leave_late_request, leave_late_stop)
)
"""What happens to a process that is stopped, too."""


class Steps:
    """The steps of an open system, as far as they agree with the sequences of a recording."""

    def __init__(self, system: OpenSystem, cluster: Cluster, tracks: Tracks, deliveries: Deliveries) -> None:
        self.system = system
        self._names = names_of(cluster, system)
        self.tracks = tracks
        self.deliveries = deliveries
        self._state: PlainState = system.initial
        self._known: dict[tuple[Any, ...], Step | None] = {}
        """The steps that were looked for in the last state."""
        self.stopped_by_a_bound: dict[Place, str] = {}
        """Where a step was looked for that the specification would take, if it had room for what it does."""

    def step(self, at: Position, rule: str, parameters: Mapping[str, int]) -> Step | None:
        """The step of a rule; none where a bound stops it, which is remembered, or where its part is not in."""
        if self._state is not at.state:
            self._state, self._known = at.state, {}
        key = rule, *parameters.items()
        if key not in self._known:
            try:
                self._known[key] = self.system.step(at.state, rule, parameters) if rule in self.system.rules else None
            except NoRoom as stopped:
                self.stopped_by_a_bound[at.place] = str(stopped)
                return None
        return self._known[key]

    def says_nothing(self, at: Position, candidate: Candidate) -> bool:
        """Whether an action, if it is enabled, writes to no log what it would have to."""
        rule, parameters = candidate
        found = self.step(at, rule, parameters)
        if found is None:
            return True
        return not any(written.must_say for written in self._written(found, parameters.get("c", 0)).values())

    def _written(self, found: Step, c: int) -> Mapping[str, Writing]:
        """What a step writes to the logs of its controller."""
        if not found.said:
            return {}
        names, release = self._names, self.tracks.releases[c]
        assert release is not None  # noqa: S101 - who claims no release is not searched
        logs: dict[str, list[Expected]] = {log: [] for log in LOGS}
        for one in as_written(names.expected(found.said), release, names.broker_ids):
            is_change, unlocked = issubclass(one.kind, ControllerLine), getattr(one.kind, "unlocked", None)
            logs[STATE_CHANGES if is_change else UNLOCKED if unlocked else REPORTS].append(one)
        return {log: Writing(expected) for log, expected in logs.items()}

    def taken(
        self, at: Position, candidate: Candidate, number: int | None = None, *, unlogged: bool = False
    ) -> Position | None:
        """The position after an action, if it is enabled and shows exactly what was recorded next."""
        rule, parameters = candidate
        found = self.step(at, rule, parameters) if self.may_act(at, candidate) else None
        if found is None:
            return None
        after, events, _ = found
        one = None if number is None else self.tracks.sequences[number][at.place[number]]
        if one is None and ((rule in DELIVERIES and not unlogged) or not self._may_end(at, candidate)):
            return None
        shown = self._shown(at, after, events, one)
        if shown is None or (
            unlogged and rule in DELIVERIES and any(event.kind.startswith("refuse") for event in events)
        ):
            return None
        steps: dict[int, int] = {}
        observations: list[Observed] = []
        if number is not None:
            steps[number] = shown
            observations += self.tracks.sequences[number][at.place[number] :][:shown]
        broken_off: list[str] = []
        said: dict[str, list[ControllerSaid]] = {}
        for log, written in self._written(found, parameters.get("c", 0)).items():
            track, lines = self.tracks.track(log, parameters["c"]), self.tracks.lines(at.place, parameters["c"], log)
            count = written.taken(lines)
            if count is None:
                return None
            if track is None:
                continue
            steps[track], said[log] = count, lines[:count]
            observations += said[log]
            if count == len(lines) and written.is_cut_short(lines):
                broken_off.append(log)
        explained = Explained(rule, parameters, events, tuple(observations))
        place = self.tracks.after(at.place, steps)
        breaks_off = tuple(self._break_off(at, place, parameters["c"], log) for log in broken_off)
        silent = at.silent | {(one.controller, one.life) for one in breaks_off if one.goes_on}
        ended = at.ended | {one.key for one in breaks_off if one.lives_on}
        slow = at.slow if rule in DELIVERIES else at.slow - {parameters.get("c")}
        to = Position(after, place, at.stopped, at, explained, breaks_off, silent, ended, slow)
        return to if REPORTS not in said or self._is_in_order(at, to, candidate, said) else None

    def _is_in_order(
        self, at: Position, to: Position, candidate: Candidate, said: Mapping[str, Sequence[ControllerSaid]]
    ) -> bool:
        """Whether a step's lines stand in controller.log as they may.

        Those without the lock come before what is next to be written with it; others' are amid another thread's step.
        """
        rule, c, held = self.system.rules[candidate[0]], candidate[1]["c"], said[REPORTS]
        coming, left = self.tracks.lines(at.place, c, REPORTS), self.tracks.lines(to.place, c, UNLOCKED)
        is_hole = any(one.log == UNLOCKED for one in to.breaks_off) and len(coming) > len(held)
        if is_hole or any(one.number > other.number for one in said[UNLOCKED] for other in coming[:1]):
            return False
        others = {Thread.REQUESTS, *((Thread.EVENTS,) if is_of_another_thread(rule, at.state, to.state, c) else ())}
        amid = takewhile(lambda one: held and one.number < held[-1].number, left)
        return all(one.unlocked in others for one in amid)

    def _break_off(self, at: Position, place: Place, c: int, log: str) -> BreakOff:
        """How a controller breaks off in a log, with a step that leads from a position to a place."""
        return BreakOff(
            *self._life(at, c),
            log=log,
            after=self.tracks.last_line(place, c, log),
            goes_on=self.tracks.goes_on(at.place, place, c, log, APART),
            lives_on=self.tracks.lives_on(at.place, c, SKEW),
        )

    def may_act(self, at: Position, candidate: Candidate) -> bool:
        """Whether a step's process is not stopped, nor a controller that has broken off an earlier one in this life."""
        rule, parameters = candidate
        if at.stopped.intersection(parameters.values()) and rule not in WITHOUT_THE_PROCESS:
            of_controller = rule == on_replica_deleted.name
            if (parameters["c"] if of_controller else parameters.get("b", parameters.get("c", 0))) in at.stopped:
                return False
        if not at.silent or rule not in self.system.rules:
            return True
        by_controller = self.system.rules[rule].actor.startswith("controller")
        return not (by_controller and self._life(at, parameters["c"]) in at.silent)

    def _life(self, at: Position, c: int) -> tuple[int, int]:
        return c, self.tracks.life(at.place, c)

    def _may_end(self, at: Position, candidate: Candidate) -> bool:
        """A process that dies has nothing more to say."""
        return candidate[0] != crash.name or self.tracks.is_silent(at.place, candidate[1]["b"])

    def _shown(self, at: Position, after: PlainState, events: tuple[Seen, ...], one: Observed | None) -> int | None:
        """How many observations a step explains beside its controller's lines; None if it is not what was observed.

        It changes ZooKeeper, or handles a request, exactly as observed; where nothing was, it does not.
        """
        if isinstance(one, seen.Handled) and one.incarnation != self.tracks.life(at.place, one.broker):
            return None
        match one:
            case seen.ReplicaStopped() | seen.StopReplicaRefused():
                return self.deliveries.stopped(one, at.place, events)
            case seen.RequestHandled():
                is_so = self.deliveries.agrees(one, at, after, events)
            case seen.ProcessKilled():
                is_so = self._may_end(at, (crash.name, {"b": one.broker}))
            case seen.ControllerSaid():
                is_so = False
            case _:
                change = one if isinstance(one, seen.ZooKeeperChange) else None
                is_so = agrees(self.system.model, change, at.state, after, events)
        return 1 if is_so else None
