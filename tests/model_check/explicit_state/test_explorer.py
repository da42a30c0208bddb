"""The native exploration against numbers counted by hand and against the oracle."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from model_check.explicit_state import explorer
from model_check.explicit_state.digest import SetDigest
from model_check.explicit_state.exploration import Exploration, Progress, SpecificationError
from model_check.explicit_state.explorer import explore
from model_check.explicit_state.retracing import Retracer
from model_check.explicit_state.visited import BUCKET_BYTES, FULLEST, SLOTS
from model_check.kernel.kernel import Kernel, load_kernel
from model_check.kernel.slicing import BLOCK
from model_check.terms.straight_line import evaluate
from model_check.traces.trace import Trace
from spec.language.rules import Leaf, Property, TransitionSystem, action
from spec.language.terms import number
from spec.scopes import Scope, scope
from spec.system import system
from tests.model_check.plain_digest import add_plainly
from tests.model_check.plain_exploration import Exploration as PlainExploration
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.random_systems import systems
from tests.model_check.systems import EXPECTED, Counts, build, jugs, lamps, odometer, odometer_counts


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCHECK_CACHE", str(tmp_path_factory.mktemp("kcheck")))
        yield


def assert_as_the_oracle(system: TransitionSystem, found: Exploration, limit: int | None = None) -> None:
    oracle = explore_plainly(system, limit)
    assert (found.states, found.levels, found.transitions) == (oracle.states, oracle.levels, oracle.transitions)
    assert (found.fired, found.overflows, found.exhausted) == (oracle.fired, oracle.overflows, oracle.complete)
    assert (found.occurrences, found.first_depths) == (oracle.occurrences, oracle.first_depths)
    assert found.expanded == oracle.expanded
    assert found.digest == plain_digest(system, oracle)
    assert {tuple(found.retracer.state(number).values()) for number in range(found.states)} == oracle.reached.keys()
    assert found.violated.keys() == oracle.violations.keys()
    assert found.witnessed.keys() == oracle.witnesses.keys()
    for name, trace in {**found.violated, **found.witnessed}.items():
        assert len(trace) == len({**oracle.violations, **oracle.witnesses}[name].trace)
        assert_is_a_run(system, trace)
    for name, trace in found.violated.items():
        assert_breaks(system.property_named(name), trace)


def plain_digest(system: TransitionSystem, oracle: PlainExploration) -> str:
    """The digest of the oracle's states, by its definition."""
    digest = SetDigest()
    for raw in oracle.reached:
        digest = add_plainly(digest, system.variables, dict(zip(oracle.names, raw, strict=True)))
    return str(digest)


def assert_breaks(claim: Property, trace: Trace) -> None:
    """The last state is bad, or the last step is."""
    if claim.term is not None:
        assert not evaluate(claim.term, trace.steps[-1][1])
    else:
        assert not evaluate(claim.terms[trace.actions[-1]], trace.steps[-2][1])


def assert_is_a_run(system: TransitionSystem, trace: Trace) -> None:
    assert trace.steps[0] == (None, {variable.name: variable.initial for variable in system.variables})
    for (_, before), (name, after) in zip(trace.steps, trace.steps[1:], strict=False):
        assert (name, after) in [(one.name, state) for one, state in successors(system, before)]


@pytest.mark.parametrize(("system", "counts"), EXPECTED.values(), ids=EXPECTED)
def test_counts_are_those_counted_by_hand(system: TransitionSystem, counts: Counts) -> None:
    found = explore(system)
    assert (found.states, found.transitions, found.levels) == (counts.states, counts.transitions, counts.levels)
    assert found.depth == len(counts.levels) - 1
    assert sum(found.overflows.values()) == counts.overflows
    assert found.violated.keys() == counts.failing.keys()
    assert found.witnessed.keys() == counts.witnessed.keys()
    assert found.exhausted


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_everything_found_is_what_the_oracle_finds(system: TransitionSystem) -> None:
    assert_as_the_oracle(system, explore(system))


@given(systems())
@settings(max_examples=6)
def test_random_systems_are_explored_as_by_the_oracle(system: TransitionSystem) -> None:
    assert_as_the_oracle(system, explore(system, limit=3000), 3000)


LONE = Scope("lone", "A controller that may crash once.", 1, 1, controller_epochs=3, budgets=(("crashes", 1),))


@pytest.mark.parametrize("bounds", [LONE, pytest.param("tiny", marks=pytest.mark.slow)], ids=["lone", "tiny"])
def test_the_protocol_is_explored_as_by_the_oracle(bounds: Scope | str) -> None:
    protocol = system(scope(bounds) if isinstance(bounds, str) else bounds)
    found, oracle = explore(protocol), explore_plainly(protocol)
    assert found.exhausted
    assert oracle.complete
    assert (found.states, found.levels, found.transitions) == (oracle.states, oracle.levels, oracle.transitions)
    assert (found.fired, found.overflows) == (oracle.fired, oracle.overflows)
    assert (found.occurrences, found.first_depths) == (oracle.occurrences, oracle.first_depths)
    assert found.digest == plain_digest(protocol, oracle)


def test_many_states_are_found_and_counted_by_a_formula() -> None:
    counts = odometer_counts(6, 8)  # 9^6 = 531,441 states: several growths of the table
    found = explore(odometer(6, 8))
    assert (found.states, found.transitions, found.levels) == (counts.states, counts.transitions, counts.levels)
    assert sum(found.overflows.values()) == counts.overflows


def test_what_occurs_is_counted_with_the_steps_that_it_takes() -> None:
    found = explore(odometer(3, 4))
    # Of 5^3 states 4^3 have no wheel at zero, one has every wheel at the top, after 12 steps, one all at zero.
    assert found.occurrences == {
        "TURNS": 124, "LEAVES-ZERO": 125 - 64, "all_at_top": 1, "gets_to_top": 124, "can_return": 124,
    }  # fmt: skip
    turns = dict.fromkeys(["turn(w=1)", "turn(w=2)", "turn(w=3)"], 1)
    assert found.first_depths == {
        **turns,
        "TURNS": 1,
        "LEAVES-ZERO": 1,
        "all_at_top": 12,
        "gets_to_top": 0,
        "can_return": 1,
    }


def test_the_shortest_trace_to_four_measures_is_the_one_of_the_film() -> None:
    trace = explore(jugs()).violated["never_four"]
    assert trace.actions == ("fill(big)", "pour(big)", "empty(small)", "pour(big)", "fill(big)", "pour(big)")


def test_a_limit_stops_between_levels_and_says_so() -> None:
    counts = odometer_counts(3, 4)
    found = explore(odometer(3, 4), limit=20)  # 1 + 3 + 6 + 10 states make 20
    assert found.levels == counts.levels[:4]
    assert (found.exhausted, found.stopped) == (False, "limit")
    assert found.expanded == sum(counts.levels[:3])


def test_a_property_broken_only_where_the_search_stopped_is_found() -> None:
    # Six steps to the four measures; the limit is reached with the level that has them, which is never expanded.
    found = explore(jugs(), limit=14)
    assert found.levels == (1, 2, 3, 2, 2, 2, 2)
    assert len(found.violated["never_four"]) == 6


@pytest.mark.parametrize(
    ("expected", "likely", "tables"), [(0, 0, False), (9, 0, True), (0, 9, True), (explorer.FEW, 9, False)]
)
def test_few_states_are_not_worth_a_compiler(
    expected: int, likely: int, tables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []

    def noting(*arguments: Any, tables: bool) -> Kernel:
        made.append(tables)
        return load_kernel(*arguments, tables=tables)

    monkeypatch.setattr(explorer, "load_kernel", noting)
    assert explore(jugs(), expected=expected, likely=likely).exhausted
    assert made == [tables]


def test_a_table_made_for_what_is_expected_does_not_grow_and_changes_nothing() -> None:
    found, sized = explore(odometer(6, 8)), explore(odometer(6, 8), expected=9**6)
    assert (sized.levels, sized.fired, sized.digest) == (found.levels, found.fired, found.digest)
    table = sized.memory_bytes - 9**6 * (8 * sized.visited.shape[1] + 4)
    assert table == BUCKET_BYTES * math.ceil((9**6 + 6 * BLOCK) / (SLOTS * FULLEST))
    assert explore(odometer(6, 8), expected=3 * 9**6).memory_bytes > found.memory_bytes


def test_whoever_wants_to_stop_is_heard() -> None:
    seen: list[Progress] = []
    found = explore(odometer(6, 8), progress=seen.append, stop=lambda: seen[-1].states > 1000)
    assert (found.exhausted, found.stopped) == (False, "stop")
    assert 1000 < found.states < 9**6
    assert sum(found.levels) == found.states
    assert [one.expanded for one in seen] == sorted(one.expanded for one in seen)


@pytest.mark.parametrize(("built", "claim"), [(odometer(6, 8), "first_below_top"), (lamps(16, 3), "stays_on")])
def test_the_first_violation_may_end_a_search_and_is_as_near_as_ever(built: TransitionSystem, claim: str) -> None:
    asked = replace(built, properties=(built.property_named(claim),))
    whole, found = explore(asked), explore(asked, until_violated=True)
    assert (whole.exhausted, found.exhausted, found.stopped) == (True, False, "violation")
    assert found.expanded < whole.states / 2
    assert found.violated == whole.violated
    assert found.violated.keys() == {claim}


def test_without_a_violation_a_search_comes_to_its_end() -> None:
    kept = replace(odometer(), properties=(odometer().property_named("never_back"),))
    assert explore(kept, until_violated=True).digest == explore(kept).digest


def test_memory_is_a_bound_that_is_kept_and_told() -> None:
    found = explore(odometer(6, 8), memory_bytes=4_000_000)
    assert (found.exhausted, found.stopped) == (False, "memory")
    assert 50_000 < found.states < 9**6
    assert found.memory_bytes <= 4_000_000


def test_a_stored_state_takes_its_words_and_little_more() -> None:
    found = explore(odometer(6, 8))
    assert found.stored_bytes_per_state <= 8 + 24


def test_a_value_that_its_kind_does_not_have_is_a_mistake_of_the_specification() -> None:
    @action(actor="nobody", source="by hand")
    def overrun(s: object, _model: object) -> None:
        """A number gets larger than its kind says, though its bits have room."""
        s.level = type(s.level)(s.level.kind, s.level.term + 1)  # type: ignore[attr-defined]  # a view

    system = build("overrun", {"level": Leaf(number(2, "level"), 0)}, [(overrun, [{}])], [])
    with pytest.raises(SpecificationError, match=r"overrun\(\) sets level to 3, but a level is at most 2"):
        explore(system)


def test_an_exploration_may_be_told_again_from_any_state() -> None:
    found = explore(lamps())
    for state in range(found.states):
        trace = found.trace(state)
        assert trace.last == found.retracer.state(state)
        assert_is_a_run(lamps(), trace)


def test_a_witness_is_looked_for_when_it_is_told_and_its_length_is_known_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, looked_for = explore(odometer(3, 4)), list[int]()

    def noted(_: Retracer, number: int) -> dict[str, int]:
        looked_for.append(number)
        return {}

    monkeypatch.setattr(Retracer, "state", noted)
    witness = found.witnessed["all_at_top"]
    assert len(witness) == 12
    assert not looked_for
    assert len(witness.steps) == len(looked_for) == 1 + 12
