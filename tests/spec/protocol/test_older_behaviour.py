"""What older releases did, led by hand, beside what 0.10.2 does in the same place."""

import pytest

from model_check.checks.defects import halves, watched
from spec.defects import DEFECTS
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.side_by_side import SideBySide
from tests.spec.stepping import Run


def test_every_older_behaviour_is_put_back_by_a_row_and_no_row_fixes_with_one() -> None:
    older = {one for one in Switch if one.reintroduces}
    assert {one for row in DEFECTS for one in row.fix & older} == older
    assert all(row.fix & older <= row.base for row in DEFECTS)


@pytest.mark.parametrize(("switches", "told"), [(AS_CODED, "yes"), (frozenset({Switch.TELL_ONLY_THE_LEADER}), "no")])
def test_of_a_removal_all_are_told_but_before_0_8_2_only_the_leader(switches: frozenset[Switch], told: str) -> None:
    run = Run(scope("three_replicas"), switches, expiries=1)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)", "read_for_removal(c=1, p=0, r=2)")
    run.do("write_removal(c=1, p=0, r=2)")
    assert run["connections[1][1][0].partitions[0].ordered"] == "yes"
    assert run["connections[1][3][0].partitions[0].ordered"] == told


@pytest.mark.parametrize(("switches", "version"), [(AS_CODED, "1"), (frozenset({Switch.COMPARE_NO_CONTENT}), "0")])
def test_a_write_that_is_repeated_is_recognised_since_0_8_2(switches: frozenset[Switch], version: str) -> None:
    run = Run(scope("lost_isr_write"), switches, shrinks=1, losses=1)
    run.do("shrink_isr_unanswered(b=1, p=0, r=2)", "rewrite_isr(b=1, p=0)")
    assert run["brokers[1].partitions[0].version"] == version


def test_brokers_that_are_gone_between_two_reads_are_neither_new_nor_dead() -> None:
    run = Run(scope("three_replicas"), frozenset({Switch.READ_BROKERS_TWICE}), expiries=2)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)")
    assert run["controllers[1].listed"] == "{1,3}"
    run.do("expire_session(b=3, lost=0)", "read_broker_data(c=1)")
    assert (run["controllers[1].live"], run["controllers[1].dead"]) == ("{1}", "{2}")


def test_a_new_broker_that_is_gone_between_two_reads_gets_no_channel() -> None:
    run = Run(scope("three_replicas"), frozenset({Switch.READ_BROKERS_TWICE}), expiries=2)
    run.do("expire_session(b=2, lost=0)")
    run.drain("c=1")
    run.do("renew_session(b=2)", "register_broker(b=2)", "on_broker_change(c=1)", "expire_session(b=2, lost=0)")
    assert ("read /brokers/ids", "{1,2,3}", "{2}", "{}") in run.do("read_broker_data(c=1)")
    assert (run["controllers[1].live"], run["controllers[1].channels"]) == ("{1,3}", "{1,3}")


@pytest.mark.parametrize(("switches", "known"), [(AS_CODED, "{1,2}"), (frozenset({Switch.TELL_ONLY_THE_NEW}), "{2}")])
def test_of_a_start_all_are_told_but_before_0_9_only_the_new(switches: frozenset[Switch], known: str) -> None:
    """Broker 1 has no replicas, whose change would have told broker 2."""
    run = Run(scope("cold_metadata"), switches)
    for step in ("start_process(b=1)", "start_process(b=2)", "register_broker(b=2)", "register_broker(b=1)"):
        run.do(step)
        run.drain("c=1")
    assert (run["brokers[1].alive"], run["brokers[2].alive"]) == ("{1,2}", known)


@pytest.mark.parametrize(("switches", "known"), [(AS_CODED, "{1,2}"), (frozenset({Switch.TELL_ONLY_THE_NEW}), "{}")])
def test_before_0_9_nobody_is_told_who_lives_as_long_as_there_are_no_topics(switches: Switches, known: str) -> None:
    """`updateMetadataRequestMap` has what it sends by partition, so of none nothing is sent; also at the start."""
    both = SideBySide(scope("cached_leaderships"), switches)
    assert both["brokers[2].alive"] == known


@pytest.mark.slow
@pytest.mark.parametrize("name", ["D20"])
def test_a_small_row_is_so_by_the_plain_interpreter(name: str) -> None:
    one = next(one for one in DEFECTS if one.id == name)
    lengths = []
    for half in halves(one):
        found = explore_plainly(watched(system(scope(one.scope), half.switches), one)).violations
        lengths.append(len(found[one.breaks].trace) if one.breaks in found else None)
    assert lengths == [one.first_depth, None]
