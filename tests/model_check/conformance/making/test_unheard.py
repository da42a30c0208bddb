"""Walks that are changed: of the request that ends them only the end of a session tells."""

from dataclasses import replace

from model_check.conformance.making.stages import Script
from model_check.conformance.making.unheard import unheard
from model_check.conformance.making.walks import Coming, Turn

STARTS = Turn(("start_process(b=1)",), (), ([],), (), (), ())
ASKS: dict[str, object] = {"create": "/admin/preferred_replica_election", "data": {"version": 1, "partitions": []}}
DELETES: dict[str, object] = {"delete": "/admin/preferred_replica_election"}
REQUEST = Turn(("request_election(named=1)",), (ASKS,), ([DELETES],), (), (), ())


def test_the_session_ends_before_the_request_and_the_registration_brings_what_the_watch_brought() -> None:
    (script,) = unheard([Script((STARTS, REQUEST), frozenset())])
    begins, ends, goes_on = script.turns
    assert begins is STARTS
    assert [next(iter(one)) for one in ends.items] == ["end_session", "create", "create", "renew_session"]
    assert ends.items[1]["data"]["brokerid"] == 1
    assert ends.items[2] is ASKS
    assert ends.orders == ([],)
    assert (goes_on.items, goes_on.orders) == (({"register": 1},), REQUEST.orders)


def test_only_a_request_for_elections_that_nothing_comes_amid_is_changed() -> None:
    amid = replace(REQUEST, coming=Coming(("delete", "/admin/preferred_replica_election")))
    twice = replace(REQUEST, first=REQUEST.first * 2)
    scripts = [Script((STARTS, one), frozenset()) for one in (amid, twice, STARTS)]
    assert [*unheard([*scripts, Script((REQUEST, STARTS), frozenset())])] == []
