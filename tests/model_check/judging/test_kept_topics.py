"""Kafka 0.10.1.1 where topics are not deleted: requests for it stay, and a failover tells that the topics are gone."""

from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpack
from model_check.live.live_run import judged
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

ARCHIVE = Path(__file__).parents[2] / "data" / "kafka-kept-topics.tar.xz"


@pytest.mark.slow
def test_all_of_it_is_explained_and_what_it_breaks_is_known(tmp_path: Path) -> None:
    """PROTOCOL.md D71: nobody hears of the requests, and from the next failover on brokers forget the topics."""
    unpack(ARCHIVE, tmp_path)
    claims, search = judged(tmp_path / "kept-topics", AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == 583
    broken = {one.property for one in search.findings if one.verdict is Verdict.VIOLATED}
    assert broken == {
        "eventually_deletions_complete", "topics_that_stay_are_not_told_to_be_removed", "the_dead_are_not_in_sync",
    }  # fmt: skip
    assert {one.property for one in claims.findings if one.verdict is Verdict.VIOLATED} == {
        "eventually_deletions_complete", "eventually_live_brokers_know_the_leaders",
    }  # fmt: skip
    rows = {note.rpartition(" ")[2] for note in claims.notes if "known defect" in note}
    assert rows == {"D71)", "D71-request)"}
    assert (claims.verdict, search.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
