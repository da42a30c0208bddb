"""A broker by plain calls: `reference.broker({"broker": 2})`.

It is the side that receives: its fences, becoming leader or follower, StopReplica, its metadata cache, and the ISR
changes of the partitions that it leads, which it writes to a ZooKeeper of its own.

Kafka 0.10.2.2: `ReplicaManager`, `Partition`, `MetadataCache`. PROTOCOL.md sections 7.7 and 10.
"""

from collections.abc import Mapping
from typing import Any

from reference.broker_events.isr_notification import maybe_propagate_isr_changes
from reference.brokers.broker import Broker, Partition
from reference.brokers.isr import maybe_expand_isr, maybe_shrink_isr
from reference.face import givens
from reference.face.interventions import LOST, Interventions
from reference.face.settings import behaviour
from reference.face.view import Happened, Json, answer_to_json, broker_to_json, partition_name, znodes_to_json
from reference.face.znodes import partition_named, write_by_hand
from reference.memory.open_cluster import OpenCluster, open_scope
from reference.procedures import Procedure
from reference.scripts import state_data, state_path
from spec.errors import BadInput, Where
from spec.formats.json_requests import request_from_json
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import ControlledShutdownRequest
from spec.formats.requests import encode_request
from spec.variants import Switch


class BrokerFace:
    """A broker that knows what is given; the rest is as in a process that has just begun.

    | key | is |
    |---|---|
    | `broker` | its id |
    | `controller_epoch` | the highest that it has seen, 0 if none |
    | `partitions` | by name: `leader`, `leader_epoch`, `isr`, `controller_epoch`, `zk_version`, `assigned` |
    | `cached_leader_epochs` | by name, what its metadata cache has |
    | `alive` | the brokers that its metadata cache lists |
    | `logs` | the partitions that have a log on its disk |
    | `znodes` | by path, their data; state znodes of `partitions` are as they say |
    | `release`, `variant` | as for a cluster |
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        given = givens.Given(told)
        self.broker_id = given.require("broker", givens.number)
        release, variant = given.get("release", givens.text, "0.10.2"), given.get("variant", givens.text, "AS_CODED")
        self.release, switches = behaviour(release, variant)
        scope = open_scope((self.broker_id,), unclean=False, deletes_topics=True, rebalances=False, percentage=10)
        self._cluster = OpenCluster((self.broker_id,), scope, switches)
        self._interventions = Interventions()
        self._cluster.intervene = self._interventions.come_before
        self._process = self._cluster.processes[self.broker_id]
        self._process.session = self._cluster.zookeeper.open_session()
        self._know(given)
        given.refuse_others()
        self._happened = Happened(self.release)
        self._cluster.entries.clear()

    @property
    def _broker(self) -> Broker:
        return self._process.broker

    def _know(self, given: givens.Given) -> None:
        broker = self._broker
        broker.controller_epoch = given.get("controller_epoch", givens.number, 0)
        read = givens.by_partition(_known_partition)
        for tp, (leadership, assigned) in given.get("partitions", read, {}).items():
            broker.partitions[tp] = Partition(leadership, assigned)
            self.by_hand(state_path(tp), (state_data(leadership) or b"").decode(), leadership.zk_version)
        broker.cached_epochs = given.get("cached_leader_epochs", givens.by_partition(givens.number), {})
        broker.alive = frozenset(given.get("alive", givens.numbers, [self.broker_id]))
        broker.logs = frozenset(given.get("logs", givens.partitions, [partition_name(tp) for tp in broker.partitions]))
        for path, data in given.get("znodes", givens.mapping, {}).items():
            self.by_hand(path, data)

    def by_hand(self, path: str, data: Json, version: int = 0) -> None:
        """Write a znode of this data version and any missing parents; None removes it with all below it."""
        givens.version(version, Where("version"))
        if data is not None or path in self._cluster.zookeeper.tree:
            write_by_hand(self._cluster, path, data, version)

    def request(self, told: Json) -> Json:
        """Carry out a request of a controller, an object as the message definitions have it, and give its answer."""
        header, request = request_from_json(told, Where("request"))
        encode_request(header, request)  # which refuses what cannot be sent
        if isinstance(request, ControlledShutdownRequest):
            raise BadInput("ControlledShutdown is for a controller, not for a broker")
        answer = self._broker.handle(request, header.correlation_id)
        self._note()
        return answer_to_json(answer, request, self.release, header.api_version)

    def shrink(self, partition: str, *replicas: int) -> bool:
        """`maybeShrinkIsr`: take followers out of the ISR; whether the znode has it so now."""
        tp = self._led(partition)
        isr = self._broker.partition(tp).leadership.isr
        if lost := [one for one in replicas if one not in isr or one == self.broker_id]:
            raise BadInput(f"{lost[0]!r} is no follower in the ISR of {partition}")
        return bool(replicas) and self._written(maybe_shrink_isr(self._broker, tp, *replicas))

    def expand(self, partition: str, replica: int) -> bool:
        """`maybeExpandIsr`: take a follower into the ISR; whether it is there now.

        Nothing is written for one that is there already, nor for one that is not assigned.
        """
        tp = self._led(partition)
        known = self._broker.partition(tp)
        if replica in known.leadership.isr or replica not in known.assigned_replicas:
            return replica in known.leadership.isr
        return self._written(maybe_expand_isr(self._broker, tp, replica))

    def lose_answers(self, times: int = 1) -> None:
        """Have the answers to the next writes be lost: each is applied, and ZkClient does it again."""
        self._interventions.add("*", times=times, error=LOST)

    def announce(self) -> str | None:
        """`maybePropagateIsrChanges`: announce the ISR changes that were not yet; the path, None if there are none."""
        changes = self._broker.isr_changes
        if not changes or Switch.ANNOUNCE_NO_ISR in self._cluster.switches:
            return None
        procedure = maybe_propagate_isr_changes(self._broker, changes, frozenset())
        path: str = self._run(procedure)
        return path

    def _led(self, partition: str) -> Any:
        tp = partition_named(partition)
        if self._broker.partition(tp).leadership.leader != self.broker_id:
            raise BadInput(f"broker {self.broker_id} does not lead {partition}")
        return tp

    def _written(self, procedure: Procedure[bool]) -> bool:
        return bool(self._run(procedure))

    def _run(self, procedure: Procedure[Any]) -> Any:
        """Carry out a procedure; what its effect gave last, or what it returns."""
        came: Any = None
        try:
            pending = next(procedure)
            while True:
                came = self._cluster.carry_out(self._process, pending.effects[0])
                pending = procedure.send((0, came))
        except StopIteration as end:
            return came if end.value is None else end.value
        finally:
            self._note()

    def _note(self) -> None:
        self._happened.note(self._cluster.entries, self.broker_id)

    def view(self) -> Json:
        """What the broker knows, the znodes, and what happened, as JSON."""
        known = broker_to_json(self._broker)
        return {"broker": known, "znodes": znodes_to_json(self._cluster), "happened": self._happened.since()}


def _known_partition(told: Any, where: Where) -> tuple[LeaderIsrAndControllerEpoch, tuple[int, ...]]:
    told = dict(givens.mapping(told, where))
    assigned = told.pop("assigned", None)
    leadership = givens.leadership(told, where)
    return leadership, leadership.isr if assigned is None else givens.numbers(assigned, where.key("assigned"))
