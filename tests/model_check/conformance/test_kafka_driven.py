"""Kafka's own controller goes every way that the makers walk, and its deletion thread waits for its listeners."""

import shutil

import pytest

from model_check.conformance.conforming import Asking, Outcome
from model_check.conformance.kafka_adapter import RELEASE, kafka_command
from model_check.conformance.making.themes import THEMES
from model_check.conformance.vector import Object, Vector
from model_check.live.kafka_jars import is_cached
from tests.model_check.conformance.making.every_script import every_case, vectors_of

pytestmark = [
    pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac here"),
    pytest.mark.skipif(not is_cached(RELEASE), reason=f"Kafka {RELEASE} is not here; `make kafka` fetches it"),
]


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
def test_the_deletion_thread_waits_for_what_the_listeners_do() -> None:
    vector = Vector("kcs-late-0001", "", [], [], ["as-coded-0.10.2"], "control", LATE, [{"never": True}], "")
    with kafka_command(RELEASE) as command, Asking(command) as asking:
        found = asking.result(vector).found
    done = [next(iter(one)) for one in found["turns"]["5"]]
    created = [place for place, kind in enumerate(done) if kind == "create"]
    assert created
    assert max(created) < done.index("sent") < done.index("delete")


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.takes("It walks some hundred scripts, and asks Kafka each.")
def test_kafka_goes_every_way_that_is_walked(theme: str) -> None:
    cases = every_case(theme)
    with kafka_command(RELEASE) as command, Asking(command) as asking:
        results = [asking.result(vector) for vector in vectors_of(theme, cases)]
    assert [(one.vector.title, one.told) for one in results if one.outcome is not Outcome.PASS] == []
