"""A planted fault is seen by the engine that it is planted for; one that sees nothing makes the gate an ERROR."""

from pathlib import Path

import pytest

from model_check.checks import planted_faults
from model_check.checks.planted_faults import ENOUGH, FAULTS, NOT_SEEN, RECORDING, Forgotten, compared, planted
from model_check.explicit_state import explorer
from model_check.explicit_state.exploration import Exploration
from model_check.inventory.system_facts import SystemKey
from model_check.judging.judge import judge
from model_check.judging.shipped_recordings import unpacked
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.language.rules import TransitionSystem
from spec.variants import AS_CODED


@pytest.mark.slow
@pytest.mark.parametrize("engine", FAULTS)
def test_each_fault_is_seen(engine: str) -> None:
    """Every day `kcheck verify` asks this."""
    run = compared(engine)
    assert [(one.expected, one.found) for one in run.comparisons] == [(FAULTS[engine][1], FAULTS[engine][1])]
    assert run.verdict is Verdict.HOLDS


@pytest.mark.parametrize("engine", [pytest.param(one, marks=[pytest.mark.slow] * (one == "search")) for one in FAULTS])
def test_an_engine_that_does_not_see_its_fault_is_an_error(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is without the fault, each says that there is none."""
    monkeypatch.setattr(planted_faults, "planted", lambda system, _: system)
    monkeypatch.setattr(planted_faults, "changed", lambda _file, _change: None)
    (one,) = compared(engine).comparisons
    assert (one.found, one.verdict) == (NOT_SEEN, Verdict.ERROR)


def test_an_explorer_that_judges_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(system: TransitionSystem, *, likely: int) -> Exploration:
        return honest(TransitionSystem(system.name, system.variables, system.actions, ()), likely=likely)

    honest = explorer.explore
    monkeypatch.setattr(explorer, "explore", blind)
    assert [compared(engine).verdict for engine in ("explorer", "kernel")] == [Verdict.ERROR] * 2


@pytest.mark.slow
def test_the_recording_is_explained_without_the_fault() -> None:
    """Or else the search would not see it, but come to the end of its budget."""
    with unpacked() as home:
        recording = read(home / RECORDING)
    assert judge(recording, AS_CODED, budget=ENOUGH * recording.observations // 4).explained == recording.observations


def test_what_there_is_not_cannot_be_forgotten(tmp_path: Path) -> None:
    system = SystemKey("purgatory_alone", AS_CODED).built()
    with pytest.raises(KeyError):
        planted(system, Forgotten("compare_and_set(x=2, o=0)", "operations[0].entry"))
    (tmp_path / "file").write_text("nothing")
    with pytest.raises(ValueError, match="has nothing to plant a fault in"):
        planted_faults.changed(tmp_path / "file", lambda text: text)
