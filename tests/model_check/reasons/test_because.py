"""Why a story is a violation: what is told is so, is of the first choice of which the claim is false, and suffices."""

import random
from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from model_check.checks.defects import watched
from model_check.explicit_state.explorer import explore
from model_check.inventory.system_facts import SystemKey
from model_check.reasons.because import because
from model_check.reasons.names import Names
from model_check.stepping.open_system import Taken
from model_check.stepping.plain_rules import plain_claims
from model_check.terms.straight_line import evaluate
from model_check.traces.logged import opened
from model_check.traces.trace import State
from model_check.verdicts.results import Because
from spec.defects import DEFECTS
from spec.language.rules import GOALS, Property, TransitionSystem
from spec.scopes import scope
from tests.model_check.systems import clerks
from tests.spec.on_demand import OnDemand

Steps = Sequence[tuple[str | None, State]]


@cache
def broken(defect: str) -> tuple[TransitionSystem, Property, Steps]:
    """The system of a defect, the claim that it breaks, and the shortest trace to there."""
    row = next(one for one in DEFECTS if one.id == defect)
    system = watched(SystemKey(row.scope, row.base).built(), row)
    (claim,) = system.properties
    found = explore(system, expected=10_000, memory_bytes=1 << 28, graph=claim.kind in GOALS, until_violated=True)
    trace = found.goals[claim.name].trace if claim.kind in GOALS else found.violated[claim.name]
    return system, claim, trace.steps


def first_false(system: TransitionSystem, claim: Property, steps: Steps) -> Mapping[str, int] | None:
    """The first choice of which a claim is false, by running the claim's own text on numbers."""
    rules, asked = opened(system.model)[0], plain_claims()[claim.name].function
    actions = {one.name: Taken(one.rule, one.parameters) for one in system.actions}
    views = [rules.view(rules.layout.unflatten(state)) for _, state in steps[-2:]]
    given, taken = views if claim.kind == "step" else views[-1:], steps[-1][0]
    takes = asked.takes(system.model, actions.get(taken or ""))
    if takes is None:
        return None
    for choice in system.model.choices(asked.each):
        if not all(fact.raw for fact in asked.facts(*given, system.model, **takes, **choice)):
            return {**{name: number for name, number in takes.items() if name != "action"}, **choice}
    return None


TOLD = {
    "D31": (
        "[a,0]",
        "the version of [a,0] in ZooKeeper (1) is not -1",
        "broker 1's session is LIVE",
        "the ISR of [a,0] in ZooKeeper {1} has broker 1",
        "broker 1's version of [a,0] (0) is not the version of [a,0] in ZooKeeper (1)",
        "the leader of [a,0] in ZooKeeper (1) is not 2",
    ),
    "D12": (
        "[a,0], replica 2",
        "the version of [a,0] in ZooKeeper (0) is not -1",
        "broker 2's session is LIVE",
        "broker 2's leader epoch of [a,0] (-1) is not the leader epoch of [a,0] in ZooKeeper (0)",
    ),
    "D9": ("controller 1", "controller 1's place in its code is DEADLOCKED"),
    "D39": (
        "[a,1]",
        "the AR of [a,1] in ZooKeeper ([1]) is not []",
        "the AR of [a,1] in ZooKeeper after the step is []",
        "the znode of topic a in ZooKeeper after the step: yes",
    ),
    "D3": (
        "controller 1",
        "/controller is 2",
        "/controller after the step is -1",
    ),
    "D38": (
        "[a,0], replica 2",
        "broker 2's log of [a,0]: yes",
        "the AR of [a,0] in ZooKeeper {1,3} lacks broker 2",
    ),
    "D2": (
        "controller 1",
        "the version of [a,0] in ZooKeeper (0) is not the version of [a,0] in ZooKeeper after the step (1)",
        "/controller (2) is not 1",
        "controller 1's epoch (1) is < /controller_epoch (2)",
    ),
}  # fmt: skip
"""By defect: of what its claim is false, and which facts make it so.

They follow from the claim's text and the last step alone. D31: the leader's cached version is not the znode's, and
broker 2, the only other one that could lead, is not the leader. D12: a live replica has no LeaderAndIsr. D9: the lock's
holder waits for a thread that waits for the lock. D39: the topic is written without its second partition. D3: broker 1
deletes broker 2's /controller. D38: broker 2 has a log, and is assigned no more. D2: controller 1 writes in epoch 1
while ZooKeeper has 2.
"""


WIDE = {"D2", "D38"}
"""Those whose scopes are large."""


@pytest.mark.takes("It explores a scope.")
@pytest.mark.parametrize("defect", [pytest.param(one, marks=[pytest.mark.slow] * (one in WIDE)) for one in TOLD])
def test_a_known_defect_is_told_by_the_values_that_break_its_claim(defect: str) -> None:
    system, claim, steps = broken(defect)
    why = because(system, claim, steps)
    assert why is not None
    assert why == Because(TOLD[defect][0], TOLD[defect][1:])
    assert why.about == Names(system.model).parameters(first_false(system, claim, steps) or {})


@pytest.mark.takes("It explores a scope.")
def test_where_a_claim_holds_nothing_is_told() -> None:
    system, claim, steps = broken("D39")
    assert first_false(system, claim, steps) is not None
    for end in range(2, len(steps)):
        assert because(system, claim, steps[:end]) is None
        assert first_false(system, claim, steps[:end]) is None


@pytest.mark.slow
def test_of_several_choices_the_first_is_told_and_never_one_of_which_the_claim_holds() -> None:
    """In states of any values, of which most are never reached, and by steps from these: two engines find the same."""
    made, dice = OnDemand(scope("tiny")), random.Random("any values")
    names = dice.sample([*made.names], 12)
    system, told = made.with_actions(names), []
    for number in range(60):
        before = {one.name: dice.randint(0, one.kind.maximum) for one in system.variables}
        action = made.action(names[number % len(names)])
        after = {**before, **{name: evaluate(term, before) for name, term in action.updates.items()}}
        steps: Steps = [(None, before), (action.name, after)]
        claimed = (one for one in made.claims(action.name) if one.kind != "sometimes")
        asked = [one for one in claimed if one.term is not None or one.terms]
        of_steps = [one for one in asked if one.kind == "step"]
        for claim in [*of_steps, *dice.sample(asked, 2)]:
            why, expected = because(system, claim, steps), first_false(system, claim, steps)
            assert (why is None) == (expected is None), claim.name
            if why is not None and expected is not None:
                assert why.about == Names(system.model).parameters(expected), claim.name
                told.append(claim.kind)
    assert {*told} >= {"always", "step", "eventually"}


def test_of_a_system_made_by_hand_the_property_itself_is_asked() -> None:
    """Two clerks read a counter, then each writes what it has read plus one."""
    system = clerks()
    for one in system.properties:
        state = {each.name: each.initial for each in system.variables}
        why = because(system, one, [(None, state)])
        assert (why is None) == (one.term is None or bool(evaluate(one.term, state)))
