"""With delete.topic.enable off, requests to delete topics are dropped, and topics stay (PROTOCOL.md section 7.4)."""

from dataclasses import replace

import pytest

from spec.scopes import scope
from tests.spec.stepping import Run

BOUNDS = scope("refused_deletions")
LONE = scope("refused_deletion")


def test_the_listener_drops_requests_for_unknown_topics_before_the_others() -> None:
    run = Run(replace(BOUNDS, topics_stand=False), creations=1, deletions=1, stray_deletions=1)
    run.do("create_topic(t=0)")
    run.drain("(c=1")
    run.do("request_deletion(t=0)", "request_stray_deletion(t=1)", "on_deletion_change(c=1)")
    assert not run.can("drop_request(c=1, t=0)")
    run.do("drop_request(c=1, t=1)", "drop_request(c=1, t=0)")
    assert (run["controllers[1].at"], run["zookeeper.deletions[0]"], run["zookeeper.topics[0]"]) == (
        "IDLE",
        "no",
        "yes",
    )
    assert run["controllers[1].queued[0]"] == "no"


def test_a_failover_drops_what_is_asked_for_before_its_machines_start() -> None:
    run = Run(LONE, expiries=1, deletions=1)
    run.do("request_deletion(t=0)", "expire_session(b=1, lost=0)", "on_controller_change(c=2)")
    while not run.can("drop_request(c=2, t=0)"):
        run.do(run.enabled("(c=2")[0])
    assert run["controllers[2].deletion"] == "NONE"
    run.do("drop_request(c=2, t=0)")
    assert (run["zookeeper.deletions[0]"], run["controllers[2].deletion"]) == ("no", "MANAGER_ONLY")


@pytest.mark.parametrize("deletes", [True, False])
def test_who_has_no_deletion_thread_to_join_resigns_also_where_a_failover_has_ended_too_early(*, deletes: bool) -> None:
    """D56 is only where topics are deleted: otherwise nothing is done about the missing thread."""
    run = Run(replace(LONE, deletes_topics=deletes), expiries=2, exceptions=1)
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)")
    while run["controllers[2].at"] != "FINISH":
        run.do(next(name for name in run.enabled("(c=2") if "fail_failover" not in name))
    run.do("fail_failover(c=2)", "resign_delete(c=2)", "expire_session(b=2, lost=1)", "renew_session(b=2)")
    run.do("on_new_session(c=2)")
    assert run["controllers[2].active"] == ("yes" if deletes else "no")
