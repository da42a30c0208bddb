"""A controller of somebody else, as a command, before brokers of the reference: who does it right, and who does not."""

import json
import re
import sys
from pathlib import Path

import pytest

from model_check.live.command_program import Agreed, command
from model_check.live.live_run import Task, recorded_and_judged
from model_check.live.live_setup import Setup
from model_check.recordings.sessions import SESSIONS, Session
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput
from spec.formats.kafka_types import V0102

HERE = "tests.model_check.live.controllers"


def told(name: str, folder: Path, *kinds: str, seed: int = 4, controllers: int = 1) -> tuple[Verdict, str]:
    """The verdict on a controller, and what is said of it, after one fault of each kind."""
    program = command(f"{sys.executable} -m {HERE}.{name} --id {{id}} --zookeeper {{zookeeper}}")
    setup = Setup(3, seed, controllers=controllers, controller=program)
    (claims,) = recorded_and_judged(Task(setup, topics=1, faults=len(kinds), kinds=kinds), folder)
    return claims.verdict, "\n".join(claims.notes)


@pytest.mark.slow
def test_a_small_controller_that_does_it_right_breaks_nothing(tmp_path: Path) -> None:
    """It is killed, and it is a zombie: a session that ends has it stand for election again."""
    kinds = ("kill-broker", "kill-controller", "stop-controller", "early-restart")
    verdict, said = told("small_controller", tmp_path, *kinds)
    assert verdict is Verdict.HOLDS, said
    assert "broker 1 claims no release of 0.8.2 to 0.10.2" in said
    sessions = [Session(**one) for one in json.loads((tmp_path / SESSIONS).read_text("utf-8")).values()]
    assert {one.incarnation for one in sessions if one.broker == 1} == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "sentences"),
    [
        (
            "does_nothing",
            "pause",
            ("broker 1 has had /controller since zookeeper.jsonl:3, and has not raised /controller_epoch",
             "[topic-1,0] has no state znode, although broker"),
        ),
        (
            "raises_no_epoch",
            "kill-controller",
            ("broker 1 has had /controller since ", "and has not raised /controller_epoch"),
        ),
        (
            "moves_at_once",
            "reassign",
            ("broker 1 wrote AR [2, 4] of [topic-1,0], which was [3, 2], where [2, 4] is asked for",),
        ),
    ],
)  # fmt: skip
def test_who_wrongly_claims_to_be_a_controller_is_caught(
    name: str, kind: str, sentences: tuple[str, ...], tmp_path: Path
) -> None:
    verdict, said = told(name, tmp_path, kind)
    assert verdict is Verdict.VIOLATED
    for sentence in sentences:
        assert sentence in said


@pytest.mark.slow
def test_who_claims_a_release_and_writes_no_log_is_refused_before_the_first_fault(tmp_path: Path) -> None:
    agreed = Agreed(claims=V0102)
    program = command(f"{sys.executable} -m {HERE}.small_controller --id {{id}} --zookeeper {{zookeeper}}", agreed)
    setup = Setup(2, seed=4, controllers=1, controller=program)
    told = "is to be judged as 0.10.2, and has written no {folder}/state-change.log; without --release only claims are"
    with pytest.raises(BadInput, match=re.escape(told)):
        recorded_and_judged(Task(setup, topics=1, faults=1, kinds=("kill-broker",)), tmp_path)
    acts = (tmp_path / "actions.jsonl").read_text("utf-8").splitlines()
    assert "kill-broker" not in {json.loads(act).get("kind") for act in acts}


@pytest.mark.slow
def test_who_never_stands_for_election_breaks_a_claim(tmp_path: Path) -> None:
    """Nobody else could be controller, so the run ends early; that is no reason to leave it open."""
    setup = Setup(2, seed=4, controllers=1, controller=command("sleep 1000"))
    (claims,) = recorded_and_judged(Task(setup, topics=1, faults=1, kinds=("kill-broker",)), tmp_path)
    assert claims.verdict is Verdict.VIOLATED
    broken = {one.property for one in claims.findings if one.verdict is Verdict.VIOLATED}
    assert broken == {"eventually_one_working_controller"}
    assert "nobody is controller, and broker 1 runs" in "\n".join(claims.notes)
    assert claims.notes[0].startswith("the run ended early: within ")


def test_who_ends_at_once_is_no_controller_whose_claims_hold(tmp_path: Path) -> None:
    setup = Setup(1, seed=4, controllers=1, controller=command("sh -c 'echo I try; echo I cannot; exit 3'"))
    (claims,) = recorded_and_judged(Task(setup, topics=1, faults=0, kinds=()), tmp_path)
    assert claims.verdict is Verdict.INCOMPLETE
    early = "the run ended early: broker 1 ended by itself with exit code 3: I cannot; the recording ends there"
    assert claims.reason == early
    assert claims.notes[:3] == ("what it printed last (output-1.txt):", "  I try", "  I cannot")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "kind", "claim", "sentence"),
    [
        ("deaf", "kill-broker", "eventually_live_brokers_know_each_other", "knows the brokers "),
        ("deaf-in-a-multi", "kill-broker", "eventually_live_brokers_know_each_other", "knows the brokers "),
        ("text-ids", "pause", "znodes_can_be_read", '"1" is no whole number'),
        ("no-rack", "pause", "requests_can_be_read", "all of it can be read without rack"),
        ("other-version", "pause", "requests_can_be_read", "cannot read UPDATE_METADATA of version 2 in "),
        ("no-metadata", "pause", "eventually_live_brokers_know_the_leaders", "has been sent nothing of it"),
        ("forgets-nobody", "kill-broker", "eventually_live_brokers_know_the_leaders", "has been sent nothing of it"),
        ("forgets-nobody", "early-restart", "eventually_live_brokers_know_the_leaders", "(as in the known defect D12)"),
        ("no-stop", "reassign", "eventually_only_assigned_replicas_have_logs", "and was not told to delete it"),
        ("no-wait", "reassign", "clean_leaders_were_in_sync", "where the ISR was"),
    ],
)
def test_a_bug_that_hardly_anybody_sees_is_seen(bug: str, kind: str, claim: str, sentence: str, tmp_path: Path) -> None:
    is_missed = kind == "early-restart"  # only then a broker is back before anybody could notice
    verdict, said = told(f"planted_bugs {bug}", tmp_path, kind, seed=3 if is_missed else 4)
    assert verdict is Verdict.VIOLATED, said
    assert f"{claim}: " in said
    assert sentence in said
    assert ("known defect D12" in said) is is_missed, said


@pytest.mark.slow
def test_who_moves_replicas_step_by_step_breaks_nothing(tmp_path: Path) -> None:
    """And says that a replica had to go."""
    verdict, said = told("moves", tmp_path, "reassign")
    assert verdict is Verdict.HOLDS, said
    assert "a replica has to go" not in said


@pytest.mark.slow
def test_who_is_elected_and_raises_the_epoch_in_one_transaction_breaks_nothing(tmp_path: Path) -> None:
    """And at rest it is known who is in charge."""
    verdict, said = told("planted_bugs in-a-multi", tmp_path, "kill-controller", "stop-controller")
    assert verdict is Verdict.HOLDS, said


@pytest.mark.slow
def test_who_elects_anybody_is_caught(tmp_path: Path) -> None:
    """The seed has the leader of its one partition die while a broker without a replica lives."""
    verdict, said = told("elects_anybody", tmp_path, "kill-broker", seed=28)
    assert verdict is Verdict.VIOLATED
    assert "broker 1 made 4 leader in /brokers/topics/topic-1/partitions/0/state, where the ISR was [3" in said
    assert "then the leader of [topic-1,0] was 4, its AR [3, 2]" in said


@pytest.mark.slow
def test_who_ignores_a_fence_is_caught(tmp_path: Path) -> None:
    """Two stand for election; the first is a zombie when the seed has the leaders of the partitions die."""
    verdict, said = told("ignores_a_fence", tmp_path, "stop-controller", "kill-broker", seed=6, controllers=2)
    assert verdict is Verdict.VIOLATED
    assert "no broker's, wrote controller epoch 1 into /brokers/topics/topic-" in said
    assert "while /controller_epoch was 2 and /controller was broker 2's (as in the known defect D2)" in said
