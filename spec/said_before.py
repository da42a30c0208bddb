"""What rules and claims say of a scope, kept for its other variants: the same, where they ask for the same switches.

A variant is the same text with some switches on, and most rules ask for none of those. So what a rule made of a model
is kept with the switches that it asked for meanwhile, and a model that has the same of these on is given it again.
Nobody has to say which rule depends on which switch: a model notes what it is asked (`Model.noting`).
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

from spec.language.views import Place, View
from spec.model import Model
from spec.scopes import Scope
from spec.state.cluster import shape
from spec.variants import Switch, Switches

Found = TypeVar("Found")

SCOPES: Final = 2
"""So many scopes are kept, for their variants are mostly asked for one after the other."""


class SaidBefore:
    """What was said of models that are alike except for their switches, by whatever names it among all that is said."""

    def __init__(self) -> None:
        self._said: dict[object, list[tuple[frozenset[Switch], Switches, Any]]] = {}

    def said(self, m: Model, what: object, say: Callable[[], Found]) -> Found:
        """What is said of this model, which is what was said of one that has the same switches on as far as it says."""
        kept = self._said.setdefault(what, [])
        for asked, on, found in kept:
            if m.switches & asked == on:
                return found  # type: ignore[no-any-return]  # by one name is only what is of one type
        new, asked = m.noting(say)
        kept.append((asked, m.switches & asked, new))
        return new


class OfState(SaidBefore):
    """What is said of models that have the same state, and that state: its shape, its places, the view of them."""

    def __init__(self, m: Model) -> None:
        super().__init__()
        self.shape = shape(m)
        self.place = Place(self.shape)
        self.view = View(self.place, None)


def said_before(m: Model) -> OfState:
    """What was said of models with the scope, the features and the state of this one."""
    return _of_features(m.scope, m.features, m.proving).said(m, OfState, lambda: OfState(m))


def forget() -> None:
    """Say all anew from now on."""
    _of_features.cache_clear()


@lru_cache(maxsize=SCOPES)
def _of_features(_scope: Scope, _features: frozenset[str], _proving: bool) -> SaidBefore:
    return SaidBefore()
