"""What is seen of processes, as values: what was done to them, what they say as controllers and handle as brokers."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from model_check.recordings.recording import Observed
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.log_lines import Line

MAY_BE_OFF: Final = frozenset({"DEBUG", "TRACE"})
"""Levels at which controller.log need not have lines; whether it has a kind holds for the whole life of a process."""


class ProcessKilled(Observed):
    """A broker's process was killed."""

    broker: int


class ProcessPaused(Observed):
    """A broker's process was stopped (SIGSTOP), or goes on (`resumed`)."""

    broker: int
    resumed: bool


class ProcessStopping(Observed):
    """A broker's process was told to stop (SIGTERM): it asks for a controlled shutdown first."""

    broker: int


class ControllerSaid(Observed):
    """A line by a process as controller, in its life number `incarnation`, the first being 1.

    Lines of state-change.log are one sequence, those of controller.log another, which has, of the kinds
    that `MAY_BE_OFF`, those of `details`.
    """

    controller: int
    incarnation: int
    line: Line
    details: frozenset[type[Line]] = frozenset()


class Handled(Observed):
    """A broker handled something of a request of a controller, in its life number `incarnation`."""

    broker: int
    incarnation: int


class ReplicaStopped(Handled):
    """A broker was told to stop a replica, and to delete it if `delete`; by whom and in which request is not logged."""

    partition: int
    delete: bool


class StopReplicaRefused(Handled):
    """A broker refused a StopReplica for its controller epoch; by whom it was is not logged."""

    epoch: int


class RequestHandled(Handled):
    """A broker handled a LeaderAndIsr or an UpdateMetadata of a controller.

    `kind` is one of these two; `states` what the LeaderAndIsr says of each partition, `replicas` its AR, and `outcomes`
    what became of it: leader, follower, unavailable, ignored or unassigned (not every partition's is known where the
    process was killed). `told` is what an UpdateMetadata says, without versions; by it, what is `removed` is gone.
    `refused`: as a whole, for its controller epoch. Correlation ids begin anew with each channel.
    """

    kind: str
    controller: int
    epoch: int
    correlation_id: int
    states: Mapping[int, LeaderIsrAndControllerEpoch]
    outcomes: Mapping[int, str]
    refused: bool
    told: Mapping[int, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    removed: frozenset[int] = frozenset()
    replicas: Mapping[int, frozenset[int]] = field(default_factory=dict)


class AnswerReceived(Observed):
    """A controller got an answer; `codes` by partition, None where the answer has none (an UpdateMetadata's)."""

    controller: int
    epoch: int
    broker: int
    error_code: int
    codes: Mapping[int, int] | None
