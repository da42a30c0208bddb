"""Claims about reassignments and deletions, each broken by one wrong write, or one request that must not come yet."""

from pathlib import Path

from model_check.monitors.check import check_history
from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import Story, begun, breaks, deleted, failed_over

TOPIC = "/brokers/topics/t"
MOVES = "/admin/reassign_partitions"


def test_an_assignment_that_nobody_asks_for_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.assign(1, 3, 2, 1)
    text = f"{place}: broker 1 wrote AR [3, 2, 1] of [t,0], which was [2, 3], and nobody asks for that in {MOVES}"
    assert breaks(story.checked(tmp_path), "assignments_change_in_order") == [text]


def test_an_assignment_that_is_neither_the_union_nor_the_target_is_told(tmp_path: Path) -> None:
    story = begun()
    story.move(1)
    place = story.assign(1, 1, 2)
    text = f"{place}: broker 1 wrote AR [1, 2] of [t,0], which was [2, 3], where [1] is asked for"
    assert breaks(story.checked(tmp_path), "assignments_change_in_order") == [text]


def test_the_target_without_the_union_is_told(tmp_path: Path) -> None:
    story = begun()
    story.move(1)
    place = story.assign(1, 1)
    text = f"{place}: broker 1 wrote AR [1] of [t,0], which was [2, 3], where [1] is asked for"
    assert breaks(story.checked(tmp_path), "assignments_change_in_order") == [text]


def test_a_reassignment_that_is_applied_again_is_a_known_defect(tmp_path: Path) -> None:
    story = begun()
    story.move(3, 2)
    story.assign(1, 3, 2)
    story.delete(1, MOVES)
    failed_over(story)
    story.begin(11, 1)
    story.end(2)
    story.elect(11, 3)
    place = story.assign(11, 2, 3)
    text = f"{place}: broker 1 wrote AR [2, 3] of [t,0], which was [3, 2], and nobody asks for that in {MOVES}"
    told = breaks(story.checked(tmp_path), "assignments_change_in_order")
    assert told == [f"{text} (as in the known defect D13)"]


def test_what_an_admin_takes_back_is_not_asked_about(tmp_path: Path) -> None:
    story = begun()
    story.move(1)
    story.delete(99, MOVES)
    story.assign(1, 1, 2, 3)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_replicas_that_go_before_the_new_have_caught_up_are_told(tmp_path: Path) -> None:
    story = begun()
    asked = story.move(1)
    story.assign(1, 1, 2, 3)
    place = story.assign(1, 1)
    text = f"broker 1 wrote AR [1] of [t,0], which was [1, 2, 3], but never since that was asked for ({asked})"
    told = breaks(story.checked(tmp_path), "assignments_shrink_after_the_new_caught_up")
    assert told == [f"{place}: {text} all of it was in sync"]


def test_replicas_that_go_while_an_old_one_leads_are_told(tmp_path: Path) -> None:
    story = begun()
    story.move(3)
    place = story.assign(1, 3)
    text = "broker 1 wrote AR [3] of [t,0], which was [2, 3], while its state had leader 2, leader epoch 0, ISR [2, 3]"
    told = breaks(story.checked(tmp_path), "assignments_shrink_after_the_new_caught_up")
    assert told == [f"{place}: {text}"]


def test_a_reassignment_that_is_given_up_halfway_is_told(tmp_path: Path) -> None:
    story = begun()
    story.move(1)
    story.assign(1, 1, 2, 3)
    place = story.delete(1, MOVES)
    text = f"broker 1 took [t,0] from {MOVES}, whose AR was [1, 2, 3] then: neither [1], as was asked for, nor [2, 3]"
    told = breaks(story.checked(tmp_path), "no_reassignment_ends_halfway")
    assert told == [f"{place}: {text} as before"]


def test_a_request_that_is_refused_before_it_begins_breaks_nothing(tmp_path: Path) -> None:
    story = begun()
    story.move(7)
    story.delete(1, MOVES)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_partition_that_gets_lost_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.set(1, TOPIC, {"version": 1, "partitions": {}})
    text = f"{place}: broker 1 wrote {TOPIC} without partition 0, which was there"
    assert breaks(story.checked(tmp_path), "partitions_stay") == [text]


def test_a_replica_that_is_deleted_while_it_is_in_sync_is_told(tmp_path: Path) -> None:
    story = begun()
    story.ms += 3000
    place = story.stop(3)
    text = (
        "StopReplica of controller 1, epoch 1, to broker 3 deleted [t,0], of whose AR and ISR it is: "
        "its state has leader 2, leader epoch 0, ISR [2, 3]"
    )
    assert breaks(story.checked(tmp_path), "in_sync_replicas_are_not_deleted") == [f"{place}: {text}"]


def test_a_request_to_delete_a_topic_excuses_nothing_where_topics_stay(tmp_path: Path) -> None:
    """A controller that goes by a request all the same, which stands before 0.10.2 (D71)."""
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    story.ms += 3000
    stopped = [story.stop(broker) for broker in (2, 3)]
    story.ms += 3000
    gone = story.delete(1, TOPIC)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS
    (tmp_path / "broker-1/server.log").write_text("\tdelete.topic.enable = false\n")
    found = check_history(tmp_path)
    told = breaks(found, "in_sync_replicas_are_not_deleted")
    assert [one.partition(": ")[0] for one in told] == stopped
    text = f"{gone}: broker 1 deleted {TOPIC}, where delete.topic.enable is off"
    assert breaks(found, "topics_are_deleted_on_request") == [text]


def test_a_replica_may_be_deleted_as_soon_as_clocks_may_say_that_it_was_removed(tmp_path: Path) -> None:
    story = begun()
    story.ms += 3000
    story.stop(3)
    story.ms += 1900
    story.state(1, 2, 1, (2,))
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


# ----------------------------------------------------------------------------------------------------------- deletion


def test_a_topic_that_nobody_asked_to_delete_is_told(tmp_path: Path) -> None:
    story = begun()
    story.stop(2)
    story.stop(3)
    place = story.delete(1, TOPIC)
    text = f"{place}: broker 1 deleted {TOPIC}, and nobody had asked for that"
    assert breaks(story.checked(tmp_path), "topics_are_deleted_on_request") == [text]


def test_a_topic_of_an_earlier_request_is_told(tmp_path: Path) -> None:
    story = begun()
    asked = story.create(99, "/admin/delete_topics/t")
    story.delete(1, TOPIC)
    born = story.assign(99, 2, 3)
    place = story.delete(1, TOPIC)
    text = (
        f"broker 1 deleted {TOPIC}, created at {born}: that was asked for ({asked}) of the topic of this name before it"
    )
    told = breaks(story.checked(tmp_path), "topics_are_deleted_on_request")
    assert told == [f"{place}: {text} (as in the known defect D37-unasked)"]


def test_a_topic_that_is_deleted_while_it_moves_is_told(tmp_path: Path) -> None:
    story = begun()
    story.move(1)
    story.assign(1, 1, 2, 3)
    place = deleted(story)
    text = f"{place}: broker 1 deleted {TOPIC} while [t,0] was being reassigned (as in the known defect D44)"
    assert breaks(story.checked(tmp_path), "busy_topics_are_not_deleted") == [text]


def test_a_configuration_that_goes_before_its_topic_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.delete(1, "/config/topics/t")
    text = f"{place}: broker 1 deleted /config/topics/t before the topic"
    assert breaks(story.checked(tmp_path), "deletions_end_with_their_request") == [text]


def test_a_request_that_goes_before_the_configuration_is_told(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    story.stop(2)
    story.stop(3)
    story.delete(1, TOPIC)
    place = story.delete(1, "/admin/delete_topics/t")
    text = f"{place}: broker 1 deleted /admin/delete_topics/t before the topic's configuration"
    assert breaks(story.checked(tmp_path), "deletions_end_with_their_request") == [text]


def test_a_topic_that_loses_its_new_configuration_is_told(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    story.stop(2)
    story.stop(3)
    story.delete(1, TOPIC)
    again = story.assign(99, 2, 3)
    place = story.delete(1, "/config/topics/t")
    text = f"broker 1 deleted /config/topics/t, and the topic had been created again ({again})"
    told = breaks(story.checked(tmp_path), "topics_have_their_configuration")
    assert told == [f"{place}: {text} (as in the known defect D55)"]


def test_a_state_of_a_deleted_topic_is_told(tmp_path: Path) -> None:
    story = begun()
    deleted(story)
    place = story.state(1, 2, 0, (2, 3))
    path = f"{TOPIC}/partitions/0/state"
    text = f"{place}: broker 1 created {path} of a topic that was deleted"
    assert breaks(story.checked(tmp_path), "nothing_of_a_deleted_topic_is_left") == [text]


def test_a_topic_that_comes_back_after_its_deletion_is_a_zombies_write(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    deleted(story, session=2)
    story.begin(11, 1)
    place = story.create(11, TOPIC, {"version": 1, "partitions": {"0": [2, 3]}})
    text = f"broker 1 created {TOPIC} while /controller_epoch was 2 and /controller was broker 2's"
    told = breaks(story.checked(tmp_path), "only_the_latest_term_writes")
    assert told[-1] == f"{place}: {text} (as in the known defect D52-topic)"


def half_deleted(story: Story) -> str:
    """Topic t is deleted, and broker 3 has not deleted its replica; the place of the delete."""
    story.create(99, "/admin/delete_topics/t")
    story.state(1, -1, 1, (3,))
    story.stop(2)
    return story.delete(1, TOPIC)


def test_a_topic_that_goes_before_a_replica_is_told(tmp_path: Path) -> None:
    story = begun()
    place = half_deleted(story)
    text = f"broker 1 deleted {TOPIC}, and broker 3, which lives, has not been told to delete its replica of [t,0]"
    assert breaks(story.checked(tmp_path), "topics_go_after_their_replicas") == [f"{place}: {text}"]


def test_a_topic_that_goes_although_a_broker_refused_is_told(tmp_path: Path) -> None:
    story = begun()
    refused = story.stop(3, refused=True)
    story.create(99, "/admin/delete_topics/t")
    story.stop(2)
    place = story.delete(1, TOPIC)
    text = (
        f"broker 1 deleted {TOPIC}, and broker 3, which lives, has refused to delete its replica of [t,0] ({refused})"
    )
    assert breaks(story.checked(tmp_path), "topics_go_after_their_replicas") == [f"{place}: {text}"]


def test_of_a_broker_that_died_nothing_is_asked(tmp_path: Path) -> None:
    story = begun()
    story.end(3)
    half_deleted(story)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS
