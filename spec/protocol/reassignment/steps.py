"""Partition reassignment: from its original replicas (OAR) to those that the admin wants (RAR), in twelve steps.

How it is asked for, and how it ends, is in spec/protocol/reassignment/requests.py. In between
`onPartitionReassignment` runs, again and again. As long as the ISR, as read from ZooKeeper, lacks one of RAR, that is
phase A: (1) AR becomes RAR + OAR, in ZooKeeper, then in memory; (2) leader_epoch goes up, which all of AR is sent; (3)
the replicas that are new start; (4) the handler ends. Whenever the ISR changes, or a broker of RAR starts, it looks
again. With all of RAR in the ISR comes phase B: (5) RAR goes Online, (6) AR in memory becomes RAR, (7) a leader outside
RAR, or dead, gives way to one of RAR, any other is sent its new AR, (8) the others go Offline, which takes them out of
the ISR, and (9) are deleted; (10) AR becomes RAR in ZooKeeper, too; (11) the partition leaves
/admin/reassign_partitions; (12) all brokers are sent it.

An exception leaves everything as it is, and AR the union, if step 1 is done. A new controller takes up what ZooKeeper
holds.

Three pairs are one action each: 5 and 6, the sends that end 8 and those of 9, 11 and 12. Between the two of a pair the
handler keeps the lock and touches neither ZooKeeper nor the wire: it puts requests on unbounded queues, and a crash
there looks like one behind the pair that the queues' tails die with, a session loss or a pause like a later delivery.
So no fault in between differs from one beside the pair.

Left out: in which order step 5 goes through RAR. Answers to the writes that are lost:
spec/protocol/reassignment/lost_answers.py.

Kafka 0.10.2.2: `KafkaController.onPartitionReassignment`, `ReassignedPartitionsIsrChangeListener`. PROTOCOL.md sections
7.8 and 8.
"""

from spec.language.rules import require, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.reassignment import AllCaughtUp, NotCaughtUp, SomeBehind
from spec.model import Model
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.threads import rearm_isr_watch
from spec.protocol.leadership_cache import assigned_replicas
from spec.protocol.reassignment.phase_b import begin_phase_b
from spec.protocol.reassignment.requests import end_run
from spec.protocol.zookeeper import exists, note_read, take_head
from spec.state.cluster import State
from spec.state.enumerations import At, Callback, Handler

PARTS = ("reassignment",)


@listener(Callback.STATE, source="ReassignedPartitionsIsrChangeListener 0.10.2.2", parts=PARTS)
def on_state_change(s: State, m: Model, c: int, p: int) -> None:
    """The state znode of a partition changed: if it is being reassigned and the ISR has all of RAR, go on with it."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    require(either(controller.active, m.reassignments_outlive_terms), controller.concerns[0] == p)
    rearm_isr_watch(s, m, c)
    take_head(s, m, c)
    with when(both(controller.reassigned[p] != (), exists(znode))):
        _say_how_far(s, m, c, p)
    with when(both(controller.reassigned[p] != (), _has_caught_up(s, m, c, p), exists(znode))):
        controller.handler = Handler.ISR_CHANGE
        controller.reassigning = p
        controller.at = At.REASSIGN_READ


def _say_how_far(s: State, m: Model, c: int, p: int) -> None:
    """The listener tells how many of RAR are in the ISR."""
    wanted, isr = m.brokers.members(s.controllers[c].reassigned[p]), m.brokers.members(s.zookeeper.state[p].isr)
    caught_up, behind = m.brokers.intersection(wanted, isr), m.brokers.difference(wanted, isr)
    with when(m.brokers.is_empty(behind)):
        say(AllCaughtUp, partition=p, caught_up=caught_up, all=wanted)
    with when(~m.brokers.is_empty(behind)):
        say(SomeBehind, partition=p, caught_up=caught_up, all=wanted, behind=behind)


def _has_caught_up(s: State, m: Model, c: int, p: int) -> Value:
    """Whether all of RAR is in the ISR, as nobody is, but no text."""
    readable = ~m.brokers.has_text(s.controllers[c].reassigned[p])
    wanted, isr = m.brokers.members(s.controllers[c].reassigned[p]), m.brokers.members(s.zookeeper.state[p].isr)
    return both(readable, m.brokers.is_subset(wanted, isr))


@controller_step(At.REASSIGN_NEXT, At.REASSIGN_READ, source="KafkaController.areReplicasInIsr 0.10.2.2", parts=PARTS)
def read_whether_caught_up(s: State, m: Model, c: int, p: int) -> None:
    """Read the ISR: with all of RAR in it, steps 5 and 6 follow, which nobody else sees; otherwise step 1.

    Of a topic that has been deleted there is no AR, which raises (D44, D51); so does text that is looked for in an ISR.
    """
    controller = s.controllers[c]
    next_one = both(controller.at == At.REASSIGN_NEXT, controller.due[p] != ())
    again = both(next_one, controller.handler == Handler.BROKER_STARTUP)
    running = both(controller.at == At.REASSIGN_READ, controller.reassigning == p)
    require(either(again, running))
    controller.reassigning = p
    controller.due[p] = ()
    note_read(s, m, c, p)
    caught_up = both(exists(s.zookeeper.state[p]), _has_caught_up(s, m, c, p))
    readable = ~both(exists(s.zookeeper.state[p]), m.brokers.has_text(controller.reassigned[p]))
    known = both(readable, assigned_replicas(s, m, c, p) != () if m.topics_vanish else flag(True))
    with when(both(readable, ~caught_up)):
        say(NotCaughtUp, partition=p, new_replicas=controller.reassigned[p])
    with when(both(known, ~caught_up)):
        controller.at = At.WRITE_UNION
    with when(both(known, caught_up)):
        begin_phase_b(s, m, c, p)
    with when(~known):
        end_run(s, m, c, p)
