"""Slips that Kafka does not have, planted one by one: each breaks its claim, and nothing else that held before."""

from dataclasses import replace
from typing import Any

import pytest
import z3

from model_check.explicit_state.explorer import explore
from spec.expectations import plan
from spec.language.broker_lists import Brokers
from spec.language.terms import Value, choose, flag
from spec.model import Model
from spec.protocol import delayed_operations
from spec.protocol.leadership import leader_selectors
from spec.protocol.leadership import partitions as partition_leadership
from spec.protocol.leadership.leader_selectors import ElectionTerms, elect_preferred
from spec.protocol.requests import batch as request_batch
from spec.protocol.requests import connections
from spec.protocol.requests.handling import handle_leader_and_isr, handle_update_metadata
from spec.scopes import Purgatory, Scope, scope
from spec.state.purgatory import named
from spec.system import system
from spec.variants import AS_CODED, FENCED, Switches

WAITING = replace(scope("purgatory_alone"), budgets=(("updates", 1),), purgatory=Purgatory(((0, 1),), ((1,),), (1, 1)))
"""One request waits for topic 0, and could not create topic 1."""


def broken(bounds: Scope, switches: Switches, without: str = "") -> set[str]:
    """The claims and goals that do not hold; without a rule where one is named."""
    one = system(bounds, switches)
    if without:
        never = z3.BoolVal(False)
        actions = (replace(a, guard=never) if a.rule == without else a for a in one.actions)
        one = replace(one, actions=tuple(actions))
    found = explore(one, expected=100_000, graph=True)
    assert found.exhausted
    return found.violated.keys() | {name for name, goal in found.goals.items() if goal.count}


def newly_broken(name: str, without: str = "") -> set[str]:
    """What a scope breaks as coded, less what it breaks without any slip, as `kcheck verify` replays it."""
    expected = plan(name).exploration("AS_CODED")
    assert expected is not None
    return broken(scope(name), AS_CODED, without) - expected.violated.keys()


# ----------------------------------------------------------------------------------------------------------- elections


def elects_alone(brokers: Brokers, assigned: Value, isr: Value, live: Value, cached: Value) -> ElectionTerms:
    """A preferred selector that leaves nobody but the leader in the ISR."""
    election = elect_preferred(brokers, assigned, isr, live, cached)
    return replace(election, isr=brokers.single(election.leader))


def elects_first_in_sync(brokers: Brokers, assigned: Value, isr: Value, live: Value, cached: Value) -> ElectionTerms:
    """A preferred selector that elects the first of the ISR, as it stands in the znode, and not the first of AR."""
    return replace(elect_preferred(brokers, assigned, isr, live, cached), leader=brokers.first(isr))


@pytest.mark.parametrize("slip", [elects_alone, pytest.param(elects_first_in_sync, marks=pytest.mark.slow)])
def test_a_preferred_election_of_another_or_with_another_isr(monkeypatch: pytest.MonkeyPatch, slip: Any) -> None:
    monkeypatch.setattr(leader_selectors, "elect_preferred", slip)
    assert newly_broken("preferred_election") == {"preferred_elections_elect_the_first_in_sync"}


@pytest.mark.slow
def test_a_broker_that_shuts_down_is_elected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_leadership, "live_brokers", lambda s, _m, c: s.controllers[c].live)
    assert newly_broken("shutdown") == {"brokers_shutting_down_are_not_elected"}


@pytest.mark.slow
def test_a_broker_that_may_go_does_not() -> None:
    assert newly_broken("creation_shutdown", without="leave_cluster") == {
        "recoverable_shutdowns_come_to_an_end", "eventually_shutdowns_come_to_an_end",
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------- a broker's fences


@pytest.mark.slow
def test_a_broker_obeys_a_request_of_an_older_controller_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    def obeys(s: Any, m: Model, c: int, b: int, request: Any) -> None:
        broker = s.brokers[b]
        known = broker.controller_epoch
        broker.controller_epoch = 0
        handle_update_metadata(s, m, c, b, request)
        broker.controller_epoch = choose(request.epoch > known, request.epoch, known)

    monkeypatch.setattr(connections, "handle_update_metadata", obeys)
    assert newly_broken("cached_leaderships") == {"brokers_obey_no_older_epoch"}


def test_a_broker_obeys_an_older_leader_epoch_and_the_leader_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgets(s: Any, m: Model, c: int, b: int, request: Any) -> None:
        for p in m.partitions:
            if b in m.assigned(p):
                s.brokers[b].partitions[p].leader_epoch = -1
        handle_leader_and_isr(s, m, c, b, request)

    monkeypatch.setattr(connections, "handle_leader_and_isr", forgets)
    assert newly_broken("tiny") == {
        "brokers_accept_only_higher_leader_epochs", "recoverable_leaders_can_lead", "eventually_leaders_can_lead",
        "recoverable_live_replicas_are_in_sync", "eventually_live_replicas_are_in_sync",
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- the metadata caches

DELETED = replace(scope("deletion_metadata"), controllers=1, budgets=(("deletions", 1),))
"""A topic is deleted, and nothing goes wrong."""
STALE = {"recoverable_deleted_topics_are_cached_nowhere", "eventually_deleted_topics_are_cached_nowhere"}


@pytest.mark.slow
def test_everybody_is_told_who_leads_what_is_to_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leader -2 is not sent."""
    assert not broken(DELETED, AS_CODED)
    monkeypatch.setattr(request_batch, "tells_removal", lambda *_: flag(False))
    assert broken(DELETED, AS_CODED) == {"metadata_reports_partitions_being_deleted", *STALE}


@pytest.mark.slow
def test_a_broker_keeps_what_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leader -2 is sent, and taken for no news."""

    def keeps(s: Any, m: Model, c: int, b: int, request: Any) -> None:
        known = s.brokers[b].partitions[0]
        before = known.cached_epoch
        handle_update_metadata(s, m, c, b, request)
        known.cached_epoch = choose(known.cached_epoch == -1, before, known.cached_epoch)

    monkeypatch.setattr(connections, "handle_update_metadata", keeps)
    assert broken(DELETED, AS_CODED) == {"removed_partitions_leave_metadata_caches", *STALE}


# -------------------------------------------------------------------------------------------------- delayed operations


@pytest.mark.slow
def test_an_error_is_lost_if_who_answers_looks_for_leaders_of_what_could_not_be_created(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not broken(WAITING, FENCED)
    monkeypatch.setattr(delayed_operations, "awaited", named)
    assert broken(WAITING, FENCED) == {"an_error_is_kept"}


def test_a_request_waits_for_ever_if_its_time_is_never_up() -> None:
    assert broken(WAITING, FENCED, without="expire") == {
        "recoverable_every_request_is_answered", "eventually_every_request_is_answered",
    }  # fmt: skip
