"""Recordings of real clusters are explained, with what they are known to break; recordings that were changed are not.

What each recording must show was written down from its account (model_check/shipped/README.md) and from PROTOCOL.md
before anything was judged.
"""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging import search
from model_check.judging.judge import Judgement, Outcome, judge
from model_check.judging.judgement_report import run_of
from model_check.judging.search import AT_LAST, MORE
from model_check.judging.shipped_recordings import BROKEN, POSSIBLY_BROKEN
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.claims.cached_leadership import the_dead_are_not_in_sync
from spec.variants import DOCUMENTED, Switch, Switches
from tests.model_check.accounts import ACCOUNTS
from tests.model_check.tampering import Lie, assert_found_out
from tests.model_check.unpacking import (
    JUDGED,
    NAMES,
    RECORDINGS,
    changed,
    judged,
    recorded,
    replaced,
    unpacked,
    without_line,
)

pytestmark = RECORDINGS


def steps(judgement: Judgement) -> list[str]:
    return [one.step.rule for one in judgement.path if one.step is not None]


@pytest.mark.parametrize("name", JUDGED)
def test_recordings_are_explained_and_break_what_they_are_known_to_break(name: str) -> None:
    found = judged(name)
    assert (found.outcome, found.reason, found.stuck) == (Outcome.EXPLAINED, "", None)
    assert found.explained == found.observations
    assert {one.claim.name for one in found.broken} == BROKEN[name]
    assert {one.claim.name for one in found.possibly} == POSSIBLY_BROKEN.get(name, set())
    assert not any(one.is_cut_short for one in found.path)


def test_no_recording_is_without_an_account() -> None:
    assert ACCOUNTS.keys() == set(NAMES)


@pytest.mark.parametrize("name", JUDGED)
def test_explanations_have_the_steps_that_their_accounts_tell_of(name: str) -> None:
    taken = steps(judged(name))
    assert {rule: taken.count(rule) for rule in ACCOUNTS[name]} == ACCOUNTS[name]


@pytest.mark.parametrize("name", JUDGED)
def test_an_explanation_is_a_run_of_the_specification_that_explains_each_observation_once(name: str) -> None:
    found, whole = judged(name), recorded(name)
    assert found.path[0].state == found.system.initial
    explained: list[str] = []
    for before, after in zip(found.path, found.path[1:], strict=False):
        assert after.step is not None
        explained += [one.place for one in after.step.observations]
        if after.step.rule:
            again = found.system.step(before.state, after.step.rule, after.step.parameters)
            assert again is not None
            assert again[0] == after.state
        else:
            assert after.state is before.state
    for track in whole.tracks.values():
        places = [one.place for one in track]
        assert [place for place in explained if place in set(places)] == places


def test_broken_claims_are_known_where_an_exploration_finds_them_too() -> None:
    name = "13-D1-epoch-write-connectionloss"
    told = run_of(recorded(name), judged(name), "AS_CODED")
    assert told.verdict is Verdict.HOLDS
    assert {one.property: one.expected for one in told.findings} == dict.fromkeys(BROKEN[name], "VIOLATED")
    assert run_of(recorded(name), judged(name), "FENCED").verdict is Verdict.VIOLATED


def test_what_happens_next_is_shown_where_the_documented_protocol_would_have_resigned() -> None:
    """With D1 fixed, controller 3 gives up after its failed write; what it sends in epoch 1 instead is unexplained."""
    found = judged("12-D1-epoch-write-delayed", frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}))
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    report, line, *_ = found.stuck.next
    assert report.text == "[Controller 3]: Controller 3 incremented epoch to 1"
    assert "Controller 3 epoch 1 sending UpdateMetadata request" in line.text
    assert "resign_delete(c=3)" in found.stuck.enabled
    assert [one.step.action for one in found.path if one.step][-1] != "subscribe(c=3)"


@pytest.mark.slow
@pytest.mark.parametrize(
    "switches",
    [pytest.param(frozenset({Switch.TAKE_THE_DEAD_OFFLINE}), id="D15"), pytest.param(DOCUMENTED, id="documented")],
)
def test_a_failover_that_leaves_the_dead_in_sync_is_unexplained_where_that_is_fixed(switches: Switches) -> None:
    """With D15 fixed, controller 2 takes brokers 1 and 3 out of the ISR of all three before it elects for any."""
    found = judged("12-D1-epoch-write-delayed", switches)
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert found.stuck.next[0].text == "Controller 2 epoch 2 started leader election for partition [rf3,0]"
    removals = {f"read_for_removal(c=2, p={p}, r={r})" for p in range(3) for r in (1, 3)}
    assert removals <= set(found.stuck.enabled)


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("12-D1-epoch-write-delayed", (55, 59)),  # the second is broker 3's, in epoch 1: it knows only broker 2
        pytest.param("14-D2-zombie-assignment-write", (78,), marks=pytest.mark.slow),
        pytest.param("09-controlled-shutdown", (132,), marks=pytest.mark.slow),
        pytest.param("03-controller-kill", (63, 87, 114, 141, 170), marks=pytest.mark.slow),
    ],
)
def test_the_dead_are_in_sync_from_the_end_of_each_failover_that_leaves_them_there(
    name: str, writes: tuple[int, ...]
) -> None:
    """Counted by hand in zookeeper.jsonl: the last line before the end of each failover that leaves a dead member."""
    found, line, lines = judged(name), "", []
    for at in found.path[1:]:
        assert at.step is not None
        line = next((one.place for one in reversed(at.step.observations) if "zookeeper" in one.place), line)
        if at.step.rule == "finish_failover":
            value = the_dead_are_not_in_sync.function(found.system.view(at.state), found.system.model)
            assert value is not None
            lines += [] if value.raw else [line]
    assert lines == [f"zookeeper.jsonl:{one}" for one in writes]


LIE = "12-D1-epoch-write-delayed"
RESIGNED = "INFO [Controller 3]: Broker 3 resigned as the controller (kafka.controller.KafkaController)"

LIES: Mapping[str, Lie] = {
    "an ISR that no election gives": Lie(
        LIE,
        "zookeeper.jsonl",
        replaced(
            r'"{\"controller_epoch\":2,\"leader\":2,\"version\":1,\"leader_epoch\":1,\"isr\":[2]}", "version": 1',
            r'"{\"controller_epoch\":2,\"leader\":2,\"version\":1,\"leader_epoch\":1,\"isr\":[2,3]}", "version": 1',
        ),
        "zookeeper.jsonl:54",
    ),
    "an epoch that is one too high": Lie(
        LIE,
        "zookeeper.jsonl",
        replaced('"path": "/controller_epoch", "data": "2"', '"path": "/controller_epoch", "data": "3"'),
        "zookeeper.jsonl:53",
    ),
    "a replica that is changed twice, another not at all": Lie(
        LIE,
        "broker-1/state-change.log",
        replaced("state of replica 3 for partition [rf3,2] from NewReplica to OnlineReplica",
                 "state of replica 2 for partition [rf3,2] from NewReplica to OnlineReplica"),
        "broker-1/state-change.log:21",  # the step that creates the last partition prints all from here on
    ),
    "a leader that was elected without a word": Lie(
        LIE,
        "broker-2/state-change.log",
        without_line("elected leader 2 for Offline partition [rf3,2]"),
        "broker-2/state-change.log:51",
    ),
    "a request that was never sent": Lie(
        LIE,
        "broker-2/state-change.log",
        without_line("LeaderAndIsr request (Leader:2,ISR:2,LeaderEpoch:1,ControllerEpoch:2) to broker 2 for partition"
                     " [rf3,2]"),
        "broker-2/state-change.log:51",  # the last election of the batch that the request was in
    ),
    "a follower that obeys an old leader epoch": Lie(
        LIE,
        "broker-3/state-change.log",
        replaced("isr=[2], zkVersion=1, replicas=[1, 2, 3]) correlation id 1 from controller 2", "isr=[2], zkVersion=0,"
                 " replicas=[1, 2, 3]) correlation id 1 from controller 2"),
        "broker-3/state-change.log:41",
    ),
    "an epoch that was not there to be read": Lie(
        LIE,
        "broker-3/controller.log",
        replaced("Initialized controller epoch to 1 and zk version 0", "Initialized controller epoch to 2 and zk"
                 " version 1"),
        "broker-3/controller.log:5",  # with that epoch it is read later, but then the write does not fail
    ),
    "a controller that resigns twice before it learns of its expiry": Lie(
        LIE,
        "broker-3/controller.log",
        replaced(f"03,067] {RESIGNED}\n", f"03,067] {RESIGNED}\n[2026-11-20 18:57:03,067] {RESIGNED}\n"),
        "broker-3/controller.log:42",
    ),
    "a broker that was not registered": Lie(
        LIE,
        "broker-2/controller.log",
        replaced("Newly added brokers: 3, deleted brokers: , all live brokers: 2,3",
                 "Newly added brokers: 1,3, deleted brokers: , all live brokers: 1,2,3"),
        "broker-2/controller.log:36",
    ),
    "a partition that stays offline in a failover": Lie(
        LIE,
        "broker-2/controller.log",
        replaced("[rf3,1] -> OnlinePartition", "[rf3,1] -> OfflinePartition"),
        "broker-2/controller.log:29",
    ),
}  # fmt: skip


TELLING = {"a leader that was elected without a word"}
"""What a log lacks; below is one of what ZooKeeper has, in `test_judge_deletion.py` one of what a log says wrongly."""


@pytest.mark.parametrize("lie", [one if one in TELLING else pytest.param(one, marks=pytest.mark.slow) for one in LIES])
def test_a_recording_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out(LIES[lie], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("times", [0, 2])
def test_a_partition_that_goes_offline_is_said_so_once(times: int, tmp_path: Path) -> None:
    log = "broker-1/state-change.log"
    said = "[2026-11-20 18:51:00,429] TRACE Controller 1 epoch 1 changed partition [rf2,1] state from OnlinePartition"
    lines = (
        unpacked("02-broker-kill-restart", tmp_path / "as it is").joinpath(log).read_text().splitlines(keepends=True)
    )
    line = next(one for one in lines if one.startswith(said))
    found = judge(read(changed("02-broker-kill-restart", tmp_path, log, replaced(line, times * line))), budget=800)
    assert found.outcome is not Outcome.EXPLAINED
    assert found.stuck is not None
    assert f"{log}:112" in [one.place for one in found.stuck.next]  # one step takes all partitions offline


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "place"),
    [
        *((one, f"zookeeper.jsonl:{one}") for one in (48, 55, 66, 80)),
        # A leader may have taken out both who lag; but controller 3 sends UpdateMetadata with another ISR.
        (57, "broker-3/state-change.log:20"),
    ],
)
def test_a_lie_about_an_isr_is_found_out_soon(line: int, place: str, tmp_path: Path) -> None:
    """Creations, elections and leaders' changes, early and late: nothing but what bears on the write is tried again."""

    def with_another_isr(text: str) -> str:
        lines = text.splitlines(keepends=True)
        record = json.loads(lines[line - 1])
        state = json.loads(record["data"])
        isr = state["isr"][:-1] if len(state["isr"]) > 1 else [*state["isr"], 1]
        lines[line - 1] = json.dumps(record | {"data": json.dumps(state | {"isr": isr}, separators=(",", ":"))}) + "\n"
        return "".join(lines)

    found = judge(read(changed(LIE, tmp_path, "zookeeper.jsonl", with_another_isr)), budget=3000)
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert place in [one.place for one in found.stuck.next]


WANDERING: Mapping[str, float] = {
    "09-controlled-shutdown": 1.7,  # a request comes before an ISR change that the clocks put after it
    "15-D3-resign-deletes-foreign-controller": 1.7,  # a delete comes when its sender's session has long been over
    "33-D54-connectionloss-on-create": 1.4,  # answers are lost, which the search tries last
}
"""Where the search finds out late."""


@pytest.mark.parametrize("name", JUDGED)
def test_a_recording_that_is_explained_takes_hardly_more_than_one_way(name: str) -> None:
    found = judged(name)
    assert found.positions - MORE <= len(found.path) * WANDERING.get(name, 1.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "missing",
    [
        ("actions.jsonl",),
        ("sessions.json",),
        ("actions.jsonl", "sessions.json", "broker-1/controller.log", "broker-2/controller.log"),
    ],
)
def test_less_is_enough_where_deaths_and_owners_can_be_told_otherwise(missing: tuple[str, ...], tmp_path: Path) -> None:
    folder = unpacked("03-controller-kill", tmp_path)
    for name in missing:
        (folder / name).unlink()
    found = judge(read(folder))
    assert (found.outcome, frozenset(one.claim.name for one in found.broken)) == (
        Outcome.EXPLAINED,
        BROKEN[folder.name],
    )
    assert steps(found).count("crash") >= 6


def test_a_small_budget_leaves_it_open() -> None:
    found = judge(recorded("03-controller-kill"), budget=100)
    assert found.outcome is Outcome.INCOMPLETE
    assert found.reason == "no explanation found among 101 positions; --budget allows more"
    assert 0 < found.explained < found.observations


@pytest.mark.slow
@pytest.mark.parametrize(("before_the_end", "at_last"), [(1, AT_LAST), (100, AT_LAST), (50, 100)])
def test_a_search_that_is_stopped_leaves_it_open(
    before_the_end: int, at_last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is among the unlikely moves already: it would have found nothing, but nobody can know."""
    monkeypatch.setattr(search, "AT_LAST", at_last)
    told = LIES["an epoch that is one too high"]
    lie = read(changed(told.recording, tmp_path, told.file, told.change))
    whole = judge(lie)
    assert whole.outcome is Outcome.UNEXPLAINED
    last, again = whole.positions - before_the_end, itertools.count(1)
    found = judge(lie, stop=lambda: next(again) >= last)
    assert (found.outcome, found.positions) == (Outcome.INCOMPLETE, last)


def test_what_is_not_modelled_ends_the_judgement(tmp_path: Path) -> None:
    """A request that no tool writes, in the place of the topic that was created last: all before it is explained."""
    change = replaced(
        r'"path": "/brokers/topics/later", "data": "{\"version\":1,\"partitions\":{\"0\":[2,3]}}"',
        r'"path": "/admin/reassign_partitions", "data": "{\"version\":1,\"partitions\":[]}"',
    )

    def cut_after(text: str) -> str:
        return "".join(change(text).splitlines(keepends=True)[:70])

    folder = changed(LIE, tmp_path, "zookeeper.jsonl", cut_after)
    for log in folder.glob("broker-*/state-change.log"):
        log.write_text(
            "".join(line for line in log.read_text().splitlines(keepends=True) if "later" not in line), encoding="utf-8"
        )
    found = judge(read(folder))
    assert found.outcome is Outcome.INCOMPLETE
    assert found.reason == (
        "explained up to zookeeper.jsonl:70: a request to reassign nothing is not part of the specification"
    )
    assert found.explained == found.observations


@pytest.mark.slow
def test_the_longer_a_recording_the_more_positions_may_be_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    short = recorded("34-D55-config-lost")
    monkeypatch.setattr("model_check.judging.judge.BUDGET", 10)
    monkeypatch.setattr("model_check.judging.judge.EACH", 1)
    found = judge(short)
    assert (found.outcome, found.positions) == (Outcome.EXPLAINED, short.observations + 1)
    monkeypatch.setattr("model_check.judging.judge.EACH", 0)
    assert (judge(short).outcome, judge(short, budget=200).outcome) == (Outcome.INCOMPLETE, Outcome.EXPLAINED)
