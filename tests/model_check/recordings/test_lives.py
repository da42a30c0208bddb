"""Which of a broker's processes wrote a line, whatever its clock shows, and whether its controller.log tells."""

from pathlib import Path

import pytest

from model_check.recordings.entries import Log
from model_check.recordings.lives import lives_of
from model_check.recordings.processes import ProcessKilled
from model_check.recordings.recording import Observed
from model_check.recordings.zookeeper import SessionBegan, SessionEnded
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import print_time
from tests.model_check.clocks import moment

STARTING = "INFO [Controller 7]: Controller starting up (kafka.controller.KafkaController)"


def began(time: int, by: int = 1) -> SessionBegan:
    return SessionBegan(place="", time=time, text="", zxid=time, by=by, first=True, is_guess=False)


def killed(time: int, broker: int = 1) -> ProcessKilled:
    return ProcessKilled(place="", time=time, text="", broker=broker)


def ended(time: int, *, superseded: bool = False, survived: bool = False) -> SessionEnded:
    return SessionEnded(
        place="", time=time, text="", zxid=time, by=1, by_client=False, superseded=superseded, survived=survived,
        had_controller=False, had_registration=True,
    )  # fmt: skip


def lives(folder: Path, starts: tuple[int, ...], *observed: Observed, until: int | None = None) -> tuple[int, ...]:
    log = folder / "controller.log"
    log.write_text("".join(f"[{print_time(moment(start))}] {STARTING}\n" for start in starts), encoding="utf-8")
    return lives_of(1, sorted(observed, key=lambda one: one.time), Log(log, CONTROLLER_LOG, until=until))


@pytest.mark.parametrize("off", [-1900, -600, 0, 600, 1900])
def test_a_process_begins_where_it_says_that_its_controller_starts(off: int, tmp_path: Path) -> None:
    """It is killed, and starts anew within half a second; its clock may be off by more than that."""
    starts = (20_200 + off, 30_200 + off, 40_200 + off)
    observed = (began(20_000), killed(29_500), began(30_000), killed(39_500), began(40_000), began(25_000, by=2))
    assert lives(tmp_path, starts, *observed) == starts


def test_who_says_nothing_begins_between_the_last_death_and_its_session(tmp_path: Path) -> None:
    """The second life is killed as it starts; and one that no line tells of has its own session, or the log is cut."""
    observed = (began(20_000), killed(28_000), began(30_000), killed(30_100), began(40_000))
    assert lives(tmp_path, (20_200, 40_200), *observed) == (20_200, 29_000, 40_200)
    assert lives(tmp_path, (20_200,), *observed) == (20_200, 29_000, 35_050)
    assert lives(tmp_path, (20_200, 30_200, 40_200), *observed, until=40_100) == (20_200, 30_200, 35_050)


def test_without_a_log_the_end_of_a_session_tells_of_a_death_if_nothing_else_does(tmp_path: Path) -> None:
    """A session that ends after the next process has begun is none of that, nor is one that a process outlives."""
    none = Log(tmp_path / "none", CONTROLLER_LOG)
    assert lives_of(1, (began(20_000), ended(28_000), began(30_000)), none) == (20_000, 29_000)
    assert lives_of(1, (began(20_000), killed(24_000), ended(28_000), began(30_000)), none) == (20_000, 27_000)
    assert lives_of(1, (began(20_000), ended(28_000, survived=True), began(30_000)), none) == (20_000, 30_000)
    late = (began(20_000), began(30_000), ended(31_000, superseded=True), killed(38_000), began(40_000))
    assert lives_of(1, late, none) == (20_000, 30_000, 39_000)
    assert lives_of(1, (began(20_000), killed(24_000, broker=2), began(30_000)), none) == (20_000, 30_000)
