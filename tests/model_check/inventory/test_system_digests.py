"""The digests of a system's parts: each changes with its part, and with no other."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import z3

from model_check.inventory.system_digests import digests
from model_check.inventory.system_facts import SystemKey
from spec.language.rules import Action, Observation, TransitionSystem, constant
from spec.language.terms import FALSE, TRUE
from spec.lemmas import lemmas_of
from spec.variants import AS_CODED
from tests.model_check.systems import lamps


def with_action(action: Action) -> TransitionSystem:
    system = lamps()
    return replace(system, actions=(action, *system.actions[1:]))


SYSTEM = lamps()
VARIABLE, ACTION, CLAIM = SYSTEM.variables[0], SYSTEM.actions[0], SYSTEM.properties[0]
SEEN = Observation("lamp", "shine", {"number": constant(3)}, TRUE)

CHANGED = {
    "another initial value": (
        replace(SYSTEM, variables=(replace(VARIABLE, initial=1), *SYSTEM.variables[1:])), "variables",
    ),
    "another guard": (with_action(replace(ACTION, guard=z3.Not(ACTION.guard))), "actions"),
    "another overflow": (with_action(replace(ACTION, overflow=z3.Not(ACTION.overflow))), "actions"),
    "another budget": (with_action(replace(ACTION, budget="faults")), "actions"),
    "other updates": (with_action(replace(ACTION, updates=SYSTEM.actions[1].updates)), "actions"),
    "a row is taken": (with_action(replace(ACTION, taken={"P-NEW-ONLINE": TRUE})), "rows"),
    "a claim negated": (
        replace(SYSTEM, properties=(replace(CLAIM, term=z3.Not(CLAIM.term)), *SYSTEM.properties[1:])), "claims",
    ),
    "another witness": (
        replace(SYSTEM, properties=(replace(CLAIM, witness="other"), *SYSTEM.properties[1:])), "claims",
    ),
    "another statement": (with_action(replace(ACTION, statement="Something else.")), "words"),
    "another actor": (with_action(replace(ACTION, actor="somebody")), "words"),
    "another source": (with_action(replace(ACTION, source="nowhere")), "words"),
    "something more is seen": (with_action(replace(ACTION, events=(*ACTION.events, SEEN))), "observations"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_each_part_has_its_digest(name: str) -> None:
    system, part = CHANGED[name]
    before, after = digests(SYSTEM), digests(system)
    assert [one for one in before if before[one] != after[one]] == [part]


@pytest.mark.parametrize(
    "other",
    [
        replace(SEEN, role="lamp 2"), replace(SEEN, kind="glow"), replace(SEEN, fields={"number": constant(2)}),
        replace(SEEN, fields={"name": constant(3)}), replace(SEEN, condition=FALSE),
    ],
)  # fmt: skip
def test_what_is_seen_is_told_apart_by_all_of_it(other: Observation) -> None:
    one, two = (digests(with_action(replace(ACTION, events=(seen,)))) for seen in (SEEN, other))
    assert one["observations"] != two["observations"]


def test_a_lemma_that_says_less_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a proof rests on is among its parts; who explores the same system has no lemmas."""
    built = SystemKey("purgatory", AS_CODED, proving=True).built()
    before = digests(built)
    weaker = [replace(one, term=TRUE if one.term is not None else None, terms={}) for one in lemmas_of(built.model)]
    assert weaker
    monkeypatch.setattr("model_check.inventory.system_digests.lemmas_of", lambda _: tuple(weaker))
    after = digests(built)
    assert [one for one in before if before[one] != after[one]] == ["lemmas"]
    assert "lemmas" not in digests(SystemKey("purgatory_alone", AS_CODED).built())


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_gives_the_same_digests(seed: str) -> None:
    program = (
        "import z3; junk = [z3.Int(f'x{i}') + i for i in range(99)]\n"
        "from tests.model_check.systems import lamps\n"
        "from model_check.inventory.system_digests import digests\n"
        "print(digests(lamps()))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == str(digests(lamps()))
