"""Reference and specification of delayed operations agree on every step of every interleaving, and a fault is found."""

from dataclasses import replace

import pytest

from model_check.checks import replay
from model_check.refinement.lockstep import Disagreement
from model_check.refinement.purgatory.race import Race
from model_check.refinement.purgatory.replay import Replay
from model_check.verdicts.verdict import Verdict
from reference.purgatory.operations import AtomicBoolean
from reference.purgatory.purgatory import Purgatory
from spec.model import Model
from spec.scopes import Purgatory as Bounds
from spec.scopes import Scope, scope
from spec.variants import AS_CODED, FENCED, Switches
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.plain_trees import plain_tree
from tests.spec.on_demand import OnDemand

ALONE: Scope = replace(
    scope("purgatory_alone"), budgets=(("updates", 1),), purgatory=Bounds(((0,), (0,)), ((), (0,)), (1,))
)
ONE: Scope = replace(ALONE, purgatory=Bounds(((0,),), ((),), (1,)))
PAIR: Scope = replace(
    scope("purgatory"), budgets=(("updates", 1),), purgatory=Bounds(((0,), (0,)), ((), ()), (1,), purge_interval=1)
)


def replayed(bounds: Scope, switches: Switches) -> tuple[int, int]:
    sides = Replay(Model(bounds, switches))
    found = sides.run(plain_tree(sides.machine))
    assert found is not None
    assert found.complete
    return found.states, found.edges


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "switches"),
    [
        pytest.param(ONE, AS_CODED, id="AS_CODED, one"),
        pytest.param(ALONE, AS_CODED, id="AS_CODED"),
        pytest.param(ALONE, FENCED, id="FENCED"),
    ],
)
def test_every_step_of_a_request_that_waits_alone_is_one_of_the_reference(bounds: Scope, switches: Switches) -> None:
    counted = explore_plainly(OnDemand(bounds, switches).unclaimed())
    assert replayed(bounds, switches) == (counted.states, counted.transitions)


@pytest.mark.slow
@pytest.mark.parametrize("switches", [AS_CODED, FENCED], ids=["AS_CODED", "FENCED"])
def test_every_step_of_two_requests_that_race_is_one_of_the_reference(switches: Switches) -> None:
    counted = explore_plainly(OnDemand(PAIR, switches).unclaimed())
    assert replayed(PAIR, switches) == (counted.states, counted.transitions)


def test_a_flag_that_everybody_wins_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def won_by_everybody(self: AtomicBoolean) -> bool:
        self._set = True
        return True

    monkeypatch.setattr(AtomicBoolean, "compare_and_set", won_by_everybody)
    with pytest.raises(Disagreement, match="winner is CONDITION in the specification, EXPIRY in the reference"):
        replayed(ALONE, AS_CODED)


def test_a_list_that_is_not_left_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Purgatory, "_unwatch", lambda *_: None)
    with pytest.raises(Disagreement, match="watching"):
        replayed(ALONE, AS_CODED)


def test_the_race_starts_where_the_specification_does() -> None:
    m = Model(ALONE, AS_CODED)
    race = Race(m)
    assert {"answer_at_once(o=0)", "try_request(o=0)", "answer_at_once(o=1)"} <= race.choices().keys()
    assert "try_request(o=1)" not in race.choices(), "it created nothing"


def test_kcheck_refine_takes_a_purgatory_and_tells_how_far_it_came() -> None:
    run = replay.run(replay.Task("purgatory_alone", AS_CODED), limit=60)
    assert run.verdict is Verdict.INCOMPLETE
    assert run.reason.startswith("not exhausted: all edges out of ")
    assert run.comparisons
    assert all(one.is_met for one in run.comparisons)


def test_kcheck_refine_tells_a_difference_as_a_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Purgatory, "_watch", lambda *_: None)
    run = replay.run(replay.Task("purgatory_alone", AS_CODED), limit=60)
    assert (run.verdict, run.reason) == (Verdict.VIOLATED, "specification and reference disagree after 2 steps")
    assert run.story is not None
    assert [step.action for step in run.story.steps] == ["try_request(o=0)", "watch(o=0, k=0)"]
