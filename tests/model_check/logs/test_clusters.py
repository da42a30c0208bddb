"""Several logs together: what only all of them tell, and whose clocks may be held against each other."""

from pathlib import Path

import pytest

from model_check.logs.answers import AT_ONCE, LATEST, ONE_TERM
from model_check.logs.judging import judge_logs
from model_check.verdicts.results import Run
from tests.model_check.logs.telling import ACTS, CHANGES, breaks, broken, election, log, obedience, told, written


def test_several_brokers_logs_tell_of_two_controllers_in_one_epoch(tmp_path: Path) -> None:
    acts = {broker: [ACTS.format(broker, 4)] * 3 for broker in (1, 2)}
    one = log(CHANGES, [ACTS.format(1, 3)]) + log(CHANGES, acts[1], since=5)
    other = log(CHANGES, [*obedience(2, 1, 3, 0)], since=1) + log(CHANGES, acts[2], since=6)
    files = {f"broker-1/{CHANGES}": one, f"broker-2/{CHANGES}": other}
    (by_clocks,) = judge_logs([written(tmp_path / "a", files)])
    third = log(CHANGES, [line for broker in (1, 2, 1) for line in obedience(3, broker, 4, 0)], since=5)
    (seen,) = judge_logs([written(tmp_path / "b", {**files, f"broker-3/{CHANGES}": third})])
    assert breaks(by_clocks) == {ONE_TERM: [f"{CHANGES}:3"]}  # each may have been set
    assert breaks(seen) == {ONE_TERM: [f"{CHANGES}:3"], AT_ONCE: [f"{CHANGES}:3"]}


@pytest.mark.parametrize("names", [(f"1/{CHANGES}", f"2/{CHANGES}"), (CHANGES, CHANGES)])
def test_who_has_an_epoch_a_day_after_another_controller_has_it_of_another_ensemble(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """No controller pauses for so long between reading the epoch and raising it."""
    files = dict[str, str]()
    one = [ACTS.format(1, 3), *[ACTS.format(1, 4)] * 3]
    other = [*obedience(2, 1, 3, 0), *[ACTS.format(2, 4)] * 3]
    for name, lines, since in zip(names, (one, other), (0, 20 * 3600), strict=True):
        files[name] = files.get(name, "") + log(CHANGES, lines, since=since)
    (run,) = judge_logs([written(tmp_path, files)])
    assert breaks(run) == {}


def test_two_clusters_of_the_same_topics_and_days_are_not_held_against_each_other(tmp_path: Path) -> None:
    """Their logs look like those of one cluster; but no controller is known to both, or one broker is in both."""
    acts = {broker: log(CHANGES, [ACTS.format(broker, 4)] * 3, since=broker) for broker in (1, 2)}
    (strangers,) = judge_logs([written(tmp_path / "a", {f"{one}/{CHANGES}": text for one, text in acts.items()})])
    obeyed = {one: log(CHANGES, [*obedience(9, 9, 3, 0), *obedience(9, one, 4, 1)] * 2) for one in (1, 2)}
    (namesakes,) = judge_logs([written(tmp_path / "b", {f"{one}/{CHANGES}": text for one, text in obeyed.items()})])
    assert breaks(strangers) == breaks(namesakes) == {}
    assert any(note.startswith("broker 9 writes logs in b/1 and in b/2, ") for note in namesakes.notes)


def test_logs_of_two_days_are_held_against_each_other_day_by_day(tmp_path: Path) -> None:
    """On the second day there is another ensemble; on the first, two controllers had one epoch."""
    files = dict[str, str]()
    for day, epoch in enumerate((4, 5)):
        one = log(CHANGES, [ACTS.format(1, 3)]) + log(CHANGES, [ACTS.format(1, 4)] * 3, since=5)
        other = log(CHANGES, obedience(2, 1, 3, 0), since=1) + log(CHANGES, [ACTS.format(2, epoch)] * 3, since=6)
        files |= {f"{day}/1/{CHANGES}": one, f"{day}/2/{CHANGES}": other}
    (run,) = judge_logs([written(tmp_path, files)])
    (d1,) = told(run, ONE_TERM)
    assert d1.startswith(f"{tmp_path.name}/0/2/{CHANGES}:3: controller 2 has epoch 4, which is controller 1's")


def test_of_different_clusters_nothing_is_held_against_each_other(tmp_path: Path) -> None:
    """They share neither days nor topics."""
    files = {"a.log": log("state-change.log", [ACTS.format(1, 4)] * 3)}
    files["b.log"] = log("state-change.log", [ACTS.format(2, 4).replace("[t,0]", "[other,0]")] * 3)
    files["c.log"] = log("state-change.log", [ACTS.format(3, 4)] * 3, since=10 * 86_400)
    runs = judge_logs([written(tmp_path, files)])
    assert len(runs) == 3
    assert not any(map(broken, runs))


def _overlapping(tmp_path: Path, late: float, once: float, *, since: bool = True, back: bool = False) -> Run:
    """Controller 2 has epoch 5; broker 1 obeys that `once` seconds later by its clock; then 1 has 6, and 2 goes on.

    At last 1 has 7, which broker 2 obeys as much later as it did once; if anything is told `since`. The clock of broker
    2 was set `back` once, or not.
    """
    first = log(CHANGES, [ACTS.format(2, 5)], since=0) + log(CHANGES, election(2, 5), since=100 + late, step=0.1)
    second = log(CHANGES, obedience(1, 2, 5, 1), since=once) + log(CHANGES, [ACTS.format(1, 6)] * 2, since=100)
    third = log(CHANGES, obedience(2, 1, 4, 0), since=-200) + first
    fourth = log(CHANGES, [ACTS.format(1, 4)], since=-200 - once) + second
    if back:
        third = log(CHANGES, ["Broker 2 truncated logs"], since=-150) + third
    if since:
        third += log(CHANGES, obedience(2, 1, 7, 2), since=100_000)
        fourth += log(CHANGES, [ACTS.format(1, 7)], since=100_000 - once)
    files = {f"broker-2/{CHANGES}": third, f"broker-1/{CHANGES}": fourth}
    (run,) = judge_logs([written(tmp_path, files)])
    return run


def test_a_zombie_is_told_by_clocks_only_as_far_as_they_can_be_compared(tmp_path: Path) -> None:
    """Broker 2's clock is at most half a second ahead of broker 1's: so much after it had the epoch, 2 obeyed it."""
    assert breaks(_overlapping(tmp_path / "a", late=2, once=0.5)) == {LATEST: [f"{CHANGES}:4"]}
    assert breaks(_overlapping(tmp_path / "b", late=0.2, once=0.5)) == {}
    assert breaks(_overlapping(tmp_path / "c", late=20 * 3600, once=0.5)) == {}
    assert breaks(_overlapping(tmp_path / "d", late=2, once=0.5, since=False)) == {}  # it may have been set
    assert breaks(_overlapping(tmp_path / "e", late=2, once=0.5, back=True)) == {}
