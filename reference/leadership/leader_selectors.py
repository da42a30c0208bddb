"""Which replica becomes leader: Kafka's five leader selectors, and the election at a partition's creation that asks
none of them.

A selector is a choice and nothing more. It gets the partition's current leader and ISR, as just read from the state
znode, beside the controller's cached view of the assigned replicas and the brokers, and says who shall lead, what the
ISR shall be, and which brokers get LeaderAndIsr. Reading the znode, writing it back on the version read, raising the
epoch and sending are for the caller, which asks again with fresh data whenever its conditional write fails.

Kafka: `PartitionLeaderSelector.scala`, 0.8.2 to 0.10.2; `PartitionStateMachine.initializeLeaderAndIsrForPartition` for
the creation. The reading is that of 0.10.2.2; the one selector that changed in these versions takes `by_isr` for its
older form.

Lists are ordered and keep their order: AR (assigned replicas), RAR (reassigned replicas), ISR. `live` is Kafka's
`liveBrokerIds`: the registered brokers that are not shutting down; `live_or_shutting_down` is all registered ones.
`None` stands for what the controller has no cache entry of.

    ElectionRefused               no leader was chosen; leader and ISR stay as they were
    ├── ElectionNotNeeded         the preferred replica leads already; swallowed, the partition is Online all the same
    ├── NoReplicaOnline           no broker that may lead is alive
    └── StateChangeFailed         the rule of this election cannot be met
        └── UncheckedFailure      Scala's own exception (`head of empty list`, `key not found`), which Kafka did not
                                  foresee; `electLeaderForPartition` makes a StateChangeFailed of it

Left out on purpose: the new leader epoch and zkVersion as numbers. Every selector but the no-op predicts old + 1 for
both, and the version is overwritten by the real one after the write; `raises_leader_epoch` says all there is to it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from spec.errors import SpecError

T = TypeVar("T")
Replicas = Sequence[int]
BrokerIds = Collection[int]

KEY_NOT_FOUND: Final = "key not found"
"""What Scala says of a partition that a cache has nothing of; behind it comes the partition, which no selector knows.
"""


class ElectionRefused(SpecError):
    """No leader was chosen; the message is the reason."""


class ElectionNotNeeded(ElectionRefused):
    """Kafka's LeaderElectionNotNeededException."""


class NoReplicaOnline(ElectionRefused):
    """Kafka's NoReplicaOnlineException."""


class StateChangeFailed(ElectionRefused):
    """Kafka's StateChangeFailedException."""


class UncheckedFailure(StateChangeFailed):
    """An exception of Scala's collections that the selector let through."""


@dataclass(frozen=True, slots=True)
class Election:
    """What a selector decided: the leader and ISR to write, and the brokers that get LeaderAndIsr, in this order.

    `raises_leader_epoch` is false for the no-op selector (which is written all the same, with the old epoch) and at
    creation (where the epoch starts at 0). `unclean` marks a leader that was not in the ISR: data may be lost.
    """

    leader: int
    isr: tuple[int, ...]
    receivers: tuple[int, ...]
    raises_leader_epoch: bool = True
    unclean: bool = False


def elect_offline(ar: Replicas | None, isr: Replicas, live: BrokerIds, *, unclean_enabled: bool) -> Election:
    """Elect for a partition whose leader is gone: the first live assigned replica of the ISR, else any if unclean.

    A live ISR member outside the AR passes the first test but cannot be chosen, which is Kafka's unchecked exception.
    Source: OfflinePartitionLeaderSelector.
    """
    if ar is None:
        raise NoReplicaOnline("the partition has no replicas assigned to it")
    live_assigned = filtered(ar, live)
    live_isr = filtered(isr, live)
    if live_isr:
        leader = head(filtered(live_assigned, live_isr))
        return Election(leader, live_isr, live_assigned)
    if not unclean_enabled:
        raise NoReplicaOnline(f"no broker in ISR {list(isr)} is alive; live are {sorted(live)}")
    if not live_assigned:
        raise NoReplicaOnline(f"no replica of {list(ar)} is alive; live are {sorted(live)}")
    return Election(live_assigned[0], (live_assigned[0],), live_assigned, unclean=True)


def reads_unclean_config(ar: Replicas | None, isr: Replicas, live: BrokerIds) -> bool:
    """Ask whether the offline selector reads the topic's configuration from ZooKeeper: only if no ISR member lives."""
    return ar is not None and not filtered(isr, live)


def elect_reassigned(rar: Replicas | None, isr: Replicas, live: BrokerIds) -> Election:
    """Elect for a partition that is being reassigned: the first new replica that is live and in the ISR.

    The ISR stays as it is, with the old replicas in it, and all of RAR is sent it, the dead ones too.
    Source: ReassignedPartitionLeaderSelector.
    """
    replicas = tuple(cached(rar))
    eligible = filtered(filtered(replicas, live), isr)
    if not eligible:
        raise NoReplicaOnline(f"none of the reassigned replicas {list(replicas)} is live and in ISR {list(isr)}")
    return Election(eligible[0], tuple(isr), replicas)


def elect_preferred(ar: Replicas | None, isr: Replicas, live: BrokerIds, *, cached_leader: int | None) -> Election:
    """Elect the preferred replica, the first of AR, unless it leads already; it must be live and in the ISR.

    Whether it leads is asked of the controller's cache, not of the znode just read. Source:
    PreferredReplicaPartitionLeaderSelector.
    """
    replicas = tuple(cached(ar))
    preferred = head(replicas)
    if cached(cached_leader) == preferred:
        raise ElectionNotNeeded(f"preferred replica {preferred} is already the leader")
    if preferred not in live or preferred not in isr:
        raise StateChangeFailed(f"preferred replica {preferred} is not alive or not in ISR {list(isr)}")
    return Election(preferred, tuple(isr), replicas)


def elect_on_controlled_shutdown(
    ar: Replicas | None,
    isr: Replicas,
    live_or_shutting_down: BrokerIds,
    shutting_down: BrokerIds,
    *,
    by_isr: bool = False,
) -> Election:
    """Elect away from brokers that shut down: the first registered replica in what the ISR is without all of these.

    Before 0.10.0.0 (`by_isr`) the first of that ISR, without asking whether it lives (D66). The brokers that are
    leaving are sent it as well. Source: ControlledShutdownLeaderSelector.
    """
    replicas = tuple(cached(ar))
    registered = filtered(replicas, live_or_shutting_down)
    remaining = without(isr, shutting_down)
    eligible = remaining if by_isr else filtered(registered, remaining)
    if not eligible:
        raise StateChangeFailed(f"no replica in ISR {list(isr)} besides shutting down brokers {sorted(shutting_down)}")
    return Election(eligible[0], remaining, registered)


def elect_no_op(ar: Replicas | None, leader: int, isr: Replicas) -> Election:
    """Keep leader and ISR; nobody should ask for this, and yet the znode is rewritten. Source: NoOpLeaderSelector."""
    return Election(leader, tuple(isr), tuple(cached(ar)), raises_leader_epoch=False)


def elect_on_creation(ar: Replicas | None, live: BrokerIds) -> Election:
    """Elect for New -> Online, whatever selector the caller named: the first live replica; all live ones are the ISR.

    Source: initializeLeaderAndIsrForPartition.
    """
    replicas = tuple(cached(ar))
    live_assigned = filtered(replicas, live)
    if not live_assigned:
        raise StateChangeFailed(f"no assigned replica of {list(replicas)} is alive; live are {sorted(live)}")
    return Election(live_assigned[0], live_assigned, live_assigned, raises_leader_epoch=False)


def filtered(replicas: Replicas, keep: BrokerIds) -> tuple[int, ...]:
    """Give the replicas that are among `keep`, order kept."""
    return tuple(replica for replica in replicas if replica in keep)


def without(replicas: Replicas, drop: BrokerIds) -> tuple[int, ...]:
    """Give the replicas that are not among `drop`, order kept."""
    return tuple(replica for replica in replicas if replica not in drop)


def head(replicas: Replicas) -> int:
    """Give the first replica, or raise UncheckedFailure where there is none."""
    if not replicas:
        raise UncheckedFailure("head of empty list")
    return replicas[0]


def cached(entry: T | None) -> T:
    """Give what the controller has cached, or raise UncheckedFailure where it has nothing."""
    if entry is None:
        raise UncheckedFailure(KEY_NOT_FOUND)
    return entry
