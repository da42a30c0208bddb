"""What of the protocol the reference cluster does not have (yet), though the specification has it."""

from spec.scopes import Scope
from spec.variants import AS_CODED, Switches

LACKING = frozenset({"delayed_operations", "removals", "state_removals", "slow_notes"})
"""Parts, and faults. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope, switches: Switches = AS_CODED) -> str:
    """The parts of a scope, and the older behaviour, that the reference cluster does not have; empty if there is none.

    It is a controller of 0.10.2: it has what later releases mended as switches, but not what earlier ones did.
    """
    return ", ".join(sorted(scope.features & LACKING) + sorted(one.name for one in switches if one.puts_back))
