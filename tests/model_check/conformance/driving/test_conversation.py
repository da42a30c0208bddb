"""Driven controllers: the reference does what each script wants, a wrong one is found, and odd lines are refused."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import model_check.conformance
from model_check.conformance.driving.conversation import LINES, converse
from model_check.conformance.protocol import Answer
from model_check.conformance.vector import Object, Vector, difference, is_legal
from spec.errors import MalformedInput
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.driving.driven import outcome
from tests.model_check.conformance.driving.wrong_controllers import WRONG
from tests.model_check.conformance.everyday_vectors import put

SCRIPTS = [one for one in VECTORS if one.verb == "control"]
FIRST = SCRIPTS[0]
MIXED = Random(0).sample(SCRIPTS, len(SCRIPTS))
"""In an order in which something of everything comes soon."""


@pytest.mark.takes("It has the reference do what some hundred scripts want.")
def test_the_reference_does_what_scripts_want(request: pytest.FixtureRequest) -> None:
    scripts = [one for one in put(request) if one.verb == "control"]
    wrong = [one.id for one in scripts if not is_legal(one, outcome(one))]
    assert wrong == []


LATE = {
    "takes every answer for good", "looks at no imbalance", "logs no failed change",
    "goes on where the controller znode exists", "takes a lost answer for done",
}  # fmt: skip
"""Those that few scripts find."""


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] if one in LATE else []) for one in WRONG])
def test_a_wrong_controller_is_found(name: str) -> None:
    """By what it does: one that only dies is found by no expectation."""
    found = ((one, outcome(one, WRONG[name])) for one in MIXED)
    assert any(came is not None and not is_legal(one, came) for one, came in found)


def test_the_page_tells_how_many_are_wrong() -> None:
    page = (Path(model_check.conformance.__path__[0]) / "README.md").read_text("utf-8")
    assert f"plants {len(WRONG)} wrong controllers" in " ".join(page.split())


def test_a_script_that_cannot_go_on_is_told_of() -> None:
    """The controller does not create a state znode, which a leader of the script then writes."""
    scripts = (one for one in SCRIPTS if one.group == "broker")
    one = next(one for one in scripts if any("set" in item for turn in one.given["script"] for item in turn))
    found, told = conversation({"wait": True}, vector=one)
    assert told[-1] == {"end": True}
    path, number = "/brokers/topics/a/partitions/0/state", len(found.outcome["turns"])
    assert found.outcome["stopped"] == f"turn {number} cannot be: set of {path} meets NoNode for {path}"
    assert not is_legal(one, found.outcome)


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


def test_what_is_logged_stands_in_its_turn() -> None:
    """Of the kinds that the vector names, and of a turn that a wait ends."""
    asking = replace(FIRST, given={**FIRST.given, "script": [[], []], "lines": ["Resigned", "EpochIncremented"]})
    resigned, other = "[Controller 1]: Broker 1 resigned as the controller", "[Controller 1]: Live brokers: 1"
    said: list[Object] = [{"log": resigned}, {"log": other}, {"wait": True}]
    found, told = conversation(*said, {"log": resigned}, {"wait": True}, vector=asking)
    assert told[:2] == [{"result": {}}, {"result": {}}]
    assert found.outcome is not None
    assert found.outcome["lines"] == {"0": [resigned], "1": []}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "what it says: expected one of ask, send, reply, log, wait, found none of them"),
        ({"wait": True, "ask": {}}, "what it says: expected one of ask, send, reply, log, wait, found ask and wait"),
        ({"wait": 1}, "what it says: wait: expected true"),
        ({"log": {"line": "it"}}, "what it says: log: expected a line, as a string"),
        ({"ask": 1}, "what it says: ask: expected an object"),
        ({"ask": {"op": "get"}}, "what it says: ask.path: expected a path as a string"),
        ({"ask": {"op": "list", "path": "/"}}, "what it says: ask.op: expected one of create, set, delete, exists,"),
        ({"ask": {"op": "get", "path": "a"}}, "what it says: ask.path: ZooKeeper path 'a' must start with '/'"),
        ({"ask": {"op": "set", "path": "/a", "data": 1}}, "what it says: ask.data: expected a string, or null"),
        ({"ask": {"op": "set", "path": "/a", "data": "\ud800"}}, "what it says: ask.data: expected a text; half a"),
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


@pytest.mark.parametrize("data", ["[1e999]", "[NaN]", "[" * 101 + "]" * 101, "[" * 5000])
def test_what_is_written_and_is_no_json_is_told_as_a_text(data: str) -> None:
    """So that whatever stands there can be printed, as JSON, too."""
    asked = {"ask": {"op": "create", "path": "/controller", "data": data}}
    found, _ = conversation(asked, *([{"wait": True}] * 50))
    assert {"create": "/controller", "data": data} in found.outcome["turns"]["0"]


def test_a_controller_that_never_waits_is_given_up() -> None:
    line = json.dumps({"id": FIRST.id, "ask": {"op": "exists", "path": "/a"}})
    with pytest.raises(MalformedInput, match=f"it has said {LINES} lines"):
        converse(FIRST, line, lambda _: line, lambda _: None)


def test_of_the_turns_only_those_are_compared_that_a_vector_names() -> None:
    one = next(one for one in SCRIPTS if len(one.given["script"]) > 4)
    found = outcome(one)
    assert found is not None
    (named,) = one.then[0]["turns"]
    assert int(named) == len(one.given["script"]) - 1
    assert difference({"turns": {"0": []}}, found) is not None
    assert difference({"turns": {named: found["turns"][named]}}, found) is None
