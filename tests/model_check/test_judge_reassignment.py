"""Reassignments of real clusters are explained, with what they are known to break; with one fact changed they are not.

The accounts were written down from the recordings' own (model_check/shipped/README.md) and from PROTOCOL.md section 8.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from model_check.judge import MORE, Judgement, Outcome, judge
from model_check.recordings import read
from model_check.shipped_recordings import BROKEN, DEEP
from tests.model_check.recordings import Change, changed, recording, replaced, unpacked, without_line

ACCOUNTS: Mapping[str, Mapping[str, int]] = {
    # The write of step 1 by controller 1 comes after its session, when controller 2 has completed what it resumed.
    "14-D2-zombie-assignment-write": {
        "request_reassignment": 1, "accept_reassignment": 2, "write_union": 2, "write_move": 1, "write_target": 1,
        "deliver_deletion": 1, "expire_session": 1, "increment_epoch": 3,
    },
    # [2,3] to [3], all of which is in sync: phase B at once. The StopReplica requests die with broker 2. Then to [3,2].
    "23-D38-orphan-after-reassignment": {
        "request_reassignment": 2, "accept_reassignment": 2, "write_union": 1, "write_move": 2, "write_target": 2,
        "deliver_deletion": 0, "crash": 1,
    },
    # Controller 1 accepts [2] to [3], which 3 resumes and completes; 3 accepts [3] to [2]; 1 resumes what it remembers.
    "18-D13-context-not-reset": {
        "request_reassignment": 2, "accept_reassignment": 4, "write_target": 3, "deliver_deletion": 3,
        "increment_epoch": 3,
    },
    # Two that wait for broker 4, resumed by controller 2, and run again when 4 starts; one more for controller 3. Four
    # of the five old replicas are deleted on brokers that live.
    "06-reassign-controller-kill": {
        "request_reassignment": 2, "accept_reassignment": 6, "write_union": 8, "write_move": 3, "write_target": 3,
        "deliver_deletion": 4,
    },
    # Nine are accepted, of which the last is not completed; two are refused. One is begun with again.
    "05-reassign": {
        "request_reassignment": 8, "accept_reassignment": 9, "write_union": 9, "write_move": 8, "write_target": 8,
        "read_remaining": 10, "deliver_deletion": 13,
    },
}  # fmt: skip
"""How often some rules must occur in any explanation."""
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in DEEP else name for name in ACCOUNTS]


@cache
def judged(name: str) -> Judgement:
    return judge(read(recording(name)))


@pytest.mark.parametrize("name", NAMES)
def test_reassignments_are_explained_and_break_what_they_are_known_to_break(name: str) -> None:
    found = judged(name)
    assert (found.outcome, found.reason, found.explained) == (Outcome.EXPLAINED, "", found.observations)
    assert {one.claim.name for one in found.broken} == BROKEN[name]
    assert found.possibly == ()


@pytest.mark.parametrize("name", NAMES)
def test_explanations_have_the_steps_that_their_accounts_tell_of(name: str) -> None:
    taken = [one.step.rule for one in judged(name).path if one.step is not None]
    assert {rule: taken.count(rule) for rule in ACCOUNTS[name]} == ACCOUNTS[name]


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


def test_a_controller_that_read_before_the_leader_wrote_is_explained_nearly_at_once(tmp_path: Path) -> None:
    found = judge(read(with_a_lost_round(unpacked(ORPHAN, tmp_path))))
    assert found.outcome is Outcome.EXPLAINED
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert (taken.count("read_for_move"), taken.count("write_move")) == (3, 3)
    assert found.positions - MORE <= len(found.path) * 1.2


ORPHAN, ZOMBIE = "23-D38-orphan-after-reassignment", "14-D2-zombie-assignment-write"
LIES: Mapping[str, tuple[str, str, Change, str]] = {
    "a leader of step 7 that is not wanted": (
        ORPHAN, "zookeeper.jsonl",
        replaced(r'\"leader\":3,\"version\":1,\"leader_epoch\":1,\"isr\":[2,3]}", "version": 1',
                 r'\"leader\":2,\"version\":1,\"leader_epoch\":1,\"isr\":[2,3]}", "version": 1'), "zookeeper.jsonl:44",
    ),
    "an ISR from which nobody was taken": (
        ORPHAN, "zookeeper.jsonl",
        replaced(r'\"leader_epoch\":2,\"isr\":[3]}', r'\"leader_epoch\":2,\"isr\":[3,2]}'), "zookeeper.jsonl:45",
    ),
    "a replica that is never NonExistent again": (
        ORPHAN, "broker-1/state-change.log",
        without_line("replica 2 for partition [t,0] from ReplicaDeletionSuccessful to NonExistentReplica"),
        "broker-1/state-change.log:38",  # the step that takes it from the ISR prints all from here on
    ),
    "a resumption of something else": (
        ZOMBIE, "broker-2/controller.log",
        replaced("Resuming reassignment of partitions: Map([t,0] -> ReassignedPartitionsContext(List(3),null))",
                 "Resuming reassignment of partitions: Map()"), "broker-2/controller.log:14",
    ),
}  # fmt: skip
MORE_LIES: Mapping[str, tuple[str, str, Change, str]] = {
    "a union in another order": (
        ORPHAN, "zookeeper.jsonl",
        replaced(r'{\"0\":[3,2]}}", "version": 2', r'{\"0\":[2,3]}}", "version": 2'), "zookeeper.jsonl:54",
    ),
    "a target in another order": (
        ORPHAN, "zookeeper.jsonl",
        replaced(r'{\"0\":[3,2]}}", "version": 3', r'{\"0\":[2,3]}}", "version": 3'), "zookeeper.jsonl:58",
    ),
    "assigned replicas that were not sent": (
        ORPHAN, "broker-3/state-change.log",
        replaced("zkVersion=3, replicas=[2, 3]", "zkVersion=3, replicas=[3]"), "broker-3/state-change.log:25",
    ),
    "a new list of replicas that nobody was told of": (
        ORPHAN, "broker-1/state-change.log",
        without_line("LeaderEpoch:4,ControllerEpoch:1) with new assigned replica list 3,2 to leader 3"),
        "broker-1/state-change.log:91",
    ),
    "a request that says something else": (
        ORPHAN, "broker-1/controller.log",
        replaced('to be reassigned {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3]}',
                 'to be reassigned {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2]}'),
        "broker-1/controller.log:52",
    ),
    "a leader that is said to be wanted": (
        ORPHAN, "broker-1/controller.log",
        replaced("is not in the new list of replicas 3. Re-electing leader",
                 "is already in the new list of replicas 3 and is alive"), "broker-1/controller.log:55",
    ),
    "a new replica that caught up too early": (
        ORPHAN, "broker-1/controller.log",
        replaced("1/2 replicas have caught up with the leader for partition [t,0] being reassigned.Replica(s) 2 still"
                 " need to catch up", "2/2 replicas have caught up with the leader for partition [t,0] being"
                 " reassigned.Resuming partition reassignment"),
        "broker-1/controller.log:660",  # it might be a late callback, but then there is none that resumes once more
    ),
    "a replica that is stopped twice, and not deleted": (
        ZOMBIE, "broker-2/state-change.log",
        replaced("handling stop replica (delete=true)", "handling stop replica (delete=false)"),
        "broker-2/state-change.log:84",  # a request behind the deletion, to which nothing comes any more
    ),
    "a replica that is deleted without having been stopped": (
        ZOMBIE, "broker-2/state-change.log",
        without_line("Broker 2 handling stop replica (delete=false) for partition t-0"),
        "broker-2/state-change.log:82",  # the answer to what was not done
    ),
}  # fmt: skip
"""What was changed, and the first place that cannot be explained any more."""


@pytest.mark.parametrize("lie", [*LIES, *(pytest.param(lie, marks=pytest.mark.slow) for lie in MORE_LIES)])
def test_a_reassignment_that_was_tampered_with_is_not_explained(
    lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, file, change, place = {**LIES, **MORE_LIES}[lie]
    monkeypatch.setattr("model_check.judge.UNLIKELY", 100)
    found = judge(read(changed(name, tmp_path, file, change)))
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert place in [one.place for one in found.stuck.next]
