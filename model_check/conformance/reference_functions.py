"""The functions of the controller, asked of the reference by its public face, as an implementer asks his own.

A controller's module is made of what is given, one thing is done, and what happened is told in a vector's words. The
module is broker 9's where nobody else needs to be the controller; what is sent to it is left out.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

import reference
from model_check.conformance.request_words import request_words
from model_check.conformance.vector import Object

TOPIC, PARTITION, STATE = "t", "t-0", "/brokers/topics/t/partitions/0/state"
ELSE: Final = 9
"""The broker whose module is asked, which has no replica."""
RELEASES: Final = {"documented": "0.10.2"}
FIELDS: Final = ("leader", "leader_epoch", "isr", "controller_epoch")


def release_of(dialect: str) -> str:
    """The release line that a dialect is of."""
    return RELEASES.get(dialect, dialect.removeprefix("as-coded-"))


def create_partition(given: Object, dialect: str) -> Object:
    """New to Online: the state znode that is created, and who is sent LeaderAndIsr."""
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE], "epoch": given["controller_epoch"],
        "assignment": {PARTITION: given["assigned"]}, "release": release_of(dialect),
    })  # fmt: skip
    happened = module.transition("partition", [PARTITION], "OnlinePartition")
    state = module.znode(STATE)
    return {"created": _fields(state), "receivers": _led(happened)} if state else {"refused": True}


def remove_replica(given: Object, dialect: str) -> Object:
    """Online to Offline of a replica: what is written of it, what is cached, and who is sent LeaderAndIsr."""
    state, replica = given["state"], given["replica"]
    known = state or {"leader": replica, "isr": [replica]}
    module = reference.module({
        "broker": ELSE, "live": [*given["assigned"], ELSE], "epoch": given["controller_epoch"],
        "assignment": {PARTITION: given["assigned"]}, "leadership": {PARTITION: known}, "release": release_of(dialect),
        "settings": {"unclean.leader.election.enable": given["unclean"]},
        "znodes": {} if state else {STATE: None},
    })  # fmt: skip
    happened = module.transition("replica", [(PARTITION, replica)], "OfflineReplica")
    told = _controller(module)
    if told["replica_states"][PARTITION][str(replica)] != "OfflineReplica":
        return {"refused": True}
    written = [one["data"] for one in happened if one.get("operation") == "SetData" and one["path"] == STATE]
    cached = _fields(told["leadership"][PARTITION])
    return {"written": _fields(written[-1]) if written else None, "cached": cached, "receivers": _led(happened)}


def reassign(given: Object, dialect: str) -> Object:
    """One run of a reassignment, in which no leader changes its ISR."""
    leadership = {name: given[name] for name in ("leader", "isr", "leader_epoch")}
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE], "assignment": {PARTITION: given["assigned"]},
        "leadership": {PARTITION: leadership}, "release": release_of(dialect),
        "replica_states": {PARTITION: {str(one): "OnlineReplica" for one in given["assigned"]}},
    })  # fmt: skip
    since = module.now
    module.reassign({PARTITION: given["reassigned"]})
    with module.hold("deliver_*", "expand_isr", "report_isr_changes"):
        module.rest()
    happened = module.happened(since=since)
    path = f"/brokers/topics/{TOPIC}"
    assigned = [
        one["data"]["partitions"]["0"] for one in happened if one.get("operation") == "SetData" and one["path"] == path
    ]
    if not assigned:
        return {"refused": True}
    told = _controller(module)
    leads = module.znode(STATE)
    started = [one for one in told["replica_states"].get(PARTITION, {}).items() if one[1] == "NewReplica"]
    deleted = {one["to"] for one in _sent(happened, "StopReplica") if one["request"]["body"]["DeletePartitions"]}
    return {
        "waits": PARTITION in told["reassigning"], "assigned": assigned[-1], "leader": leads["leader"],
        "leader_epoch": leads["leader_epoch"], "isr": leads["isr"], "started": sorted(int(one) for one, _ in started),
        "deleted": sorted(deleted),
    }  # fmt: skip


def find_imbalance(given: Object, dialect: str) -> Object:
    """The check of the rebalance thread: the partitions whose state znode is read for an election."""
    partitions = given["partitions"]
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE],
        "assignment": {name: one["assigned"] for name, one in partitions.items()},
        "leadership": {
            name: {"leader": one["leader"], "isr": one["assigned"]}
            for name, one in partitions.items()
            if one["leader"] is not None
        },
        "partition_states": dict.fromkeys(partitions, "OnlinePartition"),
        "reassigning": {name: [1] for name in given["reassigning"]}, "electing": given["electing"],
        "deleting": given["deleting"], "ineligible": given["deleting"], "release": release_of(dialect),
        "settings": {
            "auto.leader.rebalance.enable": True, "leader.imbalance.per.broker.percentage": given["percentage"],
        },
    })  # fmt: skip
    since = module.now
    module.rebalance()
    read = {
        one["step"].rpartition("partition=")[2].removesuffix(")")
        for one in module.happened("zookeeper", since)
        if one["step"].startswith("rebalance_partition(") and one["operation"] == "GetData"
    }
    return {"elect": sorted(read)}


def write_state(given: Object, dialect: str) -> Object:
    """A conditional write, which is that of a leader who takes the last broker out of its ISR."""
    state, znode = given["state"], given["znode"]
    known = state | {"isr": [*state["isr"], ELSE], "zk_version": given["expected_version"]}
    broker = reference.broker({
        "broker": state["leader"], "partitions": {PARTITION: known}, "release": release_of(dialect),
    })  # fmt: skip
    broker.by_hand(STATE, None)
    if znode is not None:
        broker.by_hand(STATE, znode["data"], znode["version"])
    done = broker.shrink(PARTITION, ELSE)
    version = broker.view()["broker"]["partitions"][PARTITION]["zk_version"]
    return {"written": done, "version": version if done else -1}


def send_batch(given: Object, dialect: str) -> Object:
    """A batch of requests: what is added, and what is sent of it, to whom there is a channel."""
    partitions = given["partitions"]
    module = reference.module({
        "broker": given["live"][0], "live": given["live"], "shutting_down": given["shutting_down"],
        "epoch": given["controller_epoch"], "deleting": given["deleting"], "release": release_of(dialect),
        "assignment": {name: one["assigned"] for name, one in partitions.items()},
        "leadership": {name: one["leadership"] for name, one in partitions.items() if one["leadership"] is not None},
    })  # fmt: skip
    sent: dict[str, list[Object]] = {}
    for one in module.send(given["adds"]):
        if one["kind"] == "request" and one["queued"]:
            sent.setdefault(str(one["to"]), []).append(request_words(one["request"]))
    return {"requests": [{"to": int(broker), "sent": sent[broker]} for broker in sorted(sent, key=int)]}


def _controller(module: Any) -> Object:
    told: Object = module.view()["brokers"][str(module.broker)]["controller"]
    return told


def _sent(happened: Iterable[Any], name: str) -> list[Any]:
    return [one for one in happened if one["kind"] == "request" and one["request"]["name"] == name]


def _led(happened: Iterable[Any]) -> list[int]:
    """Who is sent LeaderAndIsr, whether or not there is a channel."""
    return sorted({one["to"] for one in _sent(happened, "LeaderAndIsr")})


def _fields(state: Object) -> Object:
    return json.loads(json.dumps({name: state[name] for name in FIELDS}))  # type: ignore[no-any-return]  # an object


FUNCTIONS: Final = {
    "create_partition": create_partition, "remove_replica": remove_replica, "reassign": reassign,
    "find_imbalance": find_imbalance, "write_state": write_state, "send_batch": send_batch,
}  # fmt: skip
"""By verb."""
