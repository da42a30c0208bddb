"""The part of the abstraction that preferred elections on request have of their own."""

from model_check.refinement.abstraction.leadership import Named
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
    for p, partition in enumerate(cluster.partitions):
        yield f"zookeeper.elections[{p}]", partition in named


def requested_elections(
    cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str
) -> Named:
    """The elections under way, which of them the running handler is at, and which the listener is given."""
    given = _given(process)
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.electing[{p}]", partition in controller.context.partitions_undergoing_election
        yield f"{path}.asked[{p}]", partition in controller.activity.asked
        yield f"{path}.given_elections[{p}]", partition in given.partitions


def read_elections(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """Whether the request that stands is the one that this controller has read, and that its listener is given."""
    request = cluster.zookeeper.tree.get(ELECTIONS)
    standing = None if request is None else request.czxid
    yield f"{path}.request_read", controller.context.election_request == standing
    yield f"{path}.given_stands", _given(process).czxid == standing


def _given(process: MemoryProcess) -> ElectionRequest:
    return process.given if isinstance(process.given, ElectionRequest) else NOTHING_ASKED
