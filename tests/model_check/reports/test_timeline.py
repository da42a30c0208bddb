"""A time line: lanes, sessions, epochs, what is done in ZooKeeper, and requests from sender to receiver."""

from hypothesis import given

from model_check.reports.timeline import Operation, Request, Span, is_fault, label, timeline
from model_check.verdicts.results import Event, Step, Story
from tests.model_check.documents import stories
from tests.model_check.reports.stories import ZOMBIE

DRAWN = timeline(ZOMBIE)


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
        Request("LeaderAndIsr", "controller 2", "broker 3", 4, 5, told, refused=False),
        Request("LeaderAndIsr", "controller 1", "broker 3", 6, 7, "refuse LeaderAndIsr epoch=1", refused=True),
        Request("UpdateMetadata", "controller 1", "broker 3", 6, None, "UpdateMetadata", refused=False),
    )


def test_what_goes_wrong_is_a_fault_and_a_command_is_none() -> None:
    assert [one.number for one in ZOMBIE.steps if is_fault(one)] == [1, 8]
    assert not is_fault(Step(1, "create_topic(t=0)", "admin", "", "", budget="creations"))


def test_a_label_has_the_partition_and_leaves_out_what_stands_elsewhere() -> None:
    event = Event("controller 1", "write state", {"partition": "1", "leader": "2", "version": "3"})
    assert label(event) == "write state [1] leader=2"


@given(stories)
def test_any_story_has_a_time_line_within_its_rows_and_lanes(story: Story) -> None:
    drawn = timeline(story)
    assert {step.actor for step in story.steps if not step.actor.startswith("request ")} <= {*drawn.lanes}
    assert all(0 <= one.first <= one.last <= drawn.rows + 1 for one in (*drawn.sessions, *drawn.epochs))
