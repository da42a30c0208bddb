"""Two revisions of a small repository, compared: each sees just what its edit did."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from model_check.explicit_state.explorer import explore
from model_check.revisions.comparing import SYSTEMS, Wanted, compare
from model_check.revisions.revision import laid_out
from model_check.revisions.specification import SAME_NAMES, SPECIFICATION, VECTORS
from model_check.revisions.systems import ENGINE, GONE, NEW, NO_OTHER
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from spec.errors import BadInput, UnknownName
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED
from tests.model_check.revisions.repository import FENCE, HANDLING, ISR_CHANGES, committed, copied, edited, needs_git

pytestmark = needs_git
SHRINK = '    """A leader takes a follower out of its ISR."""\n'
TINY_BOUNDS = 'parts = ["partitions", "connections"]\ncallback_capacity = 6\nbudgets = { expiries = 1, shrinks ='
"""What stands before the faults of tiny, and of no other scope."""
CLAIMS, ELECTED = "spec/claims/leadership.py", "def is_deleted(m: Model, znode"
CLAIM = '''@claim("always", source="nowhere", witness="a_leader_is_elected", parts=("partitions",))
def leaders_stay(s: State, m: Model, p: int) -> Value:
    """Nobody is ever elected."""
    return s.zookeeper.state[p].leader_epoch == 0


'''
ZNODES, ORPHANED = "spec/state/zookeeper.py", "    controller_orphaned = Flag("
EXPECTED = "[scope.tiny.expect.AS_CODED]\nstates = 1255"
TINY = Wanted(("tiny",))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`base`; `relaxed` lets a fence pass what is equal, `kept` keeps broker 2 in each ISR; `told` has other words, and
    `twice` a change more of an ISR; `claimed` has a claim that is broken, `noted` a variable that nobody sets, and
    `awaited` expects a state more.
    """
    folder = copied(tmp_path_factory.mktemp("repository"))
    for tag, path, was, becomes in (
        ("relaxed", HANDLING, *FENCE), ("kept", ISR_CHANGES, SHRINK, f"{SHRINK}    require(r != 2)\n"),
        ("told", ISR_CHANGES, SHRINK, SHRINK.replace("takes", "may take")),
        ("twice", "spec/manifest.toml", f"{TINY_BOUNDS} 1", f"{TINY_BOUNDS} 2"),
        ("claimed", CLAIMS, ELECTED, f"{CLAIM}{ELECTED}"),
        ("noted", ZNODES, ORPHANED, f'    noted = Flag("Nobody sets it.")\n{ORPHANED}'),
        ("awaited", "spec/manifest.toml", f"{EXPECTED}6", f"{EXPECTED}7"),
    ):  # fmt: skip
        edited(folder, path, was, becomes)
        committed(folder, tag)
        edited(folder, path, becomes, was)
    return committed(folder, "last")


@cache
def runs(repository: Path, before: str, after: str | None, wanted: Wanted = TINY) -> dict[str, Run]:
    """The runs of a comparison by engine; of one system there is one."""
    with laid_out(before, repository) as one, laid_out(after, repository) as other:
        return {run.engine: run for run in compare(one, other, wanted, lambda: False)}


def behaviours(run: Run) -> set[str]:
    return {one.property for one in run.findings if one.kind in (NEW, GONE)}


@pytest.mark.slow  # what is told of it is asked every day in tests/model_check/cli/test_diff.py
def test_a_relaxed_fence_lets_brokers_execute_what_they_refused(repository: Path) -> None:
    """With the numbers that the README has of this edit."""
    found = runs(repository, "base", "relaxed")
    assert found[SPECIFICATION].notes == (SAME_NAMES,)
    run = found[ENGINE]
    assert behaviours(run) == {f"{NEW}: deliver_request", f"{GONE}: deliver_request"}
    assert run.counts is not None
    assert (run.counts.states, run.counts.depth, run.verdict) == (14_710, 29, Verdict.VIOLATED)
    assert "states 12,556 -> 14,710, depth 29 as before" in run.notes
    assert "actions with other terms: deliver_request" in run.notes
    broken = {one.property: one.story.length for one in run.findings if one.reason == "newly broken" and one.story}
    assert broken.keys() >= {"brokers_accept_only_higher_leader_epochs", "recoverable_leaders_can_lead"}
    assert (broken["brokers_accept_only_higher_leader_epochs"], broken["recoverable_leaders_can_lead"]) == (5, 16)


@pytest.mark.slow
def test_the_story_of_a_new_behaviour_ends_in_the_step_that_is_new(repository: Path) -> None:
    """The other revision ignores the request, behind the same steps."""
    run = runs(repository, "base", "relaxed")[ENGINE]
    stories = {one.property: one.story for one in run.findings if one.kind in (NEW, GONE)}
    new, gone = stories[f"{NEW}: deliver_request"], stories[f"{GONE}: deliver_request"]
    assert new is not None
    assert gone is not None
    assert [one.action for one in new.steps] == [one.action for one in gone.steps]
    assert new.steps[:-1] == gone.steps[:-1]
    assert (new.length, new.initial) == (len(new.steps), gone.initial)
    assert [event.what for event in new.steps[-1].events] == ["become follower"]
    assert [event.what for event in gone.steps[-1].events] == ["ignore LeaderAndIsr"]


@pytest.mark.slow
def test_turned_round_a_comparison_says_the_reverse(repository: Path) -> None:
    there, back = (runs(repository, *pair)[ENGINE] for pair in (("base", "relaxed"), ("relaxed", "base")))
    turned = {NEW: GONE, GONE: NEW}
    assert {(one.kind, one.statement, one.reason) for one in there.findings if one.kind in turned} == {
        (turned[one.kind], one.statement, one.reason) for one in back.findings if one.kind in turned
    }
    broken = {one.property for one in there.findings if one.reason == "newly broken"}
    assert {one.property for one in back.findings if one.reason.startswith("no longer broken")} == broken
    assert back.verdict is Verdict.HOLDS


@cache
def steps_gone() -> tuple[int, int, int]:
    """Of the edit `kept`: states before and after, and steps of broker 2 out of what is reached without them.

    What is asked is this system without these actions, which nobody has edited.
    """
    built = system(scope("tiny"), AS_CODED)
    kept = [one for one in built.actions if one.rule != "shrink_isr" or one.parameters["r"] != 2]
    whole = explore(built)
    left = explore(replace(built, actions=tuple(kept), properties=()))
    expansion = whole.retracer.kernel.expand(left.visited)
    taken = [number for number, one in enumerate(built.actions) if one not in kept]
    return whole.states, left.states, int(np.isin(expansion.actions, taken).sum())


@pytest.mark.slow
def test_what_is_forbidden_is_no_longer_possible_and_nothing_is_new(repository: Path) -> None:
    run = runs(repository, "base", "kept")[ENGINE]
    before, after, first = steps_gone()
    assert behaviours(run) == {f"{GONE}: shrink_isr"}
    (one,) = [each for each in run.findings if each.kind == GONE]
    assert f", {first:,} of them from states that both reach" in one.reason
    assert one.story is not None
    assert [step.action for step in one.story.steps] == ["shrink_isr(b=1, p=0, r=2)"]
    assert f"states that only one of them reaches: {before - after:,} before, 0 after" in run.notes
    assert run.verdict is Verdict.HOLDS


@pytest.mark.slow
def test_other_words_are_told_and_no_system_is_explored_for_them(repository: Path) -> None:
    found = runs(repository, "base", "told")
    assert ENGINE not in found
    assert found[SPECIFICATION].notes == ("action shrink_isr: its words changed",)
    assert found[SYSTEMS].notes[0] == "1 system of the same terms, 0 of others"


@pytest.mark.slow
def test_where_nothing_changed_nothing_is_told_but_that(repository: Path) -> None:
    found = runs(repository, "base", None, Wanted())
    assert found.keys() == {SPECIFICATION, SYSTEMS, VECTORS}
    assert found[SPECIFICATION].notes == (SAME_NAMES,)
    assert [note.partition(" of the same")[2] for note in found[SYSTEMS].notes] == [" terms, 0 of others"]
    assert found[VECTORS].notes[0].startswith("nothing changed: ")
    assert {run.verdict for run in found.values()} == {Verdict.HOLDS}


@pytest.mark.slow
def test_what_a_limit_cuts_off_is_incomplete(repository: Path) -> None:
    run = runs(repository, "base", "kept", replace(TINY, limit=1_000))[ENGINE]
    assert run.verdict is Verdict.INCOMPLETE
    assert run.reason.startswith("not exhausted: the limit of 1,000 states was reached, before at ")
    assert run.reason.endswith("; what is found is so, and there may be more")
    assert behaviours(run) == {f"{GONE}: shrink_isr"}


@pytest.mark.slow
def test_with_one_more_isr_change_the_second_is_new_and_nothing_is_gone(repository: Path) -> None:
    """Though no state is as it was, if one asks how many are left."""
    found = runs(repository, "base", "twice")
    run = found[ENGINE]
    assert found[SPECIFICATION].notes == ("scope tiny: budget shrinks was 1; is 2",)
    assert "left out of the comparison, since they begin otherwise: budget.shrinks (1 -> 2)" in run.notes
    assert f"{NEW}: shrink_isr" in behaviours(run)
    assert not [one for one in behaviours(run) if one.startswith(GONE)]
    story = next(one.story for one in run.findings if one.property == f"{NEW}: shrink_isr")
    assert story is not None
    assert [step.action.partition("(")[0] for step in story.steps].count("shrink_isr") == 2


@pytest.mark.slow
def test_a_claim_that_is_new_and_broken_is_told_as_broken(repository: Path) -> None:
    run = runs(repository, "base", "claimed")[ENGINE]
    assert {"claims new: leaders_stay", "now broken: leaders_stay in 4 steps", NO_OTHER} <= set(run.notes)
    assert [one.property for one in run.findings if one.verdict is Verdict.VIOLATED] == ["leaders_stay"]
    assert run.verdict is Verdict.VIOLATED


@pytest.mark.slow
def test_where_a_variable_is_left_out_steps_are_the_same_only_as_far_as_the_others_tell(repository: Path) -> None:
    run = runs(repository, "base", "noted")[ENGINE]
    assert "variables new: zookeeper.noted" in run.notes
    assert run.notes[-1] == f"{NO_OTHER}, as far as the variables tell that both have"


@pytest.mark.slow
def test_what_the_manifest_expects_otherwise_is_told(repository: Path) -> None:
    found = runs(repository, "base", "awaited")
    assert found[SPECIFICATION].notes == ("system tiny AS_CODED: expected states were 12,556; are 12,557",)
    assert ENGINE not in found


@pytest.mark.slow
def test_without_time_what_differs_is_put_off(repository: Path) -> None:
    run = runs(repository, "base", "kept", replace(TINY, minutes=0))[ENGINE]
    assert (run.verdict, run.findings) == (Verdict.INCOMPLETE, ())


@pytest.mark.slow
def test_who_wants_to_stop_gets_what_was_found_and_incomplete(repository: Path) -> None:
    answers: Iterator[bool] = iter([False] * 2)
    with laid_out("base", repository) as one, laid_out("kept", repository) as other:
        found = list(compare(one, other, TINY, lambda: next(answers, True)))
    assert found[-1].verdict is Verdict.INCOMPLETE
    assert found[-1].reason.startswith(INTERRUPTED)
    assert found[-1].is_cut_short


@pytest.mark.slow
def test_a_scope_that_neither_has_is_refused(repository: Path) -> None:
    with pytest.raises(UnknownName, match=r"no scope is called .tinny.; did you mean tiny\?"):
        runs(repository, "base", "kept", Wanted(("tinny",)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"), [("import nothing_like_it\n", "ModuleNotFoundError"), ("def", "SyntaxError")]
)
def test_a_revision_that_does_not_answer_is_refused_in_a_line(text: str, told: str, repository: Path) -> None:
    broken = repository / "spec" / "system.py"
    kept = broken.read_text("utf-8")
    broken.write_text(text)
    try:
        with pytest.raises(BadInput, match=f"the working tree cannot be compared, it is too old or broken: {told}"):
            runs(repository, "base", None)
    finally:
        broken.write_text(kept)
