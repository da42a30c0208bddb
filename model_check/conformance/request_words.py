"""A request of a controller in a vector's words: what it says of each partition, whatever its version."""

from operator import itemgetter
from typing import Any, Final

from model_check.conformance.vector import Object

PARTITION_FIELDS: Final = {
    "Leader": "leader", "LeaderEpoch": "leader_epoch", "Isr": "isr", "ControllerEpoch": "controller_epoch",
    "ZkVersion": "zk_version",
}  # fmt: skip


def request_words(told: Any) -> Object:
    """The words of a request that is an object with `name` and `body`, as `encode_request` takes it."""
    name, body = told["name"], told["body"]
    if name == "StopReplica":
        partitions = sorted(f"{one['Topic']}-{one['Partition']}" for one in body["Partitions"])
        return {"name": name, "delete": body["DeletePartitions"], "partitions": partitions}
    states = [
        {"partition": f"{one['Topic']}-{one['Partition']}", "replicas": sorted(one["Replicas"])}
        | {ours: one[theirs] for theirs, ours in PARTITION_FIELDS.items()}
        for one in body["PartitionStates"]
    ]
    states.sort(key=itemgetter("partition"))
    key, name_of = ("LiveLeaders", "live_leaders") if name == "LeaderAndIsr" else ("LiveBrokers", "live_brokers")
    return {"name": name, "partitions": states, name_of: sorted(one["Id"] for one in body[key])}


def words_with_epoch(told: Any) -> Object:
    """The same, with the epoch of the controller beside."""
    return request_words(told) | {"controller_epoch": told["body"]["ControllerEpoch"]}
