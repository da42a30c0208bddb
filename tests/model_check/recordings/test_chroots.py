"""A cluster below a chroot is judged as one at the root: the same claims, the same places, the same explanation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.monitors.check import check_history
from model_check.recordings.chroots import chroot_in, chroot_named
from model_check.recordings.reading import read
from model_check.recordings.seen import WriteConflicted
from model_check.recordings.transactions import ZOOKEEPER, read_transactions
from model_check.recordings.writes import REFUSED_TO_A_TOOL
from model_check.verdicts.verdict import Verdict
from reference.zookeeper.recording import read_recording, write_recording
from reference.zookeeper.transactions import NodeCreated, SessionClosed, Transaction
from spec.errors import BadInput, MalformedInput
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


def with_another(folder: Path) -> Path:
    """The recording of two clusters: the same again, below /b, by other sessions and each time a little later."""
    file = folder / ZOOKEEPER
    written = list(read_recording(file.read_text(encoding="utf-8").splitlines(keepends=True)))
    taken = {one.session for one in written}
    both = [one for each in written for one in (below(each, "/a"), below(each, "/b"))]
    others = {one: max(taken) + place for place, one in enumerate(sorted(taken), start=1)}
    both[1::2] = [by_others(one, others) for one in both[1::2]]
    made = [replace(both[0], change=NodeCreated(path, None, 0, 1 + (path == "/b"))) for path in ("/a", "/b")]
    numbered = enumerate([both[0], *made, *both[1:]], start=1)
    write_recording(file, [replace(one, zxid=number) for number, one in numbered])
    return folder


def by_others(one: Transaction, others: dict[int, int]) -> Transaction:
    """What the session that stands for another did."""
    change: Any = one.change
    if isinstance(change, NodeCreated) and change.ephemeral_owner:
        change = replace(change, ephemeral_owner=others[one.session])
    return replace(one, change=change, session=others[one.session])


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
    with pytest.raises(BadInput, match="several clusters are recorded, below /a, /b/c; choose one of them by --chroot"):
        chroot_in(created)
    root = replace(created[0], change=NodeCreated("/brokers/ids", None, 0, 1))
    assert chroot_in([*created, root]) == ""
    assert chroot_in([]) == ""
    assert chroot_in([*created, root], "/b/c") == "/b/c"
    for nothing in ("/d", "/b", "", "/a/consumers"):
        with pytest.raises(
            BadInput, match=rf"^--chroot: no cluster .* below {nothing or '/'} \(there are: /a, /b/c\)$"
        ):
            chroot_in(created, nothing)
    with pytest.raises(BadInput, match=r"--chroot: no cluster is recorded below / \(there are: nothing\)"):
        chroot_in([], "")


@pytest.mark.parametrize("path", ["", "kafka", "/kafka/", "//", "/a//b", "kafka/"])
def test_what_can_be_no_chroot_is_refused(path: str) -> None:
    with pytest.raises(MalformedInput, match=f"^--chroot: '{path}' is no path of a znode, such as /kafka, or / for"):
        chroot_named(path)


def test_a_chroot_is_a_path_and_the_root_is_none() -> None:
    assert [chroot_named(path) for path in ("/", "/kafka", "/a/b")] == ["", "/kafka", "/a/b"]


def test_each_of_two_clusters_can_be_judged_by_its_chroot(tmp_path: Path) -> None:
    plain = check_history(unpacked(NAME, tmp_path / "plain"))
    folder = with_another(unpacked(NAME, tmp_path / "both"))
    with pytest.raises(BadInput, match="below /a, /b; choose one of them by --chroot"):
        check_history(folder)
    found = check_history(folder, chroot="/a")
    assert [(one.property, one.verdict) for one in found.findings] == [
        (one.property, one.verdict) for one in plain.findings
    ]
    assert "the cluster is below /a, which was taken off all paths" in found.notes
    paths = [one.change.path for one in read_transactions(folder, "/b") if isinstance(one.change, NodeCreated)]
    assert paths[:4] == ["/../a", "/../b", "/../a/consumers", "/consumers"]


def test_what_the_other_cluster_is_refused_is_not_this_ones(tmp_path: Path) -> None:
    """ZooKeeper's log tells no path of it; who asked for it does. A write of the other's had an old version."""
    found = read(with_another(unpacked(NAME, tmp_path)), chroot="/a")
    assert found.passed_over[f"{ZOOKEEPER}: {REFUSED_TO_A_TOOL.reason}"] == 1
    conflicts = [one.by for one in found.tracks["zookeeper"] if isinstance(one, WriteConflicted)]
    assert conflicts == [1]
    judged = judge(found)
    assert (judged.outcome, judged.explained) == (Outcome.EXPLAINED, found.observations)


def test_what_is_outside_keeps_its_line_and_is_passed_over(tmp_path: Path) -> None:
    transactions = read_transactions(moved(unpacked(NAME, tmp_path)))
    assert [one.zxid for one in transactions] == list(range(1, len(transactions) + 1))
    assert isinstance(transactions[1].change, NodeCreated)
    assert transactions[1].change.path == "/../kafka"
