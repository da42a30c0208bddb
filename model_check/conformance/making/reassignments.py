"""The arithmetic of a reassignment: one run of `onPartitionReassignment`, for OAR, RAR, ISR, leader and the live
brokers.

Expected is what PROTOCOL.md section 8 says of steps 1 to 12. A replica that is not yet in sync makes it phase A: the
union of RAR and AR is written, RAR first, the leader epoch rises, and the replicas that are new start. Else it is phase
B: a leader of RAR is found, the old replicas leave the ISR one by one, are stopped and deleted, and RAR is written. By
section 4 no replica starts anew that leads by its state znode.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V0101

EPOCH: Final = 6
"""The leader epoch before."""
LATER: Final = since(V0101)
"""The dialects that do not ask whether a broker that is to get a replica lives (KAFKA-4214)."""
EARLIER: Final[tuple[Dialect, ...]] = tuple(one for one in DIALECTS if one not in LATER)
ALL: Final = (1, 2, 3, 4)
MOVES: Final = (
    ([1], [2]), ([1, 2], [2, 1]), ([1, 2], [1, 2]), ([1, 2], [1]), ([1, 2], [2]), ([1], [1, 2]), ([1], [2, 1]),
    ([1, 2], [3, 4]), ([2, 1], [4, 3]), ([1, 2], [2, 3]), ([1, 2], [3, 1]), ([3, 1, 2], [2, 4]), ([1, 2, 3], [4]),
    ([2, 3], [3, 2, 1]), ([1, 2, 3], [3, 2]), ([1, 2, 3, 4], [4, 1]),
)  # fmt: skip
"""OAR and RAR."""


def reassignment_cases() -> Iterator[Case]:
    """Each move with the ISR at its beginning, half way and at its end, led by whom it may be, all alive or not."""
    asked: list[Object] = []
    for given in _inputs():
        if given in asked:
            continue
        asked.append(given)
        if {*given["reassigned"]} <= {*given["live"]}:
            yield _case(given, _outcome(given), DIALECTS)
        else:
            yield _case(given, _outcome(given), LATER)
            yield _case(given, {"refused": True}, EARLIER)


def _inputs() -> Iterator[Object]:
    for assigned, wanted in MOVES:
        union = [*dict.fromkeys((*wanted, *assigned))]
        for isr in (assigned, [one for one in union if one != wanted[-1]], union, [*reversed(union)]):
            for leader in (isr[0], isr[-1]):
                yield _input(assigned, wanted, isr, leader, ALL)
        for leader in (assigned[0], wanted[0]):
            yield _input(assigned, wanted, union, leader, [one for one in ALL if one != wanted[0]])
        yield _input(assigned, wanted, assigned, assigned[0], [one for one in ALL if one != wanted[-1]])
        yield _input(assigned, wanted, union, wanted[0], [one for one in ALL if one != assigned[-1]])


def _input(
    assigned: Sequence[int], wanted: Sequence[int], isr: Sequence[int], leader: int, live: Sequence[int]
) -> Object:
    return {
        "assigned": [*assigned], "reassigned": [*wanted], "isr": [*isr], "leader": leader, "leader_epoch": EPOCH,
        "live": [*live],
    }  # fmt: skip


def _case(given: Object, outcome: Object, dialects: Sequence[Dialect]) -> Case:
    move = f"{given['assigned']} to {given['reassigned']}, ISR {given['isr']}, led by {given['leader']}"
    does = "is refused" if "refused" in outcome else "waits for the ISR" if outcome["waits"] else "is carried out"
    return Case(
        "reassign", f"{move}, {given['live']} live: {does}", given, [outcome],
        ["PROTOCOL.md section 8", "KafkaController.onPartitionReassignment"], ["reassignment"], dialects,
    )  # fmt: skip


def _outcome(given: Object) -> Object:
    """What one run comes to, with no ISR change on the way."""
    assigned, wanted, isr, live = given["assigned"], given["reassigned"], given["isr"], given["live"]
    leader, epoch = given["leader"], given["leader_epoch"]
    if assigned == wanted:
        return {"refused": True}
    if not {*wanted} <= {*isr}:
        union = [*dict.fromkeys((*wanted, *assigned))]
        return {
            "waits": True, "assigned": union, "leader": leader, "leader_epoch": epoch + 1, "isr": isr,
            "started": sorted({*wanted} - {*assigned, leader}), "deleted": [],
        }  # fmt: skip
    old = [one for one in assigned if one not in wanted]
    in_sync = [one for one in wanted if one in live and one in isr]
    if leader in wanted and leader in live:
        epoch += 1
    elif in_sync:
        leader, epoch = in_sync[0], epoch + 1
    removed = [one for one in old if one in isr]
    return {
        "waits": False, "assigned": wanted, "leader": -1 if leader in removed else leader,
        "leader_epoch": epoch + len(removed), "isr": [one for one in isr if one not in removed],
        "started": [], "deleted": sorted(old),
    }  # fmt: skip
