"""What a controller makes of its leaderships: the state machines and the selectors, by an arithmetic of its own.

It is PROTOCOL.md sections 3 to 5, read once more: what is written to a state znode, what is cached, and who is sent
LeaderAndIsr or StopReplica, partition by partition and replica by replica. The vectors of whole calls are made of it.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import permutations
from typing import Any, Final

from model_check.conformance.vector import Dialect, Object
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import find

BY_ISR: Final[tuple[Dialect, ...]] = ("as-coded-0.8.2", "as-coded-0.9.0")
"""Where a controlled shutdown elects the first of the new ISR, whoever that is."""
OLDEST: Final = BY_ISR[:1]
Elected = tuple[int, Sequence[int], Sequence[int]]
"""Leader, ISR and receivers."""


class Impossible(Exception):
    """Nobody can be elected, or a change of state fails for another reason."""


class Stays(Impossible):
    """A replica without leadership, of a topic that is to go, stays as it is; that is no failure, and not logged."""


class Leaderships:
    """Caches, state znodes and states, and what was written and sent of each partition since."""

    def __init__(self, given: Object, dialects: Sequence[Dialect] = ()) -> None:
        given = deepcopy(given)
        self.epoch: int = given["controller_epoch"]
        self.live: list[int] = given["live"]
        self.shutting_down: list[int] = given["shutting_down"]
        self.unclean: bool = given["unclean"]
        self.deleting: list[str] = given["deleting"]
        self.by_isr, self.is_oldest = {*dialects} <= {*BY_ISR}, {*dialects} == {*OLDEST}
        partitions = given["partitions"]
        self.assigned: dict[str, list[int]] = {name: one["assigned"] for name, one in partitions.items()}
        self.cached: dict[str, Object] = {
            name: one["leadership"] for name, one in partitions.items() if one["leadership"]
        }
        self.znodes: dict[str, Object] = {name: one["znode"] for name, one in partitions.items() if one["znode"]}
        self.written = dict[str, Object]()
        self.led, self.stopped = dict[str, set[int]](), dict[tuple[str, bool], set[int]]()

    def is_doomed(self, name: str) -> bool:
        """Whether a partition's topic is queued for deletion."""
        return name.rsplit("-", 1)[0] in self.deleting

    def outcome(self) -> Object:
        """What was written, and who was sent what."""
        return {
            "written": [{"partition": name, **self.written[name]} for name in sorted(self.written)],
            "leader_and_isr": [{"partition": name, "to": sorted(to)} for name, to in sorted(self.led.items()) if to],
            "stop_replica": [
                {"partition": name, "delete": delete, "to": sorted(self.stopped[name, delete])}
                for name, delete in sorted(self.stopped)
            ],
        }

    # ------------------------------------------------------------------------------------------------------ partitions

    def bring_online(self, name: str, state: str, selector: str) -> None:
        """A partition goes Online: it is initialised, or somebody is elected; Impossible where that fails."""
        if state == PartitionState.NEW:
            self._initialise(name)
            return
        found = self._readable(name)
        try:
            leader, isr, receivers = SELECTORS[selector](self, name, found)
        except NotNeeded:
            return
        raised = selector != "no-op"
        self._write(name, {
            "leader": leader, "leader_epoch": found["leader_epoch"] + raised, "isr": [*isr],
            "controller_epoch": self.epoch,
        })  # fmt: skip
        self.lead(name, receivers)

    def _initialise(self, name: str) -> None:
        alive = [one for one in self.assigned[name] if one in self.live]
        if not alive or name in self.znodes:
            raise Impossible
        self._write(name, {"leader": alive[0], "leader_epoch": 0, "isr": alive, "controller_epoch": self.epoch})
        self.lead(name, alive)

    def _readable(self, name: str) -> Object:
        """What stands in the state znode, if this controller may decide on it."""
        found: Object | None = self.znodes.get(name)
        if found is None or found["controller_epoch"] > self.epoch:
            raise Impossible
        return found

    def _write(self, name: str, state: Object) -> None:
        self.written[name] = self.znodes[name] = self.cached[name] = state

    def lead(self, name: str, brokers: Iterable[int]) -> None:
        """LeaderAndIsr of a partition to brokers."""
        self.led.setdefault(name, set()).update(brokers)

    # -------------------------------------------------------------------------------------------------------- replicas

    def stop(self, name: str, replica: int, *, delete: bool = False) -> None:
        """StopReplica of a replica to its broker."""
        self.stopped.setdefault((name, delete), set()).add(replica)

    def remove(self, name: str, replica: int) -> None:
        """A replica goes Offline: it is stopped, removed from the ISR, and the others of AR are sent what is so."""
        self.stop(name, replica)
        if name not in self.cached or name not in self.znodes:
            raise Stays if self.is_doomed(name) and not self.is_oldest else Impossible
        found = self._readable(name)
        if replica in found["isr"]:
            left = [one for one in found["isr"] if one != replica]
            self._write(name, {
                "leader": -1 if found["leader"] == replica else found["leader"],
                "leader_epoch": found["leader_epoch"] + 1, "isr": left if left or self.unclean else found["isr"],
                "controller_epoch": self.epoch,
            })  # fmt: skip
        else:
            self.cached[name] = found | {"controller_epoch": self.epoch}
        if not self.is_doomed(name):
            self.lead(name, [one for one in self.assigned[name] if one != replica])


class NotNeeded(Exception):
    """The preferred replica leads already."""


def _offline(one: Leaderships, name: str, found: Object) -> Elected:
    alive = [each for each in one.assigned[name] if each in one.live]
    isr = [each for each in found["isr"] if each in one.live]
    if isr:
        return _first(each for each in alive if each in isr), isr, alive
    if not one.unclean:
        raise Impossible
    leader = _first(alive)
    return leader, [leader], alive


def _preferred(one: Leaderships, name: str, found: Object) -> Elected:
    first = one.assigned[name][0]
    if one.cached[name]["leader"] == first:
        raise NotNeeded
    if first not in one.live or first not in found["isr"]:
        raise Impossible
    return first, found["isr"], one.assigned[name]


def _controlled_shutdown(one: Leaderships, name: str, found: Object) -> Elected:
    registered = [each for each in one.assigned[name] if each in {*one.live, *one.shutting_down}]
    isr = [each for each in found["isr"] if each not in one.shutting_down]
    leader = _first(isr if one.by_isr else [each for each in registered if each in isr])
    return leader, isr, registered


def _no_op(one: Leaderships, name: str, found: Object) -> Elected:
    return found["leader"], found["isr"], one.assigned[name]


def _first(brokers: Iterable[int]) -> int:
    for one in brokers:
        return one
    raise Impossible


SELECTORS: Final[dict[str, Callable[[Leaderships, str, Object], Elected]]] = {
    "offline": _offline, "preferred": _preferred, "controlled-shutdown": _controlled_shutdown, "no-op": _no_op,
}  # fmt: skip
"""The selectors, by name."""


def is_permitted(before: str, after: str) -> bool:
    """Whether the table of the machine that has these states permits a change."""
    partitions, replicas = {str(one): one for one in PartitionState}, {str(one): one for one in ReplicaState}
    if before in partitions:
        return find(PARTITION_TRANSITIONS, partitions[before], partitions[after]) is not None
    return find(REPLICA_TRANSITIONS, replicas[before], replicas[after]) is not None


def in_any_order(keys: Sequence[Any], outcome_of: Callable[[Sequence[Any]], Object]) -> list[Object]:
    """The outcomes that the orders of a few keys have, each once."""
    found: list[Object] = []
    for order in permutations(keys) if len(keys) <= FEW else [keys]:
        outcome = outcome_of(order)
        if outcome not in found:
            found.append(outcome)
    return found


FEW: Final = 4
"""So many keys are tried in each order; more are never of one partition."""
