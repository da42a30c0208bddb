"""What a listener was given before it had the controller lock explains what it writes when it has it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from spec.protocol.controller.early_reads import read_for_listener
from tests.model_check.stand_ins import Play, a_scope


def completed_meanwhile() -> Play:
    """ZkClient reads the topics, and the deletion thread completes one of them before the listener has the lock."""
    play = Play(a_scope(2, ((1, 2), (2, 1)), requests=(((2, 1), ()),)))
    play.start(topics=2)
    play.do("request_reassignment(k=0)")
    play.rest()
    play.do("request_deletion(t=0)", "request_deletion(t=1)")
    with play.holding(r"on_topic_change", r"on_replica_deleted.*p=1"):
        play.do("delete_topic(c=1, t=0)", "read_for_listener(c=1)")
    with play.holding(r"on_topic_change", r"on_deletion_change"):
        play.do("delete_request(c=1, t=1)")
    play.rest()
    return play


def won_meanwhile() -> Play:
    """D67: ZkClient reads that nobody is controller, and start-up becomes it; only the end of its session helps."""
    play = Play(a_scope(2, ((1, 2),)))
    play.start(topics=1)
    play.kill(1)
    with play.holding(r"elect_\w+\(c=2", r"on_controller_change\(c=2"):
        play.do("start_process_early(b=1)", "end_orphaned_session(b=1)", "read_for_listener(c=1)")
        play.do("finish_failover(c=1)")
    play.rest()
    play.do("expire_session(b=1, lost=0)")
    play.rest()
    return play


def removed_meanwhile() -> Play:
    """D59: ZkClient reads a request, which is removed by hand while the deletion thread has the lock."""
    play = Play(a_scope(2, ((1, 2), (2, 1)), requests=(((2, 1), ()),)))
    play.start(topics=2)
    play.do("request_deletion(t=1)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=1)")
    play.do("request_reassignment(k=0)", "read_for_listener(c=1)", "withdraw_reassignment()")
    play.rest()
    return play


def resigned_meanwhile() -> Play:
    """D68: a controller that stops has emptied its queue; the shutdown tells who has deleted a replica to host it."""
    play = Play(a_scope(2, ((2, 1),), parts=frozenset({"shutdown"})))
    play.start(topics=1)
    play.stop(1)
    with play.holding(r"move_partition", r"answer_shutdown", r"on_controller_change", r"elect_"):
        play.do("accept_shutdown(c=1, b=1)", "request_deletion(t=0)", "on_replica_deleted(c=1, b=2, p=0)")
        play.rest()
        play.do("remove_controller()", "read_for_listener(c=1)", "stop_deletions(c=1)", "move_partition(c=1, p=0, r=1)")
        play.do("write_removal(c=1, p=0, r=1)")
    play.rest()
    return play


@pytest.mark.slow
@pytest.mark.parametrize(
    ("play", "line"),
    [
        (resigned_meanwhile, "Broker 1 resigned as the controller"),
        (removed_meanwhile, "Handling reassignment of partition [a,0] to new replicas 2,1"),
        (
            completed_meanwhile,
            "New topics: [Set(b)], deleted topics: [Set()], new partition replica assignment [Map()]",
        ),
        (won_meanwhile, "Broker 1 resigned as the controller"),
    ],
)
def test_the_read_is_found_without_which_the_line_is_none_of_its_listener(
    play: Callable[[], Play], line: str, tmp_path: Path
) -> None:
    found = judge(read(play().save(tmp_path)))
    assert (found.outcome, found.reason) == (Outcome.EXPLAINED, "")
    assert [one.step.rule for one in found.path if one.step is not None].count(read_for_listener.name) == 1
    assert line in (tmp_path / "broker-1/controller.log").read_text(encoding="utf-8")
