"""Steps as codes: what two systems differ in, found from files, is what sets of plain states and steps differ in."""

from dataclasses import replace
from pathlib import Path

import pytest

from model_check.explicit_state.explorer import explore
from model_check.revisions.inside.behaviours import write
from model_check.revisions.steps import Difference, Written, differences
from spec.language.rules import TransitionSystem
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.systems import clerks, lamps, odometer

State = tuple[tuple[str, str], ...]
Step = tuple[State, str, State]


def without(system: TransitionSystem, *actions: str) -> TransitionSystem:
    """The system without some of its actions, and without claims, which speak of all of them."""
    left = tuple(one for one in system.actions if one.name not in actions)
    return replace(system, actions=left, properties=())


def renamed(system: TransitionSystem, action: str, name: str) -> TransitionSystem:
    """The system in which an action is called otherwise."""
    actions = [replace(one, name=name, rule=name) if one.name == action else one for one in system.actions]
    return replace(system, actions=tuple(actions), properties=())


def common(one: TransitionSystem, other: TransitionSystem, part: str) -> set[str]:
    """The names that both have of something."""
    first, second = ({each.name for each in getattr(system, part)} for system in (one, other))
    return first & second


def plainly(
    system: TransitionSystem, variables: set[str], actions: set[str]
) -> tuple[set[State], dict[Step, set[str]]]:
    """Every state as far as the variables tell, and every step that changes anything, with the rules that take it."""
    shown = {one.name: one for one in system.variables}

    def seen(state: dict[str, int]) -> State:
        return tuple(sorted((name, shown[name].show(raw)) for name, raw in state.items() if name in variables))

    found = explore_plainly(system)
    states, steps = set[State](), dict[Step, set[str]]()
    for raw in found.reached:
        before = dict(zip(found.names, raw, strict=True))
        states.add(seen(before))
        for action, after in successors(system, before):
            if after != before:
                label = action.name if action.name in actions else ""
                steps.setdefault((seen(before), label, seen(after)), set()).add(action.rule)
    return states, steps


def natively(tmp_path: Path, before: TransitionSystem, after: TransitionSystem) -> tuple[Difference, Difference]:
    """What differs, by way of the files."""
    systems = before, after
    names = [common(before, after, part) for part in ("variables", "actions")]
    folders = [tmp_path / side for side in ("before", "after")]
    for folder, system in zip(folders, systems, strict=True):
        folder.mkdir()
        write(folder, system, explore(system), names[0], names[1])
    rules = [[one.rule for one in system.actions] for system in systems]
    return differences(Written(folders[0]), Written(folders[1]), rules)


PAIRS = {
    "one lamp stays dark": (lamps(), without(lamps(), "light(lamp=2)")),
    "a wheel stands still": (odometer(), without(odometer(), "turn(w=1)")),
    "a lamp more": (lamps(2), lamps(3)),
    "a higher top": (odometer(2, 3), odometer(2, 4)),
    "two names are exchanged": (
        lamps(),
        renamed(
            renamed(renamed(lamps(), "light(lamp=1)", "-"), "light(lamp=2)", "light(lamp=1)"), "-", "light(lamp=2)"
        ),
    ),
    "nothing in common": (clerks(), lamps(1)),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_differs_is_what_plain_sets_differ_in(name: str, swapped: bool, tmp_path: Path) -> None:
    """Of systems in which each state as projected is one state, so that steps are counted alike."""
    after, before = PAIRS[name] if swapped else PAIRS[name][::-1]
    systems = before, after
    names = [common(before, after, part) for part in ("variables", "actions")]
    plain = [plainly(system, names[0], names[1]) for system in systems]
    found = natively(tmp_path, before, after)
    for side, (states, steps) in enumerate(plain):
        others, its_steps = plain[1 - side]
        alone = {step: rules for step, rules in steps.items() if step not in its_steps}
        assert {one.rule for one in found[side].rules} == {rule for rules in alone.values() for rule in rules}
        first = {rule for (before, _, _), rules in alone.items() if before in others for rule in rules}
        assert {one.rule for one in found[side].rules if one.first} == first
        if names[0] == {one.name for one in systems[side].variables}:
            assert found[side].states == len(states - others)
            assert sum(one.steps for one in found[side].rules) == len(alone)


def test_nothing_differs_between_a_system_and_itself(tmp_path: Path) -> None:
    assert natively(tmp_path, lamps(), lamps()) == (Difference(0, ()), Difference(0, ()))


def test_an_action_that_was_merely_renamed_differs_in_nothing(tmp_path: Path) -> None:
    other = renamed(lamps(), "light(lamp=2)", "switch_on")
    assert natively(tmp_path, lamps(), other) == (Difference(0, ()), Difference(0, ()))


def test_the_witness_is_the_nearest_step_of_those_that_came_first(tmp_path: Path) -> None:
    """Wheel 1 turns in the initial state, which is number 0."""
    gone, new = natively(tmp_path, odometer(), without(odometer(), "turn(w=1)"))
    (one,) = [each for each in gone.rules if each.first]
    assert (one.source, odometer().actions[one.action].name, new.rules) == (0, "turn(w=1)", ())
