"""Claims about requests and fences, each broken by one frame; and how what arrived is read."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import model_check
from model_check.monitors.arrivals import NOT_TOLD, Answer, Arrivals, Received, Unread
from model_check.monitors.check import check_history, read_history
from model_check.monitors.logged_arrivals import received_by_log
from model_check.monitors.requests import requests_can_be_read
from model_check.monitors.wire_arrivals import received_frames
from model_check.recordings.recording import Cluster, Recording
from model_check.recordings.seen import RequestHandled
from model_check.verdicts.verdict import Verdict
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey, api_versions
from spec.logs.wire_records import FrameReceived
from tests.leaderships import led
from tests.model_check.monitors.stories import Story, begun, born, breaks, deleted, failed_over

RECORDING = Path(model_check.__file__).with_name("RECORDING.md")
WHO = "LeaderAndIsr of controller 1, epoch 1, to broker 2"


def test_what_nobody_wrote_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.order(2, 3, 1, (2, 3), version=1)
    text = f"{place}: {WHO} tells of [t,0]: leader 3, leader epoch 1, ISR [2, 3], version 1, which nobody ever wrote"
    assert breaks(story.checked(tmp_path), "what_is_told_was_written") == [text]


def test_a_version_that_was_not_the_znodes_is_told(tmp_path: Path) -> None:
    story = begun()
    story.state(1, 3, 1, (2, 3))
    place = story.order(2, 3, 1, (2, 3), version=-1)
    text = f"{place}: {WHO} tells of [t,0]: leader 3, leader epoch 1, ISR [2, 3], version -1, which nobody ever wrote"
    assert breaks(story.checked(tmp_path), "what_is_told_was_written") == [f"{text} (as in the known defect S4)"]


def test_what_is_told_long_before_it_is_written_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.order(2, 3, 1, (2, 3), version=1)
    story.ms += 3000
    written = story.state(1, 3, 1, (2, 3))
    text = (
        f"{place}: {WHO} tells of [t,0]: leader 3, leader epoch 1, ISR [2, 3], which was written only later ({written})"
    )
    assert breaks(story.checked(tmp_path), "what_is_told_was_written") == [text]


def test_what_is_told_a_little_before_it_is_written_may_be_the_clocks(tmp_path: Path) -> None:
    story = begun()
    story.order(2, 3, 1, (2, 3), version=1)
    story.ms += 1900
    story.state(1, 3, 1, (2, 3))
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_term_that_tells_what_is_older_than_itself_is_told(tmp_path: Path) -> None:
    story = begun()
    story.state(1, 3, 1, (2, 3))
    story.end(1)
    raised = story.elect(2, 2)
    place = story.tell(3, 2, 0, (2, 3), term=2, controller=2)
    text = (
        "UpdateMetadata of controller 2, epoch 2, to broker 3 tells of [t,0]: leader 2, leader epoch 0, ISR [2, 3]; "
        f"as broker 2 raised the epoch ({raised}) the state had leader 3, leader epoch 1, ISR [2, 3]"
    )
    told = breaks(story.checked(tmp_path), "new_terms_send_the_latest_leadership")
    assert told == [f"{place}: {text}"]


def test_a_removal_that_nobody_asked_for_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.tell(2, -2, 0, (2, 3))
    text = "UpdateMetadata of controller 1, epoch 1, to broker 2 tells that [t,0] is removed"
    told = breaks(story.checked(tmp_path), "only_doomed_partitions_are_told_to_be_removed")
    assert told == [f"{place}: {text}, and nobody had asked to delete its topic"]


def test_a_request_that_cannot_be_read_is_told_with_the_field_that_lacks(tmp_path: Path) -> None:
    """Every request that arrived is asked about."""
    story = begun()
    place = story.order(2, 2, 0, (2, 3), version=0)
    received = story.wire[2][-2]
    assert isinstance(received, FrameReceived)
    story.wire[2][-2:] = [replace(received, data=received.data[:-4])]
    run = story.checked(tmp_path)
    (told,) = breaks(run, "requests_can_be_read")
    assert told.startswith(
        f"{place}: broker 2 cannot read LEADER_AND_ISR of version 0 in 80 bytes: live_leaders[0].port: "
    )
    assert told.endswith("; all of it can be read without id, or without port: is that left out?"), "each takes 4 bytes"
    (found,) = [one for one in run.findings if one.property == "requests_can_be_read"]
    arrived = sum(isinstance(one, FrameReceived) for wire in story.wire.values() for one in wire)
    assert found.reason.startswith(f"broken 1 of {arrived} times")


@pytest.mark.parametrize("is_documented", [True, False])
def test_only_who_is_of_a_documented_release_surely_knows_no_later_versions(
    tmp_path: Path, *, is_documented: bool
) -> None:
    history = read_history(begun().save(tmp_path))
    unread = Received((), (1,), "later", (Unread("here", "a request", is_known=False),), is_documented=is_documented)
    answers = list(requests_can_be_read.ask(replace(history, arrivals=Arrivals({2: unread}))))
    assert [str(one) for one in answers] == ["here: broker 2 cannot read a request"] * is_documented


# ------------------------------------------------------------------------------------------------------------- fences


def test_a_broker_that_obeys_an_older_epoch_is_told(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    place = story.order(2, 2, 0, (2, 3), version=0, code=11)
    text = f"{place}: {WHO} was obeyed, although its broker had obeyed epoch 2 before"
    assert breaks(story.checked(tmp_path), "brokers_obey_no_older_epoch") == [text]


def test_a_broker_that_refuses_an_older_epoch_does_right(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.order(2, 2, 0, (2, 3), version=0, refused=True)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_broker_that_has_started_anew_knows_no_epoch(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.start(2)
    story.order(2, 2, 0, (2, 3), version=0)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_broker_that_refuses_what_is_not_older_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.tell(2, 2, 0, (2, 3), refused=True)
    text = "UpdateMetadata of controller 1, epoch 1, to broker 2 was refused as stale"
    told = breaks(story.checked(tmp_path), "brokers_refuse_only_older_epochs")
    assert told == [f"{place}: {text}, and none of a later epoch than 1 had arrived"]


def test_a_leader_that_accepts_its_leader_epoch_again_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.order(2, 2, 0, (2, 3), version=0)
    text = f"{place}: {WHO} was obeyed for [t,0], leader epoch 0, although its broker led in 0 before"
    assert breaks(story.checked(tmp_path), "brokers_accept_only_higher_leader_epochs") == [text]


def test_who_has_deleted_its_replica_may_lead_in_any_epoch(tmp_path: Path) -> None:
    story = begun()
    deleted(story)
    born(story, "t")
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_leader_epoch_that_is_refused_for_nothing_is_told(tmp_path: Path) -> None:
    story = begun()
    story.state(1, 3, 1, (2, 3))
    place = story.order(2, 3, 1, (2, 3), version=1, code=11)
    text = f"{place}: {WHO} was refused for [t,0], leader epoch 1, and none as high had arrived"
    assert breaks(story.checked(tmp_path), "brokers_refuse_only_known_leader_epochs") == [text]


def test_a_leader_epoch_that_is_known_of_an_earlier_topic_is_a_known_defect(tmp_path: Path) -> None:
    story = begun()
    known = f"broker-2/wire.jsonl:{len(story.wire[2]) - 3}"
    story.delete(99, "/brokers/topics/t")
    story.ms += 5000
    story.assign(99, 3, 2)
    story.state(1, 3, 0, (3, 2))
    place = story.order(2, 3, 0, (3, 2), version=0, code=11)
    text = (
        f"{WHO} was refused for [t,0], leader epoch 0, as its broker knows one as high of an earlier topic of this name"
    )
    told = breaks(story.checked(tmp_path), "brokers_refuse_only_known_leader_epochs")
    assert told == [f"{place}: {text} ({known}) (as in the known defect D23)"]


# ------------------------------------------------------------------------------------------------------------ reading


def test_the_lines_that_the_format_page_shows_are_a_request_and_its_answer(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", RECORDING.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "broker-2").mkdir()
    (tmp_path / "broker-2" / "wire.jsonl").write_text(shown)
    received = received_frames(tmp_path)[2]
    assert (received.unreadable, [str(one) for one in received.requests]) == ("", [WHO])
    assert received.requests[0].answer == Answer(2, 0, {TopicPartition("t", 0): 0})


def test_the_versions_that_the_format_page_names_are_those_that_are_read() -> None:
    assert [list(api_versions(key)) for key in ApiKey] == [[0], [0], [0, 1, 2, 3], [0, 1]]
    named = "0 of keys 4 and 5, 0 to 3 of key 6, 0 and 1 of key 7"
    assert named in " ".join(RECORDING.read_text(encoding="utf-8").split())


def test_frames_are_put_together_to_requests(tmp_path: Path) -> None:
    received = received_frames(begun().save(tmp_path))[2]
    assert [str(one) for one in received.requests] == [WHO, WHO.replace("LeaderAndIsr", "UpdateMetadata")]
    assert [one.answer is not None and one.answer.code for one in received.requests] == [0, 0]
    assert (received.unreadable, len(received.starts or ())) == ("", 1)


def restarted() -> Story:
    """Broker 2 is killed, starts anew, and is told what it knew before."""
    story = begun()
    story.act("broker-kill-9", 2)
    story.end(2)
    story.ms += 5000
    story.start(2)
    story.begin(22, 2, 2)
    story.create(22, "/brokers/ids/2", {"version": 4}, ephemeral=True)
    story.order(2, 2, 0, (2, 3), version=0)
    story.tell(2, 2, 0, (2, 3))
    return story


def test_a_torn_end_takes_nothing_of_the_next_life_with_it(tmp_path: Path) -> None:
    """Not even the start, which goes on in its line: else the broker would accept what it knows."""
    file = restarted().save(tmp_path) / "broker-2" / "wire.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:4], lines[4][:40], *lines[5:]]))
    run = check_history(tmp_path)
    assert (len(received_frames(tmp_path)[2].starts or ()), run.verdict) == (2, Verdict.HOLDS)
    place = "broker-2/wire.jsonl:5"
    assert f"broker 2: what a killed process wrote last was torn, and cut off, at {place}" in run.notes


@pytest.mark.parametrize("keeps", [True, False])
def test_a_file_that_tells_no_start_does_not_tell_lives_apart(tmp_path: Path, *, keeps: bool) -> None:
    """Nor does an empty one: nothing is concluded from either."""
    story = restarted()
    story.rest()
    file = story.save(tmp_path) / "broker-2" / "wire.jsonl"
    frames = [line for line in file.read_text().splitlines(keepends=True) if "started" not in line]
    file.write_text("".join(frames if keeps else []))
    run = check_history(tmp_path)
    assert run.verdict is Verdict.HOLDS
    reason = "broker-2/wire.jsonl does not begin with the start of a process"
    assert f"broker 2: not all that arrived could be read ({reason})" in run.notes


def test_a_line_that_is_no_record_is_refused(tmp_path: Path) -> None:
    file = begun().save(tmp_path) / "broker-2" / "wire.jsonl"
    file.write_text(file.read_text().replace("received", "recieved", 1))
    with pytest.raises(MalformedInput, match=r"broker-2/wire\.jsonl:2: is no record of the wire"):
        check_history(tmp_path)


def test_where_a_frame_cannot_be_read_nothing_is_concluded_from_what_lacks(tmp_path: Path) -> None:
    story = begun()
    story.state(1, 3, 1, (2, 3))
    story.rest()
    file = story.save(tmp_path) / "broker-2" / "wire.jsonl"
    later = '{"ms":1700000009000,"connection":"a","received":"AAQACQAAAAH//w=="}\n'
    file.write_text(file.read_text() + later)
    arrivals = read_history(tmp_path).arrivals
    assert arrivals.whole(2) is None
    assert arrivals.whole(3) is not None
    assert "api_version: LEADER_AND_ISR has the versions 0 to 0, not 9" in arrivals.by_broker[2].unreadable


def test_without_wire_records_and_logs_what_needs_them_is_not_asked(tmp_path: Path) -> None:
    story = begun()
    story.wire.clear()
    run = story.checked(tmp_path)
    assert "what_is_told_was_written (no requests)" in run.not_asked
    assert any(
        one.startswith("no requests: no broker wrote down what arrived at it, and the logs") for one in run.notes
    )
    assert run.verdict is Verdict.HOLDS


@pytest.mark.parametrize(("version", "told"), [(4, 4), (-1, NOT_TOLD)])
def test_a_log_that_tells_no_version_tells_none(tmp_path: Path, version: int, told: int) -> None:
    partition = TopicPartition("t", 0)
    cluster = Cluster((2, 3), ("t",), (partition,), ((1, 2),))
    handled = RequestHandled(
        place="broker-3/state-change.log:1", time=0, text="", broker=2, incarnation=1, received=0,
        kind="LeaderAndIsr",
        controller=1, epoch=1, correlation_id=0, states={0: led(2, 5, (2, 1), 1, version)},
        outcomes={0: "ignored"}, refused=False,
    )  # fmt: skip
    read = Recording(tmp_path, cluster, {"broker 3": (handled,)}, {}, 1)
    (request,) = received_by_log(read, [3])[3].requests
    assert request.states == {partition: led(3, 5, (2, 3), 1, told)}
    assert request.answer is not None
    assert request.answer.codes == {partition: 11}
