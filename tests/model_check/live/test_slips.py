"""The reference with a slip, under the kind of fault that gives it the occasion: each is seen, and named by its claim.

`test_planted_controllers.py` leaves the faults to the scenario; all of these kinds come in its first two minutes.
"""

import sys
from pathlib import Path
from typing import Final

import pytest

from model_check.live.command_program import Agreed, command
from model_check.live.fault_kinds import FIRST
from model_check.live.live_run import Task, recorded_and_judged
from model_check.live.live_setup import Setup
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from reference.live.outside import STARTED
from tests.model_check.live.controllers.slips import SLIPS

IN_SYNC, KNOW_THE_LEADERS = "clean_leaders_were_in_sync", "eventually_live_brokers_know_the_leaders"
KNOW_EACH_OTHER = "eventually_live_brokers_know_each_other"
SEEN: Final = {
    "prefers_whoever_lives": ("elect-lag", IN_SYNC),
    "prefers_the_dead": ("elect-lag", IN_SYNC),
    "elects_uncleanly": ("lag-kill", IN_SYNC),
    "empties_the_isr": ("lag-kill", "isr_is_not_empty"),
    "hides_the_leaderless": ("lag-kill", KNOW_THE_LEADERS),
    "announces_nobody": ("kill-many", KNOW_EACH_OTHER),
    "names_no_leaders": ("add", "leaders_come_with_their_end_points"),
    "calls_the_isr_replicas": ("lag-kill", "what_is_told_has_the_assigned_replicas"),
    "deaf_to_deaths": ("kill-many", KNOW_EACH_OTHER),
    "keeps_notifications": ("elect-lag", "eventually_announcements_are_taken"),
    "keeps_isrs_to_itself": ("elect-lag", "eventually_announced_isrs_are_known"),
    "lets_everybody_go": ("shutdown", "who_stops_in_order_leads_nothing"),
    "deletes_without_the_dead": ("delete-without", "eventually_only_assigned_replicas_have_logs"),
}
"""Of each slip, the kind of fault that shows it, and a claim that follows from what it is."""


def claims_of(slip: str, kind: str, folder: Path) -> Run:
    """What is said of two such controllers before three brokers, after that kind of fault twice."""
    words = "--broker {id} --role controller --zookeeper {zookeeper} --port {port} --folder {folder}"
    module = "tests.model_check.live.controllers.slips"
    program = command(f"{sys.executable} -m {module} {slip} {words}", Agreed(up_when=STARTED))
    setup = Setup(3, seed=1, controllers=2, controller=program)
    (claims,) = recorded_and_judged(Task(setup, topics=2, faults=2, kinds=(kind,)), folder)
    return claims


def test_each_slip_has_a_kind_of_fault_that_comes_in_a_short_run() -> None:
    assert SEEN.keys() == SLIPS.keys()
    assert {kind for kind, _ in SEEN.values()} <= {*FIRST}


@pytest.mark.slow
@pytest.mark.takes("A cluster is run, and something is done to it twice.")
@pytest.mark.parametrize("slip", SEEN)
def test_each_slip_is_seen(slip: str, tmp_path: Path) -> None:
    kind, claim = SEEN[slip]
    claims = claims_of(slip, kind, tmp_path)
    assert claims.verdict is Verdict.VIOLATED, "\n".join(claims.notes)
    assert claim in {one.property for one in claims.findings if one.verdict is Verdict.VIOLATED}
