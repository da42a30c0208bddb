"""The log files of a broker process, written as Kafka writes them and flushed line by line.

    state-change.log     what the state machines and the broker's request handler say, at TRACE
    kafka-request.log    each request of a controller as it arrives, and again when it is answered
    controller.log       what the controller reads, and where it is
    server.log           the process's start, the sessions that it got, and what it swallows
    wire.jsonl           the frames of a controller's requests and of their answers, which no file of Kafka's has

A line is one write to a file that is only appended to, so a process that is killed leaves whole lines behind, and all
its incarnations share one file. Times are UTC, to the millisecond.

Kafka 0.10.2.2: `config/log4j.properties`. Left out on purpose: what controller.log says of connections to brokers, of
threads, of a machine's start and stop, of the check of the balance, of what the listeners on requests for elections
and on notifications found, of calls for deletion, and of errors beyond those of state-change.log; and the many
lines of server.log that nobody here reads.

Three lines are written behind the effect that Kafka announces with them, so who dies in it has not written them:
LiveAssignedReplicas and StateInitialized (behind the create of the state znode), RemovingFromIsr (the first read).
"""

import errno
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reference.journal import Entry, Milestone, Reached, Report, StateChange
from spec.logs.log_entries import LogEntry, entry_of
from spec.logs.log_lines import Line
from spec.logs.wire_records import WIRE_LOG, ProcessStarted, WireRecord, print_record

STATE_CHANGE, REQUESTS, CONTROLLER, SERVER = "state-change.log", "kafka-request.log", "controller.log", "server.log"

KAFKA_SERVER, CLIENT_CNXN = "kafka.server.KafkaServer", "org.apache.zookeeper.ClientCnxn"
ELECTOR, CORE_UTILS = "kafka.server.ZookeeperLeaderElector", "kafka.utils.CoreUtils$"


class LogFile:
    """A file that lines are appended to, each with one write."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, line: Line) -> None:
        """Append a line that is declared in spec, at this moment's time."""
        self._append(entry_of(line, datetime.now(UTC)))

    def say(self, level: str, message: str, logger: str) -> None:
        """Append a line that no schema declares."""
        self._append(LogEntry("", 0, datetime.now(UTC), level, message, logger))

    def _append(self, entry: object) -> None:
        line = f"{entry}\n".encode()
        if os.write(self._descriptor, line) != len(line):
            # Only the part of the line for which the disk had room is there.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class WireLog(LogFile):
    """The file of the frames that come in, and go out as answers."""

    def record(self, kind: Callable[..., WireRecord], **fields: Any) -> None:
        """Something happens at this moment: an incarnation begins, a request has arrived, its answer goes out."""
        self._append(print_record(kind(ms=time.time_ns() // 1_000_000, **fields)))


class Logs:
    """The log files of one broker, in its folder."""

    def __init__(self, broker_id: int, folder: Path) -> None:
        self.broker_id = broker_id
        folder.mkdir(parents=True, exist_ok=True)
        self.state_change = LogFile(folder / STATE_CHANGE)
        self.requests = LogFile(folder / REQUESTS)
        self.controller = LogFile(folder / CONTROLLER)
        self.server = LogFile(folder / SERVER)
        self.wire = WireLog(folder / WIRE_LOG)

    def journal(self, entry: Entry) -> None:
        """Write what the handlers tell of themselves; what stands in no file of Kafka's is passed over."""
        match entry:
            case StateChange(line):
                self.state_change.write(line)
            case Report(line):
                self.controller.write(line)
            case Reached(controller=c, milestone=Milestone.FAILOVER_FAILED):
                self.server.say("ERROR", f"Error while electing or becoming leader on broker {c}", ELECTOR)
            case _:
                pass

    def starting(self) -> None:
        """A new incarnation begins."""
        self.server.say("INFO", "starting", KAFKA_SERVER)
        self.wire.record(ProcessStarted)

    def swallowed(self, error: Exception) -> None:
        """What was raised is only logged (`CoreUtils.swallow`)."""
        self.server.say("WARN", str(error), CORE_UTILS)

    def session_began(self, session: int, address: str, timeout_ms: int) -> None:
        """The client got a session."""
        number = f"sessionid = {session & (1 << 64) - 1:#x}, negotiated timeout = {timeout_ms}"
        self.server.say("INFO", f"Session establishment complete on server {address}, {number}", CLIENT_CNXN)
