"""A listener writes before it has the lock only where it comes next, and another thread than its own has that."""

import pytest

from model_check.judging.before_the_lock import waits_for_the_lock
from model_check.recordings.processes import ControllerSaid
from spec.logs.controller_log.failover import BecomingController, SessionExpired
from spec.logs.log_lines import Line
from spec.state.enumerations import At, Callback, Handler, Owes


def said(line: Line) -> ControllerSaid:
    return ControllerSaid(place="", time=0, text="", controller=1, incarnation=1, line=line)


def state(at: At, handler: Handler = Handler.NONE, waiting: Callback = Callback.SESSION) -> dict[str, object]:
    controller = {"at": list(At).index(at), "handler": list(Handler).index(handler)}
    return {"controllers": {1: {**controller, "callbacks": {0: list(Callback).index(waiting)}}}}


@pytest.mark.parametrize(
    ("at", "handler", "waits"),
    [
        (At.REMOVE_WRITE, Handler.SHUTDOWN, True),
        (At.ONLINE_WRITE, Handler.REBALANCE, True),
        (At.DELETE_TOPIC, Handler.NONE, True),
        (At.REMOVE_READ, Handler.DELETION_START, True),
        (At.REMOVE_READ, Handler.BROKER_FAILURE, False),
        (At.ELECT_READ, Handler.NONE, False),
        (At.IDLE, Handler.NONE, False),
    ],
)
def test_zkclients_own_thread_has_no_lock_to_wait_for(at: At, handler: Handler, waits: bool) -> None:
    assert waits_for_the_lock(said(SessionExpired(1)), state(at, handler)) is waits


def test_start_ups_election_has_a_thread_of_its_own() -> None:
    starting = {**state(At.ELECT_CREATE), "processes": {1: {"owes": list(Owes).index(Owes.AFTER_ELECTION)}}}
    assert waits_for_the_lock(said(SessionExpired(1)), starting)


def test_the_listener_is_next_and_the_line_is_its_own() -> None:
    held = At.REMOVE_WRITE, Handler.SHUTDOWN
    assert not waits_for_the_lock(said(SessionExpired(1)), state(*held, waiting=Callback.BROKERS))
    assert not waits_for_the_lock(said(BecomingController(1)), state(*held))
