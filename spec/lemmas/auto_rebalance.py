"""Lemmas about the automatic rebalance: whose thread it is."""

from __future__ import annotations

from spec.claims import claims_of
from spec.language.rules import claim
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.state.cluster import State


@claim("always", source="KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2", parts=("auto_rebalance",))
def only_active_controllers_rebalance(s: State, m: Model) -> Value:
    """Only an active controller has partitions to elect preferred leaders for."""
    controllers = [s.controllers[c] for c in m.controllers]
    return both(*(either(one.active, ~one.imbalanced[p]) for one in controllers for p in m.partitions))


LEMMAS = claims_of(__name__)
