"""Results that are kept: found under their key, and not taken for another's, nor if anything is wrong with them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from model_check.reuse.kept_results import OF_EACH, KeptResults
from model_check.reuse.reusable import Reusable
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict

CHECK = Reusable("explorer", "tiny", "AS_CODED", 0, partial(list[Run]))
RUN = Run(
    "explorer", "tiny", "AS_CODED", Verdict.HOLDS, comparisons=(Comparison("states", "1", "1", Verdict.HOLDS),),
    fired={"crash": 1}, seconds={"check": 1.5},
)  # fmt: skip


@pytest.fixture
def kept(tmp_path: Path) -> KeptResults:
    """An empty folder of results."""
    return KeptResults(tmp_path / "results")


def test_a_result_is_found_under_its_key_and_under_no_other(kept: KeptResults) -> None:
    assert not kept.has_any(CHECK)
    kept.put(CHECK, "key", [RUN, RUN])
    assert kept.has_any(CHECK)
    found = kept.get(CHECK, "key")
    assert found is not None
    assert found.runs == (RUN, RUN)
    assert kept.get(CHECK, "another key") is None
    other = replace(CHECK, variant="FENCED")
    assert not kept.has_any(other)
    assert kept.get(other, "key") is None


@pytest.mark.parametrize("verdict", [one for one in Verdict if one is not Verdict.HOLDS])
def test_only_what_is_as_expected_is_kept(kept: KeptResults, verdict: Verdict) -> None:
    kept.put(CHECK, "key", [RUN, replace(RUN, verdict=verdict)])
    kept.put(CHECK, "key", [])
    assert not kept.has_any(CHECK)


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda _: b"",
    lambda content: content[:-1],
    lambda content: content[:40],
    lambda content: content.replace(b"HOLDS", b"holds"),
    lambda content: content.replace(b"tiny", b"tinz"),
    lambda content: b"0" * 32 + content[32:],
    lambda content: content + b" ",
    lambda _: b"\xff\n\xff",
    lambda _: b"[" * 100_000,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_counts_as_none(kept: KeptResults, damage: Callable[[bytes], bytes]) -> None:
    kept.put(CHECK, "key", [RUN])
    (file,) = kept.folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert kept.get(CHECK, "key") is None
    kept.put(CHECK, "key", [RUN])
    assert kept.get(CHECK, "key") is not None


def test_an_entry_of_another_key_counts_as_none(kept: KeptResults) -> None:
    """As if somebody had put the file of one result in the place of another's."""
    kept.put(CHECK, "key", [RUN])
    (mine,) = kept.folder.iterdir()
    kept.put(CHECK, "another", [RUN])
    (foreign,) = set(kept.folder.iterdir()) - {mine}
    foreign.replace(mine)
    assert kept.get(CHECK, "key") is None


def test_of_one_check_only_the_latest_results_are_kept(kept: KeptResults) -> None:
    for number in range(OF_EACH + 3):
        kept.put(CHECK, f"key {number}", [RUN])
    kept.put(replace(CHECK, scope="small"), "key", [RUN])
    assert len(list(kept.folder.iterdir())) == OF_EACH + 1
    assert kept.get(CHECK, f"key {OF_EACH + 2}") is not None


def test_where_nothing_can_be_written_nothing_is_kept() -> None:
    kept = KeptResults(Path("/proc/nowhere"))
    kept.put(CHECK, "key", [RUN])
    assert kept.get(CHECK, "key") is None
