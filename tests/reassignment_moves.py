"""A cluster in which one partition is to move, and what the worked examples of PROTOCOL.md section 8 ask of it.

The specification is led through its steps, and so is the reference: an example is a function of whoever makes such a
cluster (tests/reassignment_examples.py).
"""

from collections.abc import Callable
from typing import Protocol

from spec.scopes import Scope

OLD, NEW = (1, 2, 3), (4, 5, 6)
"""OAR and RAR of the worked example."""

UNION = "[5, 1, 6, 2, 3, 4]"
"""A Scala set of five or more numbers lists them in the order of their hashes."""


def worked_scope(original: tuple[int, ...], wanted: tuple[int, ...], brokers: int, controllers: int) -> Scope:
    """A cluster in which partition 0 of one topic may be reassigned, with room for all that may happen then."""
    return Scope(
        name="worked example",
        statement="PROTOCOL.md section 8.",
        brokers=brokers,
        controllers=controllers,
        assigned=(original,),
        requests=((wanted,),),
        parts=frozenset({"partitions", "connections", "metadata", "cached_leaderships", "reassignment"}),
        budgets=(("reassignments", 9), ("crashes", 9), ("expiries", 9), ("exceptions", 9)),
        connection_capacity=16,
        callback_capacity=16,
        versions=100,
    )


class Moves(Protocol):
    """A cluster that has settled, in which partition 0 of one topic is reassigned; controller 1 is at work."""

    def can(self, rule: str, **parameters: int) -> bool:
        """Whether a step is possible."""

    def do(self, rule: str, **parameters: int) -> list[str]:
        """Take a step; what was seen of it, as text."""

    def __getitem__(self, path: str) -> str:
        """A variable of the specification as text."""


class Move:
    """Such a cluster, with what the examples ask of it."""

    def __init__(self, cluster: Moves, brokers: range) -> None:
        self._cluster, self._brokers = cluster, brokers
        self.can, self.do = cluster.can, cluster.do

    def __getitem__(self, path: str) -> str:
        """A variable as text."""
        return self._cluster[path]

    def row(self) -> tuple[str, ...]:
        """A row of the table: AR in ZooKeeper, AR in memory, leader, ISR, leader epoch, version."""
        znode = "zookeeper.state[0]"
        assignments = (self["zookeeper.assigned[0]"], self["controllers[1].partitions[0].assigned"])
        return (*assignments, *(self[f"{znode}.{name}"] for name in ("leader", "isr", "leader_epoch", "version")))

    def replicas(self, *brokers: int) -> set[str]:
        """The states in which controller 1 has these replicas."""
        return {self[f"controllers[1].partitions[0].replicas[{r}]"] for r in brokers}

    def told(self, r: int) -> tuple[str, str, str]:
        """Of what a broker was told: replicas and leader epoch of LeaderAndIsr, leader epoch of UpdateMetadata."""
        known = f"brokers[{r}].partitions[0]"
        return (self[f"{known}.assigned"], self[f"{known}.leader_epoch"], self[f"{known}.cached_epoch"])

    def deliver_all(self, c: int = 1) -> None:
        """Every request of a controller is executed and answered."""
        for b in self._brokers:
            while self._deliver(c, b):
                pass

    def _deliver(self, c: int, b: int) -> bool:
        for rule, parameters in (("deliver_request", {"c": c, "b": b}), ("deliver_deletion", {"c": c, "b": b, "p": 0})):
            if self.can(rule, **parameters):
                self.do(rule, **parameters)
                return True
        return False


Make = Callable[[Scope], Moves]
"""Who makes the cluster."""


def settled(
    make: Make, original: tuple[int, ...], wanted: tuple[int, ...], *, brokers: int = 6, controllers: int = 1
) -> Move:
    """A partition with these replicas, which may be asked to have those."""
    return Move(make(worked_scope(original, wanted, brokers, controllers)), range(1, brokers + 1))


def queued(seen: list[str], kind: str) -> list[str]:
    """What was queued of a kind, less the words that are always the same; brokers have no order among them."""
    prefix = f"controller 1 queue {kind} "
    return sorted(one.removeprefix(prefix) for one in seen if one.startswith(prefix))


def order(seen: list[str], broker: int) -> list[str]:
    """The kinds of requests that were queued for a broker, in their order; a StopReplica with whether it deletes."""
    words = [one.split()[3:] for one in seen if " queue " in one]
    mine = [one for one in words if f"broker={broker}" in one]
    return [" ".join([one[0], *(word for word in one if word.startswith("delete="))]) for one in mine]


def to_each(brokers: str, rest: str = "") -> list[str]:
    """What is queued, to each of these brokers."""
    return sorted(f"broker={b}{rest}" for b in brokers)


def begin(move: Move) -> None:
    """The request is read and accepted, and its ISR looked at."""
    move.do("request_reassignment", k=0)
    move.do("on_reassignment_request", c=1)
    move.do("accept_reassignment", c=1, p=0)
    move.do("read_whether_caught_up", c=1, p=0)


def phase_a(move: Move, *starting: int, c: int = 1) -> None:
    """Steps 1 to 4, the new replicas joining the ISR in this order."""
    move.do("write_union", c=c, p=0)
    move.do("read_for_bump", c=c, p=0)
    move.do("write_bump", c=c, p=0)
    for r in sorted(starting):
        move.do("start_new_replica", c=c, p=0, r=r)
    move.deliver_all(c)
    for r in starting:
        move.do("expand_isr", b=int(move["zookeeper.state[0].leader"]), p=0, r=r)


def complete(move: Move, *leaving: int, c: int = 1) -> None:
    """Phase B, with these replicas leaving."""
    move.do("read_for_move", c=c, p=0)
    move.do("write_move", c=c, p=0)
    for r in leaving:
        move.do("read_for_removal", c=c, p=0, r=r)
        move.do("write_removal", c=c, p=0, r=r)
    move.do("write_target", c=c, p=0)
    move.do("read_remaining", c=c, p=0)
    move.do("write_remaining", c=c, p=0)
    move.deliver_all(c)
