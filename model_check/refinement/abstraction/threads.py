"""The part of the abstraction that shutdowns, elections on request and the automatic rebalance have of their own."""

from model_check.refinement.abstraction.leadership import NOBODY, Named
from reference.broker_events.controlled_shutdown import Departure
from reference.controller.controller import KafkaController
from reference.elections.requested import ElectionRequest
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import PREFERRED_REPLICA_ELECTION, parsed
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import PartitionsPayload
from spec.state.elections import Leaving


def on_the_way_out(process: MemoryProcess) -> Named:
    """How far a process is on its way out."""
    path, departure = f"processes[{process.broker_id}]", process.departure
    yield f"{path}.leaving", _leaving(departure)
    yield f"{path}.asked", NOBODY if departure is None else departure.asked or NOBODY
    yield f"{path}.tries", 0 if departure is None else departure.tries


def _leaving(departure: Departure | None) -> Leaving:
    if departure is None:
        return Leaving.NO
    if departure.asked is not None:
        return Leaving.WAITS
    return Leaving.MAY_GO if departure.may_go else Leaving.ASKS


def other_threads(cluster: MemoryCluster, controller: KafkaController, path: str) -> Named:
    """What the rebalance thread and a request handler have still to do."""
    work = controller.shutdown
    yield f"{path}.shutdown_fails", work is not None and work.failed
    yield f"{path}.elects", controller.elects
    yield f"{path}.shutting_down", controller.context.shutting_down_broker_ids
    yield f"{path}.shutdown_of", NOBODY if work is None else work.broker
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.imbalanced[{p}]", partition in controller.imbalanced
        yield f"{path}.to_move[{p}]", work is not None and partition in work.to_move


def election_request(cluster: MemoryCluster) -> Named:
    """The partitions that preferred replicas are asked to lead."""
    request, named = cluster.zookeeper.tree.get(PREFERRED_REPLICA_ELECTION), frozenset[TopicPartition]()
    if request is not None:
        named = frozenset(parsed(PartitionsPayload, PREFERRED_REPLICA_ELECTION, request.data).partitions)
    for p, partition in enumerate(cluster.partitions):
        yield f"zookeeper.preferred[{p}]", partition in named


def requested_elections(cluster: MemoryCluster, controller: KafkaController, path: str) -> Named:
    """The elections under way, and which of them the running handler is at."""
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.electing[{p}]", partition in controller.context.partitions_undergoing_election
        yield f"{path}.asked[{p}]", partition in controller.activity.asked


def has_read_request(cluster: MemoryCluster, controller: KafkaController) -> bool:
    """Whether the request that stands is the one that this controller has read."""
    return _stands(cluster, controller.context.election_request)


def given_stands(cluster: MemoryCluster, process: MemoryProcess) -> bool:
    """Whether the request that stands is the one that the listener is given."""
    return isinstance(process.given, ElectionRequest) and _stands(cluster, process.given.czxid)


def _stands(cluster: MemoryCluster, czxid: int) -> bool:
    request = cluster.zookeeper.tree.get(PREFERRED_REPLICA_ELECTION)
    return request is not None and request.czxid == czxid
