"""Where a search for an explanation is, how it came there, and whose doing each step was.

A position is a state and a place in the recording; it knows the step that led to it, so the way back from the last one
is the explanation. The actor matters where nothing goes on: only a choice of a process that bears on the dead end is
worth another try.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from model_check.recordings import seen
from model_check.recordings.recording import Observed
from model_check.recordings.tracks import Place
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from spec.language.rules import parameter_names, rules_of
from spec.protocol.broker_events import controlled_shutdown
from spec.protocol.requests import connections
from spec.protocol.requests.failed_deletions import deliver_failing_deletion
from spec.protocol.requests.late_copies import execute_late_copy, execute_late_request
from spec.protocol.requests.single_stops import deliver_stop, deliver_stop_unanswered

Actor: TypeAlias = tuple[str, int]
"""A broker in one of its two roles."""
CONTROLLER, BROKER = "controller", "broker"

DELIVERY: Final = connections.deliver_request, connections.deliver_request_unanswered
DELETION: Final = connections.deliver_deletion, connections.deliver_deletion_unanswered
FAILING: Final = (deliver_failing_deletion,)
SINGLE_STOP: Final = deliver_stop, deliver_stop_unanswered
"""How the request at the head of a queue is delivered: with its answer, or with that lost."""
OF_CHANNELS: Final = frozenset(one.name for one in (*DELIVERY, *DELETION, *FAILING, *SINGLE_STOP))
OF_DELETIONS: Final = frozenset(one.name for one in (*DELETION, *FAILING))
"""Requests whose answer a controller waits for."""
UNANSWERED: Final = frozenset(unanswered.name for _, unanswered in (DELIVERY, DELETION, SINGLE_STOP))
DELIVERIES: Final = OF_CHANNELS | {execute_late_copy.name, execute_late_request.name}
OF_A_SHUTDOWN: Final = frozenset(one.name for one in rules_of(controlled_shutdown) if "b" in parameter_names(one))
"""Steps of a controlled shutdown that touch the broker that asks, whosever they are."""


@dataclass(frozen=True)
class Explained:
    """A step of an explanation: an action (none where nothing happens), what is seen of it, what it explains."""

    rule: str
    parameters: Mapping[str, int]
    seen: tuple[Seen, ...]
    observations: tuple[Observed, ...]

    @property
    def actors(self) -> frozenset[Actor]:
        """Those whose step it is, or whom it touches."""
        if self.rule in DELIVERIES:
            told = {(CONTROLLER, self.parameters["c"])} if self.rule in OF_DELETIONS else set()
            return frozenset({(BROKER, self.parameters["b"])} | told)
        if "c" in self.parameters:
            asking = {(BROKER, self.parameters["b"])} if self.rule in OF_A_SHUTDOWN else set()
            named = {(CONTROLLER, self.parameters["c"])} | asking
        else:
            named = {(BROKER, self.parameters[name]) for name in ("b", "r") if name in self.parameters}
        return frozenset(named.union(*map(actors_of, self.observations)))

    @property
    def action(self) -> str:
        """The action's name, as in a system."""
        return f"{self.rule}({', '.join(f'{name}={value}' for name, value in self.parameters.items())})"


def actors_of(one: Observed) -> set[Actor]:
    """Whose doing an observation is, and on whom it depends."""
    match one:
        case seen.Handled(broker=b):
            return {(BROKER, b)} | ({(CONTROLLER, one.controller)} if isinstance(one, seen.RequestHandled) else set())
        case seen.StateWritten(by_leader=True, by=b, changed=changed):
            return {(BROKER, r) for r in {b, *changed}} if changed else set()
        case seen.NotificationCreated(by=b):
            return {(BROKER, b)}
        case (
            seen.SessionBegan(by=b) | seen.SessionEnded(by=b) | seen.WriteConflicted(by=b)
            | seen.ProcessKilled(broker=b) | seen.ProcessPaused(broker=b) | seen.ProcessStopping(broker=b)
        ):  # fmt: skip
            return {(CONTROLLER, b), (BROKER, b)}
        case _:
            controller = one.controller if isinstance(one, seen.ControllerSaid) else getattr(one, "by", 0)
            return {(CONTROLLER, controller)} if controller else set()


@dataclass(frozen=True)
class BreakOff:
    """A controller, in one of its lives, did not write to a log what its step writes, nor anything after that.

    `after` is the place of its last line there. The log was copied early, unless it `goes_on`: it has a line of a later
    life, or any that is later than clocks differ. Or the process died, unless it `lives_on`: so much longer than that.
    """

    controller: int
    life: int
    log: str
    after: str
    goes_on: bool
    lives_on: bool

    @property
    def key(self) -> tuple[int, int, str]:
        """Whose log of which life breaks off."""
        return self.controller, self.life, self.log


@dataclass(frozen=True, eq=False)
class Position:
    """Where a search is: the state, the place in the recording, who is stopped, and how it came here.

    `breaks_off`: in which logs this step is not written to its end. `silent`: which controllers, in which of their
    lives, have broken off in a log that goes on. A log has no hole, so they take no more steps. `ended`: the logs, of
    which lives of which controllers, that are known by now to end early. `slow`: which controllers do nothing unseen
    before what they do next is due.
    """

    state: PlainState
    place: Place
    stopped: frozenset[int] = frozenset()
    before: "Position | None" = None
    step: Explained | None = None
    breaks_off: tuple[BreakOff, ...] = ()
    silent: frozenset[tuple[int, int]] = frozenset()
    ended: frozenset[tuple[int, int, str]] = frozenset()
    slow: frozenset[int] = frozenset()

    @property
    def is_cut_short(self) -> bool:
        """Whether a controller did not write what this step writes, nor anything any more, although it lived on.

        A log ends once: what else is missing then follows from that.
        """
        known = self.before.ended if self.before is not None else ()
        return any(one.lives_on and one.key not in known for one in self.breaks_off)

    def way_back(self) -> "Iterator[tuple[Position, Explained, Position]]":
        """The steps up to here, the last one first, each with the positions before it and after it."""
        current = self
        while current.before is not None and current.step is not None:
            yield current.before, current.step, current
            current = current.before

    def path(self) -> "list[Position]":
        """All positions up to here, the first one first; that a thread takes its time is no step."""
        way = list(self.way_back())
        steps = [after for _, step, after in reversed(way) if step.rule or step.observations]
        return [way[-1][0] if way else self, *steps]


@dataclass(frozen=True, eq=False)
class Move:
    """A next position, and whether it is a likely one."""

    to: Position
    likely: bool
