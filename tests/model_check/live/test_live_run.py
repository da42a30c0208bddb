"""Live runs: the reference on a real ZooKeeper is explained by the specification; with a fault in it, it is not."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import MagicMock

import pytest

from model_check.judging.judge import Judgement, Outcome, judge
from model_check.judging.judgement_report import run_of
from model_check.live import live_run
from model_check.live.fault_kinds import FAULTS, checked_kinds, drawn
from model_check.live.live_cluster import LiveCluster
from model_check.live.live_run import Task, checked_run, recorded_and_judged, run
from model_check.live.live_scenario import Scenario
from model_check.live.live_setup import Setup
from model_check.live.reference_program import reference
from model_check.recordings.reading import read
from model_check.recordings.seen import BrokerRegistered, ProcessKilled, ProcessPaused, SessionEnded
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput, EnvironmentFailure, UnknownName
from spec.formats.kafka_types import TopicPartition
from tests.model_check.faulty_broker import FAULT, PLANT

Kinds = tuple[str, ...]
SHORT = pytest.mark.parametrize(
    ("brokers", "kinds"),
    [
        pytest.param(2, ("stop-controller",), marks=pytest.mark.slow),
        pytest.param(3, ("kill-controller", "stop-controller"), marks=pytest.mark.slow),
    ],
)
"""A run of so many brokers with these faults, each once; `kcheck verify` has one every day."""
FAULTY = "tests.model_check.faulty_broker"
_HOME = TemporaryDirectory(prefix="live-")


@cache
def short_run(brokers: int, kinds: Kinds) -> tuple[Run, Path]:
    """What comes of a run, and its recording."""
    home = Path(_HOME.name) / str(brokers)
    home.mkdir()
    made = checked_run(Task(Setup(brokers, seed=2), topics=1, faults=len(kinds), kinds=kinds), home)
    return made, home / made.scope


@SHORT
@pytest.mark.takes("A cluster is run, loses its controller, and is judged: once, for the next tests, too.")
def test_the_reference_on_a_real_zookeeper_is_explained(brokers: int, kinds: Kinds) -> None:
    made, _ = short_run(brokers, kinds)
    assert (made.verdict, made.reason) == (Verdict.HOLDS, "")
    explained, _, total = made.notes[0].split(" observations")[0].partition(" of ")
    assert explained == total
    assert int(total) > 50


@SHORT
def test_a_recording_shows_what_was_done(brokers: int, kinds: Kinds) -> None:
    _, folder = short_run(brokers, kinds)
    tracks = read(folder).tracks
    acts = tracks["environment"]
    done = [type(one) for one in acts]
    assert (done.count(ProcessKilled), done.count(ProcessPaused)) == (kinds.count("kill-controller"), 2)
    ended = [one for one in tracks["zookeeper"] if isinstance(one, SessionEnded)]
    assert [one.had_controller for one in ended] == [True for _ in kinds]
    assert sorted(one.survived for one in ended) == sorted(kind == "stop-controller" for kind in kinds)


@SHORT
def test_a_recording_has_every_file_of_a_real_clusters(brokers: int, kinds: Kinds) -> None:
    _, folder = short_run(brokers, kinds)
    assert {one.name for one in folder.iterdir()} == {
        "actions.jsonl", "members.json", "sessions.json", "zookeeper.jsonl",
        *(f"broker-{broker}" for broker in range(1, brokers + 1)),
    }  # fmt: skip
    for broker in range(1, brokers + 1):
        assert {one.name for one in (folder / f"broker-{broker}").iterdir()} == {
            "controller.log", "kafka-request.log", "server.log", "state-change.log", "wire.jsonl",
        }  # fmt: skip


@SHORT
def test_every_request_that_was_sent_to_a_broker_came_over_the_wire(brokers: int, kinds: Kinds) -> None:
    """As many arrivals in kafka-request.log as the state-change.log of all controllers has answers, or more."""
    _, folder = short_run(brokers, kinds)
    arrived = answered = 0
    for broker in range(1, brokers + 1):
        arrived += (folder / f"broker-{broker}/kafka-request.log").read_text("utf-8").count("received request : ")
        answered += (folder / f"broker-{broker}/state-change.log").read_text("utf-8").count(" received response ")
    assert 0 < answered <= arrived


Play = Callable[[LiveCluster], None]


def kill(broker: int) -> Play:
    """A broker is killed for good."""

    def play(cluster: LiveCluster) -> None:
        cluster.kill(broker)
        cluster.wait_until("its session ends", lambda: not cluster.admin.is_registered(broker))

    return play


def reassign(cluster: LiveCluster) -> None:
    """The partition is to move from its leader to broker 1."""
    cluster.admin.reassign({TopicPartition("t", 0): (3, 1)})


def shut_down(cluster: LiveCluster) -> None:
    """The partition's leader stops in order."""
    cluster.tell_to_stop(2)
    cluster.await_exit(2)


def elect(cluster: LiveCluster) -> None:
    """The partition's preferred replica dies, comes back, and is to lead again."""
    kill(2)(cluster)
    cluster.ensure_running(2)
    cluster.rest()
    cluster.admin.elect_preferred([TopicPartition("t", 0)])


def faulty_run(fault: str, play: Play, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Judgement:
    """Broker 1 is controller, 2 leads the only partition and 3 follows; something is done to them."""
    monkeypatch.setenv(FAULT, fault)
    with LiveCluster(Setup(3, seed=1, broker=reference(FAULTY)), folder) as cluster:
        Scenario(cluster, Random(1), first_topics=0).begin()
        cluster.admin.create_topic("t", {0: (2, 3)})
        cluster.rest()
        play(cluster)
        cluster.rest()
        cluster.finish()
    return judge(read(folder))


def next_observations(found: Judgement) -> str:
    """What was observed where the explanation ends."""
    assert found.stuck is not None
    return "\n".join(map(str, found.stuck.next))


WHERE = {
    "keep_the_controller_epoch": (kill(1), "type=setData path=/controller_epoch data=1 version=1"),
    "accept_equal_leader_epochs": (kill(1), " starting the become-"),
    "keep_the_leader_epoch": (kill(2), "type=setData path=/brokers/topics/t/partitions/0/state"),
    "elect_the_last": (kill(2), "type=setData path=/brokers/topics/t/partitions/0/state"),
    "trust_the_new_replicas": (reassign, "is not in the new list of replicas 3,1. Re-electing leader"),
    "keep_who_leaves_in_the_isr": (shut_down, "type=setData path=/brokers/topics/t/partitions/0/state"),
    "prefer_the_last": (elect, "type=setData path=/brokers/topics/t/partitions/0/state"),
}
"""What is to be done for the fault to show, and what is observed where the explanation ends."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", WHERE)
def test_a_planted_fault_is_found_and_shown_where_it_is(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play, text = WHERE[fault]
    found = faulty_run(fault, play, tmp_path, monkeypatch)
    told = run_of(read(tmp_path), found, "AS_CODED")
    assert (found.outcome, told.verdict) == (Outcome.UNEXPLAINED, Verdict.INCOMPLETE)
    assert told.reason.startswith("not explained: ")
    assert text in next_observations(found)


def test_every_planted_fault_is_tried() -> None:
    assert set(WHERE) == set(PLANT)


def test_every_fault_is_planted_where_the_reference_asks() -> None:
    """In a process of its own, in which they may stay."""
    every = "from tests.model_check.faulty_broker import PLANT\nfor plant in PLANT.values(): plant()"
    subprocess.run([sys.executable, "-c", every], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_longer_runs_are_explained(seed: int, tmp_path: Path) -> None:
    made = checked_run(Task(Setup(3, 10 * seed), topics=2), tmp_path)
    assert (made.verdict, made.reason) == (Verdict.HOLDS, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [one for one in FAULTS if one.startswith(("add", "shutdown", "elect", "lag-", "delete-w")) or "remove" in one],
)
def test_kinds_that_are_not_drawn_are_explained(kind: str, tmp_path: Path) -> None:
    made = checked_run(Task(Setup(3, 6), topics=1, faults=2, kinds=(kind,)), tmp_path)
    assert (made.verdict, made.reason) == (Verdict.HOLDS, "")


@pytest.mark.slow
def test_a_controller_as_coded_misses_that_a_broker_restarts_early(tmp_path: Path) -> None:
    """What is registered is the same to it before and after (D12); the new process is told nothing."""
    claims, judged = recorded_and_judged(Task(Setup(3, 4), topics=1, faults=1, kinds=("early-restart",)), tmp_path)
    assert (claims.verdict, judged.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    broken = {one.property: one.reason for one in claims.findings if one.verdict is Verdict.VIOLATED}
    assert "as in D12" in broken["eventually_live_brokers_know_the_leaders"]


@pytest.mark.slow
def test_partitions_that_are_added_are_created_and_said_so(tmp_path: Path) -> None:
    assert checked_run(Task(Setup(2, 4), topics=1, faults=2, kinds=("add",)), tmp_path).verdict is Verdict.HOLDS
    logs = "".join(path.read_text() for path in tmp_path.rglob("controller.log"))
    assert logs.count("New partitions to be added") == 2


@pytest.mark.slow
@pytest.mark.parametrize("brokers", [1, 4])
def test_other_sizes_of_clusters_are_explained(brokers: int, tmp_path: Path) -> None:
    made = checked_run(Task(Setup(brokers, 5), topics=1, faults=4), tmp_path)
    assert (made.verdict, made.reason) == (Verdict.HOLDS, "")


def test_when_the_time_is_over_only_faults_that_were_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, str]] = []
    monkeypatch.setattr(live_run, "Scenario", MagicMock())
    task = Task(Setup(1, seed=1), topics=0, faults=5, kinds=("kill-controller",), seconds=0)
    live_run._play(task, MagicMock(), lambda number, what: told.append((number, what)))
    assert told == [(0, "start"), (0, "judging")]


@pytest.fixture(scope="module")
def stopped() -> Iterator[tuple[Run, Path, list[int]]]:
    """A run that is stopped as soon as its first fault begins."""
    begun: list[str] = []
    with TemporaryDirectory() as folder:
        task = Task(Setup(2, seed=3), topics=1, faults=5)
        made = run(task, Path(folder), stop=lambda: len(begun) > 1, tell=lambda _, what: begun.append(what))
        acts = [json.loads(line) for line in (Path(folder) / "actions.jsonl").read_text("utf-8").splitlines()]
        yield made, Path(folder), [one["pid"] for one in acts if one["action"] == "broker-start"]


@pytest.mark.slow
def test_a_run_that_is_stopped_leaves_its_recording(stopped: tuple[Run, Path, list[int]]) -> None:
    made, folder, _ = stopped
    assert made.verdict is Verdict.INCOMPLETE
    assert made.reason.startswith("interrupted")
    assert read(folder).cluster.broker_ids == (1, 2)


def test_no_broker_outlives_its_run(stopped: tuple[Run, Path, list[int]]) -> None:
    assert len(stopped[2]) >= 2
    for pid in stopped[2]:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
@pytest.mark.takes("A ZooKeeper server is started, and a broker that loads all of the reference.")
def test_a_broker_that_ends_by_itself_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FAULT, "no such fault")
    with (
        pytest.raises(RuntimeError, match="a broker of the reference failed: Traceback"),
        LiveCluster(Setup(1, seed=1, broker=reference(FAULTY)), tmp_path) as cluster,
    ):
        cluster.ensure_running(1)


@pytest.mark.slow
@pytest.mark.takes("A broker and a ZooKeeper server are started.")
def test_a_full_disk_is_the_environments_failure(tmp_path: Path) -> None:
    """The device that is always full stands in for a disk: the broker's first log line cannot be written."""
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1/server.log").symlink_to("/dev/full")
    with (
        pytest.raises(EnvironmentFailure, match="No space left on device; the recording ends there"),
        LiveCluster(Setup(1, seed=1), tmp_path) as cluster,
    ):
        cluster.ensure_running(1)


@pytest.mark.slow
@pytest.mark.takes("A broker and a ZooKeeper server are started, and the server is killed.")
def test_what_was_recorded_until_a_failure_is_saved(tmp_path: Path) -> None:
    """The server is killed under the cluster; its log and the brokers' are a recording all the same."""

    def kill_the_server() -> None:
        with LiveCluster(Setup(1, seed=1), tmp_path) as cluster:
            cluster.ensure_running(1)
            os.kill(cluster._server.pid, signal.SIGKILL)
            cluster.sleep(10)

    with pytest.raises(EnvironmentFailure, match="nothing was judged"):
        kill_the_server()
    recording = read(tmp_path)
    assert recording.cluster.broker_ids == (1,)
    assert any(isinstance(one, BrokerRegistered) for one in recording.tracks["zookeeper"])
    assert json.loads((tmp_path / "actions.jsonl").read_text("utf-8").splitlines()[-1])["action"] == "end"


def test_what_does_not_come_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster needs to run for it."""
    monkeypatch.setattr(LiveCluster, "sleep", lambda _, seconds: time.sleep(seconds))
    begun = time.monotonic()
    with pytest.raises(EnvironmentFailure, match=r"within 0\.3 s not: pigs fly"):
        LiveCluster(Setup(1, seed=1), tmp_path).wait_until("pigs fly", lambda: False, 0.3)
    assert 0.3 <= time.monotonic() - begun < 2


def test_faults_are_drawn_each_once_before_any_comes_again() -> None:
    faults = drawn(Random(1), FAULTS)
    for _ in range(3):
        assert sorted(next(faults) for _ in FAULTS) == sorted(FAULTS)


def test_an_unknown_kind_of_fault_lists_the_known_ones() -> None:
    assert checked_kinds(("pause", "lag"), Setup(1, seed=1)) == ("pause", "lag")
    with pytest.raises(UnknownName, match="no kind of fault is called 'paus'; did you mean pause"):
        checked_kinds(("paus",), Setup(1, seed=1))
    with pytest.raises(BadInput, match=r"delete-undeletable needs brokers of Kafka 0\.10\.2"):
        checked_kinds(("delete-undeletable",), Setup(1, seed=1))
