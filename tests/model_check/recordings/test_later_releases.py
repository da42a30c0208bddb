"""What controllers after the documented ones write: znodes that these do not know, and several changes at once."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.recordings.reading import read
from model_check.recordings.seen import BrokerRegistered, StateWritten, ZooKeeperChange
from model_check.recordings.transactions import parts_of, read_transactions
from model_check.recordings.writes import why_nobody_reads
from reference.zookeeper.transactions import MultiChange, NodeCreated, Transaction, VersionChecked, WriteRefused
from spec.errors import BadInput
from tests.model_check.unpacking import RECORDINGS, changed, recorded, recording, replaced

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/latest_producer_id_block", "/latest_producer_id_block"),
        ("/kafka-acl-extended/prefixed/Topic/a", "/kafka-acl-extended/prefixed"),
        ("/delegation_token/tokens/x", "/delegation_token/tokens"),
        ("/admin/of_a_later_release", "/admin/of_a_later_release"),
        ("/feature", "/feature"),
        ("/migration", "/migration"),
    ],
)
def test_a_path_of_a_later_release_is_read_by_nobody(path: str, root: str) -> None:
    if path.startswith("/kafka-acl"):
        assert why_nobody_reads(path).startswith("what consumers, quotas, users, ACLs")
    else:
        assert why_nobody_reads(path) == f"{root}, which the documented controller neither reads nor writes"


@pytest.mark.parametrize(
    "path",
    [
        "/controller",
        "/brokers/topics/t",
        "/brokers/ids/one",
        "/brokers/topics/a b",
        "/admin/delete_topics/a b",
        "/isr_change_notification/other",
    ],
)
def test_a_path_that_the_controller_reads_is_not_passed_over(path: str) -> None:
    """Also where it lists what is below, and would not understand it."""
    assert why_nobody_reads(path) == ""


def test_a_znode_that_nobody_reads_is_passed_over_and_counted(tmp_path: Path) -> None:
    """Kafka 2.7 creates it, among those that a start-up finds absent."""
    later = replaced('"path": "/config/clients"', '"path": "/config/ips"')
    found = read(changed(NAME, tmp_path, "zookeeper.jsonl", later))
    assert found.tracks == recorded(NAME).tracks
    assert (
        found.passed_over["zookeeper.jsonl: /config/ips, which the documented controller neither reads nor writes"] == 1
    )


def together(folder: Path, lines: dict[int, list[str]]) -> Path:
    """The recording whose lines of these numbers are multis of these parts instead."""

    def change(text: str) -> str:
        written = text.splitlines(keepends=True)
        for number, parts in lines.items():
            head = written[number - 1].partition('"type"')[0]
            written[number - 1] = f'{head}"type": "multi", "operations": [{", ".join(parts)}]}}\n'
        return "".join(written)

    return changed(NAME, folder, "zookeeper.jsonl", change)


def own(number: int) -> str:
    """What the transaction of a line does."""
    line = (recording(NAME) / "zookeeper.jsonl").read_text(encoding="utf-8").splitlines()[number - 1]
    return '{"type"' + line.partition('"type"')[2]


def first(kind: type[ZooKeeperChange]) -> tuple[ZooKeeperChange, int]:
    """The first change of a kind, and the number of its line."""
    found = next(one for one in recorded(NAME).tracks["zookeeper"] if isinstance(one, kind))
    return found, int(found.place.rpartition(":")[2])


CHECK = '{"type": "check", "path": "/controller_epoch", "version": 1}'
"""Of a znode that has its first version, 0."""
FAILED = '{"type": "error", "err": -101, "error": "NoNode"}'
NOT_TRIED = '{"type": "error", "err": -2, "error": "RuntimeInconsistency"}'


def test_a_multi_is_read_as_what_it_does(tmp_path: Path) -> None:
    """A check beside a write is passed over; a part that fails refuses them all; places are those of the lines."""
    whole, (written, number) = recorded(NAME), first(StateWritten)
    refused = next(later for later in range(number + 1, 90) if '"err": -101' in own(later))
    found = read(together(tmp_path, {number: [CHECK, own(number)], refused: [CHECK, FAILED, NOT_TRIED]}))

    def shown(one: Any) -> Any:
        return replace(one, text="")

    assert list(map(shown, found.tracks["zookeeper"])) == list(map(shown, whole.tracks["zookeeper"]))
    checks = "zookeeper.jsonl: a check of a version, together with other changes; it changes nothing"
    assert found.passed_over == {**whole.passed_over, checks: 1}
    parts = [one.change for one in read_transactions(tmp_path / NAME) if one.zxid == getattr(written, "zxid", 0)]
    assert [type(one) for one in parts] == [VersionChecked, NodeCreated]


def test_a_broker_may_be_created_empty_and_written_in_one_transaction(tmp_path: Path) -> None:
    """Kafka 2.2 on, to learn the zxid of its registration."""
    whole, (registered, number) = recorded(NAME), first(BrokerRegistered)
    created = json.loads(own(number))
    written = {"type": "setData", "path": created["path"], "data": created["data"], "version": 1}
    found = read(together(tmp_path, {number: [json.dumps(created | {"data": None}), json.dumps(written)]}))
    assert len(found.tracks["zookeeper"]) == len(whole.tracks["zookeeper"])
    anew = next(one for one in found.tracks["zookeeper"] if isinstance(one, BrokerRegistered))
    assert replace(anew, text="") == replace(registered, text="")


def test_a_multi_whose_check_must_have_failed_is_refused(tmp_path: Path) -> None:
    _, number = first(StateWritten)
    stale = CHECK.replace('"version": 1', '"version": 2')
    checked = "VersionChecked(path='/controller_epoch', version=2)"
    with pytest.raises(BadInput) as refusal:
        read(together(tmp_path, {number: [stale, own(number)]}))
    assert str(refusal.value) == f"zookeeper.jsonl:{number}: {checked} cannot follow the transactions above"


def test_a_failed_multi_fails_with_what_the_part_met_that_failed() -> None:
    """The server puts 0 for parts before it, and RuntimeInconsistency for those that it does not try."""
    parts = (WriteRefused(0), VersionChecked("/a", 1), WriteRefused(-103), WriteRefused(-2))
    failed = Transaction(zxid=7, time_ms=1, session=5, cxid=3, change=MultiChange(parts))
    assert parts_of(failed) == [replace(failed, change=WriteRefused(-103))]
