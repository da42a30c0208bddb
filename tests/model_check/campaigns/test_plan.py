"""What a campaign runs, and the commands that say so."""

from dataclasses import replace

from model_check.campaigns.plan import judge_command
from tests.model_check.campaigns.stand_in_runs import plan


def test_each_seed_has_a_task_alike_but_for_the_seed() -> None:
    tasks = list(plan().tasks)
    assert [one.title for one in tasks] == ["seed-7", "seed-8", "seed-9"]
    assert {(one.faults, one.kinds, one.topics, one.plays) for one in tasks} == {(4, ("kill-broker", "lag"), 1, None)}
    assert plan().task(8, (2, 3)).plays == (2, 3)


def test_a_campaign_is_the_same_with_more_runs() -> None:
    assert plan().command == "kcheck campaign --only kill-broker --only lag --faults 4 --seed 7"
    assert plan(runs=9).command == plan().command
    assert plan(seed=8).command != plan().command != plan(faults=5).command
    assert replace(plan(), beside="--save c").command == plan().command


def test_the_command_that_goes_on_names_the_folder_and_the_number_of_runs() -> None:
    assert plan().command_again == f"{plan().command} --runs 3"
    assert replace(plan(), beside="--save 'my runs' --keep").command_again == (
        f"{plan().command} --runs 3 --save 'my runs' --keep"
    )


def test_the_command_of_a_small_run_names_its_faults() -> None:
    assert plan().live_command(8, (2, 5)) == "kcheck live --only kill-broker --only lag --seed 8 --play 2 --play 5"
    assert plan().live_command(8, ()) == "kcheck live --only kill-broker --only lag --seed 8 --faults 0"


def test_the_command_that_judges_again_pastes_into_a_shell() -> None:
    assert judge_command("runs/a b/seed-7", "AS_CODED") == "kcheck judge 'runs/a b/seed-7'"
    assert judge_command("seed-7", "FENCED") == "kcheck judge seed-7 --variant FENCED"
