"""What of the protocol the reference cluster does not have."""

from spec.scopes import Scope

LACKING = frozenset({"delayed_operations"})
"""Parts. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope) -> str:
    """What a scope has and the reference cluster has not; empty if there is nothing."""
    return ", ".join(sorted(scope.features & LACKING))
