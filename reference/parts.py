"""Which parts of the protocol the reference cluster does not have (yet), though the specification has them."""

from spec.scopes import Scope

LACKING = frozenset({"deletion", "shutdown", "delayed_operations"})
"""The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope) -> str:
    """The parts of a scope that the reference cluster does not have, as text; empty if it has all of them."""
    return ", ".join(sorted(scope.parts & LACKING))
