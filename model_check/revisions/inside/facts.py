"""What a revision's specification has, each a name and what is so: for two revisions to be laid beside each other.

Here is what is said once for all systems. What the terms of each system say is in `term_digests`.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from spec.defects import DEFECTS
from spec.expectations import plans
from spec.properties import claims
from spec.scopes import scope
from spec.system import rules
from spec.tables.taken_rows import ROWS
from spec.variants import VARIANTS, Switch

WORDS = "words"
"""The facts that hold digests of sentences end so."""


def facts() -> dict[str, str]:
    """Actions, claims, rows of the transition tables, switches, variants, defects and scopes."""
    return dict(_facts())


def _facts() -> Iterator[tuple[str, str]]:
    for rule in rules():
        cost = f", at the cost of one of {rule.budget}" if rule.budget else ""
        yield f"action {rule.name}", f"by {rule.actor}{_of(rule)}{cost}"
        yield f"action {rule.name} / {WORDS}", _digest(rule.statement, rule.source)
    for claim in claims():
        yield f"claim {claim.name}", f"{claim.kind}{_of(claim)}"
        yield f"claim {claim.name} / {WORDS}", _digest(claim.statement, claim.source)
    for name, row in ROWS.items():
        yield f"row {name}", f"{row.source} -> {row.target}"
    for switch in Switch:
        yield f"switch {switch.name}", " ".join(str(switch.value).split())
    for name, switches in VARIANTS.items():
        yield f"variant {name}", ", ".join(sorted(one.name for one in switches)) or "no switches"
    for defect in DEFECTS:
        yield f"defect {defect.id}", f"breaks {defect.breaks} in {defect.first_depth} steps of {defect.scope}"
    for plan in plans().values():
        yield from _bounds(plan.scope)


def _bounds(name: str) -> Iterator[tuple[str, str]]:
    """The bounds of a scope that are not the usual ones."""
    one = scope(name)
    yield f"scope {name}", _text(one.statement)
    for bound in fields(one):
        value = getattr(one, bound.name)
        if bound.name == "budgets":
            yield from ((f"scope {name} / budget {budget}", str(most)) for budget, most in value)
        elif bound.name not in ("name", "statement") and (bound.default is MISSING or value != bound.default):
            yield f"scope {name} / bound {bound.name}", _text(value)


def _of(one: Any) -> str:
    return f", of {_text(one.parts)}" if one.parts else ""


def _text(value: Any) -> str:
    """A value in one line, members of sets in order."""
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(_text, value))) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(value[key])}" for key in sorted(value)) or "none"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_text, value))}]"
    return " ".join(str(value).split())


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def systems() -> list[dict[str, Any]]:
    """The systems that are explored, with what the manifest expects of each."""
    return [
        {
            "scope": plan.scope,
            "variant": one.variant,
            "deep": plan.deep,
            "goals": plan.goals,
            "states": one.states,
            "broken": sorted(one.violated),
        }
        for plan in plans().values()
        for one in plan.explorations
    ]
