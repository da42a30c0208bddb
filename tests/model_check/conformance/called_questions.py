"""Questions at random of the verbs that ask whole calls: of a controller, of a leader, and of a purgatory.

No question has an order left open: of a partition at most one replica is moved, and one broker fails.
"""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from model_check.conformance.vector import Object
from tests.model_check.conformance.random_values import BROKERS, EPOCH, TOPICS, a_state, some

SELECTORS: Final = ("offline", "preferred", "controlled-shutdown", "no-op")
PARTITION_STATES: Final[tuple[str, ...]] = (
    "NonExistentPartition",
    "NewPartition",
    "OnlinePartition",
    "OfflinePartition",
)
REPLICA_STATES: Final[tuple[str, ...]] = (
    "NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionStarted", "ReplicaDeletionSuccessful",
    "ReplicaDeletionIneligible", "NonExistentReplica",
)  # fmt: skip


def _partitions(random: Random) -> Object:
    """Up to six partitions; what stands in ZooKeeper is mostly what is cached."""
    return {f"{topic}-{number}": _partition(random) for topic in TOPICS for number in range(random.randint(0, 2))}


def _partition(random: Random) -> Object:
    cached = a_state(random) if random.random() < 0.85 else None
    znode = cached if random.random() < 0.7 else random.choice((None, a_state(random)))
    return {"assigned": some(random, BROKERS, 1), "leadership": cached, "znode": znode}


def _around(random: Random) -> Object:
    """What a call is given beside what it is about."""
    live = sorted(some(random, BROKERS, 1))
    gone = [one for one in BROKERS if one not in live] if random.random() < 0.4 else []
    return {
        "controller_epoch": EPOCH, "live": live, "shutting_down": sorted(some(random, gone)),
        "deleting": sorted(some(random, TOPICS)) if random.random() < 0.3 else [],
    }  # fmt: skip


def state_changes(random: Random) -> Object:
    """Either machine, with keys in any states, and to any state."""
    partitions, around, machine = _partitions(random), _around(random), random.choice(("partition", "replica"))
    if machine == "partition":
        keys, states = [*partitions], PARTITION_STATES
    else:
        keys = [f"{name}/{random.choice(one['assigned'] + around['live'])}" for name, one in partitions.items()]
        states = REPLICA_STATES
    usual = random.choice(states)
    return {
        "machine": machine, "target": random.choice(states), "selector": random.choice(SELECTORS),
        "unclean": random.random() < 0.5, "partitions": partitions, "keys": some(random, keys),
        "states": {key: usual if random.random() < 0.7 else random.choice(states) for key in keys}, **around,
    }  # fmt: skip


def shutdown(random: Random) -> Object:
    """Any broker, also one that is gone."""
    partitions = _partitions(random)
    return {
        "broker": random.choice(BROKERS), "partitions": partitions, "unclean": random.random() < 0.5,
        "replica_states": _replica_states(random, partitions), **_around(random),
    }  # fmt: skip


def failure(random: Random) -> Object:
    """One broker, with partitions in any states that a partition has which the controller knows."""
    partitions, around, dead = _partitions(random), _around(random), random.choice(BROKERS)
    for brokers in ("live", "shutting_down"):
        around[brokers] = [one for one in around[brokers] if one != dead]
    around["live"] = around["live"] or [dead % len(BROKERS) + 1]  # a controller is registered itself
    around["shutting_down"] = [one for one in around["shutting_down"] if one not in around["live"]]
    return {
        "dead": [dead], "partitions": partitions, "unclean": random.random() < 0.5,
        "replica_states": _replica_states(random, partitions),
        "partition_states": {name: random.choice(PARTITION_STATES[1:]) for name in partitions}, **around,
    }  # fmt: skip


def _replica_states(random: Random, partitions: Object) -> Object:
    replicas = [f"{name}/{broker}" for name, one in partitions.items() for broker in one["assigned"]]
    return {one: random.choice(REPLICA_STATES[:-1]) for one in replicas if random.random() < 0.2}


def notifications(random: Random) -> Object:
    """Up to three notifications of partitions, some of which nobody knows; few of them cannot be read."""
    partitions: Object = {}
    for name, one in _partitions(random).items():
        cached = one["leadership"] and one["leadership"] | {"zk_version": random.randint(0, 9)}
        known = one["assigned"] if cached or random.random() < 0.8 else None
        znode = {"data": _text(random, a_state(random)), "version": random.randint(0, 5)}
        stands = znode if random.random() < 0.85 else None
        partitions[name] = {"assigned": known, "leadership": cached, "znode": stands}
    named = [_split(name) for name in partitions]
    return {
        "notifications": {
            f"isr_change_{number:010}": _text(random, {"version": 1, "partitions": some(random, named)})
            for number in range(random.randint(0, 3))
        },
        "partitions": partitions, **_around(random),
    }  # fmt: skip


def _split(name: str) -> Object:
    topic, _, number = name.rpartition("-")
    return {"topic": topic, "partition": int(number)}


def _text(random: Random, value: Object) -> str:
    """A value as JSON; at times one without some of its keys, or what is no JSON."""
    if random.random() < 0.05:
        return random.choice(("", "{", "no"))
    return json.dumps(value if random.random() < 0.9 else {key: value[key] for key in some(random, value)})


def isr_changes(random: Random) -> Object:
    """Up to three changes of a leader, which may know what does not stand there any more."""
    leader, isr = random.choice(BROKERS), some(random, BROKERS, 1)
    isr = isr if leader in isr else [leader, *isr[:3]]
    known = random.randint(-1, 5)
    knows = {"leader_epoch": random.randint(0, 5), "isr": isr, "controller_epoch": 3, "zk_version": known}
    same = {"version": 1, "leader": leader, "leader_epoch": knows["leader_epoch"], "controller_epoch": 3}
    stands = random.choice((same | {"isr": isr}, same | {"isr": isr[:-1]}, a_state(random)))
    version = max(0, known + random.choice((0, 0, 0, 1, -1)))
    others, changes = [one for one in BROKERS if one != leader], list[Object]()
    followers = [one for one in isr if one != leader]
    for _ in range(random.randint(0, 3)):
        if random.random() < 0.5:
            changes.append({"expand": random.choice(others)})
            continue
        lagging = some(random, followers)  # each lags once, so that it is in the ISR, whatever was written
        followers = [one for one in followers if one not in lagging]
        changes.append({"shrink": sorted(lagging)})
    return {
        "broker": leader, "partition": "t-0", "assigned": sorted({leader, *some(random, BROKERS)}), "knows": knows,
        "znode": {"data": _text(random, stands), "version": version} if random.random() < 0.9 else None,
        "changes": changes,
    }  # fmt: skip


def delays(random: Random) -> Object:
    """Up to twenty steps with up to six operations on three keys."""
    steps: list[Any] = []
    names: list[str] = []
    for _ in range(random.randint(0, 20)):
        do = random.choice(("watch", "watch", "set", "check", "complete", "advance")) if names else "watch"
        if do == "watch" and len(names) < 6:
            names.append(f"p{len(names)}")
            keys = random.choices("abc", k=random.randint(1, 3))
            timeout = random.choice((1, 19, 20, 21, 100, 400, 401, 9000))
            steps.append({"do": do, "operation": names[-1], "keys": keys, "timeout": timeout,
                          "holds": random.random() < 0.2})  # fmt: skip
        elif do == "set":
            steps.append({"do": do, "operation": random.choice(names), "holds": random.random() < 0.7})
        elif do == "check":
            steps.append({"do": do, "key": random.choice("abc")})
        elif do == "complete":
            steps.append({"do": do, "operation": random.choice(names)})
        else:
            steps.append({"do": "advance", "by": random.choice((1, 18, 20, 79, 399, 8000))})
    return {"purge_interval": random.choice((0, 1, 2, 1000)), "steps": steps}


CALLED: Final[Mapping[str, Callable[[Random], Object]]] = {
    "handle_state_changes": state_changes, "shut_down": shutdown, "fail_broker": failure,
    "handle_isr_changes": notifications, "change_isr": isr_changes, "delay": delays,
}  # fmt: skip
"""By verb, what is asked at random."""
