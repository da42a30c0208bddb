"""Which claims of the specification an explanation breaks: evaluated on its states and steps, as numbers.

`always` is asked of every state, `step` of every step; `eventually` only of states in which the cluster has come to
rest: nothing is on its way, nobody has anything left to do, except what leaves no trace in a recording, which may have
been done. Such are looked for before each fault, and at the end of a whole explanation. What has not come to be there
would never have, without that fault. Where processes are dead, it has to be so also once they were started again, and
all had come to rest anew. What unclean leader election costs is asked where some topic has it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from model_check.judging.asked_claims import AskedOfStates, AskedOfSteps
from model_check.judging.explaining import Explainer
from model_check.judging.not_asked import why_not_asked
from model_check.judging.positions import Position, actors_of
from model_check.recordings.seen import SessionEnded
from model_check.stepping.open_system import Taken
from model_check.stepping.plain_state import PlainState
from spec.language.rules import Claim
from spec.properties import claims
from spec.protocol.brokers.processes import crash, start_process


@dataclass(frozen=True)
class Broken:
    """A claim that does not hold: after how many steps first, and in how many states or steps.

    It `is_sure` if one of them does not depend on when a process died that nobody saw dying.
    """

    claim: Claim
    step: int
    count: int
    is_sure: bool = True


class BrokenClaims:
    """The claims of a model, asked of explanations; what two explanations share is asked once."""

    def __init__(self, explainer: Explainer) -> None:
        self.explainer = explainer
        model = explainer.system.model
        self.features = model.features | ({"unclean"} if explainer.cluster.unclean else set())
        self.asked = [one for one in claims() if not why_not_asked(one, self.features)]
        self._of_states: dict[tuple[str, int], AskedOfStates] = {}
        self._of_steps: dict[int, AskedOfSteps] = {}
        """By the model, which the system keeps."""
        self._known_at = cache(self._broken_at)
        self._known_at_rest = cache(self._broken_at_rest)
        self._rests: list[tuple[PlainState, frozenset[str]]] = []

    def broken(
        self, path: Sequence[Position], *, is_whole: bool, goes_on: Callable[[int], bool] = lambda _: True
    ) -> tuple[Broken, ...]:
        """The claims that a path from the start breaks, in the specification's order; `is_whole` if it explains all.

        `goes_on` is called with the number of steps of which they were asked, and says whether to ask them of the next.
        """
        failing: dict[str, list[int]] = {one.name: [] for one in self.asked}
        sure = set[str]()
        alive = self._surely_alive(path)
        for number, position in enumerate(path):
            here = self._known_at(position)
            ends = self._is_fault(path[number + 1]) if number + 1 < len(path) else is_whole
            at_rest = self._known_at_rest(position) if ends else frozenset()
            if here or at_rest:
                for name in (*here, *at_rest):
                    failing[name].append(number)
                sure |= here | at_rest if alive[number] else here
            if not goes_on(number):
                break
        broken = ((one, failing[one.name]) for one in self.asked if failing[one.name])
        return tuple(Broken(one, steps[0], len(steps), one.name in sure) for one, steps in broken)

    def _surely_alive(self, path: Sequence[Position]) -> list[bool]:
        """Whether, at each position, all processes that run are alive, and none has died without being seen to.

        Where nobody tells of a death, it is put off until something shows it. What the dead have left undone meanwhile
        is no promise that was broken.
        """
        alive, doubtful = [True] * len(path), set[int]()
        for number in reversed(range(len(path) if self.explainer.deaths_are_inferred else 0)):
            alive[number] = not doubtful
            step = path[number].step
            if step is not None and step.rule == crash.name:
                doubtful.add(step.parameters["b"])
            shown = step.observations if step is not None else ()
            doubtful -= {b for one in shown if not isinstance(one, SessionEnded) for _, b in actors_of(one)}
        return alive

    def _is_fault(self, position: Position) -> bool:
        """Whether the step to a position is a fault, or an admin's command."""
        rule = position.step.rule if position.step is not None else ""
        return bool(rule) and self.explainer.system.rules[rule].budget is not None

    def _broken_at_rest(self, position: Position) -> frozenset[str]:
        """The names of the `eventually` that do not hold in a state at rest; none where it is not at rest."""
        state = self.explainer.settled(position).state  # in which several explanations may come to rest
        known = next((names for other, names in self._rests if other == state), None)
        if known is not None:
            return known
        after, is_start = following(self.explainer, state)
        names = self._false_in("eventually", state) if is_start or after is None else frozenset()
        if names and after is not None:
            later = where_it_rests(self.explainer, after)
            names &= self._false_in("eventually", later) if later is not None else frozenset()
        self._rests.append((state, names))
        return names

    def _broken_at(self, position: Position) -> frozenset[str]:
        """The names of the claims that a state, if it is another than before, or the step to it, breaks."""
        is_new = position.before is None or position.state is not position.before.state
        in_state = self._false_in("always", position.state) if is_new else frozenset[str]()
        return in_state | self._broken_by_step(position)

    def _false_in(self, kind: str, state: PlainState) -> frozenset[str]:
        """The names of the claims of a kind that do not hold in a state."""
        model = self.explainer.system.model_for({}, state)
        if (kind, id(model)) not in self._of_states:
            self._of_states[kind, id(model)] = AskedOfStates(self._of_kind(kind), self.explainer.system.layout, model)
        return self._of_states[kind, id(model)].broken(state)

    def _broken_by_step(self, position: Position) -> frozenset[str]:
        if position.before is None or position.step is None or not position.step.rule:
            return frozenset()
        action, states = Taken(position.step.rule, position.step.parameters), (position.before.state, position.state)
        model = self.explainer.system.model_for(action.parameters, *states)
        if id(model) not in self._of_steps:
            self._of_steps[id(model)] = AskedOfSteps(self._of_kind("step"), self.explainer.system.layout, model)
        return self._of_steps[id(model)].broken(*states, action)

    def _of_kind(self, kind: str) -> list[Claim]:
        return [one for one in self.asked if one.kind == kind]


MOST_STEPS: Final = 500
"""The steps after which a cluster whose dead were started again is taken never to come to rest."""


def following(explainer: Explainer, state: PlainState) -> tuple[PlainState | None, bool]:
    """The state after a step of progress that changes something, and whether it is the start of a dead process.

    Such a start is what follows only where, faults aside, no process that runs has a step to take: the cluster rests.
    The state is empty where there is no room for the step, and None where there is none.
    """
    start = None
    for one, to in explainer.progress(state):
        if to != state and one.rule != start_process.name:
            return to, False
        if to != state and start is None:
            start = to
    return start, start is not None


def where_it_rests(explainer: Explainer, state: PlainState) -> PlainState | None:
    """Where a cluster comes to rest if whoever is dead is started.

    None if it does not, or if the specification has no room for what it does.
    """
    for _ in range(MOST_STEPS):
        after, _ = following(explainer, state) if state else (state, False)
        if after is None:
            return state
        if not after:
            return None
        state = after
    return None
