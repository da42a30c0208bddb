"""The part of the abstraction that preferred elections on request have of their own."""

from model_check.refinement.abstraction.leadership import Named, flags
from reference.controller.controller import KafkaController
from reference.elections.requested import ELECTIONS, NOTHING_ASKED, ElectionRequest
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import parsed
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import PartitionsPayload


def asked_elections(cluster: MemoryCluster) -> Named:
    """The partitions that preferred replicas are asked to lead."""
    request, named = cluster.zookeeper.tree.get(ELECTIONS), frozenset[TopicPartition]()
    if request is not None:
        named = frozenset(parsed(PartitionsPayload, ELECTIONS, request.data).partitions)
    return flags("zookeeper", cluster.partitions, elections=named)


def requested_elections(
    cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str
) -> Named:
    """The elections under way, which of them the running handler is at, and which the listener is given."""
    return flags(
        path, cluster.partitions, electing=controller.context.partitions_undergoing_election,
        asked=controller.activity.asked, given_elections=_given(process).partitions,
    )  # fmt: skip


def read_elections(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """Whether the request in ZooKeeper is the one that this controller has read, and that its listener is given."""
    request = cluster.zookeeper.tree.get(ELECTIONS)
    standing = None if request is None else request.czxid
    yield f"{path}.request_read", controller.context.election_request == standing
    yield f"{path}.given_stands", _given(process).czxid == standing


def _given(process: MemoryProcess) -> ElectionRequest:
    return process.given if isinstance(process.given, ElectionRequest) else NOTHING_ASKED
