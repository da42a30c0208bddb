"""Recordings are read strictly: every line is an observation, passed over for a reason, or refused with its place."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.recordings import entries
from model_check.recordings.reading import read
from model_check.recordings.recording import Cluster
from model_check.recordings.reports import PASSED_OVER, REPORTS
from model_check.recordings.seen import (
    AssignmentRead,
    AssignmentWritten,
    ControllerSaid,
    RequestHandled,
    SessionBegan,
    SessionEnded,
    StateWritten,
    TopicCreated,
    UncleanChanged,
    WriteConflicted,
)
from model_check.recordings.transactions import may_be_unanswered
from model_check.two_questions import Question, claims_run
from reference.zookeeper.transactions import NodeCreated, SessionClosed, Transaction, WriteRefused
from spec.errors import BadInput
from spec.formats.kafka_types import V0102, TopicPartition
from spec.logs.controller_log.failover import SessionExpiredElectedAlready
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import LogEntry, TornLine, read_entries
from tests.model_check.unpacking import JUDGED, NAMES, RECORDINGS, changed, recorded, recording, replaced, unpacked

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"
AT_18_57 = 1_795_201_020_000
"""That time of the day on which it was recorded, in milliseconds."""


@pytest.mark.parametrize("name", JUDGED)
def test_no_transaction_is_lost(name: str) -> None:
    """What is not observed was passed over, and both together are all lines; a tool's read is in no line."""
    found = recorded(name)
    passed_over = sum(number for why, number in found.passed_over.items() if why.startswith("zookeeper.jsonl: "))
    lines = (recording(name) / "zookeeper.jsonl").read_text(encoding="utf-8").count("\n")
    changes = [one for one in found.tracks["zookeeper"] if not isinstance(one, AssignmentRead)]
    assert len(changes) + passed_over == lines
    assert found.cut is None


def test_a_cluster_is_told_by_its_sessions_and_topics() -> None:
    cluster = recorded("13-D1-epoch-write-connectionloss").cluster
    assert cluster.broker_ids == (1, 2, 3, 4)
    assert cluster.topics == ("rf3", "m")
    assert cluster.assigned == ((1, 2, 3), (2, 3, 4), (3, 4, 1), (2, 3))
    assert cluster.topic_of == (0, 0, 0, 1)


def test_sessions_know_whose_life_they_are_of() -> None:
    """Broker 3 loses its session and gets another in the same life; broker 1 dies and is started again."""
    changes = recorded(NAME).tracks["zookeeper"]
    began = [(one.by, one.first) for one in changes if isinstance(one, SessionBegan)]
    assert began == [(1, True), (2, True), (3, True), (3, False), (1, True)]
    ended = [(one.by, one.survived, one.had_controller) for one in changes if isinstance(one, SessionEnded)]
    assert ended == [(1, False, True), (3, True, True)]
    assert [one.by for one in changes if isinstance(one, WriteConflicted)] == [3, 3]


def test_a_write_is_its_leaders_where_the_leader_epoch_stays() -> None:
    changes = recorded(NAME).tracks["zookeeper"]
    written = [one for one in changes if isinstance(one, StateWritten)]
    assert [(one.state.zk_version, one.by_leader) for one in written[:6]] == [
        (0, False), (0, False), (0, False), (1, False), (1, False), (1, True),
    ]  # fmt: skip


def test_the_lines_of_a_request_are_one_observation() -> None:
    """Broker 3 handles a LeaderAndIsr of three partitions as leader of one, and ignores one partition of another."""
    handled = [one for one in recorded(NAME).tracks["broker 3"] if isinstance(one, RequestHandled)]
    first = handled[0]
    assert (first.kind, first.controller, first.epoch, first.refused) == ("LeaderAndIsr", 1, 1, False)
    assert first.outcomes == {0: "follower", 1: "follower", 2: "leader"}
    assert {p: state.leader for p, state in first.states.items()} == {0: 1, 1: 2, 2: 3}
    assert handled[3].outcomes == {0: "follower", 1: "ignored", 2: "follower"}
    refused = [one for one in recorded(NAME).tracks["broker 2"] if isinstance(one, RequestHandled) and one.refused]
    assert [(one.kind, one.controller, one.epoch) for one in refused] == [
        ("UpdateMetadata", 3, 1), ("LeaderAndIsr", 3, 1), ("UpdateMetadata", 3, 1),
    ]  # fmt: skip


def test_a_report_is_an_observation_of_its_controllers_life() -> None:
    """Controller 3 of recording 12: the one that reads an epoch, and fails to write the next."""
    reports = recorded(NAME).tracks["controller.log 3"]
    assert [(type(one.line).__name__, one.place) for one in reports if isinstance(one, ControllerSaid)][:4] == [
        ("BecomingController", "broker-3/controller.log:3"), ("EpochRead", "broker-3/controller.log:4"),
        ("EpochIncrementFailed", "broker-3/controller.log:5"), ("EpochIncremented", "broker-3/controller.log:7"),
    ]  # fmt: skip


@pytest.mark.slow
def test_every_kind_of_report_was_recorded_but_one() -> None:
    """No broker of these clusters lost two sessions in a row. All recordings are read for it."""
    tracks = [track for name in NAMES for title, track in recorded(name).tracks.items() if "log" in title]
    kinds = {type(one.line) for track in tracks for one in track if isinstance(one, ControllerSaid)}
    assert REPORTS - kinds == {SessionExpiredElectedAlready}


def test_a_line_of_controller_log_is_a_report_or_passed_over_for_a_reason() -> None:
    assert set(CONTROLLER_LOG.kinds) == REPORTS | PASSED_OVER.keys()
    assert not REPORTS & PASSED_OVER.keys()


def test_a_log_ends_with_its_last_line_of_whatever_kind() -> None:
    """Answers, a broker's lines, and lines of controller.log that are passed over."""
    ends = {name: end - AT_18_57 for name, end in recorded(NAME).log_ends.items()}
    assert ends == {
        "controller 1": 37_717, "controller 2": 37_722, "controller 3": 37_718,
        "controller.log 1": 31_864, "controller.log 2": 37_720, "controller.log 3": 3_070,
        "controller.log without the lock 1": 31_864, "controller.log without the lock 2": 37_720,
        "controller.log without the lock 3": 3_070,
    }  # fmt: skip


def test_only_a_broker_writes_as_one(tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / "sessions.json").write_text('{"0x1": {"broker": 7, "incarnation": 1}}', encoding="utf-8")
    assert read_error(folder) == (
        "zookeeper.jsonl:21: /controller: session 0x1000046ccb70001 is no broker's, but writes what only brokers write"
    )


def test_broker_ids_may_be_any_numbers() -> None:
    cluster = Cluster((5, 1001), ("t",), (TopicPartition("t", 0),), ((2, 1),))
    assert [cluster.broker(broker) for broker in (-1, 5, 1001)] == [0, 1, 2]
    with pytest.raises(KeyError):
        cluster.broker(1)


def read_error(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(folder)
    return str(caught.value).replace(f"{folder}/", "").replace(str(folder), "FOLDER")


def append(text: str) -> Callable[[str], str]:
    return lambda content: content + text


BAD = {
    "zookeeper.jsonl": [
        (replaced('"cxid": 33', '"cxid": "33"'), "field 'cxid' is \"33\", not of kind int"),
        (replaced('"/brokers/ids/2"', '"/brokers/ids/two"'), "no znode of the controller's protocol has this path"),
        (replaced(r'\"isr\":[2,3,1]', r'\"isr\":[2,\"3\",1]'), "/brokers/topics/rf3/partitions/1/state: isr"),
        (replaced('"/isr_change_notification/isr_change_0000000000"}', '"/controller_epoch"}'),
         "no controller of the era makes a transaction like"),
        (replaced(r'"path": "/controller", "data": "{\"version\":1,\"brokerid\":1',
                  r'"path": "/controller", "data": "{\"version\":1,\"brokerid\":2'),
         "/controller: names broker 2, but its session is broker 1's"),
        (replaced(r'\"isr\":[2,3,1]', r'\"isr\":[2,3,4]'), "names 4, of which nothing else tells"),
        (replaced('"data": "2", "version": 1', '"data": "2", "version": 2'),
         "zookeeper.jsonl:53: DataSet(path='/controller_epoch', data=b'2', version=2) cannot follow"),
        (replaced('"deleted": ["/controller", "/brokers/ids/1"]', '"deleted": ["/controller"]'),
         "zookeeper.jsonl:49: deleted: the session owned /controller, /brokers/ids/1"),
        (replaced('"session": "0x1000046ccb70002", "cxid": 41', '"session": "0x1000046ccb70001", "cxid": 41'),
         "zookeeper.jsonl:53: session 0x1000046ccb70001 is not open"),
        (replaced('"ephemeralOwner": "0x1000046ccb70003"', '"ephemeralOwner": "0x1000046ccb70002"'),
         "ephemeralOwner: session 0x1000046ccb70003 makes a znode of 0x1000046ccb70002"),
    ],
    "sessions.json": [
        (append("}"), "sessions.json: is not an object of sessions"),
        (replaced('"broker": 1', '"broker": "1"'), "broker is '1'"),
        (replaced('"broker": 2', '"broker": 3'), "/brokers/ids/2: names broker 2, but its session is broker 3's"),
    ],
    "actions.jsonl": [
        (append('{"action": "dance", "ms": 1, "broker": 1}\n'),
         "actions.jsonl:20: action: 'dance' is done to a broker, and not one of broker-kill-9, "),
        (append('{"action": 5, "ms": 1}\n'), "actions.jsonl:20: is not an act with a time and its fields (its"),
        (append("[]\n"), "actions.jsonl:20: is not an act with a time and its fields"),
        (append('{"action": "broker-kill-9", "ms": 1, "broker": 7}\n'),
         "actions.jsonl:20: broker: broker 7 never had a session"),
    ],
    "broker-2/state-change.log": [
        (append("Broker 2\n"), "broker-2/state-change.log:160: does not begin with a time: 'Broker 2'"),
        (replaced("Broker 2 received", "Broker 3 received"), "broker: is 3 in a log of broker 2"),
        (replaced("Controller 2 epoch 2", "Controller 1 epoch 2"), "controller: is 1 in a log of broker 2"),
        (replaced("Set(2, 3)", "Set(2, 4)"), "names 4, which no transaction created"),
        (replaced("elected leader", "chose leader"), "broker-2/state-change.log:48: no line of Kafka 0.10.2: expected"),
    ],
    "broker-2/controller.log": [
        (append("Broker 2\n"), "broker-2/controller.log:65: does not begin with a time: 'Broker 2'"),
        (replaced("[Controller 2]: Broker 2 starting", "[Controller 1]: Broker 1 starting"),
         "broker-2/controller.log:3: controller: is 1 in a log of broker 2"),
        (replaced("Initialized controller epoch", "Initialised controller epoch"),
         "broker-2/controller.log:4: no line of Kafka 0.10.2: expected"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "number"), [(file, number) for file, changes in BAD.items() for number in range(len(changes))]
)
def test_a_line_that_is_not_as_it_should_be_is_refused_with_its_place(file: str, number: int, tmp_path: Path) -> None:
    change, complaint = BAD[file][number]
    assert complaint in read_error(changed(NAME, tmp_path, file, change))


WHY_REQUIRED = "broker 2 has sessions in zookeeper.jsonl, and its log is required"


@pytest.mark.parametrize(
    ("gone", "complaint"),
    [
        ("zookeeper.jsonl", "FOLDER is no recording: it has no zookeeper.jsonl"),
        ("broker-*/state-change.log", "FOLDER is no recording: it has no broker-*/state-change.log"),
        ("broker-2/state-change.log", f"broker-2/state-change.log is missing: {WHY_REQUIRED}"),
    ],
)
def test_what_is_required_must_be_there(gone: str, complaint: str, tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    for file in folder.glob(gone):
        file.unlink()
    assert read_error(folder) == complaint


def test_a_cluster_without_a_transaction_is_none(tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / "zookeeper.jsonl").write_text("")
    assert read_error(folder) == "FOLDER is no recording: its zookeeper.jsonl has no transaction"


@pytest.mark.parametrize("file", ["zookeeper.jsonl", "sessions.json", "actions.jsonl", "broker-1/controller.log"])
def test_a_folder_in_the_place_of_a_file_is_refused(file: str, tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / file).unlink()
    (folder / file).mkdir()
    assert read_error(folder) == f"{file} is no file; what a recording has of that name must be one"


@pytest.mark.parametrize("file", ["zookeeper.jsonl", "actions.jsonl", "broker-1/state-change.log"])
def test_what_is_no_text_is_refused_with_its_place(file: str, tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    lines = (folder / file).read_bytes().splitlines(keepends=True)
    (folder / file).write_bytes(b"".join(lines[:3]) + b"\xff\xfe\n")
    assert re.search(f"{file}:( line )?4: ", read_error(folder))


def test_what_is_no_text_in_a_log_of_which_little_is_read_is_passed_over(tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / "sessions.json").unlink()
    log = folder / "broker-1/server.log"
    log.write_bytes(b"\xff\xfe\n" + (log.read_bytes() if log.exists() else b""))
    assert read(folder).cluster.broker_ids == recorded(NAME).cluster.broker_ids


@pytest.mark.parametrize("name", ["broker-b", "broker-²", "broker-02"])
def test_a_folder_of_a_broker_is_called_by_its_id(name: str, tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / "broker-2").rename(folder / name)
    assert read_error(folder) == f"{name}/state-change.log: the folder of a broker is called broker- and its id"


def test_a_log_of_a_broker_without_a_session_is_refused(tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)
    (folder / "broker-2").rename(folder / "broker-9")
    assert read_error(folder) == "broker-9/state-change.log: broker 9 has no session in zookeeper.jsonl"


def test_a_change_of_unclean_election_is_one_of_its_topic_and_other_settings_are_passed_over(tmp_path: Path) -> None:
    """In the place of a refused write, twice: what is set again changes nothing."""
    said = '{\\"unclean.leader.election.enable\\":\\"true\\"}'
    change = (
        '"type": "setData", "path": "/config/topics/rf3", "version": 1, "data": "{\\"version\\":1,\\"config\\":%s}"'
    )
    refused = '"cxid": 94, "type": "error", "err": -101, "error": "NoNode"'
    allowed = changed(NAME, tmp_path / "allowed", "zookeeper.jsonl", replaced(refused, '"cxid": 94, ' + change % said))
    found, whole = read(allowed), recorded(NAME)
    seen = [one for one in found.tracks["zookeeper"] if isinstance(one, UncleanChanged)]
    assert [(one.place, one.topic, one.unclean) for one in seen] == [
        ("zookeeper.jsonl:39", found.cluster.topics.index("rf3"), True)
    ]
    assert found.cluster.unclean == {"rf3"}
    assert found.cut is None
    assert len(found.tracks["zookeeper"]) == len(whole.tracks["zookeeper"]) + 1
    empty = replaced(refused, '"cxid": 94, ' + change % "{}")
    assert read(changed(NAME, tmp_path / "empty", "zookeeper.jsonl", empty)).tracks == whole.tracks


def test_an_act_that_is_done_to_no_broker_is_passed_over(tmp_path: Path) -> None:
    acts = '{"action": "admin-dance", "ms": 1, "broker": 1}\n{"action": "dance", "ms": 1}\n'
    found, whole = read(changed(NAME, tmp_path, "actions.jsonl", append(acts))), recorded(NAME)
    assert found.tracks == whole.tracks
    more = {reason: times for reason, times in found.passed_over.items() if times != whole.passed_over.get(reason, 0)}
    seen = "actions.jsonl: seen as ZooKeeper's transactions"
    assert more == {
        seen: whole.passed_over[seen] + 1, "actions.jsonl: 'dance', which is done to no broker": 1,
    }  # fmt: skip


def test_what_no_controller_reads_is_passed_over(tmp_path: Path) -> None:
    """A quota's znode, in the place of an absent clients' configuration."""
    foreign = replaced('"path": "/config/clients"', '"path": "/config/users"')
    assert read(changed(NAME, tmp_path, "zookeeper.jsonl", foreign)).tracks == recorded(NAME).tracks


def test_a_controller_that_writes_a_deleted_topic_creates_it(tmp_path: Path) -> None:
    """D52: what the tool created again, put down to broker 1, which has not written a configuration."""
    name, line = "34-D55-config-lost", '"session": "0x100004a7cbe000{}", "cxid": 33'
    by_a_controller = replaced(line.format(0), line.format(1))
    found = read(changed(name, tmp_path, "zookeeper.jsonl", by_a_controller))
    written = [one for one in found.tracks["zookeeper"] if isinstance(one, AssignmentWritten)]
    assert [(one.place, one.by, one.assigned, one.addition) for one in written] == [
        ("zookeeper.jsonl:52", 1, {0: (3, 2)}, None)
    ]
    assert [one.place for one in found.tracks["zookeeper"] if isinstance(one, TopicCreated)] == ["zookeeper.jsonl:37"]
    assert (found.cut, found.cluster.recreations) == (None, ())


def test_a_recording_is_judged_up_to_where_somebody_removes_by_hand_what_brokers_own(tmp_path: Path) -> None:
    """The controller's delete of an ISR change notification, put down to the admin."""
    by_hand = replaced('"session": "0x100004e5c090001", "cxid": 277', '"session": "0x100004e5c090000", "cxid": 277')
    found = read(changed("32-D53-foreign-removal", tmp_path, "zookeeper.jsonl", by_hand))
    assert found.cut is not None
    assert found.cut.place == "zookeeper.jsonl:114"
    assert found.cut.reason == "what is removed by hand is not part of the specification"
    assert all(one.time < found.cut.time for track in found.tracks.values() for one in track)
    assert all(end < found.cut.time for end in found.log_ends.values())


def test_topics_may_override_whether_leader_election_may_be_unclean(tmp_path: Path) -> None:
    """Without a word of the brokers' configuration it is off; the topic "clean" says off, "unclean" says on."""
    assert recorded("10-unclean").cluster.topics == ("clean", "unclean")
    assert recorded("10-unclean").cluster.unclean == {"unclean"}
    assert recorded(NAME).cluster.unclean == set()
    for name, unclean in (("10-unclean", {"unclean"}), (NAME, {*recorded(NAME).cluster.topics})):
        folder = unpacked(name, tmp_path)
        (folder / "broker-1/server.log").write_text("\tunclean.leader.election.enable = true\n", encoding="utf-8")
        assert read(folder).cluster.unclean == unclean


def transaction(zxid: int, session: int, change: Any) -> Transaction:
    return Transaction(zxid=zxid, time_ms=0, session=session, cxid=zxid, change=change)


NODE_EXISTS, NO_NODE, WRITTEN = WriteRefused(-110), WriteRefused(-101), NodeCreated("/a", b"", 0, 1)


@pytest.mark.parametrize(
    ("later", "may_be"),
    [
        ([(1, NODE_EXISTS)], True),
        ([(1, WRITTEN), (1, NODE_EXISTS)], True),
        ([], True),
        ([(1, SessionClosed(("/controller",)))], True),
        ([(2, NODE_EXISTS), (1, WRITTEN)], False),
        ([(1, NO_NODE)], False),
    ],
)
def test_who_was_not_told_of_a_create_tries_again_or_does_nothing_more(
    later: list[tuple[int, Any]], may_be: bool
) -> None:
    before = [transaction(1, 1, NODE_EXISTS), transaction(2, 1, NodeCreated("/controller", b"", 1, 1))]
    after = [transaction(3 + number, session, change) for number, (session, change) in enumerate(later)]
    assert may_be_unanswered([*before, *after], 2) is may_be


def test_a_log_is_read_once_for_both_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is looked through: to tell its release, to set its clock right, line by line, by the claims."""
    opened = Counter[str]()

    def counted(lines: Iterable[str], source: str) -> Iterator[LogEntry | TornLine]:
        opened[source] += 1
        return read_entries(lines, source)

    monkeypatch.setattr(entries, "read_entries", counted)
    found = read(recording(NAME))
    claims_run(recording(NAME), Question(), found)
    logs = {f"broker-{b}/{log}.log" for b in (1, 2, 3) for log in ("controller", "state-change")}
    assert opened.keys() == logs
    assert opened.total() == len(logs)


def test_claims_that_go_by_what_was_read_before_are_what_they_are_otherwise() -> None:
    made, again = (claims_run(recording(NAME), Question(release=one), recorded(NAME)) for one in (None, V0102))
    assert replace(made, seconds={}) == replace(again, seconds={})
    assert made.findings
