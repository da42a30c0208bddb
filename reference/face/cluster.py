"""A whole cluster by plain calls: `reference.cluster([1, 2, 3])`.

Nothing happens by itself. `rest()` takes one step after the other until nothing moves any more; `until()` stops sooner,
`do()` takes one kind of step, and `hold()` keeps some from being taken. A step is an action of the specification with
what it is about, such as `deliver_request(controller=1, broker=2)`; `possible()` lists those that may come next, faults
among them. What is seen of it all is `view()`.

Kafka 0.10.2.2 and older releases; PROTOCOL.md section 7 tells what the steps are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from reference.elections.requested import ELECTIONS
from reference.face import givens
from reference.face.errors import NoRest
from reference.face.interventions import Interventions
from reference.face.settings import Settings, behaviour
from reference.face.step_names import is_meant, refuse_unknown, step_name
from reference.face.view import Happened, Json, data_to_json, process_to_json, znodes_to_json
from reference.face.znodes import partition_named, write_by_hand
from reference.journal import StartupFailed
from reference.memory import steps
from reference.memory.choices import Choice, is_left
from reference.memory.open_cluster import PLENTY, OpenCluster, open_scope
from reference.memory.scheduler import of_processes
from reference.memory.start import STARTS
from reference.procedures import ControllerFailure
from reference.scripts import (
    CONTROLLER,
    ISR_CHANGES,
    REASSIGN_PARTITIONS,
    delete_topic_path,
    parsed,
    topic_config_path,
    topic_path,
)
from reference.zookeeper.api import ZookeeperError
from spec.errors import BadInput, MalformedInput, UnknownName, Where
from spec.formats.znodes import (
    UNCLEAN,
    PartitionReassignment,
    PartitionsPayload,
    ReassignPartitionsPayload,
    TopicConfigPayload,
    TopicPayload,
)
from spec.scopes import BUDGETS

BOUND: Final = 5_000
"""The steps after which something should have come to rest."""
HALVES: Final = 8
"""The partitions up to which a broker may fail in the middle of a request, at each set of them that is done by then."""
ON_REQUEST: Final = frozenset({*STARTS, "check_imbalance"})
"""What is no fault, and still waits until somebody asks for it: a process starts, the rebalance thread looks."""


@dataclass(frozen=True)
class Step:
    """Something that may happen next."""

    name: str
    choice: Choice

    @property
    def is_fault(self) -> bool:
        """Whether somebody or something has to bring it about."""
        return self.choice.is_fault or self.choice.rule in ON_REQUEST


class Cluster:
    """Brokers of some ids, none of which runs yet, and a ZooKeeper.

    `settings` are Kafka's, by name (`reference.face.settings`); `release` is a release line from 0.8.2 to 0.10.2, and
    `variant` says which defects are fixed, as for `kcheck` (`FENCED`, `AS_CODED+CLEAR_CONTEXT`).
    """

    def __init__(
        self,
        brokers: Iterable[int],
        *,
        settings: Mapping[str, Any] | None = None,
        release: str = "0.10.2",
        variant: str = "AS_CODED",
    ) -> None:
        ids = list(brokers)
        if not ids or len(set(ids)) < len(ids) or not all(type(one) is int and 0 <= one < 2**31 for one in ids):
            raise BadInput(f"{ids} are no broker ids; expected distinct numbers from 0 up, one at least")
        self.release, switches = behaviour(release, variant)
        self.settings = Settings.of(settings or {})
        scope = open_scope(
            ids, unclean=self.settings.unclean_leader_election_enable,
            deletes_topics=self.settings.delete_topic_enable, rebalances=self.settings.auto_leader_rebalance_enable,
            percentage=self.settings.leader_imbalance_per_broker_percentage,
        )  # fmt: skip
        self._cluster = OpenCluster(ids, scope, switches)
        self._interventions = Interventions()
        self._cluster.intervene = self._interventions.come_before
        self._held: list[str] = []
        self._happened = Happened(self.release)
        self._taken: list[str] = []
        self._note(0)

    # --------------------------------------------------------------------------------------------------- going on

    def possible(self) -> list[str]:
        """The names of all steps that may come next, faults among them."""
        return [step.name for step in self._steps(faults=True)]

    def rest(self, bound: int = BOUND) -> int:
        """Take steps until nothing moves by itself; how many they were. NoRest after `bound` of them."""
        return self._go(lambda: False, bound)

    def until(self, condition: Callable[["Cluster"], bool], bound: int = BOUND) -> int:
        """Take steps until a condition holds; how many they were. NoRest after `bound`, or where nothing moves."""
        taken = self._go(lambda: condition(self), bound)
        if not condition(self):
            held = f"; held are {', '.join(self._held)}" if self._held else ""
            raise NoRest(f"nothing moves any more after {taken} steps, and the condition does not hold{held}")
        return taken

    def do(self, step: str, bound: int = BOUND) -> str:
        """Take steps until one that is meant may come, and take that; its name. It may be a fault.

        A step is meant by its name, by the action's alone (`reference.steps()` lists these), or by a pattern with `*`.
        """
        refuse_unknown(step)
        found: list[Step] = []

        def is_there() -> bool:
            found[:] = [one for one in self._steps(faults=True) if is_meant(step, one.choice.rule, one.name)][:1]
            return bool(found)

        taken = self._go(is_there, bound)
        if not found:
            raise NoRest(f"{step} does not come: nothing moves any more after {taken} steps")
        self._take(found[0])
        return found[0].name

    @contextmanager
    def hold(self, *steps: str) -> Iterator[None]:
        """Inside, no step that is meant by one of these is taken, unless `do` asks for it."""
        for step in steps:
            refuse_unknown(step)
        self._held += steps
        try:
            yield
        finally:
            del self._held[len(self._held) - len(steps) :]

    def _go(self, is_enough: Callable[[], bool], bound: int) -> int:
        for taken in range(bound):
            if is_enough():
                return taken
            following = next((one for one in self._steps(faults=False) if not self._is_held(one)), None)
            if following is None:
                return taken
            self._take(following)
        moving = Counter(name.split("(")[0] for name in self._taken[-100:])
        told = ", ".join(f"{name} {times} times" for name, times in moving.most_common(5))
        raise NoRest(f"no rest after {bound} steps; among the last {moving.total()} are {told}")

    def _steps(self, *, faults: bool) -> Iterator[Step]:
        self._cluster.budget = dict.fromkeys(BUDGETS, PLENTY) if faults else {}
        if len(self._cluster.partitions) > HALVES:
            self._cluster.budget["half_requests"] = 0
        for choice in of_processes(self._cluster):
            if is_left(self._cluster, choice.rule):
                step = Step(step_name(self._cluster, choice.rule, choice.parameters), choice)
                if faults or not step.is_fault:
                    yield step

    def _is_held(self, step: Step) -> bool:
        return any(is_meant(one, step.choice.rule, step.name) for one in self._held)

    def _take(self, step: Step) -> None:
        self._cluster.entries.clear()
        self._taken.append(step.name)
        parameters = dict(step.choice.parameters)
        actor = parameters.get("c", parameters.get("b", 0))
        try:
            step.choice.do(self._cluster)
        except (ControllerFailure, ZookeeperError, MalformedInput) as error:
            if not self._cluster.processes[actor].electing:
                raise
            self._end_startup(actor, error)
        finally:
            self._note(actor, step.name)
        self._interventions.tell_what_broke()

    def _end_startup(self, broker: int, error: Exception) -> None:
        """Only the caller that starts a process catches what that raises: the process shuts down (`KafkaServer`)."""
        steps.close_failed_startup(self._cluster, b=broker)
        self._cluster.record(StartupFailed(broker, str(error)))

    def _note(self, actor: int, step: str = "") -> None:
        """Keep what has happened since."""
        self._happened.note(self._cluster.entries, actor, step)

    # --------------------------------------------------------------------------------------------------- processes

    def start(self, *brokers: int) -> None:
        """Start processes, all if none is named, one after the other, each until nothing moves any more."""
        for b in brokers or self._cluster.processes:
            self._known(b)
            if self._cluster.processes[b].is_running:
                raise BadInput(f"broker {b} runs already")
            self.do(f"start_process*(broker={b})", bound=1)
            self.rest()

    def kill(self, broker: int) -> None:
        """Kill a process; its session lives on until `end_orphaned_session`, which `rest` takes."""
        self._of_running(broker, "crash")

    def stop(self, broker: int) -> None:
        """Tell a process to stop (SIGTERM): it asks the controller for a controlled shutdown, and leaves, in `rest`."""
        self._of_running(broker, "stop_broker")

    def expire(self, broker: int) -> None:
        """End the session of a process that lives; it hears of it when it has a new one (`renew_session`)."""
        self._known(broker)
        name = f"expire_session(broker={broker}, lost=0)"
        if name not in self.possible():
            raise BadInput(f"broker {broker} has no session that lives")
        self.do(name, bound=1)

    def shrink(self, leader: int, partition: str, replica: int) -> None:
        """Have a leader take a follower out of the ISR; it comes back in `rest`, unless `expand_isr` is held."""
        self._known(leader)
        name = f"shrink_isr(broker={leader}, partition={partition}, replica={replica})"
        if name not in self.possible():
            raise BadInput(f"broker {leader} does not lead {partition} with {replica} in its ISR, or cannot write it")
        self.do(name, bound=1)

    def rebalance(self) -> None:
        """Have the rebalance thread look at each broker once, and let what comes of it come to rest."""
        if not self.settings.auto_leader_rebalance_enable:
            raise BadInput("auto.leader.rebalance.enable is false: there is no rebalance thread")
        for name in [one for one in self.possible() if one.startswith("check_imbalance(")]:
            if name in self.possible():
                self.do(name, bound=1)
                self.rest()

    def _of_running(self, broker: int, rule: str) -> None:
        self._known(broker)
        if not self._cluster.processes[broker].is_running:
            raise BadInput(f"broker {broker} does not run")
        if f"{rule}(broker={broker})" not in self.possible():
            raise BadInput(f"broker {broker} cannot {rule.replace('_', ' ')} now: it starts, or was told to before")
        self.do(f"{rule}(broker={broker})", bound=1)

    def _known(self, broker: int) -> None:
        if broker not in self._cluster.processes:
            raise UnknownName("broker", str(broker), [str(one) for one in self._cluster.processes])

    # --------------------------------------------------------------------------------------------------- admin tools

    def create(self, topic: str, assignment: Sequence[Sequence[int]], config: Mapping[str, str] | None = None) -> None:
        """Create a topic with the AR of each of its partitions, as `AdminUtils.createTopic` writes it."""
        if self._cluster.has_topic(topic):
            raise BadInput(f"the topic {topic} exists")
        listed = givens.listed(assignment, Where("assignment"))
        partitions = {number: self._replicas(ids) for number, ids in enumerate(listed)}
        self.by_hand(topic_config_path(topic), str(TopicConfigPayload(config=dict(config or {}))))
        self.by_hand(topic_path(topic), str(TopicPayload(partitions=partitions)))

    def add(self, topic: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Add partitions to a topic, each with its AR."""
        there = self._partitions_of(topic)
        givens.mapping(assignment, Where("assignment"))
        if again := [number for number in assignment if number in there]:
            raise BadInput(f"the topic {topic} has partition {again[0]} already")
        if lost := [number for number in assignment if type(number) is not int or number < 0]:
            raise BadInput(f"{lost[0]!r} is no number of a partition")
        new = {number: self._replicas(ids) for number, ids in assignment.items()}
        self.by_hand(topic_path(topic), str(TopicPayload(partitions={**there, **new})))

    def delete(self, topic: str) -> None:
        """Ask for a topic to be deleted, be it there or not."""
        self._create(delete_topic_path(topic), "", f"the deletion of {topic} is asked for already")

    def reassign(self, wanted: Mapping[str, Sequence[int]]) -> None:
        """Ask for partitions to be reassigned: RAR by partition, as `{"orders-0": [2, 3]}`."""
        named = {tp: tuple(ids) for tp, ids in givens.by_partition(givens.listed)(wanted, Where("wanted")).items()}
        entries = tuple(PartitionReassignment(tp.topic, tp.partition, ids) for tp, ids in named.items())
        data = str(ReassignPartitionsPayload(partitions=entries))
        self._create(REASSIGN_PARTITIONS, data, "partitions are being reassigned already")

    def elect_preferred(self, *partitions: str) -> None:
        """Ask for a preferred election of partitions."""
        data = str(PartitionsPayload(partitions=tuple(map(partition_named, partitions))))
        self._create(ELECTIONS, data, "a preferred election is under way already")

    def configure(self, topic: str, unclean: bool | None) -> None:
        """Allow or forbid a topic unclean election; None leaves it to the brokers' settings."""
        config = {} if unclean is None else {UNCLEAN: str(unclean).lower()}
        self.by_hand(topic_config_path(topic), str(TopicConfigPayload(config=config)))

    def by_hand(self, path: str, data: Json, version: int = 0) -> None:
        """Write a znode, an object or list as JSON, and any missing parents; None removes it with all below it.

        One that is new has this data version.
        """
        write_by_hand(self._cluster, path, data, givens.version(version, Where("version")))
        self._number(path)
        self._cluster.tell_watchers()

    def _create(self, path: str, data: str, refusal: str) -> None:
        if path in self._cluster.zookeeper.tree:
            raise BadInput(f"{refusal}: {path} exists")
        self.by_hand(path, data)

    def _number(self, path: str) -> None:
        """Tell a topic that is created from an earlier one of its name, and a notification from others."""
        if path.startswith(f"{ISR_CHANGES}/") and path not in self._cluster.notifiers:
            self._cluster.notifiers[path] = 0  # which is no broker's
        cluster, topic = self._cluster, path.removeprefix("/brokers/topics/")
        znode = cluster.zookeeper.tree.get(path)
        if topic != path and "/" not in topic and znode is not None and znode.version == 0:
            cluster.created = {**cluster.created, topic: (*cluster.created.get(topic, ()), znode.czxid)}

    def _partitions_of(self, topic: str) -> dict[int, tuple[int, ...]]:
        znode = self._cluster.zookeeper.tree.get(topic_path(topic))
        if znode is None or znode.data is None:
            raise BadInput(f"there is no topic {topic}")
        return dict(parsed(TopicPayload, topic_path(topic), znode.data).partitions)

    def _replicas(self, ids: Sequence[int]) -> tuple[int, ...]:
        """An AR, as `AdminUtils` takes it."""
        for broker in givens.listed(ids, Where("assignment")):
            self._known(broker)
        if not ids or len({*ids}) < len(ids):
            raise BadInput(f"assignment: {list(ids)} is no AR; expected one broker at least, and none twice")
        return tuple(ids)

    # --------------------------------------------------------------------------------------------------- interventions

    def fail(self, step: str, error: str, times: int = 1) -> None:
        """Have the next effects of a handler that are meant meet an error: `fail("create_state", "NodeExists")`.

        What ZooKeeper refuses is raised at the operation that it refuses, so Kafka does about it what it does: a
        conditional write that fails with `BadVersion` begins again with the read. `ConnectionLoss`, `SessionExpired`
        and `UnexpectedFailure` end the whole effect, before any operation. `LostAnswer` applies the write, and has it
        done again; elsewhere than in `transition` and `callback` that is a step, too, such as
        `do("increment_epoch_unanswered")`. What ends a start-up ends the process.
        """
        self._interventions.add(step, error=error, times=times)

    def before(self, step: str, act: Callable[[], None], times: int = 1) -> None:
        """Have something done right before the next effects that are meant, as `cluster.by_hand` does."""
        self._interventions.add(step, act=act, times=times)

    # --------------------------------------------------------------------------------------------------- what is seen

    @property
    def controller(self) -> int | None:
        """Whose id stands in /controller; None if nobody's does."""
        znode = self._cluster.zookeeper.tree.get(CONTROLLER)
        told = None if znode is None else data_to_json(znode.data)
        named = told.get("brokerid") if isinstance(told, dict) else told
        return named if type(named) is int else None

    def znode(self, path: str) -> Json:
        """The data of a znode, as JSON; None if it is not there, or has none."""
        znode = self._cluster.zookeeper.tree.get(path)
        return None if znode is None else data_to_json(znode.data)

    def happened(self, kind: str = "*", since: int = 0) -> list[Json]:
        """What happened, in order: kinds `zookeeper`, `request`, `answer`, `log`, and what else the journal has."""
        return [one for one in self._happened.since(since) if fnmatchcase(one["kind"], kind)]

    @property
    def now(self) -> int:
        """How much has happened: what comes later is `happened(since=...)`."""
        return len(self._happened)

    def view(self) -> Json:
        """All that is to be seen, as JSON: the processes, the znodes, what happened, and which steps were taken."""
        cluster = self._cluster
        return {
            "release": str(self.release),
            "controller": self.controller,
            "brokers": {str(b): process_to_json(cluster, one, self.release) for b, one in cluster.processes.items()},
            "znodes": znodes_to_json(cluster),
            "happened": self._happened.since(),
            "taken": list(self._taken),
        }
