"""Lemmas about preferred elections and the automatic rebalance: what a controller has under way of them, and when."""

from spec.claims import claims_of
from spec.language.rules import Facts, claim
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.variants import Switch


@claim("always", source="PROTOCOL.md D13 fixed", parts=("preferred_election",))
def new_controllers_have_no_election_under_way(s: State, m: Model) -> Facts:
    """Before a failover has read the request for preferred elections its controller has none under way."""
    if not (m.fixes(Switch.RESIGN_CLEANS_UP) and m.fixes(Switch.CLEAR_CONTEXT)):
        return
    for c in m.controllers:
        controller = s.controllers[c]
        comes = either(~controller.active, controller.at == At.READ_PREFERRED)
        yield from (~both(comes, controller.electing[p]) for p in m.partitions)


@claim("always", source="KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2", parts=("auto_rebalance",))
def only_active_controllers_rebalance(s: State, m: Model) -> Value:
    """Only an active controller has partitions to elect preferred leaders for."""
    controllers = [s.controllers[c] for c in m.controllers]
    return both(*(either(one.active, ~one.imbalanced[p]) for one in controllers for p in m.partitions))


LEMMAS = claims_of(__name__)
