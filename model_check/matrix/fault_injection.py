"""One fault, put between two given effects of a handler: a system that has this fault and no other.

A handler of the controller begins when the controller lock is taken, or when there is something in hand for which it is
to be; it ends when the lock is free and nothing is in hand. What it does next is the controller's `at`, or one of the
*turns* that are left while the lock is free. A monitor beside the system says whether the handler has not begun, runs
or is over, and after the fault, before which effect it came (the *phase*); and it counts those turns, which makes no
state more. So one exploration tries a fault at every place, in every order in which the rest of the cluster may move,
and every state tells to which place it belongs.

The faults: `crash` kills the process. `session_loss` ends its session, and the client makes a new one before anybody
else moves: the handler goes on, and hears of that end afterwards. `pause` ends the session, and the process does
nothing until another controller works; then it goes on where it was: the zombie.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model_check.explicit_state.interpreter import Machine
from model_check.terms.straight_line import evaluate
from model_check.traces.trace import State, Trace
from spec.claims.goals import works
from spec.errors import BadInput
from spec.language.rules import Action, TransitionSystem, Variable, View, leaves
from spec.language.terms import FLAG, Value, both, choose, either, enumeration, flag, number, same
from spec.language.views import Frame
from spec.model import Model
from spec.protocol.brokers.processes import crash, end_orphaned_session, expire_session, renew_session, start_process
from spec.protocol.controller.threads import turns_left
from spec.state.cluster import shape
from spec.state.enumerations import At

LAST = "OVER"
"""The place behind the last effect."""
BETWEEN = "BETWEEN_"
"""How the places are called at which the lock is free and turns are left, without their number."""


def place_named(at: str, left: int) -> str:
    """The place of a handler that runs: what it does next, unless the lock is free and some turns are left."""
    return f"{BETWEEN}{left}" if left else at


def turns_left_at(place: str) -> int:
    """How many turns are left at a place where the lock is free; 0 if it is no such place."""
    return int(place.removeprefix(BETWEEN)) if place.startswith(BETWEEN) else 0


def what_comes_next(place: str) -> str:
    """What the handler is about to do at a place, in words."""
    if place == LAST:
        return "nothing: it has given the lock back"
    left = turns_left_at(place)
    if left:
        return f"take the lock again, which is free: {left} {'turn is' if left == 1 else 'turns are'} left"
    return At[place].value


def at_or_before(place: str) -> str:
    """Where a fault comes that comes to a place: before an effect, or at a moment between two turns."""
    return f"at {place}" if turns_left_at(place) else f"before {place}"


PHASE, TURNS = "monitor.phase", "monitor.turns"
MONITOR = (PHASE, TURNS)
WAITING, RUNNING, OVER, PAST = 0, 1, 2, 3
"""The handler has not begun; it runs; it is over; the controller is at something else.

Then, for each place, two: the fault has begun there, and is done.
"""

RULES = {"crash": crash.name, "session_loss": expire_session.name, "pause": expire_session.name}
"""The rule of each fault."""
OUTSIDE = {crash.name, expire_session.name, end_orphaned_session.name}
"""Rules about a process that are not steps of its own."""


@dataclass(frozen=True)
class Injection:
    """A fault of a controller's process, and the places of its handler; OVER is the last of them."""

    fault: str
    controller: int
    places: tuple[str, ...]

    def phase(self, place: int, *, done: bool) -> int:
        """The phase in which the fault has begun, or is done, at a place."""
        return PAST + 1 + 2 * place + done

    @property
    def phases(self) -> int:
        """How many phases there are."""
        return PAST + 1 + 2 * len(self.places)


def triggered(built: TransitionSystem, trigger: Sequence[str]) -> Trace:
    """From the initial state by the steps of a trigger; BadInput says which of them cannot be taken."""
    machine = Machine(built)
    steps: list[tuple[str | None, State]] = [(None, machine.unpack(machine.initial))]
    for name in trigger:
        kind, _, awaited = name.partition(" ") if name.startswith("until ") else (name, "", "")
        for action in _settling(machine, steps, awaited) if kind in ("settle", "until") else iter([name]):
            after = dict(_enabled(machine, steps[-1][1])).get(action)
            if after is None:
                raise BadInput(f"{built.name}: {action} of the trigger cannot be taken after {len(steps) - 1} steps")
            steps.append((action, after))
    return Trace(tuple(steps))


def _enabled(machine: Machine, state: State) -> Iterator[tuple[str, State]]:
    yield from ((name, machine.unpack(after)) for name, after in machine.enabled(machine.pack(state)).items())


def _settling(machine: Machine, steps: Sequence[tuple[str | None, State]], awaited: str) -> Iterator[str]:
    """One step of progress after the other, none of them the start of a process, until none or the awaited is left."""
    progress = [one.name for one in machine.system.actions if one.budget is None and one.rule != start_process.name]
    while True:
        enabled = dict(_enabled(machine, steps[-1][1]))
        names = [name for name in progress if enabled.get(name, steps[-1][1]) != steps[-1][1]]
        if awaited in names or not names:
            return
        yield names[0]


def injected(built: TransitionSystem, m: Model, start: Mapping[str, int], one: Injection) -> TransitionSystem:
    """The system from a state in which the handler is about to begin, with the fault and no other, and the monitor."""
    monitor = Monitor(m, one)
    turns = int(evaluate(monitor.turns_now.term, start))
    begins = RUNNING if turns or start[monitor.at_name] != enumeration(At).encode(At.IDLE) else WAITING
    variables = tuple(Variable(v.name, v.kind, start[v.name]) for v in built.variables)
    actions = {action.name: monitor.watched(action) for action in built.actions if monitor.may_happen(action)}
    claims = tuple(
        replace(one, terms={name: term for name, term in one.terms.items() if name in actions})
        for one in built.properties
        if one.kind != "sometimes"
    )
    return replace(
        built,
        variables=(*variables, Variable(PHASE, monitor.kind, begins), Variable(TURNS, monitor.turns.kind, turns)),
        actions=tuple(actions.values()),
        properties=claims,
    )


class Monitor:
    """The phase, the turns left (0 unless the handler runs and the lock is free), and how each action moves them."""

    def __init__(self, m: Model, one: Injection) -> None:
        self.m, self.one = m, one
        self.shape = shape(m)
        self.kinds = {leaf.name: leaf.kind for leaf in leaves(self.shape)}
        self.kind = number(one.phases - 1, "phase")
        self.phase = self.kind.variable(PHASE)
        self.at_name = f"controllers[{one.controller}].at"
        self.at = enumeration(At).variable(self.at_name)
        view: Any = View(self.shape, None)
        self.turns_now = self._turns(view)
        self.turns = self.turns_now.kind.variable(TURNS)
        self.succeeded = either(*(works(view, d) for d in m.controllers if d != one.controller))

    def may_happen(self, action: Action) -> bool:
        """Whether an action is one of progress, or the fault itself."""
        return action.budget is None or self.is_fault(action)

    def is_fault(self, action: Action) -> bool:
        """Whether an action is the fault."""
        is_mine = action.parameters.get("b") == self.one.controller
        return is_mine and action.rule == RULES.get(self.one.fault)

    def watched(self, action: Action) -> Action:
        """The action, with what it does to the phase, and where it may not be taken."""
        if self.is_fault(action):
            allowed, phase = either(self.phase == RUNNING, self.phase == OVER), self._after_fault()
        else:
            allowed, phase = self._allowed(action), self._after(action)
        guard = both(FLAG.of(action.guard), allowed)
        updates = {**action.updates, PHASE: phase.term}
        turns = self._turns_after(action)
        if not (same(phase.term, self.phase.term) and same(turns.term, self.turns_now.term)):
            updates[TURNS] = choose(phase == RUNNING, turns, 0).term
        return replace(action, guard=guard.term, overflow=both(FLAG.of(action.overflow), allowed).term, updates=updates)

    def _turns(self, s: Any) -> Value:
        """How many turns are left, if the lock is free."""
        c = self.one.controller
        return choose(s.controllers[c].at == At.IDLE, turns_left(s, self.m, c), 0)

    def _turns_after(self, action: Action) -> Value:
        """The same, after an action."""
        frame = Frame()
        frame.values = {name: self.kinds[name].of(term) for name, term in action.updates.items()}
        return self._turns(View(self.shape, frame))

    def _is_at(self, place: str) -> Value:
        """Whether the handler runs and is at a place."""
        left = turns_left_at(place)
        return both(self.phase == RUNNING, self.turns == left if left else both(self.turns == 0, self.at == At[place]))

    def _after_fault(self) -> Value:
        """The phase of the place where the fault comes."""
        done = self.one.fault == "crash"
        phase = self.kind.constant(self.one.phase(len(self.one.places) - 1, done=done))
        for place, name in enumerate(self.one.places[:-1]):
            phase = choose(self._is_at(name), self.kind.constant(self.one.phase(place, done=done)), phase)
        return phase

    @property
    def _pending(self) -> Value:
        """The fault has begun and is not done: a session to be renewed, or a process that stands still."""
        phases = (self.one.phase(place, done=False) for place in range(len(self.one.places)))
        return either(*(self.phase == phase for phase in phases))

    def _is_own(self, action: Action) -> bool:
        mine = self.one.controller in (action.parameters.get("c"), action.parameters.get("b"))
        return mine and action.rule not in OUTSIDE

    def _allowed(self, action: Action) -> Value:
        if self.one.fault == "session_loss" and action.rule != renew_session.name:
            return ~self._pending
        if self.one.fault == "pause" and self._is_own(action):
            return either(~self._pending, self.succeeded)
        return flag(True)

    def _after(self, action: Action) -> Value:
        """A step that ends a pending fault, or begins or ends the handler, moves the phase."""
        phase = self.phase
        if self.one.fault in ("session_loss", "pause") and self._is_own(action):
            phase = choose(self._pending, phase.plus(1), phase)
        turns = self._turns_after(action)
        if self.at_name in action.updates or not same(turns.term, self.turns_now.term):
            at = Value(self.at.kind, action.updates.get(self.at_name, self.at.term))
            rests = both(at == At.IDLE, turns == 0)
            begun = self.kind.constant(OVER) if self.at_name in action.updates else phase
            moved = choose(rests, choose(self.phase == WAITING, begun, OVER), RUNNING)
            left = choose(rests, phase, PAST)
            phase = choose(self.phase <= RUNNING, moved, choose(self.phase == OVER, left, phase))
        return phase
