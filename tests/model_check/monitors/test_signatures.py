"""Rows are given for their signatures only: each claim is VIOLATED without one, even if all rows of 0.10.2 are excused.

Each pair of stories breaks the same claim. In the first that happens which brings a known defect about; in the second
it does not, as in an engineer's own build of 0.10.2 that has a defect of its own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from model_check.verdicts.verdict import Verdict
from spec.formats.error_codes import ErrorCode
from tests.model_check.monitors import bounce_stories, edit_stories, signature_stories
from tests.model_check.monitors.stories import AS_CODED_ROWS, begun, born, breaks, deleted, failed_over, moved

PAIRS: Final[tuple[tuple[str, str, Callable[..., None], str], ...]] = (
    ("failovers_come_to_their_end", "D56", signature_stories.gives_up, "again"),
    ("failovers_come_to_their_end", "D42", signature_stories.elections_fail, "unled"),
    ("failovers_come_to_their_end", "D61", signature_stories.prefers_nobody, "is_left"),
    ("controller_znode_is_its_owners", "D3", signature_stories.foreign_delete, "was"),
    ("who_acts_has_raised_the_epoch", "D1", signature_stories.borrowed, "refused"),
    ("one_term_acts_in_an_epoch", "D1", signature_stories.borrowed, "refused"),
    ("isr_is_within_assigned", "D19", signature_stories.out_of_assignment, "zombie"),
    ("isr_is_within_assigned", "S6", signature_stories.taken_in_again, "zombie"),
    ("leaders_are_assigned", "D19", signature_stories.out_of_assignment, "zombie"),
    ("assignments_shrink_after_the_new_caught_up", "D48", signature_stories.shrinks, "dead"),
    ("assignments_shrink_after_the_new_caught_up", "D61", signature_stories.shrinks_to, "nobody"),
    ("isr_is_within_assigned", "D61", signature_stories.assigned_to, "nobody"),
    ("no_reassignment_ends_halfway", "D41", signature_stories.gives_a_move_up, "zombie"),
    ("no_reassignment_ends_halfway", "D53", signature_stories.drops_a_move, "foreign"),
    ("no_reassignment_ends_halfway", "D59", signature_stories.carried_on, "removed"),
    ("assignments_change_in_order", "D59", signature_stories.carried_on, "removed"),
    ("partitions_stay", "D39", signature_stories.loses_a_partition, "added"),
    ("in_sync_replicas_are_not_deleted", "D22", signature_stories.stops, "late"),
    ("nothing_of_a_deleted_topic_is_left", "D52", signature_stories.revived, "others"),
    ("assignments_change_in_order", "D2-assignment", signature_stories.goes_on, "taken"),
    ("assignments_change_in_order", "D2-assignment", signature_stories.writes_what_it_knew, "zombie"),
    ("assignments_change_in_order", "D13", signature_stories.reapplied, "again"),
    ("eventually_elections_come_to_an_end", "D49", signature_stories.stuck_election, "unled"),
    ("eventually_leaders_can_lead", "D51", signature_stories.dead_leader, "raises"),
    ("eventually_leaders_can_lead", "D48", signature_stories.no_leader, "moving"),
    ("eventually_live_replicas_are_informed", "D5", signature_stories.unread, "after"),
    ("eventually_live_replicas_are_informed", "D73", edit_stories.edited, "by_hand"),
    ("eventually_live_replicas_are_informed", "D73", edit_stories.edited_back, "added"),
    ("eventually_live_replicas_are_informed", "D73", edit_stories.edited_and_moved, "unheard"),
    ("topics_go_after_their_replicas", "D73", edit_stories.edited_and_deleted, "unheard"),
    ("assignments_change_in_order", "D73-move", edit_stories.undoes_an_edit, "unheard"),
    ("assignments_change_in_order", "D73-move", edit_stories.moves_back, "unheard"),
    ("eventually_live_replicas_are_informed", "D54", signature_stories.unheard_creation, "repeated"),
    ("eventually_live_replicas_are_informed", "D12", bounce_stories.unheard_start, "unnoticed"),
    ("eventually_live_brokers_know_the_leaders", "D12", bounce_stories.unheard_return, "unnoticed"),
    ("eventually_live_brokers_know_the_leaders", "D12", bounce_stories.away, "soon"),
    ("eventually_live_brokers_know_the_leaders", "D12", bounce_stories.away, "stopped"),
    ("eventually_live_replicas_are_informed", "D12", bounce_stories.away, "busy"),
    ("eventually_live_replicas_are_informed", "D12", bounce_stories.away_at_rest, "restless"),
    ("eventually_live_replicas_are_informed", "D12", bounce_stories.away_once_settled, "busy"),
    ("eventually_live_replicas_are_informed", "D18", signature_stories.unheard_raise, "away"),
    ("eventually_only_assigned_replicas_have_logs", "D47", signature_stories.left_log, "gone"),
    ("eventually_only_assigned_replicas_have_logs", "D47", signature_stories.left_by_a_term, "ended"),
    ("eventually_only_assigned_replicas_have_logs", "D2-assignment", signature_stories.taken_back, "zombie"),
    ("eventually_only_assigned_replicas_have_logs", "D72-move", signature_stories.undeleted_move, "failed"),
    ("eventually_deletions_complete", "D72", signature_stories.undeleted, "failed"),
    ("eventually_reassignments_complete", "D18-stuck", signature_stories.unfinished, "back"),
    ("eventually_reassignments_complete", "D44", signature_stories.nowhere, "deletes"),
    ("eventually_live_brokers_know_the_leaders", "D18", signature_stories.untold_metadata, "bump"),
    ("what_is_told_was_written", "S4", signature_stories.told_in_vain, "refused"),
    ("busy_topics_are_not_deleted", "D44", signature_stories.held_back, "asked_amid"),
    ("eventually_partitions_are_led", "D17-unseen", signature_stories.unseen, "amid"),
    ("deletions_end_with_their_request", "D70", signature_stories.half_deleted, "lost"),
    ("eventually_partitions_are_led", "D70", signature_stories.half_deleted, "lost"),
)
NAMES = [f"{claim}-{row}-{condition}" for claim, row, _, condition in PAIRS]


@pytest.mark.parametrize(("claim", "row", "tell", "condition"), PAIRS, ids=NAMES)
def test_a_row_is_given_for_its_signature(
    tmp_path: Path, claim: str, row: str, tell: Callable[..., None], condition: str
) -> None:
    story = begun()
    tell(story, **{condition: True})
    told = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), claim)
    assert told
    assert all(one.endswith(f"(as in the known defect {row})") for one in told)


@pytest.mark.parametrize(("claim", "row", "tell", "condition"), PAIRS, ids=NAMES)
def test_no_row_excuses_what_has_no_signature(
    tmp_path: Path, claim: str, row: str, tell: Callable[..., None], condition: str
) -> None:
    story = begun()
    tell(story, **{condition: False})
    run = story.checked(tmp_path, excused=AS_CODED_ROWS)
    told = breaks(run, claim)
    assert any("known defect" not in one for one in told), row
    assert run.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("what", ["starts", "is told again", "comes into office"])
def test_a_failed_deletion_excuses_only_who_waits_for_a_start(tmp_path: Path, what: str) -> None:
    """D72: the topic waits until a broker with a replica starts, or another controller comes; that one goes on."""
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    story.state(1, -1, 1, (3,))
    for broker in (2, 3):
        story.stop(broker, failed=broker == 2)
    if what == "starts":
        signature_stories.restarted(story, 2)
    if what == "is told again":
        story.stop(2)
    if what == "comes into office":
        failed_over(story)
    story.rest()
    told = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "eventually_deletions_complete")
    assert told
    assert "D72" not in "".join(told)


def test_what_a_zombie_left_outside_stays_its_own_whoever_writes_later(tmp_path: Path) -> None:
    """D19: an admin writes the same AR once more, and the leader its ISR; nobody takes broker 2 out of that."""
    story = begun()
    signature_stories.out_of_assignment(story, zombie=True)
    story.assign(99, 3)
    story.state(2, 2, 0, (3, 2))
    told = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "isr_is_within_assigned")
    assert len(told) == 2
    assert all(one.endswith("(as in the known defect D19)") for one in told)


def test_who_comes_into_the_isr_later_is_not_left_there_by_a_zombie(tmp_path: Path) -> None:
    """D19 needs one who was in the ISR when he was taken out of AR: broker 2 was not, and is added (D20)."""
    story = begun()
    signature_stories.back(story)
    story.state(2, 3, 1, (3,), term=2)
    story.assign(11, 3)
    story.state(3, 3, 1, (3, 2), term=2)
    (told,) = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "isr_is_within_assigned")
    assert "D19" not in told


def test_who_has_read_what_a_zombie_wrote_deletes_what_it_takes_away(tmp_path: Path) -> None:
    """D2-assignment is of a successor that does not know: broker 3 is elected later, and moves the topic by request."""
    story = begun()
    signature_stories.back(story)
    story.assign(11, 2, 3, 1)
    story.end(2)
    story.elect(3, 3)
    signature_stories.returned(story, 2)
    story.order(1, 3, 1, (3,), version=1, term=3, controller=3)
    story.move(2, 3)
    story.assign(3, 2, 3)
    story.delete(3, signature_stories.MOVES)
    story.rest()
    told = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "eventually_only_assigned_replicas_have_logs")
    assert told
    assert "D2-assignment" not in "".join(told)


def test_another_answer_is_no_failed_deletion(tmp_path: Path) -> None:
    story = begun()
    moved(story)
    story.wire[2] = story.wire[2][:-4] + story.wire[2][-2:]
    story.stop(2, failed=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    story.rest()
    run = story.checked(tmp_path, excused=AS_CODED_ROWS)
    assert "D72" not in "".join(breaks(run, "eventually_only_assigned_replicas_have_logs"))


def test_a_topic_that_was_removed_by_hand_in_an_earlier_term_excuses_no_move_to_the_dead(tmp_path: Path) -> None:
    story = begun()
    born(story, "u")
    deleted(story, "u", session=99)
    failed_over(story)
    story.move(1)
    story.assign(2, 1, 2, 3)
    story.delete(2, signature_stories.MOVES)
    (told,) = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "no_reassignment_ends_halfway")
    assert told.endswith("(as in the known defect D14)")


def test_what_a_successor_does_not_tell_is_not_for_its_cache(tmp_path: Path) -> None:
    story = begun()
    story.end(3)
    story.state(1, 2, 1, (2, 3))
    failed_over(story)
    story.order(2, 2, 1, (2, 3), version=1, term=2, controller=2)
    signature_stories.returned(story, 3)
    story.rest()
    told = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "eventually_live_replicas_are_informed")
    assert not any("known defect" in one for one in told)


def test_a_move_that_a_zombie_gives_up_is_d41_also_where_its_target_is_dead(tmp_path: Path) -> None:
    story = begun()
    story.move(1, 3)
    story.assign(1, 1, 2, 3)
    signature_stories.back(story)
    story.end(3)
    story.delete(11, signature_stories.MOVES)
    (told,) = breaks(story.checked(tmp_path, excused=AS_CODED_ROWS), "no_reassignment_ends_halfway")
    assert told.endswith("(as in the known defect D41)")


def test_a_claim_that_is_broken_by_the_deletion_of_a_topic_that_waits_for_nothing_has_no_row(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    story.rest()
    assert story.checked(tmp_path, excused=AS_CODED_ROWS).verdict is Verdict.VIOLATED
