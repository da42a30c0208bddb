"""Kafka 0.10.2.2 where somebody writes other replicas into topics' znodes by hand: what comes of it is explained."""

from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpack
from model_check.live.live_run import judged
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED
from tests.model_check.unpacking import replaced

ARCHIVE = Path(__file__).parents[2] / "data" / "kafka-edited.tar.xz"
MOVED = {"what_is_told_is_no_older_than_what_was_ordered", "caches_keep_up_with_their_requests"}
"""What every move breaks (D18)."""
OUTSIDE = {"isr_is_within_assigned", "eventually_only_assigned_replicas_have_logs"}
"""What a replica breaks that was taken away by hand, and that nobody stops (D73)."""


def broken(run: Run) -> set[str]:
    """The claims that a run breaks."""
    return {one.property for one in run.findings if one.verdict is Verdict.VIOLATED}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "observations", "told", "found"),
    [
        # After two failovers the leader still takes no fetch of the replica that was added (D73-fetch).
        pytest.param("edited-fewer", 858, set(), {
            *OUTSIDE, "leaders_are_assigned", "eventually_only_assigned_replicas_lead",
            "eventually_live_replicas_are_in_sync",
        }, marks=pytest.mark.slow),
        # Step 1 of a move writes back what was taken away, and what was taken away of the other topic (D73-move).
        ("edited-move", 457, {"assignments_change_in_order"}, {*OUTSIDE, "assignments_change_in_order"}),
    ],
)  # fmt: skip
def test_all_of_it_is_explained_and_what_it_breaks_is_known(
    tmp_path: Path, name: str, observations: int, told: set[str], found: set[str]
) -> None:
    unpack(ARCHIVE, tmp_path)
    claims, search = judged(tmp_path / name, AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == observations
    assert broken(search) == MOVED | found
    assert broken(claims) == {"what_is_told_is_no_older_than_what_was_ordered"} | told
    rows = {note.rpartition(" ")[2] for note in claims.notes if "known defect" in note}
    assert rows == {"D18)"} | {"D73-move)" for _ in told}
    assert (claims.verdict, search.verdict) == (Verdict.HOLDS, Verdict.HOLDS)


@pytest.mark.slow
@pytest.mark.takes("What explains most of 457 observations is looked for.")
def test_a_controller_that_has_heard_of_an_edit_is_not_explained(tmp_path: Path) -> None:
    """Step 1 writes RAR and the AR that somebody has written, not the one that the controller knows."""
    unpack(ARCHIVE, tmp_path)
    path = tmp_path / "edited-move" / "zookeeper.jsonl"
    change = replaced(r"{\"0\":[3,2,4,1]}", r"{\"0\":[3,2,4]}")
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    search = judged(tmp_path / "edited-move", AS_CODED)[1]
    assert search.explained is not None
    assert search.explained.explained < search.explained.observations
    assert "zookeeper.jsonl:56" in {one.place for one in search.explained.next}
