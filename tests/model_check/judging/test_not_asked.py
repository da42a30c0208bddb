"""Each claim is asked of a recording, or has its reason: none is forgotten."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.judging.explaining import Explainer
from model_check.judging.judgement_report import run_of
from model_check.judging.not_asked import OF_KINDS, UNSEEN, WITHOUT, not_asked, unsearched, why_not_asked
from model_check.judging.shipped_recordings import unpack
from model_check.monitors.check import CLAIMS, MONITORED
from model_check.recordings.reading import read
from model_check.stepping.open_system import JUDGED
from model_check.two_questions import Question, claims_run
from model_check.verdicts.rendering import not_asked_lines
from spec.formats.kafka_types import V0101, V0102
from spec.language.rules import Claim
from spec.properties import claims
from spec.scopes import BUDGETS
from spec.variants import AS_CODED
from tests.model_check.unpacking import RECORDINGS, judged, recorded, recording

pytestmark = RECORDINGS

DATA = Path(__file__).parents[2] / "data"
ALWAYS_IN = JUDGED | set(BUDGETS)
"""What every recording is judged by."""
ALL = {one.name for one in claims()}


def names(reasoned: Iterable[str]) -> list[str]:
    assert all(one.endswith(")") and " (" in one for one in reasoned)
    return [one.partition(" (")[0] for one in reasoned]


@given(st.sets(st.sampled_from(sorted(WITHOUT))))
def test_what_is_asked_speaks_only_of_what_is_shown_and_all_else_has_its_reason(shown: set[str]) -> None:
    features = ALWAYS_IN | shown
    asked = {one.name for one in claims() if not why_not_asked(one, features)}
    for one in claims():
        assert (one.name in asked) == (one.kind not in OF_KINDS and one.parts <= features)
    assert asked | {*names([*not_asked(features)])} == ALL
    assert asked.isdisjoint(names([*not_asked(features)]))


@pytest.mark.parametrize("one", list(claims()), ids=lambda one: one.name)
def test_a_claim_is_not_asked_where_a_part_lacks_that_it_is_about(one: Claim) -> None:
    """Also of what nobody has a row for."""
    everything = ALWAYS_IN.union(*(each.parts for each in claims()))
    for part in one.parts:
        assert why_not_asked(one, everything - {part})


def test_whatever_a_recording_shows_every_claim_about_what_happened_is_asked_by_one_of_the_questions() -> None:
    """But for those about a broker's delayed operations."""
    never = [one for one in claims() if why_not_asked(one, ALWAYS_IN | WITHOUT.keys() - {"delayed_operations"})]
    left = [one for one in never if one.kind not in OF_KINDS and one.name not in MONITORED]
    assert {one.parts for one in left} == {frozenset({"delayed_operations"})}
    assert len(left) == 4 + 2 + 1  # always, step, eventually


def test_where_no_behaviour_is_searched_for_all_that_is_not_monitored_has_its_reason() -> None:
    assert names([*unsearched()]) == [one.name for one in claims()]
    run = claims_run(recording("12-D1-epoch-write-delayed"), Question(), None)
    asked = {one.property for one in run.findings}
    assert asked | set(names(run.not_asked)) == ALL | {one.name for one in CLAIMS}
    assert f"no_failover_fails_on_left_overs ({UNSEEN})" in run.not_asked


def test_a_judged_recording_tells_of_each_claim_that_was_not_asked_in_lines_that_fit_a_screen() -> None:
    found = judged("12-D1-epoch-write-delayed")
    run = run_of(recorded("12-D1-epoch-write-delayed"), found, "AS_CODED")
    assert {one.name for one in found.asked} | set(names(run.not_asked)) == ALL
    told = [*not_asked_lines(run.not_asked)]
    assert len(told) <= 22
    assert "caches_get_no_older_leadership" in {one.name for one in found.asked}


def test_the_caches_are_searched_in_the_order_of_the_one_release_that_all_are_of(tmp_path: Path) -> None:
    """A failover of 0.10.1 sends all of the metadata last (PROTOCOL.md section 14, row 17)."""
    unpack(DATA / "kafka-other-releases.tar.xz", tmp_path)
    older = read(tmp_path / "release-0.10.1.1")
    mixed = replace(older, releases={**older.releases, 1: V0102})
    reason = f"caches_get_no_older_leadership ({WITHOUT['cached_leaderships']})"
    asked = [reason not in [*not_asked(Explainer(one, AS_CODED).model.features)] for one in (older, mixed)]
    assert (older.release, mixed.release, asked) == (V0101, None, [True, False])
    assert "caches_get_no_older_leadership" in MONITORED
