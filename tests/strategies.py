"""Hypothesis strategies that several tests draw from: the values of the protocol, all of them legal."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from hypothesis import strategies as st

from spec.formats import request_schemas as requests
from spec.formats import znode_paths, znodes
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.request_schemas import ApiKey
from spec.formats.requests import RequestHeader
from spec.formats.znode_paths import Path, PathKind
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.log_lines import Line
from spec.logs.logged_answers import SCALA, Answer
from spec.logs.logged_values import BrokerNode, LeaderAndIsr, PartitionInfo, Role
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from tests.leaderships import led

INT_MAX = 2**31 - 1


def matching(pattern: str) -> st.SearchStrategy[str]:
    """Texts in ASCII that match a pattern; among all that UTF-8 encodes Hypothesis looks for 2 s, in a fresh clone."""
    return st.from_regex(pattern, fullmatch=True, alphabet=st.characters(max_codepoint=127))


topics = matching(r"[a-zA-Z0-9._-]{1,12}").filter(lambda name: name not in {".", ".."})
partition_ids = st.integers(0, 12) | st.integers(0, INT_MAX)
broker_ids = st.integers(0, 9) | st.integers(0, INT_MAX)
epochs = st.integers(0, 9) | st.integers(0, INT_MAX)
leaders = st.just(-1) | broker_ids
int32s = st.integers(-(2**31), INT_MAX)
times = st.integers(0, 10**13)
ports = st.integers(0, 65535)
hosts = matching(r"[a-z][a-z0-9.-]{0,15}")
characters = st.characters(exclude_categories=["Cs"])
"""All that UTF-8 encodes, as by default, without the search for them."""
plain_texts = st.text(st.characters(exclude_characters='"\\', exclude_categories=("Cc", "Cs")), max_size=8)
broker_lists = st.lists(broker_ids, unique=True, max_size=5).map(tuple)
topic_partitions = st.builds(TopicPartition, topics, partition_ids)

PARAMETERS = {"topic": topics, "partition": partition_ids, "broker": broker_ids, "sequence": st.integers(0, INT_MAX)}


def paths_of(kind: PathKind) -> st.SearchStrategy[Path]:
    """The paths of one kind."""
    return st.builds(kind.path, **{name: PARAMETERS[name] for name in kind.template.holes})


znode_paths_of_any_kind = st.sampled_from(znode_paths.KINDS).flatmap(paths_of)

leaderships = st.builds(led, leaders, epochs, broker_lists, epochs)
"""As a payload or a line has them, without a data version."""
versioned = st.builds(led, leaders, epochs, broker_lists, epochs, epochs)
partition_states = st.builds(znodes.PartitionStatePayload, leadership=leaderships)


@st.composite
def broker_payloads(draw: Callable[[st.SearchStrategy[Any]], Any]) -> znodes.BrokerPayload:
    """Registrations of every version, each with the keys of its version."""
    version = draw(st.integers(1, 4))
    return znodes.BrokerPayload(
        version,
        draw(st.none() | hosts),
        draw(st.just(-1) | ports),
        jmx_port=draw(st.just(-1) | ports),
        timestamp=draw(times),
        endpoints=tuple(draw(st.lists(plain_texts, max_size=3))) if version >= 2 else None,
        rack=draw(st.none() | plain_texts) if version >= 3 else None,
        listener_security_protocol_map=draw(st.dictionaries(plain_texts, plain_texts)) if version >= 4 else None,
    )


PAYLOADS: dict[PathKind, st.SearchStrategy[znodes.Payload]] = {
    znode_paths.CONTROLLER: st.builds(znodes.ControllerPayload, brokerid=broker_ids, timestamp=st.none() | times),
    znode_paths.CONTROLLER_EPOCH: st.builds(znodes.ControllerEpochPayload, epochs),
    znode_paths.BROKER: broker_payloads(),
    znode_paths.BROKER_TOPIC: st.builds(
        znodes.TopicPayload, partitions=st.dictionaries(partition_ids, broker_lists, max_size=5)
    ),
    znode_paths.STATE: partition_states,
    znode_paths.REASSIGN_PARTITIONS: st.builds(
        znodes.ReassignPartitionsPayload,
        partitions=st.lists(
            st.builds(znodes.PartitionReassignment, topics, partition_ids, broker_lists), max_size=3
        ).map(tuple),
    ),
    znode_paths.PREFERRED_REPLICA_ELECTION: st.builds(
        znodes.PartitionsPayload, partitions=st.lists(topic_partitions, max_size=3).map(tuple)
    ),
    znode_paths.ISR_CHANGE: st.builds(
        znodes.PartitionsPayload, partitions=st.lists(topic_partitions, max_size=3).map(tuple)
    ),
    znode_paths.TOPIC_CONFIG: st.builds(
        znodes.TopicConfigPayload, config=st.dictionaries(plain_texts, plain_texts, max_size=3)
    ),
    znode_paths.CLUSTER_ID: st.builds(znodes.ClusterIdPayload, id=plain_texts),
}
"""Payloads by the kind of path that they stand at; the other kinds are empty."""


def payloads_of(kind: PathKind) -> st.SearchStrategy[znodes.Payload]:
    """The payloads of one kind of path."""
    return PAYLOADS.get(kind, st.builds(znodes.EmptyPayload, st.booleans()))


znodes_of_any_kind = st.sampled_from(znode_paths.KINDS).flatmap(
    lambda kind: st.tuples(paths_of(kind), payloads_of(kind))
)


names = st.text(st.characters(exclude_characters=",]}", exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: text != "null"
)
"""Strings that the text of a request can hold."""

told = st.builds(led, st.just(-2) | leaders, epochs, broker_lists, epochs, epochs)
states = st.builds(requests.PartitionLeadership, topics, partition_ids, told, broker_lists)
error_codes = st.sampled_from(ErrorCode)


def tuples_of(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Short tuples."""
    return st.lists(strategy, max_size=3).map(tuple)


def live_brokers(version: int) -> st.SearchStrategy[requests.LiveBroker]:
    """Brokers with what this version of UpdateMetadata tells of them."""
    if version == 0:
        return st.builds(requests.LiveBroker, broker_ids, host=names, port=int32s)
    security_protocols = st.integers(-(2**15), 2**15 - 1)
    end_point = st.builds(
        requests.EndPoint,
        int32s,
        names,
        listener_name=names if version >= 3 else st.none(),
        security_protocol_type=security_protocols,
    )
    rack = st.none() | names if version >= 2 else st.none()
    return st.builds(requests.LiveBroker, broker_ids, end_points=tuples_of(end_point), rack=rack)


def requests_of(key: ApiKey, version: int) -> st.SearchStrategy[requests.Request]:
    """The requests of one kind and version."""
    match key:
        case ApiKey.LEADER_AND_ISR:
            leader = st.builds(requests.LiveLeader, broker_ids, names, int32s)
            return st.builds(requests.LeaderAndIsrRequest, broker_ids, epochs, tuples_of(states), tuples_of(leader))
        case ApiKey.STOP_REPLICA:
            return st.builds(
                requests.StopReplicaRequest, broker_ids, epochs, st.booleans(), tuples_of(topic_partitions)
            )
        case ApiKey.UPDATE_METADATA:
            live = tuples_of(live_brokers(version))
            return st.builds(requests.UpdateMetadataRequest, broker_ids, epochs, tuples_of(states), live)
        case ApiKey.CONTROLLED_SHUTDOWN:
            return st.builds(requests.ControlledShutdownRequest, broker_ids)


def responses_of(key: ApiKey) -> st.SearchStrategy[requests.Response]:
    """The answers to one kind of request."""
    match key:
        case ApiKey.UPDATE_METADATA:
            return st.builds(requests.UpdateMetadataResponse, error_codes)
        case ApiKey.CONTROLLED_SHUTDOWN:
            return st.builds(requests.ControlledShutdownResponse, error_codes, tuples_of(topic_partitions))
        case _:
            error = st.builds(requests.PartitionError, topics, partition_ids, error_codes)
            return st.builds(requests.PartitionsResponse, error_codes, tuples_of(error))


@st.composite
def headed_requests(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[RequestHeader, requests.Request]:
    """Any request of any version, with its header."""
    key = draw(st.sampled_from(ApiKey))
    version = draw(st.sampled_from(requests.api_versions(key)))
    client = names if key == ApiKey.CONTROLLED_SHUTDOWN else st.none() | names
    client_id = draw(st.none() if (key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 0) else client)
    return RequestHeader(key, version, draw(int32s), client_id), draw(requests_of(key, version))


infos = st.builds(PartitionInfo, leaderships, broker_lists)
versioned_infos = st.builds(PartitionInfo, versioned, broker_lists)
printable = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="()"), max_size=9)
racks = printable.filter(lambda text: text not in {"", "null"})
responses = responses_of(ApiKey.LEADER_AND_ISR) | responses_of(ApiKey.UPDATE_METADATA)
scala_answers = st.sampled_from(list(SCALA)).flatmap(
    lambda key: st.builds(Answer, responses_of(key), st.just(key), int32s)
)
replicas = st.builds(PartitionReplica, topics, partition_ids, broker_ids)
assignments = tuples_of(st.tuples(topic_partitions, broker_lists))
FORMS: dict[str, st.SearchStrategy[Any]] = {
    "number": int32s,
    "number, not negative": broker_ids,
    "id": broker_ids.map(lambda broker: (broker,)),
    "1,2": broker_lists,
    "Set(1, 2)": broker_lists,
    "true or false": st.booleans(),
    "text": printable,
    "[topic,partition]": topic_partitions,
    "topic-partition": topic_partitions,
    "become-leader or become-follower": st.sampled_from(Role),
    "a state of a partition": st.sampled_from(PartitionState),
    "NewPartition": st.just(PartitionState.NEW),
    "OnlinePartition": st.just(PartitionState.ONLINE),
    "a state without leader": st.sampled_from([PartitionState.OFFLINE, PartitionState.NON_EXISTENT]),
    "a state of a replica": st.sampled_from(ReplicaState),
    "leadership": leaderships,
    "leader and ISR as JSON": st.builds(LeaderAndIsr, leaders, epochs, broker_lists),
    "PartitionStateInfo": infos,
    "PartitionState(..)": versioned_infos,
    "hash of an object": matching("[0-9a-f]{1,8}"),
    "id:1,host:h,port:p": st.builds(BrokerNode, broker_ids, hosts, int32s),
    "Node(1, h, p)": st.builds(BrokerNode, broker_ids, hosts, int32s),
    "h:p (id: 1 rack: r)": st.builds(BrokerNode, broker_ids, hosts, int32s, st.none() | racks),
    "answer as a Scala class": scala_answers,
    "answer as a struct": st.builds(Answer, responses),
    "List(1, 2)": broker_lists,
    "ArrayBuffer(1, 2)": broker_lists,
    "topic": topics,
    "topics": tuples_of(topics),
    "set of topics": tuples_of(topics),
    "partitions": tuples_of(topic_partitions),
    "set of partitions": tuples_of(topic_partitions),
    "list of partitions": tuples_of(topic_partitions),
    "replicas": tuples_of(replicas),
    "replicas by partition": assignments,
    "replicas by partition by broker": tuples_of(st.tuples(broker_ids, assignments)),
    "states by partition": tuples_of(st.tuples(topic_partitions, st.sampled_from(PartitionState))),
    "states by replica": tuples_of(st.tuples(replicas, st.sampled_from(ReplicaState))),
    "leadership by partition": tuples_of(st.tuples(topic_partitions, leaderships)),
    "leaderships": tuples_of(st.tuples(topic_partitions, leaderships)),
    "new replicas by partition": assignments,
    "ratio": st.integers(0, 10**6).map(lambda millionths: millionths / 10**6),
    "Java object": matching(r"[a-z]{1,3}(\.[A-Z][a-z$]{1,3})?@[0-9a-f]{1,8}"),
    "name of a logger": matching(r"[a-z]{1,3}(\.[A-Z][a-z$]{1,3})?"),
}
"""Values by the name of the shape that prints them."""


def lines_of(kind: type[Line], version: KafkaVersion) -> st.SearchStrategy[Line]:
    """Lines of one kind, as this version prints them."""
    own = {member.name for member in fields(kind)}
    holes = {name: FORMS[shape.name] for name, shape in kind.templates[version].holes.items() if name in own}
    return st.builds(kind, **holes, version=st.just(version))
