"""SPIN agrees with the oracle and with what was counted by hand, on every count."""

import shutil
from pathlib import Path

import pytest

from model_check.explicit_state.promela import SpinError, export, promela_source, run_spin
from spec.language.rules import Leaf, Shape, TransitionSystem, action, require
from spec.language.terms import FLAG
from spec.scopes import scope
from spec.system import system
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, Counts, build, each, lamps, odometer, odometer_counts
from tests.model_check.terms.test_c_code import swapper

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None,
    reason="spin and gcc are not both on the PATH (apt-get install spin gcc)",
)


@needs_spin
@pytest.mark.parametrize(("one", "counts"), EXPECTED.values(), ids=EXPECTED)
def test_spin_counts_what_was_counted_by_hand(one: TransitionSystem, counts: Counts, tmp_path: Path) -> None:
    found = run_spin(one, tmp_path, table=16)
    assert (found.states, found.transitions) == (counts.states, counts.transitions)


@needs_spin
def test_updates_are_simultaneous_and_wide_values_are_kept_whole(tmp_path: Path) -> None:
    # (1,5) and (5,1), a step from each to the other; one value after the other would give (1,5), (5,5) and stay.
    found = run_spin(swapper(64), tmp_path, table=16)
    assert (found.states, found.transitions) == (2, 2)
    assert found.vector >= 2 * 8
    assert explore_plainly(swapper(64)).transitions == 2


@needs_spin
def test_a_hundred_thousand_states_are_counted_exactly_however_shallow_the_first_try(tmp_path: Path) -> None:
    found = run_spin(odometer(5, 9), tmp_path, table=18, depth=10)
    counts = odometer_counts(5, 9)
    assert (found.states, found.transitions) == (counts.states, counts.transitions)
    assert found.depth == 45  # all paths to the last state take as many steps
    assert found.seconds > 0
    assert found.memory > found.states * 5 * 4 // 8  # five wheels of four bits


@needs_spin
def test_a_search_that_runs_out_of_memory_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(SpinError, match="odometer-5-9: SPIN did not finish; give it more memory"):
        run_spin(odometer(5, 9), tmp_path, table=10, memory=6)


@needs_spin
@pytest.mark.slow
def test_a_state_without_any_enabled_action_is_no_error_however_large(tmp_path: Path) -> None:
    @action(actor="nobody", source="by hand")
    def never(_s: object, _model: object, _lamp: int) -> None:
        """Nothing ever happens."""
        require(False)

    without_actions = build("still", {"on": Leaf(FLAG, False)}, [], [])
    # As many variables and actions as a whole protocol has: SPIN has buffers that it does not guard.
    many: Shape = {"on": {lamp: Leaf(FLAG, lamp % 2) for lamp in range(1, 501)}}
    never_enabled = build("never", many, [(never, each(500, "_lamp"))], [])
    for still in (without_actions, never_enabled):
        found = run_spin(still, tmp_path, table=16)
        assert (found.states, found.transitions) == (1, 0)


@needs_spin
@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny", "small"])
def test_spin_agrees_with_the_oracle_on_the_protocol(name: str, tmp_path: Path) -> None:
    protocol = system(scope(name))
    found, plain = run_spin(protocol, tmp_path, table=20), explore_plainly(protocol)
    assert plain.complete
    assert (found.states, found.transitions) == (plain.states, plain.transitions)


def test_spin_that_is_not_there_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpinError, match="spin is not on the PATH; install it"):
        run_spin(lamps(), tmp_path)


def test_the_model_names_its_actions_and_how_to_run_it(tmp_path: Path) -> None:
    text = promela_source(lamps())
    assert all(f"// {one.name}" in text for one in lamps().actions)
    assert text.startswith("// lamps-3-2, for SPIN: spin -a system.pml && gcc -O3")
    assert export(lamps(), tmp_path / "new").read_text(encoding="utf-8") == text
