"""The loop of a campaign, with a cluster that only writes down its faults."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.campaign_folder import opened
from model_check.verdicts.results import Document, Run
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput
from tests.model_check.campaigns.stand_in_runs import Cluster, campaign, plan

ALL = (1, 2, 3, 4)


def made(path: Path, cluster: Cluster, **options: Any) -> Document:
    with campaign(path, cluster, **options) as one:
        one.make_runs()
        return one.document()


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


def test_runs_that_are_explained_leave_their_results(tmp_path: Path) -> None:
    cluster = Cluster()
    found = made(tmp_path, cluster)
    assert (found.verdict, found.exit_code) == (Verdict.HOLDS, 0)
    assert cluster.recorded == [(7, ALL), (8, ALL), (9, ALL)]
    assert [(one.scope, len(one.faults), sorted(one.seconds or ())) for one in found.runs] == [
        (f"seed-{seed}", 4, ["judge", "record"]) for seed in (7, 8, 9)
    ]
    assert names(tmp_path) == ["campaign.json", "seed-7.json", "seed-8.json", "seed-9.json"]


def test_recordings_are_kept_that_are_not_explained_and_all_where_asked(tmp_path: Path) -> None:
    found = made(tmp_path / "a", Cluster(guilty=frozenset({1})), which=plan(runs=1))
    assert (found.verdict, found.exit_code) == (Verdict.INCOMPLETE, 3)
    assert names(tmp_path / "a") == ["campaign.json", "seed-7", "seed-7.json"]
    assert found.runs[0].notes[0] == f"to judge it again: kcheck judge {tmp_path / 'a/seed-7'}"
    made(tmp_path / "b", Cluster(), which=plan(runs=1), keeps_all=True)
    assert names(tmp_path / "b") == ["campaign.json", "seed-7", "seed-7.json"]


def test_a_run_that_cannot_be_recorded_is_told_and_made_again_next_time(tmp_path: Path) -> None:
    found = made(tmp_path, Cluster(absent=frozenset({8})))
    assert [one.verdict for one in found.runs] == [Verdict.HOLDS, Verdict.ERROR, Verdict.HOLDS]
    assert found.runs[1].reason == "within 30 s not: there is a controller; is the machine overloaded?"
    assert found.exit_code == 4
    again = Cluster()
    assert made(tmp_path, again).verdict is Verdict.HOLDS
    assert again.recorded == [(8, ALL)]


def test_a_recording_that_cannot_be_read_is_told_and_kept(tmp_path: Path) -> None:
    class Unreadable(Cluster):
        def judge(self, folder: Path, *_: Any) -> list[Run]:
            raise BadInput(f"{folder.name}/state-change.log:3: no line of Kafka")

    found = made(tmp_path, Unreadable(), which=plan(runs=1))
    assert (found.exit_code, found.runs[0].reason) == (4, "seed-7/state-change.log:3: no line of Kafka")
    assert (tmp_path / "seed-7/actions.jsonl").exists()
    again = Cluster()
    assert made(tmp_path, again, which=plan(runs=1)).exit_code == 4
    assert again.recorded == []


def test_the_same_command_goes_on_where_it_was(tmp_path: Path) -> None:
    first = Cluster()
    found = made(tmp_path, first, stop=lambda: len(first.recorded) == 1)
    assert found.verdict is Verdict.INCOMPLETE
    assert [one.scope for one in found.runs] == [""]
    assert found.runs[-1].reason == "interrupted; 0 of 3 runs were made"
    assert found.runs[-1].notes == (f"the same command goes on: {plan().command} --runs 3",)
    assert not list(tmp_path.glob("under-way-*"))
    made(tmp_path, second := Cluster(), which=plan(runs=1))
    assert second.recorded == [(7, ALL)]
    whole = made(tmp_path, third := Cluster())
    assert third.recorded == [(8, ALL), (9, ALL)]
    assert [one.scope for one in whole.runs] == ["seed-7", "seed-8", "seed-9"]


class Late:
    """Gives answers only when asked to: at most two recordings may wait for theirs."""

    def __init__(self) -> None:
        self.given: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        one: Future[Any] = Future()
        self.given.append((one, lambda: fn(*args)))
        return one

    def answer(self) -> None:
        one, call = self.given.pop(0)
        one.set_result(call())


@pytest.mark.slow
def test_one_run_is_recorded_while_the_one_before_is_judged(tmp_path: Path) -> None:
    cluster, late = Cluster(), Late()
    waiting: list[tuple[int, int]] = []

    def stop() -> bool:
        """Asked in every loop that waits: the judge answers only when the recorder has come to wait for it."""
        waiting.append((len(cluster.recorded), len(late.given)))
        if late.given and waiting[-3:] == 3 * waiting[-1:]:
            late.answer()
        return False

    with opened(tmp_path, plan()) as folder:
        Campaign(plan(), folder, late, cluster.record, cluster.judge, stop=stop).make_runs()
    assert (1, 1) in waiting, "the second was begun while the first waited to be judged"
    assert max(given for _, given in waiting) == 2
    assert names(tmp_path) == ["campaign.json", "seed-7.json", "seed-8.json", "seed-9.json"]


def test_a_judge_that_is_killed_is_told_and_its_recording_kept(tmp_path: Path) -> None:
    class Dying(Late):
        def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:  # noqa: ARG002 - it does nothing
            one: Future[Any] = Future()
            one.set_exception(BrokenProcessPool())
            return one

    cluster, which = Cluster(), plan(runs=1)
    with opened(tmp_path, which) as folder:
        one = Campaign(which, folder, Dying(), cluster.record, cluster.judge)
        one.make_runs()
        found = one.document()
    assert found.runs[0].reason == "the process that judged it was killed (for memory, as a rule)"
    assert (tmp_path / "seed-7").exists()


def test_it_tells_how_many_runs_are_over_and_what_is_done(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    made(tmp_path, Cluster(), which=plan(runs=1), tell=lambda over, what: told.append((over, what)))
    made(tmp_path, Cluster(), which=plan(runs=2), tell=lambda over, what: told.append((over, what)))
    assert told == [(0, "seed-7: start"), (1, "seed-8: start")]


def test_a_run_that_ended_early_does_not_hold(tmp_path: Path) -> None:
    class Early(Cluster):
        def record(self, *arguments: Any) -> str:
            super().record(*arguments)
            return "broker 2 ended by itself"

    found = made(tmp_path, Early(), which=replace(plan(), runs=1))
    assert found.runs[0].verdict is Verdict.INCOMPLETE
    assert found.runs[0].reason == "the run ended early: broker 2 ended by itself"
