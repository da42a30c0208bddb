"""A LeaderAndIsr of two new partitions that an exception ends half way: where it may end, and what is left (D64)."""

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

BOUNDS = scope("torn_request")
"""Of both brokers each leads one partition and follows in the other: broker 1 leads 0."""


def created(*switches: Switch) -> Run:
    """The topic is created, and both partitions' LeaderAndIsr are on their way, one request to each broker."""
    run = Run(BOUNDS, AS_CODED | {*switches}, creations=1, half_requests=1)
    run.do("create_topic(t=0)", "on_topic_change(c=1)")
    run.drain("read_for_new_replica", "create_state")
    return run


@pytest.mark.parametrize(("b", "led"), [(1, 0), (2, 1)])
def test_it_ends_at_the_leader_or_at_the_follower_behind_it_or_behind_both(b: int, led: int) -> None:
    """The leaders' part comes first, so the follower alone is never done."""
    run = created()
    done = [done for done in range(4) if run.can(f"deliver_request_in_half(c=1, b={b}, done={done})")]
    assert done == sorted([0, 1 << led, 3])


@pytest.mark.parametrize(
    ("done", "epochs", "idle"), [(0, ["-1", "-1"], "no"), (1, ["0", "-1"], "no"), (3, ["0", "0"], "yes")]
)
def test_what_is_not_reached_is_not_told_again_and_a_follower_does_not_fetch(
    done: int, epochs: list[str], idle: str
) -> None:
    run = created()
    run.do(f"deliver_request_in_half(c=1, b=1, done={done})")
    run.drain("deliver_request(", "on_", "expand_isr")
    assert [run[f"brokers[1].partitions[{p}].leader_epoch"] for p in (0, 1)] == epochs
    assert run["brokers[1].partitions[1].idle"] == idle


def test_a_broker_that_tries_again_has_done_all() -> None:
    run = created(Switch.TRY_REQUESTS_AGAIN)
    run.do("deliver_request_in_half(c=1, b=1, done=0)")
    assert [run[f"brokers[1].partitions[{p}].leader_epoch"] for p in (0, 1)] == ["0", "0"]
    assert run["brokers[1].partitions[1].idle"] == "no"
