"""Driven controllers: the reference does what each script wants, a wrong one is found, and odd lines are refused."""

import json
from random import Random

import pytest

from model_check.conformance.driving.conversation import LINES, answer, converse
from model_check.conformance.driving.world import World
from model_check.conformance.protocol import Answer
from model_check.conformance.reference_driven import control
from model_check.conformance.vector import Object, Vector, difference, is_legal, read_vectors
from spec.errors import MalformedInput
from tests.model_check.conformance.driving.wrong_controllers import WRONG, Exchange, Wrong

VECTORS = [one for one in read_vectors() if one.verb == "control"]
FIRST = VECTORS[0]
MIXED = Random(0).sample(VECTORS, len(VECTORS))
"""In an order in which something of everything comes soon."""


def as_it_is(exchange: Exchange) -> Exchange:
    """Nothing stands between."""
    return exchange


def outcome(vector: Vector, between: Wrong = as_it_is) -> Object | None:
    """What the reference comes to, with something between it and the world; None where it comes to nothing."""
    world = World(vector.given)

    def exchange(said: Object) -> Object:
        told: Object = json.loads(json.dumps(answer(world, json.loads(json.dumps(said))) or {"end": True}))
        return told

    try:
        control(vector.given, "as-coded-0.10.2", between(exchange))
    except Exception:  # noqa: BLE001 - a wrong controller may end in any way
        return None
    return {"turns": {str(number): one for number, one in enumerate(world.turns)}}


@pytest.mark.takes("It has the reference do what some 900 scripts want.")
def test_the_reference_does_what_every_script_wants() -> None:
    wrong = [one.id for one in VECTORS if not is_legal(one, outcome(one))]
    assert wrong == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_controller_is_found(name: str) -> None:
    assert any(not is_legal(one, outcome(one, WRONG[name])) for one in MIXED)


def conversation(*said: Object, vector: Vector = FIRST) -> tuple[Answer, list[Object]]:
    """What comes of these lines, and what was answered to them."""
    lines = iter([json.dumps({"id": vector.id, **one}) for one in said])
    told: list[Object] = []

    def ask(line: str) -> str:
        told.append(json.loads(line))
        return next(lines)

    return converse(vector, next(lines), ask, lambda line: told.append(json.loads(line))), told


def test_operations_are_answered_as_zookeeper_answers_them() -> None:
    asked: list[Object] = [
        {"op": "exists", "path": "/controller", "watch": True},
        {"op": "create", "path": "/controller", "data": "{}", "ephemeral": True},
        {"op": "create", "path": "/controller", "data": "{}"},
        {"op": "get", "path": "/controller"},
        {"op": "set", "path": "/controller", "data": "1", "version": 7},
        {"op": "set", "path": "/controller", "data": "1", "version": 0},
        {"op": "children", "path": "/brokers"},
        {"op": "delete", "path": "/brokers"},
        {"op": "delete", "path": "/nowhere"},
    ]
    found, told = conversation(*({"ask": one} for one in asked), {"wait": True}, {"skip": "enough"})
    assert found == Answer(skip="enough")
    assert [one.get("refused") for one in told[:9]] == [
        None, None, "NodeExists", None, "BadVersion", None, None, "NotEmpty", "NoNode",
    ]  # fmt: skip
    assert told[0] == {"result": None}
    assert (told[3]["result"]["data"], told[3]["result"]["own"]) == ("{}", True)
    assert told[5]["result"]["version"] == 1
    assert told[6]["result"]["children"] == ["ids", "seqid", "topics"]
    assert told[9] == {"event": {"watch": "/controller", "type": "NodeCreated"}}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "what it says: expected one of ask, send, reply, wait, found none of them"),
        ({"wait": True, "ask": {}}, "what it says: expected one of ask, send, reply, wait, found ask and wait"),
        ({"wait": 1}, "what it says: wait: expected true"),
        ({"ask": 1}, "what it says: ask: expected an object"),
        ({"ask": {"op": "get"}}, "what it says: ask.path: expected a path as a string"),
        ({"ask": {"op": "list", "path": "/"}}, "what it says: ask.op: expected one of create, set, delete, exists,"),
        ({"ask": {"op": "get", "path": "a"}}, "what it says: ask.path: ZooKeeper path 'a' must start with '/'"),
        ({"ask": {"op": "set", "path": "/a", "data": 1}}, "what it says: ask.data: expected a string, or null"),
        ({"ask": {"op": "set", "path": "/a", "version": "1"}}, "what it says: ask: expected a number as version,"),
        ({"send": {"to": "2", "request": {}}}, "what it says: send.to: expected the id of a broker"),
        ({"send": {"to": 2, "request": {"name": "Fetch"}}}, "what it says: send.request.name: expected one of"),
        ({"send": {"to": 2, "request": {"name": "LeaderAndIsr"}}}, "send.request.partitions: expected a list"),
        (
            {"send": {"to": 2, "request": {"name": "StopReplica", "partitions": []}}},
            "send.request.delete: expected true or false",
        ),
        (
            {"send": {"to": 2, "request": {"name": "StopReplica", "delete": True, "partitions": [1]}}},
            "send.request.partitions: expected a list of names",
        ),
    ],
)
def test_what_is_no_line_of_a_controller_is_refused(said: Object, told: str) -> None:
    with pytest.raises(MalformedInput) as refused:
        conversation(said)
    assert told in str(refused.value)


def test_a_controller_that_never_waits_is_given_up() -> None:
    line = json.dumps({"id": FIRST.id, "ask": {"op": "exists", "path": "/a"}})
    with pytest.raises(MalformedInput, match=f"it has said {LINES} lines"):
        converse(FIRST, line, lambda _: line, lambda _: None)


def test_of_the_turns_only_those_are_compared_that_a_vector_names() -> None:
    one = next(one for one in VECTORS if len(one.given["script"]) > 4)
    found = outcome(one)
    assert found is not None
    (named,) = one.then[0]["turns"]
    assert int(named) == len(one.given["script"]) - 1
    assert difference({"turns": {"0": []}}, found) is not None
    assert difference({"turns": {named: found["turns"][named]}}, found) is None
