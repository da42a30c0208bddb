"""The end of a topic's deletion: its replicas and partitions are forgotten, then its znodes go, one after the other.

The order is: the state znodes, the topic, its configuration, the request. Whoever comes between two of them finds half
a topic. A topic that is created again after the second loses its configuration to the third (D55). A controller that
dies before the last leaves a request for a topic without replicas, which ends the next one's thread (D37), or for one
that was created again, which is then deleted. One that dies between the first two leaves a topic without leadership,
which nobody can delete (D16). And one that dies when it is done takes along what it had still to tell: a broker without
a replica does not hear of the deletion any more, and keeps the partitions in its metadata cache, for what
UpdateMetadata does not name stays there (S10).

Kafka 0.10.2.2: `TopicDeletionManager.completeDeleteTopic`. PROTOCOL.md section 7.4.
"""

from spec.language.rules import in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.topic_deletion import TopicDeleted
from spec.model import Model
from spec.protocol.context.assignment import forget_assignments
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.deletion.queue import delete_the_request, end_thread, say_held_back, turn_to_next
from spec.protocol.leadership_cache import has_assignment
from spec.protocol.requests.batch import FIELDS
from spec.protocol.state_change_log import log_lost_leader, replica_goes, replica_stays
from spec.protocol.zookeeper import acts, exists, is_fenced_off, notify, state_changed
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import move
from spec.variants import Switch

COMPLETE = "TopicDeletionManager.completeDeleteTopic 0.10.2.2"


def complete(s: State, m: Model, c: int, t: int) -> None:
    """Forget the topic's own listener, its replicas and its partitions; then its znodes go.

    Without that listener (the topic was never known) Kafka raises, and the thread is at its end (D37).
    """
    controller = s.controllers[c]
    goes_on = controller.modified[t]
    if m.fixes(Switch.COMPLETE_UNKNOWN_DELETIONS):
        goes_on = flag(True)
    with when(~goes_on):
        end_thread(s, m, c)
    with when(goes_on):
        _forget_replicas(s, m, c, t)
        _forget_partitions(s, m, c, t)
        controller.modified[t] = False
        controller.topic_listening[t] = False
        controller.topic_watching[t] = False
        controller.queued[t] = False
        if m.fixes(Switch.COMPLETION_FORGETS_MARK):
            controller.ineligible[t] = False
        with when(~either(*(controller.queued[u] for u in m.topics))):
            controller.woken = False
        there = {p: exists(s.zookeeper.state[p]) for p in m.partitions_of(t)}
        for p in m.partitions_of(t):
            controller.partitions[p].todo = there[p]
        controller.at = choose(either(*there.values()), At.DELETE_STATE, controller.at.kind.constant(At.DELETE_TOPIC))


def _forget_replicas(s: State, m: Model, c: int, t: int) -> None:
    """Deleted replicas go to NonExistent.

    Of a topic that is gone without this controller's doing no replica goes anywhere: it has no AR (D53).
    """
    with in_any_order():
        for p in m.partitions_of(t):
            cached = s.controllers[c].partitions[p]
            there = has_assignment(s, m, c, p)
            for r in m.assigned(p):
                deleted = flag(cached.replicas[r] == ReplicaState.DELETION_SUCCESSFUL)
                with when(both(deleted, ~there)):
                    replica_stays(s, m, c, p, r, ReplicaState.NON_EXISTENT)
                with when(both(deleted, there)):
                    replica_goes(s, c, p, r, ReplicaState.NON_EXISTENT)
            reset(cached, "assigned")


def _forget_partitions(s: State, m: Model, c: int, t: int) -> None:
    """Then all partitions go Offline, unless the topic is not known, and then to NonExistent, too."""
    known, states = s.controllers[c].topics[t], (PartitionState.OFFLINE, PartitionState.NON_EXISTENT)
    with when(known):
        for target in states:
            with in_any_order():
                for p in m.partitions_of(t):
                    log_lost_leader(s, c, p, target, *states[: states.index(target)])
    for p in m.partitions_of(t):
        with when(known):
            move(s.controllers[c].partitions[p], "state", *states)
        s.controllers[c].doomed[p] = False


@controller_step(At.DELETE_STATE, source=COMPLETE, parts=("deletion",))
def delete_state(s: State, m: Model, c: int, p: int) -> None:
    """Delete a state znode of the topic."""
    require(s.controllers[c].partitions[p].todo, ~is_unanswered(s, m, c))
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        with when(exists(s.zookeeper.state[p])):
            remove_state(s, m, c, p)
        state_is_gone(s, m, c, p)
    controller_moved(s, m, c, where=fenced)


def is_unanswered(s: State, m: Model, c: int) -> Value:
    """Whether a controller waits for the answer to a delete, and it is lost."""
    return either(*(s.controllers[c].unanswered[p] for p in m.partitions))


def remove_state(s: State, m: Model, c: int, p: int) -> None:
    """A partition's state znode goes."""
    observe(f"controller {c}", "delete state", partition=p)
    reset(s.zookeeper.state[p])
    state_changed(s, m, p)
    acts(s, m, c)


def state_is_gone(s: State, m: Model, c: int, p: int) -> None:
    """A state znode is not there any more; after the last one it is the topic's turn."""
    partitions = s.controllers[c].partitions
    partitions[p].todo = False
    with when(~either(*(partitions[q].todo for q in m.partitions))):
        s.controllers[c].at = At.DELETE_TOPIC


@controller_step(At.DELETE_TOPIC, source=COMPLETE, parts=("deletion",))
def delete_topic(s: State, m: Model, c: int, t: int) -> None:
    """Delete the topic's znode; a state znode that was created meanwhile is in the way, and ends the thread.

    The transaction (a fix) is carried out as a whole, or not at all: where the request is gone, so was the topic.
    """
    controller, zookeeper = s.controllers[c], s.zookeeper
    require(controller.topic == t)
    fenced = is_fenced_off(s, m, c)
    blocked = either(*(exists(zookeeper.state[p]) for p in m.partitions_of(t)))
    with when(both(~fenced, ~blocked)):
        if m.fixes(Switch.ATOMIC_COMPLETION):
            with when(zookeeper.deletions[t]):
                remove_topic(s, m, c, t)
                remove_configuration(s, m, c, t)
            _end_completion(s, m, c, t)
        else:
            remove_topic(s, m, c, t)
            controller.at = At.DELETE_CONFIGURATION
    with when(both(~fenced, blocked)):
        end_thread(s, m, c)
    controller_moved(s, m, c, where=fenced)


def remove_topic(s: State, m: Model, c: int, t: int) -> None:
    """A topic's znode goes, if it is there."""
    zookeeper = s.zookeeper
    with when(zookeeper.topics[t]):
        observe(f"controller {c}", "delete topic", topic=t)
        zookeeper.topics[t] = False
        s.history.asked[t] = False
        for p in m.partitions_of(t):
            zookeeper.assigned[p] = ()
        acts(s, m, c)
        notify(s, m, "topics")


@controller_step(At.DELETE_CONFIGURATION, source=COMPLETE, parts=("deletion",))
def delete_configuration(s: State, m: Model, c: int, t: int) -> None:
    """Delete the topic's configuration."""
    controller = s.controllers[c]
    require(controller.topic == t)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        remove_configuration(s, m, c, t)
        controller.at = At.DELETE_REQUEST
    controller_moved(s, m, c, where=fenced)


def remove_configuration(s: State, m: Model, c: int, t: int) -> None:
    """A topic's configuration goes, if it is there."""
    with when(s.zookeeper.configurations[t]):
        observe(f"controller {c}", "delete configuration", topic=t)
        s.zookeeper.configurations[t] = False
        s.zookeeper.unclean[t] = m.unclean
        acts(s, m, c)


@controller_step(At.DELETE_REQUEST, source=COMPLETE, parts=("deletion",))
def delete_request(s: State, m: Model, c: int, t: int) -> None:
    """Delete the request; the controller forgets the topic, and the thread turns to the next."""
    controller = s.controllers[c]
    require(controller.topic == t)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        _end_completion(s, m, c, t)
    controller_moved(s, m, c, where=fenced)


def _end_completion(s: State, m: Model, c: int, t: int) -> None:
    """The request goes, and with it all that the controller knew of the topic."""
    delete_the_request(s, m, c, t)
    forget_assignments(s, m, c, t)
    for p in m.partitions_of(t):
        reset(s.controllers[c].partitions[p], *FIELDS)
    say(TopicDeleted, topic=t)
    say_held_back(s, c, t)
    turn_to_next(s, m, c)
