"""Lines of state-change.log and controller.log, both ways; and lines that no release writes.

The texts stand here as Kafka has them (PROTOCOL.md section 12), written out by hand, so that neither side of the
formats in `spec/logs` decides what is expected.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V0100, V0101, V0102, V090

TIME: Final = "2016-09-21 13:05:09,418"
CHANGES, CONTROLLER = "state-change.log", "controller.log"
LATEST, MODERN, NEW = since(V0102), since(V0100), since(V090)


def _but(*dialects: Dialect) -> tuple[Dialect, ...]:
    return tuple(one for one in DIALECTS if one not in dialects)


OLDEST, OLD = _but(*NEW), _but(*MODERN)
MIDDLE: Final = _but(*OLDEST, *LATEST)


class Said(NamedTuple):
    """A line: its kind, what it says, and its text; its level and logger."""

    kind: str
    fields: Object
    text: str
    dialects: tuple[Dialect, ...] = DIALECTS
    level: str = "TRACE"
    logger: str = "state.change.logger"

    @property
    def entry(self) -> str:
        """The line as it stands in its log."""
        return f"[{TIME}] {self.level} {self.text} ({self.logger})"


ONE: Final[Object] = {"controller": 1, "epoch": 3}
TP: Final[Object] = {"partition": "orders-0"}
SENT: Final[Object] = {"broker": 2, "controller": 1, "epoch": 3, "correlation_id": 7}
LED: Final[Object] = {"leader": 2, "isr": [2, 3], "leader_epoch": 5, "controller_epoch": 3}
CE, FROM = "Controller 1 epoch 3", "correlation id 7 from controller 1 epoch 3"
LI = "(Leader:2,ISR:2,3,LeaderEpoch:5,ControllerEpoch:3)"


def _moved(before: str, after: str) -> Object:
    return {**ONE, **TP, "source": before, "target": after}


CONTROLLERS: Final = (
    Said("PartitionBecameNew",
         {**_moved("NonExistentPartition", "NewPartition"), "assigned_replicas": [2, 3]},
         f"{CE} changed partition [orders,0] state from NonExistentPartition to NewPartition with assigned replicas"
         " 2,3"),
    Said("PartitionBecameOnline", {**_moved("OfflinePartition", "OnlinePartition"), "leader": 2},
         f"{CE} changed partition [orders,0] from OfflinePartition to OnlinePartition with leader 2"),
    Said("PartitionLostLeader", _moved("OnlinePartition", "OfflinePartition"),
         f"{CE} changed partition [orders,0] state from OnlinePartition to OfflinePartition"),
    Said("PartitionChangeFailed", _moved("NewPartition", "OnlinePartition"),
         f"{CE} initiated state change for partition [orders,0] from NewPartition to OnlinePartition failed",
         level="ERROR"),
    Said("LeaderElectionStarted", {**ONE, "partition": "a-b.c_d-12"},
         f"{CE} started leader election for partition [a-b.c_d,12]"),
    Said("LeaderElected", {**ONE, **TP, "leader": 2}, f"{CE} elected leader 2 for Offline partition [orders,0]"),
    Said("NoAssignedReplicaAlive", {**ONE, **TP, "assigned_replicas": [9, 8], "live_brokers": [1, 2, 3]},
         f"{CE} encountered error during state change of partition [orders,0] from New to Online, assigned replicas are"
         " [9,8], live brokers are [Set(1, 2, 3)]. No assigned replica is alive.", level="ERROR"),
    Said("StateZnodeExists",
         {**ONE, **TP, "value": {"leader": 2, "leader_epoch": 5, "isr": [2, 3]}, "controller_epoch": 4},
         f"{CE} encountered error while changing partition [orders,0]'s state from New to Online since LeaderAndIsr"
         " path"
         ' already exists with value {"leader":2,"leader_epoch":5,"isr":[2,3]} and controller epoch 4', level="ERROR"),
    Said("ElectionAborted", {**ONE, **TP, "controller_epoch": 4},
         f"{CE} aborted leader election for partition [orders,0] since the LeaderAndIsr path was already written by"
         " another controller. This probably means that the current controller 1 went through a soft failure and"
         " another"
         " controller was elected with epoch 4.", level="ERROR"),
    Said("ElectionFailed", {**ONE, **TP, "reason": "Preferred replica 2 is not alive"},
         f"{CE} encountered error while electing leader for partition [orders,0] due to: Preferred replica 2 is not"
         " alive.", level="ERROR"),
    Said("ReplicaChanged", {**_moved("ReplicaDeletionStarted", "ReplicaDeletionIneligible"), "replica": 2},
         f"{CE} changed state of replica 2 for partition [orders,0] from ReplicaDeletionStarted to"
         " ReplicaDeletionIneligible"),
    Said("ReplicaChangeFailed", {**_moved("NonExistentReplica", "OfflineReplica"), "replica": 2},
         f"{CE} initiated state change of replica 2 for partition [orders,0] from NonExistentReplica to OfflineReplica"
         " failed", level="ERROR"),
    Said("LeaderAndIsrSending", {**ONE, **TP, "role": "become-leader", "leadership": LED, "broker": 2},
         f"{CE} sending become-leader LeaderAndIsr request {LI} to broker 2 for partition [orders,0]", NEW),
    Said("LeaderAndIsrSending",
         {**ONE, **TP, "role": "become-follower", "leadership": LED, "correlation_id": 7, "broker": 3},
         f"{CE} sending become-follower LeaderAndIsr request {LI} with correlationId 7 to broker 3 for partition"
         " [orders,0]", OLDEST),
    Said("UpdateMetadataSending",
         {**ONE, **TP, "leadership": {**LED, "leader": -2, "isr": [], "leader_epoch": 0}, "brokers": [1, 2]},
         f"{CE} sending UpdateMetadata request (Leader:-2,ISR:,LeaderEpoch:0,ControllerEpoch:3) to brokers Set(1, 2)"
         " for"
         " partition orders-0", LATEST),
    Said("UpdateMetadataSending", {**ONE, **TP, "leadership": LED, "brokers": [2]},
         f"{CE} sending UpdateMetadata request {LI} to broker 2 for partition orders-0", MIDDLE),
    Said("UpdateMetadataSending", {**ONE, **TP, "leadership": LED, "correlation_id": 7, "brokers": [2]},
         f"{CE} sending UpdateMetadata request {LI} with correlationId 7 to broker 2 for partition [orders,0]", OLDEST),
)  # fmt: skip
IGNORES: Final = "Broker 2 ignoring LeaderAndIsr request from controller 1 with correlation id 7"
HANDLES: Final = "LeaderAndIsr request correlationId 7 from controller 1 epoch 3"
PLAIN, BARE = "orders-0", "[orders,0]"
BROKERS: Final = (
    Said("LeaderAndIsrReceived", {**SENT, **TP, "state": {**LED, "zk_version": 9, "replicas": [2, 3, 1]}},
         "Broker 2 received LeaderAndIsr request PartitionState(controllerEpoch=3, leader=2, leaderEpoch=5, isr=[2, 3],"
         f" zkVersion=9, replicas=[2, 3, 1]) {FROM} for partition [orders,0]", MODERN),
    Said("LeaderAndIsrReceived", {**SENT, **TP, "state": {**LED, "replicas": [2, 3, 1]}},
         f"Broker 2 received LeaderAndIsr request (LeaderAndIsrInfo:{LI},ReplicationFactor:3),AllReplicas:2,3,1) {FROM}"
         " for partition [orders,0]", OLD),
    Said("LeaderAndIsrFromOldController", {**SENT, "known_epoch": 4},
         f"{IGNORES} since its controller epoch 3 is old. Latest known controller epoch is 4", level="WARN"),
    Said("LeaderEpochNotHigher", {**SENT, **TP, "leader_epoch": 5, "current_leader_epoch": 5},
         f"{IGNORES} epoch 3 for partition [orders,0] since its associated leader epoch 5 is not higher than the"
         " current"
         " leader epoch 5", since(V0101), "WARN"),
    Said("LeaderEpochNotHigher", {**SENT, **TP, "leader_epoch": 5, "current_leader_epoch": 6},
         f"{IGNORES} epoch 3 for partition [orders,0] since its associated leader epoch 5 is old. Current leader"
         " epoch is"
         " 6", _but(*since(V0101)), "WARN"),
    Said("NotInAssignedReplicas", {**SENT, **TP, "assigned_replicas": [1, 3]},
         f"{IGNORES} epoch 3 for partition [orders,0] as itself is not in assigned replica list 1,3", level="WARN"),
    *(Said("TransitionStarted", {**SENT, **TP, "role": "become-leader"},
           f"Broker 2 handling {HANDLES} starting the become-leader transition for partition {name}", dialects)
      for name, dialects in ((PLAIN, LATEST), (BARE, _but(*LATEST)))),
    Said("TransitionCompleted", {**SENT, **TP, "role": "become-follower"},
         f"Broker 2 completed {HANDLES} for the become-follower transition for partition {PLAIN}", LATEST),
    Said("LeaderUnavailable", {**SENT, **TP, "leader": -1},
         f"Broker 2 received LeaderAndIsrRequest with {FROM} for partition {PLAIN} but cannot become follower since the"
         " new leader -1 is unavailable.", LATEST, "ERROR"),
    Said("BecomeLeaderUnchanged", {**SENT, **TP},
         f"Broker 2 skipped the become-leader state change after marking its partition as leader with {FROM} for"
         f" partition {PLAIN} since it is already the leader for the partition.", LATEST, "INFO"),
    Said("FetcherStarted", {**SENT, **TP},
         "Broker 2 started fetcher to new leader as part of become-follower request from controller 1 epoch 3 with"
         f" correlation id 7 for partition {PLAIN}", LATEST),
    Said("StopReplicaStarted", {"broker": 2, **TP, "delete": True},
         f"Broker 2 handling stop replica (delete=true) for partition {PLAIN}", LATEST),
    Said("StopReplicaFinished", {"broker": 2, **TP, "delete": False},
         f"Broker 2 finished handling stop replica (delete=false) for partition {BARE}", _but(*LATEST)),
    Said("StopReplicaFromOldController", {"broker": 2, "epoch": 3, "known_epoch": 4},
         "Broker 2 received stop replica request from an old controller epoch 3. Latest known controller epoch is 4",
         MODERN, "WARN"),
    Said("StopReplicaFromOldController", {"broker": 2, "epoch": 3, "known_epoch": 4},
         "Broker 2 received stop replica request from an old controller epoch 3. Latest known controller epoch is %d 4",
         OLD, "WARN"),
    Said("PartitionUncached", {**SENT, **TP},
         "Broker 2 deleted partition orders-0 from metadata cache in response to UpdateMetadata request sent by"
         " controller"
         " 1 epoch 3 with correlation id 7", MODERN),
    Said("UpdateMetadataFromOldController", {**SENT, "known_epoch": 4},
         "Broker 2 received update metadata request with correlation id 7 from an old controller 1 with epoch 3. Latest"
         " known controller epoch is 4", level="WARN"),
)  # fmt: skip


def _of(name: str) -> Any:
    return {"level": "INFO", "logger": f"kafka.controller.{name}"}


ITSELF, CHANNELS = _of("KafkaController"), _of("ControllerChannelManager")
CONTROLLER_LOG: Final = (
    Said("BecomingController", {"controller": 1},
         "[Controller 1]: Broker 1 starting become controller state transition", **ITSELF),
    Said("EpochIncremented", {"controller": 1, "epoch": 3},
         "[Controller 1]: Controller 1 incremented epoch to 3", **ITSELF),
    Said("EpochRead", {"controller": 1, "epoch": 2, "epoch_zk_version": 1},
         "[Controller 1]: Initialized controller epoch to 2 and zk version 1", **ITSELF),
    Said("BrokerFailure", {"controller": 1, "brokers": [2, 3]},
         "[Controller 1]: Broker failure callback for 2,3", **ITSELF),
    Said("ShuttingDownBroker", {"controller": 1, "broker": 2}, "[Controller 1]: Shutting down broker 2", **ITSELF),
    Said("IsrShrunk", {"controller": 1, **TP, "leader_and_isr": {"leader": -1, "leader_epoch": 6, "isr": [3]}},
         '[Controller 1]: New leader and ISR for partition [orders,0] is {"leader":-1,"leader_epoch":6,"isr":[3]}',
         **ITSELF),
    Said("BrokerDifference", {"controller": 1, "new": [], "dead": [2], "live": [1, 3]},
         "[BrokerChangeListener on Controller 1]: Newly added brokers: , deleted brokers: 2, all live brokers: 1,3",
         **_of("ReplicaStateMachine$BrokerChangeListener")),
    Said("PartitionsInvoked",
         {"controller": 1, "target": "OnlinePartition", "partitions": ["orders-0", "a-b-1"]},
         "[Partition state machine on Controller 1]: Invoking state change to OnlinePartition for partitions"
         " [orders,0],[a-b,1]", **_of("PartitionStateMachine")),
    Said("ReplicasInvoked", {"controller": 1, "target": "OfflineReplica", "replicas": ["orders-0/2", "a-b-1/3"]},
         "[Replica state machine on controller 1]: Invoking state change to OfflineReplica for replicas"
         " [Topic=orders,Partition=0,Replica=2],[Topic=a-b,Partition=1,Replica=3]", **_of("ReplicaStateMachine")),
    Said("RequestDropped", {"controller": 1, "broker": 2, "request": "Name: StopReplica, since (or so)"},
         "[Channel manager on controller 1]: Not sending request Name: StopReplica, since (or so) to broker 2, since"
         " it is"
         " offline.", **{**CHANNELS, "level": "WARN"}),
)  # fmt: skip
EVERY: Final = (*CONTROLLERS, *BROKERS, *CONTROLLER_LOG)


def line_cases() -> Iterator[Case]:
    """Each line read and written; then those that nobody writes."""
    for one in EVERY:
        log = CHANGES if one.logger == "state.change.logger" else CONTROLLER
        source = ["PROTOCOL.md section 12", f"{log} of Kafka"]
        head: Object = {"kind": one.kind, "time": TIME, "fields": one.fields}
        told = {**head, "level": one.level, "logger": one.logger}
        read: Object = {"log": log, "entry": one.entry}
        yield Case("read_line", f"{one.kind} is read", read, [told], source, ["logs", log], one.dialects)
        yield Case("write_line", f"{one.kind} is written", {"log": log, **head}, [{"entry": one.entry}], source,
                   ["logs", log], one.dialects)  # fmt: skip
    for words, entry, dialects in _odd():
        log = CONTROLLER if "kafka.controller" in entry else CHANGES
        yield Case("read_line", f"A line {words} is none", {"log": log, "entry": entry}, [{"refused": True}],
                   ["PROTOCOL.md section 12"], ["logs", log, "hostile"], dialects)  # fmt: skip


def _odd() -> Iterator[tuple[str, str, Sequence[Dialect]]]:
    by_kind = {one.kind: one for one in reversed(EVERY)}
    elected, sending = by_kind["LeaderElected"].entry, by_kind["UpdateMetadataSending"].entry
    for words, old, new in (
        ("without its logger", " (state.change.logger)", ""), ("without its time", f"[{TIME}] ", ""),
        ("of a day that is none", "09-21", "09-31"), ("cut off in the middle", "partition [orders,0]", "par"),
        ("with a blank too many", "elected leader", "elected  leader"), ("in small letters", "Offline", "offline"),
        ("with a partition of another form", "[orders,0]", "orders-0"), ("with words behind its end", "0] (", "0]. ("),
        ("with a number beyond 32 bits", "leader 2", "leader 2147483648"),
        ("with a text for a number", "leader 2", "leader two"),
        ("with a negative partition", "orders,0", "orders,-1"), ("of a level that is none", "TRACE", "LOUD"),
    ):  # fmt: skip
        yield words, elected.replace(old, new), DIALECTS
    yield "with a state that is none", by_kind["PartitionLostLeader"].entry.replace("OnlineP", "AsleepP"), DIALECTS
    yield "of 0.10.2", sending, _but(*LATEST)
    yield "of 0.8.2", next(one.entry for one in CONTROLLERS if one.dialects == OLDEST), NEW
    factor = next(one.entry for one in BROKERS if one.kind == "LeaderAndIsrReceived" and one.dialects == OLD)
    yield "that counts its replicas wrongly", factor.replace("Factor:3", "Factor:2"), OLD
    yield (
        "with the prefix of another",
        by_kind["EpochIncremented"].entry.replace("[Controller 1]", "[Broker 1]"),
        DIALECTS,
    )
