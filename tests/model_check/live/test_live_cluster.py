"""What a live cluster sees of ZooKeeper's log while it runs: who changed something last."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from time import monotonic
from unittest.mock import MagicMock

from model_check.live.live_cluster import LiveCluster
from model_check.live.live_setup import Setup
from reference.zookeeper.transactions import Change, DataSet, SessionCreated, Transaction, WriteRefused

CONTROLLER, OTHER = 1, 2
WRITE = DataSet("/controller_epoch", b"1", 1)
REFUSED = WriteRefused(-101)


def cluster(folder: Path, *answers: Sequence[tuple[int, Change]]) -> LiveCluster:
    """One whose ZooKeeper has made these transactions, of a session each, each time that it is asked."""
    made = LiveCluster(Setup(1, seed=1), folder)
    made._server, made._log, made.admin = MagicMock(), MagicMock(), MagicMock()
    zxids = iter(range(1, 100))
    read = [[Transaction(next(zxids), 0, session, 0, change) for session, change in one] for one in answers]
    made.admin.last_zxid.side_effect = accumulate(len(one) for one in read)
    made._log.until.side_effect = [iter(one) for one in read if one]
    return made


def test_a_change_is_its_sessions_and_a_write_that_is_refused_is_none(tmp_path: Path) -> None:
    first = [(CONTROLLER, SessionCreated(6000)), (OTHER, SessionCreated(6000)), (CONTROLLER, WRITE)]
    made = cluster(tmp_path, first, [(CONTROLLER, REFUSED), (OTHER, WRITE)], [])
    assert made.last_change_of(CONTROLLER) == 3
    assert made.last_change_of(CONTROLLER) == 3
    assert (made.last_change_of(OTHER), made._last_session) == (5, 2)
    assert made._log.until.call_count == 2  # type: ignore[attr-defined]  # where nothing is new, nothing is read


def test_it_is_waited_for_the_next_change_of_a_session(tmp_path: Path) -> None:
    begun = [(CONTROLLER, SessionCreated(6000))]
    made = cluster(tmp_path, begun, [(CONTROLLER, REFUSED)], [(OTHER, WRITE)], [(CONTROLLER, WRITE)], begun)
    made.see_change(CONTROLLER, since=1, patience_seconds=60)
    assert made.admin.last_zxid.call_count == 4  # type: ignore[attr-defined]  # and no time is lost after that
    assert made._last_changes[CONTROLLER] == 4


def test_who_changes_nothing_is_not_waited_for_long(tmp_path: Path) -> None:
    made = cluster(tmp_path, [(CONTROLLER, SessionCreated(6000))], *([[]] * 10_000))
    begun = monotonic()
    made.see_change(CONTROLLER, since=1, patience_seconds=0.01)
    assert 0.01 <= monotonic() - begun < 5
