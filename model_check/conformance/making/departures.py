"""A broker leaves: by a controlled shutdown, which it asks for, or by a failure, which is found.

Expected is what PROTOCOL.md sections 7.1 and 7.2 say, on the arithmetic of the state machines: a shutdown moves what
the broker leads, and takes it out of the ISRs of what it follows; a failure takes offline what the dead led, elects for
all that waits, and then removes the dead from every ISR. Topics that are queued for deletion are left alone by
a failure, not by a shutdown.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.making.leaderships import (
    BY_ISR,
    OLDEST,
    Impossible,
    Leaderships,
    in_any_order,
    is_permitted,
)
from model_check.conformance.making.machines import EPOCH, led, placed
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V0100, V090

USUAL: Final[Object] = {
    "controller_epoch": EPOCH, "live": [1, 2, 3], "shutting_down": [], "unclean": False, "deleting": [],
}  # fmt: skip
SECOND: Final = ("a-0/2", "b-0/2")
"""The replicas of two partitions on broker 2."""
NOT_REGISTERED, UNKNOWN = 8, -1
"""The codes that refuse a shutdown: of a broker that is not registered; in 0.8.2 whatever the reason."""

# ------------------------------------------------------------------------------------------------- controlled shutdown


def shutdown_cases() -> Iterator[Case]:
    """What the broker is to each partition: leader, follower, out of sync, alone, or no replica at all."""
    for words, known in (
        ("leads, two others are in sync", led(2, [2, 1, 3])),
        ("leads, and is alone in the ISR", led(2, [2])),
        ("leads by the cache, another by the znode", led(2, [2, 1])),
        ("follows", led(1, [3, 2, 1])),
        ("is out of sync", led(1, [1, 3])),
        ("is the last of the ISR, and nobody leads", led(-1, [2])),
        ("is a replica of what nobody has led", None),
    ):
        znode = led(1, [1, 2], epoch=6) if "by the znode" in words else known
        yield from _shutdown(f"it {words}", 2, {"a-0": placed(cached=known, znode=znode)})
    yield from _shutdown("nobody leads its last partition, unclean", 2, {"a-0": placed(cached=led(-1, [2]))},
                         unclean=True)  # fmt: skip
    mixed = {
        "a-0": placed(cached=led(2, [2, 1])), "a-1": placed(cached=led(2, [2])), "a-2": placed(cached=led(3, [3, 2])),
        "b-0": placed([1, 3], led(1, [1, 3])), "b-1": placed([2], led(2, [2])), "c-0": placed(cached=led(1, [1, 2])),
    }  # fmt: skip
    yield from _shutdown("it leads some, follows others, and has one for itself", 2, mixed)
    yield from _shutdown("so does another that shuts down", 2, mixed, live=[1, 2], shutting_down=[3])
    yield from _shutdown("the others are gone", 2, mixed, live=[2])
    yield from _shutdown("it has asked before", 2, mixed, live=[1, 3], shutting_down=[2])
    yield from _shutdown("a topic of it is queued for deletion", 2, mixed, deleting=["a"])
    ahead = {"a-0": placed(cached=led(2, [2, 1]), znode=led(2, [2, 1], decided=EPOCH + 1)), "b-0": mixed["a-2"]}
    yield from _shutdown("a newer controller has decided on one", 2, ahead)
    gone = {"a-0": placed(cached=led(2, [2, 1]), znode=None), "b-0": placed(cached=led(1, [1, 2]), znode=None)}
    yield from _shutdown("the state znodes are gone", 2, gone)
    dead = {"a-0": placed([2, 3, 1], led(2, [2, 3, 1])), "b-0": placed([3, 2, 1], led(2, [2, 1]))}
    yield from _shutdown("the next of AR is dead, and in sync", 2, dead, live=[1, 2])
    yield from _shutdown("of a partition of two", 1, {"a-0": placed([1, 2], led(1, [2, 1])), "b-0": placed([1], None)})
    outside = {"a-0": placed([1, 3], led(2, [2, 1])), "b-0": placed([1], led(2, [2, 1])), "c-0": mixed["a-0"]}
    yield from _shutdown("it leads what it is no replica of", 2, outside)
    for state in ("ReplicaDeletionStarted", "OfflineReplica", "ReplicaDeletionIneligible"):
        two = {"a-0": placed(cached=led(1, [1, 2])), "b-0": mixed["a-0"]}
        yield from _shutdown(f"its replicas are in {state}", 2, two, replica_states=dict.fromkeys(SECOND, state))
    for code, dialects in ((NOT_REGISTERED, since(V090)), (UNKNOWN, OLDEST)):
        yield _case(
            "shut_down", "Controlled shutdown of a broker that is not registered", {"broker": 4}, mixed,
            {**USUAL, "replica_states": {}}, [{"error_code": code}], dialects,
        )  # fmt: skip


def _shutdown(words: str, broker: int, partitions: Object, **changes: Any) -> Iterator[Case]:
    """A case for all dialects, or one for each way to elect."""
    rest = {**USUAL, "replica_states": {}, **changes}
    given = {**rest, "partitions": partitions}
    found = [([shutdown_outcome(broker, given, some)], some) for some in (since(V0100), BY_ISR)]
    for then, dialects in [(found[0][0], DIALECTS)] if found[0][0] == found[1][0] else found:
        title = f"Controlled shutdown of {broker}: {words}"
        yield _case("shut_down", title, {"broker": broker}, partitions, rest, then, dialects)


def shutdown_outcome(broker: int, given: Object, dialects: Sequence[Dialect]) -> Object:
    """What a controlled shutdown comes to in these dialects."""
    one = Leaderships(given, dialects)
    one.live, one.shutting_down = [each for each in one.live if each != broker], [*one.shutting_down, broker]
    several = [name for name, replicas in one.assigned.items() if broker in replicas and len(replicas) > 1]
    for name in several:
        _leave(one, name, broker, given["replica_states"].get(f"{name}/{broker}", "OnlineReplica"))
    led_still = [
        name for name, known in one.cached.items() if known["leader"] == broker and len(one.assigned[name]) > 1
    ]
    return {"error_code": 0, "remaining": sorted(led_still), **one.outcome()}


def _leave(one: Leaderships, name: str, broker: int, state: str) -> None:
    """The broker leaves a partition that has leadership; where that fails, it stays as it is."""
    if name not in one.cached:
        return
    try:
        if one.cached[name]["leader"] == broker:
            one.bring_online(name, "OnlinePartition", "controlled-shutdown")
            return
        one.stop(name, broker)
        if is_permitted(state, "OfflineReplica"):
            one.remove(name, broker)
    except Impossible:
        return


# ------------------------------------------------------------------------------------------------------------- failure


def failure_cases() -> Iterator[Case]:
    """What the dead were to each partition; two that die at once; what waits; what is to be deleted."""
    for words, known, unclean in (
        ("led, two others are in sync", led(2, [2, 3, 1]), False),
        ("led, and was alone in the ISR", led(2, [2]), False),
        ("led, and was alone in the ISR, unclean", led(2, [2]), True), ("followed", led(1, [1, 2, 3]), False),
        ("was out of sync", led(1, [1, 3]), False), ("was the last of the ISR, and nobody led", led(-1, [2]), False),
        ("was the last of the ISR, and nobody led, unclean", led(-1, [2]), True),
        ("was a replica of what nobody has led", None, False),
    ):  # fmt: skip
        yield from _failure(f"it {words}", [2], {"a-0": placed(cached=known)}, unclean=unclean)
    alone = {"a-0": placed([2], led(2, [2]))}
    yield from _failure("it was the only replica", [2], alone)
    yield from _failure("it was the only replica, unclean", [2], alone, unclean=True)
    mixed = {
        "a-0": placed(cached=led(2, [2, 1])), "a-1": placed(cached=led(2, [2])), "b-0": placed(cached=led(3, [3, 2])),
        "b-1": placed([1, 3], led(1, [1, 3])), "c-0": placed([3, 2], None),
    }  # fmt: skip
    yield from _failure("it led some, and followed others", [2], mixed)
    yield from _failure("it led nothing", [2], {name: mixed[name] for name in ("b-0", "b-1")})
    yield from _failure("it had no replica", [2], {"b-1": mixed["b-1"]})
    yield from _failure("another shuts down", [2], mixed, live=[1], shutting_down=[3])
    yield from _failure("a topic is queued for deletion", [2], mixed, deleting=["a"])
    yield from _failure("all topics are queued for deletion", [2], mixed, deleting=["a", "b", "c"])
    yield from _failure("two at once", [2, 3], mixed)
    yield from _failure("two at once, all of an ISR", [2, 3], {"a-0": placed(cached=led(2, [2, 3]))})
    yield from _failure("two at once, one led", [2, 3], {"a-0": placed(cached=led(1, [2, 1, 3]))})
    ahead = {"a-0": placed(cached=led(2, [2, 1]), znode=led(2, [2, 1], decided=EPOCH + 1)), "b-0": mixed["b-0"]}
    yield from _failure("a newer controller has decided on one", [2], ahead)
    moved = {
        "a-0": placed(cached=led(1, [1, 2]), znode=led(1, [3, 1])),
        "b-0": placed(cached=led(2, [2, 1]), znode=None),
    }
    yield from _failure("ZooKeeper has other ISRs than the cache", [2], moved)
    for state in ("ReplicaDeletionStarted", "OfflineReplica", "ReplicaDeletionSuccessful", "ReplicaDeletionIneligible"):
        yield from _failure(f"its replicas are in {state}, one of a topic that is queued for deletion", [2],
                            {"a-0": placed(cached=led(-1, [2])), "b-0": placed(cached=led(1, [1, 2]))}, deleting=["a"],
                            replica_states=dict.fromkeys(SECOND, state))  # fmt: skip
    waiting = {"a-0": placed(cached=led(-1, [1, 2])), "b-0": placed([1, 2], None), "c-0": placed(cached=led(1, [1, 2]))}
    yield from _failure("others waited for an election", [2], waiting)


def _failure(words: str, dead: Sequence[int], partitions: Object, **changes: Any) -> Iterator[Case]:
    """A case for all dialects, or one for 0.8.2, which tells nobody of a failure that took no leader."""
    left = {"live": [one for one in (1, 2, 3) if one not in dead], "replica_states": {}, **changes}
    states = {name: state_before(one["leadership"]) for name, one in partitions.items()}
    given = {**USUAL, **left, "partition_states": states, "partitions": partitions}
    found = [(failure_outcomes(dead, given, some), some) for some in (since(V090), OLDEST)]
    for then, dialects in [(found[0][0], DIALECTS)] if found[0][0] == found[1][0] else found:
        title = f"Failure of {' and '.join(map(str, dead))}: {words}"
        yield _case("fail_broker", title, {"dead": [*dead]}, partitions, given, then, dialects)


def failure_outcomes(dead: Sequence[int], given: Object, dialects: Sequence[Dialect]) -> list[Object]:
    """What a failure may come to in these dialects: the replicas of the dead go in any order."""
    return in_any_order(dead, lambda order: _fail(order, given, dialects))


def _fail(dead: Sequence[int], given: Object, dialects: Sequence[Dialect]) -> Object:
    one = Leaderships(given, dialects)
    states = dict(given["partition_states"])
    asked = [name for name in one.assigned if not one.is_doomed(name)]
    lost = [name for name in asked if name in one.cached and one.cached[name]["leader"] in dead]
    states |= dict.fromkeys(lost, "OfflinePartition")
    for name in asked:
        if states[name] != "OnlinePartition" and _is_done(one.bring_online, name, states[name], "offline"):
            states[name] = "OnlinePartition"
    gone = {f"{name}/{broker}": (name, broker) for name in one.assigned for broker in dead}
    gone = {key: pair for key, pair in gone.items() if pair[1] in one.assigned[pair[0]]}
    replicas = {key: given["replica_states"].get(key, "OnlineReplica") for key in gone}
    for key in sorted(gone, key=lambda each: dead.index(gone[each][1])):
        replicas[key] = _left(one, *gone[key], replicas[key])
    told = _told(one, is_everything=not lost and {*dialects} != {*OLDEST})
    outcome = one.outcome()
    del outcome["stop_replica"]  # which nobody is left to get
    return {"partition_states": states, "replica_states": replicas, **outcome, "update_metadata": told}


def _left(one: Leaderships, name: str, broker: int, before: str) -> str:
    """The state of a replica whose broker is gone: Offline, or what is being deleted cannot be any more."""
    if one.is_doomed(name):
        return "ReplicaDeletionIneligible" if is_permitted(before, "ReplicaDeletionIneligible") else before
    is_off = is_permitted(before, "OfflineReplica") and _is_done(one.remove, name, broker)
    return "OfflineReplica" if is_off else before


def state_before(known: Object | None) -> str:
    """The state of a partition before its broker failed."""
    if known is None:
        return "NewPartition"
    return "OfflinePartition" if known["leader"] == -1 else "OnlinePartition"


def _is_done(change: Any, *given: Any) -> bool:
    try:
        change(*given)
    except Impossible:
        return False
    return True


def _told(one: Leaderships, *, is_everything: bool) -> list[str]:
    """The partitions that brokers are sent: what LeaderAndIsr names, or everything, and beside that the doomed."""
    named = {*one.led} | ({*one.cached} if is_everything else set())
    return sorted(named | ({name for name in one.cached if one.is_doomed(name)} if named else set()))


def _case(
    verb: Any, title: str, who: Object, partitions: Object, rest: Mapping[str, Any], then: list[Object],
    dialects: Sequence[Dialect],
) -> Case:  # fmt: skip
    refs = {
        "shut_down": ["PROTOCOL.md section 7.2", "KafkaController.shutdownBroker"],
        "fail_broker": ["PROTOCOL.md section 7.1", "KafkaController.onBrokerFailure"],
    }[verb]
    return Case(verb, title, {**who, **rest, "partitions": partitions}, then, refs, ["departures"], dialects)
