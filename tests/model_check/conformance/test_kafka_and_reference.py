"""Questions at random: the reference answers as Kafka's own classes do, also where no vector asks."""

import json
from collections.abc import Iterator
from random import Random

import pytest

from model_check.conformance.adapter_process import AdapterProcess
from model_check.conformance.reference_adapter import Adapter
from tests.model_check.conformance.kafka_itself import KAFKA
from tests.model_check.conformance.questions import QUESTIONS

pytestmark = KAFKA


@pytest.fixture(scope="module")
def kafka(kafka_adapter: list[str]) -> Iterator[AdapterProcess]:
    """Kafka's classes, which wait to be asked."""
    with AdapterProcess(kafka_adapter, 20) as process:
        yield process


@pytest.mark.slow
@pytest.mark.parametrize("verb", QUESTIONS)
@pytest.mark.parametrize("count", [20, 1000])
def test_the_reference_answers_as_kafka_does(kafka: AdapterProcess, verb: str, count: int) -> None:
    random, reference = Random(f"{verb} {count}"), Adapter("as-coded-0.10.2")
    for number in range(count):
        question = {"verb": verb, "id": str(number), "given": QUESTIONS[verb](random)}
        found = json.loads(kafka.ask(json.dumps(question)))
        assert "outcome" in found, (question, found)
        assert reference.answer(question) == found, question
