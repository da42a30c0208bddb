"""Facts of the specification and its manifest, each a name and what is so, as text that does not depend on any order.

A name begins with what the fact is about, as in `scope tiny / budget crashes`, so that sorted facts of one thing are
next to each other. Of what the manifest expects a line has the numbers, the broken and the open, and a digest of all
the rest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeAlias

from model_check.inventory.system_digests import digest_of_text
from model_check.judging.shipped_recordings import BROKEN, DEEP, LONG, POSSIBLY_BROKEN, archives_of
from spec.defects import DEFECTS, UNFOUND, Defect
from spec.expectations import Expectation, Plan, ProofExpectation
from spec.lemmas import declared
from spec.matrix_plans import MatrixPlan
from spec.properties import claims
from spec.scopes import Scope, scope
from spec.system import rules
from spec.tables.taken_rows import ROWS
from spec.variants import VARIANTS, Switch, show_switches

Fact: TypeAlias = tuple[str, str]


def text_of(value: Any) -> str:
    """A value in one line: members of sets in order, entries of tables by name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text_of(value[key])}".rstrip() for key in sorted(value)) or "none"
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(text_of, value))) or "none"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(text_of, value))}]"
    return " ".join(str(value).split())


def specification_facts() -> Iterator[Fact]:
    """Claims, lemmas, actions, rows of the transition tables, switches, variants and defects."""
    for claim in claims():
        shown = f", shown to occur by {claim.witness}" if claim.witness else ""
        yield f"claim {claim.name}", f"{claim.kind}{_of(claim.parts)}{shown}"
        yield f"claim {claim.name} / words", digest_of_text(claim.statement, claim.source)
    for lemma in declared():
        yield f"lemma {lemma.name}", f"{lemma.kind}{_of(lemma.parts)}"
        yield f"lemma {lemma.name} / words", digest_of_text(lemma.statement, lemma.source)
    for rule in rules():
        at = f", at the cost of one of {rule.budget}" if rule.budget else ""
        yield f"action {rule.name}", f"by {rule.actor}{_of(rule.parts)}{at}"
        yield f"action {rule.name} / words", digest_of_text(rule.statement, rule.source)
    for name, row in ROWS.items():
        yield f"row {name}", f"{row.source} -> {row.target}"
    for switch in Switch:
        yield f"switch {switch.name}", switch.value
    for name, switches in VARIANTS.items():
        yield f"variant {name}", text_of({one.name for one in switches})
    for defect in DEFECTS:
        yield f"defect {defect.id}", _defect(defect)
    for unfound in UNFOUND:
        yield f"defect {unfound.id}", "not found here"


def _of(parts: frozenset[str]) -> str:
    return f", of {text_of(parts)}" if parts else ""


def _defect(one: Defect) -> str:
    by = f" by {text_of(one.defining)}" if one.defining else ""
    where = f"{one.scope} {show_switches(one.base)}"
    return f"{where} breaks {one.breaks} in {one.first_depth} steps{by}; fixed by {one.remedy}"


def recording_facts() -> Iterator[Fact]:
    """The recordings that come along: when they are judged, what each must break, and what their archives hold."""
    for archive in archives():
        yield f"archive {archive.name}", hashlib.blake2b(archive.read_bytes(), digest_size=12).hexdigest()
    for name, broken in {**BROKEN, **LONG}.items():
        when = "with --deep" if name in DEEP or name in LONG else "every day"
        at_times = f"; at times {text_of(POSSIBLY_BROKEN[name])}" if name in POSSIBLY_BROKEN else ""
        yield f"recording {name}", f"judged {when}; breaks {text_of(broken)}{at_times}"


def archives() -> tuple[Path, ...]:
    """The archives that hold the recordings."""
    return tuple(sorted({file for name in (*BROKEN, *LONG) for file in archives_of(name)}))


def manifest_facts(plans: Iterable[Plan]) -> Iterator[Fact]:
    """Bounds, flags and expectations of each scope; and what a variant breaks in any of them."""
    plans = list(plans)
    for name in VARIANTS:
        explored = [one for plan in plans for one in plan.explorations if one.variant == name]
        yield f"variant {name} / breaks", text_of({claim for one in explored for claim in one.violated})
    for plan in plans:
        about = f"scope {plan.scope}"
        yield from ((f"{about} / {name}", told) for name, told in _bounds(scope(plan.scope)))
        when, goals = "with --deep" if plan.deep else "every day", "with" if plan.goals else "without"
        yield f"{about} / verified", f"{when}, {goals} goals"
        yield from ((f"{about} / explored {one.variant}", _explored(one)) for one in plan.explorations)
        yield from ((f"{about} / proved {one.variant}", _proved(one)) for one in plan.proofs)
        if plan.matrix is not None:
            yield f"{about} / matrix", f"controller {plan.matrix.controller}, after {text_of(plan.matrix.trigger)}"
            yield from ((f"{about} / matrix {one}", _matrix(plan.matrix, one)) for one in plan.matrix.expected)


def _bounds(one: Scope) -> Iterator[Fact]:
    """The bounds that are not the usual ones."""
    for bound in fields(Scope):
        value, usual = getattr(one, bound.name), bound.default
        if bound.name == "budgets":
            yield from ((f"budget {name}", str(limit)) for name, limit in value)
        elif bound.name not in ("name", "statement") and (usual is MISSING or value != usual):
            yield f"bound {bound.name}", text_of(value)


def _explored(one: Expectation) -> str:
    lists = (one.unwitnessed, one.never_fired, one.bounds_hit)
    rest = digest_of_text(one.digest, *map(text_of, (one.incomplete, *lists, one.rows)))
    return (
        f"{one.states:,} states, {one.transitions:,} transitions, depth {one.depth}; broken: {text_of(one.violated)};"
        f" open: {text_of(set(one.incomplete))}; {len(one.unwitnessed)} unwitnessed, {len(one.never_fired)} never"
        f" fired, {len(one.bounds_hit)} stopped by bounds; all in all {rest}"
    )


def _proved(one: ProofExpectation) -> str:
    rest = digest_of_text(text_of(one.incomplete), text_of(one.shown))
    return f"broken: {text_of(one.violated)}; open: {text_of(one.bounded)}; all in all {rest}"


def _matrix(plan: MatrixPlan, variant: str) -> str:
    cells = [f"{fault} {text_of(outcomes)}" for fault, outcomes in sorted(plan.expected[variant].items())]
    bad = sum(len(outcomes) for outcomes in plan.expected[variant].values())
    return f"{plan.places[variant]} places, {bad} outcomes that are no recovery; all in all {digest_of_text(*cells)}"
