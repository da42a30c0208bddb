"""What admins ask of the controller: a row for each kind of request, which is a znode below /admin.

A tool creates the znode, which it cannot while one exists. The controller deletes it when it is done, or writes what is
left of it. Somebody may delete it by hand, as far as an action says so.

Kafka 0.10.2.2: `ReassignPartitionsCommand`, `PreferredReplicaLeaderElectionCommand`, `AdminUtils.deleteTopic`.
PROTOCOL.md section 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.formats import znode_paths as paths
from spec.formats.znode_paths import PathKind
from spec.language.rules import Rule
from spec.protocol.deletion.requests import request_deletion, request_stray_deletion
from spec.protocol.elections.requested import request_election, withdraw_election
from spec.protocol.reassignment.requests import request_reassignment, withdraw_reassignment


@dataclass(frozen=True)
class AdminRequest:
    """A kind of request.

    `field` of the state's `ZooKeeper` is what the znode says. `asked_by` are the actions that create it. `nobody_asks`
    is the reason that is given where a recording has no such request. `withdrawn_by` is the action that deletes it by
    hand. `rewritten` is what an observer sees of a controller that writes what is left of it, even if that is what the
    znode has already. `moves_leaders`: partitions that have a leader may get another by it.
    """

    kind: PathKind
    field: str
    asked_by: tuple[Rule, ...]
    nobody_asks: str
    withdrawn_by: Rule | None = None
    rewritten: str | None = None
    moves_leaders: bool = True


ADMIN_REQUESTS: Final[Mapping[str, AdminRequest]] = {
    "reassignment": AdminRequest(
        paths.REASSIGN_PARTITIONS, "requested", (request_reassignment,), "nothing is reassigned",
        withdraw_reassignment, rewritten="write /admin/reassign_partitions",
    ),
    "preferred_election": AdminRequest(
        paths.PREFERRED_REPLICA_ELECTION, "elections", (request_election,),
        "no preferred election is asked for", withdraw_election,
    ),
    "deletion": AdminRequest(
        paths.DELETE_TOPIC, "deletions", (request_deletion, request_stray_deletion), "no topic is deleted",
        moves_leaders=False,
    ),
}  # fmt: skip
"""All of them, by the part of the protocol that carries them out."""


def part_of(kind: PathKind) -> str:
    """The part of the protocol that carries out what a znode of this kind asks for."""
    return next(part for part, one in ADMIN_REQUESTS.items() if one.kind is kind)
