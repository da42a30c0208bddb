"""The part of the abstraction that topics have of their own: their deletion, and their removal by hand.

A controller's own batch is dirty where an exception left anything in it. Where topics have ids, the specification keeps
for each a flag that turns with every creation, which tells two in a row apart; in the reference an id is the zxid of
the creation.
"""

from model_check.refinement.abstraction.leadership import Named, flags
from reference.controller.controller import KafkaController
from reference.controller.effects import ResignDelete
from reference.deletion.completion import DeleteStateAgain
from reference.deletion.requests import DropRequest
from reference.deletion.thread import DeleteQueuedTopic
from reference.memory.admin import is_unclean
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import delete_topic_path, topic_config_path


def kept_of_topics(cluster: MemoryCluster) -> Named:
    """What ZooKeeper has of topics: which of its name each is, or was last, configurations, and requests to delete."""
    for number, topic in enumerate(cluster.topics()):
        yield f"zookeeper.topics[{number}]", cluster.has_topic(topic)
        yield f"zookeeper.configurations[{number}]", topic_config_path(topic) in cluster.zookeeper.tree
        yield f"zookeeper.deletions[{number}]", delete_topic_path(topic) in cluster.zookeeper.tree
        yield f"zookeeper.unclean[{number}]", is_unclean(cluster, topic)
        ids = cluster.created.get(topic, ())
        yield f"zookeeper.topic_ids[{number}]", is_another(cluster, topic, ids[-1] if ids else None)


def deletion_manager(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """The manager's memory, and where its thread is."""
    deleting, topics = controller.deleting, cluster.topics()
    busy, turns = controller.activity.topic, controller.activity.turns
    effect = process.next_effect
    if isinstance(effect, DeleteQueuedTopic | DropRequest):
        turns = effect.remaining
    to_queue = effect.known if isinstance(effect, DropRequest) else frozenset()
    yield from flags(
        path, topics, queued=deleting.queued, ineligible=deleting.ineligible, modified=controller.topic_listeners,
        turns=turns, to_queue=to_queue, resuming=controller.activity.resuming,
    )  # fmt: skip
    unanswered = frozenset({effect.partition}) if isinstance(effect, DeleteStateAgain) else frozenset()
    yield from flags(path, cluster.partitions, doomed=deleting.partitions, unanswered=unanswered)
    retried = controller.activity.retried
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.retried[{p}]", frozenset(replica for tp, replica in retried if tp == partition)
    yield f"{path}.woken", deleting.woken and bool(deleting.queued)
    yield f"{path}.topic", 0 if busy is None else topics.index(busy)


def after_removals(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """What a removal leaves in a controller, and which topics it knows."""
    yield f"{path}.dirty", controller.batch.is_dirty
    yield f"{path}.started", controller.replica_machine.has_started
    yield f"{path}.resigns_again", _resigns_again(process, controller)
    yield from flags(path, cluster.topics(), created=controller.activity.created)
    for number, topic in enumerate(cluster.topics()):
        known = controller.context.topic_ids.get(topic)
        yield f"{path}.topic_ids[{number}]", is_another(cluster, topic, known)


def _resigns_again(process: MemoryProcess, controller: KafkaController) -> bool:
    """Whether a failover's own send has its elector resign; what it raises then reaches elect(), which does so, too."""
    resigns = isinstance(process.next_effect, ResignDelete)
    return resigns and controller.activity.in_failover and controller.activity.reassigning is None


def is_another(cluster: MemoryCluster, topic: str, topic_id: int | None) -> bool:
    """Whether a topic is the second of its name, or the fourth; none known is taken for the first."""
    return bool(cluster.incarnation(topic, topic_id) % 2)
