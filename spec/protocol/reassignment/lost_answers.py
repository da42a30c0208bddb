"""Answers to a reassignment's writes that are lost: the client makes the same call again, which meets its own effect.

The writes of the state znode (steps 2 and 7) are conditional: the second fails on the first one's version, is compared
with what is there, and counts as done (KAFKA-1382). Those of the topic's znode (steps 1 and 10) are made twice, which
does no harm. But the request (step 11, or a refusal) is deleted, or written, whoever made it: one that the admin has
made in between, which nobody has read, is gone (S8).

Kafka 0.10.2.2: `ZkClient.retryUntilConnected` 0.10, `ZkUtils.deletePath`, `updatePersistentPath`,
`ReplicationUtils.updateLeaderAndIsr`. PROTOCOL.md sections 2 and 8.
"""

from spec.language.rules import require
from spec.model import Model
from spec.protocol.context.assignment import write_topic
from spec.protocol.controller.places import controller_step
from spec.protocol.leadership.state_writes import write_decision_unanswered
from spec.protocol.leadership_cache import assigned_replicas
from spec.protocol.reassignment.requests import changes_request, working_on, write_request
from spec.protocol.zookeeper import is_fenced_off
from spec.state.cluster import State
from spec.state.enumerations import At

PARTS = ("reassignment",)
SOURCE = "ZkClient.retryUntilConnected 0.10"


@controller_step(At.WRITE_UNION, source=SOURCE, budget="move_losses", parts=PARTS)
def write_union_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Step 1: the topic's znode is written, but the answer is lost; the client will write the same again."""
    working_on(s, c, p)
    require(~is_fenced_off(s, m, c))
    write_topic(s, m, c, p, m.brokers.merged(s.controllers[c].reassigned[p], assigned_replicas(s, m, c, p)))


@controller_step(At.BUMP_WRITE, source=SOURCE, budget="move_losses", parts=PARTS)
def write_bump_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Step 2: the state znode is written, but the answer is lost; the client's second write finds its own first."""
    working_on(s, c, p)
    write_decision_unanswered(s, m, c, p)


@controller_step(At.MOVE_WRITE, source=SOURCE, budget="move_losses", parts=PARTS)
def write_move_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Step 7: the state znode is written, but the answer is lost; the client's second write finds its own first."""
    working_on(s, c, p)
    write_decision_unanswered(s, m, c, p)


@controller_step(At.WRITE_TARGET, source=SOURCE, budget="move_losses", parts=PARTS)
def write_target_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Step 10: the topic's znode is written, but the answer is lost; the client will write the same again."""
    working_on(s, c, p)
    require(~is_fenced_off(s, m, c))
    write_topic(s, m, c, p, s.controllers[c].reassigned[p])


@controller_step(At.COMPLETE_WRITE, At.REFUSE_WRITE, source=SOURCE, budget="move_losses", parts=PARTS)
def write_remaining_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """Step 11, or a refusal: the request is written or deleted, but the answer is lost; the client does it again."""
    working_on(s, c, p)
    require(~is_fenced_off(s, m, c), changes_request(s, m, c))
    write_request(s, m, c)
