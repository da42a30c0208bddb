"""The values in the lines of controller.log: replicas, leaderships, and collections of them.

Kafka: `PartitionAndReplica`, `ReassignedPartitionsContext` and `LeaderIsrAndControllerEpoch` (kafka.controller).
"""

from dataclasses import dataclass
from typing import Final

from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.scala_collections import ARRAY_BUFFER, LIST, collection, map_of
from spec.formats.shapes import BRACKETED, ID, TOPIC, around, listed, paired
from spec.formats.templates import Shape, Shapes, Template, record
from spec.logs.logged_values import LEADERSHIP, VOCABULARY

Brokers = tuple[int, ...]
Topics = tuple[str, ...]
Partitions = tuple[TopicPartition, ...]
Assignment = tuple[tuple[TopicPartition, Brokers], ...]
Leaderships = tuple[tuple[TopicPartition, LeaderIsrAndControllerEpoch], ...]


@dataclass(frozen=True)
class PartitionReplica:
    """A replica of a partition on a broker."""

    topic: str
    partition: int
    replica: int


Replicas = tuple[PartitionReplica, ...]

REPLICA: Final = record(
    "[Topic=t,Partition=0,Replica=1]",
    PartitionReplica,
    Template("[Topic={topic},Partition={partition:id},Replica={replica:id}]", {"topic": TOPIC, "id": ID}),
)
ASSIGNMENT: Final = map_of("replicas by partition", paired("replicas", BRACKETED, LIST))
LED: Final = paired("leadership of a partition", BRACKETED, LEADERSHIP)
CONTEXT: Final = around("context of a reassignment", "ReassignedPartitionsContext(", LIST, ",null)")
REASSIGNED: Final = paired("reassignment of a partition", BRACKETED, CONTEXT)
"""The context prints its listener, too, which is not registered yet wherever a line prints the context."""


class CommaRatio(float):
    """A ratio like any other, printed where a comma stands for the decimal point: Kafka asks Java's locale."""


def _read_ratio(text: str) -> float:
    return CommaRatio(text.replace(",", ".")) if "," in text else float(text)


def _write_ratio(ratio: float) -> str:
    return f"{ratio:f}".replace(".", "," if isinstance(ratio, CommaRatio) else ".")


VALUES: Final[Shapes] = {
    **VOCABULARY,
    "list": LIST,
    "buffer": ARRAY_BUFFER,
    "topic": TOPIC,
    "topics": listed("topics", TOPIC, ","),
    "topic_set": collection("set of topics", TOPIC, "Set"),
    "partitions": listed("partitions", BRACKETED, ","),
    "partition_set": collection("set of partitions", BRACKETED, "Set"),
    "partition_list": collection("list of partitions", BRACKETED, "List"),
    "replicas": listed("replicas", REPLICA, ","),
    "assignment": ASSIGNMENT,
    "assignments": map_of("replicas by partition by broker", paired("broker", ID, ASSIGNMENT)),
    "partition_states": map_of("states by partition", paired("state", BRACKETED, VOCABULARY["partition_state"])),
    "replica_states": map_of("states by replica", paired("state", REPLICA, VOCABULARY["replica_state"])),
    "leaderships": map_of("leadership by partition", LED),
    "leaders": listed("leaderships", LED, ","),
    "reassignments": map_of("new replicas by partition", REASSIGNED),
    "ratio": Shape("ratio", "[01][.,][0-9]{6}", _read_ratio, _write_ratio),
}
"""The shapes that the lines of controller.log are made of, by the names that their templates use."""
