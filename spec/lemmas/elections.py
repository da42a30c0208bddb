"""Lemmas about preferred elections and the automatic rebalance: what a controller has under way of them, and when."""

from spec.language.rules import lemma
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.variants import Switch


@lemma(
    source="PROTOCOL.md D13 fixed", parts=("preferred_election",), fixed=(Switch.RESIGN_CLEANS_UP, Switch.CLEAR_CONTEXT)
)
def new_controllers_have_no_election_under_way(s: State, m: Model, c: int, p: int) -> Value:
    """Before a failover has read the request for preferred elections its controller has none under way."""
    controller = s.controllers[c]
    comes = either(~controller.active, controller.at == At.READ_ELECTIONS)
    return ~both(comes, controller.electing[p])


@lemma(source="KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2", parts=("auto_rebalance",))
def only_active_controllers_rebalance(s: State, m: Model, c: int, p: int) -> Value:
    """Only an active controller has partitions to elect preferred leaders for."""
    return either(s.controllers[c].active, ~s.controllers[c].imbalanced[p])
