"""Foreign re-creation of a topic: one that somebody removed by hand comes again, and its controller knows it still.

The controller forgot the AR and nothing else (spec/protocol/topics/removal_by_hand.py). So the table refuses to take
the partitions to New that are Online, and the replicas that are Online, too; both is logged, and the creation goes on.
What is to go Online is elected for, as it is no more New, from a state znode that is gone: that fails, and nothing is
created. And the replicas go Online from what they are, with the leadership of the topic that was: it is sent to them,
and to everybody as metadata, as if it were the new one's. So the topic has no state znode, and no broker that may write
one: a leader that changes its ISR finds nothing (D53).

The same comes of a topic that its own controller has deleted, where the listener on the topic's znode has still to be
heard: it finds the topic that has come again, and creates its partitions; then the listener on topics finds it new.
They are elected for once more, which raises their leader epoch, and their replicas are sent that once more (D17).

It is kept which topics are being created, for only their replicas are sent it at the end. Left out: partitions that are
added to a topic whose znodes were removed.

Kafka 0.10.2.2: `KafkaController.onNewPartitionCreation`, `ReplicaStateMachine.handleStateChange`. PROTOCOL.md sections
3, 4 and 7.3.
"""

from spec.language.rules import reset
from spec.language.terms import Value, choose, flag
from spec.model import Model
from spec.protocol.context.assignment import assigned_set
from spec.protocol.leadership.replicas import go_online
from spec.state.cluster import State
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState


def is_elected_again(s: State, c: int, p: int) -> Value:
    """Whether a partition of a topic that is created is Online already; its way Online is an election then."""
    return flag(s.controllers[c].partitions[p].state == PartitionState.ONLINE)


def tell_of_left_overs(s: State, m: Model, c: int) -> None:
    """The replicas of a topic that is created, except the new ones, are sent what is cached of it, as one batch."""
    controller = s.controllers[c]
    left_over = {}
    for p in m.partitions:
        replicas = controller.partitions[p].replicas
        known = m.brokers.set_from({r: flag(replicas[r] != ReplicaState.NEW) for r in m.assigned(p)})
        assigned = m.brokers.intersection(known, assigned_set(s, m, c, p))
        left_over[p] = choose(controller.created[m.topic_of(p)], assigned, m.brokers.empty_set())
    go_online(s, m, c, left_over, {})
    reset(controller, "created")
