"""A cluster of the reference to be recorded: a real ZooKeeper server, and a process for each broker.

What is done to it is written down as it is done (`actions.jsonl`), the brokers write their own logs, and at the end
ZooKeeper's transaction log is read: the recording that `model_check/RECORDING.md` tells of. The server and the brokers
are children of this process, in sessions of their own, so that Ctrl-C reaches only us; they die with it.

A broker keeps its port over its incarnations, as a real one does; while it is down, nobody is given it by chance.
"""

from __future__ import annotations

import json
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from model_check.live.live_child import BROKER_MODULE, Child
from model_check.recordings.reading import ACTIONS
from model_check.recordings.recorded_sessions import SESSIONS, sessions_by_log
from model_check.recordings.recorded_transactions import ZOOKEEPER
from reference.live.isr import BLACK_OUT_SECONDS
from reference.live.zookeeper import LiveZookeeper
from reference.ports import kept_ports
from reference.zookeeper.api import Create, Exists, GetData, NoNode, SetData
from reference.zookeeper.log import read_transaction_log
from reference.zookeeper.recording import write_recording
from reference.zookeeper.scripts import (
    CONTROLLER,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    broker_path,
    delete_topic_path,
    topic_config_path,
    topic_path,
)
from reference.zookeeper.server import ZookeeperServer
from reference.zookeeper.server_errors import ZookeeperServerError
from spec.errors import BadInput, EnvironmentFailure, SpecError
from spec.formats.znodes import (
    ControllerPayload,
    PartitionReassignment,
    PartitionsPayload,
    ReassignPartitionsPayload,
    TopicConfigPayload,
    TopicPayload,
    parse_payload,
)
from spec.kafka_types import TopicPartition
from spec.variants import AS_CODED, Switch, Switches

POLL_SECONDS: Final = 0.03
PATIENCE_SECONDS: Final = 30.0
"""How long anything may take that the cluster must come to by itself."""
QUIET_SECONDS: Final = BLACK_OUT_SECONDS + 0.2
"""A cluster that wrote nothing for so long is at rest: nor is there an ISR change left to be announced."""


NEED_TRANSACTIONS: Final = frozenset({Switch.FENCED_WRITES, Switch.FENCED_RESIGN, Switch.ATOMIC_ELECTION})
"""Mends that check and write in one transaction of ZooKeeper's."""


class Stopped(Exception):
    """Whoever waits for the run asked it to stop."""


@dataclass(frozen=True)
class Setup:
    """What a cluster is made of: how many brokers, the server's port (None: a free one), and the times in milliseconds.

    `switches` are the mends that the brokers have; `module` is what runs as one. BadInput where they cannot.
    """

    brokers: int
    seed: int
    port: int | None = None
    session_timeout_ms: int = 1500
    lag_ms: int = 1250
    tick_ms: int = 200
    switches: Switches = AS_CODED
    module: str = BROKER_MODULE

    def __post_init__(self) -> None:
        if older := ", ".join(sorted(one.name for one in self.switches if one.puts_back)):
            raise BadInput(f"a live run cannot have {older}: its brokers do what 0.10.2 does")
        if impossible := self.switches & NEED_TRANSACTIONS:
            names = ", ".join(sorted(one.name for one in impossible))
            raise BadInput(f"a live run cannot have {names}: they need transactions, which the live client has not")


class LiveCluster:
    """The cluster as a context manager; `stop` is asked again and again whether to give up.

    Raises EnvironmentFailure where something around it fails, Stopped where it is to give up.
    """

    def __init__(self, setup: Setup, folder: Path, stop: Callable[[], bool] = lambda: False) -> None:
        self.setup = setup
        self.folder = folder
        self.broker_ids = tuple(range(1, setup.brokers + 1))
        self.children: dict[int, Child] = {}
        self.starts = dict.fromkeys(self.broker_ids, 0)
        self._stop = stop
        self._exit = ExitStack()
        self._is_saved = False

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._work = Path(entered.enter_context(tempfile.TemporaryDirectory(prefix="kcheck-live-")))
            entered.enter_context(_failures_told())
            self._server = entered.enter_context(
                ZookeeperServer(
                    self._work / "zookeeper",
                    self.setup.port,
                    tick_time_ms=self.setup.tick_ms,
                    min_session_timeout_ms=self.setup.session_timeout_ms,
                )
            )
            self._admin = entered.enter_context(LiveZookeeper(self._server.address, 60_000))
            self._ports = dict(zip(self.broker_ids, kept_ports(len(self.broker_ids)), strict=True))
            self._acts = entered.enter_context((self.folder / ACTIONS).open("w", encoding="utf-8"))
            entered.callback(self._end_children)
            self.act("zookeeper-started", port=self._server.port, admin_session=hex(self._admin.session))
            self._exit = entered.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not self._is_saved:
            with suppress(OSError, SpecError):  # what ended the run may have taken this, too; that is what is told
                self.finish()
        self._exit.__exit__(kind, error, traceback)

    def _end_children(self) -> None:
        for child in self.children.values():
            child.end()
        self.children.clear()

    # -------------------------------------------------------------------------------------------- what is done to it

    def act(self, action: str, **fields: Any) -> None:
        """Write down what is done."""
        now = datetime.now(UTC)
        head = {"time": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z", "ms": int(now.timestamp() * 1000)}
        self._acts.write(json.dumps({**head, "action": action, **fields}) + "\n")
        self._acts.flush()

    def start(self, broker: int) -> None:
        """Start a broker's process, and do not wait for it."""
        self.starts[broker] += 1
        options = {
            "broker": broker,
            "zookeeper": self._server.address,
            "port": self._ports[broker],
            "folder": self.folder / f"broker-{broker}",
            "seed": hash((self.setup.seed, broker, self.starts[broker])) & 0xFFFF,
            "session-timeout-ms": self.setup.session_timeout_ms,
            "lag-ms": self.setup.lag_ms,
            "mends": ",".join(sorted(one.name for one in self.setup.switches)),
        }
        child = Child(self.setup.module, options, self._work / f"broker-{broker}-{self.starts[broker]}.txt")
        self.children[broker] = child
        self.act("broker-start", broker=broker, pid=child.process.pid, incarnation=self.starts[broker])

    def kill(self, broker: int) -> None:
        """Kill a broker (SIGKILL)."""
        self.act("broker-kill-9", broker=broker, pid=self.children[broker].process.pid)
        self.children.pop(broker).end()

    def tell_to_stop(self, broker: int) -> None:
        """Have a broker stop in order (SIGTERM), and do not wait for it."""
        self.act("broker-sigterm (controlled shutdown)", broker=broker, pid=self.children[broker].process.pid)
        self.children[broker].process.terminate()

    def await_exit(self, broker: int) -> None:
        """Wait until a broker that was told to stop is gone."""
        process = self.children[broker].process
        self.wait_until(f"broker {broker} has stopped", lambda: process.poll() is not None)
        self.children.pop(broker).end()
        self.act("broker-exited", broker=broker, rc=process.returncode)

    def suspend(self, broker: int) -> None:
        """Stop a broker where it is (SIGSTOP)."""
        self.act("broker-sigstop", broker=broker)
        self.children[broker].process.send_signal(signal.SIGSTOP)

    def resume(self, broker: int) -> None:
        """Let it go on (SIGCONT)."""
        self.act("broker-sigcont", broker=broker)
        self.children[broker].process.send_signal(signal.SIGCONT)

    def lag(self, broker: int, milliseconds: int) -> None:
        """Have a follower fall silent."""
        self.act("note", text=f"broker {broker} tells no leader for {milliseconds} ms that it follows")
        self.children[broker].order(f"lag {milliseconds}")

    def create_topic(self, topic: str, assignment: Mapping[int, tuple[int, ...]]) -> None:
        """The admin tool creates a topic."""
        self.act("admin-create-topic", topic=topic, partitions={str(p): list(ids) for p, ids in assignment.items()})
        for path, payload in (
            (topic_config_path(topic), TopicConfigPayload(config={})),
            (topic_path(topic), TopicPayload(partitions=dict(assignment))),
        ):
            self._admin.execute(Create(path, payload.encode()), PATIENCE_SECONDS)

    def add_partition(self, topic: str, replicas: tuple[int, ...]) -> None:
        """The admin tool adds a partition: it writes the topic's znode as it has just read it, with one more."""
        assignment = self.assignment(topic)
        added = {max(assignment) + 1: replicas}
        self.act("admin-add-partitions", topic=topic, added={str(p): list(ids) for p, ids in added.items()})
        data = TopicPayload(partitions={**assignment, **added}).encode()
        self._admin.execute(SetData(topic_path(topic), data), PATIENCE_SECONDS)

    def delete_topic(self, topic: str) -> None:
        """The admin tool asks for the deletion of a topic."""
        self.act("admin-delete-topic", topic=topic)
        self._admin.execute(Create(delete_topic_path(topic), b""), PATIENCE_SECONDS)

    def reassign(self, wanted: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """The admin tool asks for a reassignment; it refuses to while there is one."""
        entries = tuple(PartitionReassignment(tp.topic, tp.partition, replicas) for tp, replicas in wanted.items())
        data = ReassignPartitionsPayload(partitions=entries).encode() or b""
        self.act("admin-reassign", request=json.loads(data))
        self._admin.execute(Create(REASSIGN_PARTITIONS, data), PATIENCE_SECONDS)

    def elect_preferred(self, partitions: Iterable[TopicPartition]) -> None:
        """The admin tool asks for a preferred election; it refuses to while one is asked for."""
        data = PartitionsPayload(partitions=tuple(partitions)).encode() or b""
        self.act("admin-preferred-election", request=json.loads(data))
        self._admin.execute(Create(PREFERRED_REPLICA_ELECTION, data), PATIENCE_SECONDS)

    # ----------------------------------------------------------------------------------------------- what is seen of it

    def controller(self) -> int | None:
        """The id in /controller."""
        try:
            data = self._admin.execute(GetData(CONTROLLER), PATIENCE_SECONDS).data
        except NoNode:
            return None
        payload = parse_payload(CONTROLLER, data)
        return payload.brokerid if isinstance(payload, ControllerPayload) else None

    def assignment(self, topic: str) -> Mapping[int, tuple[int, ...]]:
        """The assigned replicas of a topic's partitions."""
        data = self._admin.execute(GetData(topic_path(topic)), PATIENCE_SECONDS).data
        payload = parse_payload(topic_path(topic), data)
        return payload.partitions if isinstance(payload, TopicPayload) else {}

    def is_reassigning(self) -> bool:
        """Whether /admin/reassign_partitions is there."""
        return self._admin.execute(Exists(REASSIGN_PARTITIONS), PATIENCE_SECONDS) is not None

    def is_electing(self) -> bool:
        """Whether /admin/preferred_replica_election is there."""
        return self._admin.execute(Exists(PREFERRED_REPLICA_ELECTION), PATIENCE_SECONDS) is not None

    def is_registered(self, broker: int) -> bool:
        """Whether /brokers/ids/N is there."""
        return self._admin.execute(Exists(broker_path(broker)), PATIENCE_SECONDS) is not None

    # ---------------------------------------------------------------------------------------------------------- waiting

    def wait_until(self, what: str, holds: Callable[[], bool], patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for something that must come; EnvironmentFailure if it does not."""
        if not self.comes(holds, patience_seconds):
            raise EnvironmentFailure(f"within {patience_seconds:g} s not: {what}", "is the machine overloaded?")

    def comes(self, holds: Callable[[], bool], patience_seconds: float) -> bool:
        """Wait for something that may not come; say whether it did."""
        deadline = time.monotonic() + patience_seconds
        while not holds():
            if time.monotonic() > deadline:
                return False
            self.sleep(POLL_SECONDS)
        return True

    def sleep(self, seconds: float) -> None:
        """Let the cluster run, and see that nothing has ended by itself."""
        until = time.monotonic() + seconds
        while True:
            if self._stop():
                raise Stopped
            self._server.check_running()
            for child in self.children.values():
                if child.has_failed:
                    raise child.failure()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, POLL_SECONDS))

    def ensure_running(self, broker: int) -> None:
        """Have a broker up and registered; one that finds its id taken is started again once the old session ends."""
        while True:
            if broker not in self.children:
                self.start(broker)
            child = self.children[broker]
            self.wait_until(f"broker {broker} is registered", child.has_started_or_ended)
            if child.has_started:
                return
            self._reap(broker)

    def _reap(self, broker: int) -> None:
        """A broker has ended since its id was registered by another session; wait for that one's end."""
        self.children.pop(broker).end()
        self.act("broker-exited", broker=broker)
        self.wait_until(f"the old session of broker {broker} ends", lambda: not self.is_registered(broker))

    def rest(self, patience_seconds: float = PATIENCE_SECONDS / 3) -> bool:
        """Wait until nobody writes anything any more; say whether that came."""
        deadline = time.monotonic() + patience_seconds
        seen, since = self._written(), time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            if time.monotonic() > deadline:
                return False
            self.sleep(POLL_SECONDS)
            now = self._written()
            if now != seen:
                seen, since = now, time.monotonic()
        return True

    def _written(self) -> tuple[int, int]:
        """The last transaction, and the size of all logs."""
        self._admin.execute(Exists("/"), PATIENCE_SECONDS)
        return self._admin.last_zxid, sum(log.stat().st_size for log in self.folder.glob("broker-*/*.log"))

    # ---------------------------------------------------------------------------------------------------- the recording

    def finish(self) -> None:
        """End every broker at once, and save what they and ZooKeeper wrote; a run that fails ends with this, too."""
        for broker in self.children:
            self.act("broker-kill-9 (end of recording)", broker=broker)
        self._end_children()
        write_recording(self.folder / ZOOKEEPER, read_transaction_log(self._server.data_dir / "version-2"))
        sessions = sessions_by_log(self.folder)
        told = {
            hex(number & (1 << 64) - 1): {"broker": one.broker, "incarnation": one.incarnation}
            for number, one in sessions.items()
        }
        (self.folder / SESSIONS).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        self._is_saved = True
        self.act("end")


@contextmanager
def _failures_told() -> Iterator[None]:
    """What goes wrong with the server, or with the connection to it, as a failure of the environment."""
    try:
        yield
    except ZookeeperServerError as error:
        raise EnvironmentFailure(str(error), "nothing was judged") from error
    except (ConnectionError, TimeoutError) as error:
        raise EnvironmentFailure(f"ZooKeeper cannot be reached: {error}", "nothing was judged") from error
