"""The arithmetic by which vectors of whole calls are made, and the reference: the same of whatever they are given.

Vectors are few, so that they can be read; here are many, made at random. Each is asked of the reference in a dialect.
"""

from random import Random
from typing import Any

import pytest

from model_check.conformance.making.delays import advance, check, complete, delay_outcomes, holds, watch
from model_check.conformance.making.departures import failure_outcomes, shutdown_outcome, state_before
from model_check.conformance.making.machines import call_outcomes, placed
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.vector import DIALECTS, Object, difference
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

IDS = (1, 2, 3, 4)
ADAPTERS: dict[str, Adapter] = {dialect: Adapter(dialect) for dialect in DIALECTS}


def many(count: int) -> pytest.MarkDecorator:
    """So many examples with --deep, and one in 25 of them every day."""
    return pytest.mark.parametrize("count", [count // 25, pytest.param(count, marks=pytest.mark.slow)])


def leadership(random: Random) -> Object:
    """Any leadership, also one whose leader is out of sync, or of a newer controller."""
    isr = random.sample(IDS, random.randint(1, 3))
    leader, decided = random.choice([-1, *IDS, isr[0], isr[0]]), random.choice([1, 5, 5, 6])
    return {"leader": leader, "leader_epoch": random.randint(0, 5), "isr": isr, "controller_epoch": decided}


def partition(random: Random) -> Object:
    """A partition, whose state znode may be gone, or say something else than the cache."""
    cached = leadership(random) if random.random() < 0.85 else None
    assigned = random.sample(IDS, random.randint(1, 4))
    return placed(assigned, cached, random.choice([cached, cached, cached, None, leadership(random)]))


def cluster(random: Random) -> Object:
    """Brokers of which some live, some shut down, and some are gone; three partitions, of which one may be deleted."""
    ids, live = random.sample(IDS, 4), random.randint(1, 4)
    return {
        "controller_epoch": 5, "live": sorted(ids[:live]), "shutting_down": ids[live : live + random.randint(0, 1)],
        "unclean": random.random() < 0.4, "deleting": random.choice([[], [], ["a"]]), "replica_states": {},
        "partitions": {name: partition(random) for name in ("a-0", "b-0", "c-0")},
    }  # fmt: skip


def asked(verb: str, dialect: str, given: Object, then: list[Object]) -> None:
    """The reference's answer is one of those that are expected."""
    answer = ADAPTERS[dialect].answer({"verb": verb, "id": "kcs-random-0001", "given": given})
    told = [difference(one, answer.get("outcome")) for one in then]
    assert None in told, (told, answer, dialect, given)


@many(1_000)
@pytest.mark.takes("It makes many controllers.")
def test_a_shutdown_and_a_failure(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        dialect, given = random.choice(DIALECTS), cluster(random)
        given["broker"] = random.choice([*given["live"], *given["shutting_down"]])
        asked("shut_down", dialect, given, [shutdown_outcome(given["broker"], given, (dialect,))])
        dead = [one for one in IDS if one not in {*given["live"], *given["shutting_down"]}]
        states = {name: state_before(one["leadership"]) for name, one in given["partitions"].items()}
        given |= {"dead": dead[:2], "partition_states": states}
        if dead:
            asked("fail_broker", dialect, given, failure_outcomes(given["dead"], given, (dialect,)))


@many(1_000)
@pytest.mark.takes("It makes many controllers.")
def test_a_call_of_a_state_machine(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        dialect, given, machine = random.choice(DIALECTS), cluster(random), random.choice(["partition", "replica"])
        every: Any = PartitionState if machine == "partition" else ReplicaState
        keys = [*given["partitions"]]
        if machine == "replica":
            replicas = [f"{name}/{id_}" for name, one in given["partitions"].items() for id_ in one["assigned"]]
            keys = random.sample(replicas, min(3, len(replicas)))
        usual = {"partition": "OnlinePartition", "replica": "OfflineReplica"}[machine]
        target = random.choice([usual, str(random.choice([*every]))])
        selector = random.choice(["offline", "controlled-shutdown", "no-op"])
        states = {key: str(random.choice([*every])) for key in keys}
        given |= {"machine": machine, "target": target, "selector": selector, "states": states, "keys": keys}
        asked("handle_state_changes", dialect, given, call_outcomes(given, (dialect,)))


@many(5_000)
def test_a_purgatory(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        steps = [watch("p0", "a", "b")]
        for number in range(1, random.randint(2, 10)):
            known = random.choice([one["operation"] for one in steps if one["do"] == "watch"])
            keys = random.choices("abc", k=random.randint(1, 3))
            timeout, is_true = random.choice([10, 20, 50]), random.random() < 0.2
            new = watch(f"p{number}", *keys, timeout=timeout, holds=is_true)
            steps.append(random.choice([
                new, new, holds(known), holds(known, now=False), check(keys[0]), check(keys[0]), complete(known),
                advance(random.choice([0, 5, 10, 30])),
            ]))  # fmt: skip
        limit = random.choice([0, 1, 2, 1000])
        given: Object = {"purge_interval": limit, "steps": steps}
        asked("delay", "as-coded-0.10.2", given, delay_outcomes(limit, steps))
