"""The functions of the controller, asked of the reference by its public face, as an implementer asks his own.

A controller's module is made of what is given, one thing is done, and what happened is put in a vector's words. The
module is broker 9's where nobody else needs to be the controller; what is sent to it is left out.
"""

from collections.abc import Sequence
from typing import Any, Final

import reference
from model_check.conformance.reference_words import (
    ELSE,
    PARTITION,
    STATE,
    TOPIC,
    controller,
    fields,
    led,
    release,
    sent,
    state_path,
    written,
)
from model_check.conformance.request_words import request_words
from model_check.conformance.vector import Object


def create_partition(given: Object, dialect: str) -> Object:
    """New to Online: the state znode that is created, and who is sent LeaderAndIsr."""
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE], "epoch": given["controller_epoch"],
        "assignment": {PARTITION: given["assigned"]}, "release": release(dialect),
    })  # fmt: skip
    happened = module.transition("partition", [PARTITION], "OnlinePartition")
    state = module.znode(STATE)
    return {"created": fields(state), "receivers": led(happened)} if state else {"refused": True}


def remove_replica(given: Object, dialect: str) -> Object:
    """Online to Offline of a replica: what is written of it, what is cached, and who is sent LeaderAndIsr."""
    state, replica = given["state"], given["replica"]
    known = state or {"leader": replica, "isr": [replica]}
    module = reference.module({
        "broker": ELSE, "live": [*given["assigned"], ELSE], "epoch": given["controller_epoch"],
        "assignment": {PARTITION: given["assigned"]}, "leadership": {PARTITION: known}, "release": release(dialect),
        "settings": {"unclean.leader.election.enable": given["unclean"]},
        "znodes": {} if state else {STATE: None},
    })  # fmt: skip
    happened = module.transition("replica", [(PARTITION, replica)], "OfflineReplica")
    told = controller(module)
    if told["replica_states"][PARTITION][str(replica)] != "OfflineReplica":
        return {"refused": True}
    cached = fields(told["leadership"][PARTITION])
    return {"written": written(happened), "cached": cached, "receivers": led(happened)}


def reassign(given: Object, dialect: str) -> Object:
    """One run of a reassignment, in which no leader changes its ISR."""
    leadership = {name: given[name] for name in ("leader", "isr", "leader_epoch")}
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE], "assignment": {PARTITION: given["assigned"]},
        "leadership": {PARTITION: leadership}, "release": release(dialect),
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
    told = controller(module)
    leads = module.znode(STATE)
    started = [one for one in told["replica_states"].get(PARTITION, {}).items() if one[1] == "NewReplica"]
    deleted = {one["to"] for one in sent(happened, "StopReplica") if one["request"]["body"]["DeletePartitions"]}
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
        "deleting": given["deleting"], "ineligible": given["deleting"], "release": release(dialect),
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


def send_batch(given: Object, dialect: str) -> Object:
    """A batch of requests: what is added, and what is sent of it, to whom there is a channel."""
    partitions = given["partitions"]
    module = reference.module({
        "broker": given["live"][0], "live": given["live"], "shutting_down": given["shutting_down"],
        "epoch": given["controller_epoch"], "deleting": given["deleting"], "release": release(dialect),
        "assignment": {name: one["assigned"] for name, one in partitions.items()},
        "leadership": {name: one["leadership"] for name, one in partitions.items() if one["leadership"] is not None},
    })  # fmt: skip
    requests: dict[str, list[Object]] = {}
    for one in module.send(given["adds"]):
        if one["kind"] == "request" and one["queued"]:
            requests.setdefault(str(one["to"]), []).append(request_words(one["request"]))
    return {"requests": [{"to": int(broker), "sent": requests[broker]} for broker in sorted(requests, key=int)]}


def handle_isr_changes(given: Object, dialect: str) -> Object:
    """The listener on /isr_change_notification is called, with what is there."""
    partitions, paths = given["partitions"], {name: f"{NOTIFICATIONS}/{name}" for name in given["notifications"]}
    known = {name: one["leadership"] for name, one in partitions.items() if one["leadership"] is not None}
    module = reference.module({
        "broker": ELSE, "live": [*given["live"], ELSE], "shutting_down": given["shutting_down"],
        "epoch": given["controller_epoch"], "deleting": given["deleting"], "ineligible": given["deleting"],
        "assignment": {name: one["assigned"] for name, one in partitions.items() if one["assigned"] is not None},
        "leadership": known, "release": release(dialect), "znodes": dict.fromkeys(map(state_path, known)),
    })  # fmt: skip
    for name, one in partitions.items():
        if one["znode"] is not None:
            module.by_hand(state_path(name), one["znode"]["data"], one["znode"]["version"])
    for name, path in paths.items():
        module.by_hand(path, given["notifications"][name])
    happened = module.callback(NOTIFICATIONS)
    cached = controller(module)["leadership"]
    told = [one for one in sent(happened, "UpdateMetadata") if one["to"] != ELSE]
    return {
        "cached": {name: cached.get(name) for name in partitions},
        "update_metadata": _metadata(told) if told else None,
        "removed": [name for name, path in sorted(paths.items()) if path not in module.view()["znodes"]],
    }  # fmt: skip


NOTIFICATIONS: Final = "/isr_change_notification"


def _metadata(told: Sequence[Any]) -> Object:
    """To whom UpdateMetadata is sent, and what it says, which is the same for all."""
    says = sorted((f"{one['Topic']}-{one['Partition']}", one["Leader"]) for one in _states(told[0]))
    leaders = [{"partition": name, "leader": leader} for name, leader in says]
    return {"to": sorted(one["to"] for one in told), "partitions": leaders}


def _states(sent_one: Any) -> list[Object]:
    states: list[Object] = sent_one["request"]["body"]["PartitionStates"]
    return states


ASKED: Final = {
    "create_partition": create_partition, "remove_replica": remove_replica, "reassign": reassign,
    "find_imbalance": find_imbalance, "send_batch": send_batch, "handle_isr_changes": handle_isr_changes,
}  # fmt: skip
"""By verb."""
