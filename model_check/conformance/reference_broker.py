"""A broker's side, asked of the reference: its fences, and the writes of a leader to the state znode."""

from typing import Final

import reference
from model_check.conformance.reference_words import ELSE, PARTITION, STATE, release
from model_check.conformance.vector import Object

NONE: Final = -1
STALE: Final = frozenset({-1, 11, 13})
"""What a request is answered whose controller epoch is old, or a partition of it whose leader epoch is not higher."""


def fence(given: Object, dialect: str) -> Object:
    """A request of a controller, by the codes of its answer and by what the broker knows after it."""
    knows, body = given["knows"], given["request"]["body"]
    (one,) = body["Partitions"] if "Partitions" in body else body["PartitionStates"]
    name = f"{one['Topic']}-{one['Partition']}"
    led = {"leader": given["broker"], "leader_epoch": knows["leader_epoch"], "isr": [given["broker"]]}
    broker = reference.broker({
        "broker": given["broker"], "controller_epoch": knows["controller_epoch"], "release": release(dialect),
        "partitions": {name: led} if knows["leader_epoch"] != NONE else {},
        "cached_leader_epochs": (
            {name: knows["cached_leader_epoch"]} if knows["cached_leader_epoch"] != NONE else {}
        ),
    })  # fmt: skip
    answer = broker.request(given["request"])
    codes = {each["ErrorCode"] for each in (answer, *answer.get("Partitions", []))}
    told = broker.view()["broker"]
    return {
        "fenced": not STALE.isdisjoint(codes),
        "knows": {
            "controller_epoch": told["controller_epoch"],
            "leader_epoch": told["partitions"].get(name, {"leader_epoch": NONE})["leader_epoch"],
            "cached_leader_epoch": told["cached_leader_epochs"].get(name, NONE),
        },
    }


def write_state(given: Object, dialect: str) -> Object:
    """A conditional write, which is that of a leader who takes the last broker out of its ISR."""
    state, znode = given["state"], given["znode"]
    known = state | {"isr": [*state["isr"], ELSE], "zk_version": given["expected_version"]}
    broker = reference.broker({
        "broker": state["leader"], "partitions": {PARTITION: known}, "release": release(dialect),
    })  # fmt: skip
    broker.by_hand(STATE, None)
    if znode is not None:
        broker.by_hand(STATE, znode["data"], znode["version"])
    done = broker.shrink(PARTITION, ELSE)
    version = broker.view()["broker"]["partitions"][PARTITION]["zk_version"]
    return {"written": done, "version": version if done else -1}


ASKED: Final = {"fence": fence, "write_state": write_state}
"""By verb."""
