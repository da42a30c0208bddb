"""Whose step it is: of the controller that is driven, of other controllers, or of the world."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.scripts import BROKER_IDS
from reference.threads import HANDLERS
from spec.system import rules
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

K = TypeVar("K")
S = TypeVar("S", PartitionState, ReplicaState)

DRIVEN: Final = 1
"""The broker whose controller is driven."""
ACTORS: Final = {rule.name: rule.actor for rule in rules()}
CONTROLLER: Final = "controller {c}"
CALLBACKS: Final = frozenset(
    {"skip_callback", "on_partition_modifications", "on_state_change"} | {one.__name__ for one in HANDLERS.values()}
)
ANSWERED: Final = "on_replica_deleted"
ASKED: Final = ("accept_shutdown", "refuse_shutdown")
"""How a request for a controlled shutdown is taken up, which comes by another thread than ZkClient's."""
LOOKS: Final = "check_imbalance"
"""What a thread does by the clock, when the world says so."""
INTERRUPTING: Final = frozenset({
    "shrink_isr", "expand_isr", "end_orphaned_session", "expire_session", "remove_controller", "request_deletion",
    "create_topic", "remove_topic", "remove_state", "request_reassignment", "withdraw_reassignment", "request_election",
    "withdraw_election", "edit_assignment", "write_addition", "register_broker", "report_isr_changes",
})  # fmt: skip
"""What may come right before a write."""
NEVER: Final = frozenset({"crash", "start_process", "start_process_early", "stop_broker"})
"""What never happens to the broker that is driven: its process would be another."""


def is_own(choice: Choice) -> bool:
    """Whether a step is one of the controller that is driven."""
    given = dict(choice.parameters)
    if choice.rule == "start_process":
        return given["b"] == DRIVEN
    return ACTORS[choice.rule] == CONTROLLER and given.get("c") == DRIVEN and choice.rule != LOOKS


def is_of_others(choice: Choice) -> bool:
    """Whether a step is one that another controller takes by itself, or one that takes what it sent to its broker."""
    if choice.is_fault or choice.rule == LOOKS or dict(choice.parameters).get("c", DRIVEN) == DRIVEN:
        return False
    return ACTORS[choice.rule] == CONTROLLER or choice.rule.startswith("deliver_")


def happening(choices: Sequence[Choice], cluster: MemoryCluster) -> Iterator[Choice]:
    """What the world may begin with."""
    looks = [one for one in choices if one.rule == LOOKS]
    for one in choices:
        given = dict(one.parameters)
        is_other = ACTORS[one.rule] == CONTROLLER or one.rule.startswith("deliver_") or one.rule.endswith("_unanswered")
        if is_other and not (looks == [one] and given["c"] == DRIVEN):
            continue
        if (one.rule not in NEVER or given["b"] != DRIVEN) and not _ends_too_soon(one, cluster):
            yield one


def may_interrupt(choice: Choice, cluster: MemoryCluster) -> bool:
    """Whether a step of the world's may come right before a write."""
    is_own = choice.rule == "register_broker" and dict(choice.parameters)["b"] == DRIVEN
    return choice.rule in INTERRUPTING and not is_own and not _ends_too_soon(choice, cluster)


def _ends_too_soon(choice: Choice, cluster: MemoryCluster) -> bool:
    """Whether it ends the controller's own session before its broker is registered.

    ZkClient has one thread for all listeners: behind a session's end the broker registers again, and every listener is
    called, before the next session's end is heard of.
    """
    ends = choice.rule == "expire_session" and dict(choice.parameters)["b"] == DRIVEN
    return ends and f"{BROKER_IDS}/{DRIVEN}" not in cluster.zookeeper.tree


def is_amid_work(cluster: MemoryCluster) -> bool:
    """Whether the controller is amid its work, if it only waits: for the lock, for ever (D50), or for a session."""
    return cluster.processes[DRIVEN].running is not None


def has_session(cluster: MemoryCluster) -> bool:
    """Whether the controller has a session that lives."""
    return cluster.can_operate(cluster.processes[DRIVEN])


def next_choices(cluster: MemoryCluster, choices: Sequence[Choice]) -> list[Choice]:
    """What follows by itself: what is sent arrives, what was begun goes on, then the next callback, a request for a
    controlled shutdown, an answer.
    """
    plain = [one for one in choices if not one.is_fault]
    delivered = [one for one in plain if one.rule.startswith("deliver_") and dict(one.parameters)["c"] == DRIVEN]
    if delivered:
        return delivered[:1]
    own = [one for one in plain if is_own(one)]
    if is_amid_work(cluster):
        return [one for one in own if one.rule not in CALLBACKS]
    asked = [one for one in own if one.rule in ASKED]
    begun = [one for one in own if one.rule not in {*CALLBACKS, *ASKED, ANSWERED}]
    callbacks = [one for one in own if one.rule in CALLBACKS]
    run = [one for one in callbacks if one.rule != "skip_callback"]
    answered = [one for one in own if one.rule == ANSWERED]
    return begun or run[:1] or callbacks[:1] or asked[:1] or answered[:1]


def rows(before: MemoryCluster, after: MemoryCluster) -> Iterator[str]:
    """The rows of the transition tables that a step has taken."""
    was, now = before.processes[DRIVEN].controller, after.processes[DRIVEN].controller
    if was is not None and now is not None and was.is_active and now.is_active:
        nowhere = PartitionState.NON_EXISTENT, ReplicaState.NON_EXISTENT
        yield from _moved("partition", was.partition_machine.states, now.partition_machine.states, nowhere[0])
        yield from _moved("replica", was.replica_machine.states, now.replica_machine.states, nowhere[1])


def _moved(kind: str, old: Mapping[K, S], new: Mapping[K, S], nowhere: S) -> Iterator[str]:
    moves = {(old.get(key, nowhere), new.get(key, nowhere)) for key in {**old, **new}}
    yield from sorted(f"{kind}: {source} to {target}" for source, target in moves if source is not target)
