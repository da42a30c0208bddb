"""Digests of a system, part by part, so that two of them that differ tell what moved.

`variables`, `actions`, `claims` and `rows` together cover what `kernel.system_digest` does: all that an engine can
notice; a proof has `lemmas`, too. `observations` and `words` are the rest: what observers see of each action; its
actor, what is said of it, and where Kafka does it; what is said of each claim, and its witness.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import z3

from model_check.kernel.system_digest import digest_of, effects, terms_of, written, written_terms
from spec.language.rules import Action, Observation, Property, TransitionSystem, Variable
from spec.lemmas import lemmas_of

BYTES = 6
"""So many bytes tell two contents apart that nobody chose on purpose to look alike."""


def short_digest(lines: Iterable[str], terms: Iterable[z3.ExprRef] = ()) -> str:
    """A digest for the inventory, of lines and terms in their order."""
    return digest_of(lines, written(terms), size=BYTES)


def digest_of_text(*lines: str) -> str:
    """A digest for the inventory, of words alone."""
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=BYTES).hexdigest()


def digests(system: TransitionSystem) -> Mapping[str, str]:
    """The digest of each part of a system by the part's name; where it is to be proved something of, of its lemmas."""
    actions, claims, terms = system.actions, system.properties, written_terms(system)
    lemmas = lemmas_of(system.model) if system.model is not None and system.model.proving else ()
    found = {
        "variables": short_digest(map(_variable, system.variables)),
        "actions": digest_of(map(_effect, actions), terms.actions, size=BYTES),
        "claims": digest_of(map(_claim, claims), terms.claims, size=BYTES),
        "rows": digest_of((f"{one.name} {sorted(one.taken)}" for one in actions), terms.rows, size=BYTES),
        "observations": short_digest(
            (f"{one.name}{[*map(_observation, one.events)]}" for one in actions),
            (term for one in actions for event in one.events for term in _seen(event)),
        ),
        "words": short_digest([*map(_words, actions), *(f"{one.statement} {one.source}" for one in claims)]),
    }
    if lemmas:
        found["lemmas"] = short_digest((one.name for one in lemmas), (term for one in lemmas for term in terms_of(one)))
    return found


def digest_of_actions(actions: Sequence[Action]) -> str:
    """The digest of when some actions may be taken, at whose cost, and what they change."""
    return short_digest(map(_effect, actions), (term for one in actions for term in effects(one)))


def digest_of_lines(actions: Sequence[Action]) -> str:
    """The digest of what some actions log: which lines, where, how surely, in which order, and what these hold."""
    return short_digest(
        (f"{one.name}{[*map(_observation, one.lines)]}" for one in actions),
        (term for one in actions for line in one.lines for term in _seen(line)),
    )


def _variable(one: Variable) -> str:
    return f"{one.name} {one.kind.name} {one.kind.width} {one.kind.maximum} {one.kind.unbounded} {one.initial}"


def _effect(one: Action) -> str:
    return f"{one.name} {one.budget} {sorted(one.updates)}"


def _claim(one: Property) -> str:
    return f"{one.name} {one.kind} {one.witness} {one.term is not None} {sorted(one.terms)}"


def _observation(event: Observation) -> str:
    kinds = [f"{name} {one.kind.name} {one.kind.maximum}" for name, one in sorted(event.fields.items())]
    return f"{event.role} {event.kind} {kinds}"


def _seen(event: Observation) -> Iterator[z3.ExprRef]:
    yield event.condition
    yield from (event.fields[name].term for name in sorted(event.fields))


def _words(action: Action) -> str:
    return f"{action.name} {action.rule} {action.actor} {action.statement} {action.source}"
