"""Whose sessions are: told by what they own, also where a stranger made it in its own way."""

import pytest

from model_check.recordings.sessions import Session, by_starts, elected_in, in_use, sessions_by_ownership
from reference.zookeeper.transactions import (
    Change,
    MultiChange,
    NodeCreated,
    SessionClosed,
    SessionCreated,
    Transaction,
    WriteRefused,
)


def owning(change: Change) -> list[Transaction]:
    """A session that begins, and what it does."""
    return [Transaction(1, 0, 7, 0, SessionCreated(4000)), Transaction(2, 0, 7, 1, change)]


ELECTED = NodeCreated("/controller", b'{"version":1,"brokerid":3,"timestamp":"0"}', 7, 1)


@pytest.mark.parametrize("change", [ELECTED, MultiChange((ELECTED, NodeCreated("/other", None, 0, 2)))])
def test_who_owns_the_controller_znode_is_that_broker(change: Change) -> None:
    """Releases from 2.1 on create it together with the epoch's next write, in one transaction."""
    assert sessions_by_ownership(owning(change)) == {7: Session(3, 1, is_guess=True)}


@pytest.mark.parametrize(
    ("data", "broker"),
    [
        (b'{"brokerid":3}', 3),
        (b'{"brokerid":"3"}', 3),
        (b"3", 3),
        (b'{"brokerid":true}', None),
        (b'{"brokerid":1.5}', None),
        (b'{"brokerid":null}', None),
        (b'{"brokerid":"one"}', None),
        (b"{}", None),
        (b"rubbish", None),
        (b"\xff", None),
        (b"", None),
        (None, None),
    ],
)
def test_an_id_is_made_out_wherever_one_can_be(data: bytes | None, broker: int | None) -> None:
    assert elected_in(data) == broker
    owner = {} if broker is None else {7: Session(broker, 1, is_guess=True)}
    assert sessions_by_ownership(owning(NodeCreated("/controller", data, 7, 1))) == owner


def test_a_session_is_of_the_process_that_ran_when_it_began() -> None:
    """A zombie's second session is of the process that had the first; what a log told is no guess."""
    begun = [Transaction(number, 100 * number, number, 0, SessionCreated(4000)) for number in (1, 2, 3, 4)]
    guessed = {number: Session(3, 1, is_guess=True) for number in (1, 2, 3)}
    found = by_starts({**guessed, 4: Session(3, 7)}, begun, {3: [50, 250, 390]})
    assert {number: one.incarnation for number, one in found.items()} == {1: 1, 2: 1, 3: 2, 4: 7}
    assert by_starts({1: Session(5, 1, is_guess=True)}, begun, {})[1] == Session(5, 1)


@pytest.mark.parametrize(
    ("done", "kept"),
    [
        ((SessionClosed(()), ELECTED), {8}),
        ((WriteRefused(-101), SessionClosed(()), ELECTED), {7, 8}),
        ((ELECTED, SessionClosed(("/controller",)), ELECTED), {7, 8}),
        ((SessionClosed(()), SessionClosed(())), {8}),
    ],
)
def test_a_process_begins_with_the_first_session_that_it_uses(done: tuple[Change, ...], kept: set[int]) -> None:
    """One that is lost before, while it starts, has no listener; its last one is its own, even if it does nothing."""
    *of_first, of_second = done
    of_both = [(7, SessionCreated(4000)), *((7, one) for one in of_first), (8, SessionCreated(4000)), (8, of_second)]
    told = [Transaction(number, 0, session, 0, one) for number, (session, one) in enumerate(of_both, start=1)]
    assert in_use({7: Session(3, 1), 8: Session(3, 1)}, told).keys() == kept
    assert in_use({7: Session(3, 1), 8: Session(3, 2)}, told).keys() == {7, 8}
