"""The recordings that come with the program: what real clusters of Kafka 0.10.2.2 did, and what each must show.

They are the only truth from outside: where the specification cannot do what Kafka did, the specification is wrong. So
`kcheck verify` judges them. What each must break was written down from its account and from PROTOCOL.md before it was
judged; `shipped/README.md` tells the accounts.
"""

import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from model_check.judging.judge import Judgement, judge
from model_check.judging.judgement_report import run_of
from model_check.recordings.reading import read
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from spec.variants import AS_CODED, show_switches

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
ARCHIVES: Final = tuple(sorted(SHIPPED.glob("*.tar.xz")))

UNINFORMED, CANNOT_LEAD = "eventually_live_replicas_are_informed", "eventually_leaders_can_lead"
ONE_TERM, ONE_CONTROLLER = "one_term_acts_in_an_epoch", "one_controller_acts_in_an_epoch"
RAISED_UNTOLD = ("caches_keep_up_with_their_requests", "what_is_told_is_no_older_than_what_was_ordered")
"""D18: the raise of a leader epoch is not in the cache, and UpdateMetadata tells the epoch before it."""
LATEST_TERM = "only_the_latest_term_writes"
IN_ORDER, ORPHANS = "assignments_change_in_order", "eventually_only_assigned_replicas_have_logs"
DEAD_IN_SYNC = "the_dead_are_not_in_sync"

BROKEN: Final[Mapping[str, frozenset[str]]] = {
    "02-broker-kill-restart": frozenset(),
    "03-controller-kill": frozenset({
        DEAD_IN_SYNC,  # D15: rf3-1 and rf3-2 keep broker 1 after the failover of zk 62, until it is back, zk 75
    }),
    "10-unclean": frozenset({
        "isr_is_not_empty",  # D29: the ISR of the unclean topic is [], zk 54, 76, 96
        "leaders_were_in_sync",  # D30: who comes back first leads it, zk 60, 82, 106
    }),
    "12-D1-epoch-write-delayed": frozenset({
        ONE_TERM,
        DEAD_IN_SYNC,  # D15: rf3-1 keeps brokers 1 and 3 after the failover of zk 53; its leader takes 1 out, zk 57
    }),
    "13-D1-epoch-write-connectionloss": frozenset({
        ONE_TERM, ONE_CONTROLLER,
        DEAD_IN_SYNC,  # D15: rf3-2 keeps broker 1 after the failover of zk 62
    }),
    "04-controller-zombie": frozenset({
        DEAD_IN_SYNC,  # D15: rf3-1 and rf3-2 keep broker 1 after the failover of zk 62
    }),
    "15-D3-resign-deletes-foreign-controller": frozenset({
        "controller_znode_is_its_owners",  # D3: broker 3 deletes that of broker 2, zk 56
        "no_failover_fails_on_a_request",  # D42: the request names a leaderless topic, broker-3/controller.log:5
        "resigned_controllers_are_inactive",  # D4: resign() leaves broker 3 active
        "no_failover_fails_on_left_overs",  # D56: what is left ends its next failover, broker-3/controller.log:13
    }),
    "33-D54-connectionloss-on-create": frozenset({UNINFORMED, CANNOT_LEAD}),
    "19-D16-leaderless-topic-delete": frozenset({
        "eventually_deletions_complete",  # D16: nobody deletes what zk 47 asks to, though all brokers are back
    }),
    "20-D22-late-stopreplica": frozenset({
        "in_sync_replicas_are_not_deleted",  # D22: broker 2, in the ISR, at broker-2/state-change.log:35
        UNINFORMED,  # nothing but UpdateMetadata comes to broker 2 after that
        *RAISED_UNTOLD,  # broker-1/state-change.log:32, 61, 88
    }),
    "21-D23-recreated-topic-orphan": frozenset({
        "deleted_topics_are_hosted_nowhere",  # zk 69, and no StopReplica at broker 2, which hosts it
        UNINFORMED,  # D23: epoch 0 is not higher, broker-2/state-change.log:17
        CANNOT_LEAD,  # who ignores that is the leader
        ORPHANS,  # broker 2 has the log, without a topic, from zk 69 to 71
        "eventually_only_assigned_replicas_lead",  # and has led it since broker-2/state-change.log:9
        *RAISED_UNTOLD,  # broker-1/state-change.log:20
    }),
    "26-D44-delete-during-reassignment": frozenset({
        "busy_topics_are_not_deleted",  # D44: t and v go, requested at zk 50 and 79: broker-1/state-change.log:58, 160
        IN_ORDER,  # zk 70: [2,3], as t was created again, becomes [3], which was asked for of the first t
        *RAISED_UNTOLD,  # broker-1/state-change.log:35, 137
        "eventually_reassignments_complete",  # t waits from zk 50 on, v (zk 79) for ever
    }),
    "27-D45-ineligible-mark-survives": frozenset({
        "only_queued_topics_are_held_back",  # D45: held back behind its completion, broker-1/controller.log:114
        "dying_topics_get_no_leadership",  # D57: broker 4 starts, broker-1/state-change.log:129
        "eventually_deletions_complete",  # all live, and it waits from broker-1/controller.log:139 on
    }),
    "28-D46-stale-epoch-answer": frozenset({
        "started_deletions_are_on_their_way",  # D46: refused at broker-3/state-change.log:22, and not sent again
        "dying_topics_get_no_leadership",  # D57: the failover, broker-2/state-change.log:16
    }),
    "30-D50-deadlock": frozenset({
        "no_controller_waits_for_itself",  # D50: the send thread never stops after broker-1/controller.log:86
        "dying_topics_get_no_leadership",  # D57: the next failover, broker-3/state-change.log:19
        "eventually_deletions_complete",  # for 18 s, until it is killed, controller 1 does nothing
        "eventually_one_working_controller",  # nor works
        "eventually_partitions_are_led",  # nor sees topic later, zk 48, of which its successor makes a state, zk 60
    }),
    "32-D53-foreign-removal": frozenset({
        "batches_are_clean",  # D53: UpdateMetadata for t-0 raises, broker-1/controller.log:98
        UNINFORMED, "eventually_live_replicas_are_in_sync",  # D51: so broker 3, just started, is not told what it hosts
        "resigned_controllers_are_inactive",  # D4: zk 85, and broker 1 goes on, zk 109
        "no_failover_fails_on_left_overs",  # D56: zk 88, 91, 94, 123
        "eventually_one_working_controller",  # broker 1 is active beside broker 3
        LATEST_TERM,  # broker 1 deletes notifications in the term of broker 3, zk 114, 117
        "dead_leaders_are_replaced",  # broker 1 finds no broker dead, broker-1/controller.log:223
        "eventually_partitions_are_led",  # somebody deletes the state of t-0, zk 50, and only then the topic, zk 53
    }),
    "34-D55-config-lost": frozenset({
        "topics_have_their_configuration",  # D55: zk 53 deletes what zk 51 wrote
    }),
    "08-delete": frozenset({
        "busy_topics_are_not_deleted",  # D44: d moves (zk 120), and broker-1/state-change.log:437, 465
        "deleted_replicas_stay_deleted",  # D57: d-0 at brokers 1 and 2, broker-1/state-change.log:455, 457
        "deleted_topics_are_hosted_nowhere",  # nobody deletes these again before zk 137, nor later
        ORPHANS,  # so they stay
        "eventually_reassignments_complete",  # only the next controller drops that of d, zk 152
        "dying_topics_get_no_leadership",  # D57: broker-1/state-change.log:310, broker-2/state-change.log:98, 151
        *RAISED_UNTOLD,  # broker-1/state-change.log:382, 394
    }),
    "05-reassign": frozenset({*RAISED_UNTOLD}),
    "06-reassign-controller-kill": frozenset({*RAISED_UNTOLD, ORPHANS}),
    "14-D2-zombie-assignment-write": frozenset({
        *RAISED_UNTOLD, LATEST_TERM, IN_ORDER,
        UNINFORMED, "eventually_live_replicas_are_in_sync",  # at rest, broker-3/state-change.log:37
    }),
    "18-D13-context-not-reset": frozenset({
        *RAISED_UNTOLD, IN_ORDER, "old_replicas_leave_after_new_ones_are_in_sync",
        "failovers_resume_what_is_asked_for",  # D13: the second failover of broker 1 resumes what only its memory has
    }),
    "23-D38-orphan-after-reassignment": frozenset({*RAISED_UNTOLD, ORPHANS}),
    "01-start-create": frozenset(),
    "24-D39-lost-partition": frozenset({*RAISED_UNTOLD, IN_ORDER, "partitions_stay"}),
    "07-preferred-auto": frozenset({
        "rebalance_skips_unelectable_preferred_replicas",
        DEAD_IN_SYNC,  # D15: rf3-1, rf3-2, rf3-4 and rf3-5 keep broker 1 after the failover of zk 105
    }),
    "09-controlled-shutdown": frozenset({
        DEAD_IN_SYNC,  # D15: broker 1 is back in the ISR of rf3-1, zk 128, and gone, 129; the failover leaves it there
    }),
    "17-D12-bounce-unnoticed": frozenset({
        UNINFORMED, CANNOT_LEAD,
        "eventually_isr_changes_are_known",  # broker 3 writes zk 62, 63, and dies, unnoticed, before it announces them
    }),
    "25-D42-D49-preferred-without-leadership": frozenset({
        "no_failover_fails_on_a_request", "no_failover_fails_on_left_overs", "resigned_controllers_are_inactive",
        "eventually_elections_come_to_an_end",
    }),
}  # fmt: skip
"""The claims that every explanation of a recording breaks; of deletions, with the place that shows it (zk: line)."""

POSSIBLY_BROKEN: Final[Mapping[str, frozenset[str]]] = {
    # D15, of the last failover, the end of which no line tells that is read: x-0 keeps broker 2, zk 77.
    "14-D2-zombie-assignment-write": frozenset({DEAD_IN_SYNC}),
    # The same: a-0, d-0 and u-0 keep broker 3, zk 125.
    "32-D53-foreign-removal": frozenset({DEAD_IN_SYNC}),
    # D4: brokers 1 and 2 stay active beside broker 3, which has won, zk 497. Where broker 1 has got no answer to its
    # last delete of /controller, zk 496, it has to repeat that, and the end is no rest.
    "25-D42-D49-preferred-without-leadership": frozenset({"eventually_one_working_controller"}),
    # D22, at the end: broker 2 is alive and assigned, has no replica any more, and the leader takes it out of the ISR.
    "20-D22-late-stopreplica": frozenset({"eventually_live_replicas_are_in_sync"}),
}
"""The claims that only some explanations of a recording break."""

DEEP: Final = frozenset({
    "04-controller-zombie", "08-delete", "32-D53-foreign-removal",
    "19-D16-leaderless-topic-delete", "26-D44-delete-during-reassignment", "27-D45-ineligible-mark-survives",
    "20-D22-late-stopreplica", "21-D23-recreated-topic-orphan", "30-D50-deadlock", "34-D55-config-lost",
    "05-reassign", "06-reassign-controller-kill", "18-D13-context-not-reset", "09-controlled-shutdown",
    "25-D42-D49-preferred-without-leadership", "01-start-create", "24-D39-lost-partition",
})  # fmt: skip
"""Those that are judged in a deep verification only, since each takes some seconds."""


LONG: Final[Mapping[str, frozenset[str]]] = {
    "11a-random": frozenset({
        # D48: t9-2 to [3], leader 2; zk 1479 and 1480 take out 2 and 1, after the election failed at
        # broker-2/state-change.log:10222.
        "old_replicas_go_after_the_leader_moved",
        # From zk 1151: broker 3 leads t6-0, broker-3/state-change.log:1640, and is never told to delete it; broker 1
        # follows in t6-2, broker-1/state-change.log:9916; from zk 1726 t7-1, too.
        "deleted_topics_are_hosted_nowhere",
        "eventually_only_assigned_replicas_have_logs", "eventually_only_assigned_replicas_lead",
        # D44: t0 is gone at zk 335, its request stays until the next controller, 421. Of t0, too, and D57: zk 232, 241.
        "eventually_reassignments_complete",
        "deleted_replicas_stay_deleted", "busy_topics_are_not_deleted",
        "dying_topics_get_no_leadership", "only_queued_topics_are_held_back",
        *RAISED_UNTOLD,  # from zk 105 on
        "leaders_were_in_sync", "isr_is_not_empty",  # D30 and D29, of a topic with unclean election: zk 382, 352
        "dead_leaders_are_replaced",
        # t0-0 has 3 as leader, gone at zk 83 with no controller alive (D15): broker 2 cannot become its follower,
        # broker-2/state-change.log:306, and at zk 109 all is at rest.
        "eventually_live_replicas_are_informed",
        # D13: broker 2 is elected again, and goes on with t2-0, which zk 127 does not ask for any more,
        # broker-2/controller.log:37 and 182.
        "failovers_resume_what_is_asked_for",
        # D63: t7-1 is Offline, broker-2/state-change.log:6163, and may elect uncleanly, zk 249. From zk 767 on it is
        # assigned to broker 2, which lives, and leads only when broker 1 has come, 6 s later, state-change.log:6567.
        "allowed_elections_are_held",
        # D15: t0-2 has [3,1], zk 91, and nobody is registered when broker 1 becomes controller.
        DEAD_IN_SYNC,
    }),
}  # fmt: skip
"""The same of those that take minutes, each in an archive of its own; judged in a deep verification only."""


@contextmanager
def unpacked(name: str = "") -> Iterator[Path]:
    """A folder with a folder for each recording, except the long ones, or for that long one; as long as needed."""
    with TemporaryDirectory(prefix="recordings-") as home:
        for file in archives_of(name):
            unpack(file, Path(home))
        yield Path(home)


def archives_of(name: str) -> tuple[Path, ...]:
    """The archives of which one holds a recording."""
    return (SHIPPED / "long" / f"{name}.tar.xz",) if name in LONG else ARCHIVES


def unpack(file: Path, folder: Path) -> None:
    """Write the files of an archive into a folder; `extractall` has its safe filter from Python 3.11.4 on only."""
    for path, content in packed(file):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def packed(file: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file in an archive."""
    with tarfile.open(file) as archive:
        for member in archive:
            if (stream := archive.extractfile(member)) is not None:
                yield member.name, stream.read()


def judged(name: str, stop: Callable[[], bool] = lambda: False) -> Run:
    """One of them, judged under AS_CODED, and compared with what it must show; where told to `stop`, with none."""
    with unpacked(name) as home:
        recording = read(home / name)
    found = judge(recording, AS_CODED, stop=stop)
    made = run_of(recording, found, show_switches(AS_CODED))
    if stop():
        return replace(made, verdict=Verdict.INCOMPLETE, reason=INTERRUPTED)
    return compared(made, found, {**BROKEN, **LONG}[name])


def compared(run: Run, found: Judgement, expected: frozenset[str]) -> Run:
    """A judgement's run with its comparisons: all is explained, and what was to be broken is, and nothing else."""
    share = f"{found.explained:,} of {found.observations:,} observations"
    whole = f"{found.observations:,} of {found.observations:,} observations"
    unexplained = Verdict.INCOMPLETE if run.verdict is Verdict.INCOMPLETE else Verdict.VIOLATED
    comparisons = [Comparison("explained", whole, share, Verdict.HOLDS if share == whole else unexplained)]
    broken = {one.claim.name for one in found.broken}
    for name in sorted(expected | broken):
        wanted, seen = (Verdict.VIOLATED if name in names else Verdict.HOLDS for names in (expected, broken))
        met = Verdict.HOLDS if wanted is seen else Verdict.VIOLATED
        comparisons.append(Comparison(name, wanted, seen, met, wanted))
    return replace(run, comparisons=tuple(comparisons), verdict=worst(one.verdict for one in comparisons))
