"""Observations: what an observer sees of a step of the reference, in the words of the specification.

Everything comes from what the reference leaves behind for anybody to see: operations on ZooKeeper with their answers,
lines of state-change.log and controller.log, requests that are queued and carried out. `Observer` turns that into
observations, which `expected_observations.py` compares with those that the specification attaches to its actions.

Writes that fail for lack of a znode are left out: they do no harm, and the specification does not tell of them.
"""

from collections.abc import Iterator

from model_check.refinement import observed_requests as requests
from model_check.refinement.expected_observations import Seen
from model_check.refinement.history import BROKER_STEPS
from model_check.stepping.leadership_words import in_words
from reference import journal
from reference.elections.requested import ELECTIONS
from reference.journal import Fate, Milestone, OperationDone
from reference.memory.cluster import MemoryCluster
from reference.scripts import (
    BROKER_IDS,
    BROKER_TOPICS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    DELETE_TOPICS,
    ISR_CHANGES,
    REASSIGN_PARTITIONS,
    broker_path,
    delete_topic_path,
    leadership_in,
    parsed,
    state_path,
    topic_config_path,
    topic_path,
)
from reference.zookeeper.api import (
    BadVersion,
    Children,
    Create,
    Delete,
    GetChildren,
    GetData,
    NodeData,
    NodeExists,
    SetData,
    ZookeeperError,
)
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import BROKER, BROKER_TOPIC, STATE, Path
from spec.formats.znodes import ControllerEpochPayload, ControllerPayload, TopicPayload
from spec.language.broker_lists import as_listed
from spec.protocol.controller.early_reads import read_for_listener
from spec.protocol.controller.epoch_listener import adopt_epoch
from spec.protocol.deletion.requests import on_deletion_change, read_deletions
from spec.protocol.failover.election import elect_create, elect_read, elect_reread, on_controller_change, on_new_session
from spec.protocol.failover.steps import read_brokers, read_epoch
from spec.protocol.reassignment.requests import on_reassignment_request, read_reassignments
from spec.protocol.topics.addition import on_partition_modifications
from spec.protocol.topics.creation import on_topic_change

OF_PROCESSES = {
    Fate.STARTED: "start process", Fate.CRASHED: "crash", Fate.SESSION_RENEWED: "renew session",
    Fate.TOLD_TO_STOP: "begin to stop", Fate.STOPPED: "stop",
}  # fmt: skip
"""What becomes of a broker's process or of its session."""
OF_TOPICS = {
    Fate.TOPIC_READ: "read assignment", Fate.PARTITIONS_ADDED: "add partitions",
    Fate.DELETION_REQUESTED: "create delete_topics", Fate.TOPIC_REMOVED: "remove topic",
    Fate.UNCLEAN_CHANGED: "change unclean election",
}  # fmt: skip
"""What is done to topics by name."""
OF_PARTITIONS = {Fate.ASSIGNMENT_EDITED: "edit assignment", Fate.STATE_REMOVED: "remove state"}
"""What is done to partitions by name."""
BY_HAND = {
    Fate.ELECTION_WITHDRAWN: "withdraw election request",
    Fate.REASSIGNMENT_WITHDRAWN: "write /admin/reassign_partitions",
    Fate.CONTROLLER_REMOVED: "remove /controller",
}
"""What somebody takes away by hand, where its name says all."""
MILESTONES = {
    Milestone.RESIGNED: "resigned",
    Milestone.LEFT_OVER_CHANNELS: "fail on left-over channels",
    Milestone.METADATA_FAILED: "fail to add UpdateMetadata",
    Milestone.SEND_FAILED: "fail to send",
    Milestone.DIRTY_BATCH: "find its batch dirty",
    Milestone.FAILOVER_FAILED: "fail in failover",
    Milestone.LEADERLESS_ELECTION: "fail on a leaderless partition",
    Milestone.ELECTION_FAILED: "fail requested election",
    Milestone.DELETION_THREAD_ENDED: "end deletion thread",
}
"""Where a controller is, in the words of the specification."""
WITH_EPOCH = {Milestone.READY: "ready", Milestone.EPOCH_CONFLICT: "fail to write /controller_epoch"}
"""The milestones that are recorded with the controller's epoch."""
READS_CONTROLLER = (
    elect_read.name, elect_reread.name, on_controller_change.name, on_new_session.name, read_for_listener.name,
)  # fmt: skip
READS_MOVES = (on_reassignment_request.name, read_reassignments.name, read_for_listener.name)
READS_EPOCH = (read_epoch.name, adopt_epoch.name)
READS_TOPICS = {
    BROKER_TOPICS: (on_topic_change.name, read_for_listener.name),
    DELETE_TOPICS: (on_deletion_change.name, read_deletions.name, read_for_listener.name),
}
"""The steps that read which topics there are, or are to be deleted, to find out."""


LINES = (journal.StateChange, journal.Report)
"""The entries that are lines of logs, which `written_lines.py` compares."""


class Observer:
    """Reads the entries of one step of a rule; `owner` had /controller before it, which a deletion does not say."""

    def __init__(self, after: MemoryCluster, rule: str, owner: int) -> None:
        self.after, self.rule, self.owner = after, rule, owner

    def observed(self) -> list[Seen]:
        """What was seen, in the order of the entries."""
        told = (entry for entry in self.after.entries if not isinstance(entry, LINES))
        return [seen for entry in told for seen in self._seen(entry)]

    def _seen(self, entry: journal.Entry) -> Iterator[Seen]:
        match entry:
            case journal.FateMet():
                yield from self._fate(entry)
            case OperationDone():
                yield from self._operation(entry)
            case journal.Reached():
                yield from self._reached(entry)
            case journal.RequestSent():
                yield from requests.queued(self.after, entry) if entry.queued else requests.dropped(self.after, entry)
            case journal.RequestHandled():
                yield from requests.handled(self.after, entry)
            case journal.ShutdownRequested() | journal.ShutdownBegun() | journal.ShutdownAnswered():
                yield requests.of_a_shutdown(entry)
            case _:
                yield from self._told(entry)

    def _told(self, entry: journal.Entry) -> Iterator[Seen]:
        """What a controller tells of its own work."""
        match entry:
            case journal.ElectionGivenUp(controller=c, partition=partition, creating=creating):
                kind = "fail to create state" if creating else "fail election"
                yield Seen(f"controller {c}", kind, {"partition": self._number(partition)})
            case journal.ReassignmentGivenUp(controller=c, partition=partition):
                yield Seen(f"controller {c}", "fail reassignment", {"partition": self._number(partition)})
            case journal.TurnedTo(controller=c, topic=topic):
                yield Seen(f"controller {c}", "turn to deletion", {"topic": self._topic(topic)})
            case journal.ImbalanceFound(controller=c, broker=b):
                yield Seen(f"controller {c}", "find imbalance", {"broker": b})

    def _number(self, partition: TopicPartition) -> int:
        return self.after.partitions.index(partition)

    def _topic(self, topic: str) -> int:
        return self.after.topics().index(topic)

    # ------------------------------------------------------------------------------------------ processes, milestones

    def _fate(self, met: journal.FateMet) -> Iterator[Seen]:
        named = [number for number, one in enumerate(self.after.partitions) if str(one) in met.paths]
        match met.fate:
            case fate if fate in OF_PROCESSES:
                yield Seen(f"broker {met.process}", OF_PROCESSES[fate], {})
            case fate if fate in BY_HAND:
                yield Seen("admin", BY_HAND[fate], {})
            case fate if fate in OF_TOPICS:
                yield from (Seen("admin", OF_TOPICS[fate], {"topic": self._topic(topic)}) for topic in met.paths)
            case Fate.SESSION_ENDED:
                yield Seen("zookeeper", "end session", {"process": met.process})
            case Fate.ELECTION_REQUESTED:
                yield Seen("admin", "request election", {"named": sum(1 << number for number in named)})
            case Fate.REASSIGNMENT_REQUESTED:
                yield Seen("admin", "create /admin/reassign_partitions", {"request": int(met.paths[0])})
            case fate if fate in OF_PARTITIONS:
                yield from (Seen("admin", OF_PARTITIONS[fate], {"partition": number}) for number in named)
            case Fate.TOPIC_CREATED:
                paths = [topic_path(topic) for topic in self.after.topics()]
                yield from (Seen("admin", "create topic", {"topic": paths.index(path)}) for path in met.paths)

    def _reached(self, reached: journal.Reached) -> Iterator[Seen]:
        role, milestone = f"controller {reached.controller}", reached.milestone
        if milestone in WITH_EPOCH:
            yield Seen(role, WITH_EPOCH[milestone], {"epoch": reached.epoch})
        elif milestone is Milestone.BROKER_CHANGE:
            fields = {"brokers": reached.listed, "new": reached.new, "dead": reached.dead}
            yield Seen(role, "read /brokers/ids", fields)
        else:
            yield Seen(role, MILESTONES[milestone], {})

    # ------------------------------------------------------------------------------------------------------- ZooKeeper

    def _operation(self, entry: OperationDone) -> Iterator[Seen]:
        process, role, path = entry.process, f"controller {entry.process}", entry.operation.path
        match entry.operation, entry.answer:
            case GetData(), NodeData(data=data):
                yield from self._read(role, path, data)
            case GetData(), _:
                yield from self._read(role, path, None)
            case Create() | SetData() as write, ZookeeperError() as error:
                yield from self._refused(process, write, error)
            case Create() | SetData() as write, _:
                yield from self._written(process, write)
            case Delete(), None:
                yield from self._deleted(role, path)
            case GetChildren(), Children(names=names):
                yield from self._listed(role, path, names)

    def _read(self, role: str, path: str, data: bytes | None) -> Iterator[Seen]:
        """A znode was read, or found missing."""
        topics = [topic_path(topic) for topic in self.after.topics()]
        if self.rule == on_partition_modifications.name and path in topics:
            yield Seen(role, "read assignment", {"topic": topics.index(path)})
        elif path == CONTROLLER and self.rule in READS_CONTROLLER:
            payload = None if data is None else parsed(ControllerPayload, path, data)
            yield Seen(role, "read /controller", {"controller": 0 if payload is None else payload.brokerid})
        elif path == CONTROLLER_EPOCH and self.rule in READS_EPOCH:
            epoch = 0 if data is None else parsed(ControllerEpochPayload, path, data).controller_epoch
            yield Seen(role, "read /controller_epoch", {"epoch": epoch})
        elif path == REASSIGN_PARTITIONS and self.rule in READS_MOVES:
            yield Seen(role, "read /admin/reassign_partitions", {})

    def _listed(self, role: str, path: str, names: tuple[str, ...]) -> Iterator[Seen]:
        """Which brokers a read of children has found, or which topics, and which not."""
        if path == BROKER_IDS and self.rule == read_brokers.name:
            yield Seen(role, "read /brokers/ids", {"brokers": frozenset(map(int, names))})
        elif self.rule in READS_TOPICS.get(path, ()):
            for number, topic in enumerate(self.after.topics()):
                yield Seen(role, f"read {path}", {"topic": number, "present": topic in names})

    def _deleted(self, role: str, path: str) -> Iterator[Seen]:
        """What a controller has deleted; nothing is said of the znodes between a topic and its states."""
        known: dict[str, tuple[str, dict[str, object]]] = {
            CONTROLLER: ("delete /controller", {"controller": self.owner}),
            REASSIGN_PARTITIONS: ("write /admin/reassign_partitions", {}),
            ELECTIONS: ("delete election request", {}),
        }
        for t, topic in enumerate(self.after.topics()):
            known[topic_path(topic)] = "delete topic", {"topic": t}
            known[topic_config_path(topic)] = "delete configuration", {"topic": t}
            known[delete_topic_path(topic)] = "delete delete_topics", {"topic": t}
        for p, partition in enumerate(self.after.partitions):
            known[state_path(partition)] = "delete state", {"partition": p}
        if path.startswith(ISR_CHANGES):
            yield Seen(role, "delete isr_change", {"creator": self._creator(path)})
        elif path in known:
            yield Seen(role, *known[path])

    def _creator(self, notice: str) -> int:
        """The broker of an ISR change: a broker's notifications are as many places apart as there are brokers."""
        return (self.after.notifiers[notice] - 1) % self.after.scope.brokers + 1

    def _written(self, process: int, write: Create | SetData) -> Iterator[Seen]:
        """A write that ZooKeeper applied."""
        creates = isinstance(write, Create)
        path = None if write.path.startswith(ISR_CHANGES) else Path.parse(write.path)
        controller, data = f"controller {process}", write.data
        if path is None:
            yield Seen(f"broker {process}", "create isr_change", {})
        elif path.kind is BROKER:
            yield Seen("zookeeper", "create /brokers/ids", {"process": process})
        elif write.path == CONTROLLER:
            yield Seen(controller, "create /controller", {"controller": process})
        elif write.path == CONTROLLER_EPOCH and not self.rule.startswith(elect_create.name):
            epoch = parsed(ControllerEpochPayload, CONTROLLER_EPOCH, data).controller_epoch
            yield Seen(controller, f"{'create' if creates else 'write'} /controller_epoch", {"epoch": epoch})
        elif path.kind is BROKER_TOPIC and data is not None:
            yield from self._assigned(process, parsed(TopicPayload, write.path, data))
        elif write.path == REASSIGN_PARTITIONS:
            yield Seen(controller, "write /admin/reassign_partitions", {})
        elif path.kind is STATE:
            known = leadership_in(write.path, data, self.after.zookeeper.tree[write.path].version)
            partition = TopicPartition(str(path.topic), int(path.partition or 0))
            role = f"broker {process}" if self.rule in BROKER_STEPS else controller
            fields = {"partition": self._number(partition), **in_words(known)}
            yield Seen(role, "create state" if creates else "write state", fields)

    def _assigned(self, c: int, written: TopicPayload) -> Iterator[Seen]:
        """A controller wrote a topic's assignment for the partition that is in work."""
        controller = self.after.processes[c].controller
        partition = None if controller is None else controller.activity.reassigning
        if partition is not None:
            replicas = as_listed(written.partitions[partition.partition])
            fields = {"partition": self._number(partition), "replicas": replicas}
            yield Seen(f"controller {c}", "write assignment", fields)

    def _refused(self, process: int, write: Create | SetData, error: object) -> Iterator[Seen]:
        """A write that ZooKeeper refused: something was there already, or had another version."""
        if isinstance(write, Create) and isinstance(error, NodeExists) and write.path in (CONTROLLER, CONTROLLER_EPOCH):
            yield Seen(f"controller {process}", f"fail to create {write.path}", {})
        elif isinstance(write, Create) and isinstance(error, NodeExists) and write.path == broker_path(process):
            yield Seen(f"broker {process}", "fail to create /brokers/ids", {})
        elif isinstance(write, SetData) and isinstance(error, BadVersion) and write.path != CONTROLLER_EPOCH:
            path = Path.parse(write.path)
            partition = TopicPartition(str(path.topic), int(path.partition or 0))
            role = "broker" if self.rule in BROKER_STEPS else "controller"
            yield Seen(f"{role} {process}", "fail to write state", {"partition": self._number(partition)})
