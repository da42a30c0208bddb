"""A lemma about a failover that takes the replicas on dead brokers Offline (D15 fixed).

It does so between the starts of its two state machines, so what a partition is then matters to more than one action.
"""

from spec.language.rules import Facts, lemma
from spec.language.terms import both, either, flag
from spec.lemmas.controller import CLEAN, REMOVING, is_at
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import Handler
from spec.tables.partition_states import PartitionState


@lemma(
    source="PROTOCOL.md section 6; D4, D15 fixed", parts=("partitions", "dead_replicas"),
    where=lambda m: m.takes_the_dead_offline, fixed=CLEAN,
)  # fmt: skip
def no_partition_has_a_state_before_its_machine_starts(s: State, m: Model, c: int) -> Facts:
    """Nobody has a partition in a state without being active, or while its failover takes dead replicas Offline.

    While it does, it is at the removal of a replica from the ISR.
    """
    controller = s.controllers[c]
    taking = flag(controller.handler == Handler.STARTUP)
    yield taking.implies(is_at(controller, REMOVING))
    started = both(controller.active, ~taking)
    none = both(*(controller.partitions[p].state == PartitionState.NON_EXISTENT for p in m.partitions))
    yield either(started, none)
