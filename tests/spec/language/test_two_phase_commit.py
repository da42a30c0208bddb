"""The model for strangers is explored to the counts that a formula, Lamport's TLC and stateright give, and can break.

Counted by hand, of n resource managers. While nothing is decided, each is working, or aborted, or prepared and not
heard, or prepared and heard: 4^n states. Once it is committed, all have been heard, and each is prepared or committed:
2^n. Once it is aborted, what was heard stays as it was, and who is prepared may have aborted since: to the four come
prepared, not heard, aborted and prepared, heard, aborted: 6^n.

Steps. Undecided, each has as many choices as its place: 2 (prepare, abort), 0, 1 (be heard), 1 (be heard again), which
are 4 over the 4 places: n*4^n; the transaction manager can abort in each state and commit in one: 4^n + 1. Decided,
each can always obey: n*2^n + n*6^n; when it is aborted, the working ones still have their 2: 2*n*6^(n-1).

The farthest states have all prepared, all heard, a decision, and all obeying: 3n + 1 steps.
"""

import re
from pathlib import Path

import pytest

from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from spec.language import two_phase_commit as model
from spec.language.assembly import assembled
from spec.language.rules import Rule, action, claims_of, require, rules_of
from spec.language.terms import either
from spec.language.two_phase_commit import Model, Phase, State, two_phase_commit
from tests.model_check.plain_exploration import explore_plainly

README = Path(model.__file__).with_name("README.md")


def explored(managers: int, *rules: Rule) -> Exploration:
    """All that is reachable with these rules, or those of the file; few states need no compiler."""
    of = assembled("two_phase_commit", State, Model(managers), rules or rules_of(model), claims_of(model))
    return explore(of, likely=1, graph=True)


def counted(n: int) -> tuple[int, int, int]:
    """States, transitions and depth, as they are counted above."""
    undecided, committed, aborted = 4**n, 2**n, 6**n
    steps = n * undecided + undecided + 1 + n * committed + n * aborted + 2 * n * 6 ** (n - 1)
    return undecided + committed + aborted, steps, 3 * n + 1


@pytest.mark.parametrize("managers", [1, 2, 3, 4])
def test_states_steps_and_depth_are_those_counted_by_hand(managers: int) -> None:
    found = explored(managers)
    assert (found.states, found.transitions, found.depth) == counted(managers)
    assert found.exhausted


def test_the_formula_gives_what_others_have_published() -> None:
    """Of three TLC says 1,146 states generated (each step, and the first state), 288 distinct, depth 11 (in states).

    So does stateright, whose example has 8,832 of five.
    """
    states, transitions, depth = counted(3)
    assert (transitions + 1, states, depth + 1) == (1146, 288, 11)
    assert counted(5)[0] == 8832


def test_the_oracle_finds_the_same() -> None:
    plain = explore_plainly(two_phase_commit(2))
    assert (plain.states, plain.transitions, plain.depth) == counted(2)
    assert (plain.levels, plain.fired) == (explored(2).levels, explored(2).fired)


def test_each_claim_holds_and_its_occasion_occurs() -> None:
    found = explored(3)
    assert not found.violated
    assert found.witnessed.keys() == {"one_commits_while_another_waits"}
    # Three prepare, three are heard, one decides and one obeys.
    assert len(found.witnessed["one_commits_while_another_waits"]) == 3 + 3 + 1 + 1
    assert {name: one.verdict for name, one in found.goals.items()} == dict.fromkeys(
        ("recoverable_everyone_ends", "eventually_everyone_ends"), "HOLDS"
    )


def test_alone_nobody_waits_for_another() -> None:
    assert not explored(1).witnessed, "so the scope of one would show nothing of the claim"


@action(actor="resource manager {r}", source="a mistake")
def lose_patience(s: State, _m: Model, r: int) -> None:
    """A resource manager that is prepared does not wait any longer, and aborts."""
    require(s.managers[r] == Phase.PREPARED)
    s.managers[r] = Phase.ABORTED


def test_whoever_does_not_wait_disagrees_and_the_story_is_the_shortest() -> None:
    """Two prepare, are heard and committed; one of them obeys, the other aborts, in whichever order."""
    found = explored(2, *rules_of(model), lose_patience)
    story = [one.partition("(")[0] for one in found.violated["nobody_disagrees"].actions]
    assert sorted(story) == sorted(["prepare", "hear"] * 2 + ["commit", "obey", "lose_patience"])
    assert found.violated.keys() == {"nobody_disagrees"}


@action(actor="resource manager {r}", source="a mistake")
def change_its_mind(s: State, m: Model, r: int) -> None:
    """A resource manager begins anew, whatever it has done."""
    require(either(*(s.managers[q] == Phase.COMMITTED for q in m.each)))
    s.managers[r] = Phase.WORKING


def test_whoever_begins_anew_breaks_the_claim_about_steps() -> None:
    found = explored(1, *rules_of(model), change_its_mind)
    # It prepares, is heard, is told, obeys, and begins anew.
    assert len(found.violated["the_committed_stay_so"]) == 5


def test_a_transaction_manager_that_never_aborts_lets_the_others_wait_for_ever() -> None:
    rules = [one for one in rules_of(model) if one.name != "abort"]
    goals = explored(2, *rules).goals
    assert {one.verdict for one in goals.values()} == {"VIOLATED"}
    # One aborts alone, and the other prepares, or the reverse.
    assert len(goals["recoverable_everyone_ends"].trace) == 2


def test_what_the_readme_shows_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    shown, printed = re.findall(r"^```(?:python|text)\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    exec(compile(shown, README.name, "exec"), {})  # noqa: S102 - it is our own document
    assert capsys.readouterr().out == printed
