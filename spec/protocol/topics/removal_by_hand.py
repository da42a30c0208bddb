"""Foreign removal of a topic: its znodes vanish without this controller's doing, and leadership without AR is left.

Somebody takes `/brokers/topics/T` away, with all that is below: by hand, or as another controller that deletes the
topic. The listener finds it gone and forgets its AR, and nothing else. Leadership without AR makes the next
UpdateMetadata for all partitions raise in the middle, when a broker starts, or one dies that led nothing: the rest of
the handling is lost (D51), and the batch stays dirty, which ends the term of the controller that finds it so (D53;
spec/protocol/controller/controller_batch.py). The brokers are sent nothing, and if the topic is created again they
ignore what has no higher leader epoch than they know (D23); what its controller does, if it has its leadership still,
is in `recreation.py`.

By hand, scopes have it by the budget `removals`, where all znodes of a topic go in one step, and by `state_removals`,
where its state znodes may go before it, each in a step of its own. Left out: the topic's own listener; that a create of
a state znode of a topic that is gone creates the topic's znode with it, without data (`createPersistentPath`). Nobody
can parse that: a listener then knows the topic by its name only, and loses the rest of what changed; every later
failover ends there and resigns, until somebody removes the znode.

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `ZkUtils.getReplicaAssignmentForTopics`. PROTOCOL.md
section 7.3.
"""

from spec.language.rules import action, observe, require, reset, when
from spec.language.terms import both
from spec.model import Model
from spec.protocol.zookeeper import exists, notify, state_changed
from spec.state.cluster import State
from spec.variants import Switch

BY_HAND = "zookeeper-shell.sh rmr /brokers/topics/T"


@action(actor="admin", source=BY_HAND, budget="removals", parts=("creation",))
def remove_topic(s: State, m: Model, t: int) -> None:
    """Somebody removes a topic's znodes by hand."""
    require(s.zookeeper.topics[t])
    s.zookeeper.topics[t] = False
    for p in m.partitions_of(t):
        _remove_state(s, m, p)
        s.zookeeper.assigned[p] = ()
    observe("admin", "remove topic", topic=t)
    notify(s, m, "topics")


@action(actor="admin", source=BY_HAND, budget="state_removals", parts=("creation",))
def remove_state(s: State, m: Model, p: int) -> None:
    """Somebody who removes a topic's znodes by hand begins with the state znodes, one by one."""
    require(exists(s.zookeeper.state[p]))
    _remove_state(s, m, p)
    observe("admin", "remove state", partition=p)


def _remove_state(s: State, m: Model, p: int) -> None:
    with when(exists(s.zookeeper.state[p])):
        state_changed(s, m, p)
    reset(s.zookeeper.state[p])


def forget_leadership(s: State, m: Model, c: int, t: int) -> None:
    """Where the fix is on: with a topic that vanished goes all that was known of its partitions."""
    if m.loses_topics and m.fixes(Switch.FORGET_THE_VANISHED):
        for p in m.partitions_of(t):
            reset(s.controllers[c].partitions[p])


def read_topic_id(s: State, c: int, t: int) -> None:
    """Where topics have ids (a fix): the controller takes over which topic of that name it is; none if it is gone."""
    s.controllers[c].topic_ids[t] = both(s.zookeeper.topics[t], s.zookeeper.topic_ids[t])
