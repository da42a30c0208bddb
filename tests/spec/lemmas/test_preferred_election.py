"""The lemma about preferred elections: true of all enumerated states, of use, and false without its fixes."""

from collections.abc import Callable, Iterable
from functools import cache

import pytest

from spec.language.rules import Property
from spec.lemmas import lemmas_of
from spec.lemmas.elections import new_controllers_have_no_election_under_way
from spec.model import Model
from spec.scopes import Scope, scope
from spec.variants import AS_CODED, FENCED, Switches
from tests.spec.inductive_steps import Proving, false_in_few, false_somewhere

LEMMA = new_controllers_have_no_election_under_way.name


@cache
def proof() -> Proving:
    return Proving(scope("proof_preferred_election"), FENCED)


def test_it_is_said_only_where_its_fixes_are_on() -> None:
    assert LEMMA in proof().everything()
    assert LEMMA not in Proving(scope("proof_preferred_election"), AS_CODED).everything()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope_name", "search"), [("preferred_election", false_in_few), ("leaderless_election", false_somewhere)]
)
def test_it_holds_in_every_reachable_state(
    scope_name: str, search: Callable[[Scope, Switches, Iterable[Property]], set[str]]
) -> None:
    stated = [one for one in lemmas_of(Model(scope(scope_name), FENCED)) if one.name == LEMMA]
    assert len(stated) == 1
    assert search(scope(scope_name), FENCED, stated) == set()


def test_without_it_a_failover_could_resume_what_nobody_asked_for() -> None:
    assert proof().needs(LEMMA, "read_election_request(c=1)", "no_election_of_an_earlier_term_is_resumed")


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("on_new_session(c=1)", "controllers[1].electing[0]", LEMMA),
        ("write_elected_leader(c=1, p=0)", "zookeeper.state[0].leader", "a_leader_epoch_has_one_leader"),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks)
