"""The faults of a seed: each keeps its number, its kind and what it draws when others are left out."""

import json
from itertools import islice
from pathlib import Path
from random import Random
from unittest.mock import MagicMock

import pytest

from model_check.live import live_run
from model_check.live.fault_kinds import FAULTS, FIRST, USUAL, drawn
from model_check.live.live_faults import Fault, chance, chosen_faults, faults_in
from model_check.live.live_run import Task
from model_check.live.live_setup import Setup

KINDS = tuple(FAULTS)


def test_the_faults_of_a_seed_are_numbered_from_1() -> None:
    first = list(chosen_faults(7, KINDS, None, len(KINDS)))
    assert [number for number, _ in first] == [*range(1, len(KINDS) + 1)]
    assert sorted(kind for _, kind in first) == sorted(KINDS)
    assert first == list(islice(chosen_faults(7, KINDS, None, None), len(KINDS)))


def test_whoever_is_left_out_changes_no_other() -> None:
    every = dict(chosen_faults(7, KINDS, None, 40))
    assert list(chosen_faults(7, KINDS, (2, 5, 33), 1)) == [(2, every[2]), (5, every[5]), (33, every[33])]
    assert list(chosen_faults(7, KINDS, (), 9)) == []
    assert dict(chosen_faults(8, KINDS, None, 40)) != every


@pytest.mark.parametrize("seed", range(20))
def test_each_round_begins_with_all_that_there_is_to_be_done(seed: int) -> None:
    every = list(islice(drawn(Random(seed), USUAL), 2 * len(USUAL)))
    for begun in (0, len(USUAL)):
        kinds = every[begun : begun + len(USUAL)]
        assert {*kinds[: len(FIRST)]} == {*FIRST}
        assert sorted(kinds) == sorted(USUAL)


def test_the_first_ones_come_in_another_order_each_time() -> None:
    assert len({tuple(islice(drawn(Random(seed), USUAL), len(FIRST))) for seed in range(20)}) == 20


def played(plays: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[str, float]]:
    """Of each fault that a run without a cluster makes: its kind, and what it draws first."""
    cluster, scenario = MagicMock(), MagicMock()
    drawn: list[float] = []
    scenario.settle.side_effect = lambda: drawn.append(scenario.random.random())
    monkeypatch.setattr(live_run, "Scenario", lambda *_: scenario)
    task = Task(Setup(3, seed=7), faults=6, kinds=("kill-broker", "lag", "stop-broker"), plays=plays)
    live_run._play(task, cluster, lambda _number, _what: None)
    begun = [call.kwargs for call in cluster.act.call_args_list if "number" in call.kwargs]
    return {one["number"]: (one["kind"], number) for one, number in zip(begun, drawn, strict=True)}


def test_a_run_of_some_faults_does_what_the_run_of_all_does(monkeypatch: pytest.MonkeyPatch) -> None:
    every = played(None, monkeypatch)
    assert list(every) == [1, 2, 3, 4, 5, 6]
    assert len({draw for _, draw in every.values()}) == 6
    assert played((2, 5), monkeypatch) == {2: every[2], 5: every[5]}
    assert every[2][1] == chance(7, 2).random()


def test_a_recording_tells_its_faults(tmp_path: Path) -> None:
    acts = [
        {"ms": 1, "action": "seed", "seed": 7},
        {"ms": 2, "action": "note", "number": 1, "kind": "lag", "text": "lag: a follower"},
        {"ms": 3, "action": "note", "text": "the run ended early"},
        {"ms": 4, "action": "note", "number": 3, "kind": "pause", "text": "pause: a broker"},
    ]
    assert faults_in(tmp_path) == ()
    (tmp_path / "actions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in acts), encoding="utf-8")
    assert faults_in(tmp_path) == (Fault(1, "lag", 2), Fault(3, "pause", 4))
    assert [str(one) for one in faults_in(tmp_path)] == ["1 lag", "3 pause"]
