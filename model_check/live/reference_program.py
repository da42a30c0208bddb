"""The reference as a member: a broker process that runs its handlers (`reference/live/broker_process.py`)."""

import sys
from contextlib import suppress
from functools import partial
from typing import Final

from model_check.live.programs import Child, Launch, Program, Times
from reference.live.outside import BLACK_OUT_SECONDS, STARTED, Exit
from spec.errors import EnvironmentFailure
from spec.formats.kafka_types import V0102

REFERENCE: Final = "reference"
BROKER_MODULE: Final = "reference.live.broker_process"
TIMES: Final = Times(session_timeout_ms=1500, lag_ms=1250, quiet_seconds=BLACK_OUT_SECONDS + 0.2)


class ReferenceChild(Child):
    """A broker process of the reference."""

    def __init__(self, launch: Launch, module: str) -> None:
        options = {
            "broker": launch.broker,
            "role": launch.role,
            "zookeeper": launch.zookeeper,
            "port": launch.port,
            "folder": launch.folder,
            "seed": launch.seed,
            "session-timeout-ms": launch.times.session_timeout_ms,
            "lag-ms": launch.times.lag_ms,
            "inter-broker-protocol": launch.protocol,
            "delete-topic-enable": str(launch.deletes_topics).lower(),
            "fixes": ",".join(sorted(one.name for one in launch.switches)),
        }
        super().__init__(
            launch, [sys.executable, "-m", module, *(f"--{name}={value}" for name, value in options.items())]
        )

    @property
    def has_started(self) -> bool:
        """Whether it has said that it is registered."""
        return STARTED in self.output().splitlines()

    @property
    def id_was_taken(self) -> bool:
        """Whether it has ended because another session has its id."""
        return self.process.poll() == Exit.REGISTERED

    @property
    def has_failed(self) -> bool:
        """Whether it ended by itself, and neither because its id was taken nor because it was told to."""
        return self.process.poll() not in (None, Exit.REGISTERED, Exit.TOLD_TO_STOP)

    def failure(self) -> Exception:
        """Why it did."""
        said = [line for line in self.output().splitlines() if line != STARTED]
        said = said or [f"a broker ended with {self.process.returncode} and said nothing"]
        if self.process.returncode == Exit.ENVIRONMENT:
            return EnvironmentFailure(said[-1], "the recording ends there")
        return RuntimeError("a broker of the reference failed: " + "\n".join(said))

    def falls_silent(self, milliseconds: int) -> bool:
        """Write the order to its standard input."""
        assert self.process.stdin is not None  # noqa: S101 - we gave it one
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"lag {milliseconds}\n".encode())
            self.process.stdin.flush()
        return True


def reference(module: str = BROKER_MODULE) -> Program:
    """The reference, or a variation of it: a module that is run with the same options."""
    return Program(REFERENCE, V0102, TIMES, partial(ReferenceChild, module=module))
