"""Which checks `kcheck verify` makes, and how: its options, and what was verified before."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import exploration
from model_check.inventory import sources
from model_check.reuse import reuse
from model_check.verdicts.results import Document, from_json
from model_check.verdicts.verdict import Verdict
from tests.model_check.cli.conftest import Kcheck, expectation


def verdicts(kcheck: Kcheck, *arguments: str) -> dict[str, Verdict]:
    document = from_json(kcheck("verify", *arguments, "--json").stdout, "stdout")
    return {f"{run.engine} {run.scope}".strip(): run.verdict for run in document.runs}


@pytest.fixture
def kept(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kcheck:
    """`kcheck` with an empty cache folder, which keeps results although the manifest is not that of the file."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    for module in (reuse, sources):
        monkeypatch.setattr(module, "are_as_loaded", lambda: True)
    return kcheck


def verified(kcheck: Kcheck, *arguments: str) -> Document:
    return from_json(kcheck("verify", "solo", "pair", *arguments, "--json").stdout, "stdout")


def made_earlier(document: Document) -> list[str]:
    return [run.scope for run in document.runs if run.made]


# ------------------------------------------------------------------------------------------- what was verified before


def test_what_did_not_change_is_not_verified_again_and_the_first_line_says_so(
    kept: Kcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = verified(kept)
    assert made_earlier(first) == []
    with monkeypatch.context() as patched:
        patched.setattr(exploration, "run", lambda *_: pytest.fail("explored again"))
        again = verified(kept)
        line = kept("verify", "solo", "pair").stdout.splitlines()[0]
    assert made_earlier(again) == ["solo", "pair"]
    assert [run.comparisons for run in again.runs] == [run.comparisons for run in first.runs]
    assert re.search(r"in 2 runs; 2 of 2 unchanged since \d{4}-\d\d-\d\d \d\d:\d\d UTC$", line)


def test_fresh_verifies_all_again(kept: Kcheck) -> None:
    verified(kept)
    assert made_earlier(verified(kept, "--fresh")) == []


def test_another_expectation_of_one_scope_verifies_that_scope_again(kept: Kcheck, manifest: dict[str, Any]) -> None:
    verified(kept)
    states = expectation("pair")["states"]
    manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "states": states + 1}
    again = verified(kept)
    assert made_earlier(again) == ["solo"]
    assert again.verdict is Verdict.VIOLATED
    assert made_earlier(verified(kept)) == ["solo"], "what is not as expected is not kept"


# -------------------------------------------------------------------------------------------------- which checks, how


def test_only_some_kinds(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    manifest["pair"]["prove"] = {"AS_CODED": {}}
    assert verdicts(kcheck, "pair", "--only", "explore") == {"explorer pair": Verdict.HOLDS}
    assert set(verdicts(kcheck, "pair", "--only", "explore,prove")) == {"explorer pair", "induction pair"}
    refused = kcheck("verify", "--only", "everything")
    assert refused.exit_code == 2
    assert "--only knows no 'everything'" in refused.stderr


def test_shares_are_all_checks_together(kcheck: Kcheck) -> None:
    shares = [verdicts(kcheck, "solo", "pair", "--shard", f"{number}/2") for number in (1, 2)]
    assert [len(share) for share in shares] == [1, 1]
    assert {**shares[0], **shares[1]} == verdicts(kcheck, "solo", "pair")
    assert kcheck("verify", "--shard", "3/2").exit_code == 2


def test_fail_fast_begins_nothing_after_what_is_not_as_expected(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    states = expectation("pair")["states"]
    manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "states": states + 1}
    manifest["solo"]["expect"]["AS_CODED"] = {**expectation("solo"), "states": 1}
    found = verified(kcheck, "--fail-fast", "--jobs", "1")
    (broken,) = [run for run in found.runs if run.verdict is Verdict.VIOLATED]
    (other,) = [run for run in found.runs if run is not broken]
    assert (other.verdict, found.exit_code) == (Verdict.INCOMPLETE, 1)
    assert other.reason == f"not begun, for explorer {broken.scope} AS_CODED was not as expected (--fail-fast)"


def test_what_is_not_begun_in_time_is_incomplete(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    real = exploration.run

    def takes_six_minutes(task: exploration.Task) -> Any:
        now[0] += 360
        return real(task)

    monkeypatch.setattr(exploration, "run", takes_six_minutes)
    found = verified(kcheck, "--within", "5m", "--jobs", "1")
    (late,) = [run for run in found.runs if run.verdict is not Verdict.HOLDS]  # the dearer one, by earlier runs
    assert (len(found.runs), late.verdict) == (2, Verdict.INCOMPLETE)
    assert late.reason == "not begun, for the 300 seconds were over (--within)"
    assert found.exit_code == 3
    now[0] = 0
    assert verified(kcheck, "--within", "7m", "--jobs", "1").verdict is Verdict.HOLDS
    assert kcheck("verify", "--within", "soon").exit_code == 2


def test_each_check_is_a_line_as_it_ends(kcheck: Kcheck) -> None:
    said = kcheck("verify", "solo", "pair").stderr.splitlines()
    pattern = r" +\d+\.\d s  explorer (solo|pair) AS_CODED: as expected  \[(1 left|the last)\]"
    assert [bool(re.fullmatch(pattern, line)) for line in said] == [True, True]
