"""`kcheck prove`: what is proved of a small cluster, and what the gate makes of it."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import proof
from model_check.cli import prove
from model_check.proofs import bounded
from model_check.verdicts.results import from_json
from spec.language.rules import TransitionSystem
from spec.system import system
from tests.model_check.cli.conftest import Bars, Kcheck, expectation

GROWS = "epochs_never_go_back"


def test_what_every_step_keeps_is_proved(kcheck: Kcheck) -> None:
    result = kcheck("prove", "solo", "--property", GROWS)
    assert result.exit_code == 0, result.stdout
    assert f"HOLDS      step        {GROWS}" in result.stdout


@pytest.mark.takes("A solver looks at all runs of ten steps.")
@pytest.mark.slow
@pytest.mark.parametrize("too_few", [5, 1])
def test_what_is_false_stays_open_until_a_bounded_run_breaks_it(kcheck: Kcheck, bars: Bars, too_few: int) -> None:
    name = "resigned_controllers_are_inactive"
    wanted = expectation("pair")["violated"][name]
    less = wanted - too_few
    shorter = kcheck("prove", "pair", "--property", name, "--bounded", str(less))
    assert shorter.exit_code == 3
    titles, *depth = bars.told[-1]
    assert (titles[0], depth) == (f"{name}, steps", [less, less])
    assert f"holds up to a depth of {less} steps" in shorter.stdout
    assert "stands in the way of" in shorter.stdout
    result = kcheck("prove", "pair", "--property", name, "--bounded", str(wanted))
    assert result.exit_code == 1
    assert f"broken by {wanted} steps" in result.stdout


def test_ctrl_c_leaves_incomplete_whatever_is_not_refuted(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressing(*_: object) -> Iterator[Callable[[int, str, int], None]]:
        yield lambda settled, _what, _of: signal.raise_signal(signal.SIGINT) if settled == 2 else None

    monkeypatch.setattr(proof, "bar", pressing)
    result = kcheck("prove", "solo", "--property", GROWS, "--bounded", "3", "--json")
    assert result.exit_code == 3, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    assert [(one.property, one.verdict, one.reason) for one in run.findings] == [(GROWS, "INCOMPLETE", "interrupted")]
    assert run.reason == "interrupted"


def test_ctrl_c_that_python_drops_while_the_system_is_built_ends_the_proof(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressing:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def built(*given: Any, **options: Any) -> TransitionSystem:
        Pressing()
        return system(*given, **options)

    monkeypatch.setattr(prove, "system", built)
    result = kcheck("prove", "solo", "--property", GROWS, "--json")
    assert result.exit_code == 3, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    assert run.reason == "interrupted"


@pytest.mark.slow
def test_ctrl_c_in_a_bounded_run_keeps_the_proof(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    real = bounded._Search.run

    def pressed(search: bounded._Search) -> None:
        signal.raise_signal(signal.SIGINT)
        real(search)

    monkeypatch.setattr(bounded._Search, "run", pressed)
    result = kcheck("prove", "pair", "--property", "resigned_controllers_are_inactive", "--bounded", "9", "--json")
    assert result.exit_code == 3
    (run,) = from_json(result.stdout, "stdout").runs
    (found,) = run.findings
    assert run.reason == "interrupted"
    assert found.reason.startswith("not inductive: ")
    assert found.reason.endswith("; interrupted; holds up to a depth of 0 steps")


def test_the_questions_are_written_out(kcheck: Kcheck, tmp_path: Path) -> None:
    result = kcheck("prove", "solo", "--property", GROWS, "--export", str(tmp_path), "--json")
    (run,) = from_json(result.stdout, "stdout").runs
    asked = int(run.notes[0].split()[0])
    assert len(list(tmp_path.glob("*.smt2"))) == asked > 0


def test_a_kind_that_induction_says_nothing_of_is_refused(kcheck: Kcheck) -> None:
    result = kcheck("prove", "solo", "--property", "the_second_epoch")
    assert result.exit_code == 2
    assert "the_second_epoch" in result.stderr


@pytest.mark.parametrize(("incomplete", "code"), [({}, 0), ({GROWS: "why"}, 1)])
def test_verify_compares_proofs(
    kcheck: Kcheck, manifest: dict[str, Any], incomplete: dict[str, str], code: int
) -> None:
    provable = {"one_term_acts_in_an_epoch", "controller_znode_is_its_owners", "no_failover_fails_on_left_overs"}
    others = provable | {"one_controller_acts_in_an_epoch", "resigned_controllers_are_inactive"}
    del manifest["solo"]["expect"]
    manifest["solo"]["prove"] = {
        "AS_CODED": {"violated": sorted(others), "incomplete": incomplete, "bounded": dict.fromkeys(incomplete, 3)}
    }
    result = kcheck("verify", "solo")
    assert result.exit_code == code, result.stdout
    assert "1 proofs by induction" in result.stdout
