"""Callbacks: the order in which an expiry queues them is that of a real ZkClient, as the judge expects it."""

from reference.controller.controller import LISTENED_PATHS, Configuration, KafkaController
from reference.scripts import CHILD_PATHS, state_path, topic_path
from reference.threads import CALLBACK_OF, PATH_OF, subscribed
from spec.formats.kafka_types import TopicPartition
from spec.model import Model
from spec.scopes import Scope
from spec.state.enumerations import CHILDREN_BY_HASH, Callback, watched_paths
from spec.variants import AS_CODED

PARTS = frozenset({"creation", "deletion", "notifications"})


def test_listeners_on_children_come_first_as_hashes_have_them() -> None:
    watched = watched_paths(Model(Scope("all", "", brokers=1, controllers=1, parts=PARTS), AS_CODED))
    hashed = [PATH_OF[watched[name]] for name in CHILDREN_BY_HASH]
    assert set(hashed) == CHILD_PATHS
    assert list(LISTENED_PATHS[: len(hashed)]) == hashed


def test_a_live_controller_queues_them_all() -> None:
    one = KafkaController(Configuration(1))
    one.listeners = frozenset({*LISTENED_PATHS, topic_path("t"), state_path(TopicPartition("t", 0))})
    *first, election = (CALLBACK_OF[path] for path in LISTENED_PATHS)
    assert list(subscribed(one)) == [*first, "t", TopicPartition("t", 0), Callback.CONTROLLER, election]
