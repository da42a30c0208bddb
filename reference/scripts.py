"""Scripts of ZooKeeper operations that several effects share: reads of what may be missing, creates with parents,
conditional writes.

A refusal that Kafka foresees becomes a result here; every other one goes on to whoever asked.

Kafka 0.10.2.2: `ZkUtils`, `ReplicationUtils`.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias, TypeVar

from reference.forking import changed
from reference.procedures import FencedOff, PastZkClient, Script
from reference.zookeeper import api
from spec.errors import MalformedInput, NotJson
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.znodes import PartitionStatePayload, Payload, parse_payload
from spec.state.listeners import LISTENED, ON_CHILDREN

PayloadT = TypeVar("PayloadT", bound=Payload)
Found: TypeAlias = LeaderIsrAndControllerEpoch | None
"""What a state znode says; None where there is none."""

CONTROLLER: Final = str(paths.CONTROLLER.path())
CONTROLLER_EPOCH: Final = str(paths.CONTROLLER_EPOCH.path())
BROKER_IDS: Final = str(paths.BROKER_IDS.path())
BROKER_TOPICS: Final = str(paths.BROKER_TOPICS.path())
ISR_CHANGES: Final = str(paths.ISR_CHANGES.path())
DELETE_TOPICS: Final = str(paths.DELETE_TOPICS.path())
REASSIGN_PARTITIONS: Final = str(paths.REASSIGN_PARTITIONS.path())

CHILD_PATHS: Final = frozenset(LISTENED[name].path for name in ON_CHILDREN)
"""The paths whose children, and not whose data, somebody listens to."""

COMMON_PATHS: Final = tuple(
    str(kind.path())
    for kind in (
        paths.CONSUMERS, paths.BROKER_IDS, paths.BROKER_TOPICS, paths.CONFIG_CHANGES, paths.CONFIG_TOPICS,
        paths.CONFIG_CLIENTS, paths.DELETE_TOPICS, paths.BROKER_SEQUENCE, paths.ISR_CHANGES,
    )
)  # fmt: skip
"""What the first broker of a cluster creates (`ZkUtils.setupCommonPaths`)."""


@dataclass(frozen=True)
class Fence:
    """A check, in one transaction with a write, that /controller_epoch still has this data version (2.1.0).

    The operations known here have no transactions, so the check is a read before the write: the two are one only where
    the driver runs the script as one step. Behind a read it needs no transaction: an epoch that is the latest then was
    so before.
    """

    epoch_zk_version: int


def check(fence: Fence | None) -> Script[None]:
    """Raise FencedOff if the epoch has moved on; without a fence, nothing is asked."""
    node = None if fence is None else (yield from read_data(CONTROLLER_EPOCH))
    if fence is not None and (node is None or node.stat.version != fence.epoch_zk_version):
        raise FencedOff(f"/controller_epoch is not at version {fence.epoch_zk_version} any more")


@cache
def state_path(partition: TopicPartition) -> str:
    """The path of a partition's state znode."""
    return str(paths.STATE.path(topic=partition.topic, partition=partition.partition))


@cache
def broker_path(broker_id: int) -> str:
    """The path of a broker's registration."""
    return str(paths.BROKER.path(broker=broker_id))


def _path_by_topic(kind: paths.PathKind) -> Callable[[str], str]:
    return cache(lambda topic: str(kind.path(topic=topic)))


topic_path: Final = _path_by_topic(paths.BROKER_TOPIC)
"""The path of a topic's assignment."""
topic_config_path: Final = _path_by_topic(paths.TOPIC_CONFIG)
"""The path of a topic's configuration."""
delete_topic_path: Final = _path_by_topic(paths.DELETE_TOPIC)
"""The path of the request to delete a topic."""


@cache
def parsed(cls: type[PayloadT], path: str, data: bytes | None) -> PayloadT:
    """The payload of a path; MalformedInput where it is not one."""
    payload = parse_payload(path, data)
    if not isinstance(payload, cls):
        raise MalformedInput(path, "", f"holds a {type(payload).__name__}, not a {cls.__name__}")
    return payload


def parsed_if_json(cls: type[PayloadT], path: str, data: bytes | None) -> PayloadT | None:
    """The payload, or None where the data is no JSON: what reads it then goes on as if there were nothing."""
    try:
        payload: PayloadT = parsed(cls, path, data)
    except NotJson:
        return None
    return payload


def read_data(path: str, *, watches: bool = True) -> Script[api.NodeData | None]:
    """`readDataMaybeNull`: the znode, or None if it is not there. What sets no watch goes past ZkClient."""
    read = api.GetData(path)
    try:
        node: api.NodeData = yield read if watches else PastZkClient(read)
    except api.NoNode:
        return None
    return node


def text_of(data: bytes | None) -> str:
    """What ZkClient reads, as Scala prints it: `null` for a znode without data."""
    return "null" if data is None else data.decode(errors="replace")


def read_state_znode(partition: TopicPartition) -> Script[Found]:
    """`getLeaderIsrAndEpochForPartition`: what a state znode says, or None if it is not there, or says nothing."""
    path = state_path(partition)
    node = yield from read_data(path)
    with suppress(NotJson):
        return None if node is None else leadership_in(path, node.data, node.stat.version)
    return None


def leadership_in(path: str, data: bytes | None, zk_version: int) -> LeaderIsrAndControllerEpoch:
    """`parseLeaderAndIsr`: the leadership that a state znode has at a data version; NotJson where it says nothing."""
    content: LeaderIsrAndControllerEpoch = parsed(PartitionStatePayload, path, data).leadership
    return changed(content, zk_version=zk_version)


@cache
def state_data(leadership: LeaderIsrAndControllerEpoch) -> bytes | None:
    """`leaderAndIsrZkData`: the content of a state znode that says so."""
    return PartitionStatePayload(leadership=leadership).encode()


def number_of(parent: str, name: str) -> int:
    """The number that the name of a child is, as of a broker or a partition; MalformedInput where it is not one."""
    if not re.fullmatch("-?[0-9]{1,10}", name):
        raise MalformedInput(f"{parent}/{name}", "", "its name is no number")
    return int(name)


def create_persistent(path: str, data: bytes | None) -> Script[None]:
    """`createPersistentPath`: missing parents are created too; NodeExists goes to the caller."""
    try:
        yield api.Create(path, data)
    except api.NoNode:
        yield from create_with_parents(api.parent_path(path))
        yield api.Create(path, data)


def create_with_parents(path: str) -> Script[None]:
    """`makeSurePersistentPathExists`: a znode without data, and whatever is missing above it."""
    with suppress(api.NodeExists):
        yield from create_persistent(path, None)


def delete_if_there(path: str) -> Script[bool]:
    """`delete`: whether it was there; NotEmpty goes to the caller."""
    try:
        yield api.Delete(path)
    except api.NoNode:
        return False
    return True


def children_of(path: str, *, watches: bool = True) -> Script[tuple[str, ...] | None]:
    """`getChildren`: the names, or None where there is no such znode."""
    read = api.GetChildren(path)
    try:
        children = yield read if watches else PastZkClient(read)
    except api.NoNode:
        return None
    names: tuple[str, ...] = children.names
    return names


def delete_recursively(path: str) -> Script[bool]:
    """`deleteRecursive`: a znode and all below it; false, with the rest left, where one went just before its turn.

    It lists without a watch, whoever listens to a znode (ZkClient's `getChildren(path, false)`).
    """
    names = yield from children_of(path, watches=False)
    for name in names or ():
        if not (yield from delete_recursively(f"{path}/{name}")):
            return False
    return True if names is None else (yield from delete_if_there(path))


def create_ephemeral(path: str, data: bytes | None) -> Script[int | None]:
    """`ZKCheckedEphemeral`: create it, or say which session's it is; what goes away meanwhile is created after all.

    So are missing parents (its `createRecursive`; `createEphemeralPath` of 0.8.2).
    """
    while True:
        try:
            yield api.Create(path, data, api.CreateMode.EPHEMERAL)
        except api.NodeExists:
            owner = yield from owner_of(path)
            if owner is not None:
                return owner
        except api.NoNode:
            yield from create_with_parents(api.parent_path(path))
        else:
            return None


def owner_of(path: str) -> Script[int | None]:
    """The session that owns an ephemeral znode; None where there is no znode. The read goes past ZkClient."""
    node = yield from read_data(path, watches=False)
    return None if node is None else node.stat.ephemeral_owner


def update_state_znode(
    partition: TopicPartition, leadership: LeaderIsrAndControllerEpoch, *, compares_content: bool = True
) -> Script[int | None]:
    """`updateLeaderAndIsr`: the new version, or None if the znode is gone or not at the version that was decided on.

    Content as it was to be written counts as success, in case the answer to this very write was lost (KAFKA-1382);
    before 0.8.2.0 nobody asked (D31). What cannot be read is other content (`checkLeaderAndIsrZkData`).
    """
    try:
        stat = yield api.SetData(state_path(partition), state_data(leadership), leadership.zk_version)
    except api.NoNode:
        return None
    except api.BadVersion:
        if not compares_content:
            return None
        try:
            found = yield from read_state_znode(partition)
        except MalformedInput:
            return None
        return found.zk_version if found is not None and state_data(found) == state_data(leadership) else None
    version: int = stat.version
    return version
