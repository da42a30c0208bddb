"""`kcheck judge`: a recording is explained or not, and says so in text, in JSON and in its exit code."""

import json
import re
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from model_check import two_questions
from model_check.cli.verbs import app
from model_check.judging.broken_claims import BrokenClaims
from model_check.judging.positions import Position
from model_check.judging.search import Search
from model_check.live import live_run
from model_check.recordings.reading import read
from model_check.recordings.recording import Recording
from model_check.verdicts.results import from_json
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED
from tests.model_check.cli.conftest import Bars
from tests.model_check.unpacking import RECORDINGS, changed, judged_before, recorded, recording, replaced, unpacked

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"


@pytest.fixture
def judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording as it is was read and judged before."""

    def read_before(folder: Path, *given: Any) -> Recording:
        return recorded(NAME) if folder == recording(NAME) else read(folder, *given)

    monkeypatch.setattr(two_questions, "read", read_before)
    monkeypatch.setattr(two_questions, "judge", judged_before)


def kcheck(*arguments: str) -> Result:
    """A command line on the shipped manifest."""
    return CliRunner().invoke(app, list(arguments))


def test_what_is_known_to_break_is_told_and_passes(bars: Bars) -> None:
    result = kcheck("judge", str(recording(NAME)))
    assert result.exit_code == 0, result.stderr
    first, _, claims, *lines = result.stdout.splitlines()
    assert first == "kcheck judge: HOLDS"
    assert claims == f"{NAME} AS_CODED (claims): HOLDS"
    searched_from = lines.index(f"{NAME} AS_CODED (judge): HOLDS")
    known = [one.split()[2] for one in lines[:searched_from] if one.startswith("  VIOLATED")]
    assert known == ["who_acts_has_raised_the_epoch", "one_term_acts_in_an_epoch"]
    findings, notes = lines[searched_from + 1 : searched_from + 3], lines[searched_from + 3 :]
    assert [one.split()[:3] for one in findings] == [
        ["VIOLATED", "step", "one_term_acts_in_an_epoch"],
        ["VIOLATED", "always", "the_dead_are_not_in_sync"],
    ]
    assert all(one.endswith("in every explanation found") for one in findings)
    assert any(re.match(r"  (\d+) of \1 observations explained by ", one) for one in notes)
    ((titles, done, of),) = bars.told
    searched = [one for one in notes if " positions searched" in one]
    assert titles[0] == f"{NAME} AS_CODED"
    assert f"{NAME} AS_CODED: {searched[0].split()[0]} positions" in titles
    assert titles[-1] == f"{NAME} AS_CODED: claims of explanation 10 of 10"
    assert done == of


@pytest.mark.slow
@pytest.mark.usefixtures("judged_once")
def test_with_the_fix_on_it_is_unexplained_and_shows_where() -> None:
    result = kcheck("judge", str(recording(NAME)), "--with", "RESIGN_ON_EPOCH_CONFLICT")
    assert result.exit_code == 1  # no exploration of this variant is known to break what the prefix does
    title = f"{NAME} AS_CODED+RESIGN_ON_EPOCH_CONFLICT (judge): VIOLATED: not explained: no behaviour shows this; "
    assert title in result.stdout
    best = re.search(r"  best: (\S+) of (\S+) observations, reached after (\S+) of (\S+) positions\n", result.stdout)
    assert best
    explained, observations, after, positions = (int(one.replace(",", "")) for one in best.groups())
    assert 0 < explained < observations
    assert 0 < after < positions
    assert f"  {explained} of {observations} observations explained by " in result.stdout
    assert "What was observed next, in each sequence:\n    broker-3/controller.log:7: [Controller 3]: Controller 3" in (
        result.stdout
    )
    assert "\n    resign_delete(c=3)\n" in result.stdout


@pytest.mark.usefixtures("judged_once")
def test_a_chosen_property_is_told_of_alone_broken_or_not() -> None:
    broken, kept = "one_term_acts_in_an_epoch", "leader_epoch_never_goes_back"
    result = kcheck("judge", str(recording(NAME)), "--property", kept, "--property", broken)
    assert result.exit_code == 0, result.stderr
    claims, _, searched = result.stdout.partition("(judge): ")
    told = [line.split()[:3] for line in searched.splitlines() if line.startswith(("  VIOLATED", "  HOLDS"))]
    assert told == [["VIOLATED", "step", broken], ["HOLDS", "step", kept]]
    assert f"  VIOLATED   step        {broken}  broken 1 of 3 times" in claims
    assert f"  1 of 2 claims hold: {kept}\n" in claims


@pytest.mark.usefixtures("judged_once")
def test_a_page_of_a_recording_tells_what_else_could_have_happened_where_a_claim_breaks(tmp_path: Path) -> None:
    page, saved = tmp_path / "judge.html", tmp_path / "judge.json"
    reports = [f"--report=html={page}", f"--report=json={saved}"]
    result = kcheck("judge", str(recording(NAME)), *reports)
    assert result.exit_code == 0, result.stderr
    assert "Possible as step" not in result.stdout
    choices = from_json(saved.read_text("utf-8"), "judge.json").runs[1].choices
    assert choices
    heads = re.findall("<h2>What could be done at step ([0-9]+)</h2>", page.read_text("utf-8"))
    assert heads == [str(one.step) for one in choices]


@pytest.mark.usefixtures("judged_once")
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nope", "kcheck: no property is called 'nope'"),
        ("a_topic_is_gone", f"kcheck: a_topic_is_gone is not asked of {NAME}: what can happen is no claim about"),
    ],
)
def test_a_property_that_is_not_claimed_is_bad_input(name: str, complaint: str) -> None:
    result = kcheck("judge", str(recording(NAME)), "--property", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(complaint)


@pytest.mark.usefixtures("judged_once")
@pytest.mark.parametrize("name", ["requests_can_be_read", "only_doomed_partitions_are_told_to_be_removed"])
def test_where_nothing_of_what_was_chosen_happened_nothing_holds(name: str) -> None:
    """Its brokers wrote down no frames, and no topic is deleted in it; neither is asked of a search."""
    result = kcheck("judge", str(recording(NAME)), "--property", name)
    assert (result.exit_code, "(judge)" in result.stdout) == (3, False)
    assert f"{NAME} AS_CODED (claims): INCOMPLETE: none of the claims was asked\n" in result.stdout
    assert f"  not asked, since nothing of it happened: {name}\n" in result.stdout


@pytest.mark.usefixtures("judged_once")
@pytest.mark.parametrize(
    ("names", "engine", "reason"),
    [
        (("deletion_threads_live",), "judge", "none of the claims was asked"),
        (("deletion_threads_live", "leader_epoch_never_goes_back"), "judge", "not all that was chosen was asked"),
        (("requests_can_be_read", "leader_epoch_never_goes_back"), "claims", "not all that was chosen was asked"),
    ],
)
def test_where_not_all_that_was_chosen_could_be_asked_nothing_holds(
    names: tuple[str, ...], engine: str, reason: str
) -> None:
    """By either question: the other one may hold."""
    chosen = [word for name in names for word in ("--property", name)]
    result = kcheck("judge", str(recording(NAME)), *chosen)
    assert result.exit_code == 3
    assert f"{NAME} AS_CODED ({engine}): INCOMPLETE: {reason}\n" in result.stdout


@pytest.mark.usefixtures("judged_once")
def test_a_chosen_claim_that_holds_says_that_its_occasion_never_came() -> None:
    name = "isr_is_within_assigned"
    result = kcheck("judge", str(recording(NAME)), "--property", name)
    assert f"  it never happened that a broker leaves an AR, for which these are: {name}\n" in result.stdout


@pytest.mark.slow
def test_where_unlikely_moves_are_left_to_try_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_check.judging.search.AT_LAST", 1)
    result = kcheck("judge", str(recording(NAME)), "--with", "RESIGN_ON_EPOCH_CONFLICT")
    assert "VIOLATED: not explained: no likely behaviour shows this, nor an unlikely one yet; " in result.stdout


@pytest.mark.usefixtures("judged_once")
def test_the_story_tells_every_step_and_where_it_was_recorded() -> None:
    result = kcheck("judge", str(recording(NAME)), "--story")
    assert "   1. broker 1: A broker process starts with a session of its own" in result.stdout
    assert "        seen: recorded at zookeeper.jsonl:2\n" in result.stdout


@pytest.mark.usefixtures("judged_once")
def test_reports_have_the_whole_story_with_the_steps_that_break_a_claim_and_the_text_has_not(tmp_path: Path) -> None:
    file = tmp_path / "judged.json"
    printed = kcheck("judge", str(recording(NAME)), "--report", f"json={file}").stdout
    assert printed == kcheck("judge", str(recording(NAME))).stdout
    _, judged = from_json(file.read_text("utf-8"), file.name).runs
    assert judged.story is not None
    assert len(judged.story.steps) == judged.story.length
    first = {one.property: re.findall(r"first at step (\d+)", one.reason) for one in judged.findings}
    broken = {name: [str(step.number)] for step in judged.story.steps for name in step.breaks}
    possibly = {one.property for one in judged.findings if "possibly" in one.reason}
    assert broken == {name: steps for name, steps in first.items() if name not in possibly}
    assert broken


@pytest.mark.slow
@pytest.mark.usefixtures("judged_once")
def test_several_recordings_are_one_document(tmp_path: Path) -> None:
    change = replaced('"path": "/controller_epoch", "data": "2"', '"path": "/controller_epoch", "data": "3"')
    lie = changed(NAME, tmp_path, "zookeeper.jsonl", change)
    result = kcheck("judge", str(recording(NAME)), str(lie), "--json")
    document = from_json(result.stdout, "stdout")
    of_claims, searched = document.runs[::2], document.runs[1::2]
    assert [run.verdict for run in searched] == [Verdict.HOLDS, Verdict.INCOMPLETE]
    assert [run.verdict for run in of_claims] == [Verdict.HOLDS, Verdict.VIOLATED]
    assert (result.exit_code, json.loads(result.stdout)["exit_code"]) == (1, 1)
    assert searched[1].reason.startswith("not explained: ")
    assert any(note.startswith("best: ") for note in searched[1].notes)
    broken = [
        one.property for one in of_claims[1].findings if one.verdict is Verdict.VIOLATED and one.expected == "HOLDS"
    ]
    assert "each_election_raises_the_epoch_by_one" in broken


@pytest.mark.usefixtures("judged_once")
def test_one_that_is_malformed_is_an_error_and_the_others_are_judged(tmp_path: Path) -> None:
    torn = changed(NAME, tmp_path, "zookeeper.jsonl", lambda text: text + "{torn")
    result = kcheck("judge", str(torn), str(recording(NAME)), "--json")
    document = from_json(result.stdout, "stdout")
    assert [run.verdict for run in document.runs] == [Verdict.ERROR, Verdict.HOLDS, Verdict.HOLDS]
    assert re.match(rf"{torn}/zookeeper.jsonl: line \d+: not JSON", document.runs[0].reason)
    assert (result.exit_code, json.loads(result.stdout)["exit_code"]) == (2, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("judged_once")
def test_a_recording_that_is_not_explained_is_worse_than_one_that_is_malformed(tmp_path: Path) -> None:
    result = kcheck("judge", str(tmp_path), str(recording(NAME)), "--with", "RESIGN_ON_EPOCH_CONFLICT")
    assert f"(judge): ERROR: {tmp_path} is no recording: it has no zookeeper.jsonl\n" in result.stdout


def test_ctrl_c_leaves_incomplete_with_what_was_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    enter = Search._enter

    def pressed_at_the_tenth(self: Any, before: Any, position: Any) -> Any:
        node = enter(self, before, position)
        if self.positions == 10:
            signal.raise_signal(signal.SIGINT)
        return node

    monkeypatch.setattr(Search, "_enter", pressed_at_the_tenth)
    result = kcheck("judge", str(recording(NAME)), str(recording(NAME)))
    assert result.exit_code == 3
    assert "(judge): INCOMPLETE: interrupted; no explanation found among 10 positions" in result.stdout
    assert "(judge): INCOMPLETE: interrupted before it began" in result.stdout
    assert re.search(r"  [1-9]\d* of \d+ observations explained by \d steps", result.stdout)


@pytest.mark.slow
def test_ctrl_c_while_claims_are_asked_tells_what_is_broken_until_then_and_nothing_for_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the other explanations break is open then."""
    plain, asked = BrokenClaims._broken_at, list[Position]()

    def pressed_at_the_hundredth(self: BrokenClaims, position: Position) -> frozenset[str]:
        asked.append(position)
        if len(asked) == 100:
            signal.raise_signal(signal.SIGINT)
        return plain(self, position)

    monkeypatch.setattr(BrokenClaims, "_broken_at", pressed_at_the_hundredth)
    result = kcheck("judge", str(recording(NAME)))
    assert result.exit_code == 3
    reason = "interrupted; the claims were asked of 99 of 152 steps of explanation 1 of 10"
    assert f"{NAME} AS_CODED (judge): INCOMPLETE: {reason}\n" in result.stdout
    assert len(asked) == 100
    broken = re.findall("  VIOLATED +(?:always|step) +([a-z_]+) +(?:once|.* times),.*; possibly: ", result.stdout)
    assert broken == ["one_term_acts_in_an_epoch", "the_dead_are_not_in_sync"]


def test_a_budget_that_is_too_small_leaves_it_incomplete() -> None:
    result = kcheck("judge", str(recording(NAME)), "--budget", "10")
    assert result.exit_code == 3
    assert "no explanation found among 11 positions; --budget allows more" in result.stdout


def test_a_torn_end_is_told(tmp_path: Path) -> None:
    folder = changed(NAME, tmp_path, "broker-3/state-change.log", lambda text: text[:-20])
    number = (folder / "broker-3/state-change.log").read_text(encoding="utf-8").count("\n") + 1
    result = kcheck("judge", str(folder), "--budget", "10")
    place = f"broker-3/state-change.log:{number}"
    assert f"  {place} is torn: a process was killed there, and what it wrote last is cut off\n" in result.stdout


def test_a_member_that_writes_what_nobody_can_read_breaks_a_claim_also_where_it_claims_a_release(
    tmp_path: Path,
) -> None:
    """Its id in /controller is text; no other claim makes a recording that cannot be read a violation."""
    as_text = partial(re.compile(r'\\"brokerid\\":(\d)').sub, r"\"brokerid\":\"\1\"")
    folder = changed(NAME, tmp_path, "zookeeper.jsonl", as_text)
    result = kcheck("judge", str(folder))
    assert result.exit_code == 1
    assert "  VIOLATED   always      znodes_can_be_read " in result.stdout
    place = re.search(r"(zookeeper.jsonl:\d+): broker 1 wrote /controller so that nobody can read it", result.stdout)
    assert place is not None
    unread = f'{place[1]}: /controller: brokerid: expected a whole number, found "1"'
    assert f"  not searched for a behaviour of the specification: {unread}\n" in result.stdout
    (lived,) = live_run.judged(folder, AS_CODED)
    assert (lived.verdict, lived.engine) == (Verdict.VIOLATED, "claims")
    other = kcheck("judge", str(folder), "--property", "leader_epoch_never_goes_back")
    assert (other.exit_code, other.stderr) == (2, f"kcheck: {unread}\n")


def test_logs_are_read_as_those_of_the_release_that_is_given() -> None:
    result = kcheck("judge", str(recording(NAME)), "--release", "0.9.0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.match(r"kcheck: broker-1/\S+\.log:\d+: no line of Kafka 0\.9\.0: expected ", result.stderr)
    result = kcheck("judge", str(recording(NAME)), "--release", "1.1.1")
    assert result.exit_code == 2
    assert result.stderr.startswith("kcheck: no release is called '1.1.1'")


def test_the_cluster_below_the_chroot_that_is_given_is_judged() -> None:
    result = kcheck("judge", str(recording(NAME)), "--chroot", "/kafka")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kcheck: --chroot: no cluster is recorded below /kafka (there are: /)\n"
    result = kcheck("judge", str(recording(NAME)), "--chroot", "kafka")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kcheck: --chroot: 'kafka' is no path of a znode, such as /kafka, or / for the root\n"
    result = kcheck("judge", str(recording(NAME)), "--chroot", "/", "--property", "who_acts_has_raised_the_epoch")
    assert result.exit_code == 0, result.stderr


def test_what_somebody_of_no_documented_release_did_is_not_searched_and_nothing_is_excused(tmp_path: Path) -> None:
    stranger = {"role": "both", "runs": "kafka 1.1.1", "release": None}
    folder = unpacked(NAME, tmp_path)
    (folder / "members.json").write_text(json.dumps({"3": stranger}), encoding="utf-8")
    result = kcheck("judge", str(folder))
    assert result.exit_code == 1  # to a release of Kafka, D1 would be excused
    assert f"\n{NAME} (claims): VIOLATED\n" in result.stdout
    assert "(as in the known defect D1)" in result.stdout
    reason = "broker 3 claims no release of 0.8.2 to 0.10.2"
    assert f"  not searched for a behaviour of the specification: {reason}\n" in result.stdout
    assert "(judge)" not in result.stdout


def test_a_folder_without_a_recording_is_bad_input(tmp_path: Path) -> None:
    result = kcheck("judge", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kcheck: {tmp_path} is no recording: it has no zookeeper.jsonl\n"
