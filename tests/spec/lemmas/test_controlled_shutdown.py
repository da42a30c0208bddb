"""Lemmas about controlled shutdowns: true of all enumerated states, each of use; and what is false without fixes."""

from dataclasses import replace
from functools import cache

import pytest

from model_check.explicit_state.explorer import explore
from spec.expectations import plan
from spec.language.rules import Property, claims_of
from spec.lemmas import controlled_shutdown, lemmas_of
from spec.model import Model
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED, FENCED, Switch, Switches, switches_named
from tests.spec.inductive_steps import Proving, false_somewhere
from tests.spec.stepping import Run

ALL = {one.name for one in claims_of(controlled_shutdown)}
ONLY_FIXED = "current_controllers_know_the_topics"
ZNODE = "zookeeper.state[0]"


def lemmas(scope_name: str, variant: str) -> list[Property]:
    return [one for one in lemmas_of(Model(scope(scope_name), switches_named(variant))) if one.name in ALL]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
@pytest.mark.parametrize("scope_name", ["shutdown", "shutdown_zombie"])
def test_every_lemma_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    """As coded zombies move leaders behind the back of who treats a shutdown."""
    stated = lemmas(scope_name, variant)
    assert {one.name for one in stated} == ALL - ({ONLY_FIXED} if variant == "AS_CODED" else set())
    assert false_somewhere(scope(scope_name), switches_named(variant), stated) == set()


@pytest.mark.slow
def test_so_it_does_where_a_broker_leads_one_partition_and_follows_in_another() -> None:
    wider = replace(scope("shutdown"), assigned=((1, 2), (2, 1)), controllers=1, budgets=(("shutdowns", 1),))
    stated = [one for one in lemmas_of(Model(wider, FENCED)) if one.name in ALL]
    assert len(stated) == len(ALL)
    found = explore(replace(system(wider, FENCED), properties=tuple(stated)), expected=100_000)
    assert found.exhausted
    assert found.fired["move_partition(c=1, p=1, r=2)"]
    assert found.fired["write_removal(c=1, p=0, r=2)"]
    assert found.violated == {}


# ------------------------------------------------------------------------------------------------------- what it is for


@cache
def proof() -> Proving:
    return Proving(scope("proof_shutdown"), FENCED)


NEEDED = [
    # Without the lemma, this action could break that.
    (
        "only_active_controllers_handle_shutdowns",
        "move_partition(c=1, p=0, r=1)",
        "only_active_controllers_change_states",
    ),
    ("a_shutdown_is_treated_apart", "write_removal(c=1, p=0, r=1)", "a_shutdown_keeps_a_leader"),
    (ONLY_FIXED, "answer_shutdown(c=1, b=1)", "brokers_shut_down_without_leadership"),
]


@pytest.mark.slow
def test_as_coded_it_is_needed_too_that_a_process_which_is_gone_treats_no_shutdown() -> None:
    """There the treatment outlives the term; a partition that it could move would have the process remember it."""
    as_coded = Proving(scope("proof_shutdown"), AS_CODED)
    lemma, action, _ = NEEDED[0]
    assert as_coded.needs(lemma, action, "a_process_that_is_not_running_remembers_nothing")


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL


@pytest.mark.parametrize(
    ("lemma", "action", "saved"),
    [pytest.param(*one, id=one[0], marks=[] if one[0] == ONLY_FIXED else pytest.mark.slow) for one in NEEDED],
)
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    assert proof().needs(lemma, action, saved)


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("write_elected_leader(c=1, p=0)", "controllers[1].partitions[0].leader_epoch", ONLY_FIXED),
        pytest.param(
            "on_controller_change(c=1)",
            "controllers[1].shutdown_of",
            "only_active_controllers_handle_shutdowns",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks)


# --------------------------------------------------------------------------------------------------- what is not proved


def test_what_is_false_as_coded_is_found_so_in_some_scope_or_here() -> None:
    promised = {one.variant: one.violated for one in plan("proof_shutdown").proofs}
    found = [
        plan(name).exploration("AS_CODED") for name in ("shutdown_zombie", "left_overs", "outlived_term", "epochs")
    ]
    shown = {"a_shutdown_keeps_a_leader"}.union(*(one.violated for one in found if one is not None))
    assert promised["AS_CODED"] <= shown
    assert not promised["FENCED"]


def successor(run: Run) -> None:
    """Broker 1 loses its session, and controller 2 comes to office."""
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")


def test_as_coded_a_zombie_moves_the_leader_to_who_is_then_taken_for_a_follower() -> None:
    bounds = replace(scope("shutdown_zombie"), brokers=3, assigned=((3, 2),))
    run = Run(bounds, AS_CODED, shutdowns=2, expiries=1)
    run.do("stop_broker(b=3)", "request_shutdown(b=3, c=1)", "accept_shutdown(c=1, b=3)")
    run.do("move_partition(c=1, p=0, r=3)")
    successor(run)
    run.do("read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)")
    run.do("read_state(c=2, p=0)", "finish_failover(c=2)", "renew_session(b=1)", "write_elected_leader(c=1, p=0)")
    assert run.leadership(ZNODE) == ("2", "[2]", "1")
    run.do("on_controller_change(c=2)", "stop_broker(b=2)", "request_shutdown(b=2, c=2)", "accept_shutdown(c=2, b=2)")
    run.do("move_partition(c=2, p=0, r=2)", "read_for_removal(c=2, p=0, r=2)")
    assert not run.holds("a_shutdown_keeps_a_leader", "write_removal(c=2, p=0, r=2)")
    run.do("write_removal(c=2, p=0, r=2)")
    assert run.leadership(ZNODE) == ("-1", "[2]", "2")


@pytest.mark.parametrize("switches", [FENCED, FENCED - {Switch.FENCED_READS}], ids=["FENCED", "reads not fenced"])
def test_a_create_without_an_answer_hides_a_leader_from_who_answers_unless_reads_are_fenced(switches: Switches) -> None:
    # Controller 2 creates the state znode and hears nothing. Controller 1, a zombie in its failover, reads it and makes
    # broker 3 lead, which changes the ISR. So controller 2 does not know its own create again (D54), caches nothing,
    # and answers that broker 3 leads nothing.
    bounds = replace(scope("shutdown_zombie"), brokers=3, assigned=((3, 2),), cold=True)
    run = Run(bounds, switches, shutdowns=1, expiries=1, losses=1, shrinks=1)
    run.do("start_process(b=1)", "start_process(b=2)", "start_process(b=3)", "register_broker(b=3)", "elect_read(c=1)")
    run.do("elect_read(c=2)", "elect_create(c=1)", "elect_create(c=2)", "elect_reread(c=2)", "register_broker(b=2)")
    run.do("on_controller_change(c=2)", "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)")
    successor(run)
    run.do("subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)")
    run.do("create_state_unanswered(c=2, p=0)", "renew_session(b=1)", "read_state(c=1, p=0)")
    if switches == FENCED:
        assert (run["controllers[1].active"], run.can("deliver_request(c=1, b=3)")) == ("no", False)
        return
    run.do("deliver_request(c=1, b=3)", "shrink_isr(b=3, p=0, r=2)", "create_state(c=2, p=0)", "finish_failover(c=2)")
    run.do("on_controller_change(c=2)", "stop_broker(b=3)", "request_shutdown(b=3, c=2)", "accept_shutdown(c=2, b=3)")
    run.do("move_partition(c=2, p=0, r=3)")
    assert not run.holds("brokers_shut_down_without_leadership", "answer_shutdown(c=2, b=3)")
    run.do("answer_shutdown(c=2, b=3)")
    assert (run["processes[3].leaving"], run.leadership(ZNODE)) == ("MAY_GO", ("3", "[3]", "0"))
