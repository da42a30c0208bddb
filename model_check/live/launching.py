"""What a member of a live cluster is told as it starts, whatever runs as it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from model_check.recordings.members import Role
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.variants import AS_CODED, Switches


@dataclass(frozen=True)
class Times:
    """How long a session outlives its process, a follower may be silent, and the cluster, once it is at rest.

    Of real brokers, which start slowly and announce changes late, all are longer.
    """

    session_timeout_ms: int
    lag_ms: int
    quiet_seconds: float


@dataclass(frozen=True)
class Launch:
    """What a member is told: who it is, where it listens, where ZooKeeper is, and where its logs and its data go.

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

    @property
    def output(self) -> Path:
        """What the process prints."""
        return self.work / f"output-{self.incarnation}.txt"
