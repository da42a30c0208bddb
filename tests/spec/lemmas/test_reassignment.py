"""Lemmas about reassignments: true of all enumerated states, each of use; and what a zombie may still do."""

import pytest

from spec.expectations import plan
from spec.language.rules import Property, claims_of
from spec.lemmas import lemmas_of, reassignment
from spec.model import Model
from spec.scopes import Scope, scope
from spec.variants import AS_CODED, FENCED, Switch, Switches, switches_named
from tests.spec.inductive_steps import Proving, false_in_few, false_somewhere, proof_of
from tests.spec.stepping import Run

pytestmark = pytest.mark.xdist_group("lemmas about reassignments")

ALL = {one.name for one in claims_of(reassignment)}
BROKEN = next(one for one in plan("proof_reassignment").proofs if one.variant == "FENCED").violated
FOR_ITS_OWN_SAKE = "completed_reassignments_wrote_the_target"
"""A step towards `completed_means_done`."""


FEW = ("move", "move_crash")
"""Scopes with few states."""


def lemmas(scope_name: str, variant: str) -> list[Property]:
    return [one for one in lemmas_of(Model(scope(scope_name), switches_named(variant))) if one.name in ALL]


@pytest.mark.parametrize(
    ("scope_name", "variant"),
    [
        ("move", "FENCED"),
        pytest.param("move_crash", "FENCED", marks=pytest.mark.slow),
        *(
            pytest.param(name, variant, marks=pytest.mark.slow)
            for name in ("move", "move_crash", "reassignment", "reassignment_zombie", "unborn_reassignment")
            for variant in ("AS_CODED", "FENCED")
            if name not in FEW or variant == "AS_CODED"
        ),
    ],
)
def test_every_lemma_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    stated = lemmas(scope_name, variant)
    assert {one.name for one in stated} == ALL or variant == "AS_CODED"
    search = false_in_few if scope_name in FEW else false_somewhere
    assert search(scope(scope_name), switches_named(variant), stated) == set()


# ------------------------------------------------------------------------------------------------------- what it is for


def proof() -> Proving:
    return proof_of("proof_reassignment", FENCED)


NEEDED = [
    # Without the lemma, this action could break that.
    ("only_active_controllers_reassign", "elect_create(c=1)", "current_controllers_reassign_what_is_requested"),
    ("a_run_has_its_handler", "write_removal(c=1, p=0, r=1)", "current_controllers_reassign_what_is_requested"),
    ("leaving_replicas_are_not_of_the_target", "read_for_removal(c=1, p=0, r=1)", "assigned_replicas_are_not_deleted"),
    ("current_controllers_reassign_what_is_requested", "write_union(c=1, p=0)", "assignments_change_in_order"),
    ("current_controllers_know_the_assignment", "write_union(c=1, p=0)", "assignments_change_in_order"),
    ("an_assignment_is_one_of_three", "write_union(c=1, p=0)", "assignments_change_in_order"),
    ("no_writer_is_ahead_of_zookeeper", "read_for_removal(c=1, p=0, r=1)", "current_controllers_know_the_leader_epoch"),
    (
        "current_controllers_know_the_leader_epoch",
        "read_for_move(c=1, p=0)",
        "after_step_7_the_leader_is_of_the_target",
    ),
    (
        "after_step_7_the_leader_is_of_the_target",
        "write_removal(c=1, p=0, r=1)",
        "old_replicas_go_after_the_leader_moved",
    ),
    (
        "accepted_reassignments_have_leadership",
        "write_target(c=1, p=0)",
        "an_assignment_changes_where_there_is_leadership",
    ),
    (
        "an_assignment_changes_where_there_is_leadership",
        "read_remaining(c=1, p=0)",
        "refused_reassignments_are_not_halfway",
    ),
    ("refused_reassignments_are_not_halfway", "write_remaining(c=1, p=0)", "no_reassignment_ends_halfway"),
]


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL - {FOR_ITS_OWN_SAKE}


@pytest.mark.slow
@pytest.mark.parametrize(("lemma", "action", "saved"), NEEDED, ids=[one[0] for one in NEEDED])
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    assert proof().needs(lemma, action, saved, without=BROKEN)


@pytest.mark.slow
@pytest.mark.parametrize("lemma", ["a_run_has_its_handler", "leaving_replicas_are_not_of_the_target"])
def test_as_coded_these_keep_assigned_replicas_from_being_deleted(lemma: str) -> None:
    (as_coded,) = (one for one in plan("proof_reassignment").proofs if one.variant == "AS_CODED")
    coded, action = Proving(scope("proof_reassignment"), AS_CODED), "read_for_removal(c=1, p=0, r=1)"
    assert coded.needs(lemma, action, "assigned_replicas_are_not_deleted", without=as_coded.violated)


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("write_union(c=1, p=0)", "controllers[1].partitions[0].assigned", "current_controllers_know_the_assignment"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("write_target(c=1, p=0)", "zookeeper.assigned[0]", FOR_ITS_OWN_SAKE),
                (
                    "write_remaining(c=1, p=0)",
                    "controllers[1].reassigned[0]",
                    "current_controllers_reassign_what_is_requested",
                ),
                ("write_remaining(c=1, p=0)", "history.original[0]", "an_assignment_is_one_of_three"),
                (
                    "write_bump(c=1, p=0)",
                    "controllers[1].partitions[0].leader_epoch",
                    "current_controllers_know_the_leader_epoch",
                ),
                ("write_move(c=1, p=0)", "zookeeper.state[0].leader", "after_step_7_the_leader_is_of_the_target"),
                ("on_controller_change(c=1)", "controllers[1].reassigned[0]", "only_active_controllers_reassign"),
            )
        ),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks, without=BROKEN)


# --------------------------------------------------------------------------------------------- what is not to be proved

THREE_IN_A_ROW = Scope(
    name="three reassignments",
    statement="A replica leaves, comes back, and is to leave again.",
    brokers=3,
    controllers=2,
    assigned=((2, 3),),
    requests=(((2,),), ((2, 3),), ((1,),)),
    parts=frozenset({"partitions", "connections", "reassignment"}),
    callback_capacity=12,
    connection_capacity=8,
    versions=31,
)


ORDER = "old_replicas_leave_after_new_ones_are_in_sync"


@pytest.mark.slow
@pytest.mark.parametrize("switches", [FENCED, FENCED - {Switch.FENCED_READS}], ids=["FENCED", "reads not fenced"])
def test_a_zombie_stops_a_replica_that_is_reassigned_again_unless_its_reads_are_fenced(switches: Switches) -> None:
    # Controller 1 is about to take replica 3 out of the ISR, for the first request, when its session ends. Controller 2
    # goes on with that one, and then 3 comes back. Before it may go again, controller 1 finds the znode a newer
    # controller's, gives up the removal, and stops the replica all the same.
    run = Run(THREE_IN_A_ROW, switches, reassignments=3, expiries=1)
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    run.do("read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)", "write_move(c=1, p=0)")
    run.do("expire_session(b=1, lost=0)", "renew_session(b=1)")
    for request in ("request_reassignment(k=1)", "request_reassignment(k=2)"):
        run.drain("c=2", "expand_isr(b=2")
        run.do(request)
    assert (run["zookeeper.assigned[0]"], run["zookeeper.requested[0]"]) == ("[2, 3]", "[1]")
    step = "read_for_removal(c=1, p=0, r=3)"
    assert run.holds(ORDER, step) == (switches == FENCED)
    assert (("queue StopReplica", "3", "0", "0") in run.do(step)) == (switches != FENCED)


def finding_a_broker_back(switches: Switches = FENCED, **faults: int) -> Run:
    """Broker 3 is down when controller 1 loses its session, and has taken leave of the partition. Controller 2 brings
    it back, and is asked to take it away again. Controller 1 is to hear that it is back, too, and reads no state znode.
    """
    run = Run(THREE_IN_A_ROW, switches, reassignments=3, expiries=1, **{"crashes": 1, **faults})
    run.do("request_reassignment(k=0)")
    run.drain("c=1")
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "expire_session(b=1, lost=0)", "renew_session(b=1)")
    run.do("start_process(b=3)", "register_broker(b=3)")
    for request in ("request_reassignment(k=1)", "request_reassignment(k=2)"):
        run.drain("c=2", "expand_isr(b=2")
        run.do(request)
    assert (run["zookeeper.assigned[0]"], run["zookeeper.requested[0]"]) == ("[2, 3]", "[1]")
    assert run["controllers[1].partitions[0].assigned"] == "[2]"
    return run


HEARS = "on_broker_change(c=1)"
DELIVERIES = ("deliver_request(c=1, b=3)", "deliver_deletion(c=1, b=3, p=0)")


@pytest.mark.slow
def test_a_zombie_queues_the_deletion_of_a_stray_by_its_older_assignment_and_the_broker_refuses_it() -> None:
    unfixed = finding_a_broker_back(FENCED - {Switch.DELETE_STRAYS})
    assert unfixed.holds(ORDER, HEARS)
    assert ("queue StopReplica", "3", "0", "1") not in unfixed.do(HEARS)
    run = finding_a_broker_back()
    assert not run.holds(ORDER, HEARS)
    assert ("queue StopReplica", "3", "0", "1") in run.do(HEARS)
    assert [run.do(one) for one in DELIVERIES] == [[("refuse StopReplica", "1", "1")]] * 2
    assert run["logs[3][0]"] == "yes"


STARTS_AGAIN = ("end_orphaned_session(b=3)", "start_process(b=3)", "register_broker(b=3)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "obeys"),
    [
        ((HEARS, "crash(b=3)", *STARTS_AGAIN), False),
        ((HEARS, "crash(b=3)", "start_process_early(b=3)"), True),
        (("crash(b=3)", *STARTS_AGAIN, HEARS), True),
    ],
    ids=["heard of before", "started early", "heard of late"],
)
def test_a_broker_that_starts_again_obeys_it_if_it_is_for_the_registration_that_is_there(
    steps: tuple[str, ...], obeys: bool
) -> None:
    # It has no memory of epochs, and its own controller has not told it one yet.
    run = finding_a_broker_back(crashes=2, early_starts=1)
    run.do(*steps)
    run.do(*DELIVERIES)
    assert (run["zookeeper.state[0].isr"], run["logs[3][0]"]) == ("[2, 3]", "no" if obeys else "yes")
