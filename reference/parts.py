"""What of the protocol the reference cluster does not have, or not as the specification has it."""

from spec.scopes import Scope
from spec.variants import AS_CODED, Switch, Switches

LACKING = frozenset({"delayed_operations"})
"""Parts. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""

RECREATION = "topic that comes again before its leadership is forgotten, as it is specified"
"""A topic that was removed by hand is created again, and its controller still has its leadership. The reference does as
Kafka: it asks for a leader of what is Online, finds no state znode, and tells the replicas the old leadership. The
specification leaves that out.
"""


def lacking(scope: Scope, switches: Switches = AS_CODED) -> str:
    """What a scope, under these switches, has and the reference cluster has not; empty if there is nothing."""
    comes_again = scope.budget("removals") and scope.budget("creations")
    unlike = [RECREATION] if comes_again and Switch.FORGET_THE_VANISHED not in switches else []
    return ", ".join([*sorted(scope.features & LACKING), *unlike])
