"""Claims and lemmas, put to the test: whether an action keeps one, from any state in which others hold; whether all
states of a scope do.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache

from model_check.explicit_state.explorer import explore
from model_check.explicit_state.interpreter import Machine
from model_check.proofs.induction import TACTICS
from model_check.proofs.obligations import Clause, Step, Vocabulary, type_terms
from model_check.proofs.smtlib import decide
from model_check.terms.python_code import Raw
from spec.language.rules import Action, Property
from spec.lemmas import lemmas_of
from spec.model import Model
from spec.scopes import Scope, scope
from spec.system import system
from spec.variants import Switches
from tests.model_check.plain_exploration import explore_plainly
from tests.spec.on_demand import OnDemand


def false_somewhere(within: Scope, switches: Switches, candidates: Iterable[Property]) -> set[str]:
    """The candidates that some reachable state of the scope makes false."""
    found = explore(replace(system(within, switches), properties=tuple(candidates)), expected=100_000)
    assert found.exhausted
    return set(found.violated)


def false_in_few(within: Scope, switches: Switches, candidates: Iterable[Property]) -> set[str]:
    """The same of a scope with few states, by the interpreter: what it would take to compile, it takes to search."""
    machine, reached = _few(within, switches)
    holds = {one.name: machine.condition(one.term) for one in candidates if one.term is not None}
    return {name for name, is_so in holds.items() if not all(map(is_so, reached))}


@cache
def _few(within: Scope, switches: Switches) -> tuple[Machine, Collection[Raw]]:
    """All states of a scope; nothing is claimed of them, but by those who ask."""
    machine = Machine(OnDemand(within, switches).unclaimed())
    found = explore_plainly(machine.system)
    assert found.complete
    return machine, found.reached


@cache
def proof_of(scope_name: str, switches: Switches) -> "Proving":
    """What is proved of a scope of the manifest; it is made once."""
    return Proving(scope(scope_name), switches)


class Proving:
    """What is proved of a scope under a variant: its system without budgets, its lemmas and its properties."""

    def __init__(self, within: Scope, switches: Switches) -> None:
        self._system = OnDemand(within, switches, proving=True)
        self._lemmas = lemmas_of(Model(within, switches, proving=True))
        self._vocabulary = Vocabulary(self._system.variables)

    def action(self, name: str) -> Action:
        """The action of that name."""
        return self._system.action(name)

    def everything(self, action: str = "") -> dict[str, Property]:
        """All lemmas and all properties that a proof is about, by name; of steps what is said of this action's."""
        provable = [one for one in self._system.claims(action) if one.kind in {"always", "step"}]
        return {one.name: one for one in (*self._lemmas, *provable)}

    def keeps(self, action: Action, claimed: Property, known: Sequence[Property]) -> bool:
        """Whether a step of the action from any state in which all that is known holds keeps the claim."""
        step = Step(action, self._system.with_actions([action.name]), self._vocabulary)
        stated = [*type_terms(self._system.variables), *((one.name, one.term) for one in known if one.term is not None)]
        hypotheses = [clause for name, term in stated for clause in self._vocabulary.clauses(name, term)]
        goals: list[Clause] = step.claimed([claimed])
        if claimed.term is not None:
            own = self._vocabulary.clauses(claimed.name, claimed.term)
            hypotheses += own
            goals += step.after(own)
        assert goals
        text = step.question(hypotheses, goals, action.name).text
        result = decide(text, timeout_s=60, tactics=TACTICS).result
        assert result != "unknown"
        return result == "unsat"

    def needs(self, lemma: str, action: str, saved: str, *, without: Collection[str] = ()) -> bool:
        """Whether the action keeps what is to be saved with the lemma, and might not without it.

        All else that is said of states is known, but for what does not hold in the variant.
        """
        known, taken = self.everything(action), self.action(action)
        claimed = known.pop(saved)
        others = [one for name, one in known.items() if name not in {lemma, *without} and one.kind == "always"]
        kept = self.keeps(taken, claimed, [*others, known[lemma]])
        return kept and not self.keeps(taken, claimed, others)

    def breaks_without_update(self, action: str, forgets: str, claim: str, *, without: Collection[str] = ()) -> bool:
        """Whether the action keeps the claim, and no longer does when it forgets to write one variable."""
        known, taken = self.everything(action), self.action(action)
        claimed = known.pop(claim)
        always = [one for name, one in known.items() if name not in without and one.kind == "always"]
        assert forgets in taken.updates
        faulty = replace(taken, updates={name: term for name, term in taken.updates.items() if name != forgets})
        return self.keeps(taken, claimed, always) and not self.keeps(faulty, claimed, always)
