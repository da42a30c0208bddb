"""What a new session queues, in the order in which ZkClient's table has the listeners on children."""

import pytest

from model_check.stepping.open_system import open_system
from spec.state.enumerations import Callback, Session
from spec.state.listeners import LISTENED, ON_CHILDREN

PATHS = {name: LISTENED[name].path for name in ON_CHILDREN}


def place(path: str, size: int) -> int:
    """Where java.util.concurrent.ConcurrentHashMap of Java 8 has a String in a table of so many places."""
    hashed = 0
    for letter in path:
        hashed = (31 * hashed + ord(letter)) & 0xFFFFFFFF
    return (hashed ^ hashed >> 16) & size - 1


@pytest.mark.parametrize("size", [16, 32])
def test_the_order_is_that_of_the_hashes(size: int) -> None:
    places = [place(PATHS[name], size) for name in ON_CHILDREN]
    assert set(PATHS.values()) == {
        "/brokers/ids", "/brokers/topics", "/admin/delete_topics", "/isr_change_notification",
    }  # fmt: skip
    assert places == sorted(set(places))


def test_a_real_controllers_new_session_queues_the_listeners_in_that_order() -> None:
    """Recording 11a, broker-3/controller.log:2308-2335: ISR changes, brokers, deletions, topics."""
    opened = open_system(1, ((1,),), (0,), controller_epochs=2, parts=frozenset({"deletion"}))
    expired = {"session": list(Session).index(Session.EXPIRED), "owes": 0}
    listening = dict.fromkeys(PATHS, 1)
    before = {"processes": {1: expired}, "controllers": {1: {"listening": listening}}}
    found = opened.step(before, "renew_session", {"b": 1})
    assert found is not None
    queued = [list(Callback)[raw].name for _, raw in sorted(found[0]["controllers"][1]["callbacks"].items())]
    assert queued == ["SESSION", "REGISTRATION", "ISR_CHANGES", "BROKERS", "DELETIONS", "TOPICS", "CONTROLLER"]
