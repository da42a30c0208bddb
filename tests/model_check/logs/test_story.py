"""The story of logs, as reports have it: epochs as bands, brokers that obey, and each break where its line is."""

import json
from pathlib import Path

from model_check.logs.answers import FORWARD, ROWS
from model_check.logs.judging import judge_logs
from model_check.logs.story import MOST
from model_check.reports.html import report as html
from model_check.reports.sarif import report as sarif
from model_check.reports.timeline import Span, timeline
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Document, Story, plain_document
from tests.model_check.logs.telling import CHANGES, REPORTS, election, log, obedience, written

RAISED = [
    "[Controller 1]: Initialized controller epoch to 3 and zk version 2",
    "[Controller 1]: Controller 1 incremented epoch to 4",
]
ILLEGAL = "Controller 1 epoch 4 changed partition [t,{}] state from NewPartition to NonExistentPartition"


def judged(folder: Path) -> Document:
    """Controller 1 has epoch 4, and moves twice where no row leads; broker 2 obeys it, and then controller 2 has 5."""
    files = {
        f"broker 1/{REPORTS}": log(REPORTS, [*RAISED, "[Controller 1]: Broker 1 resigned as the controller"], step=5),
        f"broker 1/{CHANGES}": log(CHANGES, [ILLEGAL.format(0), ILLEGAL.format(1)], since=6),
        f"broker 2/{CHANGES}": log(CHANGES, [*obedience(2, 1, 4, 1), *election(2, 5)], since=8, step=3),
    }
    return plain_document("logs", *judge_logs([written(folder / "x", files)], whole=True))


def story_in(document: Document) -> Story:
    """The one story."""
    (run,) = document.runs
    assert run.story is not None
    return run.story


def test_a_story_has_who_had_which_epoch_who_obeyed_and_what_is_broken_in_the_order_of_times(tmp_path: Path) -> None:
    steps = story_in(judged(tmp_path)).steps
    assert [(one.actor, one.statement.split(";")[0], one.breaks) for one in steps if not one.breaks] == [
        ("controller 1", "has epoch 4", ()),
        ("controller 1", "resigns, in epoch 4", ()),
        ("broker 2", "obeys controller 1 in epoch 4", ()),
        ("controller 2", "has epoch 5", ()),
        ("controller 2", "is named in epoch 5 for the last time", ()),
    ]
    assert [(one.actor, one.source, one.breaks) for one in steps if one.breaks] == [
        ("controller 1", f"x/broker 1/{CHANGES}:1", (ROWS,)),
        ("controller 1", f"x/broker 1/{CHANGES}:2", (ROWS,)),
    ]
    assert [one.action for one in steps] == sorted(one.action for one in steps)


def test_its_time_line_has_a_band_for_each_epoch_and_lanes_for_who_takes_part(tmp_path: Path) -> None:
    drawn = timeline(story_in(judged(tmp_path)))
    assert drawn.lanes == ("zookeeper", "controller 1", "controller 2", "broker 2")
    assert drawn.epochs == (Span("controller 1", 1, 4, "4", ends=True), Span("controller 2", 6, 7, "5", ends=True))
    assert [(one.row, one.lane, one.kind) for one in drawn.operations] == [(1, "controller 1", "write")]
    page = html(judged(tmp_path))
    assert page.count('<circle class="breaks"') == 2


def test_an_increment_that_failed_is_drawn_so(tmp_path: Path) -> None:
    """Its line is printed nevertheless (D1)."""
    d1 = [RAISED[0], RAISED[1].replace("epoch to 4", "epoch to 3")]
    document = plain_document("logs", *judge_logs([written(tmp_path, {REPORTS: log(REPORTS, d1)})], whole=True))
    assert [(one.kind, one.fails) for one in timeline(story_in(document)).operations] == [("write", True)]
    assert [one.fails for one in timeline(story_in(judged(tmp_path / "good"))).operations] == [False]


def test_sarif_has_a_result_for_each_line_that_breaks_a_claim(tmp_path: Path) -> None:
    (log_,) = json.loads(sarif(judged(tmp_path)))["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in log_["results"]]
    assert [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in places] == [
        (f"x/broker%201/{CHANGES}", 1), (f"x/broker%201/{CHANGES}", 2),
    ]  # fmt: skip
    assert len({one["partialFingerprints"]["claimOfRun/v1"] for one in log_["results"]}) == 2
    assert all("no row leads so" in one["message"]["text"] for one in log_["results"])


def test_on_a_screen_the_notes_have_it_and_it_is_told_once(tmp_path: Path) -> None:
    assert text(judged(tmp_path)).count("no row leads so") == 2
    (run,) = judge_logs([tmp_path / "x"])
    assert run.story is None


def test_of_a_long_story_the_last_steps_are_told(tmp_path: Path) -> None:
    moves = [ILLEGAL.format(0).replace("epoch 4", f"epoch {one}") for one in range(1, MOST)]
    (run,) = judge_logs([written(tmp_path, {CHANGES: log(CHANGES, moves, step=0.01)})], whole=True)
    assert run.story is not None
    assert (run.story.length, len(run.story.steps)) == (2 * (MOST - 1) + 100, MOST)  # 100 breaks of a claim are kept
    assert not [one for one in run.findings if one.property == FORWARD and one.verdict != "HOLDS"]
