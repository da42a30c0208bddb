"""Reassignments of real clusters: what stands on disk at the end is explained; with one fact changed nothing is."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.search import PATIENCE
from model_check.recordings.reading import read
from tests.model_check.tampering import Lie, assert_found_out
from tests.model_check.unpacking import RECORDINGS, judged, replaced, unpacked, without_line

pytestmark = RECORDINGS


@pytest.mark.slow
def test_what_an_explanation_leaves_on_disk_is_what_stood_there() -> None:
    """The last look at the disks in 06: topic a (partition 0) is still on broker 1, which was down at its deletion."""
    found = judged("06-reassign-controller-kill")
    logs, model = found.system.view(found.path[-1].state).logs, found.system.model
    left = {p: {b for b in model.assigned(p) if logs[b][p].raw} for p in model.partitions}
    assert left == {0: {1, 3, 4}, 1: {4}, 2: {1, 3}}


def with_a_lost_round(folder: Path) -> Path:
    """The last step 7 of a recording loses a round: once it has read, the leader takes its follower out, and in."""
    file = folder / "zookeeper.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    expanded, own = lines[55], lines[56]
    shrunk = json.dumps(json.loads(expanded["data"]) | {"isr": [3]}, separators=(",", ":"))
    refused = {key: own[key] for key in ("zxid", "time", "utc", "session", "cxid")}
    refused |= {"type": "error", "err": -103, "error": "BadVersion"}
    lines[56:57] = [
        expanded | {"data": shrunk, "version": 5}, refused, expanded | {"version": 6}, own | {"version": 7},
    ]  # fmt: skip
    written = (json.dumps(line | {"zxid": hex(zxid)}) for zxid, line in enumerate(lines, start=1))
    file.write_text("\n".join(written) + "\n", encoding="utf-8")
    for log in folder.glob("broker-*/state-change.log"):
        told = log.read_text(encoding="utf-8").replace("isr=[3, 2], zkVersion=5", "isr=[3, 2], zkVersion=7")
        log.write_text(told, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_controller_that_read_before_the_leader_wrote_is_explained_without_a_choice_far_back(tmp_path: Path) -> None:
    found = judge(read(with_a_lost_round(unpacked(ORPHAN, tmp_path))))
    assert found.outcome is Outcome.EXPLAINED
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert (taken.count("read_for_move"), taken.count("write_move")) == (3, 3)
    assert found.best_after < PATIENCE


def with_a_lost_answer(folder: Path, place: int) -> Path:
    """The client does the operation of this line again: what is conditional fails on its own, the rest is repeated."""
    file = folder / "zookeeper.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    once = lines[place]
    again = {key: once[key] for key in ("zxid", "time", "utc", "session", "cxid")} | {"type": "error"}
    if once["type"] == "delete":
        again |= {"err": -101, "error": "NoNode"}
    elif once["path"].endswith("/state"):
        again |= {"err": -103, "error": "BadVersion"}
    else:
        again = once
        for line in lines[place + 1 :]:
            if line.get("path") == once["path"]:
                line["version"] += 1
        again = once | {"version": once["version"] + 1}
    lines.insert(place + 1, again)
    written = (json.dumps(line | {"zxid": hex(zxid)}) for zxid, line in enumerate(lines, start=1))
    file.write_text("\n".join(written) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (43, "write_move"),
        pytest.param(45, "write_target", marks=pytest.mark.slow),
        pytest.param(53, "write_union", marks=pytest.mark.slow),
        pytest.param(54, "write_bump", marks=pytest.mark.slow),
    ],
)
def test_a_write_whose_answer_was_lost_is_explained(place: int, rule: str, tmp_path: Path) -> None:
    found = judge(read(with_a_lost_answer(unpacked(ORPHAN, tmp_path), place)))
    assert found.outcome is Outcome.EXPLAINED
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert taken.count(f"{rule}_unanswered") == 1


def with_a_lost_request(folder: Path) -> Path:
    """The first request's delete is done again, and takes one that the tool has made in between."""
    file = folder / "zookeeper.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (first, again), later = (lines[42], lines[46]), {"zxid", "time", "utc", "cxid"}
    lines[47:47] = [first | {key: again[key] for key in later} | {"parentCversion": 3}, again]
    for line in lines[49:]:
        if line.get("path") == again["path"] and line["type"] == "create":
            line["parentCversion"] += 1
    written = (json.dumps(line | {"zxid": hex(zxid)}) for zxid, line in enumerate(lines, start=1))
    file.write_text("\n".join(written) + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_request_that_a_repeated_delete_takes_is_named(tmp_path: Path) -> None:
    found = judge(read(with_a_lost_request(unpacked(ORPHAN, tmp_path))))
    assert found.outcome is Outcome.EXPLAINED
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert taken.count("write_remaining_unanswered") == 1
    assert "reassignment_requests_are_read_before_they_are_changed" in {one.claim.name for one in found.broken}


ORPHAN, ZOMBIE = "23-D38-orphan-after-reassignment", "14-D2-zombie-assignment-write"
LIES: Mapping[str, Lie] = {
    "a leader of step 7 that is not wanted": Lie(
        ORPHAN, "zookeeper.jsonl",
        replaced(r'\"leader\":3,\"version\":1,\"leader_epoch\":1,\"isr\":[2,3]}", "version": 1',
                 r'\"leader\":2,\"version\":1,\"leader_epoch\":1,\"isr\":[2,3]}", "version": 1'), "zookeeper.jsonl:44",
    ),
    "an ISR from which nobody was taken": Lie(
        ORPHAN, "zookeeper.jsonl",
        replaced(r'\"leader_epoch\":2,\"isr\":[3]}', r'\"leader_epoch\":2,\"isr\":[3,2]}'), "zookeeper.jsonl:45",
    ),
    "a replica that is never NonExistent again": Lie(
        ORPHAN, "broker-1/state-change.log",
        without_line("replica 2 for partition [t,0] from ReplicaDeletionSuccessful to NonExistentReplica"),
        "broker-1/state-change.log:38",  # the step that takes it from the ISR prints all from here on
    ),
    "a resumption of something else": Lie(
        ZOMBIE, "broker-2/controller.log",
        replaced("Resuming reassignment of partitions: Map([t,0] -> ReassignedPartitionsContext(List(3),null))",
                 "Resuming reassignment of partitions: Map()"), "broker-2/controller.log:14",
    ),
}  # fmt: skip
MORE_LIES: Mapping[str, Lie] = {
    "a union in another order": Lie(
        ORPHAN, "zookeeper.jsonl",
        replaced(r'{\"0\":[3,2]}}", "version": 2', r'{\"0\":[2,3]}}", "version": 2'), "zookeeper.jsonl:54",
    ),
    "a target in another order": Lie(
        ORPHAN, "zookeeper.jsonl",
        replaced(r'{\"0\":[3,2]}}", "version": 3', r'{\"0\":[2,3]}}", "version": 3'), "zookeeper.jsonl:58",
    ),
    "assigned replicas that were not sent": Lie(
        ORPHAN, "broker-3/state-change.log",
        replaced("zkVersion=3, replicas=[2, 3]", "zkVersion=3, replicas=[3]"), "broker-3/state-change.log:25",
    ),
    "a new list of replicas that nobody was told of": Lie(
        ORPHAN, "broker-1/state-change.log",
        without_line("LeaderEpoch:4,ControllerEpoch:1) with new assigned replica list 3,2 to leader 3"),
        "broker-1/state-change.log:91",
    ),
    "a request that says something else": Lie(
        ORPHAN, "broker-1/controller.log",
        replaced('to be reassigned {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3]}',
                 'to be reassigned {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2]}'),
        "broker-1/controller.log:52",
    ),
    "a leader that is said to be wanted": Lie(
        ORPHAN, "broker-1/controller.log",
        replaced("is not in the new list of replicas 3. Re-electing leader",
                 "is already in the new list of replicas 3 and is alive"), "broker-1/controller.log:55",
    ),
    "a new replica that caught up too early": Lie(
        ORPHAN, "broker-1/controller.log",
        replaced("1/2 replicas have caught up with the leader for partition [t,0] being reassigned.Replica(s) 2 still"
                 " need to catch up", "2/2 replicas have caught up with the leader for partition [t,0] being"
                 " reassigned.Resuming partition reassignment"),
        "broker-1/controller.log:660",  # it might be a late callback, but then there is none that resumes once more
    ),
    "a replica that is stopped twice, and not deleted": Lie(
        ZOMBIE, "broker-2/state-change.log",
        replaced("handling stop replica (delete=true)", "handling stop replica (delete=false)"),
        "broker-2/state-change.log:84",  # a request behind the deletion, to which nothing comes any more
    ),
    "a replica that is deleted without having been stopped": Lie(
        ZOMBIE, "broker-2/state-change.log",
        without_line("Broker 2 handling stop replica (delete=false) for partition t-0"),
        "broker-2/state-change.log:82",  # the answer to what was not done
    ),
}  # fmt: skip


TELLING = {"a leader of step 7 that is not wanted"}


@pytest.mark.parametrize(
    "lie", [one if one in TELLING else pytest.param(one, marks=pytest.mark.slow) for one in (*LIES, *MORE_LIES)]
)
def test_a_reassignment_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out({**LIES, **MORE_LIES}[lie], tmp_path)


@pytest.mark.slow
def test_a_copy_that_is_carried_out_late_is_seen_ahead() -> None:
    """Broker 2 deletes its replica twice, and the controller says once that it begins to (D22)."""
    found = judged("20-D22-late-stopreplica")
    assert found.best_after < found.observations
