"""The world of a driven controller: whose session ends hears of it as ZkClient does, and waits for a new one."""

from collections.abc import Sequence

import pytest

from model_check.conformance.driving.world import World
from model_check.conformance.vector import Object
from spec.errors import MalformedInput, Where

HERE = Where("here")
IDS: Object = {"op": "children", "path": "/brokers/ids", "watch": True}
EXPIRED, GOES_ON = {"session": "expired"}, {"session": "goes on"}
END: Object = {"end_session": 1}
RENEW: Object = {"renew_session": 1}
REGISTER: Object = {"register": 1}


def world(*turns: Sequence[Object]) -> World:
    """That of broker 1."""
    return World({"broker": 1, "compared": [], "script": [*turns]})


def heard(one: World) -> list[Object]:
    """What it is told until the end."""
    found = []
    while (event := one.wait()) is not None:
        found.append(event)
    return found


def test_behind_the_end_of_a_session_listeners_wait_for_the_registration() -> None:
    one = world([REGISTER], [END, RENEW], [{"register": 2}], [REGISTER])
    assert heard(one) == [EXPIRED, GOES_ON]


def test_who_was_not_registered_waits_for_nothing() -> None:
    assert heard(world([], [END, RENEW])) == [EXPIRED, GOES_ON]


def test_who_is_registered_before_it_hears_of_the_end_waits_for_nothing() -> None:
    assert heard(world([REGISTER], [END, RENEW, REGISTER])) == [EXPIRED, GOES_ON]


def test_each_of_two_sessions_that_end_is_told_of_in_full() -> None:
    assert heard(world([REGISTER], [END, RENEW], [END, RENEW], [REGISTER])) == [EXPIRED, GOES_ON, EXPIRED, GOES_ON]


@pytest.mark.parametrize("call", [{"rebalance": True}, {"shutdown": 2}])
def test_other_threads_do_not_wait_for_the_registration(call: Object) -> None:
    assert heard(world([REGISTER], [END, RENEW], [call], [REGISTER])) == [EXPIRED, call, GOES_ON]


def test_watches_wait_for_the_registration() -> None:
    one = world([REGISTER], [END, RENEW], [{"register": 2}], [REGISTER])
    assert one.wait() == EXPIRED
    one.ask(IDS, HERE)
    assert heard(one) == [GOES_ON, {"watch": "/brokers/ids", "type": "NodeChildrenChanged"}]


def test_what_is_asked_without_a_session_is_answered_under_the_next_one() -> None:
    one = world([REGISTER], [END, {"shutdown": 2}], [{"create": "/a", "data": 1}], [RENEW])
    assert one.wait() == {"shutdown": 2}
    assert one.ask(IDS, HERE) == {"refused": "SessionExpired"}
    assert one.ask({"op": "create", "path": "/b"}, HERE) == {"result": {}}
    assert heard(one) == [EXPIRED]
    assert [*one.outcome()["turns"].values()] == [[], [], [], [{"create": "/b", "data": None}]]


def test_a_script_that_ends_without_a_session_is_none() -> None:
    one = world([REGISTER], [END, {"shutdown": 2}])
    one.wait()
    one.ask(IDS, HERE)
    with pytest.raises(MalformedInput, match="the script: it ends while the controller has no session"):
        one.ask(IDS, HERE)
