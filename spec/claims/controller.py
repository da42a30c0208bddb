"""What is claimed of controllers: epochs, terms, /controller, and what brokers obey.

A *term* is one win of /controller; it *acts* when it writes a znode or queues a request in the controller's role. The
writes of the election itself (/controller, /controller_epoch) are not acts.
"""

from itertools import combinations

from spec.language.records import array_of
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.state.brokers import Stage
from spec.state.cluster import State, epochs_acted_in
from spec.state.controller import Controller
from spec.state.enumerations import At, Session
from spec.state.listeners import listened_paths


@claim("sometimes", source="PROTOCOL.md section 6")
def a_second_term_acts(s: State, m: Model, c: int) -> Value:
    """Some term acts in the second controller epoch."""
    return both(s.controllers[c].acted, s.controllers[c].epoch == 2)


@claim("step", source="PROTOCOL.md D1; KafkaController.incrementControllerEpoch", witness="a_second_term_acts")
def one_term_acts_in_an_epoch(before: State, after: State, m: Model, c: int) -> Value:
    """No two terms ever act in the same controller epoch."""
    old, new = before.controllers[c], after.controllers[c]
    now, epoch = both(~old.acted, new.acted), new.epoch
    if m.proving:
        return ~both(now, epoch == before.history.watched, before.history.acted)
    taken = either(*(both(epoch == e, before.history.acted[e]) for e in epochs_acted_in(m)))
    return ~both(now, taken)


@claim("sometimes", source="PROTOCOL.md section 6")
def two_controllers_act(s: State, m: Model) -> Facts:
    """Two brokers act as controller at the same time (an old one has not noticed yet)."""
    pairs = combinations((s.controllers[c] for c in m.controllers), 2)
    yield from (both(a.acted, b.acted) for a, b in pairs)


@claim("always", source="PROTOCOL.md D1", witness="two_controllers_act")
def one_controller_acts_in_an_epoch(s: State, m: Model) -> Value:
    """No two controllers act in one epoch at the same time."""
    pairs = combinations((s.controllers[c] for c in m.controllers), 2)
    return both(*(~both(a.acted, b.acted, a.epoch == b.epoch) for a, b in pairs))


@claim("sometimes", source="PROTOCOL.md section 6")
def the_elector_resigns(s: State, m: Model) -> Value:
    """A broker is about to delete /controller while it exists."""
    return both(s.zookeeper.controller != 0, either(*(s.controllers[c].at == At.RESIGN_DELETE for c in m.controllers)))


@claim(
    "step", source="PROTOCOL.md D3, KAFKA-6082", witness="the_elector_resigns",
    of={"resign_delete", "resign_delete_unanswered"},
)  # fmt: skip
def controller_znode_is_its_owners(before: State, after: State, m: Model, c: int) -> Value:
    """/controller is not deleted by another broker while its owner's session lives."""
    gone = both(before.zookeeper.controller != 0, after.zookeeper.controller == 0)
    return ~both(gone, before.zookeeper.controller != c)


@claim("sometimes", source="PROTOCOL.md section 6")
def a_failover_comes_to_its_channels(s: State, m: Model, c: int) -> Value:
    """Some failover reads what it has to know before it opens its channels."""
    return s.controllers[c].at == At.READ_BROKERS


@claim(
    "step", source="PROTOCOL.md D56", witness="a_failover_comes_to_its_channels",
    of={"read_brokers", "read_topics", "read_state"},
)  # fmt: skip
def no_failover_fails_on_left_overs(before: State, after: State, m: Model, c: int) -> Value:
    """No failover is ended by the channels that an earlier one left behind."""
    return flag(after.controllers[c].at != At.RESIGN_DELETE)


@claim("sometimes", source="PROTOCOL.md section 6")
def a_broker_gives_up(s: State, m: Model, c: int) -> Value:
    """A broker is giving /controller up; next it is at rest."""
    return s.controllers[c].at == At.RESIGN_DELETE


@claim("always", source="PROTOCOL.md D4", witness="a_broker_gives_up")
def resigned_controllers_are_inactive(s: State, m: Model, c: int) -> Value:
    """A broker that gave /controller up, and is not electing again, is not active."""
    return ~both(s.controllers[c].active, s.controllers[c].leader_id != c, s.controllers[c].at == At.IDLE)


@claim("sometimes", source="PROTOCOL.md section 6")
def the_second_epoch(s: State, m: Model) -> Value:
    """/controller_epoch reaches 2."""
    return flag(s.zookeeper.epoch == 2)


@claim("step", source="PROTOCOL.md section 6", witness="the_second_epoch")
def epochs_never_go_back(before: State, after: State, m: Model) -> Facts:
    """Within one incarnation, a resignation's reset aside, no process's controller epoch goes back; nor ZooKeeper's."""
    yield before.zookeeper.epoch <= after.zookeeper.epoch
    for b in m.brokers.ids:
        ended = flag(after.processes[b].session == Session.NONE)
        if b in m.controllers:
            old, new = before.controllers[b].epoch, after.controllers[b].epoch
            yield either(ended, old <= new, both(new == 0, _is_taken_down(after.controllers[b], m)))
        yield either(ended, before.brokers[b].controller_epoch <= after.brokers[b].controller_epoch)


def _is_taken_down(controller: Controller, m: Model) -> Value:
    """What a resignation leaves of a controller: not active, not listening; done, or about to delete or elect."""
    at_rest = either(*(controller.at == at for at in (At.IDLE, At.ELECT_READ, At.RESIGN_DELETE)))
    return both(at_rest, ~controller.active, *(~controller.listening[path] for path in listened_paths(m)))


@claim("sometimes", source="PROTOCOL.md section 6", parts=("partitions",))
def an_earlier_term_holds_the_lock(s: State, m: Model, c: int) -> Value:
    """A controller of an earlier epoch is in the middle of a state change."""
    places = (At.ONLINE_READ, At.ONLINE_WRITE, At.REMOVE_WRITE, At.NOTIFIED_DELETE, At.DELETE_TOPIC)
    return both(s.controllers[c].epoch < s.zookeeper.epoch, either(*(s.controllers[c].at == at for at in places)))


@claim("step", source="PROTOCOL.md D2, KAFKA-6082", witness="an_earlier_term_holds_the_lock", parts=("partitions",))
def only_the_latest_term_writes(before: State, after: State, m: Model, c: int) -> Value:
    """Once a successor has incremented the epoch, no write of an earlier term changes a znode."""
    changed = either(*(_differs(before, after, m, p) for p in m.partitions))
    superseded = both(before.zookeeper.controller != c, before.controllers[c].epoch < before.zookeeper.epoch)
    return ~both(changed, superseded)


def _differs(before: State, after: State, m: Model, p: int) -> Value:
    """Whether the step changes a state znode (every write raises its version), AR, or what is announced or asked."""
    facts = [before.zookeeper.state[p].version != after.zookeeper.state[p].version]
    by_partition, by_topic = (
        ("notified", "elections", "assigned", "requested"),
        ("topics", "configurations", "deletions"),
    )
    for number, names in ((p, by_partition), (m.topic_of(p), by_topic)):
        found = [name for name in names if name in before.zookeeper]
        facts += [array_of(before.zookeeper, name)[number] != array_of(after.zookeeper, name)[number] for name in found]
    return either(*facts)


@claim("sometimes", source="PROTOCOL.md section 10", parts=("connections",))
def a_request_is_stale(s: State, m: Model, c: int, b: int) -> Value:
    """A request of an older controller epoch than a broker knows waits at the head of a queue."""
    head = s.connections[c][b][0]
    return both(head.stage != Stage.EMPTY, head.epoch < s.brokers[b].controller_epoch)


@claim("step", source="PROTOCOL.md section 10", witness="a_request_is_stale", parts=("connections",))
def brokers_obey_no_older_epoch(before: State, after: State, m: Model, action: Action, c: int, b: int) -> Value | None:
    """No broker obeys a request of an older controller epoch than it has stored in this incarnation."""
    epoch = epoch_of_executed(before, action, c, b)
    if epoch is None:
        return None
    old, new = before.brokers[b], after.brokers[b]
    partitions = [(old.partitions[p], new.partitions[p]) for p in m.partitions]
    changes = (either(one.leader_epoch != other.leader_epoch, one.idle != other.idle) for one, other in partitions)
    obeys = either(old.alive != new.alive, *changes)
    return ~both(obeys, epoch < old.controller_epoch)


def epoch_of_executed(s: State, action: Action, c: int, b: int) -> Value | None:
    """The controller epoch of the request that a broker executes in a step, in its turn or late; None if of none."""
    if action.rule.startswith("deliver_"):
        return s.connections[c][b][0].epoch
    if action.rule == "execute_late_request":
        return s.late_requests[c][b].epoch
    return s.late[c][b][action.parameters["p"]].epoch if action.rule == "execute_late_copy" else None
