"""What is raised for one partition or replica ends its transition only, as in Kafka: the others of the call are told.

What `handleStateChange` of either machine catches is one item's; what `handleStateChanges` catches is the call's, and
that is a batch which cannot be begun. Kafka 0.10.2.2: `PartitionStateMachine`, `ReplicaStateMachine`.

A cluster in memory has two partitions of AR [2, 3], and broker 2, which leads them, is killed. What the second one's
state znode holds by then, somebody has written by hand.
"""

from dataclasses import dataclass, replace

import pytest

from reference.controller.context import Machine, RequestBatch
from reference.controller.controller import KafkaController
from reference.controller.effects import OnBrokerChange
from reference.controller.resignation import take_down
from reference.elections.requested import FinishFailover
from reference.journal import Entry, Report, RequestSent, StateChange
from reference.leadership.effects import ReadForElection, ReadForRemoval, WriteElectedLeader, WriteRemoval
from reference.leadership.machine_batches import send
from reference.leadership.partitions import bring_online
from reference.leadership.replicas import delete_at_once, set_offline, set_online
from reference.memory.choices import Choice
from reference.memory.scheduler import choices, step
from reference.memory.start import STARTS, initial_cluster
from reference.procedures import ReassignmentImpossible
from reference.reassignment.steps import on_partition_reassignment
from reference.scripts import Found, state_path
from reference.threads import on_callback
from reference.zookeeper.api import SetData
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest, StopReplicaRequest
from spec.logs.controller_log.reassignment import NotCaughtUp
from spec.logs.controller_log.state_machines import PartitionsInvokedError, PartitionsOnlineError, ReplicasInvokedError
from spec.logs.log_lines import Line
from spec.scopes import scope
from spec.state.enumerations import Callback, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch
from tests.reference.hands import TP, Hand, failed_over, registered, requests, working, znode

SOUND, SPOILT = TopicPartition("a", 0), TopicPartition("a", 1)
MISSING = f"{state_path(SPOILT)}: controller_epoch: missing"
LED_BY_TWO = '"leader":2,"leader_epoch":0,"controller_epoch":1,"isr":[2,3]'


@dataclass
class Aftermath:
    """The controller when all is at rest again, and what it has told."""

    controller: KafkaController
    told: list[Entry]

    def state_changes_of(self, partition: TopicPartition) -> list[str]:
        """Its lines of state-change.log about transitions of a partition, and of its replicas."""
        lines = [str(entry.line) for entry in self.told if isinstance(entry, StateChange)]
        of_partition = [line.removeprefix("Controller 1 epoch 1 ") for line in lines if str(partition) in line]
        return [line for line in of_partition if not line.startswith("sending")]

    def led(self) -> list[tuple[int, TopicPartition, int]]:
        """Whom LeaderAndIsr was queued to, of which partition, with which leader."""
        sent = [(entry.broker, entry.request.request) for entry in self.told if isinstance(entry, RequestSent)]
        ordered = [(broker, request) for broker, request in sent if isinstance(request, LeaderAndIsrRequest)]
        return [
            (broker, state.topic_partition, state.leadership.leader)
            for broker, request in ordered
            for state in request.partition_states
        ]


def killed(data: bytes | None) -> Aftermath:
    """Broker 2 is killed while the second state znode holds this."""
    bounds = replace(scope("tiny"), assigned=((2, 3), (2, 3)), budgets=(("crashes", 1),))
    cluster = initial_cluster(bounds)
    cluster.zookeeper.execute(cluster.admin_session, SetData(state_path(SPOILT), data))
    told: list[Entry] = []
    chosen: Choice | None = next(choice for choice in choices(cluster) if choice.name == "crash(b=2)")
    while chosen is not None:
        step(cluster, chosen)
        told += cluster.entries
        chosen = next(filter(is_progress, choices(cluster)), None)
    controller = cluster.processes[1].controller
    assert controller is not None
    return Aftermath(controller, told)


def is_progress(choice: Choice) -> bool:
    return not choice.is_fault and choice.rule not in STARTS


RAISING = {
    "a key that is needed is missing": b'{"version":1,"leader":2}',
    "a value is of another type": b'{"version":1,"leader":"2","leader_epoch":0,"controller_epoch":1,"isr":[2,3]}',
    "no object": b"[]",
    "no data": None,
}


@pytest.mark.parametrize("data", RAISING.values(), ids=RAISING)
def test_a_state_znode_that_cannot_be_read_leaves_only_its_own_partition_without_leader(data: bytes | None) -> None:
    after = killed(data)
    machines = after.controller.partition_machine.states, after.controller.replica_machine.states
    assert machines[0] == {SOUND: PartitionState.ONLINE, SPOILT: PartitionState.OFFLINE}
    assert {key for key, state in machines[1].items() if state is ReplicaState.OFFLINE} == {(SOUND, 2)}
    assert after.led() == [(3, SOUND, 3)] * 2  # the election, and the removal of the dead from the ISR
    assert not after.controller.partition_batch.is_dirty
    assert not after.controller.replica_batch.is_dirty


def test_state_change_log_tells_what_ended_as_kafka_tells_it() -> None:
    """`electLeaderForPartition` says why, then `handleStateChange` of either machine that it failed."""
    after = killed(RAISING["a key that is needed is missing"])
    assert after.state_changes_of(SPOILT) == [
        "changed partition [a,1] state from OnlinePartition to OfflinePartition",
        "started leader election for partition [a,1]",
        f"encountered error while electing leader for partition [a,1] due to: {MISSING}.",
        "initiated state change for partition [a,1] from OfflinePartition to OnlinePartition failed",
        "initiated state change of replica 2 for partition [a,1] from OnlineReplica to OfflineReplica failed",
    ]
    reports = [str(entry.line) for entry in after.told if isinstance(entry, Report)]
    assert sum("Removing replica 2 from ISR" in line for line in reports) == 2
    assert not any("Error while" in line for line in reports)


UNFIT = (
    "Preferred replica 1 for partition [t,0] is either not alive or not in the isr. Current leader and ISR:"
    ' [{"leader":3,"leader_epoch":17,"isr":[3,2]}]'
)
LEADERLESS = UNFIT.replace("3,", "-1,", 1).replace("17", "6").replace("[3,2]", "[]")
ABORTED = (
    "aborted leader election for partition [t,0] since the LeaderAndIsr path was already written by another controller."
    " This probably means that the current controller 1 went through a soft failure and another controller was elected"
    " with epoch 6."
)


@pytest.mark.parametrize(
    ("reason", "stands", "why"),
    [
        (Handler.REQUESTED_ELECTION, znode(3, (3, 2), leader_epoch=17, epoch=4), UNFIT),
        (Handler.REBALANCE, znode(-1, (), leader_epoch=6, epoch=4), LEADERLESS),
        (
            Handler.SHUTDOWN,
            znode(3, (3, 2), epoch=4),
            "No other replicas in ISR 3,2 for [t,0] besides shutting down brokers 2,3",
        ),
        (Handler.SHUTDOWN, znode(3, (3, 2), epoch=6), ABORTED),
        (Handler.SHUTDOWN, None, "LeaderAndIsr information doesn't exist for partition [t,0] in OnlinePartition state"),
    ],
)
def test_state_change_log_says_why_nobody_is_elected_in_kafkas_words(reason: Handler, stands: Found, why: str) -> None:
    """As recordings of Kafka 0.10.2.2 have them, and `electLeaderForPartition`; an abort has a second full stop."""
    one, journal = working((1, 2, 3), znode(3, (3, 2)))
    one.context.shutting_down_broker_ids = frozenset({2, 3})
    hand = Hand(bring_online(one, (TP,), reason))
    hand.expect(ReadForElection, stands)
    assert hand.ended
    said = [str(entry.line) for entry in journal if isinstance(entry, StateChange)]
    assert f"Controller 1 epoch 5 encountered error while electing leader for partition [t,0] due to: {why}." in said


@pytest.mark.parametrize(
    ("forgets", "isr", "why"),
    [
        ("partition_replica_assignment", (3, 2), "key not found: [t,0]"),
        ("partition_leadership_info", (3, 2), "key not found: [t,0]"),
        (None, (4,), "head of empty list"),
    ],
)
def test_state_change_log_says_what_scala_threw(forgets: str | None, isr: tuple[int, ...], why: str) -> None:
    """The caches have nothing of a topic that is gone; or who is live in the ISR is none of AR."""
    one, journal = working((1, 2, 3, 4), znode(3, (3, 2)))
    if forgets:
        getattr(one.context, forgets).pop(TP)
    hand = Hand(bring_online(one, (TP,), Handler.REQUESTED_ELECTION if forgets else Handler.BROKER_FAILURE))
    hand.expect(ReadForElection, znode(3, isr))
    assert hand.ended
    assert f"for partition [t,0] due to: {why}." in " ".join(map(str, (getattr(one, "line", "") for one in journal)))


@pytest.mark.parametrize("more", ['"version":1', '"version":2', '"leader_recovery_state":0', '"version":[],"":null'])
def test_what_kafka_does_not_look_at_keeps_nobody_from_leading(more: str) -> None:
    after = killed(f"{{{LED_BY_TWO},{more}}}".encode())
    assert set(after.controller.partition_machine.states.values()) == {PartitionState.ONLINE}
    assert sorted(set(after.led())) == [(3, SOUND, 3), (3, SPOILT, 3)]


def test_a_batch_that_an_earlier_call_left_ends_each_call_of_its_machine_and_no_handler() -> None:
    """D28: `newBatch` raises, `handleStateChanges` only logs that; the other machine goes on."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.partition_batch.add_stop_replica((3,), TP, delete=False)
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(2, 3))
    hand.expect(ReadForRemoval, znode(1, (1, 2, 3)))
    hand.expect(WriteRemoval, 1)
    assert hand.ended
    assert one.partition_machine.states == {TP: PartitionState.ONLINE}
    assert one.replica_machine.states[TP, 1] is ReplicaState.OFFLINE
    assert one.partition_batch.is_dirty
    assert errors(journal) == [PartitionsInvokedError(1, PartitionState.OFFLINE), PartitionsOnlineError(1)]


def test_a_replica_machine_whose_batch_was_left_moves_nobody() -> None:
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.replica_batch.add_stop_replica((3,), TP, delete=False)
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(1, 2))
    assert hand.ended
    assert set(one.replica_machine.states.values()) == {ReplicaState.ONLINE}
    assert errors(journal) == [ReplicasInvokedError(1, ReplicaState.OFFLINE)]


def test_a_machine_that_is_not_up_treats_nobody_and_state_change_log_has_nothing_of_it() -> None:
    """`hasStarted` is asked outside of what `handleStateChange` catches; a call for nobody does not come to it."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.partition_machine, one.replica_machine = Machine(), Machine()
    for called in ((), (TP,)):
        assert Hand(bring_online(one, called, Handler.SHUTDOWN)).ended
        assert Hand(set_offline(one, [(tp, 3) for tp in called])).ended
        set_online(one, [(tp, 3) for tp in called])
        delete_at_once(one, [(tp, 3) for tp in called])
    targets = (
        ReplicaState.OFFLINE, ReplicaState.ONLINE, ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL,
        ReplicaState.NON_EXISTENT,
    )  # fmt: skip
    raised = [PartitionsInvokedError(1, PartitionState.ONLINE), *(ReplicasInvokedError(1, one) for one in targets)]
    assert errors(journal) == raised
    assert not any(isinstance(entry, StateChange | RequestSent) for entry in journal)


@pytest.mark.parametrize(("isr", "told"), [((1,), [NotCaughtUp(1, (1, 2), TP)]), ((1, 2), [])])
def test_a_reassignment_of_a_topic_that_is_gone_tells_who_lags_before_it_looks_for_ar(
    isr: tuple[int, ...], told: list[Line]
) -> None:
    """`onPartitionReassignment` asks `areReplicasInIsr` first; the topic was deleted in between (D44, D51)."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.context.partitions_being_reassigned[TP] = (1, 2)
    del one.context.partition_replica_assignment[TP]
    with pytest.raises(ReassignmentImpossible, match="key not found"):
        Hand(on_partition_reassignment(one, TP, znode(1, isr)))
    assert [entry.line for entry in journal if isinstance(entry, Report)] == told


def test_a_send_that_fails_is_logged_and_ends_every_later_call_of_its_machine() -> None:
    """D28-machines: ZooKeeper and the cache are ahead, nobody is told, and no partition moves any more."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.send_fails = True
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(2, 3))
    hand.expect(ReadForElection, znode(1, (1, 2, 3)))
    hand.expect(WriteElectedLeader, 1)
    assert one.context.partition_leadership_info[TP].leader == 2
    assert requests(journal, LeaderAndIsrRequest) == []
    assert errors(journal) == [PartitionsOnlineError(1)]
    hand.expect(ReadForRemoval, znode(2, (2, 3), leader_epoch=1, epoch=5, version=1))
    assert hand.ended
    assert len(requests(journal, LeaderAndIsrRequest)) == 2  # by the other machine
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(3))
    hand.expect(ReadForRemoval, znode(2, (2, 3), leader_epoch=1, epoch=5, version=1))
    assert one.partition_machine.states == {TP: PartitionState.ONLINE}
    assert errors(journal)[1:] == [PartitionsInvokedError(1, PartitionState.OFFLINE), PartitionsOnlineError(1)]


def test_what_a_send_left_outlasts_the_term() -> None:
    """`shutdown` of a machine empties its states, and not its batch; so the broker's next term begins with it."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.partition_batch.add_stop_replica((3,), TP, delete=False)
    take_down(one)
    assert one.partition_batch.is_dirty
    failed_over(one, (2, 3), [znode(1, (1, 2, 3))]).expect(FinishFailover, None)
    assert one.partition_machine.states == {TP: PartitionState.OFFLINE}
    assert PartitionsOnlineError(1) in errors(journal)


def test_an_empty_batch_cannot_fail_and_where_that_is_fixed_a_send_is_tried_again() -> None:
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    one.send_fails = True
    send(one, RequestBatch(), PartitionsOnlineError)
    assert one.send_fails
    one.configuration = replace(one.configuration, switches=frozenset({Switch.TRY_SENDS_AGAIN}))
    one.replica_batch.add_stop_replica((3,), TP, delete=False)
    send(one, one.replica_batch, PartitionsOnlineError)
    assert (one.send_fails, one.replica_batch.is_dirty, errors(journal)) == (False, False, [])
    assert [broker for broker, _ in requests(journal, StopReplicaRequest)] == [3]


def errors(journal: list[Entry]) -> list[Line]:
    return [entry.line for entry in journal if isinstance(entry, Report) and entry.line.level == "ERROR"]
