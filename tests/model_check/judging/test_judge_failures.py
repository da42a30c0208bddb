"""Failovers that an exception ends: no recording of a real cluster has one, so one is put into a real recording.

Such an exception is in the server's own log only. In controller.log the failover stops, in ZooKeeper the elector
deletes /controller (`spec.protocol.failover.steps.fail_failover`).
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from model_check.judging.judge import Judgement, Outcome, judge
from model_check.recordings.reading import read
from model_check.recordings.seen import ControllerDeleted
from tests.model_check.unpacking import RECORDINGS, judged, unpacked

pytestmark = RECORDINGS

NAME = "28-D46-stale-epoch-answer"
SUCCESSOR = "0x100004a2d3a0002"
"""The session of broker 2, which becomes controller when broker 1 has lost its own."""
DELETED = {"session": SUCCESSOR, "cxid": 1000, "type": "delete", "path": "/controller"}
Record = dict[str, Any]


def rewritten(folder: Path, change: Callable[[list[Record]], list[Record]]) -> None:
    """A recording's transactions changed, and numbered anew."""
    file = folder / "zookeeper.jsonl"
    records = change([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()])
    lines = (json.dumps(one | {"zxid": hex(number)}) + "\n" for number, one in enumerate(records, start=1))
    file.write_text("".join(lines), encoding="utf-8")


def is_made(one: Record, path: str, **wanted: str) -> bool:
    """Whether broker 2 makes such a transaction."""
    return all(one.get(name) == value for name, value in {"session": SUCCESSOR, "path": path, **wanted}.items())


def steps(found: Judgement) -> Mapping[str, int]:
    """How often each rule occurs in an explanation."""
    return Counter(one.step.rule for one in found.path if one.step is not None)


@pytest.mark.slow
def test_a_failover_that_ends_before_it_reads_the_epoch_is_followed_by_another(tmp_path: Path) -> None:
    folder = unpacked(NAME, tmp_path)

    def won_twice(records: list[Record]) -> list[Record]:
        won = next(n for n, one in enumerate(records) if is_made(one, "/controller", type="create"))
        stamp = {name: records[won][name] for name in ("time", "utc")}
        again = records[won] | {"parentCversion": records[won]["parentCversion"] + 1}
        return [*records[: won + 1], DELETED | stamp, again, *records[won + 1 :]]

    rewritten(folder, won_twice)
    log = folder / "broker-2/controller.log"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    begins = next(n for n, line in enumerate(lines) if "starting become controller" in line)
    log.write_text("".join([*lines[: begins + 1], *lines[begins:]]), encoding="utf-8")
    found, without = judge(read(folder)), judged(NAME)
    assert found.outcome is Outcome.EXPLAINED
    assert {one.claim.name for one in found.broken} == {one.claim.name for one in without.broken}
    more = {rule: count - steps(without)[rule] for rule, count in steps(found).items()}
    assert {"fail_failover": 1, "resign_delete": 1, "read_epoch": 0}.items() <= more.items()


@pytest.mark.slow
@pytest.mark.takes("A whole recording is explained.")
def test_a_failover_that_ends_when_it_has_its_epoch_leaves_a_cluster_without_a_controller(tmp_path: Path) -> None:
    """All logs end before it says what its context holds, which it then does not."""
    folder = unpacked(NAME, tmp_path)
    for log in folder.glob("broker-*/*.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if line < "[2026-11-20 19:00:41,500"), encoding="utf-8")
    (folder / "actions.jsonl").unlink()

    def given_up(records: list[Record]) -> list[Record]:
        counted = next(n for n, one in enumerate(records) if is_made(one, "/controller_epoch"))
        stamp = {name: records[counted][name] for name in ("time", "utc")}
        return [*records[: counted + 1], DELETED | stamp]

    rewritten(folder, given_up)
    found = judge(read(folder))
    assert found.outcome is Outcome.EXPLAINED
    assert (steps(found)["fail_failover"], steps(found)["finish_failover"]) == (1, 1)


@pytest.mark.slow
def test_who_is_not_in_a_failover_does_not_fail_in_one(tmp_path: Path) -> None:
    """Broker 2 deletes /controller when it has long been at work."""
    folder = unpacked(NAME, tmp_path)

    def deleted_late(records: list[Record]) -> list[Record]:
        gone = next(n for n, one in enumerate(records) if is_made(one, "/admin/delete_topics/t", type="delete"))
        stamp = {name: records[gone][name] for name in ("time", "utc")}
        return [*records[: gone + 1], DELETED | stamp]

    rewritten(folder, deleted_late)
    (folder / "actions.jsonl").unlink()
    for log in folder.glob("broker-*/*.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if line < "[2026-11-20 19:00:41,700"), encoding="utf-8")
    found = judge(read(folder), budget=3000)
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert [one.text for one in found.stuck.next if isinstance(one, ControllerDeleted)]
