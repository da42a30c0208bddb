"""What a broker does late is a candidate for what was observed of it, as it is for the specification."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from model_check.judging.deliveries import Deliveries
from model_check.judging.explanations import candidates
from model_check.judging.positions import Position
from model_check.recordings.seen import Handled, ReplicaStopped, StopReplicaRefused
from model_check.recordings.tracks import Tracks
from model_check.stepping.enabled import ControllerSteps
from spec.variants import AS_CODED, Switches
from tests.model_check.side_by_side import SideBySide
from tests.spec.protocol.requests.test_single_stops import OLDER, STOPS, TWO_PARTITIONS

HEAD: Mapping[str, Any] = {"place": "", "time": 0, "text": "", "broker": 2, "incarnation": 1}
LATE = "execute_late_request", {"c": 1, "b": 2}
REFUSED = StopReplicaRefused(**HEAD, epoch=1)


def stopped(p: int, *, delete: bool = False) -> ReplicaStopped:
    return ReplicaStopped(**HEAD, partition=p, delete=delete)


def stopping(switches: Switches) -> SideBySide:
    """Controller 1 has broker 2 stop the replicas of two partitions."""
    both = SideBySide(TWO_PARTITIONS, switches, deletions=1, late_requests=1)
    both.do(*STOPS)
    while both["connections[1][2][0].stage"] != "STOP_REPLICA":
        both.do("deliver_request(c=1, b=2)")
    return both


def offered(both: SideBySide, one: Handled) -> list[tuple[str, Mapping[str, int]]]:
    return list(candidates(both.spec.model, cast(ControllerSteps, None), one, both.state))


@pytest.mark.parametrize(
    ("switches", "steps", "late"),
    [
        (OLDER, ("leave_late_stop(c=1, b=2, p=1)", "deliver_stop(c=1, b=2, p=0)", "deliver_stop(c=1, b=2, p=1)"), {1}),
        (AS_CODED, ("leave_late_request(c=1, b=2)", "deliver_request(c=1, b=2)"), {0, 1}),
    ],
)
def test_a_stop_that_stayed_behind_is_carried_out_or_refused(
    switches: Switches, steps: tuple[str, ...], late: set[int]
) -> None:
    both = stopping(switches)
    both.do(*steps)
    assert {p for p in (0, 1) if LATE in offered(both, stopped(p))} == late
    assert offered(both, REFUSED)[-1] == LATE
    assert LATE not in offered(both, stopped(1, delete=True))
    both.do("execute_late_request(c=1, b=2)")
    assert LATE not in [one for p in (0, 1) for one in offered(both, stopped(p))] + offered(both, REFUSED)


@pytest.mark.parametrize(
    ("following", "stays"),
    [
        (stopped(1), True), (stopped(1, delete=True), False), (REFUSED, True),
        (StopReplicaRefused(**HEAD, epoch=2), False), (None, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("switches", [OLDER, AS_CODED])
def test_a_stop_stays_with_a_paused_broker_that_carries_it_out_next(
    switches: Switches, following: Handled | None, stays: bool
) -> None:
    both = stopping(switches)
    assert both["connections[1][2][0].epoch"] == "1"
    left = [] if following is None else [following]
    tracks = SimpleNamespace(handled=lambda _place, _b: iter(left), requests=lambda _place, _b: iter(()))
    found = Deliveries(both.spec, cast(Tracks, tracks)).that_stay_behind(Position(both.state, (), frozenset({2})), 1, 2)
    several = [("leave_late_stop", {"c": 1, "b": 2, "p": p}) for p in (0, 1) if switches == OLDER]
    assert list(found) == ([("leave_late_request", {"c": 1, "b": 2}), *several] if stays else [])
