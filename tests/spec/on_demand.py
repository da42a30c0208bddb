"""A system of which only that is made that a test asks for: few questions need all of its actions.

The terms are those of `spec.system.system`, made by the same rules and claims from the same text, which
`tests/spec/test_on_demand.py` compares.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from spec.errors import UnknownName
from spec.language.assembly import of_states, of_steps_named, said_of_step
from spec.language.rules import Action, Claim, Property, Rule, TransitionSystem, View, instantiate, leaves
from spec.model import Model
from spec.properties import claims
from spec.scopes import Scope
from spec.state.cluster import shape
from spec.state.start import running
from spec.system import instances, is_in_scope, rules
from spec.variants import AS_CODED, Switches


def by_name(rules_: Iterable[Rule], m: Model) -> Mapping[str, tuple[str, Mapping[str, int]]]:
    """Every action that some rules have in a model, by its name: its rule's name, and the parameters."""
    every = ((rule.name, dict(one)) for rule in rules_ for one in instances(rule, m))
    return {f"{name}({', '.join(f'{key}={value}' for key, value in one.items())})": (name, one) for name, one in every}


class OnDemand:
    """A scope under some switches."""

    def __init__(self, bounds: Scope, switches: Switches = AS_CODED, *, proving: bool = False) -> None:
        self.model = Model(bounds, switches, proving)
        self._shape = shape(self.model)
        self._before = View(self._shape, None)
        self.variables = tuple(leaves(self._shape)) if bounds.cold or proving else running(self.model, self._shape)
        self._claims = {one.name: one for one in claims() if self.model.is_about(one.parts)}
        self._rules = {rule.name: rule for rule in rules() if is_in_scope(rule, self.model)}
        self._made: dict[str, tuple[Action, View]] = {}
        self._about: dict[tuple[str, str], Property] = {}

    @cached_property
    def _parameters(self) -> Mapping[str, tuple[str, Mapping[str, int]]]:
        return by_name(self._rules.values(), self.model)

    @property
    def names(self) -> Iterable[str]:
        """Of all actions that there are, made or not, in the system's order."""
        return self._parameters.keys()

    def action(self, name: str) -> Action:
        """The action of that name."""
        return self._action(name)[0]

    def _action(self, name: str) -> tuple[Action, View]:
        if name not in self._made:
            rule, parameters = self._parameters[name]
            self._made[name] = instantiate(self._rules[rule], self._shape, self.model, parameters)
        return self._made[name]

    def claim(self, name: str, step: str = "") -> Property:
        """The claim of that name; one about steps says only what it says of this step."""
        if name not in self._claims:
            raise UnknownName("property", name, self._claims)
        if (name, step) not in self._about:
            self._about[name, step] = self._made_of(self._claims[name], step)
        return self._about[name, step]

    def _made_of(self, claim: Claim, step: str) -> Property:
        if claim.kind != "step":
            return of_states(claim, self._before, self.model)
        said = said_of_step(claim, self._before, self._action(step)[1], self.model, self.action(step)) if step else None
        return of_steps_named(claim, {} if said is None else {step: said})

    def claims(self, step: str = "") -> Iterator[Property]:
        """All claims, those about steps as far as they are about this one."""
        for name, one in self._claims.items():
            yield self.claim(name, step if one.kind == "step" else "")

    def with_actions(self, names: Sequence[str]) -> TransitionSystem:
        """The system as if it had these actions only, and no claims."""
        actions = tuple(self.action(name) for name in names)
        return TransitionSystem(self.model.scope.name, self.variables, actions, (), self.model)

    def unclaimed(self) -> TransitionSystem:
        """The system with all of its actions, of which nothing is claimed: a search asks nothing of its states."""
        return self.with_actions([*self.names])
