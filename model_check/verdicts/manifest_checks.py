"""The manifest as a whole: what no single scope can show.

A small scope leaves rules idle and premises without a witness, and its expectations say so. But a rule that is idle
everywhere, a `sometimes` that no scope shows, or a row of the transition tables that none takes checks nothing at all;
and what is not proved because it is said to be false must be shown to be false by some exploration. These are
comparisons of the manifest with itself, so they cost nothing, and hold of the specification as far as the explorations
of all scopes were verified.
"""

from collections.abc import Iterable, Iterator, Mapping

from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from spec.expectations import Expectation, Plan, plans
from spec.language.rules import Claim, Rule
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope
from spec.system import is_in_scope, rules
from spec.tables.taken_rows import ROWS


def check_manifest(given: Mapping[str, Plan]) -> Run:
    """The run that compares the expectations of all scopes with each other."""
    comparisons = tuple(_comparisons(given))
    return Run("manifest", "", "", worst(one.verdict for one in comparisons), comparisons=comparisons)


def manifest_compared() -> list[Run]:
    """The same as a check: of the manifest as it stands."""
    return [check_manifest(plans())]


def _comparison(about: str, expected: str, found: Iterable[str]) -> Comparison:
    """An expectation that is met by at least one of the places found."""
    places = sorted(found)
    verdict = Verdict.HOLDS if places else Verdict.VIOLATED
    return Comparison(about, expected, ", ".join(places) or "no scope", verdict)


def expects_rule(one: Expectation, rule: Rule) -> bool:
    """Whether a rule is expected to fire in an exploration."""
    return rule.name not in one.never_fired and is_in_scope(rule, Model(scope(one.scope), one.switches))


def expects_claim(one: Expectation, claim: Claim) -> bool:
    """Whether an exploration is expected to show a witness, or to judge another claim."""
    is_about = Model(scope(one.scope), one.switches).is_about(claim.parts)
    return is_about and claim.name not in {*one.unwitnessed, *one.incomplete}


def _comparisons(given: Mapping[str, Plan]) -> Iterator[Comparison]:
    """Every `sometimes` has a witness in some scope, every rule fires, every row of the transition tables is taken.

    Rows are taken by Kafka's code as it is; what is not to be proved is broken in an exploration of the same variant.
    """
    made = [one for plan in given.values() for one in plan.explorations]
    for claim in claims():
        if claim.kind == "sometimes":
            shown = {one.scope for one in made if expects_claim(one, claim)}
            yield _comparison(claim.name, "a witness in some scope", shown)
    for rule in rules():
        yield _comparison(rule.name, "enabled in some scope", {one.scope for one in made if expects_rule(one, rule)})
    for row in ROWS:
        takes = {one.scope for one in made if one.variant == "AS_CODED" and row in (one.rows or ())}
        yield _comparison(row, "taken in some scope, as coded", takes)
    for proof in (one for plan in given.values() for one in plan.proofs):
        for name in sorted(proof.violated):
            broken = {one.scope for one in made if one.variant == proof.variant and name in one.violated}
            broken |= {proof.shown[name]} if name in proof.shown else set()
            yield _comparison(f"{name} under {proof.variant}", "broken in some scope", broken)
