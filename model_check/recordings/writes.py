"""Which of ZooKeeper's writes are passed over, since the protocol's controller neither reads nor writes them, and why.

And who may make which of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.formats import znode_paths as paths
from spec.formats.znode_paths import Path


@dataclass(frozen=True)
class PassedOver:
    """A row of the table: such lines are passed over, for this reason."""

    reason: str


PARENT = PassedOver("a parent node, created once and never read for its content")
PARENTS: Final = (
    paths.BROKERS, paths.BROKER_IDS, paths.BROKER_TOPICS, paths.PARTITIONS, paths.PARTITION, paths.BROKER_SEQUENCE,
    paths.ADMIN, paths.DELETE_TOPICS, paths.ISR_CHANGES, paths.CONSUMERS, paths.CONFIG, paths.CONFIG_TOPICS,
    paths.CONFIG_CHANGES, paths.CONFIG_CLIENTS, paths.CLUSTER,
)  # fmt: skip
SETTINGS = PassedOver("configuration, which the controller reads only for unclean.leader.election.enable")
FOREIGN: Final = "what consumers, quotas, users, ACLs and configuration changes keep, which no controller reads"
FOREIGN_ROOTS: Final = (
    "/consumers/", "/config/changes/", "/config/clients/", "/config/users", "/config/brokers", "/kafka-acl",
)  # fmt: skip
"""What the paths begin with that the controller has nothing to do with."""
READ_ROOTS: Final = (
    "/brokers/ids/", "/brokers/topics/", "/admin/delete_topics/", "/isr_change_notification/", "/config/topics/",
)  # fmt: skip
"""Where the controller reads what it finds: what is below, and of no known kind, is refused."""
UNKNOWN: Final = "which the documented controller neither reads nor writes"
CHECKED = PassedOver("a check of a version, together with other changes; it changes nothing")
WITHOUT_ASSIGNMENT = PassedOver("a topic's node without an assignment, made for a state below it: no topic")
OF_A_TOOL = PassedOver("an admin tool's session")
REFUSED_TO_A_TOOL = PassedOver("an admin tool's write that failed, which changes nothing")
EMPTIED = PassedOver("a parent node, deleted with what was below it")


def why_nobody_reads(path: str) -> str:
    """Why no controller of the era reads or writes a path; nothing where one does, or would read what is below."""
    if path.startswith(FOREIGN_ROOTS):
        return FOREIGN
    if Path.find(path) is not None or path.startswith(READ_ROOTS):
        return ""
    return f"{'/'.join(path.split('/')[:3])}, {UNKNOWN}"


WRITTEN_BY_BROKERS: Final = frozenset(
    {paths.CONTROLLER, paths.CONTROLLER_EPOCH, paths.BROKER, paths.STATE, paths.ISR_CHANGE}
)
"""What an admin tool never writes; a session that does is a broker's, and must be known as one."""
DELETED_BY_BROKERS: Final = WRITTEN_BY_BROKERS - {paths.STATE, paths.CONTROLLER}
"""What is not removed by hand as far as the specification goes; a topic is, and what is below it, and /controller."""
MAY_BE_FILLED_LATER: Final = frozenset({paths.BROKER})
"""What may be created empty, and written in the same transaction, as brokers do from 2.2 on."""
WITH_VERSION: Final = frozenset({paths.CONTROLLER_EPOCH, paths.STATE})
"""What is written on condition of its version."""

REFUSALS: Final[Mapping[str, PassedOver]] = {
    "NoNode": PassedOver(
        "a write to a node that is not there: first creates, and the failover's delete of an absent request"
    ),
    "NodeExists": PassedOver("a create of a node that is there: fixed paths at start-up, losers of /controller"),
}
"""Failed writes that are passed over: their path is not logged, and they change nothing."""
