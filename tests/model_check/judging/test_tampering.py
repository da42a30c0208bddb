"""A recording in which a single fact was changed is refused or not explained: all that is read is held together."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.judgement_report import run_of
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from tests.model_check.unpacking import JUDGED, RECORDINGS, Change, changed, recorded, replaced, without_line

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"

COMPLETED = "Broker 2 completed LeaderAndIsr request correlationId 3 from controller 2 epoch 2 for the become-leader"
CACHED = "Broker 1 cached leader info (LeaderAndIsrInfo:(Leader:2,ISR:2,3,LeaderEpoch:1,ControllerEpoch:2)"


def doubled(part: str) -> Change:
    """A file in which the first line that has a part stands twice."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if part in line)
        return "".join([*lines[: at + 1], *lines[at:]])

    return change


def before_the_last(part: str) -> Change:
    """A file in which the first line that has a part stands before the one that it follows."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if part in line)
        return "".join([*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]])

    return change


def numbered_again(text: str) -> str:
    """Request 8 of controller 2 has the number of one before."""
    return re.sub(r"(correlation ?[iI]d) 8 from controller 2 epoch 2", r"\1 3 from controller 2 epoch 2", text)


CONTRADICTIONS: Mapping[str, tuple[str, Change, str]] = {
    "a transition that is completed twice": (
        "broker-2/state-change.log", doubled(COMPLETED), "says again what its request has said of this partition",
    ),
    "a transition that is never completed": (
        "broker-2/state-change.log", without_line(f"{COMPLETED} transition for partition rf3-0"),
        "begins a transition that it does not complete, and goes on",
    ),
    "a transition that is completed in another epoch": (
        "broker-2/state-change.log", replaced(COMPLETED, COMPLETED.replace("epoch 2", "epoch 1")),
        "names epoch 1, its request epoch 2",
    ),
    "a leader that completes becoming a follower": (
        "broker-2/state-change.log", replaced(COMPLETED, COMPLETED.replace("become-leader", "become-follower")),
        "is about another role than the transition that was begun",
    ),
    "a follower that begins before the leaders have become such": (
        "broker-2/state-change.log",
        before_the_last("handling LeaderAndIsr request correlationId 2 from controller 1 epoch 1 starting the"
                        " become-follower transition for partition rf3-2"),
        "comes before a line that its request has written",
    ),
    "a number that its channel has given before": (
        "broker-2/state-change.log", numbered_again, "has a number that its channel has given before",
    ),
    "a partition of a request of which nothing becomes": (
        "broker-3/state-change.log",
        without_line("handling LeaderAndIsr request correlationId 1 from controller 1 epoch 1 starting the"
                     " become-follower transition for partition rf3-1"),
        "does not say what became of each partition that was received",
    ),
    "a follower of another leader that keeps its log": (
        "broker-3/state-change.log",
        without_line("truncated logs and checkpointed recovery boundaries for partition rf3-1 as part of"
                     " become-follower request with correlation id 1 from controller 1 epoch 1"),
        "follows another leader without truncating its log",
    ),
    "a cached ISR that was never sent": (
        "broker-1/state-change.log", replaced(CACHED, CACHED.replace("ISR:2,3", "ISR:2,1")),
        "caches of partition [rf3,0] what its controller did not send, or not then",
    ),
    "replicas that are not assigned": (
        "broker-1/state-change.log", replaced("replicas=[1, 2, 3]", "replicas=[1, 2]"),
        "names other replicas than are assigned",
    ),
    "an answer with another error code": (
        "broker-2/state-change.log", replaced("{topic=rf3,partition=1,error_code=11}",
                                              "{topic=rf3,partition=1,error_code=0}"),
        "is an answer that its broker did not give, or not then",
    ),
    "an answer of another broker": (
        "broker-3/state-change.log", replaced("response {error_code=11} for a request sent to broker 127.0.0.1:24042"
                                              " (id: 2", "response {error_code=11} for a request sent to broker"
                                              " 127.0.0.1:24042 (id: 1"),
        "is an answer that its broker did not give, or not then",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", CONTRADICTIONS)
def test_lines_that_do_not_go_together_are_contradictions(lie: str, tmp_path: Path) -> None:
    file, change, reason = CONTRADICTIONS[lie]
    found = read(changed(NAME, tmp_path, file, change)).contradictions
    assert all(one.place.startswith("broker-") for one in found)
    assert reason in {one.reason for one in found}


def test_who_cannot_follow_an_unavailable_leader_did_not_begin_to_lead(tmp_path: Path) -> None:
    begun = "from controller 2 epoch 2 starting the become-follower"
    change = replaced(begun, begun.replace("follower", "leader"))
    folder = changed("28-D46-stale-epoch-answer", tmp_path, "broker-3/state-change.log", change)
    reasons = {one.reason for one in read(folder).contradictions}
    assert reasons == {"is about another role than the transition that was begun"}


@pytest.mark.parametrize("name", JUDGED)
def test_real_clusters_do_not_contradict_themselves(name: str) -> None:
    assert recorded(name).contradictions == ()


def test_a_recording_that_contradicts_itself_is_not_explained(tmp_path: Path) -> None:
    found = judge(read(changed(NAME, tmp_path, "broker-2/state-change.log", doubled(COMPLETED))))
    assert (found.outcome, found.explained) == (Outcome.UNEXPLAINED, found.observations)
    assert found.reason == "no cluster writes this: broker-2/state-change.log:64 contradicts other lines"
    assert found.stuck is not None
    assert [one.place for one in found.stuck.next] == ["broker-2/state-change.log:64"]
    told = run_of(read(tmp_path / NAME), found, "AS_CODED")
    assert (told.verdict, told.reason) == (Verdict.VIOLATED, found.reason)
