"""Kafka's own controller goes every way that the makers walk, also those of which no vector is made."""

import shutil

import pytest

from model_check.conformance.conforming import Asking, Outcome
from model_check.conformance.kafka_adapter import RELEASE, kafka_command
from model_check.conformance.making.controlled import THEMES, case_of, walked
from model_check.conformance.vector import Vector
from model_check.live.kafka_jars import is_cached

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac here"),
    pytest.mark.skipif(not is_cached(RELEASE), reason=f"Kafka {RELEASE} is not here; `make kafka` fetches it"),
]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.takes("It walks some hundred scripts, and asks Kafka each.")
def test_kafka_goes_every_way_that_is_walked(theme: str) -> None:
    walker, scripts = walked(theme)
    wrong = []
    with kafka_command(RELEASE) as command, Asking(command) as asking:
        for number, script in enumerate(scripts):
            case = case_of(theme, walker, script)
            vector = Vector(
                f"kcs-{theme}-{number:04}", case.title, list(case.refs), list(case.tags), list(case.dialects),
                case.verb, case.given, case.then, case.hash,
            )  # fmt: skip
            if (found := asking.result(vector)).outcome is not Outcome.PASS:
                wrong.append((vector.title, found.told))
    assert wrong == []
