"""Views that know what has read what: what is asked again, and that nothing else is."""

from typing import Any

import pytest

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import EMPTY, Layout, PlainState
from model_check.stepping.watched_state import MOST, Asked, Assigned, Watch, Watched, WatchedAction, WatchedParameters
from spec.language.records import Leaf
from spec.language.terms import number
from spec.model import Model
from spec.scopes import scope
from spec.state.enumerations import At
from spec.variants import AS_CODED

NUMBER = number(7)
PAIR = {"x": Leaf(NUMBER, 0), "y": Leaf(NUMBER, 0)}
LAYOUT = Layout({"a": PAIR, "b": PAIR, "first": Leaf(NUMBER, 3)})


class Questioned:
    """Views of one state, and a question to them whose asking is counted."""

    def __init__(self, about: str, state: PlainState = EMPTY) -> None:
        watch = Watch()
        self.view: Any = Watched(LAYOUT, state, watch)
        self.times = 0
        self.asked = Asked(watch, [about], self._holds)

    def _holds(self, about: str) -> bool:
        self.times += 1
        match about:
            case "is a.x set":
                return bool((self.view.a.x != 0).raw)
            case "is a blank":
                return bool(self.view.a.is_blank())
            case "is b.y set, if a.x is":
                return bool((self.view.a.x != 0).raw) and bool((self.view["b"]["y"] != 0).raw)
            case _:
                return bool((self.view.first == 3).raw)

    def follow(self, state: PlainState) -> tuple[bool, int]:
        """Whether it holds in a state, and how often it was asked until then."""
        self.view.follow(state)
        return bool(self.asked.holding()), self.times


def test_a_question_is_asked_again_where_a_number_that_it_has_read_is_another_and_only_there() -> None:
    question = Questioned("is a.x set")
    assert question.follow(EMPTY) == (False, 1)
    assert question.follow({"a": {"y": 5}, "b": {"x": 1}, "first": 1}) == (False, 1)
    assert question.follow({"a": {"x": 5}}) == (True, 2)
    assert question.follow({"a": {"x": 6}}) == (True, 3)
    assert question.follow({"a": {"x": 6, "y": 1}}) == (True, 3)
    assert question.follow({}) == (False, 3), "the whole record went, and without it the question was asked before"
    assert question.follow({"a": {"x": 7}}) == (True, 4)


def test_what_is_not_in_a_state_is_as_at_first() -> None:
    question = Questioned("is first 3")
    assert question.follow(EMPTY) == (True, 1)
    assert question.follow({"first": 0}) == (False, 2)
    assert question.follow(EMPTY) == (True, 2)
    assert question.follow({"first": 1}) == (False, 3)


def test_whether_a_record_holds_anything_is_asked_again_where_it_begins_to_or_ends() -> None:
    question = Questioned("is a blank")
    assert question.follow(EMPTY) == (True, 1)
    assert question.follow({"a": {"y": 5}}) == (False, 2)
    assert question.follow({"a": {"x": 4}}) == (False, 2)
    assert question.follow({"b": {"x": 4}}) == (True, 2)


def test_what_a_question_reads_only_now_and_then_counts_while_its_answer_rests_on_it() -> None:
    question = Questioned("is b.y set, if a.x is")
    assert question.follow({"b": {"y": 1}}) == (False, 1)
    assert question.follow({"b": {"y": 2}}) == (False, 1)
    assert question.follow({"a": {"x": 1}, "b": {"y": 2}}) == (True, 2)
    assert question.follow({"a": {"x": 1}}) == (False, 3)


def test_what_was_answered_of_the_same_numbers_is_remembered_as_long_as_it_is_not_too_much() -> None:
    """An answer that is remembered is due as one that was just given."""
    question = Questioned("is b.y set, if a.x is")
    states: list[PlainState] = [{"a": {"x": 1}, "b": {"y": one}} for one in range(1, MOST + 1)]
    for times, state in enumerate(states, start=1):
        assert question.follow(state) == (True, times)
    for state in (*states, *reversed(states)):
        assert question.follow(state) == (True, MOST)
    assert question.follow({"a": {"x": 1}, "first": 1}) == (False, MOST + 1)
    assert question.follow(states[0]) == (True, MOST + 2), "all was forgotten for the one before"


def test_answers_come_in_the_order_of_what_is_asked_about() -> None:
    watch = Watch()
    view: Any = Watched(LAYOUT, {"a": {"x": 1, "y": 1}}, watch)
    asked = Asked(watch, ["y", "x"], lambda name: bool((view.a[name] != 0).raw))
    assert asked.holding() == ("y", "x")
    view.follow({"a": {"x": 1}})
    assert asked.holding() == ("x",)


def test_a_parameter_is_read_likewise() -> None:
    watch = Watch()
    parameters = WatchedParameters(watch)
    times = list[int]()

    def holds(one: int) -> bool:
        times.append(one)
        return parameters.get("c") == one

    asked, told = Asked(watch, [1], holds), []
    for now in ({"c": 1, "p": 0}, {"c": 1, "p": 5}, {"c": 2, "p": 5}, {"c": 1, "p": 5}):
        parameters.follow(now)
        told.append((asked.holding(), len(times)))
    assert told == [((1,), 1), ((1,), 1), ((), 2), ((1,), 2)]
    assert dict(parameters) == {"c": 1, "p": 5}


def test_an_action_is_read_by_its_rule_and_by_its_parameters() -> None:
    watch = Watch()
    action = WatchedAction(watch)
    action.follow("first", {"c": 1})
    asked = Asked(
        watch, ["the rule", "c", "whether there is a b"],
        lambda one: {"the rule": lambda: action.rule == "first", "c": lambda: action.parameters["c"] == 1}.get(
            one, lambda: "b" in action.parameters
        )(),
        remembers=False,
    )  # fmt: skip
    assert asked.holding() == ("the rule", "c")
    action.follow("second", {"c": 1})
    assert [one.about for one in asked.due] == ["the rule"]
    assert asked.holding() == ("c",)
    action.follow("second", {"c": 2})
    assert [one.about for one in asked.due] == ["c"]
    assert asked.holding() == ()


def test_a_view_is_read_only() -> None:
    """Who assigns in it is stopped, unless that is not kept, and the state stays as it was."""
    system = OpenSystem(Model(scope("tiny"), AS_CODED))
    view: Any = Watched(system.layout, system.initial, Watch())
    with pytest.raises(Assigned):
        view["controllers"][1]["at"] = At.ELECT_READ
    with pytest.raises(Assigned):
        view.controllers[1].forget("at")
    view.late = 1
    assert "late" not in view
