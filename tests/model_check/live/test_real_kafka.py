"""Real Kafka 0.10.2.2 in every role, with one fault each: recorded, and judged by both questions."""

from pathlib import Path

import pytest

from model_check.live.fetch_kafka import TESTED
from model_check.live.kafka_jars import is_cached
from model_check.live.kafka_program import kafka
from model_check.live.live_run import Task, recorded_and_judged
from model_check.live.live_setup import Setup
from model_check.verdicts.verdict import Verdict

pytestmark = pytest.mark.skipif(not is_cached(TESTED), reason=f"Kafka {TESTED} is not there: `make kafka` fetches it")


def setup_of(roles: str) -> Setup:
    """A cluster in which Kafka has these roles, and the reference the others."""
    match roles:
        case "controller":
            return Setup(2, seed=3, controllers=1, controller=kafka(TESTED))
        case "broker":
            return Setup(2, seed=3, controllers=1, broker=kafka(TESTED))
        case _:
            return Setup(2, seed=3, broker=kafka(TESTED))


@pytest.mark.takes("A real broker starts slowly.")
def test_real_kafka_starts_and_breaks_nothing(tmp_path: Path) -> None:
    claims, search = recorded_and_judged(Task(Setup(1, seed=3, broker=kafka(TESTED)), topics=1, faults=0), tmp_path)
    assert claims.verdict is Verdict.HOLDS, claims.notes
    assert search.verdict is Verdict.HOLDS, search.reason


@pytest.mark.slow
@pytest.mark.parametrize("roles", ["controller", "broker", "both"])
def test_real_kafka_breaks_nothing_that_is_not_known_of_it(roles: str, tmp_path: Path) -> None:
    task = Task(setup_of(roles), topics=1, faults=1, kinds=("kill-broker",))
    claims, search = recorded_and_judged(task, tmp_path)
    assert claims.verdict is Verdict.HOLDS, claims.notes
    assert len(claims.findings) > 15
    assert search.verdict in {Verdict.HOLDS, Verdict.INCOMPLETE}, search.reason
    written = sorted(one.parent.name for one in tmp_path.glob("broker-*/wire.jsonl"))
    assert written == {"controller": ["broker-2", "broker-3"], "broker": ["broker-1"], "both": []}[roles]


@pytest.mark.slow
def test_real_kafka_fails_to_delete_what_was_moved_away(tmp_path: Path) -> None:
    """PROTOCOL.md D72: what it breaks is known, and all of it explained."""
    task = Task(Setup(2, seed=5, broker=kafka(TESTED)), topics=1, faults=1, kinds=("delete-undeletable",))
    claims, search = recorded_and_judged(task, tmp_path)
    assert claims.verdict is Verdict.HOLDS, claims.notes
    assert "(as in the known defect D72)" in "\n".join(claims.notes)
    assert search.verdict is Verdict.HOLDS, search.reason
    assert "error_code=-1" in (tmp_path / "broker-1" / "controller.log").read_text("utf-8")
