"""Controllers with a bug, in runs whose faults the scenario chooses by itself: the same for each, of a minute.

The right one, which has none, elects, creates, adds and moves partitions, also where it or a broker dies. So it is done
all kinds of faults but those that ask for a deletion, or for a preferred election.
"""

import sys
from pathlib import Path
from typing import Final

import pytest

from model_check.live.command_program import command
from model_check.live.fault_kinds import USUAL
from model_check.live.live_run import Task, recorded_and_judged
from model_check.live.live_setup import Setup
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict

pytestmark = [pytest.mark.slow, pytest.mark.takes("Faults are done to a controller for a minute.")]

HERE: Final = "tests.model_check.live.controllers"
KINDS: Final = tuple(kind for kind in USUAL if not kind.startswith(("delete", "elect")))
SECONDS: Final = 60.0

KNOW_THE_LEADERS: Final = "eventually_live_brokers_know_the_leaders"
KNOW_EACH_OTHER: Final = "eventually_live_brokers_know_each_other"
BROKEN: Final = {
    "planted_bugs deaf": KNOW_EACH_OTHER,
    "planted_bugs deaf-in-a-multi": KNOW_EACH_OTHER,
    "planted_bugs text-ids": "znodes_can_be_read",
    "planted_bugs no-rack": "requests_can_be_read",
    "planted_bugs other-version": "requests_can_be_read",
    "planted_bugs no-metadata": KNOW_THE_LEADERS,
    "planted_bugs forgets-nobody": "eventually_live_replicas_are_informed",
    "planted_bugs no-stop": "eventually_only_assigned_replicas_have_logs",
    "planted_bugs no-wait": "clean_leaders_were_in_sync",
    "does_nothing": "eventually_partitions_are_led",
    "raises_no_epoch": "eventually_one_working_controller",
    "moves_at_once": "assignments_change_in_order",
    "elects_anybody": "clean_leaders_were_in_sync",
    "ignores_a_fence": "only_the_latest_term_writes",
}
"""Of each bug, a claim that follows from what it is, and that it must break."""


def claims_of(name: str, folder: Path) -> Run:
    """What is said of two such controllers before three brokers."""
    program = command(f"{sys.executable} -m {HERE}.{name} --id {{id}} --zookeeper {{zookeeper}}")
    setup = Setup(3, seed=1, controllers=2, controller=program)
    (claims,) = recorded_and_judged(Task(setup, topics=2, kinds=KINDS, seconds=SECONDS), folder)
    return claims


@pytest.mark.parametrize("name", ["moves", "planted_bugs in-a-multi"])
def test_who_has_no_bug_breaks_nothing(name: str, tmp_path: Path) -> None:
    claims = claims_of(name, tmp_path)
    assert (claims.verdict, claims.reason) == (Verdict.HOLDS, ""), "\n".join(claims.notes)
    assert len(claims.faults) >= 5


@pytest.mark.parametrize("name", BROKEN)
def test_each_bug_is_seen(name: str, tmp_path: Path) -> None:
    claims = claims_of(name, tmp_path)
    assert claims.verdict is Verdict.VIOLATED, "\n".join(claims.notes)
    assert BROKEN[name] in {one.property for one in claims.findings if one.verdict is Verdict.VIOLATED}
