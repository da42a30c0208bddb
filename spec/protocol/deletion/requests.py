"""Requests to delete topics: asked for in /admin/delete_topics, queued or dropped by the listener, read by a failover.

What the thread does with what is queued is in spec/protocol/deletion/thread.py. With `delete.topic.enable` off, as
is the default of the era, all requests are dropped, by the listener those for unknown topics first, and by a failover;
nothing is ever queued, and there is no thread. Before 0.10.2.0 there was no listener then, and they stayed (D71).

Kafka 0.10.2.2: `AdminUtils.deleteTopic`, `PartitionStateMachine.DeleteTopicsListener`,
`KafkaController.initializeTopicDeletion`. PROTOCOL.md section 7.4.
"""

from collections.abc import Mapping

from spec.language.rules import action, in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.failover import TopicsToBeDeleted
from spec.logs.controller_log.topic_deletion import (
    DeletionHalted,
    DeletionQueued,
    DeletionRequested,
    RequestRefused,
    RequestRefusedAtStart,
    UnknownTopicsIgnored,
)
from spec.model import Model
from spec.protocol.context.assignment import assigned_set
from spec.protocol.context.deletion_marks import is_busy
from spec.protocol.controller.early_reads import content_for, given
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.controller.threads import become_idle
from spec.protocol.deletion.queue import delete_the_request, doom, enqueue, hold_back, wake
from spec.protocol.junctions import Junction, proceed
from spec.protocol.zookeeper import is_fenced_off, notify, rearm_watch, take_head
from spec.state.cluster import State
from spec.state.enumerations import At, Callback, DeletionThread, Handler
from spec.variants import Switch


@action(actor="admin", source="AdminUtils.deleteTopic 0.10.2.2", budget="deletions", parts=("deletion",))
def request_deletion(s: State, m: Model, t: int) -> None:
    """The admin tool asks for the deletion of a topic that exists."""
    require(s.zookeeper.topics[t], ~s.zookeeper.deletions[t])
    s.history.asked[t] = True
    _create_request(s, m, t)


@action(
    actor="admin", source="zookeeper-shell.sh create /admin/delete_topics/T", budget="stray_deletions",
    parts=("deletion",),
)  # fmt: skip
def request_stray_deletion(s: State, m: Model, t: int) -> None:
    """Somebody asks for the deletion of a topic that does not exist; the tool, if it goes between its look and this."""
    require(~s.zookeeper.topics[t], ~s.zookeeper.deletions[t])
    _create_request(s, m, t)


def _create_request(s: State, m: Model, t: int) -> None:
    s.zookeeper.deletions[t] = True
    observe("admin", "create delete_topics", topic=t)
    notify(s, m, "deletions")


@listener(Callback.DELETIONS, source="DeleteTopicsListener 0.10.2.2", parts=("deletion", "heard_deletions"))
def on_deletion_change(s: State, m: Model, c: int) -> None:
    """The requests changed: those for unknown topics are dropped, then known topics are queued and the thread is woken.

    What is queued is what was read here; requests that come meanwhile have a callback of their own.
    """
    controller = s.controllers[c]
    require(controller.active)
    requests = content_for(s, m, c, "deletions")
    with when(~given(s, c)):
        rearm_watch(s, c, "deletions")
    take_head(s, m, c)
    known, unknown = {}, {}
    for t, asked in requests.items():
        known[t], unknown[t] = both(asked, controller.topics[t]), both(asked, ~controller.topics[t])
    drops = either(*unknown.values())
    say(DeletionRequested, topics=requests)
    with when(drops):
        say(UnknownTopicsIgnored, topics=unknown)
        _drop(s, m, c, unknown)
        for t in m.topics:
            controller.to_queue[t] = known[t]
    with when(~drops):
        _take_up(s, m, c, known)


def _take_up(s: State, m: Model, c: int, topics: Mapping[int, Value]) -> None:
    """Requests for known topics are carried out, or dropped where topics are not deleted."""
    if not m.refuses_deletions:
        _queue(s, m, c, topics)
        return
    with when(either(*topics.values())):
        _drop(s, m, c, topics)


def _drop(s: State, m: Model, c: int, topics: Mapping[int, Value]) -> None:
    """Requests are to be deleted, one by one."""
    s.controllers[c].at = At.DROP_REQUEST
    for t in m.topics:
        s.controllers[c].turns[t] = topics[t]


def _queue(s: State, m: Model, c: int, topics: Mapping[int, Value]) -> None:
    """Topics are queued and the thread is woken, if there is one.

    A topic that is being reassigned is marked as ineligible before it is queued, which does nothing (D44), unless it is
    queued already.
    """
    controller = s.controllers[c]
    with when(either(*topics.values())):
        say(DeletionQueued, topics=topics)
    with in_any_order():
        for t, chosen in topics.items():
            fixed = both(m.fixes(Switch.MARK_WHAT_IS_QUEUED), controller.deletion != DeletionThread.NONE)
            with when(both(chosen, either(fixed, controller.queued[t]), is_busy(s, m, c, t))):
                say(DeletionHalted, topics={t: flag(True)})
    for t, chosen in topics.items():
        with when(both(chosen, controller.deletion != DeletionThread.NONE)):
            with when(is_busy(s, m, c, t)):
                hold_back(s, c, t)
            enqueue(s, m, c, t)
            wake(s, m, c)
            if m.fixes(Switch.MARK_WHAT_IS_QUEUED):
                controller.ineligible[t] = either(controller.ineligible[t], is_busy(s, m, c, t))


@controller_step(At.DROP_REQUEST, source="DeleteTopicsListener 0.10.2.2", parts=("deletion",))
def drop_request(s: State, m: Model, c: int, t: int) -> None:
    """A request to delete a topic that is not known is deleted; behind the last one the known topics are queued."""
    controller = s.controllers[c]
    require(controller.turns[t])
    fenced = is_fenced_off(s, m, c)
    if m.refuses_deletions:
        with when(both(~fenced, controller.handler == Handler.FAILOVER)):
            say(RequestRefusedAtStart, topic=t)
        with when(both(~fenced, controller.handler == Handler.NONE, controller.topics[t])):
            say(RequestRefused, topic=t)
    with when(~fenced):
        delete_the_request(s, m, c, t)
        controller.turns[t] = False
        with when(~either(*(controller.turns[u] for u in m.topics))):
            _end_dropping(s, m, c)
    controller_moved(s, m, c, where=fenced)


def _end_dropping(s: State, m: Model, c: int) -> None:
    """All that was to be dropped is: a listener takes up the known topics, a failover goes on."""
    controller = s.controllers[c]
    if not m.refuses_deletions:
        _end_listener(s, m, c)
        return
    in_failover = flag(controller.handler == Handler.FAILOVER)
    with when(~in_failover):
        _end_listener(s, m, c)
    with when(in_failover):
        controller.handler = Handler.NONE
        proceed(Junction.DELETIONS_READ, s, m, c, handler=Handler.NONE)


def _end_listener(s: State, m: Model, c: int) -> None:
    become_idle(s, c)
    _take_up(s, m, c, {u: s.controllers[c].to_queue[u] for u in m.topics})
    reset(s.controllers[c], "to_queue")


@controller_step(At.READ_DELETIONS, source="KafkaController.initializeTopicDeletion 0.10.2.2", parts=("deletion",))
def read_deletions(s: State, m: Model, c: int) -> None:
    """Failover 7 (end): queue what is asked for, known or not; a topic that has a dead replica, or is busy, is held
    back.

    Where topics are not deleted the requests are; before 0.10.2.0 they stay, and their partitions are doomed all the
    same, so that every UpdateMetadata tells that they are removed, which nothing ever undoes (D71).
    """
    controller = s.controllers[c]
    if not m.leaves_deletions:
        rearm_watch(s, c, "deletions")
    reset(controller, "queued", "doomed", "woken")
    for t in m.topics:
        asked = s.zookeeper.deletions[t]
        observe(f"controller {c}", "read /admin/delete_topics", topic=t, present=asked)
        controller.modified[t] = controller.topics[t]
        if not m.refuses_deletions:
            live = (m.brokers.is_subset(assigned_set(s, m, c, p), controller.live) for p in m.partitions_of(t))
            with when(asked):
                enqueue(s, m, c, t)
            controller.ineligible[t] = both(asked, either(~both(*live), is_busy(s, m, c, t)))
        if m.leaves_deletions:
            doom(s, m, c, t, where=asked)
    if m.refuses_deletions:
        _refuse_pending(s, m, c)
    else:
        proceed(Junction.DELETIONS_READ, s, m, c, handler=Handler.NONE)


def _refuse_pending(s: State, m: Model, c: int) -> None:
    """A failover drops what is asked for, or leaves it there, and goes on."""
    requests = {t: flag(s.zookeeper.deletions[t]) for t in m.topics}
    say(TopicsToBeDeleted, topics=requests)
    drops = both(either(*requests.values()), not m.leaves_deletions)
    with when(drops):
        s.controllers[c].handler = Handler.FAILOVER
        _drop(s, m, c, requests)
    with when(~drops):
        proceed(Junction.DELETIONS_READ, s, m, c, handler=Handler.NONE)
