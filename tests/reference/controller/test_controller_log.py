"""controller.log as the reference writes it, beside what a real controller wrote of the same."""

from collections import defaultdict

from reference.journal import Report
from reference.leadership.effects import ReadUnclean
from reference.leadership.leader_selection import select
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.broker_changes import (
    BrokerDifference,
    BrokerFailure,
    IsrShrunk,
    RemovingFromIsr,
    ShutDownBrokersGone,
)
from spec.logs.controller_log.channels import StopReplicaSending
from spec.logs.controller_log.state_machines import LeaderCacheUpdated, PartitionsInvoked, ReplicasInvoked
from spec.logs.controller_log.topics import PartitionsCreated, TopicDifference, TopicsCreated
from spec.logs.log_lines import Line
from spec.scopes import Scope
from spec.state.enumerations import Handler
from tests.leaderships import led
from tests.reassignment_moves import OLD, complete
from tests.reference.hands import Hand
from tests.reference.reassignment.test_steps import Referred, in_sync, recorded_lines


def reassigned() -> list[Line]:
    """What the reference writes of the worked example of PROTOCOL.md section 8."""
    move, cluster = in_sync()
    complete(move, *OLD)
    return cluster.lines


def texts(lines: list[Line], *kinds: type[Line]) -> list[str]:
    return [str(line) for line in lines if isinstance(line, kinds)]


def test_the_machines_and_the_isr_of_a_reassignment_are_told_as_a_real_controller_did() -> None:
    kinds = (ReplicasInvoked, PartitionsInvoked, RemovingFromIsr, IsrShrunk)
    told = texts(reassigned(), *kinds)
    assert len(told) == 17
    assert told == texts(recorded_lines(), *kinds)


def test_every_broker_is_sent_the_stop_replicas_that_a_real_controller_told_of() -> None:
    """Of brokers a Scala map has no order; of a broker's two lines each batch has."""

    def by_broker(lines: list[Line]) -> dict[int, list[str]]:
        found = defaultdict(list)
        for line in lines:
            if isinstance(line, StopReplicaSending):
                found[line.broker].append(str(line))
        return dict(found)

    told = by_broker(reassigned())
    assert {broker: len(lines) for broker, lines in told.items()} == {1: 4, 2: 4, 3: 4}
    assert told == by_broker(recorded_lines())


def test_the_leadership_that_was_elected_is_told_as_a_real_controller_did() -> None:
    """The cache of the real one held other partitions, too."""

    def of_a(lines: list[Line]) -> list[str]:
        return [
            str(known)
            for line in lines
            if isinstance(line, LeaderCacheUpdated)
            for partition, known in line.leaders
            if str(partition) == "[a,0]"
        ]

    assert len(of_a(reassigned())) == 1
    assert of_a(reassigned()) == of_a(recorded_lines())


CREATED = """\
[TopicChangeListener on Controller 1]: Topic change listener fired for path /brokers/topics with children a
[Partition state machine on Controller 1]: Invoking state change to NewPartition for partitions [a,0]
[Replica state machine on controller 1]: Invoking state change to NewReplica for replicas ALL
[Partition state machine on Controller 1]: Invoking state change to OnlinePartition for partitions [a,0]
[Partition state machine on Controller 1]: Live assigned replicas for partition [a,0] are: [List(3, 1, 2)]
[Partition state machine on Controller 1]: Initializing leader and isr for partition [a,0] to (Leader:3,ISR:3,1,2,\
LeaderEpoch:0,ControllerEpoch:1)
[Replica state machine on controller 1]: Invoking state change to OnlineReplica for replicas ALL
""".replace("ALL", ",".join(f"[Topic=a,Partition=0,Replica={r}]" for r in (1, 2, 3)))
"""Recording 02-broker-kill-restart, 18:50:56, of [rf3,2]; here [a,0], which is alone, and ordered replicas."""

KILLED = """\
[BrokerChangeListener on Controller 1]: Broker change listener fired for path /brokers/ids with children 1,2
[Partition state machine on Controller 1]: Invoking state change to OfflinePartition for partitions [a,0]
[OfflinePartitionLeaderSelector]: Some broker in ISR is alive for [a,0]. Select 1 from ISR 1,2 to be the leader.
[OfflinePartitionLeaderSelector]: Selected new leader and ISR {"leader":1,"leader_epoch":1,"isr":[1,2]} for offline \
partition [a,0]
[Partition state machine on Controller 1]: After leader election, leader cache is updated to \
Map([a,0] -> (Leader:1,ISR:1,2,LeaderEpoch:1,ControllerEpoch:1))
[Replica state machine on controller 1]: Invoking state change to OfflineReplica for replicas \
[Topic=a,Partition=0,Replica=3]
[Controller 1]: Removing replica 3 from ISR 1,2 for partition [a,0].
[Controller 1]: Cannot remove replica 3 from ISR of partition [a,0] since it is not in the ISR. Leader = 1 ; \
ISR = List(1, 2)
The stop replica request (delete = true) sent to broker 3 is\x20
The stop replica request (delete = false) sent to broker 3 is [Topic=a,Partition=0,Replica=3]
[Channel manager on controller 1]: Not sending request (type=StopReplicaRequest, controllerId=1, controllerEpoch=1, \
deletePartitions=false, partitions=a-0) to broker 3, since it is offline.
"""
"""The same, 18:51:09, when broker 3 was killed."""

KILLED_LAST = """\
[Controller 1]: Removing replica 3 from ISR 3 for partition [a,0].
[Controller 1]: Retaining last ISR 3 of partition [a,0] since unclean leader election is disabled
[Controller 1]: New leader and ISR for partition [a,0] is {"leader":-1,"leader_epoch":1,"isr":[3]}
"""
"""The same, of [rf1,1]."""

KILLED_UNCLEAN = """\
[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [a,0]. Pick the leader from the alive assigned \
replicas: 2
[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [a,0]. Elect leader 2 from live brokers 2. There's \
potential data loss.
[OfflinePartitionLeaderSelector]: Selected new leader and ISR {"leader":2,"leader_epoch":9,"isr":[2]} for offline \
partition [a,0]
"""
"""Recording 10-unclean, 18:57:40, of [unclean,0]."""

NOT_PREFERRED = """\
[PreferredReplicaPartitionLeaderSelector]: Current leader 3 for partition [a,0] is not the preferred replica. \
Triggering preferred replica leader election
"""
"""Recording 07-preferred-auto, 18:54:01, of [rf3,4]."""

SHUT_DOWN = "[ControlledShutdownLeaderSelector]: Partition [a,0] : current leader = 1, new leader = 2\n"
"""Recording 09-controlled-shutdown, 18:55:40, of [rf2,0]."""

STARTED = """\
[BrokerChangeListener on Controller 1]: Broker change listener fired for path /brokers/ids with children 1,2,3
[Controller 1]: New broker startup callback for 3
[Replica state machine on controller 1]: Invoking state change to OnlineReplica for replicas \
[Topic=a,Partition=0,Replica=3]
"""
"""Recording 02-broker-kill-restart again, where broker 3 comes back."""

OTHERS = (BrokerDifference, BrokerFailure, ShutDownBrokersGone, PartitionsCreated, TopicDifference, TopicsCreated)
"""What other tests ask for."""


NEVER_MOVED = (
    "accept_reassignment", "read_whether_caught_up", "write_union", "read_for_bump",
    "read_remaining", "write_remaining", "on_reassignment_request",
)  # fmt: skip
"""The steps of a controller that is asked to move a partition which was never led; the last is for its own write."""


def a_topic(assigned: tuple[int, ...], *, wanted: tuple[int, ...] = ()) -> Referred:
    """A cluster of three brokers in which a topic may be created, and moved if so wanted, and brokers be killed."""
    moving = frozenset({"reassignment"}) if wanted else frozenset()
    return Referred(
        Scope(
            name="a broker comes and goes",
            statement="by hand",
            brokers=3,
            controllers=1,
            assigned=(assigned,),
            requests=((wanted,),) if wanted else (),
            parts=frozenset({"partitions", "connections", "metadata", "creation"}) | moving,
            budgets=(("creations", 1), ("crashes", 3), ("reassignments", len(moving))),
            connection_capacity=12,
            callback_capacity=12,
            versions=100,
        )
    )


def create(cluster: Referred, assigned: tuple[int, ...]) -> None:
    cluster.do("create_topic", t=0)
    cluster.do("on_topic_change", c=1)
    for r in assigned:
        cluster.do("read_for_new_replica", c=1, p=0, r=r)
    cluster.do("create_state", c=1, p=0)


def kill(cluster: Referred, b: int) -> None:
    cluster.do("crash", b=b)
    cluster.do("end_orphaned_session", b=b)
    cluster.do("on_broker_change", c=1)
    cluster.do("read_for_election", c=1, p=0)


def said(cluster: Referred) -> str:
    """What was written since it was last asked."""
    lines, cluster.lines = cluster.lines, []
    return "".join(f"{line}\n" for line in lines if not isinstance(line, OTHERS))


def test_the_life_of_a_topic_is_told_as_a_real_controller_did() -> None:
    cluster = a_topic((3, 1, 2))
    create(cluster, (3, 1, 2))
    assert said(cluster) == CREATED
    kill(cluster, 3)
    cluster.do("write_elected_leader", c=1, p=0)
    cluster.do("read_for_removal", c=1, p=0, r=3)
    assert said(cluster) == KILLED
    cluster.do("start_process", b=3)
    cluster.do("register_broker", b=3)
    cluster.do("on_broker_change", c=1)
    assert said(cluster) == STARTED


def test_the_last_of_the_isr_is_retained_as_a_real_controller_told() -> None:
    cluster = a_topic((3,))
    create(cluster, (3,))
    said(cluster)
    kill(cluster, 3)
    cluster.do("read_for_removal", c=1, p=0, r=3)
    cluster.do("write_removal", c=1, p=0, r=3)
    assert KILLED_LAST in said(cluster)


def test_what_a_move_made_of_an_assignment_was_a_set_and_is_told_as_a_buffer() -> None:
    """A partition that was never led is asked to move: step 1 writes RAR + OAR, and step 2 finds no state znode."""
    cluster = a_topic((2,), wanted=(3,))
    cluster.do("crash", b=2)
    cluster.do("end_orphaned_session", b=2)
    cluster.do("on_broker_change", c=1)
    cluster.do("create_topic", t=0)
    cluster.do("on_topic_change", c=1)
    cluster.do("read_for_new_replica", c=1, p=0, r=2)
    cluster.do("request_reassignment", k=0)
    for step in ("on_reassignment_request", *NEVER_MOVED):
        cluster.do(step, c=1, **({} if step.startswith("on_") else {"p": 0}))
    cluster.do("start_process", b=2)
    cluster.do("register_broker", b=2)
    cluster.do("on_broker_change", c=1)
    said(cluster)
    cluster.do("create_state", c=1, p=0)
    live = "[Partition state machine on Controller 1]: Live assigned replicas for partition [a,0] are: "
    assert said(cluster).startswith(f"{live}[ArrayBuffer(3, 2)]\n")


def asked(reason: Handler, isr: tuple[int, ...], live: tuple[int, ...], *, leader: int) -> str:
    """What a selector says of a partition of brokers 1 and 2, which had this leader and ISR, with these alive."""
    cluster = a_topic((1, 2))
    controller, partition = cluster.cluster.processes[1].controller, TopicPartition("a", 0)
    assert controller is not None
    registered = controller.context.live_brokers
    controller.context.live_brokers = {b: one for b, one in registered.items() if b in live}
    controller.context.partition_replica_assignment[partition] = (1, 2)
    known = controller.context.partition_leadership_info[partition] = led(leader, 8, isr, 1, 0)
    controller.context.shutting_down_broker_ids = frozenset({leader} if reason is Handler.SHUTDOWN else ())
    told: list[Line] = []
    controller.journal = lambda entry: told.append(entry.line) if isinstance(entry, Report) else None
    hand = Hand(select(controller, partition, reason, known))
    if reason is Handler.BROKER_FAILURE:
        hand.expect(ReadUnclean, True)
    return "".join(f"{line}\n" for line in told)


def test_selectors_say_what_those_of_a_real_controller_did() -> None:
    assert asked(Handler.BROKER_FAILURE, (1,), (2, 3), leader=1) == KILLED_UNCLEAN
    assert asked(Handler.REQUESTED_ELECTION, (1, 2), (1, 2, 3), leader=3) == NOT_PREFERRED
    assert asked(Handler.SHUTDOWN, (1, 2), (1, 2), leader=1) == SHUT_DOWN
