"""A time line: lanes, sessions, epochs, what is done in ZooKeeper, and requests from sender to receiver."""

import pytest
from hypothesis import given

from model_check.reports.timeline import MOST_STEPS, Operation, Request, Span, is_fault, label, shortened, timeline
from model_check.verdicts.results import Event, Step, Story
from tests.model_check.documents import stories
from tests.model_check.reports.stories import ZOMBIE

DRAWN = timeline(ZOMBIE)


def test_a_registration_is_the_brokers_and_what_an_admin_does_is_seen() -> None:
    story = steps(
        ("a()", (Event("zookeeper", "create /brokers/ids", {"process": "2"}),), ()),
        ("b()", (Event("admin", "remove /controller"),), ()), ("c()", (Event("controller 1", "delete topic"),), ()),
    )  # fmt: skip
    assert [(one.lane, one.kind) for one in timeline(story).operations] == [
        ("broker 2", "create"), ("admin", "remove"), ("controller 1", "delete"),
    ]  # fmt: skip


def test_zookeeper_comes_first_then_controllers_then_brokers() -> None:
    assert DRAWN.lanes == ("zookeeper", "controller 1", "controller 2", "broker 1", "broker 3")
    assert DRAWN.rows == 8


def test_a_process_has_its_sessions_and_none_when_it_is_dead() -> None:
    of_broker = [one for one in DRAWN.sessions if one.lane == "broker 1"]
    assert of_broker == [Span("broker 1", 0, 1, "LIVE", ends=True), Span("broker 1", 1, 8, "EXPIRED", ends=True)]
    assert [one for one in DRAWN.sessions if one.lane == "controller 2"] == [
        Span("controller 2", 0, 9, "LIVE", ends=False)
    ]


def test_two_controllers_stand_side_by_side_while_both_act() -> None:
    zombie, successor = DRAWN.epochs
    assert zombie == Span("controller 1", 0, 8, "1", ends=True)
    assert successor == Span("controller 2", 3, 9, "2", ends=False)
    assert zombie.last > successor.first


def test_what_is_read_before_it_is_raised_is_no_epoch_of_a_controller() -> None:
    steps = (
        Step(1, "read_epoch(c=1)", "controller 1", "", "", changes=("controllers[1].epoch: 0 -> 1",)),
        Step(
            2, "increment_epoch(c=1)", "controller 1", "", "",
            (Event("controller 1", "fail to write /controller_epoch"),), changes=("controllers[1].epoch: 1 -> 2",),
        ),
    )  # fmt: skip
    story = Story(2, steps, {"controllers[1].epoch": "0", "controllers[1].active": "no"})
    assert timeline(story).epochs == (Span("controller 1", 2, 3, "2", ends=False),)


def test_what_is_done_in_zookeeper_is_an_operation_and_some_fail() -> None:
    assert DRAWN.operations == (
        Operation(2, "controller 2", "create", "create /controller controller=2", fails=False),
        Operation(3, "controller 2", "write", "write /controller_epoch epoch=2", fails=False),
        Operation(6, "controller 1", "write", "fail to write state [0]", fails=True),
    )


def test_a_request_goes_from_its_sender_to_whoever_gets_it_or_to_nobody() -> None:
    told = "LeaderAndIsr: become leader [0] leader=1 leader_epoch=1 isr=[1]"
    assert DRAWN.requests == (
        Request("LeaderAndIsr", "controller 2", "broker 3", 4, 5, told, "accepted"),
        Request("LeaderAndIsr", "controller 1", "broker 3", 6, 7, "refuse LeaderAndIsr epoch=1", "refused"),
        Request("UpdateMetadata", "controller 1", "broker 3", 6, None, "UpdateMetadata", "lost"),
    )


def queued(kind: str, **fields: str) -> Event:
    return Event("controller 1", f"queue {kind}", {"broker": "2", **fields})


def steps(*done: tuple[str, tuple[Event, ...], tuple[str, ...]]) -> Story:
    """A story of these actions, each with what is seen of it and what it changes."""
    told = [
        Step(number, action, "controller 1", "", "", seen, (), changes)
        for number, (action, seen, changes) in enumerate(done, 1)
    ]
    return Story(len(told), tuple(told))


def arrivals(story: Story) -> list[tuple[int | None, int | None, str]]:
    """Of each request where it was sent, where it arrived, and what became of it."""
    return [(one.sent, one.delivered, one.outcome) for one in timeline(story).requests]


CACHED = Event("broker 2", "cache metadata", {"controller": "1"})
DELIVER = "deliver_request(c=1, b=2)"


def test_two_of_one_step_arrive_one_after_the_other() -> None:
    two = (queued("UpdateMetadata"), queued("UpdateMetadata"))
    story = steps(("a()", two, ()), ("a()", two[:1], ()), *[(DELIVER, (CACHED,), ())] * 3)
    assert arrivals(story) == [(1, 3, "accepted"), (1, 4, "accepted"), (2, 5, "accepted")]


@pytest.mark.parametrize(
    "lost",
    [
        "controllers[1].channels: {1,2} -> {1}",
        "controllers[1].channels: {1,2} -> {}",
        "processes[1].session: LIVE -> NONE",
    ],
)
def test_what_waits_for_a_channel_that_is_closed_is_lost(lost: str) -> None:
    story = steps(
        ("a()", (queued("UpdateMetadata"),), ()), ("b()", (), (lost,)), ("a()", (queued("UpdateMetadata"),), ()),
        (DELIVER, (CACHED,), ()),
    )  # fmt: skip
    assert arrivals(story) == [(3, 4, "accepted"), (1, None, "lost")]


def test_what_has_other_contents_is_another_request() -> None:
    def order(epoch: str) -> Event:
        return queued("LeaderAndIsr", partition="0", leader_epoch=epoch)

    arrives = Event("broker 2", "become leader", {"partition": "0", "leader_epoch": "2"})
    story = steps(("a()", (order("1"),), ()), ("a()", (order("2"),), ()), (DELIVER, (arrives,), ()))
    assert arrivals(story) == [(2, 3, "accepted"), (1, None, "lost")]


def test_a_late_copy_takes_nothing_that_waits() -> None:
    story = steps(
        ("a()", (queued("UpdateMetadata"),), ()), ("execute_late_request(c=1, b=2)", (CACHED,), ()),
        (DELIVER, (CACHED,), ()),
    )  # fmt: skip
    assert arrivals(story) == [(None, 2, "accepted"), (1, 3, "accepted")]


def test_what_is_refused_as_a_whole_is_so_for_all_partitions_and_what_fails_is_no_pass() -> None:
    both = tuple(queued("LeaderAndIsr", partition=one) for one in "01")
    refused, failed = Event("broker 2", "refuse LeaderAndIsr"), Event("broker 2", "fail LeaderAndIsr")
    story = steps(("a()", both, ()), ("a()", both, ()), (DELIVER, (refused,), ()), (DELIVER, (failed,), ()))
    assert arrivals(story) == [(1, 3, "refused"), (2, 4, "failed")]


def test_whoever_acts_has_a_lane_whatever_he_is_called() -> None:
    hostile = ("request 0", "broker \u00b2", f"broker {'9' * 5000}", "")
    story = Story(4, tuple(Step(1, "", one, "", "") for one in hostile))
    assert {*timeline(story).lanes} == {"zookeeper", *hostile}


def test_of_a_long_story_the_last_steps_are_drawn_from_the_state_that_they_begin_in() -> None:
    story = Story(
        0, tuple(Step(n, "", "", "", "", changes=(f"a: {n - 1} -> {n}",)) for n in range(1, MOST_STEPS + 8)), {"a": "0"}
    )
    short, before = shortened(story)
    assert (len(short.steps), before, short.initial) == (MOST_STEPS, 7, {"a": "7"})
    assert shortened(short) == (short, 0)


def test_what_goes_wrong_is_a_fault_and_a_command_is_none() -> None:
    assert [one.number for one in ZOMBIE.steps if is_fault(one)] == [1, 8]
    budgets = ("creations", "shutdowns", "updates", "shrinks", "controller_removals", "")
    assert [is_fault(Step(1, "", "", "", "", budget=one)) for one in budgets] == [
        False,
        False,
        False,
        False,
        True,
        False,
    ]


def test_a_label_has_the_partition_and_leaves_out_what_stands_elsewhere() -> None:
    event = Event("controller 1", "write state", {"partition": "1", "leader": "2", "version": "3"})
    assert label(Story(0, partitions=("[a,0]", "[b,0]")), event) == "write state [b,0] leader=2"
    assert label(Story(0, partitions=("[a,0]",)), event) == "write state [1] leader=2"


@given(stories)
def test_any_story_has_a_time_line_within_its_rows_and_lanes(story: Story) -> None:
    drawn = timeline(story)
    assert {step.actor for step in story.steps} <= {*drawn.lanes}
    assert all(0 <= one.first <= one.last <= drawn.rows + 1 for one in (*drawn.sessions, *drawn.epochs))
