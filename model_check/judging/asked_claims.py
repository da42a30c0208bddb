"""Claims asked of one state, or step, after the other: each of its choices by itself, and again only if it is due.

What a claim says of a partition or a replica follows from the numbers that it reads, and few of them are others after a
step. So a choice is asked again only where one of them is (`stepping/watched_state.py`), and what is broken otherwise
stays so. The states may come in any order, as those of several explanations do.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from model_check.stepping.open_system import Taken
from model_check.stepping.plain_modules import holds
from model_check.stepping.plain_rules import plain_claims
from model_check.stepping.plain_state import EMPTY, Layout, PlainState
from model_check.stepping.watched_state import Asked, Watch, Watched, WatchedAction
from spec.language.rules import Claim
from spec.model import Model

Choice: TypeAlias = Mapping[str, int]


def _asked(claim: Claim, model: Model, watch: Watch, views: tuple[Watched, ...], own: Choice) -> Asked[Choice]:
    """For which choices a claim is broken in some views, with its parameters that are the action's own."""
    plain = plain_claims()[claim.name].function

    def is_broken(chosen: Choice) -> bool:
        return not all(map(holds, plain.facts(*views, model, **own, **chosen)))

    return Asked(watch, model.choices(claim.function.each), is_broken, remembers=claim.kind != "step")


class AskedOfStates:
    """Claims of a state by one model."""

    def __init__(self, claims: Iterable[Claim], layout: Layout, model: Model) -> None:
        watch = Watch()
        self._view = Watched(layout, EMPTY, watch)
        about = (one for one in claims if one.function.takes(model, None) is not None)
        self._asked = [(one.name, _asked(one, model, watch, (self._view,), {})) for one in about]

    def broken(self, state: PlainState) -> frozenset[str]:
        """The names of those that do not hold in a state."""
        self._view.follow(state)
        return frozenset(name for name, asked in self._asked if asked.holding())


class AskedOfSteps:
    """Claims of a step by one model.

    Those that tell rules apart are asked for each rule by itself, since another rule would make all of them due. All
    others are asked for the rules together that have parameters of the same names.
    """

    def __init__(self, claims: Iterable[Claim], layout: Layout, model: Model) -> None:
        self._claims = tuple(claims)
        self._model = model
        self._watch = Watch()
        self._before, self._after = (Watched(layout, EMPTY, self._watch) for _ in range(2))
        self._actions: dict[tuple[str, ...], WatchedAction] = {}
        self._asked: dict[tuple[object, ...], Asked[Choice]] = {}
        self._of_actions: dict[tuple[object, ...], list[tuple[str, Asked[Choice]]]] = {}

    def broken(self, before: PlainState, after: PlainState, action: Taken) -> frozenset[str]:
        """The names of those that a step breaks."""
        self._before.follow(before)
        self._after.follow(after)
        names = tuple(action.parameters)
        if names not in self._actions:
            self._actions[names] = WatchedAction(self._watch)
        self._actions[names].follow(action.rule, action.parameters)
        key = action.rule, *action.parameters.values()
        if key not in self._of_actions:
            self._of_actions[key] = list(self._about(action, names))
        return frozenset(name for name, asked in self._of_actions[key] if asked.holding())

    def _about(self, action: Taken, names: tuple[str, ...]) -> Iterator[tuple[str, Asked[Choice]]]:
        """The claims that say anything of an action, each with what is asked of it and of others like it."""
        shared: Any = self._actions[names]
        of_rule: Any = Taken(action.rule, shared.parameters)
        for claim in self._claims:
            takes = claim.function.takes(self._model, action)
            if takes is not None:
                watched, like = (of_rule, action.rule) if claim.function.tells_rules_apart else (shared, names)
                key = claim.name, *(like if one is action else one for one in takes.values())
                if key not in self._asked:
                    own = {name: watched if one is action else one for name, one in takes.items()}
                    views = self._before, self._after
                    self._asked[key] = _asked(claim, self._model, self._watch, views, own)
                yield claim.name, self._asked[key]
