"""The open system takes the steps of the specification: compared with the oracle, state by state, action by action."""

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from model_check.explicit_state.interpreter import Machine
from model_check.stepping.open_system import A_FEW, NoRoom, OpenSystem, open_system
from model_check.stepping.plain_state import Draft, Layout, PlainState
from spec.language.rules import Action, Leaf
from spec.language.terms import FLAG
from spec.model import Model
from spec.scopes import scope
from spec.state.enumerations import Callback, Session
from spec.variants import AS_CODED, FENCED, Switches
from tests.model_check.plain_exploration import explore_plainly
from tests.spec.on_demand import OnDemand


@cache
def machine(name: str, switches: Switches = AS_CODED) -> Machine:
    return Machine(OnDemand(scope(name), switches).unclaimed())


@cache
def counting(name: str, switches: Switches = AS_CODED) -> OpenSystem:
    """The scope's own system, budgets and capacities included, taken step by step."""
    return OpenSystem(Model(scope(name), switches), draws_budgets=True)


def step(opened: OpenSystem, state: PlainState, action: Action) -> PlainState | None:
    try:
        found = opened.step(state, action.rule, action.parameters)
    except NoRoom:
        return None
    return None if found is None else found[0]


def agree(name: str, switches: Switches, raw: tuple[int, ...], *, enabled_only: bool = False) -> list[str]:
    """Both systems take the same steps from a state; the names of the rules that are enabled in it."""
    oracle, opened = machine(name, switches), counting(name, switches)
    state, fired = opened.layout.unflatten(oracle.unpack(raw)), []
    for action, function in oracle.steps:
        after = function(raw)
        if after is not None:
            fired.append(action.rule)
            assert step(opened, state, action) == opened.layout.unflatten(oracle.unpack(after)), action.name
        elif not enabled_only:
            assert step(opened, state, action) is None, action.name
    return fired


@pytest.mark.slow
def test_every_edge_of_tiny_is_a_step_and_nothing_else_is() -> None:
    found = explore_plainly(machine("tiny").system)
    assert (found.states, found.transitions) == (12556, 40236)
    for raw in found.reached:
        agree("tiny", AS_CODED, raw)


@pytest.mark.parametrize(
    ("stride", "limit"),
    [(10, 200), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((10, 400), (50, None), (10, None)))],
)
def test_one_state_in_so_many_of_tiny_agrees_and_all_of_its_values_survive(stride: int, limit: int | None) -> None:
    opened, oracle = counting("tiny"), machine("tiny")
    for raw in list(explore_plainly(oracle.system, limit).reached)[::stride]:
        state = oracle.unpack(raw)
        assert opened.layout.flatten(opened.layout.unflatten(state)) == state
        agree("tiny", AS_CODED, raw, enabled_only=hash(raw) % 4 > 0)


def test_the_first_states_of_election_agree() -> None:
    for raw in explore_plainly(machine("election").system, limit=300).reached:
        agree("election", AS_CODED, raw)


def walk(name: str, switches: Switches, steps: int) -> Iterator[str]:
    """A random walk, both systems compared in each state; the names of the rules on the way."""
    oracle, choices = machine(name, switches), random.Random(1)
    raw = oracle.initial
    for _ in range(steps):
        fired = agree(name, switches, raw)
        yield from fired
        after = [one for _, function in oracle.steps if (one := function(raw)) is not None]
        raw = choices.choice(after) if after and choices.random() > 0.02 else oracle.initial


@pytest.mark.parametrize(
    ("name", "switches", "steps"),
    [
        pytest.param("losses", AS_CODED, 400, marks=pytest.mark.slow),
        pytest.param("notifications", FENCED, 150, marks=pytest.mark.slow),
        pytest.param("metadata", AS_CODED, 150, marks=pytest.mark.slow),
        ("creation", AS_CODED, 150),
        pytest.param("early", AS_CODED, 400, marks=pytest.mark.slow),
        ("purgatory_alone", AS_CODED, 400),
    ],
)
def test_random_walks_agree(name: str, switches: Switches, steps: int) -> None:
    assert len(set(walk(name, switches, steps))) > 15


def test_an_open_system_counts_as_far_as_it_must() -> None:
    """Faults draw on nothing, so the same process may crash and start again, for ever."""
    opened = open_system(3, ((1, 2),), (0,), controller_epochs=5)
    state = opened.initial
    for _ in range(3):
        for rule, parameters in (("start_process", {"b": 3}), ("crash", {"b": 3}), ("end_orphaned_session", {"b": 3})):
            found = opened.step(state, rule, parameters)
            assert found is not None
            state = found[0]
    assert state == opened.initial == {}


def test_a_full_queue_is_no_room() -> None:
    opened = OpenSystem(Model(scope("cold"), AS_CODED))
    state = opened.layout.unflatten(
        opened.layout.flatten({})
        | {f"controllers[1].callbacks[{i}]": 1 for i in range(6)}
        | {"processes[1].session": 2}
    )
    with pytest.raises(NoRoom, match=r"renew_session\(b=1\)"):
        opened.step(state, "renew_session", {"b": 1})


def test_a_queue_that_grows_by_more_than_a_few_is_given_a_whole_scopes_places() -> None:
    """A client with a new session queues its two handlers, and a callback for each of its listeners."""
    opened = open_system(1, ((1,),) * 2, (0, 0), controller_epochs=3)
    listening = {"topics": 1, "brokers": 1, "isr_changes": 1}
    process, controller = {"session": list(Session).index(Session.EXPIRED)}, {"listening": listening}
    state = {"processes": {1: process}, "controllers": {1: controller}}
    assert opened.model_for({}, state).scope.callback_capacity == A_FEW
    found = opened.step(state, "renew_session", {"b": 1})
    assert found is not None
    assert len(found.after["controllers"][1]["callbacks"]) > A_FEW
    assert opened.model_for({}, found.after).scope.callback_capacity == 2 * A_FEW


def test_a_brokers_notifications_pile_up_and_are_deleted_in_any_order() -> None:
    """Broker 1 of three reports, and reports once more: the second one stands in its second place, which is 4."""
    opened = open_system(3, ((1, 2), (1, 2)), (0, 0), controller_epochs=3)

    def taken(state: PlainState, rule: str, more: dict[str, int], **parameters: int) -> PlainState:
        found = opened.step(opened.layout.unflatten(opened.layout.flatten(state) | more), rule, parameters)
        assert found is not None
        return found[0]

    live = {f"processes[{b}].session": list(Session).index(Session.LIVE) for b in (1, 2)}
    state = taken({}, "report_isr_changes", live | {"brokers[1].partitions[0].unreported": 1}, b=1)
    state = taken(state, "report_isr_changes", {"brokers[1].partitions[1].unreported": 1}, b=1)
    assert state["zookeeper"]["notified"] == {0: 0b0001, 1: 0b1000}
    reading = {"controllers[2].active": 1, "controllers[2].callbacks[0]": list(Callback).index(Callback.ISR_CHANGES)}
    state = taken(state, "on_isr_change", reading, c=2)
    state = taken(taken(state, "read_notification", {}, c=2, n=1), "read_notification", {}, c=2, n=4)
    state = taken(taken(state, "read_notified", {}, c=2, p=0), "read_notified", {}, c=2, p=1)
    assert opened.step(state, "delete_notification", {"c": 2, "n": 2}) is None
    ends: list[dict[str, int]] = []
    for first, second in ((1, 4), (4, 1)):
        once = taken(state, "delete_notification", {}, c=2, n=first)
        assert once["zookeeper"]["notified"] == ({1: 0b1000} if first == 1 else {0: 0b0001})
        ends.append(opened.layout.flatten(taken(once, "delete_notification", {}, c=2, n=second)))
    assert ends[0] == ends[1]
    assert ends[0]["zookeeper.notified[0]"] == ends[0]["zookeeper.notified[1]"] == 0
    full = {f"zookeeper.notified[{p}]": sum(1 << n - 1 for n in opened.model.notices_of(1)) for p in (0, 1)}
    with pytest.raises(NoRoom, match=r"report_isr_changes\(b=1\)"):
        taken({}, "report_isr_changes", live | full | {"brokers[1].partitions[0].unreported": 1}, b=1)


def test_what_is_seen_of_a_step_reads_as_in_every_story() -> None:
    opened = open_system(2, (), (), controller_epochs=3)
    started = opened.step({}, "start_process", {"b": 2})
    assert started is not None
    assert [str(one) for one in started[1]] == ["broker 2 start process"]


# ------------------------------------------------------------------------------------------------------------- states


def draft(state: PlainState) -> Any:
    return Draft(open_system(2, ((1, 2),), (0,), controller_epochs=3).layout, state)


def test_what_is_initial_again_is_left_out() -> None:
    view = draft({})
    view.zookeeper.epoch = 2
    view.zookeeper.epoch = 0
    assert view.finished() == {}


def test_a_state_is_not_changed_by_its_drafts() -> None:
    before: PlainState = {"zookeeper": {"epoch": 1, "state": {0: {"leader": 1}}}}
    view = draft(before)
    view.zookeeper.state[0].leader = 2
    assert view.finished() == {"zookeeper": {"epoch": 1, "state": {0: {"leader": 2}}}}
    assert before == {"zookeeper": {"epoch": 1, "state": {0: {"leader": 1}}}}


def test_records_that_were_copied_are_written_apart() -> None:
    view = draft({"connections": {1: {2: {1: {"stage": 1, "partitions": {0: {"leader": 1}}}}}}})
    queue = view.connections[1][2]
    old = queue[0].partitions[0]
    queue[0] = queue[1]
    queue[1].partitions[0].leader = 2
    assert old.leader.raw == 1
    queue[0].partitions[0].isr = (1,)
    assert view.finished() == {
        "connections": {
            1: {
                2: {
                    0: {"stage": 1, "partitions": {0: {"leader": 1, "isr": 1}}},
                    1: {"stage": 1, "partitions": {0: {"leader": 2}}},
                }
            }
        }
    }
    queue[0].forget()
    assert queue[0].stage.raw == 0
    assert list(view.finished()["connections"][1][2]) == [1]


def test_what_a_state_does_not_have_is_named() -> None:
    with pytest.raises(AttributeError, match="no leader here"):
        _ = draft({}).zookeeper.leader


def test_a_variable_that_a_drafts_method_would_hide_is_refused() -> None:
    with pytest.raises(ValueError, match="a state has no share: its drafts have a method of that name"):
        assert Layout({"broker": {"share": Leaf(FLAG, False)}}).kept
