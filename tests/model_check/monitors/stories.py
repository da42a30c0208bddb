"""Small recordings, written step by step: what each session does to ZooKeeper, what arrives at whom, what is done.

The clock goes on by ten milliseconds a step. Changes are prepared by the reference's znode tree, so that the log is one
that a server can have written.
"""

import json
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from model_check.monitors.check import check_history
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from reference.zookeeper.api import Create, CreateMode, Delete, SetData, parent_path
from reference.zookeeper.transactions import (
    Change,
    MultiChange,
    SessionClosed,
    SessionCreated,
    Transaction,
    WriteRefused,
    hex_of,
)
from reference.zookeeper.tree import ZnodeTree
from spec.defects import rows_of
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import V0102, TopicPartition
from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionError,
    PartitionLeadership,
    PartitionsResponse,
    StopReplicaRequest,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from spec.formats.requests import RequestHeader, encode_request, encode_response
from spec.logs.wire_records import FrameAnswered, FrameReceived, ProcessStarted, WireRecord, print_record
from tests.leaderships import led

AS_CODED_ROWS = frozenset(one.id for one in rows_of(V0102))
"""What is excused to whoever claims to be 0.10.2."""

STALE = ErrorCode.STALE_CONTROLLER_EPOCH
T0 = TopicPartition("t", 0)


class Story:
    """A recording in the making; sessions of brokers are numbered by them, that of the admin is 99."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000
        self.tree = ZnodeTree()
        self.transactions: list[Transaction] = []
        self.wire: dict[int, list[WireRecord]] = {}
        self.acts: list[dict[str, Any]] = []
        self.sessions: dict[int, tuple[int, int]] = {}
        self.correlation = 0

    # ------------------------------------------------------------------------------------------------- ZooKeeper

    def log(self, session: int, change: Change) -> str:
        """One transaction; its place."""
        self.ms += 10
        parts = change.changes if isinstance(change, MultiChange) else (change,)
        for part in parts:
            self.tree.apply(part, len(self.transactions) + 1)
        self.transactions.append(Transaction(len(self.transactions) + 1, self.ms, session, 0, change))
        return f"zookeeper.jsonl:{len(self.transactions)}"

    def begin(self, session: int, broker: int | None = None, incarnation: int = 1) -> None:
        """A session, of a broker or of the admin."""
        self.log(session, SessionCreated(4000))
        if broker is not None:
            self.sessions[session] = (broker, incarnation)

    def end(self, session: int) -> str:
        """The end of a session, with its ephemeral znodes."""
        return self.log(session, SessionClosed(self.tree.owned_by(session)))

    def create(self, session: int, path: str, content: object = None, *, ephemeral: bool = False) -> str:
        """A znode is created, with its parents."""
        if parent_path(path) not in self.tree.nodes:
            self.create(session, parent_path(path))
        mode = CreateMode.EPHEMERAL if ephemeral else CreateMode.PERSISTENT
        return self.log(session, self.tree.prepare(session, Create(path, _data(content), mode)))

    def set(self, session: int, path: str, content: object) -> str:
        """A znode's data are written."""
        return self.log(session, self.tree.prepare(session, SetData(path, _data(content) or b"")))

    def delete(self, session: int, path: str) -> str:
        """A znode and all below it are deleted."""
        for child in sorted(self.tree.existing(path).children):
            self.delete(session, f"{path}/{child}")
        return self.log(session, self.tree.prepare(session, Delete(path)))

    def refuse(self, session: int, code: int = -103) -> str:
        """A write is refused, for its version if no other code is given."""
        return self.log(session, WriteRefused(code))

    def state(
        self, session: int, leader: int, epoch: int, isr: Sequence[int], *, term: int = 1, topic: str = "t"
    ) -> str:
        """The state of a topic's partition 0 is created, or written."""
        path = f"/brokers/topics/{topic}/partitions/0/state"
        content = {"version": 1, "leader": leader, "leader_epoch": epoch, "controller_epoch": term, "isr": list(isr)}
        return (self.set if path in self.tree.nodes else self.create)(session, path, content)

    def assign(self, session: int, *replicas: int, topic: str = "t") -> str:
        """A topic is created, or its assignment written."""
        path = f"/brokers/topics/{topic}"
        content = {"version": 1, "partitions": {"0": list(replicas)}}
        if path not in self.tree.nodes:
            if f"/config/topics/{topic}" not in self.tree.nodes:
                self.create(session, f"/config/topics/{topic}", {"version": 1, "config": {}})
            return self.create(session, path, content)
        return self.set(session, path, content)

    def move(self, *replicas: int, topic: str = "t") -> str:
        """The admin asks for a reassignment."""
        named = [{"topic": topic, "partition": 0, "replicas": list(replicas)}]
        return self.create(99, "/admin/reassign_partitions", {"version": 1, "partitions": named})

    def elect(self, session: int, epoch: int) -> str:
        """A broker is elected, and raises the epoch."""
        broker, _ = self.sessions[session]
        elected = {"version": 1, "brokerid": broker, "timestamp": str(self.ms)}
        self.create(session, "/controller", elected, ephemeral=True)
        if epoch == 1:
            return self.create(session, "/controller_epoch", 1)
        return self.set(session, "/controller_epoch", epoch)

    def registered(self) -> list[int]:
        """The brokers that are there."""
        return sorted(map(int, self.tree.existing("/brokers/ids").children))

    def assigned(self, topic: str) -> tuple[int, ...]:
        """AR of a topic's partition 0 by now; that of `born`, where there is none."""
        node = self.tree.nodes.get(f"/brokers/topics/{topic}")
        return (2, 3) if node is None or not node.data else tuple(json.loads(node.data)["partitions"]["0"])

    # -------------------------------------------------------------------------------------------------- requests

    def start(self, broker: int) -> None:
        """A process of a broker starts."""
        self.ms += 10
        self.wire.setdefault(broker, []).append(ProcessStarted(ms=self.ms))

    def order(  # noqa: PLR0913 - what a LeaderAndIsr says
        self,
        broker: int,
        leader: int,
        epoch: int,
        isr: Sequence[int],
        *,
        version: int,
        term: int = 1,
        controller: int = 1,
        topic: str = "t",
        code: int = 0,
        refused: bool = False,
        replicas: tuple[int, ...] = (),
        named: Sequence[int] | None = None,
    ) -> str:
        """A LeaderAndIsr arrives, and is answered; it names the leader, and AR, unless other brokers are given."""
        assigned = replicas or self.assigned(topic)
        told = PartitionLeadership(topic, 0, led(leader, epoch, tuple(isr), term, version), assigned)
        leaders = [one for one in self.registered() if one == leader] if named is None else named
        end_points = tuple(LiveLeader(one, "", 9092) for one in leaders)
        request = LeaderAndIsrRequest(controller, term, (told,), end_points)
        partitions = () if refused else (PartitionError(topic, 0, ErrorCode(code)),)
        return self._arrive(broker, request, PartitionsResponse(STALE if refused else ErrorCode.NONE, partitions))

    def tell(  # noqa: PLR0913 - what an UpdateMetadata says
        self,
        broker: int,
        leader: int,
        epoch: int,
        isr: Sequence[int],
        *,
        term: int = 1,
        controller: int = 1,
        topic: str = "t",
        refused: bool = False,
        named: Sequence[int] | None = None,
    ) -> str:
        """An UpdateMetadata arrives, and is answered; it names all that are registered, unless others are given."""
        told = PartitionLeadership(topic, 0, led(leader, epoch, tuple(isr), term, 0), self.assigned(topic))
        brokers = tuple(LiveBroker(one) for one in (self.registered() if named is None else named))
        request = UpdateMetadataRequest(controller, term, (told,), brokers)
        return self._arrive(broker, request, UpdateMetadataResponse(STALE if refused else ErrorCode.NONE), version=3)

    def stop(
        self,
        broker: int,
        *,
        topic: str = "t",
        term: int = 1,
        controller: int = 1,
        refused: bool = False,
        failed: bool | ErrorCode = False,
    ) -> str:
        """A StopReplica with delete arrives, and is answered; one that failed with an error of the partition."""
        request = StopReplicaRequest(controller, term, True, (TopicPartition(topic, 0),))
        code = failed if isinstance(failed, ErrorCode) else ErrorCode.UNKNOWN if failed else ErrorCode.NONE
        partitions = () if refused else (PartitionError(topic, 0, code),)
        return self._arrive(broker, request, PartitionsResponse(STALE if refused else ErrorCode.NONE, partitions))

    def _arrive(self, broker: int, request: Any, response: Any, version: int = 0) -> str:
        self.correlation += 1
        header = RequestHeader(request.api_key, version, self.correlation, "1")
        records = self.wire.setdefault(broker, [])
        self.ms += 10
        records.append(FrameReceived(ms=self.ms, connection="a", data=encode_request(header, request)))
        place = f"broker-{broker}/wire.jsonl:{len(records)}"
        answer = encode_response(self.correlation, response, request.api_key, version)
        records.append(FrameAnswered(ms=self.ms, connection="a", data=answer))
        return place

    # ------------------------------------------------------------------------------------------------------ acts

    def act(self, action: str, broker: int | None = None) -> str:
        """Something is done."""
        self.ms += 10
        self.acts.append({"ms": self.ms, "action": action} | ({} if broker is None else {"broker": broker}))
        return f"actions.jsonl:{len(self.acts)}"

    def rest(self, *, ms: int = 5000, last: str = "") -> str:
        """Nothing moves for ten seconds, and whoever makes the recording writes that down in the middle of them.

        Or for less, and then which transaction was the last.
        """
        self.ms += ms
        place = self.act("at-rest")
        self.acts[-1] |= {"zxid": last} if last else {}
        self.ms += ms
        return place

    def save(self, folder: Path) -> Path:
        """The recording as a folder."""
        lines = "".join(f"{one.to_line()}\n" for one in self.transactions)
        (folder / "zookeeper.jsonl").write_text(lines)
        sessions = {
            hex_of(session): {"broker": broker, "incarnation": life}
            for session, (broker, life) in self.sessions.items()
        }
        (folder / "sessions.json").write_text(json.dumps(sessions))
        for broker, records in self.wire.items():
            (folder / f"broker-{broker}").mkdir()
            text = "".join(f"{print_record(one)}\n" for one in records)
            (folder / f"broker-{broker}" / "wire.jsonl").write_text(text)
        (folder / "actions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in self.acts))
        return folder

    def checked(self, folder: Path, *, excused: frozenset[str] = frozenset()) -> Run:
        """What becomes of the claims."""
        return check_history(self.save(folder), excused=excused)


def _data(content: object) -> bytes | None:
    return None if content is None else json.dumps(content).encode()


def breaks(run: Run, claim: str) -> list[str]:
    """The breaks of a claim, as they are told."""
    (found,) = (one for one in run.findings if one.property == claim)
    assert found.verdict is Verdict.VIOLATED
    start = run.notes.index(f"{claim}: {found.statement}") + 1
    return [one.strip() for one in takewhile(lambda one: one.startswith("  "), run.notes[start:])]


def remarks(run: Run) -> tuple[str, ...]:
    """What is noted of a run, but for the claims without an occasion."""
    return tuple(note for note in run.notes if not note.startswith("it never happened that"))


def begun() -> Story:
    """Brokers 1 to 3, of which 1 is controller, and topic t on 2 and 3; all have been told."""
    story = Story()
    story.begin(99)
    for broker in (1, 2, 3):
        story.start(broker)
        story.begin(broker, broker)
        story.create(broker, f"/brokers/ids/{broker}", {"version": 4}, ephemeral=True)
        if broker == 1:
            story.elect(1, 1)
    born(story, "t")
    return story


def born(story: Story, topic: str, session: int = 1, term: int = 1) -> None:
    """A topic is created on 2 and 3, and a controller tells everybody."""
    story.assign(99, 2, 3, topic=topic)
    story.state(session, 2, 0, (2, 3), topic=topic, term=term)
    for broker in (2, 3):
        story.order(broker, 2, 0, (2, 3), version=0, topic=topic, term=term, controller=session)
    for broker in (1, 2, 3):
        story.tell(broker, 2, 0, (2, 3), topic=topic, term=term, controller=session)


def moved(story: Story) -> None:
    """Topic t is reassigned from 2 and 3 to 3, step by step."""
    story.move(3)
    story.assign(1, 3, 2)
    story.state(1, 2, 1, (2, 3))
    for broker in (2, 3):
        story.order(broker, 2, 1, (2, 3), version=1)
    story.state(1, 3, 2, (2, 3))
    story.order(3, 3, 2, (2, 3), version=2)
    story.state(1, 3, 3, (3,))
    story.order(3, 3, 3, (3,), version=3)
    story.stop(2)
    story.assign(1, 3)
    story.delete(1, "/admin/reassign_partitions")
    for broker in (1, 2, 3):
        story.tell(broker, 3, 3, (3,))


def deleted(story: Story, topic: str = "t", session: int = 1) -> str:
    """A topic on 2 and 3 is deleted; the place of its delete."""
    if f"/admin/delete_topics/{topic}" not in story.tree.nodes:
        story.create(99, f"/admin/delete_topics/{topic}")
    story.state(session, -1, 1, (3,), topic=topic)
    for broker in (1, 2, 3):
        story.tell(broker, -2, 0, (3,), topic=topic)
    for broker in (2, 3):
        story.stop(broker, topic=topic)
    place = story.delete(session, f"/brokers/topics/{topic}")
    story.delete(session, f"/config/topics/{topic}")
    story.delete(session, f"/admin/delete_topics/{topic}")
    return place


def failed_over(story: Story) -> None:
    """Broker 1 dies, and 2 is elected; it finds nothing to decide."""
    story.act("broker-kill-9", 1)
    story.end(1)
    story.elect(2, 2)
    for broker in (2, 3):
        story.tell(broker, 2, 0, (2, 3), term=2, controller=2)
