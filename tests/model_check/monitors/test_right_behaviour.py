"""What correct controllers and admins do, and looks wrong at first sight: none of it may be told as a break."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.monitors.check import NOTHING_AT_REST, check_history
from model_check.verdicts.verdict import NOT_ALL_ASKED, Verdict
from reference.zookeeper.api import Create, CreateMode, SetData
from reference.zookeeper.transactions import MultiChange
from tests.model_check.monitors.signature_stories import restarted
from tests.model_check.monitors.stories import Story, begun, born, breaks, failed_over, moved

TOPIC = "/brokers/topics/t"
STATE = f"{TOPIC}/partitions/0/state"
LATER = {"version": 2, "adding_replicas": {}, "removing_replicas": {}}


def epoch_by_hand(story: Story) -> None:
    """An admin writes /controller_epoch, and the cluster goes on."""
    story.set(99, "/controller_epoch", 7)
    story.rest()
    failed_over_to(story, 8)


def no_epoch_by_hand(story: Story) -> None:
    """An admin deletes /controller_epoch, so that the next controller begins with 1, again; brokers may refuse it."""
    failed_over_to(story, 2)
    story.state(2, 3, 1, (2, 3), term=2)
    story.tell(3, 3, 1, (2, 3), term=2, controller=2)
    story.delete(99, "/controller_epoch")
    story.end(2)
    story.elect(3, 1)
    story.state(3, 2, 2, (2, 3), term=1)
    story.tell(3, 2, 2, (2, 3), term=1, controller=3, refused=True)
    story.rest()


def failed_over_to(story: Story, epoch: int) -> None:
    story.act("broker-kill-9", 1)
    story.end(1)
    story.elect(2, epoch)


def assignment_by_hand(story: Story) -> None:
    """An admin takes a replica from AR, and the leader, who does not know, changes its ISR; a log stays."""
    story.assign(99, 2)
    story.state(2, 2, 0, (2, 3))
    story.rest()


def state_by_hand(story: Story) -> None:
    """An admin writes a state znode, of which no broker is told."""
    story.state(99, 1, 7, ())
    story.rest()


def one_transaction(story: Story) -> None:
    """An election and the epoch are one transaction, in either order."""
    story.act("broker-kill-9", 1)
    story.end(1)
    epoch = story.tree.prepare(2, SetData("/controller_epoch", b"2"))
    won = Create("/controller", json.dumps({"brokerid": 2}).encode(), CreateMode.EPHEMERAL)
    story.log(2, MultiChange((epoch, story.tree.prepare(2, won))))
    for broker in (2, 3):
        story.tell(broker, 2, 0, (2, 3), term=2, controller=2)
    story.rest()


def planned_handovers(story: Story) -> None:
    """Two brokers hand /controller over to each other every hour."""
    for epoch in range(2, 9, 2):
        for giver, taker, raised in ((1, 2, epoch), (2, 1, epoch + 1)):
            story.ms += 3_600_000
            story.delete(giver, "/controller")
            story.elect(taker, raised)


def reordered(story: Story) -> None:
    """A controller of 2.4 only changes the order of replicas, as it was asked to by a request."""
    story.set(1, TOPIC, {**LATER, "partitions": {"0": [3, 2]}})


def elected_on_request(story: Story) -> None:
    """A controller of 2.4 elects uncleanly, as it was asked to by a request (KIP-460)."""
    story.set(1, TOPIC, {**LATER, "partitions": {"0": [2, 3]}})
    story.state(1, 2, 1, (2,))
    story.state(1, 3, 2, (3,))


def elected_by_default(story: Story) -> None:
    """All brokers are configured to elect uncleanly."""
    story.create(99, "/config/brokers/<default>", {"config": {"unclean.leader.election.enable": "true"}})
    story.state(1, 2, 1, (2,))
    story.state(1, 3, 2, (3,))


def waits_for_a_replica(story: Story, *topics: str) -> None:
    """Topics are to be moved to 1; the move of t has begun, and 1 has yet to catch up."""
    moves = [{"topic": topic, "partition": 0, "replicas": [1]} for topic in ("t", *topics)]
    story.create(99, "/admin/reassign_partitions", {"version": 1, "partitions": moves})
    story.assign(1, 1, 2, 3)
    story.state(1, 2, 1, (2, 3))
    for broker in (1, 2, 3):
        story.order(broker, 2, 1, (2, 3), version=1)
        story.tell(broker, 2, 1, (2, 3))


def deletion_waits_for_a_move(story: Story) -> None:
    """A topic that is being reassigned is not deleted before the new replica has caught up."""
    waits_for_a_replica(story)
    story.create(99, "/admin/delete_topics/t")
    story.rest()


def moves_one_after_another(story: Story) -> None:
    """A controller begins the second move when the first is done."""
    born(story, "u")
    waits_for_a_replica(story, "u")
    story.rest()


def told_right_after(story: Story) -> None:
    """A broker is made to host a partition just after a moment of rest, by a clock that is not ZooKeeper's."""
    story.ms += 5000
    story.acts.append({"ms": story.ms, "action": "at-rest", "zxid": hex(len(story.transactions))})
    story.move(1, 2, 3)
    story.assign(1, 1, 2, 3)
    story.state(1, 2, 1, (2, 3))
    story.order(1, 2, 1, (2, 3), version=1)
    story.ms += 5000


def late_copy(story: Story) -> None:
    """A StopReplica of a move comes after the move back has begun, and the topic's deletion was asked for."""
    moved(story)
    story.move(2, 1)
    story.assign(1, 2, 1, 3)
    story.create(99, "/admin/delete_topics/t")
    story.ms += 5000
    story.stop(2)
    story.ms += 5000


STORIES = (
    epoch_by_hand,
    no_epoch_by_hand,
    assignment_by_hand,
    state_by_hand,
    one_transaction,
    planned_handovers,
    reordered,
    elected_on_request,
    elected_by_default,
    deletion_waits_for_a_move,
    moves_one_after_another,
    told_right_after,
    late_copy,
)


@pytest.mark.parametrize("tell", STORIES, ids=[one.__name__ for one in STORIES])
def test_what_is_right_is_not_told(tmp_path: Path, tell: Callable[[Story], None]) -> None:
    story = begun()
    tell(story)
    run = story.checked(tmp_path)
    assert [one.property for one in run.findings if one.verdict is Verdict.VIOLATED] == []


def test_that_epochs_prove_nothing_any_more_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.set(99, "/controller_epoch", 7)
    said = f"/controller_epoch was changed by hand ({place}): from there on nothing is asked that goes by epochs"
    assert said in story.checked(tmp_path).notes


# ------------------------------------------------------------------------------------------------------- not let pass


def test_a_state_znode_that_goes_without_its_topic_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.delete(1, STATE)
    story.state(1, 3, 0, (3,))
    text = f"{place}: broker 1 deleted {STATE}, and nobody had asked to delete its topic"
    assert breaks(story.checked(tmp_path), "states_go_with_their_topic") == [text]


def test_replicas_of_a_topic_that_moves_are_not_deleted(tmp_path: Path) -> None:
    story = begun()
    waits_for_a_replica(story)
    story.create(99, "/admin/delete_topics/t")
    story.ms += 5000
    place = story.stop(1)
    story.ms += 5000
    story.create(99, "/late")
    text = "StopReplica of controller 1, epoch 1, to broker 1 is to delete [t,0], which was being reassigned to [1]"
    told = breaks(story.checked(tmp_path), "busy_topics_are_not_deleted")
    assert told == [f"{place}: {text} (as in the known defect D44)"]


def test_a_move_that_nobody_begins_is_told_although_another_is_done(tmp_path: Path) -> None:
    story = begun()
    born(story, "u")
    waits_for_a_replica(story, "u")
    story.state(1, 2, 2, (2, 3, 1))  # so it waits no longer
    story.rest()
    told = breaks(story.checked(tmp_path), "eventually_reassignments_complete")
    assert any("for [u,0], whose AR is [2, 3]: nobody has begun" in one for one in told)


def second_session(story: Story) -> None:
    """A controller writes by a second session what nobody asked for."""
    story.begin(50)
    story.assign(50, 1)
    story.delete(50, "/config/topics/t")
    story.delete(50, TOPIC)


def test_a_members_second_session_is_asked_about_where_the_admins_is_told(tmp_path: Path) -> None:
    story = begun()
    story.acts.insert(0, {"ms": story.ms, "action": "zookeeper-started", "admin_session": hex(99)})
    second_session(story)
    run = story.checked(tmp_path)
    broken = {one.property for one in run.findings if one.verdict is Verdict.VIOLATED}
    assert {
        "assignments_change_in_order",
        "deletions_end_with_their_request",
        "topics_are_deleted_on_request",
    } <= broken


def test_a_second_session_counts_as_an_admins_and_leaves_it_open_where_no_file_tells(tmp_path: Path) -> None:
    story = begun()
    second_session(story)
    story.assign(50, 2, 3)
    place = story.state(50, 2, 0, (2, 3))
    wrote = f"it wrote {STATE}, as only a controller does ({place}), and counts as an admin's"
    said = f"session 0x32 is nobody's that is known: {wrote}"
    run = story.checked(tmp_path)
    assert (run.verdict, run.reason, said in run.notes) == (Verdict.HOLDS, "", True)
    (tmp_path / "sessions.json").unlink()
    guessed = check_history(tmp_path)
    assert (guessed.verdict, guessed.reason) == (Verdict.INCOMPLETE, said)


def test_what_was_chosen_does_not_hold_where_only_something_else_is_broken(tmp_path: Path) -> None:
    story = begun()
    story.act("broker-kill-9", 2)
    story.rest()
    story.state(1, 9, 1, (2, 3))
    assert story.checked(tmp_path).verdict is Verdict.VIOLATED
    told = check_history(tmp_path, chosen=["each_election_raises_the_epoch_by_one"])
    unsure = f"{NOTHING_AT_REST}: at each a broker that was down was still registered"
    assert (told.verdict, told.reason, len(told.findings)) == (Verdict.INCOMPLETE, unsure, 1)


def test_where_only_some_of_what_was_chosen_was_asked_nothing_holds(tmp_path: Path) -> None:
    story = begun()
    story.rest()
    story.save(tmp_path)
    asked, unasked = "isr_is_within_assigned", "eventually_deletions_complete"
    assert check_history(tmp_path, chosen=[asked]).verdict is Verdict.HOLDS
    told = check_history(tmp_path, chosen=[asked, unasked])
    assert (told.verdict, told.reason) == (Verdict.INCOMPLETE, NOT_ALL_ASKED)


def test_where_nobody_registers_and_none_is_elected_nothing_holds(tmp_path: Path) -> None:
    story = Story()
    story.begin(99)
    story.create(99, "/elsewhere", {})
    run = story.checked(tmp_path)
    reason = "passed over are znodes of other parts than the controller's protocol: 1"
    assert run.verdict is Verdict.INCOMPLETE
    assert run.reason == f"no broker registers and none is elected in it; {reason}"


def test_where_nothing_could_be_asked_at_rest_that_was_waited_for_nothing_holds(tmp_path: Path) -> None:
    """Broker 2 was killed just before, and its registration is still there."""
    story = begun()
    story.act("broker-kill-9", 2)
    story.rest()
    run = story.checked(tmp_path)
    unsure = f"{NOTHING_AT_REST}: at each a broker that was down was still registered"
    assert (run.verdict, run.reason) == (Verdict.INCOMPLETE, unsure)


def test_who_raises_the_epoch_by_a_second_session_has_raised_it(tmp_path: Path) -> None:
    story = begun()
    story.acts.insert(0, {"ms": story.ms, "action": "zookeeper-started", "admin_session": hex(99)})
    story.act("broker-kill-9", 1)
    story.end(1)
    story.begin(50)
    story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    story.set(50, "/controller_epoch", 2)
    story.state(50, 3, 1, (2, 3), term=2)
    for broker in (2, 3):
        story.order(broker, 3, 1, (2, 3), version=1, term=2, controller=2)
        story.tell(broker, 3, 1, (2, 3), term=2, controller=2)
    story.rest()
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_failover_by_a_restarted_broker_breaks_nothing(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    restarted(story, 3)
    story.order(3, 2, 0, (2, 3), version=0, term=2, controller=2)
    story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    story.rest()
    assert story.checked(tmp_path).verdict is Verdict.HOLDS
