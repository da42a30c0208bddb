"""Lines of a driven controller: those of some kinds, each once, with what has no order in one order."""

import re
from pathlib import Path

import pytest

import model_check.conformance
from model_check.conformance.driving.log_lines import KINDS, LOGS, lines_of_turn
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_request_lines import ControllerLine
from tests.model_check.conformance.all_vectors import VECTORS

MOVED = "Controller 1 epoch 3 changed partition [a,0] from OfflinePartition to OnlinePartition with leader 2"
ASKED = {"PartitionBecameOnline", "ActiveBrokers", "ReassignmentsDone", "ReassignmentsFound", "NotCaughtUp"}


def test_lines_stand_in_ascending_order_and_each_once() -> None:
    second = MOVED.replace("[a,0]", "[b,0]")
    assert lines_of_turn([second, MOVED, second], ASKED) == [MOVED, second]


def test_lines_of_other_kinds_and_what_kafka_does_not_say_are_passed_over() -> None:
    others = ["[Controller 1]: Broker 1 resigned as the controller", "I have begun", MOVED + " and 3"]
    assert lines_of_turn([*others, MOVED], ASKED) == [MOVED]
    assert lines_of_turn(others, ASKED) == []


def test_what_has_no_order_is_sorted() -> None:
    context = "ReassignedPartitionsContext(List({}),null)".format
    said = [
        "[Controller 1]: Currently active brokers in the cluster: Set(10, 3, 2)",
        "[Controller 1]: Partitions already reassigned: Set([b,0], [a,1])",
        f"[Controller 1]: Partitions being reassigned: Map([b,0] -> {context('3, 2')}, [a,0] -> {context('2, 3')})",
    ]
    assert lines_of_turn(said, ASKED) == [
        "[Controller 1]: Currently active brokers in the cluster: Set(2, 3, 10)",
        "[Controller 1]: Partitions already reassigned: Set([a,1], [b,0])",
        f"[Controller 1]: Partitions being reassigned: Map([a,0] -> {context('2, 3')}, [b,0] -> {context('3, 2')})",
    ]


def test_the_numbers_of_partitions_that_are_added_are_those_of_a_map() -> None:
    about = "[AddPartitionsListener on Controller 1]: Skipping adding partitions"
    why = "for topic a since it is currently being deleted"
    assert lines_of_turn([f"{about} 10,2 {why}"], {"PartitionsSkipped"}) == [f"{about} 2,10 {why}"]


def test_where_a_text_departs_from_kafkas_lines_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes a tenth of a second a text, and a controller may log all that it likes."""
    monkeypatch.setattr("spec.logs.log_lines.Vocabulary._departure", lambda *_: pytest.fail("it was looked for"))
    assert lines_of_turn(["", "two\nlines", "I begin anew", MOVED + "\n", MOVED], ASKED) == [MOVED]


def test_no_text_is_read_where_no_kind_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_check.conformance.driving.log_lines._line", lambda _: pytest.fail("it was read"))
    assert lines_of_turn([MOVED], []) == []


def test_what_has_an_order_keeps_it() -> None:
    said = "[Controller 1]: New replicas 3,2 for partition [a,0] being reassigned not yet caught up with the leader"
    assert lines_of_turn([said], ASKED) == [said]


def test_the_page_has_every_kind_that_a_vector_names() -> None:
    page = (Path(model_check.conformance.__path__[0]) / "FORMAT.md").read_text("utf-8")
    named = {kind for one in VECTORS for kind in one.given.get("lines", ())}
    assert named <= KINDS
    assert [kind for kind in sorted(named) if f"| `{kind}` |" not in page] == []


def test_the_page_has_every_kind_that_a_controller_logs_either_with_its_text_or_with_why_nobody_asks_for_it() -> None:
    page = (Path(model_check.conformance.__path__[0]) / "FORMAT.md").read_text("utf-8")
    asked_for, _, not_asked_for = page.partition("| not asked for | why |")
    rows = {*re.findall(r"^\| `(\w+)` \|", asked_for, re.MULTILINE)}
    reasons = {*re.findall(r"`([A-Z]\w+)`(?:, | \|)", not_asked_for)}
    said = {one.__name__ for log in LOGS for one in log.kinds if issubclass(one, ControllerLine | ControllerLogLine)}
    assert sorted(said - rows - reasons) == []
    assert sorted(reasons - said) == []
    assert rows.isdisjoint(reasons)
    assert {kind for one in VECTORS for kind in one.given.get("lines", ())}.isdisjoint(reasons)
