"""Recordings of live runs that once were not explained: each is a dated regression, with what was wrong.

The first three are of 2026-11-21, the next four of 2026-11-22, the last four of 2026-11-23. What was wrong was the
specification or the judge.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.shipped_recordings import unpack
from model_check.recordings.reading import read
from model_check.stepping.open_system import NoRoom, OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.variants import Switch
from tests.files import written_anew
from tests.model_check.unpacking import RECORDINGS, recorded

pytestmark = RECORDINGS

ARCHIVE = Path(__file__).parents[2] / "data/live-recordings.tar.xz"
_HOME = TemporaryDirectory(prefix="live-recordings-")

STEPS: Mapping[str, Mapping[str, int]] = {
    # A zombie controller handles a topic that its successor has created: no replica that leads becomes New, nor Online
    # then, which its log says; the others are told in one batch. The specification sent a batch for each. Ten replicas
    # of three topics, and six of the fourth, which only the zombie takes for new.
    "zombie-creates-topic": {"read_for_new_replica": 10 + 6},
    # A stopped broker loses its session with requests waiting in its channel. It handles the one in flight; the others
    # are dropped with the channel; the next one, in the same controller epoch, comes over a channel that is new. The
    # judge would not drop a queue while requests of that controller were still to come. One broker is stopped past its
    # session, and so is one controller.
    "channel-opened-anew": {"renew_session": 2},
    # A topic is created while the only broker is dead. When it is back, its replica comes Online, and no line says so,
    # since no leadership is cached. The judge demanded one.
    "creation-without-brokers": {"create_topic": 4, "crash": 1},
    # A controller is stopped in the middle of a controlled shutdown, hears first that its znodes are gone, and resigns,
    # which drops the rest of the shutdown. The broker that waits is refused, and asks the next one. The judge
    # knew of a refusal only where the broker was gone next, and of such news only where nothing else explained it.
    "shutdown-dropped": {"expire_session_heard": 1, "accept_shutdown": 2, "refuse_shutdown": 1, "answer_shutdown": 1},
    # Two controllers are stopped when a broker has left, and handle that as zombies under their new sessions: the first
    # finds what the leaders have written meanwhile, which the judge let it read before; the second gives one of three
    # removals up, since its successor has elected there, and the judge did not know the line that says so. Before, the
    # shutdowns of these brokers have taken a replica out of an ISR four times, zk 62 and 92-94.
    "zombie-removes-in-vain": {
        "stop_broker": 2,
        "expire_session_heard": 1,
        "expire_session": 1,
        "read_for_removal": 4 + 4,
    },
    # A controller is killed before it has answered a broker that is to stop, which asks the next one then. The judge
    # let the dead one answer, for nothing in its log forbids it, and went back too late.
    "shutdown-asked-for-again": {"accept_shutdown": 2, "lose_shutdown_request": 1, "answer_shutdown": 1},
    # Two processes get their sessions before those of their brokers' dead ones have ended. The first finds its id free
    # just in time, the second finds it taken. The judge would not let the controller close the first one's old channel,
    # for requests were still to come, though their ids begin anew. Of what it deletes, see `TURN_BY_TURN`.
    "early-starts": {"start_process_early": 2, "fail_registration": 1, "accept_shutdown": 3},
    # A controller is stopped while a broker waits for its answer, which asks the next one then; that has a notification
    # waiting when it answers. The judge had no refusal by the first, and the second let only the notification in.
    "shutdown-asked-of-two": {"accept_shutdown": 2, "refuse_shutdown": 1, "answer_shutdown": 1},
    # A controller is stopped when it has read who is registered, and says under its next session that it is itself,
    # which it then is not. The judge let it read when it speaks.
    "read-in-the-last-session": {"stop_broker": 14, "renew_session": 28},
    # Controllers are stopped amid deletions and amid others' shutdowns; one of them comes to wait for itself (D50). Who
    # refuses to stop a replica refuses an empty request, too, before that to delete it. What a controller could not
    # write before its session ended it writes in the next one. The judge knew of neither.
    "stopped-amid-deletions": {"delete_topic": 5, "expire_session_heard": 11, "deliver_deletion": 24, "crash": 1},
    # The same once more. A zombie that has begun to resign (D28) hears that its own registration is gone, and handles
    # that; another finds a replica out of the ISR that was Offline before, and says so. The judge knew of neither.
    "stopped-amid-shutdowns": {"delete_topic": 5, "expire_session_heard": 10, "accept_shutdown": 14},
}
"""How often some rules must occur in any explanation."""
DROPPED = frozenset({
    "shutdown-dropped", "shutdown-asked-of-two", "read-in-the-last-session", "stopped-amid-deletions",
})  # fmt: skip
"""Recorded when the reference dropped a controlled shutdown with its term, which Kafka's controller does not."""
TURN_BY_TURN = "early-starts"
"""Recorded when the reference forgot the partitions of a deleted topic one after the other. Kafka's controller has all
of them Offline before the first is NonExistent: `TopicDeletionManager.completeDeleteTopic` changes them twice."""
FORGOTTEN = re.compile(r"changed partition \[(.*),\d+\] state from \w+ to (Offline|NonExistent)Partition")
DAILY = "channel-opened-anew"
"""The shortest; a deep run judges the others."""


@cache
def folders() -> Path:
    unpack(ARCHIVE, Path(_HOME.name))
    return Path(_HOME.name)


def forgets_together(folder: Path) -> None:
    """In its state-change.log, the lines on a topic's partitions that are forgotten stand as Kafka writes them."""
    for log in folder.glob("broker-*/state-change.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        topics = groupby(lines, key=lambda line: found[1] if (found := FORGOTTEN.search(line)) else "")
        in_order = (sorted(some, key=_is_second) if topic else some for topic, some in topics)
        written_anew(log, "".join(chain.from_iterable(in_order)).encode())


def _is_second(line: str) -> bool:
    return line.rstrip().endswith("to NonExistentPartition (state.change.logger)")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one != DAILY)) for one in STEPS])
def test_live_recordings_are_explained(name: str, tmp_path: Path) -> None:
    folder = folders() / name
    if name == TURN_BY_TURN:
        folder = copytree(folder, tmp_path / name)
        forgets_together(folder)
    found = judge(read(folder), frozenset({Switch.SHUTDOWN_ENDS_WITH_TERM} if name in DROPPED else ()))
    assert (found.outcome, found.reason) == (Outcome.EXPLAINED, "")
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert {rule: taken.count(rule) for rule in STEPS[name]} == STEPS[name]


@pytest.mark.slow
def test_a_controller_that_forgets_partitions_in_turn_is_none_of_the_era() -> None:
    found = judge(read(folders() / TURN_BY_TURN), budget=2_500)
    assert found.outcome is not Outcome.EXPLAINED
    assert found.stuck is not None
    # The first of six replicas of two partitions; the lines of these end with Offline, NonExistent of the same one.
    assert "broker-1/state-change.log:489" in [one.place for one in found.stuck.next]


@pytest.mark.slow
def test_a_controller_that_drops_a_shutdown_with_its_term_is_none_of_the_era() -> None:
    """It would go on, could not send, and would delete /controller (D3-shutdown)."""
    found = judge(read(folders() / "shutdown-dropped"), budget=2_500)
    assert found.outcome is not Outcome.EXPLAINED
    assert found.explained < found.observations


def test_there_is_an_account_of_each() -> None:
    assert {one.name for one in folders().iterdir()} == set(STEPS)


@pytest.mark.parametrize("rule", ["increment_epoch", pytest.param("crash", marks=pytest.mark.slow)])
def test_a_step_that_has_no_room_leaves_it_open(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of the specification is no contradiction of the recording, and is named."""
    step = OpenSystem.step

    def without_room(self: OpenSystem, state: PlainState, name: str, parameters: Mapping[str, int]) -> Any:
        found = step(self, state, name, parameters)
        if found is not None and name == rule:
            raise NoRoom(rule)
        return found

    monkeypatch.setattr(OpenSystem, "step", without_room)
    found = judge(recorded("12-D1-epoch-write-delayed"))
    assert found.outcome is Outcome.INCOMPLETE
    assert found.reason == f"no explanation found, and a bound of the specification stopped {rule}"
    assert found.explained < found.observations
