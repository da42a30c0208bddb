"""The recordings that come with the program: what real clusters of Kafka 0.10.2.2 did, and what each must show.

They are the only truth from outside: where the specification cannot do what Kafka did, the specification is wrong. So
`kcheck verify` judges them. What each must break was written down from its account and from PROTOCOL.md before it was
judged; `shipped/README.md` tells the accounts.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from model_check.judge import Judgement, judge
from model_check.judgement_report import run_of
from model_check.recordings import read
from model_check.results import Comparison, Run
from model_check.verdicts import Verdict, worst
from spec.variants import AS_CODED, show_switches

ARCHIVES: Final = tuple(sorted((Path(__file__).parent / "shipped").glob("*.tar.xz")))

UNINFORMED, CANNOT_LEAD = "eventually_live_replicas_are_informed", "eventually_leaders_can_lead"
ONE_TERM, ONE_CONTROLLER = "one_term_acts_in_an_epoch", "one_controller_acts_in_an_epoch"
STALE_CACHE, LATEST_TERM = "caches_keep_up_with_their_requests", "only_the_latest_term_writes"
IN_ORDER, ORPHANS = "assignments_change_in_order", "eventually_only_assigned_replicas_have_logs"

BROKEN: Final[Mapping[str, frozenset[str]]] = {
    "02-broker-kill-restart": frozenset(),
    "03-controller-kill": frozenset(),
    "10-unclean": frozenset(),
    "12-D1-epoch-write-delayed": frozenset({ONE_TERM}),
    "13-D1-epoch-write-connectionloss": frozenset({ONE_TERM, ONE_CONTROLLER}),
    "33-D54-connectionloss-on-create": frozenset({UNINFORMED, CANNOT_LEAD}),
    "19-D16-leaderless-topic-delete": frozenset({"eventually_deletions_complete"}),
    "20-D22-late-stopreplica": frozenset({
        "in_sync_replicas_are_not_deleted", UNINFORMED, STALE_CACHE,
    }),
    "21-D23-recreated-topic-orphan": frozenset({
        "deleted_topics_are_hosted_nowhere", "eventually_live_replicas_are_informed", "eventually_leaders_can_lead",
        "eventually_only_assigned_replicas_have_logs", "eventually_only_assigned_replicas_lead", STALE_CACHE,
    }),
    "26-D44-delete-during-reassignment": frozenset({
        "busy_topics_are_not_deleted", IN_ORDER, STALE_CACHE, "eventually_reassignments_complete",
    }),
    "27-D45-ineligible-mark-survives": frozenset({
        "only_queued_topics_are_held_back", "dying_topics_get_no_leadership", "eventually_deletions_complete",
    }),
    "28-D46-stale-epoch-answer": frozenset({
        "started_deletions_are_on_their_way", "dying_topics_get_no_leadership",
    }),
    "30-D50-deadlock": frozenset({
        "no_controller_waits_for_itself", "dying_topics_get_no_leadership", "eventually_deletions_complete",
        "eventually_one_working_controller",
    }),
    "32-D53-foreign-removal": frozenset({
        "batches_are_clean", "dead_leaders_are_replaced", UNINFORMED, "who_gave_up_is_not_active", LATEST_TERM,
        "no_failover_fails_on_left_overs", "eventually_one_working_controller",
    }),
    "34-D55-config-lost": frozenset({"topics_have_their_configuration"}),
    "08-delete": frozenset({
        "dying_topics_get_no_leadership", "deleted_replicas_stay_deleted", "deleted_topics_are_hosted_nowhere",
        "busy_topics_are_not_deleted", STALE_CACHE, "eventually_reassignments_complete", ORPHANS,
    }),
    "05-reassign": frozenset({STALE_CACHE}),
    "06-reassign-controller-kill": frozenset({STALE_CACHE, ORPHANS}),
    "14-D2-zombie-assignment-write": frozenset({STALE_CACHE, LATEST_TERM, IN_ORDER, UNINFORMED}),
    "18-D13-context-not-reset": frozenset({STALE_CACHE, IN_ORDER, "old_replicas_go_after_the_new_caught_up"}),
    "23-D38-orphan-after-reassignment": frozenset({STALE_CACHE, ORPHANS}),
    "01-start-create": frozenset(),
    "24-D39-lost-partition": frozenset({STALE_CACHE, IN_ORDER, "partitions_stay"}),
    "07-preferred-auto": frozenset({"rebalance_takes_up_what_can_be_led"}),
    "09-controlled-shutdown": frozenset(),
    "17-D12-bounce-unnoticed": frozenset({UNINFORMED, CANNOT_LEAD}),
    "25-D42-D49-preferred-without-leadership": frozenset({
        "no_failover_fails_on_a_request", "no_failover_fails_on_left_overs", "who_gave_up_is_not_active",
        "eventually_elections_come_to_an_end", "eventually_one_working_controller",
    }),
}  # fmt: skip
"""The claims that every explanation of a recording breaks."""

DEEP: Final = frozenset({
    "08-delete", "32-D53-foreign-removal",
    "19-D16-leaderless-topic-delete", "26-D44-delete-during-reassignment", "27-D45-ineligible-mark-survives",
    "20-D22-late-stopreplica", "21-D23-recreated-topic-orphan", "30-D50-deadlock", "34-D55-config-lost",
    "05-reassign", "06-reassign-controller-kill", "18-D13-context-not-reset", "09-controlled-shutdown",
    "25-D42-D49-preferred-without-leadership", "01-start-create", "24-D39-lost-partition",
})  # fmt: skip
"""Those that are judged in a deep verification only, since each takes some seconds."""


@contextmanager
def unpacked() -> Iterator[Path]:
    """A folder with a folder for each recording, for as long as it is needed."""
    with TemporaryDirectory(prefix="recordings-") as home:
        for file in ARCHIVES:
            with tarfile.open(file) as archive:
                archive.extractall(home, filter="data")
        yield Path(home)


def judged(name: str) -> Run:
    """One of them, judged under AS_CODED, and compared with what it must show."""
    with unpacked() as home:
        recording = read(home / name)
        found = judge(recording, AS_CODED)
        return compared(run_of(recording, found, show_switches(AS_CODED)), found, BROKEN[name])


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
