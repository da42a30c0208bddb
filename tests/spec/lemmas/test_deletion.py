"""Lemmas about deletions: true of all enumerated states, each of use; and what a zombie may still do of them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from spec.expectations import plan
from spec.language.rules import claims_of
from spec.lemmas import deleted_topic as deleted_topic_lemmas
from spec.lemmas import deletion as deletion_lemmas
from spec.lemmas import lemmas_of
from spec.model import Model
from spec.scopes import Scope, scope
from spec.variants import AS_CODED, FENCED, Switch, Switches, show_switches, switches_named
from tests.spec.inductive_steps import Proving, false_somewhere
from tests.spec.stepping import Run

ALL = {one.name for module in (deletion_lemmas, deleted_topic_lemmas) for one in claims_of(module)}
ONE_BY_ONE = "a_topic_goes_before_its_configuration"
"""The one about topics that do not go as a whole."""
EVERYWHERE = "only_active_controllers_delete"
"""The one that holds also where topics are created, moved or added to."""
ABOUT_REQUESTS = "deletion_requests_are_meant"
"""The one that speaks of who asked, which few scopes remember."""
PROOFS = {"AS_CODED": "proof_unfenced_deletion", "FENCED": "proof_deletion"}
FALSE = {one.variant: one.violated for name in PROOFS.values() for one in plan(name).proofs}


def names(scope_name: str, variant: str) -> set[str]:
    return {one.name for one in lemmas_of(Model(scope(scope_name), switches_named(variant)))} & ALL


@pytest.mark.parametrize("scope_name", ["recreation", "doomed_reassignment", "addition_deletion"])
def test_where_topics_are_made_or_moved_they_say_next_to_nothing(scope_name: str) -> None:
    assert names(scope_name, "FENCED") == {EVERYWHERE}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
@pytest.mark.parametrize("scope_name", ["deletion", "zombie_deletion"])
def test_every_lemma_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    # All lemmas: those about copies of a state znode say something else where that may go.
    within, switches = scope(scope_name), switches_named(variant)
    assert names(scope_name, "FENCED") == ALL - {ABOUT_REQUESTS, ONE_BY_ONE}
    assert false_somewhere(within, switches, lemmas_of(Model(within, switches))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("faults", [{"expiries": 1}, {"crashes": 1, "stray_deletions": 1}], ids=str)
def test_every_lemma_holds_of_two_topics(faults: Mapping[str, int]) -> None:
    budgets = tuple({"deletions": 2, **faults}.items())
    small = replace(scope("proof_deletion"), brokers=2, assigned=((1,), (2,)), cold=False, budgets=budgets)
    within = replace(small, callback_capacity=8, connection_capacity=3)
    stated = lemmas_of(Model(within, FENCED))
    assert {one.name for one in stated} >= ALL - {ONE_BY_ONE}
    assert false_somewhere(within, FENCED, stated) == set()


# ------------------------------------------------------------------------------------------------------- what it is for


@cache
def proof(variant: str = "FENCED") -> Proving:
    return Proving(scope(PROOFS[variant]), switches_named(variant))


NEEDED = [
    # Without the lemma, this action could break that.
    ("only_active_controllers_delete", "delete_topic(c=1, t=0)", "one_controller_acts_in_an_epoch"),
    ("new_controllers_have_nothing_to_delete", "finish_failover(c=1)", "started_deletions_have_a_stop_replica_waiting"),
    ("a_batch_is_as_far_as_its_stage", "on_replica_deleted(c=1, b=2, p=0)", "no_leader_and_isr_behind_a_deletion"),
    ("batches_wait_only_where_there_is_a_channel", "create_state(c=1, p=0)", "no_leader_and_isr_behind_a_deletion"),
    ("no_leader_and_isr_behind_a_deletion", "deliver_request(c=1, b=1)", "deleted_replicas_stay_deleted"),
    ("only_known_topics_are_handled", "read_for_removal(c=1, p=0, r=1)", "only_documented_transitions"),
    ("deleted_replicas_are_of_queued_topics", "read_for_removal(c=1, p=0, r=1)", "held_back_topics_are_not_deleted"),
    ("queued_topics_get_no_leader", "read_for_election(c=1, p=0)", "dying_topics_get_no_leadership"),
    ("no_topic_is_new", "delete_state(c=1, p=0)", "a_state_that_was_deleted_stays_so"),
    ("deletion_requests_are_meant", "delete_topic(c=1, t=0)", "topics_are_deleted_on_request"),
    (ONE_BY_ONE, "delete_configuration(c=1, t=0)", "topics_have_their_configuration"),
    ("a_topic_goes_as_a_whole", "delete_configuration(c=1, t=0)", "topics_have_their_configuration"),
    ("current_controllers_know_no_topic_that_is_gone", "create_state(c=1, p=0)", "nothing_of_a_deleted_topic_is_left"),
    ("current_controllers_delete_what_is_requested", "delete_topic(c=1, t=0)", "deletion_threads_live"),
    ("a_state_that_was_deleted_stays_so", "create_state(c=1, p=0)", "a_leader_epoch_has_one_leader"),
    ("unknown_topics_are_forgotten", "delete_queued_topic(c=1, t=0)", "replicas_are_in_known_states"),
    ("started_deletions_have_a_stop_replica_waiting", "create_state(c=1, p=0)", "started_deletions_are_on_their_way"),
]


FOLLOWS_FROM = {"only_active_controllers_delete": {"new_controllers_have_nothing_to_delete"}}
"""Lemmas that with all fixes say what another does, too: that is left out with them."""


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL


@pytest.mark.slow
@pytest.mark.parametrize(("lemma", "action", "saved"), NEEDED, ids=[one[0] for one in NEEDED])
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    variant = "AS_CODED" if lemma == ONE_BY_ONE else "FENCED"
    without = {*FALSE[variant], *FOLLOWS_FROM.get(lemma, ())}
    assert proof(variant).needs(lemma, action, saved, without=without)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("delete_topic(c=1, t=0)", "controllers[1].at", "only_active_controllers_delete"),
        ("on_new_session(c=1)", "controllers[1].queued[0]", "new_controllers_have_nothing_to_delete"),
        ("deliver_request(c=1, b=1)", "connections[1][1][0].partitions[0].ordered", "a_batch_is_as_far_as_its_stage"),
        ("on_broker_change(c=1)", "connections[1][1][0].stage", "batches_wait_only_where_there_is_a_channel"),
        ("on_replica_deleted(c=1, b=1, p=0)", "connections[1][1][0].delete[0]", "no_leader_and_isr_behind_a_deletion"),
        ("write_removal(c=1, p=0, r=1)", "controllers[1].partitions[0].visiting", "only_known_topics_are_handled"),
        ("delete_queued_topic(c=1, t=0)", "controllers[1].turns[0]", "deleted_replicas_are_of_queued_topics"),
        ("read_deletions(c=1)", "controllers[1].doomed[0]", "deleted_replicas_are_of_queued_topics"),
        ("read_topics(c=1)", "controllers[1].topics[0]", "no_topic_is_new"),
        ("request_deletion(t=0)", "history.asked[0]", "deletion_requests_are_meant"),
        ("delete_topic(c=1, t=0)", "zookeeper.topics[0]", ONE_BY_ONE),
        ("delete_topic(c=1, t=0)", "zookeeper.configurations[0]", "a_topic_goes_as_a_whole"),
        ("delete_topic(c=1, t=0)", "controllers[1].topics[0]", "current_controllers_know_no_topic_that_is_gone"),
        ("delete_state(c=1, p=0)", "zookeeper.state[0].version", "current_controllers_delete_what_is_requested"),
        ("read_deletions(c=1)", "controllers[1].queued[0]", "a_state_that_was_deleted_stays_so"),
        ("on_topic_change(c=1)", "controllers[1].partitions[0].leader_epoch", "unknown_topics_are_forgotten"),
        (
            "read_for_removal(c=1, p=0, r=1)",
            "connections[1][1][0].delete[0]",
            "started_deletions_have_a_stop_replica_waiting",
        ),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    variant = "AS_CODED" if breaks == ONE_BY_ONE else "FENCED"
    assert proof(variant).breaks_without_update(action, forgets, breaks, without=FALSE[variant])


# --------------------------------------------------------------------------------------------- what is not to be proved

HOSTED_NOWHERE = "deleted_topics_are_hosted_nowhere"

REMEMBERING = FENCED - {Switch.FORGET_THE_VANISHED}
"""Every fix but the one by which a controller forgets what it knew of a topic that vanished."""

TWO_TOPICS = Scope(
    name="two deletions",
    statement="The controller has deleted one topic, and not yet heard of it, when it loses its session over another.",
    brokers=3,
    controllers=2,
    assigned=((3,), (2, 3)),
    topic_of=(0, 1),
    parts=frozenset({"partitions", "connections", "deletion"}),
    callback_capacity=12,
    connection_capacity=6,
    versions=15,
)


def deleting_two(switches: Switches = FENCED, **budgets: int) -> Run:
    """Controller 1 has deleted topic 0, which it has still to hear of; both replicas of topic 1 are being deleted."""
    run = Run(TWO_TOPICS, switches, deletions=2, expiries=1, **budgets)
    run.do("request_deletion(t=0)", "request_deletion(t=1)", "on_deletion_change(c=1)")
    run.drain("delete_queued_topic(c=1", "removal(c=1")
    run.do("deliver_request(c=1, b=3)", "deliver_deletion(c=1, b=3, p=0)", "on_replica_deleted(c=1, b=3, p=0)")
    run.drain(*(f"delete_{one}(c=1" for one in ("queued_topic", "state", "topic", "configuration", "request")))
    assert (run["zookeeper.topics[0]"], run["controllers[1].callbacks[0]"]) == ("no", "TOPICS")
    assert {run[f"controllers[1].partitions[1].replicas[{r}]"] for r in (2, 3)} == {"DELETION_STARTED"}
    return run


def succeed(run: Run) -> None:
    """Controller 1 loses its session; its successor deletes topic 1, too, and controller 1 hears that it is gone."""
    run.do("expire_session(b=1, lost=0)", "renew_session(b=1)")
    run.drain("c=2")
    assert (run["zookeeper.controller"], run["zookeeper.topics[1]"]) == ("2", "no")
    run.do("on_topic_change(c=1)")


@pytest.mark.slow
@pytest.mark.parametrize("switches", [AS_CODED, REMEMBERING, FENCED], ids=show_switches)
def test_a_zombie_completes_the_deletion_of_a_topic_that_it_finds_gone(switches: Switches) -> None:
    # It knows no replicas of a topic that is gone, so all of them are deleted; what it has not forgotten stays.
    run = deleting_two(switches)
    run.do("deliver_request(c=1, b=2)", "deliver_deletion(c=1, b=2, p=1)", "on_replica_deleted(c=1, b=2, p=1)")
    succeed(run)
    assert run.holds("replicas_are_in_known_states")
    run.do("delete_queued_topic(c=1, t=1)")
    forgets = switches is FENCED
    left = "NON_EXISTENT" if forgets else "DELETION_STARTED"
    assert (run["controllers[1].queued[1]"], run["controllers[1].partitions[1].replicas[3]"]) == ("no", left)
    assert run.holds("replicas_are_in_known_states") == forgets


@pytest.mark.slow
@pytest.mark.parametrize("switches", [REMEMBERING, FENCED], ids=show_switches)
def test_a_zombie_forgets_a_deletion_that_died_with_its_broker_only_with_the_replica(switches: Switches) -> None:
    run = deleting_two(switches, crashes=1)
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "start_process(b=3)", "register_broker(b=3)")
    succeed(run)
    run.do("on_deletion_change(c=1)")
    assert run.holds("started_deletions_are_on_their_way")
    run.do("on_broker_change(c=1)")
    assert run.holds("started_deletions_are_on_their_way") == (switches is FENCED)


@pytest.mark.slow
def test_a_broker_that_starts_early_obeys_a_zombie_whatever_is_fenced() -> None:
    # It has no memory of epochs, and is still registered as the one that the zombie's request is for.
    run = Run(TWO_TOPICS, FENCED, deletions=1, expiries=1, crashes=2, early_starts=1)
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "start_process(b=3)", "register_broker(b=3)")
    run.drain("on_broker_change(c=1", "election(c=1", "elected_leader(c=1", "removal(c=1")
    assert run["connections[1][3][0].partitions[0].ordered"] == "yes"
    run.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "request_deletion(t=0)")
    run.drain("c=2")
    assert (run["zookeeper.topics[0]"], run["zookeeper.deletions[0]"], run["logs[3][0]"]) == ("no", "no", "no")
    run.do("crash(b=3)", "start_process_early(b=3)")
    assert run.holds(HOSTED_NOWHERE)
    run.do("deliver_request(c=1, b=3)")
    assert not run.holds(HOSTED_NOWHERE)
    run.do("end_orphaned_session(b=3)", "register_broker(b=3)")
    assert run.holds(HOSTED_NOWHERE)  # its controller has not heard of its start
    run.drain("c=2")
    assert (run.holds(HOSTED_NOWHERE), run["logs[3][0]"]) == (False, "yes")  # and has nothing to say to it


@pytest.mark.slow
@pytest.mark.parametrize("is_known", [False, True])
def test_a_broker_that_starts_obeys_a_zombie_that_reads_of_it_late(*, is_known: bool) -> None:
    # Its controller sends nothing of a topic that is gone, and what it sends of another may come later.
    run = Run(TWO_TOPICS, FENCED, deletions=1, expiries=1, crashes=2)
    run.do("crash(b=3)", "end_orphaned_session(b=3)")
    run.drain("on_broker_change(c=1", "election(c=1", "elected_leader(c=1", "removal(c=1", "deliver_request(c=1, b=2")
    run.do("start_process(b=3)", "register_broker(b=3)")
    assert run["controllers[1].callbacks[0]"] == "BROKERS"
    run.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "request_deletion(t=1)")
    run.drain("c=2")
    assert (run["zookeeper.topics[1]"], run["zookeeper.deletions[1]"], run["logs[3][1]"]) == ("no", "no", "no")
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "start_process(b=3)", "register_broker(b=3)")
    if is_known:
        run.drain("on_broker_change(c=2", "election(c=2", "removal(c=2")
    run.do("on_broker_change(c=1)", "deliver_request(c=1, b=3)")
    assert (run.holds(HOSTED_NOWHERE), run["logs[3][1]"]) == (not is_known, "yes")
    run.drain("c=2")
    assert (run.holds(HOSTED_NOWHERE), run["logs[3][1]"]) == (False, "yes")
