"""The words in which the reference's public face tells what happened, turned into those of vectors."""

import json
from collections.abc import Iterable
from typing import Any, Final

from model_check.conformance.vector import Object

TOPIC, PARTITION, STATE = "t", "t-0", "/brokers/topics/t/partitions/0/state"
ELSE: Final = 1000
"""The broker whose module is asked, which has no replica."""
RELEASES: Final = {"documented": "0.10.2"}
FIELDS: Final = ("leader", "leader_epoch", "isr", "controller_epoch")


def release(dialect: str) -> str:
    """The release line that a dialect is asked of."""
    return RELEASES.get(dialect, dialect.removeprefix("as-coded-"))


def state_path(name: str) -> str:
    """The path of a partition's state znode."""
    topic, _, number = name.rpartition("-")
    return f"/brokers/topics/{topic}/partitions/{number}/state"


def controller(module: Any) -> Object:
    """What the controller of a module knows."""
    told: Object = module.view()["brokers"][str(module.broker)]["controller"]
    return told


def sent(happened: Iterable[Any], name: str) -> list[Any]:
    """The requests of a name, whether or not there is a channel for them."""
    return [one for one in happened if one["kind"] == "request" and one["request"]["name"] == name]


def led(happened: Iterable[Any]) -> list[int]:
    """The brokers that are sent LeaderAndIsr."""
    return sorted({one["to"] for one in sent(happened, "LeaderAndIsr")})


def written(happened: Iterable[Any], path: str = STATE) -> Object | None:
    """What was written to a state znode last, if anything was."""
    states = [
        one["data"]
        for one in happened
        if one.get("operation") in {"Create", "SetData"} and one["path"] == path and one["refused"] is None
    ]
    return fields(states[-1]) if states else None


def has_failed(happened: Iterable[Any]) -> bool:
    """Whether state-change.log says of a partition, or of a replica, that its change of state failed."""
    return any(one["kind"] == "log" and is_failure(one["line"]) for one in happened)


def is_failure(line: str) -> bool:
    """Whether a line of state-change.log says that a change of state failed."""
    return " initiated state change " in line and line.endswith(" failed")


def fields(state: Object) -> Object:
    """What a vector says of a state znode, or of a leadership."""
    told: Object = json.loads(json.dumps({name: state[name] for name in FIELDS}))
    return told
