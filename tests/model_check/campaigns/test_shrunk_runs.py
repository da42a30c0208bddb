"""Shrinking the runs of a campaign: with a cluster that shows something whenever the guilty faults are there."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.campaign_folder import opened
from model_check.campaigns.judge_process import JudgeProcess
from model_check.campaigns.plan import Plan
from model_check.campaigns.shrunk_runs import shrink_runs
from model_check.live.live_faults import faults_in
from model_check.live.live_run import Task
from model_check.live.live_setup import Setup
from model_check.live.reference_program import reference
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from tests.model_check.campaigns.stand_in_runs import NEXT, PART, Cluster, campaign, judged_run, plan
from tests.model_check.faulty_broker import FAULT

ALL = (1, 2, 3, 4)
COMMAND = "kcheck live --only kill-broker --only lag --seed 7"


def shrunk(path: Path, cluster: Cluster, seconds: float = 60, **options: Any) -> tuple[Run, ...]:
    """What is said after a campaign of one run, and its shrinking."""
    with campaign(path, cluster, plan(runs=1), **options) as one:
        one.make_runs()
        return one.document(shrink_runs(one, seconds)).runs


def test_what_is_not_needed_is_left_out_and_the_smallest_recording_kept(tmp_path: Path) -> None:
    """The observation is made after 3.5 s: in fault 3."""
    cluster = Cluster(guilty=frozenset({1, 3}))
    _, made = shrunk(tmp_path, cluster)
    assert (made.engine, made.scope, made.verdict) == ("shrink", "seed-7", Verdict.INCOMPLETE)
    tried = [*3 * [(1, 2, 3)], *3 * [()], *3 * [(2, 3)], *3 * [(1, 3)], *3 * [(3,)], *3 * [(1,)]]
    assert [faults for _, faults in cluster.recorded] == [ALL, *tried]
    assert [one.partition(" ")[0] for one in made.faults] == ["1", "3"]
    assert made.reason == "shown again in 3 of 3 tries with 2 faults, found in 18 runs:"
    again = f"to judge it again: kcheck judge {tmp_path / 'seed-7-shrunk'}"
    assert made.notes == (again, f"{COMMAND} --play 1 --play 3")
    assert [one.number for one in faults_in(tmp_path / "seed-7-shrunk")] == [1, 3]
    assert [one.number for one in faults_in(tmp_path / "seed-7")] == list(ALL)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "campaign.json", "seed-7", "seed-7-shrunk", "seed-7-shrunk.json", "seed-7.json",
    ]  # fmt: skip


def test_what_needs_no_fault_is_shrunk_to_none(tmp_path: Path) -> None:
    _, made = shrunk(tmp_path, Cluster(guilty=frozenset()))
    assert (made.faults, made.notes[1]) == ((), f"{COMMAND} --faults 0")
    assert made.reason == "shown again in 3 of 3 tries with 0 faults, found in 6 runs:"


class Moody(Cluster):
    """Shows it in the first run, and then as is foretold."""

    def __init__(self, foretold: str) -> None:
        super().__init__(guilty=frozenset())
        self.foretold = iter(f"y{foretold}")

    def judge(self, folder: Path, *_: Any) -> list[Run]:
        self.guilty = frozenset() if next(self.foretold, "n") == "y" else None
        return super().judge(folder, frozenset())


def test_what_is_not_shown_again_is_not_shrunk(tmp_path: Path) -> None:
    """Neither by the faults up to the observation (1 of 4), nor by all (0 of 3)."""
    cluster = Moody("ynnnnnn")
    _, made = shrunk(tmp_path, cluster)
    assert (made.reason, made.faults, made.notes) == ("not shown again: 0 of 3 tries", (), ())
    assert len(cluster.recorded) == 1 + 4 + 3
    assert not (tmp_path / "seed-7-shrunk").exists()


def test_three_of_five_tries_are_enough(tmp_path: Path) -> None:
    """Then nothing shows it any more, neither no fault at all, nor any two, nor one less."""
    _, made = shrunk(tmp_path, Moody("ynyny"))
    assert made.reason.startswith("shown again in 3 of 5 tries with 3 faults, ")
    assert [one.number for one in faults_in(tmp_path / "seed-7-shrunk")] == [1, 2, 3]


def test_another_unexplained_observation_is_not_the_same(tmp_path: Path) -> None:
    class Other(Cluster):
        def judge(self, folder: Path, *_: Any) -> list[Run]:
            text = NEXT.text if len(self.recorded) == 1 else "something else"
            return [judged_run(folder.name, replace(PART, next=(replace(NEXT, text=text),)))]

    _, made = shrunk(tmp_path, Other())
    assert made.reason == "not shown again: 0 of 3 tries"


@pytest.mark.parametrize("error", [OSError("no space"), RuntimeError("a broker of the reference failed")])
def test_a_try_that_fails_shows_nothing(tmp_path: Path, error: Exception) -> None:
    class Failing(Cluster):
        def record(self, *arguments: Any) -> str:
            super().record(*arguments)
            if len(self.recorded) > 1:
                raise error
            return ""

    _, made = shrunk(tmp_path, Failing(guilty=frozenset()))
    assert made.reason == "not shown again: 0 of 3 tries"


def test_where_the_time_is_over_the_smallest_so_far_is_told(tmp_path: Path) -> None:
    cluster = Cluster(guilty=frozenset({3}))
    _, made = shrunk(tmp_path, cluster, stop=lambda: len(cluster.recorded) == 12)
    assert made.reason.endswith(
        "3 of 3 tries with 3 faults, found in 11 runs; there was no time to leave out more:"
    ) or (made.reason.endswith("3 of 3 tries with 2 faults, found in 11 runs; there was no time to leave out more:"))


def test_what_there_was_no_time_for_is_taken_up_by_the_same_command(tmp_path: Path) -> None:
    _, made = shrunk(tmp_path, Cluster(guilty=frozenset()), seconds=-1)
    assert made.reason == "not shrunk yet: the time ended after 0 runs; the same command goes on"
    assert not (tmp_path / "seed-7-shrunk.json").exists()
    again = Cluster(guilty=frozenset())
    assert len(shrunk(tmp_path, again)) == 2
    assert len(again.recorded) == 6, "the run itself is not made again"
    assert len(shrunk(tmp_path, third := Cluster())) == 2
    assert third.recorded == []


def test_runs_that_are_explained_are_not_shrunk(tmp_path: Path) -> None:
    cluster = Cluster()
    assert len(shrunk(tmp_path, cluster)) == 1
    assert len(cluster.recorded) == 1


@pytest.mark.slow
def test_a_broker_with_a_fault_in_it_is_shrunk_to_what_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that keeps the epoch is seen at the first fail-over; that of a broker that follows shows nothing."""
    monkeypatch.setenv(FAULT, "keep_the_controller_epoch")
    setup = Setup(2, seed=3, broker=reference("tests.model_check.faulty_broker"))
    task = Task(setup, topics=1, faults=4, kinds=("kill-broker", "kill-controller"))
    with opened(tmp_path, which := Plan(task, 1)) as folder, closing(JudgeProcess()) as elsewhere:
        one = Campaign(which, folder, elsewhere)
        one.make_runs()
        shrink_runs(one, 600)
        runs = one.document().runs
    (made,) = (run for run in runs if run.reason.startswith("shown again"))
    assert [fault.partition(" ")[2] for fault in made.faults] == ["kill-controller"]
    assert made.reason.startswith("shown again in 3 of 3 tries with 1 fault, ")


def test_a_try_is_a_task_of_the_same_seed_with_some_faults(tmp_path: Path) -> None:
    tasks: list[Task] = []

    class Noting(Cluster):
        def record(self, task: Task, folder: Path, stop: Callable[[], bool], tell: Any) -> str:
            tasks.append(task)
            return super().record(task, folder, stop, tell)

    shrunk(tmp_path, Noting(guilty=frozenset({2})))
    assert {one.title for one in tasks} == {"seed-7"}
    assert tasks[1] == replace(tasks[0], plays=(1, 2, 3))
