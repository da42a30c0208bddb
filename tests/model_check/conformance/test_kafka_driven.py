"""Kafka's own controller goes every way that the makers walk, and its deletion thread waits for its listeners."""

import pytest

from model_check.conformance.conforming import Asking, Outcome
from model_check.conformance.making.themes import THEMES
from model_check.conformance.vector import Object, Vector
from tests.model_check.conformance.kafka_itself import KAFKA
from tests.model_check.conformance.making.every_script import every_case, vectors_of

pytestmark = KAFKA


TOPIC: Object = {"version": 1, "partitions": {"0": [1, 2]}}
LATE: Object = {"broker": 1, "settings": {"delete.topic.enable": True}, "compared": ["StopReplica"], "script": [
    [{"create": "/config/topics/a", "data": {"version": 1, "config": {}}},
     {"create": "/brokers/topics/a", "data": TOPIC}],
    [{"register": 1}], [{"register": 2}], [{"end_session": 1}, {"renew_session": 1}],
    [{"create": "/admin/delete_topics/a", "data": None}, {"create": "/brokers/topics/b", "data": TOPIC}],
    [{"register": 1}],
]}  # fmt: skip
"""Two listeners are called one behind the other, of which the first has something for the deletion thread."""


@pytest.mark.takes("It compiles against Kafka's classes, and starts a JVM.")
def test_the_deletion_thread_waits_for_what_the_listeners_do(kafka_adapter: list[str]) -> None:
    vector = Vector("kcs-late-0001", "", [], [], ["as-coded-0.10.2"], "control", LATE, [{"never": True}], "")
    with Asking(kafka_adapter) as asking:
        found = asking.result(vector).found
    done = [next(iter(one)) for one in found["turns"]["5"]]
    created = [place for place, kind in enumerate(done) if kind == "create"]
    assert created
    assert max(created) < done.index("sent") < done.index("delete")


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.takes("It walks some hundred scripts, and asks Kafka each.")
def test_kafka_goes_every_way_that_is_walked(theme: str, kafka_adapter: list[str]) -> None:
    cases = every_case(theme)
    with Asking(kafka_adapter) as asking:
        results = [asking.result(vector) for vector in vectors_of(theme, cases)]
    assert [(one.vector.title, one.told) for one in results if one.outcome is not Outcome.PASS] == []
