"""A system's digest changes with its content and with nothing else."""

import subprocess
import sys
from dataclasses import replace

import z3

from model_check.kernel.kernel import kernel_ir
from model_check.kernel.system_digest import system_digest
from spec.language.rules import Action, TransitionSystem
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, clerks, lamps


def test_systems_differ() -> None:
    assert len({system_digest(system) for system, _ in EXPECTED.values()}) == len(EXPECTED)


def test_a_system_built_again_has_the_same_digest_whatever_happened_in_between() -> None:
    system = clerks()
    before = system_digest(system)
    explore_plainly(system)
    terms = [z3.Not(action.guard) for action in system.actions]
    assert kernel_ir(system)
    assert system_digest(system) == system_digest(clerks()) == before
    assert terms


def test_another_process_gives_the_same_digest() -> None:
    program = (
        "import z3; junk = [z3.Int(f'x{i}') + i for i in range(99)]\n"
        "from tests.model_check.systems import lamps\n"
        "from model_check.kernel.system_digest import system_digest\n"
        "print(system_digest(lamps()))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == system_digest(lamps())


def test_every_part_counts() -> None:
    system = lamps()
    variable, action, claim = system.variables[0], system.actions[0], system.properties[0]
    changed = [
        replace(system, variables=(replace(variable, initial=1), *system.variables[1:])),
        replace(system, variables=(replace(variable, name="other"), *system.variables[1:])),
        with_action(system, replace(action, guard=z3.Not(action.guard))),
        with_action(system, replace(action, overflow=z3.Not(action.overflow))),
        with_action(system, replace(action, budget="faults")),
        with_action(system, replace(action, updates=system.actions[1].updates)),
        with_action(system, replace(action, taken={"a row": action.guard})),
        with_action(system, replace(action, taken={"a row": z3.Not(action.guard)})),
        with_action(system, replace(action, guard=z3.And(action.guard, action.overflow))),
        with_action(system, replace(action, guard=z3.And(action.overflow, action.guard))),
        with_action(system, replace(action, guard=z3.Or(action.overflow, action.guard))),
        replace(system, variables=(replace(variable, kind=replace(variable.kind, width=9)), *system.variables[1:])),
        replace(system, variables=(replace(variable, kind=replace(variable.kind, maximum=9)), *system.variables[1:])),
        replace(system, properties=(replace(claim, terms={action.name: action.guard}), *system.properties[1:])),
        replace(system, properties=(replace(claim, term=z3.Not(claim.term)), *system.properties[1:])),
        replace(system, properties=system.properties[1:]),
    ]
    assert len({system_digest(one) for one in [system, *changed]}) == len(changed) + 1


def with_action(system: TransitionSystem, action: Action) -> TransitionSystem:
    return replace(system, actions=(action, *system.actions[1:]))
