"""The schema of messages is as it is made; what is said, by whomever, is as it says, and nothing else is taken."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from random import Random
from threading import Thread
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import model_check.conformance
from model_check.conformance.conformance_report import document
from model_check.conformance.conforming import Conformance, Outcome, Result
from model_check.conformance.driving.conversation import converse
from model_check.conformance.messages import schema
from model_check.conformance.protocol import (
    bye_line,
    hello_line,
    parse_answer,
    parse_hello,
    parse_said,
    question_line,
    reset_line,
)
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.reference_driven import control
from model_check.conformance.vector import Object, Vector
from spec.errors import BadInput
from tests.model_check.conformance.all_vectors import VECTORS
from tests.mutations import lines

DRIVEN = Random(1).sample([one for one in VECTORS if one.verb == "control"], 60)
MADE = json.loads(schema())


def is_valid(kind: str) -> Callable[[Any], bool]:
    """Whether something is as a part of the schema says."""
    validator = Draft202012Validator({**MADE, "$ref": f"#/$defs/{kind}"})
    return lambda told: bool(validator.is_valid(told))


TO, FROM = is_valid("ToAdapter"), is_valid("FromAdapter")


def test_the_file_is_as_it_is_made() -> None:
    Draft202012Validator.check_schema(MADE)
    folder = Path(model_check.conformance.__path__[0])
    assert (folder / "messages.schema.json").read_text("utf-8") == schema()
    assert "`messages.schema.json`" in (folder / "FORMAT.md").read_text("utf-8")


def test_questions_and_the_answers_of_the_reference_are_as_it_says() -> None:
    adapter = Adapter("as-coded-0.10.2")
    assert TO(json.loads(hello_line()))
    assert TO(json.loads(bye_line()))
    assert FROM(adapter.answer(json.loads(hello_line())))
    assert TO(json.loads(reset_line(VECTORS[0])))
    assert FROM(adapter.answer(json.loads(reset_line(VECTORS[0]))))
    for one in Random(0).sample(VECTORS, 200):
        question = json.loads(question_line(one))
        assert TO(question), one.id
        if one.verb != "control" and adapter.dialect in one.dialects:
            assert FROM(json.loads(json.dumps(adapter.answer(question)))), one.id


@pytest.mark.parametrize(
    "vector",
    [pytest.param(one, id=one.id, marks=[pytest.mark.slow] if place >= 30 else []) for place, one in enumerate(DRIVEN)],
)
def test_a_conversation_is_as_it_says(vector: Vector) -> None:
    said, told = conversation_of(vector)
    assert [one for one in said if not FROM(one)] == []
    assert [one for one in told if not TO(one)] == []
    assert told[-1] == {"end": True}


def conversation_of(vector: Vector) -> tuple[list[Object], list[Object]]:
    """What the reference, which runs in a thread of its own, and the suite say to each other."""
    said: list[Object] = []
    told: list[Object] = []
    lines, answers = SimpleQueue[str](), SimpleQueue[Object]()

    def exchange(one: Object) -> Object:
        lines.put(json.dumps({"id": vector.id, **one}))
        return answers.get()

    def hear() -> str:
        line = lines.get(timeout=60)
        said.append(json.loads(line))
        return line

    def tell(line: str) -> None:
        told.append(json.loads(line))
        answers.put(told[-1])

    def ask(line: str) -> str:
        tell(line)
        return hear()

    Thread(target=control, args=(vector.given, "as-coded-0.10.2", exchange), daemon=True).start()
    converse(vector, hear(), ask, tell)
    return said, told


def test_nothing_is_taken_that_it_refuses() -> None:
    random, taken = Random(3), 0
    hello = Adapter("documented").answer(json.loads(hello_line()))
    answer = {"id": "kcs-elect-0001", "outcome": {"refused": "impossible"}}
    for line in [*islice(lines(hello, random), 300), *islice(lines(answer, random), 300)]:
        for parse in (parse_hello, lambda text: parse_answer(text, "kcs-elect-0001")):
            try:
                parse(line)
            except BadInput:
                continue
            taken += 1
            assert FROM(json.loads(line)), line
    assert taken > 20


def test_results_are_as_it_says() -> None:
    hello = parse_hello(json.dumps(Adapter("documented").answer(json.loads(hello_line()))))
    results = tuple(Result(one, outcome, "why", {"x": 1}) for one, outcome in zip(VECTORS, [*Outcome], strict=False))
    told = json.loads(json.dumps(document(Conformance(hello, results, len(VECTORS)))))
    assert is_valid("Results")(told)
    assert not is_valid("Results")({**told, "verdict": "GREEN"})
    assert parse_said('{"id": "a"}', "a") == {"id": "a"}
