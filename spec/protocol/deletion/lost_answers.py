"""Answers to a deletion's last writes that are lost: the client makes the same call again, which meets its own effect.

A delete that finds nothing is no error: ZkClient's `delete` gives false. But `deleteRecursive` takes that for its own
end, at every level: what it had yet to delete of `/brokers/topics/T` stays, the topic's znode with it, while its
configuration and the request go as if nothing had happened, and nobody knows the topic any more (D70). The next
listener on topics takes it for one that was created. Elsewhere the second delete does no harm, unless it takes what was
created in between.

Of the deletes below the topic that of `partitions/P` stands for all: a lost answer to that of `state` before it, or of
`partitions` behind the last, has the same effect, unless another controller creates a state znode before the second
delete. Left out: another controller deletes a znode between its own listing, of its children, and its delete.

Kafka 0.10.2.2: `TopicDeletionManager.completeDeleteTopic`; ZkClient 0.10 `retryUntilConnected`, `deleteRecursive`.
PROTOCOL.md section 7.4.
"""

from spec.language.rules import require, when
from spec.language.terms import both, either
from spec.model import Model
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.deletion.completion import (
    is_unanswered,
    remove_configuration,
    remove_state,
    remove_topic,
    state_is_gone,
)
from spec.protocol.deletion.queue import delete_the_request, end_thread
from spec.protocol.zookeeper import exists, is_fenced_off
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.variants import Switch

PARTS = ("deletion", "creation")
SOURCE = "ZkClient.retryUntilConnected 0.10"


@controller_step(At.DELETE_STATE, source=SOURCE, budget="deletion_losses", parts=PARTS)
def delete_state_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """The znodes of a partition are deleted, but the last answer is lost; the client deletes again before all else."""
    controller = s.controllers[c]
    require(controller.partitions[p].todo, ~is_unanswered(s, m, c))
    require(exists(s.zookeeper.state[p]), ~is_fenced_off(s, m, c))
    remove_state(s, m, c, p)
    controller.unanswered[p] = True


@controller_step(At.DELETE_STATE, source="ZkClient.deleteRecursive 0.10", parts=(*PARTS, "deletion_losses"))
def delete_state_again(s: State, m: Model, c: int, p: int) -> None:
    """The second delete of a partition's znode finds nothing, which ends the recursion, but not the deletion (D70).

    A state znode that another controller has created meanwhile is in the way, and ends the thread.
    """
    controller = s.controllers[c]
    require(controller.unanswered[p])
    fenced, blocked = is_fenced_off(s, m, c), exists(s.zookeeper.state[p])
    controller.unanswered[p] = False
    with when(both(~fenced, blocked)):
        end_thread(s, m, c)
    with when(both(~fenced, ~blocked)):
        if m.fixes(Switch.GONE_IS_DELETED):
            state_is_gone(s, m, c, p)
        else:
            for q in m.partitions:
                controller.partitions[q].todo = False
            controller.at = At.DELETE_CONFIGURATION
    controller_moved(s, m, c, where=fenced)


@controller_step(At.DELETE_TOPIC, source=SOURCE, budget="deletion_losses", parts=PARTS)
def delete_topic_unanswered(s: State, m: Model, c: int, t: int) -> None:
    """The topic's znode is deleted (and, in one transaction, what goes with it), but the answer is lost."""
    require(s.controllers[c].topic == t, ~is_fenced_off(s, m, c))
    require(~either(*(exists(s.zookeeper.state[p]) for p in m.partitions_of(t))))
    atomic = m.fixes(Switch.ATOMIC_COMPLETION)
    require(s.zookeeper.deletions[t] if atomic else s.zookeeper.topics[t])
    remove_topic(s, m, c, t)
    if atomic:
        remove_configuration(s, m, c, t)
        delete_the_request(s, m, c, t)


@controller_step(At.DELETE_CONFIGURATION, source=SOURCE, budget="deletion_losses", parts=PARTS)
def delete_configuration_unanswered(s: State, m: Model, c: int, t: int) -> None:
    """The topic's configuration is deleted, but the answer is lost."""
    require(s.controllers[c].topic == t, s.zookeeper.configurations[t], ~is_fenced_off(s, m, c))
    remove_configuration(s, m, c, t)


@controller_step(At.DELETE_REQUEST, source=SOURCE, budget="deletion_losses", parts=PARTS)
def delete_request_unanswered(s: State, m: Model, c: int, t: int) -> None:
    """The request is deleted, but the answer is lost."""
    require(s.controllers[c].topic == t, s.zookeeper.deletions[t], ~is_fenced_off(s, m, c))
    delete_the_request(s, m, c, t)
