"""A broker's side, asked of the reference: its fences, and the writes of a leader to the state znode."""

from typing import Any, Final

import reference
from model_check.conformance.reference_words import ELSE, PARTITION, STATE, fields, release
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
    """A conditional write, which is that of a leader that takes the last broker out of its ISR."""
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


def change_isr(given: Object, dialect: str) -> Object:
    """A leader's changes of its ISR, one after the other."""
    name, znode = given["partition"], given["znode"]
    known = given["knows"] | {"leader": given["broker"], "assigned": given["assigned"]}
    broker = reference.broker({
        "broker": given["broker"], "partitions": {name: known}, "release": release(dialect),
    })  # fmt: skip
    broker.by_hand(STATE, None)
    if znode is not None:
        broker.by_hand(STATE, znode["data"], znode["version"])
    writes = [_change(broker, name, one) for one in given["changes"]]
    view = broker.view()
    told = view["broker"]["partitions"][name]
    return {
        "writes": writes, "knows": {"isr": told["isr"], "zk_version": told["zk_version"]},
        "version": view["znodes"][STATE]["version"] if STATE in view["znodes"] else None,
        "announces": name in view["broker"]["isr_changes"],
    }  # fmt: skip


def _change(broker: Any, name: str, change: Object) -> Object:
    """One change: what is written, on which version, and whether that is done."""
    since = len(broker.view()["happened"])
    done = broker.shrink(name, *change["shrink"]) if "shrink" in change else broker.expand(name, change["expand"])
    writes = [one for one in broker.view()["happened"][since:] if one.get("operation") == "SetData"]
    if not writes:
        return {"state": None, "on_version": None, "done": False}
    return {"state": fields(writes[0]["data"]), "on_version": writes[0]["version"], "done": done}


def delay(given: Object, _dialect: str) -> Object:
    """Operations of a purgatory, whose clock counts milliseconds here."""
    purgatory = reference.delayed(purge_interval=given["purge_interval"])
    results = [_step(purgatory, one) for one in given["steps"]]
    told = purgatory.view()
    states = {
        name: ("expired" if one["expirations"] else "completed") if one["completed"] else "pending"
        for name, one in told["operations"].items()
    }
    return {"results": results, "operations": states, "watched": told["watched"], "delayed": told["delayed"]}


def _step(purgatory: Any, step: Object) -> Any:
    match step["do"]:
        case "watch":
            return purgatory.wait(step["operation"], step["keys"], step["timeout"], holds=step["holds"])
        case "set":
            return purgatory.hold(step["operation"], holds=step["holds"])
        case "check":
            return purgatory.check(step["key"])
        case "complete":
            return purgatory.complete(step["operation"])
        case "advance":
            expired = purgatory.pass_time(step["by"])
            purgatory.purge()
            return sorted(expired)
    raise ValueError(f"no step is called {step['do']}")


ASKED: Final = {"fence": fence, "write_state": write_state, "change_isr": change_isr, "delay": delay}
"""By verb."""
