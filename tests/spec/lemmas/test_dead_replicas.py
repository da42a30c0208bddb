"""The lemma about failovers that take dead replicas Offline: true and of use; and who is taken for in sync."""

from dataclasses import replace

import pytest

from spec.language.rules import claims_of
from spec.lemmas import dead_replicas, lemmas_of
from spec.model import Model
from spec.scopes import Scope, scope
from spec.variants import AS_CODED, FENCED, Switch, Switches
from tests.spec.inductive_steps import Proving, false_somewhere
from tests.spec.stepping import Run

LEMMA = next(claims_of(dead_replicas)).name
DEAD = {"the_dead_are_not_in_sync"}


@pytest.mark.slow
def test_the_lemma_holds_in_every_reachable_state_where_the_fix_is_on() -> None:
    stated = [one for one in lemmas_of(Model(scope("dead_replica"), FENCED)) if one.name == LEMMA]
    assert len(stated) == 1
    assert false_somewhere(scope("dead_replica"), FENCED, stated) == set()
    assert LEMMA not in {one.name for one in lemmas_of(Model(scope("dead_replica"), AS_CODED))}


@pytest.mark.slow
def test_without_the_lemma_the_partition_machine_could_start_from_any_state() -> None:
    proof = Proving(scope("proof_dead_replicas"), FENCED)
    assert proof.needs(LEMMA, "read_for_removal(c=1, p=0, r=1)", "only_documented_transitions", without=DEAD)


@pytest.mark.slow
def test_a_resignation_that_forgets_to_clear_the_partitions_is_found() -> None:
    proof = Proving(scope("proof_dead_replicas"), FENCED)
    assert proof.breaks_without_update("on_new_session(c=1)", "controllers[1].partitions[0].state", LEMMA, without=DEAD)


# --------------------------------------------------------------------------------------------- what is not to be proved

WITHIN = Scope(
    name="dead replicas",
    statement="A replica's broker dies, and the controller's session ends before it takes note.",
    brokers=3,
    controllers=2,
    assigned=((2, 3),),
    parts=frozenset({"partitions", "connections", "dead_replicas"}),
    callback_capacity=12,
    connection_capacity=8,
)


CLAIM = "the_dead_are_not_in_sync"


@pytest.mark.slow
@pytest.mark.parametrize("switches", [FENCED, FENCED - {Switch.FENCED_READS}], ids=["FENCED", "reads not fenced"])
def test_a_zombie_rests_with_a_dead_member_in_its_isr_unless_its_reads_are_fenced(switches: Switches) -> None:
    # Controller 2 has taken replica 3 out of the ISR when controller 1 reads the znode to do the same: a newer
    # controller's, so it gives up and writes nothing. Only now it comes to hear that its session is a new one.
    run = Run(WITHIN, switches, crashes=1, expiries=1)
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "expire_session(b=1, lost=0)")
    run.drain("(c=2")
    run.do("renew_session(b=1)", "on_broker_change(c=1)")
    assert run.holds(CLAIM)
    run.do("read_for_removal(c=1, p=0, r=3)")
    assert run.leadership("zookeeper.state[0]") == ("2", "[2]", "1")
    assert run.can("on_new_session(c=1)")
    assert run["controllers[1].active"] == ("no" if switches == FENCED else "yes")
    assert run.holds(CLAIM) == (switches == FENCED)


@pytest.mark.slow
def test_a_follower_without_a_session_comes_back_into_the_isr_whatever_is_fixed() -> None:
    # Replica 3 is not in the ISR when its session ends, so its removal writes nothing, and raises no leader epoch. It
    # fetches on, and its leader takes it in. With the next removal the controller reads that, and rests.
    bounds = replace(WITHIN, assigned=((1, 2, 3),))
    run = Run(bounds, FENCED, crashes=1, expiries=1, shrinks=1)
    run.do("shrink_isr(b=1, p=0, r=3)", "expire_session(b=3, lost=0)", "on_broker_change(c=1)")
    run.do("read_for_removal(c=1, p=0, r=3)")
    run.drain("deliver_request(c=1")
    run.do("expand_isr(b=1, p=0, r=3)", "crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    assert run.holds(CLAIM)
    run.do("read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    assert (run["controllers[1].live"], run["controllers[1].partitions[0].isr"]) == ("{1}", "[1, 3]")
    assert not run.holds(CLAIM)
