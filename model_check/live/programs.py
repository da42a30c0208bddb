"""What can run as a member of a live cluster: the reference, Kafka, or a command in any language.

Each has a file that makes a `Program` of it (`reference_program`, `kafka_program`, `command_program`). All of them are
started with the same `Launch`, as a `Child`, and write their logs, if they write any, into its folder.
"""

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.live.janitor import watched_process
from model_check.recordings.members import Role
from spec.errors import EnvironmentFailure
from spec.formats.kafka_types import V0102, KafkaVersion, TopicPartition
from spec.variants import AS_CODED, Switches


@dataclass(frozen=True)
class Times:
    """How long a session outlives its process, a follower may be silent, a cluster at rest is; longer for Kafka."""

    session_timeout_ms: int
    lag_ms: int
    quiet_seconds: float


@dataclass(frozen=True)
class Launch:
    """What a member is given: its id, where it listens, where ZooKeeper is, and where its logs and its data go.

    `protocol` is the release line whose requests all members of the cluster send (`inter.broker.protocol.version`).
    """

    broker: int
    incarnation: int
    role: Role
    host: str
    port: int
    zookeeper: str
    folder: Path
    work: Path
    seed: int
    times: Times
    protocol: KafkaVersion = V0102
    switches: Switches = AS_CODED
    deletes_topics: bool = True

    @property
    def output(self) -> Path:
        """What the process prints."""
        return self.work / f"output-{self.incarnation}.txt"


OVERLOADED: Final = "is the machine overloaded?"
"""What is asked where nothing else is known that keeps something from coming."""


class Child(ABC):
    """A running member; what it prints goes to a file."""

    def __init__(self, launch: Launch, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.launch = launch
        launch.folder.mkdir(parents=True, exist_ok=True)
        launch.work.mkdir(parents=True, exist_ok=True)
        with self.printed.open("wb") as output:
            self.process = watched_process(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if environment is None else {**os.environ, **environment},
            )

    @property
    def printed(self) -> Path:
        """The file that has what it prints."""
        return self.launch.output

    @property
    def awaited(self) -> str:
        """What must come for it to be up."""
        return f"broker {self.launch.broker} is registered"

    def why_not_up(self) -> str:
        """What may be wrong where that does not come."""
        return OVERLOADED

    @property
    @abstractmethod
    def has_started(self) -> bool:
        """Whether it is up, as far as it says itself."""

    @property
    def id_was_taken(self) -> bool:
        """Whether it has ended because another session has its id."""
        return False

    was_told_to_stop = False
    """Whether we have asked it to stop in order."""
    stop_signal = signal.SIGTERM
    """What tells it to stop in order."""

    def has_started_or_ended(self) -> bool:
        """Whether there is nothing to wait for any more."""
        return self.has_started or self.process.poll() is not None

    @property
    def has_failed(self) -> bool:
        """Whether it ended by itself, and neither because its id was taken nor because it was told to."""
        return self.process.poll() is not None and not self.id_was_taken and not self.was_told_to_stop

    def failure(self) -> Exception:
        """Why it did."""
        said = self.output().splitlines()
        last = said[-1] if said else "it said nothing"
        return EnvironmentFailure(
            f"broker {self.launch.broker} ended by itself with exit code {self.process.returncode}: {last}",
            "the recording ends there",
        )

    def last_words(self) -> tuple[str, ...]:
        """What else it printed last, as lines, where its failure tells only one of them."""
        return ()

    def output(self) -> str:
        """What it has printed so far."""
        return self.printed.read_text(encoding="utf-8", errors="replace").strip()

    def tell_to_stop(self) -> None:
        """Have it stop in order, and do not wait for it."""
        self.was_told_to_stop = True
        self.signal(self.stop_signal)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def falls_silent(self, milliseconds: int) -> bool:
        """Have its fetcher tell no leader anything for so long; say whether it can, which only the reference does."""
        del milliseconds
        return False

    def folder_of(self, partition: TopicPartition) -> Path | None:
        """Where it has the log of a partition; None where that is not known, or where logs are no files."""
        del partition
        return None

    def end(self) -> None:
        """Kill it and all that it has started, and wait until it is gone."""
        self.process.end()
        if self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()


REAL_TIMES: Final = Times(session_timeout_ms=4000, lag_ms=2000, quiet_seconds=2.0)
"""What suits brokers that start slowly, and look only now and then for followers that lag."""


@dataclass(frozen=True)
class Program:
    """What runs as a member; `start` makes a process of it, and does not wait for it.

    `runs` names it in a report. `release` is the release line whose behaviour it claims and whose lines it logs, None
    if that is none of the documented controller's. Where it `renames_logs`, it has its logs in folders, and a broker
    that cannot rename one fails to delete it.
    """

    runs: str
    release: KafkaVersion | None
    times: Times
    start: Callable[[Launch], Child]
    renames_logs: bool = False

    @property
    def protocol(self) -> KafkaVersion:
        """The newest protocol between brokers that it speaks, of those that are documented."""
        return self.release or V0102
