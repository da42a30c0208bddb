"""Each verb ends with each of the exit codes that the README has for it, provoked by a command.

Three of them every verb has: an option is unknown (2), somebody presses Ctrl-C as it prints (3), and what it prints
cannot be written (4). The others are a verb's own.
"""

import io
import json
import shlex
import signal
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from model_check.campaigns.campaign import Campaign
from model_check.checks import coverage
from model_check.cli import campaign, check, conform
from model_check.cli import defects as defects_verb
from model_check.cli.verbs import VERBS, app
from model_check.conformance.vector import FOLDER
from model_check.inventory import accepted as store
from model_check.inventory import inventory_check
from model_check.inventory.system_facts import system_fact
from model_check.verdicts.occurrences import items
from model_check.verdicts.results import plain_document
from model_check.verdicts.verdict import Verdict
from reference.memory import steps as memory_steps
from spec import defects
from spec.defects import Defect
from spec.variants import Switch
from tests.model_check.cli.conftest import Kcheck, built, expectation
from tests.model_check.cli.test_campaign import SMALL, recorded_before
from tests.model_check.cli.test_logs import ILLEGAL
from tests.model_check.cli.test_matrix import PAUSED, RESIGNING
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.documents import run as a_run
from tests.model_check.logs.telling import CHANGES, REPORTS, election, log, written
from tests.model_check.unpacking import RECORDINGS, unpacked

pytestmark = [RECORDINGS, pytest.mark.takes("Each runs a verb from its beginning to its end.")]

README, ROOT = Path(check.__file__).with_name("README.md"), Path(check.__file__).parents[2]
ROWS = README.read_text("utf-8").partition("| verb |")[2].partition("\n\n")[0].splitlines()[2:]
TOLD = {row.split(" | ")[0].strip("| "): [cell.strip(" |") for cell in row.split(" | ")[1:]] for row in ROWS}
"""What the README has of a verb, of 0, 1, and 3 where that is more than Ctrl-C."""

HALF_ACTIVE = "resigned_controllers_are_inactive"
SHORT, NAME = "34-D55-config-lost", "12-D1-epoch-write-delayed"


@dataclass(frozen=True)
class Desk:
    """What a command may find changed before it begins."""

    kcheck: Kcheck
    manifest: dict[str, Any]
    patch: pytest.MonkeyPatch
    here: Path
    facts: dict[str, str]

    def expects_other_states(self) -> None:
        """The manifest expects of `pair` what is not so."""
        self.manifest["pair"]["expect"]["AS_CODED"]["states"] += 1

    def edited(self) -> None:
        """The system of `pair` is not as it was accepted."""
        self.facts["system pair AS_CODED"] = "an older fact"

    def defect(self) -> None:
        """One row of defects, which is as it says."""
        self._defect(expectation("pair")["violated"][HALF_ACTIVE])

    def wrong_defect(self) -> None:
        """One row of defects, which says that its story is longer than it is."""
        self._defect(expectation("pair")["violated"][HALF_ACTIVE] + 1)

    def _defect(self, depth: int) -> None:
        row = Defect("D4", "Half active", HALF_ACTIVE, "pair", depth, frozenset({Switch.RESIGN_CLEANS_UP}))
        self.patch.setattr(defects, "DEFECTS", (row,))
        self.patch.setattr(defects_verb, "DEFECTS", (row,))

    def matrix(self) -> dict[str, Any]:
        """A handler whose matrix is small, of which nothing is expected."""
        entry: dict[str, Any] = {key: dict(value) for key, value in RESIGNING.items()}
        self.manifest["matrix_resigning"] = entry
        return entry

    def expected_matrix(self) -> None:
        """The same, and the manifest expects what comes of it."""
        entry = self.matrix()
        printed = tomllib.loads(self.kcheck(*PAUSED, "--print-expectations").stdout)
        entry["matrix"]["expect"] = printed["scope"]["matrix_resigning"]["matrix"]["expect"]

    def nothing_to_cover(self) -> None:
        """Few rules are asked for, which all occur."""
        some = [item for item in items() if item.name in {"crash", "elect_create"}]
        self.patch.setattr(coverage, "items", lambda: iter(some))

    def crash_forgets(self) -> None:
        """The reference takes a session along with its process."""
        self.patch.setattr(memory_steps, "crash", lambda cluster, *, b: memory_steps.forget(cluster, b))

    def holding(self) -> str:
        """A result that was saved."""
        return self._result(Verdict.HOLDS)

    def violated(self) -> str:
        """Another."""
        return self._result(Verdict.VIOLATED)

    def incomplete(self) -> str:
        """Another."""
        return self._result(Verdict.INCOMPLETE)

    def _result(self, verdict: Verdict) -> str:
        file = self.here / "result.json"
        file.write_text(plain_document("explore", a_run(verdict=verdict)).to_json(), "utf-8")
        return str(file)

    def witness(self) -> str:
        """A trace that was saved, and breaks nothing."""
        return self._trace("the_second_epoch")

    def counterexample(self) -> str:
        """A trace that was saved, and breaks a claim."""
        return self._trace(HALF_ACTIVE)

    def _trace(self, name: str) -> str:
        self.kcheck("explore", "pair", "--traces", str(self.here))
        return str(next(self.here.glob(f"*-{name}.itf.json")))

    def short(self) -> str:
        """A short recording."""
        return str(unpacked(SHORT, self.here))

    def longer(self) -> str:
        """One that takes some search."""
        return str(unpacked(NAME, self.here))

    def recorded(self) -> str:
        """A campaign's runs were recorded before."""
        self.patch.setattr(campaign, "Campaign", partial(Campaign, record=recorded_before))
        return str(self.here / "campaign")

    def claims_of_no_release(self) -> str:
        """A recording in which a known defect is nobody's who is known."""
        folder = unpacked(NAME, self.here)
        members = {"3": {"role": "both", "runs": "kafka 1.1.1", "release": None}}
        (folder / "members.json").write_text(json.dumps(members), "utf-8")
        return str(folder)

    def good_log(self) -> str:
        """What a controller that is elected logs."""
        return str(written(self.here, {CHANGES: log(CHANGES, election(1, 2))}))

    def bad_log(self) -> str:
        """The same, and a move without a row."""
        return str(written(self.here, {CHANGES: log(CHANGES, [*election(1, 2), ILLEGAL])}))

    def idle_log(self) -> str:
        """One in which nobody says anything that is asked about."""
        return str(written(self.here, {REPORTS: log(REPORTS, ["[Controller 7]: Controller startup complete"])}))

    def other_vectors(self) -> str:
        """Vectors, of which one group is lost, and their manifest does not know it."""
        folder = self.here / "vectors"
        folder.mkdir()
        for one in FOLDER.iterdir():
            (folder / one.name).write_bytes(one.read_bytes())
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        del manifest["files"]["fence.jsonl"]
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        (folder / "fence.jsonl").unlink()
        return str(folder)


@pytest.fixture
def desk(kcheck: Kcheck, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    """The small manifest, as it was accepted, and an inventory of its own."""
    facts = {f"system {name} AS_CODED": system_fact(built(name)) for name in ("solo", "pair")}
    monkeypatch.setattr(check, "accepted", lambda: facts)
    monkeypatch.setattr(conform, "read_vectors", lambda: list(VECTORS))
    monkeypatch.setattr(store, "FILE", tmp_path / "inventory.txt")
    monkeypatch.setattr(inventory_check, "term_facts", lambda: iter(()))
    monkeypatch.chdir(tmp_path)
    return Desk(kcheck, manifest, monkeypatch, tmp_path, facts)


PYTHON = shlex.quote(sys.executable)
HELLO_OF_NONE = {"protocol": 1, "name": "shy", "language": "Python", "dialect": "as-coded-0.10.2", "verbs": []}
WRONG = f"{PYTHON} -m tests.model_check.conformance.wrong_adapters 'permits everything'"
SHY = f"""{PYTHON} -c 'print({json.dumps(json.dumps(HELLO_OF_NONE))}, flush=True); input()'"""
BROKEN = expectation("pair")["violated"][HALF_ACTIVE]

CELLS: Mapping[tuple[str, int], tuple[str, ...]] = {
    ("verify", 0): ("verify solo pair",),
    ("verify", 1): ("expects_other_states", "verify pair"),
    ("verify", 3): ("verify solo pair --within 0.001s --fresh",),
    ("check", 0): ("check",),
    ("check", 1): ("edited", "expects_other_states", "check"),
    ("check", 3): ("edited", "check --minutes 0"),
    ("accept", 0): ("accept",),
    ("explain", 0): (f"explain pair --property {HALF_ACTIVE}",),
    ("logs", 0): ("good_log", "logs {}"),
    ("logs", 1): ("bad_log", "logs {}"),
    ("logs", 3): ("idle_log", "logs {}"),
    ("explore", 0): ("explore pair",),
    ("explore", 1): ("expects_other_states", "explore pair"),
    ("explore", 3): ("explore pair --limit 5",),
    ("coverage", 0): ("nothing_to_cover", "coverage --deep"),
    ("coverage", 1): ("coverage",),
    ("enumerate", 0): ("enumerate solo",),
    ("enumerate", 1): ("expects_other_states", "enumerate pair"),
    ("enumerate", 3): ("enumerate pair --limit 5",),
    ("prove", 0): ("prove solo --property epochs_never_go_back",),
    ("prove", 1): (f"prove pair --property {HALF_ACTIVE} --bounded {BROKEN}",),
    ("prove", 3): (f"prove pair --property {HALF_ACTIVE}",),
    ("refine", 0): ("refine solo",),
    ("refine", 1): ("expects_other_states", "refine pair"),
    ("refine", 3): ("refine pair --limit 4",),
    ("simulate", 0): ("simulate pair --runs 2 --steps 20 --seed 4",),
    ("simulate", 1): ("crash_forgets", "simulate pair --seed 4"),
    ("defects", 0): ("defect", "defects D4"),
    ("defects", 1): ("wrong_defect", "defects D4"),
    ("matrix", 0): ("expected_matrix", shlex.join(PAUSED)),
    ("matrix", 1): ("matrix", shlex.join(PAUSED)),
    ("judge", 0): ("short", "judge {} --property leader_epoch_never_goes_back"),
    ("judge", 1): ("claims_of_no_release", "judge {}"),
    ("judge", 3): ("longer", "judge {} --budget 10"),
    ("live", 0): ("live --broker-count 1 --faults 0 --topics 1 --seed 9",),
    ("campaign", 0): ("recorded", f"{shlex.join(SMALL)} --runs 1 --save {{}}"),
    ("conform", 0): ("conform --selftest --self",),
    ("conform", 1): (f"conform --only transition --fail-fast -- {WRONG}",),
    ("conform", 3): (f"conform --selftest -- {SHY}",),
    ("vectors", 0): ("vectors --check --keep-driven",),
    ("vectors", 1): ("other_vectors", "vectors {} --check --keep-driven"),
    ("replay", 0): ("witness", "replay {}"),
    ("replay", 1): ("counterexample", "replay {}"),
    ("export", 0): ("export promela solo",),
    ("show", 0): ("holding", "show results {}"),
    ("show", 1): ("violated", "show results {}"),
    ("show", 3): ("incomplete", "show results {}"),
}
"""A command for each cell of a verb's own, behind what is changed at the desk first."""

ELSEWHERE: Mapping[tuple[str, int], str] = {
    ("diff", 0): "tests/model_check/revisions/test_comparing.py::test_where_nothing_changed_nothing_is_told_but_that",
    ("diff", 1): "tests/model_check/cli/test_diff.py::test_what_changed_is_told_with_the_stories_and_in_reports",
    ("diff", 3): "tests/model_check/revisions/test_comparing.py::test_what_a_limit_cuts_off_is_incomplete",
    ("mutate", 0): "tests/model_check/cli/test_mutate.py::test_a_mutant_of_a_verdict_is_caught_by_its_mirroring_test",
    ("mutate", 1): "tests/model_check/mutation/test_mutating.py::test_what_becomes_of_each_mutant_is_as_it_must_be",
    ("mutate", 3): "tests/model_check/mutation/test_mutating.py::test_ctrl_c_ends_it_with_what_was_found",
    ("live", 1): "tests/model_check/live/test_planted_controllers.py::test_each_bug_is_seen",
    ("live", 3): "tests/model_check/cli/test_live.py::test_ctrl_c_leaves_incomplete_the_recording_and_no_process",
    ("campaign", 1): "tests/model_check/campaigns/test_campaign_report.py::"
    "test_a_broken_claim_of_another_question_leaves_a_run_explained",
    ("campaign", 3): "tests/model_check/campaigns/test_campaign.py::"
    "test_recordings_are_kept_that_are_not_explained_and_all_where_asked",
}
"""The test that comes to the verdict or the code of what takes minutes; each verdict has one code (`EXIT_CODES`)."""

LONG = {
    ("enumerate", 0), ("enumerate", 1), ("enumerate", 3), ("prove", 1), ("refine", 1), ("refine", 3), ("judge", 0),
    ("judge", 3), ("live", 0), ("campaign", 0), ("vectors", 0), ("vectors", 1), ("explain", 0), ("conform", 0),
    ("conform", 1), ("matrix", 0), ("matrix", 1), ("simulate", 0), ("simulate", 1),
}  # fmt: skip
"""What takes more than half a second."""


def line(cell: tuple[str, int], desk: Desk) -> list[str]:
    """The words of a cell's command, once what it needs is prepared."""
    *prepared, text = CELLS[cell]
    given = [str(getattr(desk, name)()) for name in prepared]
    return [given[-1] if word == "{}" else word for word in shlex.split(text)]


def cells(kept: Callable[[tuple[str, int]], bool] = lambda _: True) -> list[Any]:
    """The cells as parameters; those that take long are of a deep run."""
    return [
        pytest.param(one, id=f"{one[0]} {one[1]}", marks=[pytest.mark.slow] * (one in LONG))
        for one in CELLS
        if kept(one)
    ]


def test_each_cell_of_the_readme_is_provoked_and_no_other() -> None:
    assert list(TOLD) == list(VERBS)
    told = {(verb, code) for verb, row in TOLD.items() for code, cell in zip((0, 1, 3), row, strict=True) if _may(cell)}
    assert told == CELLS.keys() | ELSEWHERE.keys()
    assert not CELLS.keys() & ELSEWHERE.keys()
    for file, test in (one.split("::") for one in ELSEWHERE.values()):
        assert f"\ndef {test}(" in (ROOT / file).read_text("utf-8")


def _may(cell: str) -> bool:
    return cell not in ("", "never")


@pytest.mark.parametrize("cell", cells())
def test_a_verb_ends_with_its_code(cell: tuple[str, int], desk: Desk) -> None:
    result = desk.kcheck(*line(cell, desk))
    assert result.exit_code == cell[1], f"{result.stdout[-1000:]}{result.stderr[-1000:]}"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_is_2(verb: str, kcheck: Kcheck) -> None:
    result = kcheck(verb, "--no-such-option")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


class Pressing(io.StringIO):
    """Standard output, on which nothing is printed before somebody presses Ctrl-C."""

    def write(self, text: str) -> int:
        """Press it; then print."""
        signal.raise_signal(signal.SIGINT)
        return super().write(text)


def ended(arguments: list[str], into: io.TextIOBase) -> object:
    """The exit code of a command that prints into something."""
    with redirect_stdout(into), pytest.raises(SystemExit) as end:
        app(arguments, prog_name="kcheck")
    return end.value.code


@pytest.mark.parametrize("cell", cells(lambda one: one[1] == 0))
def test_ctrl_c_as_it_prints_is_3(cell: tuple[str, int], desk: Desk) -> None:
    """A verb that has put all away by then has its verdict; no other says that anything holds."""
    assert ended(line(cell, desk), Pressing()) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here, which is full")
@pytest.mark.parametrize("cell", cells(lambda one: one[1] == 0))
def test_what_cannot_be_printed_is_4(cell: tuple[str, int], desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = line(cell, desk)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert ended(arguments, full) == 4
    assert "kcheck: no space is left for what is written; " in capsys.readouterr().err
