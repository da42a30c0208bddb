"""What people name and write: partitions by Kafka's names, data of znodes as JSON."""

import json
from collections.abc import Mapping

from reference.face.view import Json
from reference.memory.cluster import MemoryCluster
from reference.zookeeper.api import Delete, SetData
from reference.zookeeper.tree import Znode
from spec.errors import BadInput
from spec.formats.kafka_types import TopicPartition


def partition_named(name: str) -> TopicPartition:
    """The partition of a name such as `orders-0`; BadInput if it is not one."""
    topic, _, number = name.rpartition("-")
    if not topic or not number.isdecimal():
        raise BadInput(f"{name!r} is no partition; expected a topic and a number, as in orders-0")
    return TopicPartition(topic, int(number))


def data_of(data: Json) -> bytes:
    """The data of a znode: a text as it is, and anything else as JSON without blanks."""
    try:
        text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        return text.encode()
    except (TypeError, ValueError) as error:
        raise BadInput(f"{data!r} cannot be written to a znode: {error}") from error


def write_by_hand(cluster: MemoryCluster, path: str, data: Json, version: int = 0) -> None:
    """Write a znode, with any missing parents; None removes it with all below it. BadInput if that cannot be.

    One that is not there yet has this data version then: it is written so many times more.
    """
    zookeeper, session = cluster.zookeeper, cluster.admin_session
    refuse_no_path(path)
    if data is None:
        below = [one for one in zookeeper.tree if one == path or one.startswith(f"{path}/")]
        if not below:
            raise BadInput(f"{path} does not exist")
        for one in sorted(below, reverse=True):
            zookeeper.execute(session, Delete(one))
        return
    content = data_of(data)
    if path in zookeeper.tree:
        zookeeper.execute(session, SetData(path, content))
        return
    refuse_below_ephemerals(zookeeper.tree, path)
    cluster.create_as_admin(path, content)
    for _ in range(version):
        zookeeper.execute(session, SetData(path, content))


def refuse_no_path(path: str) -> None:
    """BadInput for what is no path of a znode that somebody may write."""
    try:
        Delete(path)
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path!r} is no path of a znode: {error}") from error


def refuse_below_ephemerals(tree: Mapping[str, Znode], path: str) -> None:
    """BadInput for a path below an ephemeral znode, which has no children."""
    above = (path[:end] for end, letter in enumerate(path) if letter == "/" and end)
    if found := [one for one in above if one in tree and tree[one].ephemeral_owner]:
        raise BadInput(f"{path} cannot be created: {found[0]} is ephemeral, and has no children")
