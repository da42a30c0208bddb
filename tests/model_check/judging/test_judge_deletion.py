"""Topic deletion as recorded: one fact changed, and nothing explains it any more."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.cluster import VERIFIED, deletes_topics, is_unclean_by_default
from model_check.recordings.reading import read
from model_check.recordings.recording import NotModelled
from model_check.recordings.seen import (
    RequestChanged,
    RequestMade,
    RequestWritten,
    StateDeleted,
    TopicCreated,
    TopicDeleted,
)
from tests.model_check.stand_ins import Play, a_scope
from tests.model_check.tampering import Lie, assert_found_out, assert_not_explained
from tests.model_check.unpacking import RECORDINGS, changed, recorded, replaced, without_line

pytestmark = RECORDINGS

ZOMBIE, MARK, CONFIG, BUSY = (
    "28-D46-stale-epoch-answer", "27-D45-ineligible-mark-survives", "34-D55-config-lost",
    "26-D44-delete-during-reassignment",
)  # fmt: skip
HALTED = "08-delete"
LEADERLESS = "19-D16-leaderless-topic-delete"


def with_refusal(text: str) -> str:
    """The broker also says that it refuses the controller of which it has just obeyed another request."""
    stop = "finished handling stop replica (delete=false)"
    line = next(one for one in text.splitlines() if stop in one)
    refusal = "received stop replica request from an old controller epoch 1. Latest known controller epoch is 2"
    return text.replace(line, f"{line}\n{line.split(']')[0]}] WARN Broker 2 {refusal} (state.change.logger)")


LIES: Mapping[str, Lie] = {
    "brokers that are told of another ISR of what is to be deleted": Lie(
        ZOMBIE, "broker-2/state-change.log",
        replaced("(Leader:-2,ISR:3,LeaderEpoch:0", "(Leader:-2,ISR:2,LeaderEpoch:0"),
        "broker-2/state-change.log:11",
    ),
    "brokers that are told who leads what is to be deleted": Lie(
        ZOMBIE, "broker-2/state-change.log",
        replaced("(Leader:-2,ISR:3,LeaderEpoch:0,", "(Leader:-1,ISR:3,LeaderEpoch:2,"),
        "broker-2/state-change.log:11",
    ),
    "an UpdateMetadata that does not tell that it is to be deleted": Lie(
        ZOMBIE, "broker-2/state-change.log",
        without_line("19:00:41,541] TRACE Controller 2 epoch 2 sending UpdateMetadata"),
        "broker-2/state-change.log:12",  # what comes behind it
    ),
    "a topic that is held back without a reason": Lie(
        ZOMBIE, "broker-2/controller.log",
        replaced("Deletion of topic t (re)started",
                 "Not retrying deletion of topic t at this time since it is marked ineligible for deletion"),
        "broker-2/controller.log:31",  # the thread's turn begins here
    ),
    "a replica that goes out of existence without a word": Lie(
        ZOMBIE, "broker-2/state-change.log",
        without_line("replica 3 for partition [t,0] from ReplicaDeletionSuccessful to NonExistentReplica"),
        "broker-2/state-change.log:49",  # the completion prints all from here on
    ),
}  # fmt: skip

SLOW_LIES: Mapping[str, Lie] = {
    "a replica that is deleted without having gone Offline": Lie(
        ZOMBIE, "broker-1/state-change.log",
        replaced("replica 2 for partition [t,0] from OfflineReplica to ReplicaDeletionStarted",
                 "replica 2 for partition [t,0] from OnlineReplica to ReplicaDeletionStarted"),
        "broker-1/state-change.log:26",  # the step that takes it from the ISR prints all from here on
    ),
    "a partition that is refused a leader in another state than it is in": Lie(
        BUSY, "broker-1/state-change.log",
        replaced("initiated state change for partition [t,0] from OfflinePartition to OnlinePartition failed",
                 "initiated state change for partition [t,0] from NewPartition to OnlinePartition failed"),
        "broker-1/state-change.log:175",  # the visit begins here
    ),
    "a partition that does not go out of existence": Lie(
        ZOMBIE, "broker-2/state-change.log", without_line("from OfflinePartition to NonExistentPartition"),
        "zookeeper.jsonl:52",  # the completion, which has not said all that it has to say, goes on with this
    ),
    "an unknown topic that is queued": Lie(
        HALTED, "broker-1/controller.log",
        replaced("Ignoring request to delete non-existing topics nosuch", "Starting topic deletion for topics nosuch"),
        "broker-1/controller.log:321",  # the listener's turn begins here
    ),
    "a refusal by a broker that knows of no newer controller": Lie(
        CONFIG, "broker-2/state-change.log", with_refusal, "broker-2/state-change.log:9",
    ),
    "an answer that is awaited of another broker": Lie(
        ZOMBIE, "broker-1/controller.log",
        replaced("Deletion for replicas 3 for partition [t,0]", "Deletion for replicas 2 for partition [t,0]"),
        "broker-1/controller.log:81",
    ),
    "an answer that is not told of, though others are": Lie(
        ZOMBIE, "broker-2/controller.log",
        without_line("Deletion successfully completed for replicas [Topic=t,Partition=0,Replica=3]"),
        "broker-2/state-change.log:45",  # that answer's transition, which is printed with it
    ),
    "a removal that leaves the ISR empty": Lie(
        ZOMBIE, "zookeeper.jsonl",
        replaced(r'\"leader_epoch\":2,\"isr\":[3]', r'\"leader_epoch\":2,\"isr\":[]'),
        "zookeeper.jsonl:45",
    ),
    "a failover that finds nothing to delete": Lie(
        ZOMBIE, "broker-2/controller.log",
        replaced("List of topics to be deleted: t", "List of topics to be deleted: "),
        "broker-2/controller.log:17",
    ),
    "a mark that goes with the topic": Lie(
        MARK, "broker-1/controller.log",
        without_line("19:02:11,547] INFO [delete-topics-thread-1], Not retrying deletion of topic t"),
        "broker-1/controller.log:113",  # the completion, behind which the topic is held back
    ),
    "a topic that comes back on other brokers than it is created on": Lie(
        MARK, "zookeeper.jsonl", replaced(r'{\"0\":[2,4]}', r'{\"0\":[2,3]}'),
        "broker-1/state-change.log:91",  # brokers are told 2 and 4
    ),
    "a configuration that is deleted last": Lie(
        CONFIG, "zookeeper.jsonl",
        lambda text: _exchanged(text, '"delete", "path": "/config/topics/', '"delete", "path": "/admin/delete_topics/'),
        "zookeeper.jsonl:53",
    ),
    "a replica without a leader that is deleted all the same": Lie(
        LEADERLESS, "broker-1/state-change.log",
        replaced("initiated state change of replica 3 for partition [T,0] from OnlineReplica to ReplicaDeletionStarted"
                 " failed",
                 "changed state of replica 3 for partition [T,0] from OfflineReplica to ReplicaDeletionStarted"),
        "broker-1/state-change.log:97",
    ),
    "a doomed topic that is not deleted, since it is being reassigned": Lie(
        BUSY, "broker-1/controller.log",
        replaced("Deletion of topic v (re)started",
                 "Not retrying deletion of topic v at this time since it is marked ineligible for deletion"),
        "broker-1/controller.log:176",  # the thread's turn begins here
    ),
}  # fmt: skip

ENDLESS_LIES: Mapping[str, Lie] = {
    "a refusal of an epoch that nobody sent": Lie(
        ZOMBIE, "broker-3/state-change.log",
        replaced("old controller epoch 1. Latest", "old controller epoch 0. Latest"),
        "broker-3/state-change.log:22",
    ),
    "a replica that is only stopped, not deleted": Lie(
        ZOMBIE, "broker-3/state-change.log",
        lambda text: text.replace("stop replica (delete=true)", "stop replica (delete=false)"),
        "broker-2/state-change.log:45",  # the callback of a deletion that was none
    ),
}  # fmt: skip
"""Of these, more orders of what several threads do at once are possible than a search comes to the end of."""


def _exchanged(text: str, one: str, other: str) -> str:
    """A text in which the first two places of these are exchanged."""
    return re.sub(f"{re.escape(one)}|{re.escape(other)}", lambda found: other if found[0] == one else one, text)


DAILY = "brokers that are told of another ISR of what is to be deleted"
"""Behind the others there is more to try."""


@pytest.mark.parametrize("lie", [pytest.param(one, marks=[pytest.mark.slow] * (one != DAILY)) for one in LIES])
def test_a_deletion_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out(LIES[lie], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lie", SLOW_LIES)
def test_nor_is_any_of_these(lie: str, tmp_path: Path) -> None:
    assert_found_out(SLOW_LIES[lie], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lie", ENDLESS_LIES)
def test_nor_is_one_with_too_many_orders_to_try(lie: str, tmp_path: Path) -> None:
    assert_not_explained(ENDLESS_LIES[lie], tmp_path)


def test_the_znodes_of_a_deletion_go_in_this_order() -> None:
    changes = recorded(CONFIG).tracks["zookeeper"]
    kinds = (RequestMade, StateDeleted, TopicDeleted, TopicCreated, RequestWritten)
    assert [type(one) for one in changes if isinstance(one, kinds)] == [
        TopicCreated, RequestMade, StateDeleted, TopicDeleted, TopicCreated, RequestWritten,
    ]  # fmt: skip


def test_a_topic_that_is_created_again_has_an_assignment_of_its_own() -> None:
    """Brokers 2 and 3 at first, 3 and 2 the second time."""
    found = recorded(CONFIG)
    created = [one for one in found.tracks["zookeeper"] if isinstance(one, TopicCreated)]
    assert [(one.assigned, one.recreation) for one in created] == [({0: (2, 3)}, None), ({0: (3, 2)}, 0)]
    assert (found.cluster.assigned, found.cluster.recreations) == (((2, 3),), (((3, 2),),))
    assert found.cluster.parts == {"deletion", "reassignment"}
    assert recorded(ZOMBIE).cluster.parts == {"deletion"}


def test_a_topic_that_never_was_may_be_asked_for(tmp_path: Path) -> None:
    """It gets a number, and a partition without replicas; one that was has its own."""
    other = changed(
        CONFIG, tmp_path, "zookeeper.jsonl", lambda text: text.replace("delete_topics/t", "delete_topics/u")
    )
    found = read(other)
    asked = [(one.part, one.says) for one in found.tracks["zookeeper"] if isinstance(one, RequestChanged)]
    assert asked == [("deletion", {1: True}), ("deletion", {1: False})]
    assert (found.cluster.topics, found.cut) == (("t", "u"), None)
    assert (found.cluster.assigned, found.cluster.topic_of) == (((2, 3), ()), (0, 1))
    assert recorded(CONFIG).cluster.topics == ("t",)


def test_a_topic_without_its_configuration_ends_what_is_judged(tmp_path: Path) -> None:
    other = changed(
        CONFIG, tmp_path, "zookeeper.jsonl", lambda text: text.replace("/config/topics/t", "/config/topics/u")
    )
    cut = read(other).cut
    assert isinstance(cut, NotModelled)
    assert (cut.place, cut.reason) == (
        "zookeeper.jsonl:37", "a topic that is created without its configuration is not specified",
    )  # fmt: skip


def test_requests_that_are_dropped_since_topics_are_not_deleted_are_explained(tmp_path: Path) -> None:
    """By the listener, whether the topic is known or not, and by a failover (KAFKA-3175); the topic stays."""
    play = Play(a_scope(2, ((1, 2), (2, 1)), deletes_topics=False))
    play.start(topics=1)
    for request in ("request_deletion(t=0)", "request_stray_deletion(t=1)"):
        play.do(request)
        play.rest()
    play.kill(1)
    play.do("request_deletion(t=0)", "end_orphaned_session(b=1)")
    play.rest()
    found = judge(read(play.save(tmp_path)))
    assert found.outcome is Outcome.EXPLAINED
    assert [one.step.rule for one in found.path if one.step is not None].count("drop_request") == 3
    assert "deletions_complete" not in {one.claim.name for one in found.broken}


SET = f"{VERIFIED}\nProperty delete.topic.enable"
"""As 0.8.2 tells of it, which says nothing of a setting that is not set: then topics are not deleted."""


@pytest.mark.parametrize(
    ("log", "text", "deletes"),
    [
        ("server.log", "KafkaConfig values: \n\tdelete.topic.enable = true\n", True),
        ("server.log", "KafkaConfig values: \n\tdelete.topic.enable = false\n", False),
        ("server.log", f"{SET} is overridden to true (kafka.utils.VerifiableProperties)\n", True),
        ("server.log", f"{SET} is overridden to false (kafka.utils.VerifiableProperties)\n", False),
        ("server.log", f"{VERIFIED}\nProperty port is overridden to 1 (kafka.utils.VerifiableProperties)\n", False),
        ("controller.log", "Removing /admin/delete_topics/t since delete topic is disabled\n", False),
    ],
)
def test_logs_tell_whether_topics_are_deleted(log: str, text: str, *, deletes: bool, tmp_path: Path) -> None:
    assert deletes_topics(tmp_path)
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / log).write_text(text, encoding="utf-8")
    assert deletes_topics(tmp_path) is deletes


@pytest.mark.parametrize(
    ("text", "unclean"),
    [
        ("\tunclean.leader.election.enable = true\n", True),
        ("\tunclean.leader.election.enable = false\n", False),
        (f"{VERIFIED}\nProperty unclean.leader.election.enable is overridden to false (kafka.utils.V)\n", False),
        (f"{VERIFIED}\nProperty port is overridden to 1 (kafka.utils.VerifiableProperties)\n", True),
        ("Created log with {unclean.leader.election.enable -> true}\n", False),
    ],
)
def test_logs_tell_whether_a_leader_may_be_unclean(text: str, *, unclean: bool, tmp_path: Path) -> None:
    assert not is_unclean_by_default(tmp_path)
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(text, encoding="utf-8")
    assert is_unclean_by_default(tmp_path) is unclean
