"""The public face of delayed operations: who completes them, the clock, CreateTopics requests, the purge.

What is expected is what Kafka 0.10.2 does, by PROTOCOL.md section 11 and DelayedOperationTest.
"""

import json
from typing import Any

import pytest

import reference
from spec.errors import BadInput


def operation(delayed: Any, name: str) -> Any:
    return delayed.view()["operations"][name]


def test_request_satisfaction() -> None:
    """DelayedOperationTest.testRequestSatisfaction."""
    delayed = reference.delayed()
    assert delayed.check("test1") == 0
    assert not delayed.wait("r1", ["test1"], 100)
    assert not delayed.wait("r2", ["test2"], 100)
    assert delayed.check("test1") == 0
    delayed.hold("r1")
    assert (delayed.check("test1"), delayed.check("test1")) == (1, 0)
    delayed.hold("r2")
    assert delayed.check("test2") == 1
    assert delayed.wait("r3", ["test1"], 100, holds=True), "it is tried before it waits"


def test_request_expiry() -> None:
    """DelayedOperationTest.testRequestExpiry: the one that is satisfied does not expire."""
    delayed = reference.delayed()
    delayed.wait("r1", ["test1"], 20)
    delayed.wait("r2", ["test1"], 200)
    assert (delayed.pass_time(19), delayed.pass_time(1)) == ([], ["r1"])
    assert operation(delayed, "r1") == {"completed": True, "told": 1, "expirations": 1}
    delayed.hold("r2")
    assert delayed.check("test1") == 1
    assert delayed.pass_time(1000) == []
    assert operation(delayed, "r2") == {"completed": True, "told": 1, "expirations": 0}


def test_request_purge() -> None:
    """DelayedOperationTest.testRequestPurge: what is completed lingers under its other keys until the purge."""
    delayed = reference.delayed(purge_interval=0)
    delayed.wait("r1", ["test1"], 100)
    delayed.wait("r2", ["test1", "test2"], 100)
    delayed.wait("r3", ["test1", "test2", "test3"], 100)
    counts = [(delayed.view()["delayed"], delayed.view()["watched"])]
    for name in ("r2", "r3"):
        assert delayed.complete(name)
        assert not delayed.complete(name), "whoever comes second does nothing"
        counts.append((delayed.view()["delayed"], delayed.view()["watched"]))
    assert counts == [(3, 6), (2, 6), (1, 6)]
    delayed.purge()
    assert delayed.view()["watched"] == 1


def test_topics_that_are_created_wait_for_all_their_leaders() -> None:
    """PROTOCOL.md section 11, DelayedCreateTopics: a topic with an error keeps it, one that is missing is 7."""
    delayed = reference.delayed()
    assert not delayed.create_topics("c", {"a": 2, "b": 1}, 30, errors={"bad": 36})
    assert (delayed.update_metadata({"a-0": 1, "a-1": -1}), delayed.update_metadata({"b-0": 2})) == (0, 0)
    assert delayed.update_metadata({"a-1": 1}) == 1
    assert delayed.view()["answers"]["c"] == {"a": 0, "b": 0, "bad": 36}
    delayed.create_topics("d", {"a": 2, "e": 1}, 30)
    assert delayed.pass_time(30) == ["d"]
    assert delayed.view()["answers"]["d"] == {"a": 0, "e": 7}


def test_who_does_not_wait_is_answered_at_once() -> None:
    """PROTOCOL.md section 11: with timeout <= 0, or errors only; what is missing with 7."""
    delayed = reference.delayed()
    assert delayed.create_topics("now", {"a": 1}, 0)
    assert delayed.create_topics("bad", {}, 30, errors={"b": 36})
    assert delayed.view()["answers"] == {"now": {"a": 7}, "bad": {"b": 36}}
    assert (delayed.view()["watched"], delayed.view()["delayed"]) == (0, 0)


def test_the_view_is_json_and_what_cannot_be_is_refused() -> None:
    delayed = reference.delayed()
    delayed.wait("r", ["k"], 1)
    delayed.create_topics("c", {"a": 1}, 1)
    assert json.loads(json.dumps(delayed.view())) == delayed.view()
    for act, says in (
        (lambda: delayed.wait("r", ["k"], 1), "name of its own"),
        (lambda: delayed.hold("x"), "operation"),
        (lambda: delayed.hold("c"), "waits for leaders"),
        (lambda: delayed.update_metadata({"a": 1}), "is no partition"),
        (lambda: delayed.hold(7), "operation: expected a text, found 7"),  # type: ignore[arg-type]
        (lambda: delayed.wait("s", [7], 1), r"keys: \[0\]: expected a text"),  # type: ignore[list-item]
        (lambda: delayed.wait("s", ["k"], -1), "timeout: expected a number from 0"),
        (lambda: delayed.wait("s", ["k"], 1, holds=0), "holds: expected true or false"),  # type: ignore[arg-type]
        (lambda: delayed.check(["k"]), "key: expected a text"),  # type: ignore[arg-type]
        (lambda: delayed.pass_time(float("nan")), "seconds: expected a number"),
    ):
        with pytest.raises(BadInput, match=says):
            act()
