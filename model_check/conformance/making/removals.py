"""A replica leaves the ISR: `removeReplicaFromIsr`, for each place that the replica has in it.

Expected is what PROTOCOL.md section 4 says: whoever leads and goes leaves -1 behind, the last member stays where
unclean election is off, what a newer controller wrote is let alone, and who is not in the ISR changes nothing there,
but the cache takes the reader's controller epoch.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object

OWN: Final = 5
"""The controller's epoch."""
ASSIGNED: Final = [3, 1, 2]
STATES: Final = ((1, (1, 2, 3)), (1, (2, 1)), (2, (2,)), (2, (1, 2)), (-1, (1,)), (-1, (3, 1)), (3, (3,)), (1, (1, 3)))
"""Leader and ISR, as they stand in ZooKeeper; without a leader, too."""


def removal_cases() -> Iterator[Case]:
    """Each replica, in each state, decided before, by this controller, or by a newer one; unclean or not."""
    for (leader, isr), replica, unclean in product(STATES, (1, 2, 3), (False, True)):
        if unclean and isr != (replica,):
            continue  # nobody asks
        for decided in (2, OWN, OWN + 1) if isr[0] == replica else (2,):
            yield _case(replica, _state(leader, isr, decided), unclean=unclean)
    yield _case(2, None, unclean=False)


def _state(leader: int, isr: tuple[int, ...], decided: int) -> Object:
    return {"leader": leader, "leader_epoch": 4, "isr": [*isr], "controller_epoch": decided}


def _case(replica: int, state: Object | None, *, unclean: bool) -> Case:
    outcome = _outcome(replica, state, unclean=unclean)
    what = "no state znode" if state is None else f"leader {state['leader']}, ISR {state['isr']}"
    who = "" if state is None else f", of controller epoch {state['controller_epoch']}"
    given = {
        "replica": replica, "assigned": ASSIGNED, "state": state, "controller_epoch": OWN, "unclean": unclean,
    }  # fmt: skip
    words = "is refused" if "refused" in outcome else "writes" if outcome["written"] else "writes nothing"
    return Case(
        "remove_replica", f"To remove {replica} from {what}{who}{', unclean' if unclean else ''} {words}", given,
        [outcome], ["PROTOCOL.md section 4", "KafkaController.removeReplicaFromIsr"], ["isr"],
    )  # fmt: skip


def _outcome(replica: int, state: Object | None, *, unclean: bool) -> Object:
    if state is None or state["controller_epoch"] > OWN:
        return {"refused": True}
    receivers = sorted({*ASSIGNED} - {replica})
    if replica not in state["isr"]:
        return {"written": None, "cached": state | {"controller_epoch": OWN}, "receivers": receivers}
    left = [one for one in state["isr"] if one != replica]
    new = {
        "leader": -1 if state["leader"] == replica else state["leader"], "leader_epoch": state["leader_epoch"] + 1,
        "isr": left if left or unclean else state["isr"], "controller_epoch": OWN,
    }  # fmt: skip
    return {"written": new, "cached": new, "receivers": receivers}
