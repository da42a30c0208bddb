"""Whose sessions are: told by what they own, also where a stranger made it in its own way."""

import pytest

from model_check.recordings.sessions import Session, elected_in, sessions_by_ownership
from reference.zookeeper.transactions import Change, MultiChange, NodeCreated, SessionCreated, Transaction


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
