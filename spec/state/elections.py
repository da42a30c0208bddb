"""What processes keep for preferred elections, the automatic rebalance and controlled shutdowns, part by part."""

from __future__ import annotations

import enum

from spec.language.rules import Leaf, Shape
from spec.language.terms import FLAG, enumeration, number
from spec.model import Model


class Leaving(enum.Enum):
    """How far a process is on its way out, in a controlled shutdown."""

    NO = "it stays"
    ASKS = "it is to stop; it looks for the controller, or has no good answer"
    WAITS = "its request is with a controller"
    MAY_GO = "it was answered that it leads nothing any more"


def on_the_way_out(m: Model) -> dict[str, Shape]:
    """A process that is to stop: how far it is, whom it has asked, and how many tries are left (if it is known)."""
    if not m.has("shutdown"):
        return {}
    most = m.scope.shutdown_tries
    return {
        "leaving": Leaf(enumeration(Leaving), Leaving.NO),
        "asked": Leaf(m.brokers.id_kind, 0),
        **({"tries": Leaf(number(most, "tries"), 0)} if most else {}),
    }


def elections_and_shutdowns(m: Model) -> dict[str, Shape]:
    """What a controller keeps.

    `electing`: the partitions with a preferred election under way, `asked` those of the request at hand; `request_read`
    says that the request that stands is the very one that was read. `imbalanced` are those that the rebalance thread
    has still to elect for. `shutting_down`: the brokers that may not lead; `shutdown_of` is the one whose request is
    being handled (0: none), `to_move` its partitions that are still to be treated, and `shutdown_fails` says that an
    exception has ended that.
    """
    tree: dict[str, Shape] = {}
    flags = {p: Leaf(FLAG, False) for p in m.partitions}
    if m.has("preferred_election"):
        tree |= {"electing": flags, "asked": flags, "request_read": Leaf(FLAG, False)}
    if m.has("shutdown"):
        tree |= {"shutting_down": Leaf(m.brokers.set_kind, ()), "shutdown_of": Leaf(m.brokers.id_kind, 0)}
        tree["to_move"] = flags
        if m.shutdowns_fail:
            tree["shutdown_fails"] = Leaf(FLAG, False)
    if m.has("auto_rebalance"):
        tree["imbalanced"] = flags
    return tree
