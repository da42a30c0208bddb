"""What is looked up in the sequences of a recording, ahead of the place that is explained."""

from pathlib import Path

from model_check.recordings.recorded import Cluster, Leadership, Recording
from model_check.recordings.recorded_tracks import ZOOKEEPER, Tracks
from model_check.recordings.recorded_zookeeper import NotificationCreated, StateWritten, ZooKeeperChange


def announced(by: int, *partitions: int) -> NotificationCreated:
    return NotificationCreated(place="", time=0, text="", zxid=1, by=by, partitions=frozenset(partitions), notice=1)


def written(by: int, partition: int) -> StateWritten:
    state = Leadership(by, 0, (by,), 1, 1)
    return StateWritten(
        place="", time=0, text="", zxid=1, by=by, partition=partition, state=state, by_leader=True, changed=frozenset()
    )


def late(*changes: ZooKeeperChange) -> frozenset[int]:
    """Which partitions are noted late, as far as one can tell at the first of these."""
    recording = Recording(Path(), Cluster((1, 2), (), (), ()), {ZOOKEEPER: changes}, {}, 1)
    return Tracks(recording).noted_late((0,), 1)


def test_who_is_named_next_without_another_change_was_noted_late() -> None:
    assert late(announced(1, 0), written(1, 1), announced(1, 0, 1)) == {0}
    assert late(announced(1, 0), written(1, 0), announced(1, 0)) == frozenset()
    assert late(announced(1, 0)) == frozenset()


def test_other_brokers_announcements_and_changes_do_not_count() -> None:
    assert late(announced(1, 0), announced(2, 0), written(1, 0), announced(1, 0)) == frozenset()
    assert late(announced(1, 0), written(2, 0), announced(1, 0)) == {0}
