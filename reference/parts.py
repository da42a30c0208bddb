"""What of the protocol the reference cluster does not have (yet), though the specification has it."""

from spec.scopes import Scope
from spec.variants import AS_CODED, Switches

LACKING = frozenset({"delayed_operations"})
"""Parts, and faults. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope, switches: Switches = AS_CODED) -> str:
    """The parts of a scope, and the older behaviour, that the reference cluster does not have; empty if none."""
    del switches
    return ", ".join(sorted(scope.features & LACKING))
