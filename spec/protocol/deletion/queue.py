"""The topic deletion manager's memory and thread: which topics are queued, which are held back, whose turn it is.

What other parts ask of it is in spec/protocol/context/deletion_marks.py.

A topic is queued from the request to the end of its deletion. Meanwhile its partitions get no leader, its replicas are
not removed from the ISR when their brokers die, and brokers are sent of it only that it goes. A mark as ineligible
holds a queued topic back; the mark of a topic that is not queued is lost (D44), and the mark of one whose deletion
completes stays (D45).

Kafka 0.10.2.2: `TopicDeletionManager`: `enqueueTopicsForDeletion`, `markTopicIneligibleForDeletion`,
`resumeDeletionForTopics`, `failReplicaDeletion`. PROTOCOL.md section 7.4.
"""

from spec.language.rules import in_any_order, observe, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.controller_log.topic_deletion import DeletionHalted, DeletionIneligible, ReplicaDeletionFailed
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, is_there
from spec.protocol.context.deletion_marks import is_busy
from spec.protocol.controller.threads import give_lock_back
from spec.protocol.leadership_cache import has_assignment
from spec.protocol.state_change_log import refused, replica_goes, replica_stays
from spec.protocol.zookeeper import acts, notify
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, DeletionThread
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def enqueue(s: State, m: Model, c: int, t: int) -> None:
    """Queue a topic, with the partitions that are known of it by now."""
    s.controllers[c].queued[t] = True
    doom(s, m, c, t)


def doom(s: State, m: Model, c: int, t: int, *, where: object = True) -> None:
    """From now on every UpdateMetadata tells that the partitions which are known of a topic by now are removed."""
    controller = s.controllers[c]
    for p in m.partitions_of(t):
        known = both(controller.topics[t], is_there(s, m, c, p) if m.has("addition") else True)
        controller.doomed[p] = either(controller.doomed[p], both(where, known))


def wake(s: State, m: Model, c: int) -> None:
    """Wake the deletion thread; with nothing queued it would only go to sleep again."""
    controller = s.controllers[c]
    controller.woken = either(*(controller.queued[t] for t in m.topics))


def hold_back(s: State, c: int, t: int) -> None:
    """Mark a topic as ineligible for deletion, which does nothing to one that is not queued (yet)."""
    with when(s.controllers[c].queued[t]):
        s.controllers[c].ineligible[t] = True


def resume_deletion(s: State, m: Model, c: int, t: int) -> None:
    """A reassignment or an election of a topic is over: if it is queued, it is not held back any more."""
    with when(s.controllers[c].queued[t]):
        s.controllers[c].ineligible[t] = is_busy(s, m, c, t) & flag(m.fixes(Switch.MARK_WHAT_IS_QUEUED))
        wake(s, m, c)


def resume_deletions(s: State, m: Model, c: int, new: Value) -> None:
    """Brokers have started: no queued topic with a replica on one of them is held back any more.

    That is the last thing about their start; before it partitions of other topics are visited, and a reassignment may
    raise, which ends all of it (D51). Where there is neither, nothing comes in between.
    """
    for t in m.topics:
        returned = either(*(~m.brokers.disjoint(assigned_set(s, m, c, p), new) for p in m.partitions_of(t)))
        if m.keeps(Controller.resuming):
            s.controllers[c].resuming[t] = both(returned, s.controllers[c].queued[t])
        else:
            with when(returned):
                resume_deletion(s, m, c, t)


def end_startup(s: State, m: Model, c: int) -> None:
    """The start of brokers has been handled, except for the topics that it resumes."""
    for t in m.topics:
        with when(s.controllers[c].resuming[t]):
            resume_deletion(s, m, c, t)
    reset(s.controllers[c], "resuming")


def fail_deletions(s: State, m: Model, c: int, dead: Value) -> None:
    """Brokers have died: what was to be deleted on them is not, and its topics are held back."""
    queued = s.controllers[c].queued
    failed = {p: m.brokers.intersection(dead, assigned_set(s, m, c, p)) for p in m.partitions}
    topics = {
        t: both(queued[t], either(*(~m.brokers.is_empty(failed[p]) for p in m.partitions_of(t)))) for t in m.topics
    }
    with when(either(*topics.values())):
        say(
            ReplicaDeletionFailed, replicas={p: (topics[m.topic_of(p)], failed[p]) for p in m.partitions}, topics=topics
        )
    with in_any_order():
        for p in m.partitions:
            for r in m.assigned(p):
                with when(both(m.brokers.in_set(r, dead), m.brokers.in_set(r, assigned_set(s, m, c, p)))):
                    _fail_deletion(s, m, c, p, r)
    with when(either(*topics.values())):
        say(DeletionHalted, topics=topics)


def fail_deletion(s: State, m: Model, c: int, p: int, r: int, *, holds_back: bool = True) -> None:
    """An answer says that a replica was not deleted, which counts like the death of its broker."""
    queued, topics = s.controllers[c].queued[m.topic_of(p)], {m.topic_of(p): flag(True)}
    with when(queued):
        say(ReplicaDeletionFailed, replicas={p: (flag(True), m.brokers.set_kind.constant((r,)))}, topics=topics)
    _fail_deletion(s, m, c, p, r, holds_back=holds_back)
    with when(queued & flag(holds_back)):
        say(DeletionHalted, topics=topics)


def _fail_deletion(s: State, m: Model, c: int, p: int, r: int, *, holds_back: bool = True) -> None:
    """A replica of a queued topic is not deleted, or is so no more; the topic is held back, the thread is woken."""
    controller, t = s.controllers[c], m.topic_of(p)
    state, there = controller.partitions[p].replicas[r], has_assignment(s, m, c, p)
    with when(controller.queued[t]):
        with when(there):
            refused(s, m, c, p, r, ReplicaState.DELETION_INELIGIBLE)
        with when(~there):
            replica_stays(s, m, c, p, r, ReplicaState.DELETION_INELIGIBLE)
        with when(both(state == ReplicaState.DELETION_STARTED, there)):
            replica_goes(s, c, p, r, ReplicaState.DELETION_INELIGIBLE)
        if holds_back:
            controller.ineligible[t] = True
        wake(s, m, c)


def say_held_back(s: State, c: int, t: int) -> None:
    """The thread leaves a topic that is marked as ineligible."""
    with when(s.controllers[c].ineligible[t]):
        say(DeletionIneligible, topic=t)


def turn_to_next(s: State, m: Model, c: int) -> None:
    """The topic at hand is done with for now; with no more of them the lock is free."""
    controller = s.controllers[c]
    reset(controller, "handler", "topic")
    more = either(*(controller.turns[t] for t in m.topics))
    with when(more):
        controller.at = At.DELETE_QUEUED
    with when(~more):
        give_lock_back(s, m, c)


def end_thread(s: State, m: Model, c: int) -> None:
    """An exception ends the thread, whatever else is queued."""
    controller = s.controllers[c]
    observe(f"controller {c}", "end deletion thread")
    say(DeletionThreadFailed)
    controller.deletion = DeletionThread.ENDED
    reset(controller, "handler", "topic", "turns", "woken")
    give_lock_back(s, m, c)


def delete_the_request(s: State, m: Model, c: int, t: int) -> None:
    """The request to delete a topic goes, if it is there."""
    with when(s.zookeeper.deletions[t]):
        observe(f"controller {c}", "delete delete_topics", topic=t)
        s.zookeeper.deletions[t] = False
        acts(s, m, c)
        notify(s, m, "deletions")
