"""Damaged messages, vectors, payloads, requests, givens, znodes: each is refused as bad input, or taken; nothing else.

With `--deep` there are over 100,000 of them.
"""

import json
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any

import pytest

import reference
from model_check.conformance.driving.conversation import answer
from model_check.conformance.driving.world import Impossible, World
from model_check.conformance.protocol import parse_answer, parse_hello, parse_said
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.reference_driven import control
from model_check.conformance.vector import Object, Vector, parse_vector
from reference.face.cluster import Cluster
from spec.errors import BadInput, MalformedInput
from spec.formats.requests import decode_request
from spec.formats.znodes import parse_payload
from tests.model_check.conformance.all_vectors import VECTORS
from tests.mutations import lines, mutated, torn

HELLO = {
    "protocol": 1, "name": "odd", "language": "Python", "dialect": "as-coded-0.10.2", "verbs": ["elect"],
    "without": ["kept"], "resets": True,
}  # fmt: skip
ANSWER = {"id": "kcs-elect-0001", "outcome": {"elected": {"leader": 1, "isr": [1, 2], "receivers": [1]}}}
MODULE = {
    "broker": 1, "live": [1, 2, 3], "epoch": 7, "assignment": {"o-0": [1, 2], "o-1": [2, 3]}, "shutting_down": [],
    "leadership": {"o-0": {"leader": 1, "isr": [1, 2], "leader_epoch": 3, "zk_version": 4, "controller_epoch": 2}},
    "partition_states": {"o-0": "OnlinePartition"}, "replica_states": {"o-1": {"3": "OfflineReplica"}},
    "reassigning": {}, "electing": ["o-1"], "deleting": [], "ineligible": [], "release": "0.10.2",
    "settings": {"delete.topic.enable": True}, "znodes": {"/controller_epoch": 7},
}  # fmt: skip
BROKER = {
    "broker": 2, "controller_epoch": 5, "alive": [1, 2], "logs": ["o-0"], "cached_leader_epochs": {"o-0": 3},
    "partitions": {"o-0": {"leader": 2, "isr": [2, 3], "leader_epoch": 3, "zk_version": 4, "assigned": [2, 3]}},
}  # fmt: skip


def many(count: int) -> pytest.MarkDecorator:
    """So many examples with --deep, and a hundredth of them every day, or twenty."""
    return pytest.mark.parametrize("count", [max(20, count // 100), pytest.param(count, marks=pytest.mark.slow)])


@many(30_000)
def test_what_an_adapter_says_is_taken_or_refused(count: int) -> None:
    random = Random(count)
    for line in islice(lines(HELLO, random), count // 2):
        refused_or_taken(parse_hello, line)
    for line in islice(lines(ANSWER, random), count // 2):
        refused_or_taken(parse_answer, line, "kcs-elect-0001")


@many(20_000)
def test_a_line_of_vectors_is_taken_or_refused(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        line = next(lines(json.loads(random.choice(VECTORS).to_line()), random))
        refused_or_taken(parse_vector, line, "vectors:1")


@many(30_000)
def test_a_payload_and_a_request_are_taken_or_refused(count: int) -> None:
    random = Random(count)
    payloads = [one.given for one in VECTORS if one.verb == "read_znode" and one.given["data"] is not None]
    requests = [bytes.fromhex(one.given["hex"]) for one in VECTORS if one.verb == "decode_request"]
    for _ in range(count // 2):
        given = random.choice(payloads)
        refused_or_taken(parse_payload, given["path"], torn(given["data"], random))
        data = bytearray(random.choice(requests))
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        refused_or_taken(
            decode_request, bytes(data[: random.randrange(len(data) + 1)] if random.random() < 0.3 else data)
        )


@many(20_000)
def test_what_a_driven_controller_says_is_taken_or_refused(count: int) -> None:
    random, said = Random(count), 0
    driven = [one for one in VECTORS if one.verb == "control"]
    while said < count:
        said += damaged_conversation(random.choice(driven), random)


def damaged_conversation(vector: Vector, random: Random) -> int:
    """Have the reference talk, some of whose lines are damaged, until one is refused; how many it has said."""
    world, said = World(vector.given), 0

    def exchange(one: Object) -> Object:
        nonlocal said
        said += 1
        line = damaged({"id": vector.id, **one}, random)
        try:
            heard = parse_said(line, vector.id)
            told = answer(world, heard)
            if "ask" in heard:  # what was written can be read
                json.dumps(answer(world, {"ask": {"op": "get", "path": heard["ask"]["path"]}}))
        except (MalformedInput, Impossible) as refused:
            raise Over from refused
        except Exception as mistake:
            raise AssertionError(line) from mistake
        if told is None:
            raise Over
        json.dumps(told)
        return told

    with suppress(Over, KeyError, TypeError, AttributeError, BadInput):  # the reference gets what it has not asked for
        control(vector.given, "as-coded-0.10.2", exchange)
    json.dumps(world.outcome(), allow_nan=False)
    return said


class Over(BaseException):
    """The conversation has ended."""


def damaged(said: Any, random: Random) -> str:
    """What is said, as a line; one in ten is damaged, or what it writes is."""
    if random.random() < 0.9:
        return json.dumps(said)
    if random.random() < 0.5 and "data" in said.get("ask", {}):
        return json.dumps({**said, "ask": {**said["ask"], "data": torn(said["ask"]["data"] or "", random)}})
    return next(lines(said, random))


@many(20_000)
def test_a_question_is_answered_or_told_to_be_wrong(count: int) -> None:
    random, adapter = Random(count), Adapter("as-coded-0.10.2")
    for _ in range(count):
        vector = random.choice(VECTORS)
        question = mutated({"verb": vector.verb, "id": vector.id, "given": vector.given}, random)
        answer = adapter.answer(question)
        assert len({"outcome", "error", "skip"} & answer.keys()) == 1
        json.dumps(answer)


@many(4_000)
def test_what_is_given_to_a_face_is_taken_or_refused(count: int) -> None:
    random = Random(count)
    for _ in range(count // 2):
        for face, given in ((reference.module, MODULE), (reference.broker, BROKER)):
            try:
                view = face(mutated(given, random)).view()
            except BadInput:
                continue
            json.dumps(view)


def refused_or_taken(parse: Any, *given: Any) -> None:
    """It raises MalformedInput, or nothing."""
    with suppress(MalformedInput):
        parse(*given)


ACTS: tuple[tuple[Any, ...], ...] = (
    ("rest",),
    ("kill", 1),
    ("expire", 2),
    ("delete", "o"),
    ("reassign", {"o-0": [2, 3]}),
)


@many(1_000)
def test_what_is_edited_by_hand_in_a_cluster_is_taken_or_refused(count: int) -> None:
    """Whatever stands in ZooKeeper then: handlers go on, or fail as Kafka's do, and all of it can be seen."""
    random = Random(count)
    for _ in range(count):
        cluster = reference.cluster([1, 2, 3], release=random.choice(["0.8.2", "0.9.0", "0.10.0", "0.10.1", "0.10.2"]))
        cluster.start()
        cluster.create("o", [[1, 2], [2, 3]])
        for _ in range(3):
            with suppress(BadInput, reference.NoRest):
                edit_by_hand(cluster, random)
                name, *given = random.choice(ACTS)
                getattr(cluster, name)(*given)
        with suppress(reference.NoRest):
            cluster.rest(500)
        json.dumps(cluster.view())


def edit_by_hand(cluster: Cluster, random: Random) -> None:
    """Remove a znode, or damage what is in it."""
    path, znode = random.choice(sorted(cluster.view()["znodes"].items()))
    data = znode["data"]
    damaged = torn(json.dumps(data), random) if random.random() < 0.4 else mutated(data, random)
    cluster.by_hand(path, None if random.random() < 0.3 else damaged)
