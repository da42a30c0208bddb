"""Recordings of the cluster in memory, in the form in which a real cluster leaves them behind.

A play is told in names of steps, as a story of the specification has them; what happens between two of them is
progress, in the order of the scheduler's choices. So a defect that nobody has recorded can be, and be judged. The
public face (`reference.cluster`) names its steps in other words, and has neither a scope nor the clock that a recording
needs.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from reference.journal import Entry, Report, StateChange
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import STARTS
from reference.scripts import state_data, state_path
from reference.zookeeper.api import BadVersion, SetData
from reference.zookeeper.recording import write_recording
from reference.zookeeper.transactions import hex_of
from spec.logs.broker_change_lines import BrokerLine
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.log_entries import LogEntry, entry_of, print_time
from spec.logs.log_lines import Line
from spec.scopes import BUDGETS, Scope
from spec.variants import AS_CODED, Switches

PARTS: Final = frozenset({
    "partitions", "connections", "metadata", "creation", "notifications", "deletion", "preferred_election",
    "failed_removals", "dead_replicas",
})  # fmt: skip
BEGIN: Final = 1_795_201_000_000
"""When a recording begins, in milliseconds."""
EACH: Final = 10
"""The milliseconds from one step to the next."""
PLENTY: Final = 99
LIMIT: Final = 250
"""The steps after which a cluster must have come to rest."""

Assigned = tuple[tuple[int, ...], ...]


def a_scope(brokers: int, assigned: Assigned, *, requests: tuple[Assigned, ...] = (), **bounds: Any) -> Scope:
    """The whole protocol with these topics, of one partition each unless `topic_of` says otherwise, none created."""
    parts = PARTS | bounds.pop("parts", frozenset()) | ({"reassignment"} if requests else set())
    bounds.setdefault("topic_of", tuple(range(len(assigned))))
    return Scope(
        name="stand-in", statement="A cluster to be recorded.", brokers=brokers, controllers=brokers, assigned=assigned,
        requests=requests, parts=parts, budgets=tuple((name, PLENTY) for name in BUDGETS), connection_capacity=64,
        callback_capacity=32, notification_capacity=16, controller_epochs=200, versions=2**31 - 1, shutdown_tries=3,
        cold=True, reads_rearm=True, fires_by_hash=True, **bounds,
    )  # fmt: skip


TRACE: Final = """
org.I0Itec.zkclient.exception.ZkNoNodeException: KeeperErrorCode = NoNode for
{"two": "lines"}
\tat org.I0Itec.zkclient.exception.ZkException.create(ZkException.java:47)
Caused by: java.util.NoSuchElementException: key not found: [a,0]
\tat scala.collection.MapLike$class.default(MapLike.scala:228)
\t... 18 more"""
"""What Java puts behind a line that comes with an exception."""
NOISE: Final = (
    (
        "WARN [Controller-{b}-to-broker-2-send-thread], Controller {b} epoch 1 fails to send request {{}} to broker "
        "127.0.0.1:9092 (id: 2 rack: null). Reconnecting to broker. (kafka.controller.RequestSendThread)"
    ),
    (
        "ERROR [Replica state machine on controller {b}]: Error while moving some replicas to OnlineReplica state "
        "(kafka.controller.ReplicaStateMachine)"
    ),
    (
        "ERROR [TopicChangeListener on Controller {b}]: Error while handling new topic "
        "(kafka.controller.PartitionStateMachine$TopicChangeListener)"
    ),
    (
        "ERROR [BrokerChangeListener on Controller {b}]: Error while handling broker changes "
        "(kafka.controller.ReplicaStateMachine$BrokerChangeListener)"
    ),
)
"""Lines of controller.log that the reference does not write, and that come with an exception."""


def with_noise(b: int, log: str, entries: Iterable[LogEntry]) -> Iterator[str]:
    """A log with stack traces behind its errors, and with lines that nobody reads."""
    for number, entry in enumerate(entries):
        yield f"{entry}{TRACE if entry.level == 'ERROR' else ''}\n"
        if log == "controller.log":
            yield f"[{print_time(entry.time)}] {NOISE[number % len(NOISE)].format(b=b)}{TRACE}\n"


class Play:
    """A cluster in memory and what it has left behind so far. `held` are steps, as patterns, that must wait."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED) -> None:
        self.cluster = MemoryCluster(scope, switches)
        self.now = BEGIN
        self.held: list[str] = []
        self.sessions: dict[str, dict[str, int]] = {}
        self.lives = dict.fromkeys(self.cluster.processes, 0)
        self.logs: dict[tuple[int, str], list[LogEntry]] = {}
        self.acts: list[dict[str, Any]] = []
        self.taken: list[str] = []
        self._number_time()

    # --------------------------------------------------------------------------------------------------- going on

    def possible(self) -> dict[str, Choice]:
        """What may happen next."""
        return {choice.name: choice for choice in choices(self.cluster)}

    def do(self, *names: str) -> None:
        """Let things go on until each of these steps in turn is possible, and take it."""
        for name in names:
            while (found := self.possible().get(name)) is None:
                following = self._progress()
                if following is None:
                    raise AssertionError(f"{name} never comes; {self.taken[-8:]}, {list(self.possible())}")
                self._take(following)
            self._take(found)

    def rest(self, *held: str) -> None:
        """Let everything happen that does by itself, but for what is held, then nothing for a while."""
        limit = len(self.taken) + LIMIT
        with self.holding(*held):
            while (following := self._progress()) is not None:
                assert len(self.taken) < limit, f"no rest; the last steps were {self.taken[-12:]}"
                self._take(following)
        self.pause()

    @contextmanager
    def holding(self, *patterns: str) -> Iterator[None]:
        """Let the steps of these patterns wait."""
        self.held += patterns
        yield
        for pattern in patterns:
            self.held.remove(pattern)

    def pause(self, seconds: float = 3) -> None:
        """Let time go by."""
        self.now += int(1000 * seconds)

    def start(self, brokers: Iterable[int] = (), *, topics: int = 0) -> None:
        """Start brokers one after the other, all if none is named; then create the first topics."""
        for b in brokers or self.cluster.processes:
            self.do(f"start_process(b={b})")
            self.rest()
        for t in range(topics):
            self.do(f"create_topic(t={t})")
            self.rest()

    def kill(self, b: int) -> None:
        """Kill a process."""
        self.acts.append({"ms": self.now, "action": "broker-kill-9", "broker": b})
        self.do(f"crash(b={b})")

    def stop(self, b: int) -> None:
        """Tell a process to stop, which asks the controller first."""
        self.acts.append({"ms": self.now, "action": "broker-sigterm (controlled shutdown)", "broker": b})
        self.do(f"stop_broker(b={b})")

    def write_in_vain(self, b: int, isr: tuple[int, ...], times: int = 3) -> None:
        """A leader of the first partition tries to write its ISR, time and again, on a version that is stale."""
        process, partition = self.cluster.processes[b], self.cluster.partitions[0]
        known = process.broker.partition(partition).leadership
        write = SetData(state_path(partition), state_data(replace(known, isr=isr)), known.zk_version)
        assert process.session is not None
        for _ in range(times):
            self.pause(5)
            self._number_time()
            with pytest.raises(BadVersion):
                self.cluster.zookeeper.execute(process.session, write)

    def _progress(self) -> Choice | None:
        held = re.compile("|".join((*self.held, *STARTS, "(?!)")))
        going = (one for one in choices(self.cluster) if not one.is_fault and not held.match(one.name))
        return next(going, None)

    # -------------------------------------------------------------------------------------------------- writing down

    def _number_time(self) -> None:
        self.now += EACH
        self.cluster.zookeeper.time_ms = self.now

    def _take(self, choice: Choice) -> None:
        self._number_time()
        sessions = {b: process.session for b, process in self.cluster.processes.items()}
        step(self.cluster, choice)
        self.taken.append(choice.name)
        for b, process in self.cluster.processes.items():
            if process.session not in (None, sessions[b]):
                self.lives[b] += sessions[b] is None
                self.sessions[hex_of(process.session)] = {"broker": b, "incarnation": self.lives[b]}
        actor = dict(choice.parameters).get("c", dict(choice.parameters).get("b", 0))
        for entry in self.cluster.entries:
            self._note(entry, actor)

    def _note(self, entry: Entry, actor: int) -> None:
        match entry:
            case StateChange(ControllerLine() as line):
                self._write(line.controller, "state-change.log", line)
            case StateChange(BrokerLine() as line):
                self._write(line.broker, "state-change.log", line)
            case Report(line):
                self._write(getattr(line, "controller", actor), "controller.log", line)
            case _:
                pass

    def _write(self, b: int, log: str, line: Line) -> None:
        self.logs.setdefault((b, log), []).append(entry_of(line, datetime.fromtimestamp(self.now / 1000, UTC)))

    def save(self, folder: Path) -> Path:
        """Leave the recording in a folder, with what a real process writes beside what the reference does."""
        for b in self.cluster.processes:
            (folder / f"broker-{b}").mkdir(parents=True, exist_ok=True)
            for log in ("state-change.log", "controller.log"):
                lines = with_noise(b, log, self.logs.get((b, log), ()))
                (folder / f"broker-{b}" / log).write_text("".join(lines), encoding="utf-8")
            if self.cluster.scope.unclean:
                told = "[2026-11-20 18:56:40,000] INFO KafkaConfig values: \n\tunclean.leader.election.enable = true\n"
                (folder / f"broker-{b}" / "server.log").write_text(told, encoding="utf-8")
        write_recording(folder / "zookeeper.jsonl", self.cluster.zookeeper.transactions)
        (folder / "sessions.json").write_text(json.dumps(self.sessions), encoding="utf-8")
        (folder / "actions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in self.acts), encoding="utf-8")
        return folder
