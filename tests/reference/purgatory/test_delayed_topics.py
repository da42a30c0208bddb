"""CreateTopics waits for the leaders that a controller elects: its UpdateMetadata, delivered, and nothing else answers.

The purgatory is a system of its own in the specification, where leaders come as they like. Here they come from the
cluster in memory: a controller creates the state znodes, and what it has a broker told is handed to the purgatory of
that broker, where the request waits.
"""

from dataclasses import dataclass, field, replace

from reference.journal import RequestHandled
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import STARTS, initial_cluster, run_to_rest
from reference.purgatory.delayed_topics import (
    Answers,
    Creation,
    MetadataCache,
    create_topics,
    handle_update_metadata,
    wait_for_leaders,
)
from reference.purgatory.operations import run
from reference.purgatory.purgatory import Purgatory, Timer
from reference.scripts import broker_path, state_path
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import UpdateMetadataRequest
from spec.scopes import Scope, scope


@dataclass
class Waiting:
    """A CreateTopics request of two partitions that waits at a broker, and what the broker answers."""

    broker: int
    cluster: MemoryCluster
    answers: list[Answers] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.purgatory, self.cache = Purgatory(Timer()), MetadataCache()
        (topic,) = self.cluster.topics()
        operation = create_topics(self.cache, [Creation(topic, 2)], 60, self.answers.append)
        assert operation is not None
        assert run(wait_for_leaders(self.purgatory, operation)) is False

    def take(self, choice: Choice) -> None:
        """Make a step of the cluster; what it tells the broker of leaders, the purgatory hears."""
        step(self.cluster, choice)
        for one in self.cluster.entries:
            if isinstance(one, RequestHandled) and one.broker == self.broker:
                request = one.request
                if isinstance(request, UpdateMetadataRequest):
                    leaders = {state.topic_partition: state.leadership.leader for state in request.partition_states}
                    run(handle_update_metadata(self.purgatory, self.cache, leaders))

    def go_on(self, *, but: str = "") -> None:
        """Make every step of progress there is, but for one."""
        while steps := [one for one in choices(self.cluster) if _is_progress(one) and one.name != but]:
            self.take(steps[0])

    def named(self, name: str) -> Choice:
        """A step that is possible."""
        return next(one for one in choices(self.cluster) if one.name == name)

    def has_states(self) -> list[bool]:
        """Which of the partitions have a state znode."""
        return [state_path(one) in self.cluster.zookeeper.tree for one in self.cluster.partitions]


def _is_progress(choice: Choice) -> bool:
    return not choice.is_fault and choice.rule not in STARTS


def one_topic(*assigned: tuple[int, ...]) -> Scope:
    """A scope in which a topic of two partitions is to be created, and a broker may crash."""
    return replace(scope("cached_leaderships"), assigned=assigned, budgets=(("creations", 1), ("crashes", 1)))


def test_a_request_is_answered_when_its_broker_is_told_of_the_leaders_and_not_before() -> None:
    waiting = Waiting(2, initial_cluster(one_topic((1, 2), (2, 1))))
    (topic,), held_back = waiting.cluster.topics(), "deliver_request(c=1, b=2)"
    waiting.take(waiting.named("create_topic(t=0)"))
    waiting.go_on(but=held_back)
    assert waiting.has_states() == [True, True]
    assert waiting.answers == [], "leaders are elected, and broker 1 has been told: broker 2 has not"
    controller = waiting.cluster.processes[1].controller
    assert controller is not None
    kinds = [type(one.request) for one in controller.queue_to(2)]
    assert kinds.count(UpdateMetadataRequest) == 1
    for kind in kinds:
        assert waiting.answers == []
        waiting.take(waiting.named(held_back))
        if kind is UpdateMetadataRequest:
            break
    assert waiting.answers == [{topic: ErrorCode.NONE}]


def test_a_request_waits_for_the_partition_whose_replicas_are_all_dead() -> None:
    cluster = initial_cluster(one_topic((1,), (2,)))
    run_to_rest(cluster, "crash(b=2)")
    run_to_rest(cluster)
    assert broker_path(2) not in cluster.zookeeper.tree
    waiting = Waiting(1, cluster)
    waiting.take(waiting.named("create_topic(t=0)"))
    waiting.go_on()
    assert waiting.has_states() == [True, False]
    assert not waiting.cache.missing_leaders(Creation(cluster.topics()[0], 1)), "the first one's leader is known"
    assert waiting.answers == []
    waiting.take(waiting.named("start_process(b=2)"))
    waiting.go_on()
    assert waiting.has_states() == [True, True]
    assert waiting.answers == [{cluster.topics()[0]: ErrorCode.NONE}]
