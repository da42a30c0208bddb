"""What can run as a member of a live cluster: the reference, Kafka, or a command in any language.

Each has a file that makes a `Program` of it (`reference_program`, `kafka_program`, `command_program`). All of them are
started with the same `Launch`, and write their logs, if they write any, into its folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from model_check.live.launching import Launch, Times
from model_check.live.live_child import Child
from spec.formats.kafka_types import V0102, KafkaVersion

REAL_TIMES: Final = Times(session_timeout_ms=4000, lag_ms=2000, quiet_seconds=2.0)
"""What suits brokers that start slowly, and look only now and then for followers that lag."""


@dataclass(frozen=True)
class Program:
    """What runs as a member; `start` makes a process of it, and does not wait for it.

    `runs` names it in a report. `release` is the release line whose behaviour it claims and whose lines it logs, None
    if that is none of the documented controller's.
    """

    runs: str
    release: KafkaVersion | None
    times: Times
    start: Callable[[Launch], Child]

    @property
    def protocol(self) -> KafkaVersion:
        """The newest protocol between brokers that it speaks, of those that are documented."""
        return self.release or V0102
