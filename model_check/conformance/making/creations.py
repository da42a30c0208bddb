"""A partition's first leader: `initializeLeaderAndIsrForPartition`, for each set of its replicas that live.

Expected is what PROTOCOL.md section 3 says: the live ones of AR, in its order, are the ISR, and the first of them
leads; where none lives, nothing is created.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object

ASSIGNED: Final = ((1,), (2, 1), (3, 1, 2))
SETS: Final = tuple(tuple(b for b in (1, 2, 3) if mask >> b - 1 & 1) for mask in range(8))
EPOCHS: Final = (1, 12)


def creation_cases() -> Iterator[Case]:
    """Lists of one to three replicas, and each set of brokers that live, also such as have no replica."""
    for assigned, live in product(ASSIGNED, SETS):
        epoch = EPOCHS[len(live) % 2]
        isr = [broker for broker in assigned if broker in live]
        state = {"leader": isr[0] if isr else -1, "leader_epoch": 0, "isr": isr, "controller_epoch": epoch}
        outcome: Object = {"created": state, "receivers": sorted(isr)} if isr else {"refused": True}
        words = f"first led by {isr[0]}" if isr else "not created"
        yield Case(
            "create_partition", f"A partition of {[*assigned]} where {[*live]} live is {words}",
            {"assigned": [*assigned], "live": [*live], "controller_epoch": epoch}, [outcome],
            ["PROTOCOL.md section 3", "PartitionStateMachine.initializeLeaderAndIsrForPartition"], ["creation"],
        )  # fmt: skip
