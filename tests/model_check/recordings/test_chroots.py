"""A cluster below a chroot is judged as one at the root: the same claims, the same places, the same explanation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.monitors.check import check_history
from model_check.recordings.chroots import chroot_in
from model_check.recordings.reading import read
from model_check.recordings.transactions import ZOOKEEPER, read_transactions
from model_check.verdicts.verdict import Verdict
from reference.zookeeper.recording import read_recording, write_recording
from reference.zookeeper.transactions import NodeCreated, SessionClosed, Transaction
from spec.errors import BadInput
from tests.model_check.unpacking import RECORDINGS, unpacked

pytestmark = RECORDINGS

NAME = "33-D54-connectionloss-on-create"


def below(one: Transaction, chroot: str) -> Transaction:
    """What the cluster did, as ZooKeeper logs it of one that has a chroot; one transaction came before."""
    change: Any = one.change
    if isinstance(change, SessionClosed):
        change = replace(change, deleted=tuple(chroot + path for path in change.deleted))
    elif hasattr(change, "path"):
        change = replace(change, path=chroot + change.path)
    return replace(one, change=change, zxid=one.zxid + 1)


def moved(folder: Path, chroot: str = "/kafka") -> Path:
    """The recording of the same cluster, had it had a chroot, which the first session of all makes."""
    file = folder / ZOOKEEPER
    first, *others = read_recording(file.read_text(encoding="utf-8").splitlines(keepends=True))
    made = replace(first, zxid=first.zxid + 1, change=NodeCreated(chroot, None, 0, 1))
    write_recording(file, [first, made, *(below(one, chroot) for one in others)])
    return folder


def lie(folder: Path) -> Path:
    """The last state that was written has a leader that is nobody's replica."""
    file = folder / ZOOKEEPER
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    last = [line for line in lines if line.get("path", "").endswith("/state") and "leader" in json.dumps(line)][-1]
    last["data"] = json.dumps({**json.loads(last["data"]), "leader": 9, "leader_epoch": 0}, separators=(",", ":"))
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return folder


def test_it_is_taken_off_and_all_claims_are_asked(tmp_path: Path) -> None:
    plain = check_history(unpacked(NAME, tmp_path / "plain"))
    found = check_history(moved(unpacked(NAME, tmp_path / "moved")))
    assert [(one.property, one.verdict) for one in found.findings] == [
        (one.property, one.verdict) for one in plain.findings
    ]
    assert (found.verdict, found.not_asked) == (plain.verdict, plain.not_asked)
    assert "the cluster is below /kafka, which was taken off all paths" in found.notes
    assert len(found.findings) > 10


def test_a_broken_claim_is_broken_below_a_chroot(tmp_path: Path) -> None:
    plain = check_history(lie(unpacked(NAME, tmp_path / "plain")))
    found = check_history(lie(moved(unpacked(NAME, tmp_path / "moved"))))
    broken = {one.property for one in found.findings if one.verdict is Verdict.VIOLATED}
    assert (found.verdict, broken) == (
        Verdict.VIOLATED,
        {one.property for one in plain.findings if one.verdict is Verdict.VIOLATED},
    )


@pytest.mark.slow
@pytest.mark.takes("A recording is explained twice.")
def test_it_is_explained_as_without(tmp_path: Path) -> None:
    plain, found = (
        judge(read(folder)) for folder in (unpacked(NAME, tmp_path / "1"), moved(unpacked(NAME, tmp_path / "2")))
    )
    assert (found.outcome, found.explained) == (Outcome.EXPLAINED, plain.explained)
    assert [one.step and one.step.rule for one in found.path] == [one.step and one.step.rule for one in plain.path]


def test_two_clusters_in_one_log_are_refused_unless_one_is_at_the_root(tmp_path: Path) -> None:
    created = [
        replace(one, change=NodeCreated(path, None, 0, 1))
        for one in read_transactions(unpacked(NAME, tmp_path))[:1]
        for path in ("/a/brokers/ids", "/b/c/controller_epoch", "/d/controller", "/a/consumers/brokers/ids")
    ]
    with pytest.raises(BadInput, match="several clusters are recorded, below /a, /b/c; one of them can be judged if"):
        chroot_in(created)
    root = replace(created[0], change=NodeCreated("/brokers/ids", None, 0, 1))
    assert chroot_in([*created, root]) == ""
    assert chroot_in([]) == ""


def test_what_is_outside_keeps_its_line_and_is_passed_over(tmp_path: Path) -> None:
    transactions = read_transactions(moved(unpacked(NAME, tmp_path)))
    assert [one.zxid for one in transactions] == list(range(1, len(transactions) + 1))
    assert isinstance(transactions[1].change, NodeCreated)
    assert transactions[1].change.path == "/../kafka"
