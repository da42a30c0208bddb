"""A call of a state machine: `handleStateChanges` of several partitions, or of several replicas, at once.

Expected is what PROTOCOL.md sections 3 and 4 say: each key is asked of the table by itself; one that may not move, or
whose change fails, stays in its state, and is logged; the others of the call go on, and what was queued is sent as one
batch. Kafka goes through a set, so where the order of keys makes a difference, each order's outcome is legal.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.making.leaderships import (
    OLDEST,
    Impossible,
    Leaderships,
    Stays,
    in_any_order,
    is_permitted,
)
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V0100, V090
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

EPOCH: Final = 5
NONE: Final = {"partition": "NonExistentPartition", "replica": "NonExistentReplica"}
USUAL: Final[Object] = {
    "selector": "offline", "controller_epoch": EPOCH, "live": [1, 2, 3], "shutting_down": [], "unclean": False,
    "deleting": [],
}  # fmt: skip
SOURCES: Final = {
    "partition": ["PROTOCOL.md section 3", "PartitionStateMachine.handleStateChanges"],
    "replica": ["PROTOCOL.md section 4", "ReplicaStateMachine.handleStateChanges"],
}


def led(leader: int, isr: Sequence[int], *, epoch: int = 4, decided: int = 2) -> Object:
    """A leadership."""
    return {"leader": leader, "leader_epoch": epoch, "isr": [*isr], "controller_epoch": decided}


def placed(assigned: Sequence[int] = (1, 2, 3), cached: Object | None = None, znode: Any = ...) -> Object:
    """A partition: its AR, its leadership in the cache, and what stands in its state znode, if that is another."""
    return {"assigned": [*assigned], "leadership": cached, "znode": cached if znode is ... else znode}


def machine_cases() -> Iterator[Case]:
    """Partitions by target and by what stands in the way, then replicas."""
    yield from _tables("partition", PartitionState)
    yield from _elections()
    yield from _tables("replica", ReplicaState)
    yield from _replicas()


def _tables(machine: str, states: Any) -> Iterator[Case]:
    """From every state at once to each target: what the table refuses stays, and stops nothing."""
    for target in states:
        if target == ReplicaState.OFFLINE:
            continue  # which needs leadership in each of them; below
        before = {name: str(state) for name, state in zip("abcdefg", states, strict=False)}
        partitions = {
            f"{name}-0": placed(cached=None if state in WITHOUT_LEADER else led(2, [2, 1]))
            for name, state in before.items()
        }
        keys = [f"{name}-0" if machine == "partition" else f"{name}-0/1" for name in before]
        yield _case(
            machine, f"from each state to {target}", target, dict(zip(keys, before.values(), strict=True)), partitions
        )  # fmt: skip


WITHOUT_LEADER: Final = ("NonExistentPartition", "NewPartition")


def _elections() -> Iterator[Case]:
    online, good = "OnlinePartition", placed(cached=led(9, [2, 9, 3]))
    new, offline = "NewPartition", "OfflinePartition"
    two = {"a-0": offline, "b-0": offline}
    for words, bad in (
        ("nobody in the ISR of one is live", placed(cached=led(9, [9]))),
        ("nobody of one's AR is live", placed([8, 9], led(9, [9, 8]))),
        ("one has no state znode", placed(cached=led(9, [9, 2]), znode=None)),
        ("a newer controller has decided on one", placed(cached=led(9, [2, 9]), znode=led(2, [2], decided=EPOCH + 1))),
        ("one says another ISR in ZooKeeper than in the cache", placed(cached=led(9, [9, 1]), znode=led(9, [9, 3]))),
        ("the state znode of one is of this controller", placed(cached=led(9, [3, 9], decided=EPOCH))),
    ):
        for keys in (["a-0", "b-0"], ["b-0", "a-0"])[: 1 + (bad["znode"] is None)]:
            yield _case("partition", words, online, two, {"a-0": bad, "b-0": good}, keys=keys)
    yield _case("partition", "unclean election", online, two, {"a-0": placed(cached=led(9, [9])), "b-0": good},
                unclean=True)  # fmt: skip
    yield _case("partition", "all fail", online, two, dict.fromkeys(two, placed(cached=led(9, [9]))))
    yield _case("partition", "no keys", online, {"a-0": offline}, {"a-0": good}, keys=[])
    yield _case("partition", "one of two is asked for", online, two, dict.fromkeys(two, good), keys=["b-0"])
    yield _case("partition", "new ones of which one has no live replica, one a state znode", online,
                {"a-0": new, "b-0": new, "c-0": new},
                {"a-0": placed([8, 9]), "b-0": placed(znode=led(1, [1])), "c-0": placed([9, 3, 1])})  # fmt: skip
    yield _case("partition", "new, offline and online ones together", online,
                {"a-0": new, "b-0": offline, "c-0": online},
                {"a-0": placed([3, 2]), "b-0": good, "c-0": placed(cached=led(1, [1, 2]))})  # fmt: skip
    yield _case("partition", "one that nobody knows to New", new, {"a-0": NONE["partition"]}, {"a-0": placed()},
                keys=["a-0", "gone-0"], dialects=since(V090))  # fmt: skip
    yield _case("partition", "one that nobody knows to Online", online, {"a-0": offline}, {"a-0": good},
                keys=["a-0", "gone-0"])  # fmt: skip
    three = dict.fromkeys(("a-0", "b-0", "c-0", "d-0"), online)
    first = {
        "a-0": placed(cached=led(1, [1, 2])), "b-0": placed(cached=led(2, [2, 1])), "c-0": placed(cached=led(2, [2])),
        "d-0": placed(cached=led(2, [2, 1]), znode=led(1, [1, 2])),
    }  # fmt: skip
    yield _case("partition", "preferred: one need not, one is out of sync", online, three, first, selector="preferred")
    yield _case("partition", "preferred: the first replicas are gone", online, three, first, selector="preferred",
                live=[2, 3])  # fmt: skip
    yield _case("partition", "the no-op selector, which writes", online, {"a-0": online, "b-0": offline},
                {"a-0": placed(cached=led(2, [2, 1])), "b-0": good}, selector="no-op")  # fmt: skip
    leaving: Object = {"selector": "controlled-shutdown", "live": [1, 3], "shutting_down": [2]}
    moved = {"a-0": placed([2, 3, 1], led(2, [2, 1, 3])), "b-0": placed(cached=led(2, [2]))}
    for dialects in (since(V0100), BY_ISR):
        yield _case("partition", "controlled shutdown, and nobody else is in sync in one", online,
                    dict.fromkeys(moved, online), moved, dialects=dialects, **leaving)  # fmt: skip


BY_ISR: Final = tuple(one for one in DIALECTS if one not in since(V0100))


def _replicas() -> Iterator[Case]:
    new, online, offline = "NewReplica", "OnlineReplica", "OfflineReplica"
    none, started = NONE["replica"], "ReplicaDeletionStarted"
    every = {"a-0/1": new, "b-0/1": online, "c-0/1": offline, "d-0/1": started, "e-0/1": "ReplicaDeletionIneligible"}
    yield _case("replica", "from each state to OfflineReplica", offline, every,
                {name.split("/")[0]: placed(cached=led(2, [2, 1])) for name in every})  # fmt: skip
    yield _case("replica", "new ones: one leads by the znode, one follows, one has no znode", new,
                dict.fromkeys(("a-0/1", "b-0/1", "c-0/1"), none),
                {"a-0": placed(znode=led(1, [1])), "b-0": placed(znode=led(2, [2])), "c-0": placed()})  # fmt: skip
    yield _case("replica", "online: one is not in AR, one has no leadership, one is told", online,
                {"a-0/1": new, "b-0/1": offline, "c-0/1": offline},
                {"a-0": placed([2, 3], led(2, [2])), "b-0": placed(), "c-0": placed(cached=led(2, [2]))})  # fmt: skip
    yield _case("replica", "online: what is cached is told, not what stands in ZooKeeper", online, {"a-0/3": offline},
                {"a-0": placed(cached=led(2, [2]), znode=None)})  # fmt: skip
    for words, bad, dialects in (
        ("one has no cached leadership", placed(znode=led(2, [2, 1])), DIALECTS),
        ("one has no state znode", placed(cached=led(2, [2, 1]), znode=None), DIALECTS),
        ("a newer controller has decided on one", placed(cached=led(2, [2, 1]), znode=led(2, [2, 1], decided=6)),
         DIALECTS),
        ("one is not in the ISR", placed(cached=led(2, [2, 3])), DIALECTS),
        ("one leads", placed(cached=led(1, [1, 3])), DIALECTS),
        ("one is the last of its ISR", placed(cached=led(1, [1])), DIALECTS),
    ):  # fmt: skip
        yield _case("replica", f"offline: {words}", offline, dict.fromkeys(("a-0/1", "b-0/1"), online),
                    {"a-0": bad, "b-0": placed(cached=led(2, [3, 2, 1]))}, dialects=dialects)  # fmt: skip
    last = {"a-0": placed(cached=led(1, [1]))}
    yield _case("replica", "offline: the last of its ISR, unclean", offline, {"a-0/1": online}, last, unclean=True)
    yield _case("replica", "offline: a topic that is queued for deletion", offline,
                dict.fromkeys(("a-0/1", "b-0/1"), online), dict.fromkeys(("a-0", "b-0"), placed(cached=led(2, [2, 1]))),
                deleting=["a"])  # fmt: skip
    for dialects in (since(V090), OLDEST):
        yield _case("replica", "offline: no leadership, of a topic that is queued for deletion", offline,
                    dict.fromkeys(("a-0/1", "b-0/1"), online),
                    {"a-0": placed(), "b-0": placed(cached=led(2, [2]), znode=None)}, deleting=["a", "b"],
                    dialects=dialects)  # fmt: skip
    pair = dict.fromkeys(("a-0/1", "a-0/2"), online)
    yield _case("replica", "offline: two of one partition", offline, pair, {"a-0": placed(cached=led(3, [3, 2, 1]))})
    yield _case("replica", "offline: two of one partition, all of its ISR", offline, pair,
                {"a-0": placed(cached=led(1, [1, 2]))})  # fmt: skip
    yield _case("replica", "offline: two of one partition, all of its ISR, unclean", offline, pair,
                {"a-0": placed(cached=led(1, [1, 2]))}, unclean=True)  # fmt: skip
    yield _case("replica", "offline: two of one partition, one of which is not in the table's row", offline,
                {"a-0/1": started, "a-0/2": online}, {"a-0": placed(cached=led(1, [1, 2]))})  # fmt: skip
    yield _case("replica", "deletion starts for two brokers of one partition", started,
                dict.fromkeys(("a-0/1", "a-0/3"), offline), {"a-0": placed(cached=led(-1, [3]))})  # fmt: skip
    yield _case("replica", "two of one partition cease to exist", none,
                dict.fromkeys(("a-0/1", "a-0/3"), "ReplicaDeletionSuccessful"),
                {"a-0": placed(cached=led(-1, [3]))})  # fmt: skip
    yield _case("replica", "one of a partition that nobody knows", offline, {"a-0/1": online},
                {"a-0": placed(cached=led(2, [2, 1]))}, keys=["a-0/1", "gone-0/1"])  # fmt: skip
    yield _case("replica", "no keys", offline, {"a-0/1": online}, {"a-0": placed(cached=led(2, [2, 1]))}, keys=[])


def _case(
    machine: str, words: str, target: str, states: Mapping[str, str], partitions: Object, *,
    keys: Sequence[str] | None = None, dialects: Sequence[Dialect] = DIALECTS, **changes: Any,
) -> Case:  # fmt: skip
    asked = [*states] if keys is None else [*keys]
    given: Object = {"machine": machine, "target": str(target), **USUAL, **changes, "partitions": partitions}
    given |= {"states": {**states}, "keys": asked}
    then = call_outcomes(given, dialects)
    return Case(
        "handle_state_changes", f"{machine.capitalize()}s to {target}, {words}", given, then, SOURCES[machine],
        ["machines", f"{machine}-states"], dialects,
    )  # fmt: skip


def call_outcomes(given: Object, dialects: Sequence[Dialect]) -> list[Object]:
    """What a call may come to in these dialects: its keys are handled in any order."""
    return in_any_order(given["keys"], lambda order: _outcome(given, order, dialects))


def _outcome(given: Object, order: Sequence[str], dialects: Sequence[Dialect]) -> Object:
    one, states, failed = Leaderships(given, dialects), dict(given["states"]), list[str]()
    for key in order:
        before = states.setdefault(key, NONE[given["machine"]])
        if not is_permitted(before, given["target"]):
            failed.append(key)
            continue
        is_done, is_failure = _tried(one, key, before, given)
        failed += [key] if is_failure else []
        if is_done or given["target"] == "NewPartition":  # which is set before its AR is looked up
            states[key] = given["target"]
    assigned = {name: one.assigned[name] for name in given["partitions"]}
    return {"states": states, "failed": sorted(failed), "assigned": assigned, **one.outcome()}


def _tried(one: Leaderships, key: str, before: str, given: Object) -> tuple[bool, bool]:
    """Whether a key has moved, and whether its change failed."""
    move = _move_partition if given["machine"] == "partition" else _move_replica
    try:
        move(one, key, before, given)
    except Impossible as error:
        return False, not isinstance(error, Stays)
    return True, False


def _move_partition(one: Leaderships, key: str, before: str, given: Object) -> None:
    if key not in one.assigned:
        raise Impossible
    if given["target"] == "OnlinePartition":
        one.bring_online(key, before, given["selector"])


def _move_replica(one: Leaderships, key: str, before: str, given: Object) -> None:
    name, replica = key.split("/", maxsplit=1)[0], int(key.split("/")[1])
    if name not in one.assigned:
        raise Impossible
    match given["target"]:
        case "NewReplica":
            found = one.znodes.get(name)
            if found is not None and found["leader"] == replica:
                raise Impossible
            if found is not None:
                one.lead(name, [replica])
        case "OnlineReplica" if before == "NewReplica":
            one.assigned[name] += [replica] if replica not in one.assigned[name] else []
        case "OnlineReplica" if name in one.cached:
            one.lead(name, [replica])
        case "OfflineReplica":
            one.remove(name, replica)
        case "ReplicaDeletionStarted":
            one.stop(name, replica, delete=True)
        case "NonExistentReplica":
            one.assigned[name].remove(replica)
