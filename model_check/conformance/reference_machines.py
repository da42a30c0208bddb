"""Whole calls of a controller, asked of the reference: its state machines, a controlled shutdown, a failure."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import reference
from model_check.conformance.reference_words import ELSE, controller, is_failure, release, sent, state_path, written
from model_check.conformance.vector import Object

NONE: Final = {"partition": "NonExistentPartition", "replica": "NonExistentReplica"}


def _told(given: Object, dialect: str) -> dict[str, Any]:
    """What a module is given for the partitions of a vector."""
    partitions = given["partitions"]
    return {
        "broker": ELSE, "live": [*given["live"], ELSE], "shutting_down": given["shutting_down"],
        "epoch": given["controller_epoch"], "deleting": given["deleting"], "ineligible": given["deleting"],
        "assignment": {name: one["assigned"] for name, one in partitions.items()},
        "leadership": {name: one["leadership"] for name, one in partitions.items() if one["leadership"]},
        "znodes": {
            state_path(name): one["znode"] and one["znode"] | {"version": 1}
            for name, one in partitions.items()
            if one["znode"] != one["leadership"]
        },
        "settings": {"unclean.leader.election.enable": given["unclean"]}, "release": release(dialect),
    }  # fmt: skip


def handle_state_changes(given: Object, dialect: str) -> Object:
    """Several keys at once to one state."""
    machine, told = given["machine"], _told(given, dialect)
    states: dict[str, Any] = {}
    for key, state in given["states"].items():
        if machine == "partition":
            states[key] = state
        else:
            name, broker = key.split("/")
            states.setdefault(name, {})[broker] = state
    module = reference.module(told | {f"{machine}_states": states})
    keys = given["keys"] if machine == "partition" else [_replica(key) for key in given["keys"]]
    happened = module.transition(machine, keys, given["target"], given["selector"])
    known, every = controller(module), {*given["states"], *given["keys"]}
    if machine == "partition":
        after = {key: known["partition_states"].get(key, NONE[machine]) for key in every}
    else:
        after = {
            key: known["replica_states"].get(name, {}).get(str(broker), NONE[machine])
            for key in every
            for name, broker in [_replica(key)]
        }
    failed = [key for key in given["keys"] if any(_is_about(key, one) for one in happened)]
    assigned = {name: known["assignment"][name] for name in given["partitions"]}
    return {"states": after, "failed": sorted(failed), "assigned": assigned, **_sent(happened, given["partitions"])}


def _replica(key: str) -> tuple[str, int]:
    name, _, broker = key.partition("/")
    return name, int(broker)


def _is_about(key: str, one: Any) -> bool:
    """Whether a line says that the change of a key failed."""
    name, _, broker = key.partition("/")
    topic, _, number = name.rpartition("-")
    about = (
        f" of replica {broker} for partition [{topic},{number}] " if broker else f" for partition [{topic},{number}] "
    )
    return one["kind"] == "log" and is_failure(one["line"]) and about in one["line"]


def _sent(happened: Sequence[Any], partitions: Iterable[str]) -> Object:
    """What was written last to each state znode, and who was sent LeaderAndIsr and StopReplica of it."""
    led, stopped = dict[str, set[int]](), dict[tuple[str, bool], set[int]]()
    for one in sent(happened, "LeaderAndIsr"):
        for each in one["request"]["body"]["PartitionStates"]:
            led.setdefault(_name(each), set()).add(one["to"])
    for one in sent(happened, "StopReplica"):
        for each in one["request"]["body"]["Partitions"]:
            stopped.setdefault((_name(each), one["request"]["body"]["DeletePartitions"]), set()).add(one["to"])
    states = {name: written(happened, state_path(name)) for name in sorted(partitions)}
    return {
        "written": [{"partition": name, **state} for name, state in states.items() if state],
        "leader_and_isr": [{"partition": name, "to": sorted(led[name])} for name in sorted(led)],
        "stop_replica": [
            {"partition": name, "delete": delete, "to": sorted(stopped[name, delete])}
            for name, delete in sorted(stopped)
        ],
    }


def _name(told: Object) -> str:
    return f"{told['Topic']}-{told['Partition']}"


def shut_down(given: Object, dialect: str) -> Object:
    """A controlled shutdown, as a request handler of the controller does it."""
    module = reference.module(_told(given, dialect) | {"replica_states": _replicas(given)})
    since = module.now
    answer = module.shut_down(given["broker"])
    if answer["ErrorCode"]:
        return {"error_code": answer["ErrorCode"]}
    remaining = sorted(_name(one) for one in answer["PartitionsRemaining"])
    return {"error_code": 0, "remaining": remaining, **_sent(module.happened(since=since), given["partitions"])}


def fail_broker(given: Object, dialect: str) -> Object:
    """Brokers are gone from /brokers/ids, and the listener finds it."""
    dead, told = given["dead"], _told(given, dialect)
    module = reference.module(
        told
        | {
            "live": [*told["live"], *dead],
            "replica_states": _replicas(given),
            "partition_states": given["partition_states"],
        }
    )
    for broker in dead:
        module.by_hand(f"/brokers/ids/{broker}", None)
    happened = module.callback("/brokers/ids")
    known = controller(module)
    metadata = {
        _name(each) for one in sent(happened, "UpdateMetadata") for each in one["request"]["body"]["PartitionStates"]
    }
    outcome = _sent(happened, given["partitions"])
    return {
        "partition_states": known["partition_states"],
        "replica_states": {
            f"{name}/{broker}": known["replica_states"][name][str(broker)]
            for name, one in given["partitions"].items()
            for broker in dead
            if broker in one["assigned"]
        },
        "written": outcome["written"], "leader_and_isr": outcome["leader_and_isr"],
        "update_metadata": sorted(metadata),
    }  # fmt: skip


def _replicas(given: Object) -> Object:
    """Replicas are Online before a broker leaves, unless something else is given."""
    told = given.get("replica_states", {})
    return {
        name: {str(broker): told.get(f"{name}/{broker}", "OnlineReplica") for broker in one["assigned"]}
        for name, one in given["partitions"].items()
    }


ASKED: Final = {"handle_state_changes": handle_state_changes, "shut_down": shut_down, "fail_broker": fail_broker}
"""By verb."""
