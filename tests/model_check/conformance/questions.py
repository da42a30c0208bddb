"""Questions at random, of each verb that asks a function: what `FORMAT.md` lets be given, and no vector may have."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from model_check.conformance.vector import Object
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.called_questions import CALLED
from tests.model_check.conformance.random_values import BROKERS, EPOCH, TOPICS, a_state, some

FENCES: Final = [one for one in VECTORS if one.verb == "fence"]


def election(random: Random) -> Object:
    """Any selector; who shuts down is registered still."""
    selector = random.choice(("offline", "reassigned", "preferred", "controlled-shutdown"))
    registered = sorted(some(random, BROKERS))
    return {
        "selector": selector, "isr": some(random, BROKERS, 1),
        ("reassigned" if selector == "reassigned" else "assigned"): some(random, BROKERS, 1),
        **(
            {"registered": registered, "shutting_down": sorted(some(random, registered))}
            if selector == "controlled-shutdown" else {"live": registered}
        ),
        **({"unclean": random.random() < 0.5} if selector == "offline" else {}),
        **({"cached_leader": random.choice((-1, *BROKERS))} if selector == "preferred" else {}),
    }  # fmt: skip


def creation(random: Random) -> Object:
    """Up to four replicas, of whom any may live."""
    return {
        "assigned": some(random, BROKERS, 1), "live": sorted(some(random, (*BROKERS, 5))),
        "controller_epoch": random.randint(1, 9),
    }  # fmt: skip


def removal(random: Random) -> Object:
    """One of AR goes; the ISR may have others than AR."""
    assigned = some(random, BROKERS, 1)
    return {
        "replica": random.choice(assigned), "assigned": assigned, "controller_epoch": EPOCH,
        "state": a_state(random) if random.random() < 0.95 else None, "unclean": random.random() < 0.5,
    }  # fmt: skip


def reassignment(random: Random) -> Object:
    """Any AR and RAR of four brokers; all of RAR are in the ISR half of the time."""
    wanted, isr = some(random, BROKERS, 1), some(random, BROKERS, 1)
    if random.random() < 0.5:
        isr = some(random, {*isr, *wanted}, 4)
    return {
        "assigned": some(random, BROKERS, 1), "reassigned": wanted, "isr": isr,
        "leader": random.choice((-1, *isr, *BROKERS)), "leader_epoch": random.randint(0, 6),
        "live": sorted(some(random, BROKERS)),
    }  # fmt: skip


def imbalance(random: Random) -> Object:
    """Up to five partitions of three topics, percentages at the shares that they can have."""
    partitions = {
        f"{topic}-{number}": {
            "assigned": some(random, (1, 2, 3), 1), "leader": random.choice((None, -1, 1, 1, 2, 2, 3, 3))
        }
        for topic in TOPICS for number in range(random.randint(0, 5))
    }  # fmt: skip
    busy = some(random, partitions) if random.random() < 0.1 else []
    return {
        "partitions": partitions, "live": sorted(some(random, (1, 2, 3), 1)),
        "percentage": random.choice((0, 10, 20, 25, 33, 34, 50, 66, 67, 75, 99, 100)),
        "deleting": sorted(some(random, TOPICS)) if random.random() < 0.3 else [], "reassigning": busy[:1],
        "electing": busy[1:2],
    }  # fmt: skip


def write(random: Random) -> Object:
    """A write where the same stands, or almost, or what cannot be read."""
    state = a_state(random)
    same = state | {"version": 1}
    name = random.choice(("leader", "leader_epoch", "controller_epoch"))
    stands: Any = random.choice(
        (same, same, same | {name: random.randint(0, 5)}, same | {"isr": some(random, BROKERS)},
         {key: same[key] for key in some(random, same)}, same | {"isr": None}, same | {name: str(same[name])}, [], None)
    )  # fmt: skip
    version = random.randint(0, 5)
    znode = {"data": json.dumps(stands), "version": version} if random.random() < 0.9 else None
    return {"znode": znode, "expected_version": random.choice((-1, 0, version, version, version + 1)), "state": state}


def batch(random: Random) -> Object:
    """Up to five additions, to brokers that are there and to others."""
    partitions: Object = {
        f"{topic}-{number}": {
            "assigned": some(random, BROKERS, 1),
            "leadership": a_state(random) | {"zk_version": random.randint(0, 9)} if random.random() < 0.8 else None,
        }
        for topic in TOPICS for number in range(random.randint(0, 3))
    }  # fmt: skip
    live = sorted(some(random, BROKERS, 1))
    gone = [one for one in BROKERS if one not in live] if random.random() < 0.4 else []
    adds = [_addition(random, partitions) for _ in range(random.randint(0, 5))] if partitions else []
    return {
        "controller_epoch": EPOCH, "live": live, "shutting_down": sorted(some(random, gone)), "partitions": partitions,
        "deleting": sorted(some(random, TOPICS)) if random.random() < 0.3 else [], "adds": [one for one in adds if one],
    }  # fmt: skip


def _addition(random: Random, partitions: Object) -> Object | None:
    brokers = some(random, (-1, 0, *BROKERS, 5))
    led = [name for name, one in partitions.items() if one["leadership"] is not None]
    match random.choice(("LeaderAndIsr", "UpdateMetadata", "StopReplica")):
        case "UpdateMetadata":
            asked = random.choice((None, some(random, partitions, 1)))
            return {"kind": "UpdateMetadata", "brokers": random.choice((None, brokers)), "partitions": asked}
        case "StopReplica":
            one = random.choice([*partitions])
            return {"kind": "StopReplica", "brokers": brokers, "partition": one, "delete": random.random() < 0.5}
    return {"kind": "LeaderAndIsr", "brokers": brokers, "partition": random.choice(led)} if led else None


def fence(random: Random) -> Object:
    """A request of a vector, with epochs of its own; a broker that knows of no controller knows nothing else."""
    given: Object = json.loads(json.dumps(random.choice(FENCES).given))
    known = random.choice((0, 4, 5, 6))
    given["knows"] = {
        "controller_epoch": known, "leader_epoch": random.choice((-1, 0, 3, 7)) if known else -1,
        "cached_leader_epoch": random.choice((-1, 0, 3, 7)) if known else -1,
    }  # fmt: skip
    body = given["request"]["body"]
    body["ControllerEpoch"] = random.randint(0, 7)
    for state in body.get("PartitionStates", []):
        state["LeaderEpoch"] = random.choice((0, 2, 3, 4, 7, 8))
    return given


QUESTIONS: Final[Mapping[str, Callable[[Random], Object]]] = {
    "elect": election, "create_partition": creation, "remove_replica": removal, "reassign": reassignment,
    "find_imbalance": imbalance, "write_state": write, "send_batch": batch, "fence": fence,
    **CALLED,
}  # fmt: skip
