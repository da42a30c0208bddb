"""What is planted is found, by file and line; and what looks like it, and is right, is not.

Each fault stands beside the innocent case that is nearest to it.
"""

from pathlib import Path

import pytest

from model_check.logs.answers import (
    AT_ONCE,
    CAN_WRITE,
    CLAIMS,
    FORWARD,
    HIGHER,
    KNOWN,
    LATEST,
    OLDER,
    ONE_TERM,
    REFUSED,
    ROWS,
)
from model_check.logs.findings import MOSTLY_UNKNOWN, NOTHING_READ
from model_check.logs.judging import judge_logs
from model_check.verdicts.verdict import NONE_ASKED, Verdict
from tests.model_check.logs.telling import (
    ACTS,
    CHANGES,
    LOGGERS,
    REPORTS,
    SERVER,
    breaks,
    broken,
    election,
    judged,
    log,
    obedience,
    stamped,
    starting,
    told,
    written,
)


def test_a_transition_without_a_row_is_told_with_the_rows_that_there_are(tmp_path: Path) -> None:
    who = "Controller 1 epoch 2 changed"
    run = judged(
        tmp_path,
        changes=log(
            CHANGES,
            [
                f"{who} partition [t,0] state from NonExistentPartition to NewPartition with assigned replicas 1",
                f"{who} partition [t,0] state from NewPartition to NonExistentPartition",
                f"{who} state of replica 1 for partition [t,0] from OfflineReplica to ReplicaDeletionIneligible",
            ],
        ),
    )
    assert breaks(run) == {ROWS: [f"{CHANGES}:2", f"{CHANGES}:3"]}
    first, second = told(run, ROWS)
    assert first.endswith(
        "no row leads so: from NewPartition to OnlinePartition or OfflinePartition; to NonExistentPartition from"
        " OfflinePartition"
    )
    assert "OfflineReplica to ReplicaDeletionIneligible" in second


def test_the_row_that_a_later_release_added_is_none_of_the_eras(tmp_path: Path) -> None:
    """KAFKA-3143: from 2.3.0 on; lines of 1.0 on look alike."""
    later = (
        "[Controller id=1 epoch=2] Changed state of replica 1 for partition t-0 from OfflineReplica to"
        " ReplicaDeletionIneligible"
    )
    assert breaks(judged(tmp_path, changes=log(CHANGES, [later]))) == {}


CREATES = "Controller {} epoch {} changed state of replica 1 for partition [t,0] from NonExistentReplica to NewReplica"


def test_an_epoch_that_goes_back_and_forth_at_once_is_told(tmp_path: Path) -> None:
    lines = [ACTS.format(1, 58), ACTS.format(1, 57), ACTS.format(1, 58)]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines))) == {FORWARD: [f"{CHANGES}:2"]}


def test_an_epoch_that_goes_back_in_one_life_is_told_and_after_a_start_it_may_be_another_ensembles(
    tmp_path: Path,
) -> None:
    lines = log(CHANGES, [ACTS.format(1, 58), ACTS.format(1, 7)], step=100)
    lived_on = judged(tmp_path / "a", changes=lines, reports=starting(1))
    started = judged(tmp_path / "b", changes=lines, reports=starting(1) + starting(1, 50))
    unknown = judged(tmp_path / "c", changes=lines)
    assert breaks(lived_on) == {FORWARD: [f"{CHANGES}:2"]}
    assert breaks(started) == breaks(unknown) == {}
    assert any("set up anew" in one for one in unknown.notes)


def test_epochs_that_controller_log_raises_otherwise_than_by_one(tmp_path: Path) -> None:
    def raised(read: int, to: int) -> str:
        lines = [
            f"[Controller 1]: Initialized controller epoch to {read} and zk version {read - 1}",
            f"[Controller 1]: Controller 1 incremented epoch to {to}",
        ]
        return log(REPORTS, lines)

    assert breaks(judged(tmp_path / "a", reports=raised(5, 6))) == {}
    assert breaks(judged(tmp_path / "b", reports=raised(5, 5))) == {ONE_TERM: [f"{REPORTS}:2"]}
    assert breaks(judged(tmp_path / "c", reports=raised(5, 3))) == {FORWARD: [f"{REPORTS}:2"]}
    assert breaks(judged(tmp_path / "d", reports=raised(5, 8))) == {FORWARD: [f"{REPORTS}:2"]}


@pytest.mark.parametrize(("version", "breaks_it"), [(7, False), (5, True)])
def test_an_epoch_that_was_leapt_over_is_told_by_how_often_its_znode_was_written(
    tmp_path: Path, version: int, breaks_it: bool
) -> None:
    """From 5 to 8 there are three writes, of which two are told by lines that are missing; or there was one."""
    lines = [
        "[Controller 1]: Initialized controller epoch to 5 and zk version 4",
        "[Controller 1]: Controller 1 incremented epoch to 8",
        f"[Controller 2]: Initialized controller epoch to 8 and zk version {version}",
    ]
    run = judged(tmp_path, reports=log(REPORTS, lines))
    assert breaks(run) == ({FORWARD: [f"{REPORTS}:2"]} if breaks_it else {})


@pytest.mark.parametrize("between", ["[Controller 1]: Registering IsrChangeNotificationListener", ACTS.format(1, 7)])
def test_an_epoch_that_was_leapt_over_accuses_nobody_where_lines_are_missing(tmp_path: Path, between: str) -> None:
    """A controller raises the epoch right after it has read it, and nobody has one in between."""
    read = "[Controller 1]: Initialized controller epoch to 5 and zk version 4"
    raised = "[Controller 1]: Controller 1 incremented epoch to 8"
    is_report = between.startswith("[")
    run = judged(
        tmp_path,
        reports=log(REPORTS, [read, *[between] * is_report, raised], step=0.1),
        changes=log(CHANGES, [] if is_report else [between]),
    )
    assert breaks(run) == {}
    assert any("lines are missing" in one for one in run.notes)


@pytest.mark.parametrize(("epoch", "seconds"), [(8, 60), (5, 3600), (3, 60)])
def test_an_epoch_that_was_read_long_before_another_one_was_raised_accuses_nobody(
    tmp_path: Path, epoch: int, seconds: float
) -> None:
    """The lines in between are missing, as where several brokers roll one file."""
    lines = [
        "[Controller 1]: Initialized controller epoch to 5 and zk version 4",
        f"[Controller 1]: Controller 1 incremented epoch to {epoch}",
    ]
    assert breaks(judged(tmp_path, reports=log(REPORTS, lines, step=seconds))) == {}


def test_two_controllers_in_one_epoch_at_once(tmp_path: Path) -> None:
    lines = [ACTS.format(1, 4), ACTS.format(2, 4), ACTS.format(1, 4)]
    run = judged(tmp_path, changes=log(CHANGES, lines))
    assert breaks(run) == {ONE_TERM: [f"{CHANGES}:2"], AT_ONCE: [f"{CHANGES}:3"]}
    assert [one.reason.rpartition("; ")[2] for one in broken(run)] == ["as in D1", "as in D1-at-once"]


def test_the_first_epoch_of_another_ensemble_is_nobodys_but_its_own(tmp_path: Path) -> None:
    lines = [ACTS.format(1, 1), CREATES.format(2, 1), ACTS.format(2, 1)]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines, step=3600))) == {}


def test_a_controller_that_begins_below_a_later_epoch_may_be_of_another_ensemble(tmp_path: Path) -> None:
    """Nothing tells whose epochs those before are; its first lines in that epoch come late."""
    lines = [*obedience(1, 2, 6, 1), *election(1, 3)]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines, step=3600))) == {}


def test_a_zombie_whose_first_lines_come_after_its_successors_is_of_the_same_ensemble_if_it_has_lived_on(
    tmp_path: Path,
) -> None:
    """So is one that was elected again and again before it came to write anything (D53's recording)."""
    lines = [*obedience(1, 2, 6, 1), *election(1, 5)]
    slowly, at_once = (log(CHANGES, lines, step=step) for step in (60, 0.1))
    lived_on = judged(tmp_path / "a", changes=slowly, reports=starting(1))
    started = judged(tmp_path / "b", changes=slowly, reports=starting(1) + starting(1, 90))
    assert breaks(lived_on) == breaks(judged(tmp_path / "c", changes=at_once)) == {LATEST: [f"{CHANGES}:3"]}
    assert not any("begin anew" in one for one in lived_on.notes)
    assert breaks(started) == {}
    assert any("begin anew" in one for one in started.notes)


@pytest.mark.parametrize("epoch", [1, 4])
def test_a_controller_of_an_empty_cluster_shares_no_epoch(tmp_path: Path, epoch: int) -> None:
    """From 2.5 on it says that it sends nothing, before anything is created."""
    empty = f"[Controller id=2 epoch={epoch}] Sending UpdateMetadata request to brokers HashSet(2) for 0 partitions"
    lines = [ACTS.format(1, epoch), empty, CREATES.format(2, epoch), ACTS.format(2, epoch)]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines, step=3600))) == {}


def test_two_controllers_in_the_first_epoch_at_once(tmp_path: Path) -> None:
    lines = [ACTS.format(1, 1), ACTS.format(2, 1), ACTS.format(1, 1)]
    run = judged(tmp_path, changes=log(CHANGES, lines, step=0.1))
    assert breaks(run) == {ONE_TERM: [f"{CHANGES}:2"], AT_ONCE: [f"{CHANGES}:3"]}


def test_a_clock_that_is_set_back_by_an_hour_accuses_nobody(tmp_path: Path) -> None:
    """In the hour that comes twice a start may stand before what it comes after."""
    lines = log(CHANGES, obedience(1, 2, 6, 4), since=3000) + log(CHANGES, obedience(1, 2, 6, 4, request=2), since=2400)
    reports = starting(1) + starting(1, 1800)
    assert breaks(judged(tmp_path, changes=lines, reports=reports)) == {}


def test_a_zombie_that_begins_to_write_after_its_successor(tmp_path: Path) -> None:
    """Its own broker has obeyed the successor before; that it says so late proves nothing, for it may have paused."""
    before, after = election(1, 5), obedience(1, 2, 6, 1)
    lines = log(CHANGES, [*before, *after, *election(1, 5)])
    late = log(CHANGES, [*before, election(1, 5)[0], *after, *election(1, 5)[1:]])
    zombie = judged(tmp_path / "a", changes=lines, reports=starting(1))
    at_once = judged(tmp_path / "b", changes=log(CHANGES, [*before, *after, *election(1, 5)], step=0.1))
    paused = judged(tmp_path / "c", changes=late, reports=starting(1))
    assert breaks(zombie) == breaks(at_once) == {LATEST: [f"{CHANGES}:6"]}
    assert breaks(paused) == {}


def test_who_goes_on_after_a_later_epoch_may_begin_in_another_ensemble_with_the_same_one(tmp_path: Path) -> None:
    """So it is where its process started in between; and where no log tells, it may be so."""
    lines = log(CHANGES, [*election(1, 1), *obedience(1, 2, 2, 1), *election(1, 1), *election(1, 1)])
    started = judged(tmp_path / "a", changes=lines, reports=starting(1) + starting(1, 4.5))
    unknown = judged(tmp_path / "b", changes=lines)
    assert breaks(started) == breaks(unknown) == {}
    assert any(one.startswith("controller 1 goes on in epoch 1 after a later one") for one in unknown.notes)


def test_a_broker_that_obeys_an_older_controller(tmp_path: Path) -> None:
    lines = [*obedience(1, 2, 6, 1), *obedience(1, 1, 5, 2)]
    lived_on = judged(tmp_path / "a", changes=log(CHANGES, lines, step=60), reports=starting(1))
    started = judged(tmp_path / "b", changes=log(CHANGES, lines, step=60), reports=starting(1) + starting(1, 90))
    unknown = judged(tmp_path / "c", changes=log(CHANGES, lines, step=60))
    at_once = judged(tmp_path / "d", changes=log(CHANGES, [*lines, *obedience(1, 2, 6, 3)], step=0.01))
    assert breaks(lived_on) == breaks(at_once) == {OLDER: [f"{CHANGES}:4"]}
    assert breaks(started) == breaks(unknown) == {}


def test_a_broker_that_obeys_a_leader_epoch_that_is_not_higher(tmp_path: Path) -> None:
    lines = [*obedience(1, 2, 6, 4), *obedience(1, 2, 6, 4, request=2)]
    unavailable = (
        "Broker 1 received LeaderAndIsrRequest with correlation id 1 from controller 2 epoch 6 for partition t-0 but"
        " cannot become follower since the new leader 3 is unavailable."
    )
    deleted = "Broker 1 handling stop replica (delete=true) for partition t-0"
    reports = starting(1)
    obeys = judged(tmp_path / "a", changes=log(CHANGES, lines), reports=reports)
    assert breaks(obeys) == {HIGHER: [f"{CHANGES}:4"]}
    for number, between in enumerate((unavailable, deleted)):
        spared = [*lines[:2], between, *lines[2:]]
        assert breaks(judged(tmp_path / str(number), changes=log(CHANGES, spared), reports=reports)) == {}
    started = judged(tmp_path / "b", changes=log(CHANGES, lines), reports=reports + starting(1, 2.5))
    assert breaks(started) == {}


def test_a_leader_epoch_that_is_not_higher_is_told_only_where_no_request_in_between_is_missing(tmp_path: Path) -> None:
    """The broker may have stopped the replica, or have started, and the lines that say so may be lost."""
    once, again = obedience(1, 2, 6, 4), obedience(1, 2, 6, 4, request=3)
    info = "(LeaderAndIsrInfo:(Leader:1,ISR:1,LeaderEpoch:4,ControllerEpoch:6),ReplicationFactor:2),AllReplicas:1,2)"
    cached = f"Broker 1 cached leader info {info} for partition [t,0] in response to UpdateMetadata request sent by"
    gap = judged(tmp_path / "a", changes=log(CHANGES, [*once, *again]), reports=starting(1))
    whole = [*once, f"{cached} controller 2 epoch 6 with correlation id 2", *again]
    assert breaks(gap) == {}
    assert any("lines may be missing in between" in one for one in gap.notes)
    assert breaks(judged(tmp_path / "b", changes=log(CHANGES, whole), reports=starting(1))) == {
        HIGHER: [f"{CHANGES}:5"]
    }


def test_a_controller_that_comes_back_to_a_broker_counts_its_requests_anew(tmp_path: Path) -> None:
    lines = [*obedience(1, 2, 6, 4, request=5), *obedience(1, 2, 6, 4, request=0)]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines), reports=starting(1))) == {}


def test_what_a_request_of_an_earlier_life_said_is_not_taken_for_one_of_the_same_correlation_id(tmp_path: Path) -> None:
    """Of the first one nothing was handled; of the second, the lines that say what is in it are missing."""
    (received, handled), reports = obedience(1, 2, 6, 4, request=3), starting(1) + starting(1, 0.05)
    lines = [received, *obedience(1, 2, 6, 5, request=1), handled]
    assert breaks(judged(tmp_path, changes=log(CHANGES, lines, step=0.1), reports=reports)) == {}


REFUSAL = "Broker 1 ignoring LeaderAndIsr request from controller 1 with correlation id 7 since its controller epoch "


@pytest.mark.parametrize(
    "started",
    ["[Kafka Server 1], started", "[KafkaServer id=1] started", "[Controller 1]: Controller startup complete"],
)
def test_a_start_of_which_only_the_end_is_told_is_one(tmp_path: Path, started: str) -> None:
    """The line of its begin is missing, so what the broker had stored is gone nevertheless."""
    lines = [*obedience(1, 2, 3, 5), *obedience(1, 2, 3, 5, 2)]
    server = stamped(started, 15, LOGGERS[SERVER], "INFO")
    run = judged(tmp_path, changes=log(CHANGES, lines, step=10), reports=starting(1), server=server)
    assert breaks(run) == {}


def test_a_fence_that_refuses_what_is_not_old(tmp_path: Path) -> None:
    equal = (
        "Broker 1 ignoring LeaderAndIsr request from controller 1 with correlation id 7 epoch 5 for partition [t,0]"
        " since its associated leader epoch 4 is not higher than the current leader epoch {}"
    )
    lines = [
        f"{REFUSAL}4 is old. Latest known controller epoch is 5",
        f"{REFUSAL}5 is old. Latest known controller epoch is 5",
        equal.format(4),
        equal.format(3),
    ]
    run = judged(tmp_path, changes=log(CHANGES, lines))
    assert breaks(run) == {REFUSED: [f"{CHANGES}:2"], KNOWN: [f"{CHANGES}:4"]}
    assert any(one.startswith("older controller epochs of controller 1 refused by broker 1: 1,") for one in run.notes)


STALE = "Partition [t,0] on broker 1: Cached zkVersion [{}] not equal to that in zookeeper, skip updating ISR"


@pytest.mark.parametrize(
    ("versions", "seconds", "line"),
    [
        ([3, 3, 3, 3], 15, 3),
        ([3, 3], 60, None),
        ([3, 3, 3], 5, None),
        ([3, 4, 5, 6], 60, None),
        ([3, 3, 3], 86_400, None),
    ],
)
def test_a_leader_is_stuck_that_is_refused_again_and_again_with_one_version(
    tmp_path: Path, versions: list[int], seconds: float, line: int | None
) -> None:
    text = "".join(
        stamped(STALE.format(version), seconds * number, "kafka.cluster.Partition", "INFO")
        for number, version in enumerate(versions)
    )
    run = judged(tmp_path, server=text)
    assert breaks(run) == ({CAN_WRITE: [f"{SERVER}:{line}"]} if line else {})


def test_elections_that_fail_are_counted_with_their_reason_and_are_no_break(tmp_path: Path) -> None:
    change = "initiated state change for partition [t,{}] from OfflinePartition to OnlinePartition failed"
    failed = stamped(f"Controller 1 epoch 2 {change}", 1, level="ERROR")
    why = "kafka.common.NoReplicaOnlineException: No replica for partition [t,{}] is alive. Live brokers are: [Set()]\n"
    lines = "".join(failed.format(one) + why.format(one) + "\tat a.b(C.scala:1)\n" for one in (0, 1, 2))
    run = judged(tmp_path, changes=log(CHANGES, [ACTS.format(1, 2)]) + lines + log(CHANGES, election(1, 2), since=9))
    assert not broken(run)
    notes = "\n".join(run.notes)
    assert "3 elections failed:\n  3 times, from " in notes
    assert "and nothing was elected since for 2 partitions: t-1, t-2" in notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NOTHING_READ),
        ("nothing\nof Kafka\n", NOTHING_READ),
        (stamped("Opening socket", 1, "org.apache.zookeeper.ClientCnxn"), NOTHING_READ),
        (stamped("Controller 1 epoch 3 started to sing", 1), NOTHING_READ),
        (log(REPORTS, ["[Controller 1]: Controller startup complete"]), NONE_ASKED),
    ],
)
def test_nothing_is_green_over_nothing(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "x.log").write_text(text)
    (run,) = judge_logs([tmp_path / "x.log"])
    assert (run.verdict, run.reason) == (Verdict.INCOMPLETE, reason)
    assert len(run.not_asked) == len(CLAIMS)


@pytest.mark.parametrize("odd", ["Controller 1 epoch 2 sings", "21/09/2016 TRACE x\n", "[2016-09-21 13:05\n"])
def test_a_few_lines_among_many_that_are_no_lines_of_a_log_are_not_green(tmp_path: Path, odd: str) -> None:
    few, many = ([ACTS.format(1, 2)] * 2 + [odd] * times for times in (2, 3))
    assert judged(tmp_path / "a", changes=log(CHANGES, few)).verdict is Verdict.HOLDS
    run = judged(tmp_path / "b", changes=log(CHANGES, many))
    assert (run.verdict, run.reason) == (Verdict.INCOMPLETE, MOSTLY_UNKNOWN)


def test_torn_and_unknown_lines_end_nothing(tmp_path: Path) -> None:
    """What comes behind them is read, and they are shown."""
    lines = [ACTS.format(1, 2), "Controller 1 epoch 2 does what nobody knows", "torn\n", "[2016-09-21 13:05\n"]
    illegal = "Controller 1 epoch 2 changed partition [t,0] state from NewPartition to NonExistentPartition"
    run = judged(tmp_path, changes=log(CHANGES, [*lines, illegal]))
    assert breaks(run) == {ROWS: [f"{CHANGES}:5"]}
    notes = "\n".join(run.notes)
    assert "1 line is unknown:" in notes
    assert "2 lines are no log line:" in notes


def test_a_time_that_the_calendar_has_not_is_none_of_a_start_or_of_an_end(tmp_path: Path) -> None:
    odd = starting(1).replace("2016-09-21", "2016-13-21")
    lines = [*obedience(1, 2, 6, 4), *obedience(1, 2, 6, 4, request=2)]
    rolled = {f"{REPORTS}.1": odd + starting(1) + odd, CHANGES: log(CHANGES, lines)}
    (run,) = judge_logs([written(tmp_path, rolled)])
    assert breaks(run) == {}  # the last start that can be told is before all of it, and the log ends there


def test_rolled_files_are_one_log_in_the_order_of_their_times(tmp_path: Path) -> None:
    lines = [*obedience(1, 2, 6, 4), *obedience(1, 2, 6, 4, request=2)]
    files = {
        CHANGES: log(CHANGES, lines[3:], since=100),
        f"{CHANGES}.2016-09-21-13": log(CHANGES, lines[:3]),
        REPORTS: starting(1),
    }
    (run,) = judge_logs([written(tmp_path, files)])
    assert breaks(run) == {HIGHER: [f"{CHANGES}:1"]}
