"""Every claim is seen to fail somewhere: in an exploration, as a defect, in a run by hand, or by a planted slip."""

import re
from pathlib import Path

import pytest

from spec.defects import DEFECTS
from spec.expectations import plans
from spec.properties import claims

HERE = Path(__file__).parent
WITHOUT_A_LEMMA = "test_without_a_lemma_some_step_could_break_what_it_keeps_with_it"
NO_FIRST_REPLICA = "test_a_preferred_election_of_another_or_with_another_isr"
NOT_TO_ELECT = "test_nothing_is_elected_for_a_topic_that_is_to_be_deleted_or_is_not_known"
KEEPS_QUEUE = "test_nothing_but_an_answer_takes_a_request_and_what_comes_later_stands_behind"
NO_ANSWER = "test_a_request_waits_for_ever_if_its_time_is_never_up"
STUCK = "test_a_broker_obeys_an_older_leader_epoch_and_the_leader_is_stuck"
LOST_ERROR = "test_an_error_is_lost_if_who_answers_looks_for_leaders_of_what_could_not_be_created"

BY_TEST = {
    "claims/test_controller.py": {"epochs_never_go_back": "test_any_other_reset_goes_back"},
    "claims/test_request_batch.py": {
        "requests_wait_where_there_is_a_channel": "test_a_queue_is_of_an_open_channel",
        "requests_of_a_batch_go_in_order": "test_what_is_due_is_the_first_of_its_batch",
        "an_answer_ends_the_first_request": "test_an_answer_ends_one_request_and_no_other",
        "requests_stay_until_they_are_answered": KEEPS_QUEUE,
        "nothing_is_left_in_a_batch": "test_a_state_machine_leaves_nothing_in_its_batch",
    },
    "claims/test_deletion.py": {"no_topic_is_deleted": "test_a_controller_deletes_nothing_where_deletion_is_off"},
    "claims/test_auto_rebalance.py": {
        "rebalance_acts_only_beyond_the_percentage": "test_each_broker_has_a_share_of_its_own",
        "rebalance_elects_live_brokers_one_by_one": (
            "test_one_partition_is_elected_at_a_time_and_to_a_live_broker_that_stays"
        ),
        "rebalance_waits_for_what_is_under_way": ("test_whatever_else_is_under_way_with_any_partition_comes_first"),
        "rebalance_leaves_dying_topics_alone": NOT_TO_ELECT,
    },
    "claims/test_planted_slips.py": {
        "preferred_elections_elect_the_first_in_sync": NO_FIRST_REPLICA,
        "brokers_shutting_down_are_not_elected": "test_a_broker_that_shuts_down_is_elected",
        "recoverable_shutdowns_come_to_an_end": "test_a_broker_that_may_go_does_not",
        "eventually_shutdowns_come_to_an_end": "test_a_broker_that_may_go_does_not",
        "metadata_reports_partitions_being_deleted": "test_everybody_is_told_who_leads_what_is_to_be_deleted",
        "removed_partitions_leave_metadata_caches": "test_a_broker_keeps_what_is_removed",
        "brokers_obey_no_older_epoch": "test_a_broker_obeys_a_request_of_an_older_controller_epoch",
        "brokers_accept_only_higher_leader_epochs": STUCK,
        "an_error_is_kept": LOST_ERROR,
        "recoverable_every_request_is_answered": NO_ANSWER,
        "eventually_every_request_is_answered": NO_ANSWER,
    },
    "protocol/test_delayed_operations.py": {
        "an_operation_completes_once": "test_without_the_compare_and_set_an_operation_completes_twice",
        "on_expiration_runs_once_after_expiry": "test_without_the_compare_and_set_an_operation_completes_twice",
    },
    # From a state that a lemma excludes.
    "lemmas/test_lemmas.py": {"only_documented_transitions": WITHOUT_A_LEMMA},
    "lemmas/test_deletion.py": {"held_back_topics_are_not_deleted": WITHOUT_A_LEMMA},
    "lemmas/test_reassignment.py": {"assigned_replicas_are_not_deleted": WITHOUT_A_LEMMA},
}
"""The test that breaks it, of each claim that no exploration, no defect and no run that a proof names breaks."""


def test_every_claim_is_seen_to_fail_somewhere() -> None:
    found = {row.breaks for row in DEFECTS}
    for one in plans().values():
        found = found.union(*(each.violated for each in one.explorations), *(each.shown for each in one.proofs))
    wanted = {one.name for one in claims() if one.kind != "sometimes"}
    by_test = [name for named in BY_TEST.values() for name in named]
    assert len(set(by_test)) == len(by_test)
    assert set(by_test) == wanted - found


@pytest.mark.parametrize("file", BY_TEST)
def test_the_tests_that_break_them_exist_and_name_them(file: str) -> None:
    text = (HERE / file).read_text(encoding="utf-8")
    for claim, test in BY_TEST[file].items():
        assert f"def {test}(" in text
        assert re.search(rf"\b{claim}\b", text)
