"""Claims asked of one state after another: evaluated anew only where something that they read has changed.

A step changes little, and most of what a claim reads is the same in the next state: not only equal, but the very
record, since states share what a step leaves alone. So the views that a claim has read the last time tell whether it
would read the same again; then its verdict is the same, too. Only what it asks of the action, no view tells: a claim
that asks for that is asked of each step.
"""

from collections.abc import Callable, Mapping

from model_check.stepping.plain_state import Draft, PlainState
from spec.language.rules import Claim
from spec.model import Model


class Taken:
    """What a `step` claim asks of an action, its rule and parameters; and whether any has asked since it was told."""

    def __init__(self, rule: str, parameters: Mapping[str, int]) -> None:
        self._rule, self._parameters = rule, parameters
        self.was_asked = False

    @property
    def rule(self) -> str:
        """The action's rule."""
        self.was_asked = True
        return self._rule

    @property
    def parameters(self) -> Mapping[str, int]:
        """The action's parameters."""
        self.was_asked = True
        return self._parameters


class AskedAgain:
    """The last verdict of each claim under each model, with the views of the states that it has read for it."""

    def __init__(self, view: Callable[[PlainState], Draft]) -> None:
        self.view = view
        self._last: dict[tuple[str, int], tuple[Model, tuple[Draft, ...], bool]] = {}
        self._asking = set[str]()

    def holds(self, claim: Claim, model: Model, *states: PlainState, action: Taken | None = None) -> bool:
        """Whether a claim holds in a state, or of the step between two."""
        key = claim.name, id(model)
        if claim.name not in self._asking and key in self._last:
            _, views, verdict = self._last[key]
            if all(view.reads_the_same(state) for view, state in zip(views, states, strict=True)):
                return verdict
        views = tuple(map(self.view, states))
        if action is None:
            value = claim.function(*views, model)
        else:
            action.was_asked = False
            value = claim.function(*views, model, action)
            if action.was_asked:
                self._asking.add(claim.name)
        verdict = value is None or bool(value.raw)
        self._last[key] = model, views, verdict
        return verdict
