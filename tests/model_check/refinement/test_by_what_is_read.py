"""What is kept by what was read is what would be found again: in every state of whole scopes, for every step."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from model_check.refinement.by_what_is_read import ByWhatIsRead, Noting
from model_check.refinement.lockstep import Sides
from model_check.refinement.written_lines import LOGS
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.said_lines import Expected
from model_check.terms.python_code import Raw
from model_check.traces.logged import names_of
from reference.memory.choices import Choice
from spec.model import Model
from spec.scopes import scope
from spec.variants import AS_CODED, FENCED, Switches

SCOPES = ("bounce", "move", "leaderless_deletion", "foreign_recreation", "out_of_sync_rebalance")
LARGER = {"move", "leaderless_deletion", "foreign_recreation"}
"""Not every day."""


@cache
def sides(name: str, switches: Switches = AS_CODED) -> Sides:
    return Sides(scope(name), switches)


def states(both: Sides) -> Iterator[tuple[Raw, Mapping[str, Raw]]]:
    """Every state that is reached, with the steps that are enabled in it."""
    seen, pending = {both.machine.initial}, [both.machine.initial]
    while pending:
        raw = pending.pop()
        enabled = both.enabled(raw)
        pending += {*enabled.values()} - seen
        seen.update(pending)
        yield raw, enabled


def plainly(lines: Sequence[Expected]) -> list[Any]:
    return [(one.kind, dict(one.fields), one.group, one.perhaps) for one in lines]


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        *(pytest.param(name, AS_CODED, marks=[pytest.mark.slow] * (name in LARGER)) for name in SCOPES),
        ("bounce", FENCED),
    ],
)
def test_lines_that_are_kept_are_those_that_the_rule_says_here(name: str, switches: Switches) -> None:
    """The rule is run once more, without notes, and by a model whose queues are as short as they may be."""
    both = sides(name, switches)
    m, actions = Model(both.scope, switches), {action.name: action for action in both.system.actions}
    rules, names, steps = OpenSystem(m, draws_budgets=True), names_of(m), 0
    for raw, enabled in states(both):
        state = rules.layout.unflatten(both.machine.unpack(raw))
        for step in enabled:
            taken = actions[step]
            due = both.lines.due(Choice(taken.rule, tuple(taken.parameters.items()), lambda _: None), raw)
            found = rules.step(state, taken.rule, taken.parameters)
            assert found is not None
            for log in LOGS:
                said = [one for one in found.said if both.lines.is_compared(one.line)]
                assert plainly(due.lines[log]) == plainly(names.expected(said, log))
            steps += 1
    assert 1 < both.lines.known.kept < steps, "or nothing was kept, or everything was asked"


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one in LARGER)) for one in SCOPES])
def test_observations_depend_on_nothing_else_than_what_they_are_kept_by(name: str) -> None:
    both, found = sides(name), ByWhatIsRead[Any]()
    for raw, enabled in states(both):
        for step in enabled:
            shown = list(both.demanded.shown(step, raw))
            assert shown == (found.get(step, raw) or found.keep(step, raw, both.demanded.read_by(step), shown) or [])
    assert found.kept > 1


def test_what_is_taken_over_from_another_record_counts_as_read() -> None:
    """The next request comes to the head of a queue, where it is then read; so is where it came from."""
    one = Noting(Model(scope("bounce"), AS_CODED))
    draft: Any = one._draft(one.initial)
    head, following = (draft.connections[1][2][k] for k in (0, 1))
    head.become(following)
    assert head.stage.raw == 0
    names = {cell: name for name, _, cell in one.layout.names}
    read = {names[cell] for cell in one.read() if cell in names}
    assert read > {"connections[1][2][1].stage", "connections[1][2][1].epoch", "connections[1][2][0].stage"}
    assert "connections[1][2][0].epoch" not in read


def test_what_was_assigned_is_read_alike_whatever_was_there_before() -> None:
    """Else a rule would ask in one order where the old value is the new one, and in another order where it is not."""
    read = set[tuple[object, ...]]()
    for before in (1, 2):
        one = Noting(Model(scope("bounce"), AS_CODED))
        draft: Any = one._draft({"zookeeper": {"state": {0: {"leader": before}}}})
        state = draft.zookeeper.state[0]
        state.leader = 1
        assert (state.leader.raw, state.isr.raw) == (1, 0)
        state.forget()
        assert (state.isr.raw, state.leader.raw, state.version.raw) == (0, 0, 0)
        names = {cell: name for name, _, cell in one.layout.names}
        read.add(tuple(names[cell] for cell in one.read() if cell in names))
    assert read == {tuple(f"zookeeper.state[0].{name}" for name in ("isr", "leader", "version"))}


def test_a_record_that_is_asked_whether_it_is_blank_counts_as_read_whole() -> None:
    one = Noting(Model(scope("bounce"), AS_CODED))
    draft: Any = one._draft(one.initial)
    assert draft.connections[1][2].is_blank()
    cells = {cell for name, _, cell in one.layout.names if name.startswith("connections[1][2]")}
    assert cells <= set(one.read())


def test_results_are_found_by_the_variables_that_were_read() -> None:
    known = ByWhatIsRead[str]()
    known.keep("a", (0, 1, 2), (1,), "one")
    known.keep("a", (0, 2, 2), (1, 0), "two and nought")
    assert known.get("a", (9, 1, 9)) == "one"
    assert known.get("a", (0, 2, 9)) == "two and nought"
    assert known.get("a", (9, 2, 9)) is None
    assert known.get("b", (0, 1, 2)) is None
    assert known.kept == 2
    with pytest.raises(RuntimeError, match="does not ask the same"):
        known.keep("a", (0, 1, 2), (2,), "another question first")
