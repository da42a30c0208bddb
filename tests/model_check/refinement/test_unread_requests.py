"""A request to reassign is deleted only by who has read it, where that is fixed: both sides side by side.

Two controllers, one of them a zombie, refuse the same request: it asks for what is so already. When the zombie has
deleted it, the admin asks for something else, which its successor is about to delete unread (S8). The reference goes by
the zxid of the znode's creation; the specification keeps whether the one that stands was read.
"""

from dataclasses import replace

import pytest

from spec.model import Model
from spec.scopes import scope
from spec.state.controller import Controller
from spec.variants import AS_CODED, FENCED, Switch, Switches
from tests.model_check.side_by_side import SideBySide

FIXED = frozenset({Switch.KEEP_UNREAD_REQUESTS})
ZOMBIE = scope("reassignment_zombie")
SAME = replace(ZOMBIE, requests=(ZOMBIE.assigned, *ZOMBIE.requests))
"""The first request is for the replicas that there are."""

BOTH_HAVE_READ = (
    "request_reassignment(k=0)", "on_reassignment_request(c=1)", "read_remaining(c=1, p=0)",
    "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)",
    "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)",
    "read_state(c=2, p=0)", "read_reassignments(c=2)", "read_remaining(c=2, p=0)", "renew_session(b=1)",
)  # fmt: skip


@pytest.mark.parametrize(("switches", "left"), [(AS_CODED, "[]"), (FIXED, "[2]")])
@pytest.mark.parametrize("losses", [0, 1])
def test_a_request_that_nobody_has_read_stays(switches: Switches, left: str, losses: int) -> None:
    both = SideBySide(SAME, switches, reassignments=2, expiries=1, move_losses=losses)
    both.do(*BOTH_HAVE_READ, "write_remaining(c=1, p=0)", "request_reassignment(k=1)", "write_remaining(c=2, p=0)")
    assert both["zookeeper.requested[0]"] == left


def test_it_is_kept_what_was_read_where_another_request_may_stand() -> None:
    assert Model(ZOMBIE, FIXED).keeps(Controller.remaining_read)
    assert not Model(ZOMBIE, AS_CODED).keeps(Controller.remaining_read), "nobody asks"
    assert Model(scope("lost_moves"), AS_CODED).keeps(Controller.remaining_read), "but what is claimed there"
    assert not Model(ZOMBIE, FENCED).keeps(Controller.remaining_read), "only the controller in office writes"
    assert Model(ZOMBIE, FENCED - {Switch.CLEAR_CONTEXT}).keeps(Controller.remaining_read), (
        "an earlier term's reassignment (D13)"
    )
    assert not Model(scope("preferred_election"), FIXED).keeps(Controller.remaining_read)
