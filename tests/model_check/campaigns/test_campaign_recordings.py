"""Runs of real Kafka that campaigns recorded and the specification did not explain then, one of each kind.

`model_check/campaigns/README.md` says what is behind each.
"""

import shutil
import tarfile
from pathlib import Path

import pytest

from model_check.judging.judge import judge
from model_check.live.live_run import judged
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

DATA = Path(__file__).parents[2] / "data"
KINDS = (
    "", "-older", "-before-0.10", "-resigned", "-waiting", "-left-over", "-reassigned", "-woken", "-overtaken", "-amid",
    "-kept",
)  # fmt: skip
ARCHIVES = [DATA / f"kafka-campaign{which}.tar.xz" for which in KINDS]
OBSERVATIONS = {
    "expiry-is-told-before-the-lock": 667,
    "killed-before-it-is-told-as-sent": 536,
    "killed-before-the-answer": 645,
    "late-note": 508,
    "lock-is-free-before-the-election": 634,
    "queue-dropped-with-its-channel": 422,
    "resignation-of-a-shutdown": 1025,
    "step-12-of-a-zombie": 494,
    "stop-before-the-read": 707,
    "taken-back-without-a-session": 506,
    "three-stops-refused": 933,
    "two-leave-the-isr": 412,
    "two-leave-the-isr-and-a-late-note": 649,
    # Of older releases: two each of 0.8.2.2 and 0.9.0.1, one each of 0.10.0.1 and 0.10.1.1.
    "resignation-is-not-told": 396,
    "leader-is-not-in-the-request": 491,
    "shutdown-follows-the-isr": 540,
    "two-batches-in-a-row": 416,
    "unsubscribed-before-it-is-called": 540,
    "who-resigned-counts-on": 843,
    # Two each of 0.8.2.2 and of 0.9.0.1.
    "carried-out-without-its-channel": 782,
    "written-in-vain-before-the-next": 756,
    "gone-before-it-is-read": 862,
    "registered-before-the-resignation": 967,
    # Of 0.9.0.1 and of 0.10.0.1.
    "goes-on-after-its-resignation": 1035,
    "one-of-two-is-gone": 1046,
    # Two of 0.10.2.2, one of 0.10.1.1.
    "stopped-when-its-isr-write-is-through": 614,
    "two-writes-that-fail-at-once": 790,
    "stopped-one-by-one": 1004,
    # Two each of 0.8.2.2 and of 0.10.0.1, one of 0.10.1.1, and four of 0.10.2.2.
    "on-top-of-left-overs": 586,
    "read-before-another-writes": 652,
    "in-flight-at-the-resignation": 938,
    "read-under-the-next-session": 899,
    "a-deletion-left-half-way": 701,
    "read-when-it-is-gone": 680,
    "expired-amid-a-step": 565,
    "answered-when-its-topic-is-gone": 453,
    "told-of-nothing-before-the-next-term": 574,
    # Of 0.10.2.2 and of 0.8.2.2; both broke a claim that no row knew.
    "zombie-assignment": 2573,
    "states-by-hash-0.8.2.2": 2121,
    # Three of 0.10.1.1, and one of 0.9.0.1.
    "moves-to-one-that-is-not-in-ar": 2859,
    "moves-where-topics-stay": 4122,
    "told-of-what-is-not-cached": 3372,
    "woken-before-the-resignation": 2824,
    # Of 0.10.2.2, 0.9.0.1 and 0.10.1.1.
    "read-behind-the-write": 2244,
    "fails-with-what-is-left": 3006,
    "answers-lost-to-a-resignation": 2338,
    # Of 0.9.0.1.
    "read-between-two-writes": 2846,
    "called-under-the-next-session": 4547,
    "resigned-and-still-tells-of-what-stays": 3907,
}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all of them."""
    folder = tmp_path_factory.mktemp("campaign")
    for file in ARCHIVES:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")
    return folder


DAILY = ("two-leave-the-isr",)
"""One of 0.10.2.2; each of the others takes two seconds to a minute."""
every = pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one not in DAILY)) for one in OBSERVATIONS]
)


def test_each_has_a_number_of_observations(recordings: Path) -> None:
    assert {one.name for one in recordings.iterdir()} == set(OBSERVATIONS)


@every
def test_each_is_read_to_its_end(recordings: Path, name: str) -> None:
    assert read(recordings / name).observations == OBSERVATIONS[name]


@every
def test_each_is_explained_by_now_to_the_last_observation(recordings: Path, name: str) -> None:
    _, search = judged(recordings / name, AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == OBSERVATIONS[name]
    assert search.verdict is Verdict.HOLDS


@every
def test_what_they_break_is_known(recordings: Path, name: str) -> None:
    claims, _ = judged(recordings / name, AS_CODED, budget=1)
    assert claims.verdict is Verdict.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize("behind", [True, False])
def test_a_line_that_is_written_without_the_lock_stands_where_it_may(
    recordings: Path, tmp_path: Path, *, behind: bool
) -> None:
    """It may amid a step of the deletion thread; not behind the next line of its own thread, nor amid a step of it."""
    folder = tmp_path / "altered"
    shutil.copytree(recordings / "expired-amid-a-step", folder)
    log = folder / "broker-1" / "controller.log"
    lines = log.read_text().splitlines(keepends=True)
    expired = lines.pop(next(i for i, line in enumerate(lines) if "ZK expired" in line))
    first, second = (i for i, line in enumerate(lines) if "Starting topic deletion for topics" in line)
    place = second + 1 if behind else first
    clock = len("[2026-11-28 03:34:35,224]")
    lines.insert(place, lines[place][:clock] + expired[clock:])
    log.write_text("".join(lines))
    steps = (one.step for one in judge(read(folder), budget=900).path)
    explained = {line.place for step in steps if step is not None for line in step.observations}
    assert "broker-1/controller.log:16" in explained
    assert f"broker-1/controller.log:{place + 1}" not in explained
