"""`kcheck mutate`: what it lists, refuses, and finds."""

from pathlib import Path

import pytest

from model_check.verdicts.results import from_json
from tests.model_check.cli.conftest import Kcheck

FILE = "model_check/verdicts/verdict.py"


def test_mutants_are_listed_with_their_lines_and_nothing_is_asked(kcheck: Kcheck) -> None:
    result = kcheck("mutate", FILE, "--list", "--like", "worst")
    told = "worst: max(verdicts, key=order.index, default=Verdict.HOLDS)"
    assert result.exit_code == 0
    where = {line.partition(":")[0] for line in result.stdout.splitlines()}
    assert where == {FILE}
    assert sorted(line.partition(" ")[2] for line in result.stdout.splitlines()) == [
        f"{told} -> {told.partition(' ')[2].replace('max', 'min')}",
        f"worst: return {told.partition(' ')[2]} -> return None",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tests"], "no module of spec, reference, model_check is there"),
        ([FILE, "--like", "nowhere"], "'nowhere' is in its title"),
        ([FILE, "--list", "--json"], "leave --json out"),
        ([FILE, "--list", "--report", "json=a.json"], "leave --report out"),
        ([FILE, "--sample", "0"], "--sample"),
    ],
)
def test_bad_usage_is_told(kcheck: Kcheck, words: list[str], said: str) -> None:
    result = kcheck("mutate", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.slow
def test_a_mutant_of_a_verdict_is_caught_by_its_mirroring_test(kcheck: Kcheck, tmp_path: Path) -> None:
    file = tmp_path / "mutants.json"
    result = kcheck("mutate", FILE, "--like", "-> min(", "--report", f"json={file}")
    assert result.exit_code == 0, result.output
    (run,) = from_json(file.read_text("utf-8"), "mutants.json").runs
    (found,) = run.findings
    assert found.reason.startswith("caught: tests/model_check/verdicts/test_verdict.py::")
    assert result.stdout.startswith("kcheck mutate: HOLDS: 1 of 1 mutants asked about\n")
