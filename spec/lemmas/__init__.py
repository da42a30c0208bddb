"""Lemmas: what is true of every reachable state and helps to prove the properties.

A property that a reader cares about is rarely *inductive*: it follows from the history, while induction looks at one
step from an arbitrary state in which the property holds. A lemma says what is true of the history. Each has one
sentence, stands beside the part that it speaks of, and is itself proved, together with all others; so a false lemma is
of no use, but does no harm.
"""

from collections.abc import Iterator

from spec.claims import delayed_operation as delayed_operation_claims
from spec.language.rules import Claim, Property, View
from spec.lemmas import (
    assigned_in_sync,
    controlled_shutdown,
    controller,
    dead_replicas,
    deleted_topic,
    deletion,
    elections,
    in_sync,
    leadership,
    partition_addition,
    reassignment,
    soft_failure,
)
from spec.model import Model
from spec.state.cluster import shape

MODULES = (
    controller, leadership, in_sync, reassignment, assigned_in_sync, elections,
    controlled_shutdown, partition_addition, deletion, deleted_topic, dead_replicas, soft_failure,
    delayed_operation_claims,
)  # fmt: skip


def declared() -> Iterator[Claim]:
    """Every lemma of the specification, as written."""
    for module in MODULES:
        yield from module.LEMMAS


def lemmas_of(m: Model) -> tuple[Property, ...]:
    """The lemmas about a model: its scope has the parts for them, and its variant the fixes that make them true."""
    view = View(shape(m), None)
    return tuple(_instances(m, view))


def _instances(m: Model, view: View) -> Iterator[Property]:
    for one in declared():
        if m.is_about(one.parts):
            value = one.function(view, m)
            if value is not None:
                yield Property(one.name, one.kind, one.statement, one.source, term=value.term)
