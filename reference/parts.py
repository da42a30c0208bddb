"""What of the protocol the reference cluster does not have (yet), though the specification has it."""

from spec.scopes import Scope
from spec.variants import AS_CODED, Switch, Switches

LACKING = frozenset({"delayed_operations", "removals", "state_removals"})
"""Parts, and faults. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope, switches: Switches = AS_CODED) -> str:
    """The parts of a scope, and the older behaviour, that the reference cluster does not have; empty if none."""
    older = switches & {Switch.KEEP_DIRTY_BATCH}
    return ", ".join(sorted(scope.features & LACKING) + sorted(one.name for one in older))
