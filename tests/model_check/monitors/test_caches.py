"""Claims about metadata caches, each broken by one frame; and a real cluster's metadata that went back."""

import json
from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpack
from model_check.monitors.check import check_history
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import AS_CODED_ROWS, Story, begun, born, breaks, deleted, failed_over

BACK, OLDER = "caches_get_no_older_leadership", "what_is_told_is_no_older_than_what_was_ordered"
CAMPAIGN = Path(__file__).parents[2] / "data/kafka-campaign.tar.xz"
LEFT = "eventually_deleted_topics_are_cached_nowhere"


def checked(story: Story, folder: Path) -> Run:
    """What becomes of the claims, where the brokers claim to be Kafka 0.10.2."""
    member = {"role": "both", "runs": "kafka", "release": "0.10.2"}
    (folder / "members.json").write_text(json.dumps({str(broker): member for broker in (1, 2, 3)}))
    return story.checked(folder)


def decided_behind_a_back() -> Story:
    """Broker 2 is controller, and has read epoch 0, as 1, who was it before, decides and tells of that first."""
    story = begun()
    story.end(1)
    story.elect(2, 2)
    story.begin(4, 1, 2)
    story.state(4, 3, 1, (3,))
    return story


def test_a_leadership_that_takes_the_place_of_a_newer_one_is_told(tmp_path: Path) -> None:
    story = decided_behind_a_back()
    newer = story.tell(3, 3, 1, (3,))
    older = story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    text = (
        f"{older}: UpdateMetadata of controller 2, epoch 2, to broker 3 tells of [t,0]: leader 2, leader epoch 0, ISR"
        " [2, 3], although UpdateMetadata of controller 1, epoch 1, to broker 3 had said leader 3, leader epoch 1,"
        f" ISR [3] ({newer}) (as in the known defect D43)"
    )
    assert breaks(checked(story, tmp_path), BACK) == [text]


def test_whoever_is_of_no_known_release_may_keep_the_newer_one(tmp_path: Path) -> None:
    story = decided_behind_a_back()
    story.tell(3, 3, 1, (3,))
    story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    assert f"{BACK} (nothing of it happened)" in story.checked(tmp_path).not_asked


@pytest.mark.parametrize("what", ["refused", "another process", "the same term's"])
def test_a_cache_that_did_not_go_back_breaks_nothing(tmp_path: Path, what: str) -> None:
    story = decided_behind_a_back()
    if what == "the same term's":
        story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    story.tell(3, 3, 1, (3,), refused=what == "refused")
    if what == "another process":
        story.start(3)
    if what != "the same term's":
        story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    run = checked(story, tmp_path)
    (found,) = (one for one in run.findings if one.property == BACK)
    assert found.verdict is Verdict.HOLDS


def test_a_topic_that_is_created_again_is_not_older(tmp_path: Path) -> None:
    """Although broker 1 was not told that the first one is removed."""
    story = begun()
    story.state(1, 3, 1, (3,))
    story.tell(1, 3, 1, (3,))
    story.delete(1, "/brokers/topics/t")
    born(story, "t")
    (found,) = (one for one in checked(story, tmp_path).findings if one.property == BACK)
    assert found.verdict is Verdict.HOLDS


def test_what_is_older_than_what_was_ordered_is_told_with_what_brought_it_about(tmp_path: Path) -> None:
    """A leader epoch that was raised alone (D18), and a decision that the sender had not read (D5)."""
    story = begun()
    story.state(1, 2, 1, (2, 3))
    ordered = story.order(3, 2, 1, (2, 3), version=1)
    told = story.tell(3, 2, 0, (2, 3))
    story.end(1)
    story.elect(2, 2)
    story.begin(4, 1, 2)
    story.state(4, 3, 2, (3,))
    decided = story.order(2, 3, 2, (3,), version=2)
    behind = story.tell(2, 2, 1, (2, 3), term=2, controller=2)
    of_3 = (
        f"{told}: UpdateMetadata of controller 1, epoch 1, to broker 3 tells of [t,0]: leader 2, leader epoch 0, ISR"
        " [2, 3], although LeaderAndIsr of controller 1, epoch 1, to broker 3 had said leader 2, leader epoch 1, ISR"
        f" [2, 3] ({ordered}) (as in the known defect D18)"
    )
    of_2 = (
        f"{behind}: UpdateMetadata of controller 2, epoch 2, to broker 2 tells of [t,0]: leader 2, leader epoch 1, ISR"
        " [2, 3], although LeaderAndIsr of controller 1, epoch 1, to broker 2 had said leader 3, leader epoch 2, ISR"
        f" [3] ({decided}) (as in the known defect D5)"
    )
    assert breaks(story.checked(tmp_path), OLDER) == [of_2, of_3]


def test_a_deleted_topic_that_a_broker_was_not_told_to_forget_is_told(tmp_path: Path) -> None:
    story = begun()
    deleted(story)
    told = story.tell(1, 2, 0, (2, 3))
    place = story.rest()
    text = f"{place}: broker 1 knows [t,0] ({told}), and no UpdateMetadata has removed it with its topic"
    assert breaks(checked(story, tmp_path), LEFT) == [text]


def test_who_may_have_been_told_to_forget_is_not_asked(tmp_path: Path) -> None:
    """Broker 1 has not answered, and may have carried it out."""
    story = begun()
    deleted(story)
    story.tell(1, 2, 0, (2, 3))
    story.tell(1, -2, 0, (3,))
    del story.wire[1][-1]
    story.rest()
    (found,) = (one for one in checked(story, tmp_path).findings if one.property == LEFT)
    assert (found.verdict, found.reason) == (Verdict.HOLDS, "asked 2 times")


def test_a_deletion_that_a_successor_ends_is_known_to_leave_topics_in_caches(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    failed_over(story)
    story.tell(2, -2, 0, (2, 3), term=2, controller=2)
    for broker in (2, 3):
        story.stop(broker, term=2, controller=2)
    story.delete(2, "/brokers/topics/t")
    story.delete(2, "/config/topics/t")
    story.delete(2, "/admin/delete_topics/t")
    place = story.rest()
    (told,) = breaks(checked(story, tmp_path), LEFT)
    assert told.startswith(f"{place}: broker 3 knows [t,0] (broker-3/wire.jsonl:")
    assert told.endswith(" (as in the known defect S10)")


def test_all_who_were_told_have_forgotten_a_deleted_topic(tmp_path: Path) -> None:
    story = begun()
    deleted(story)
    story.rest()
    (found,) = (one for one in checked(story, tmp_path).findings if one.property == LEFT)
    assert (found.verdict, found.reason) == (Verdict.HOLDS, "asked 3 times")


def test_a_real_brokers_metadata_that_went_back_is_told_as_d43(tmp_path: Path) -> None:
    """Broker 3 is told of topic-3-0 by its own epoch 3, of leader epoch 4; then by broker 2, which had read epoch 3."""
    unpack(CAMPAIGN, tmp_path)
    run = check_history(tmp_path / "resignation-of-a-shutdown", excused=AS_CODED_ROWS)
    (told,) = breaks(run, BACK)
    assert told.startswith(
        "broker-3/state-change.log:340: UpdateMetadata of controller 2, epoch 4, to broker 3 tells of"
    )
    assert told.endswith(
        "leader 2, leader epoch 4, ISR [2] (broker-3/state-change.log:286) (as in the known defect D43)"
    )
    assert run.verdict is Verdict.HOLDS
