"""The table of what admins ask for goes with the parts, the listeners, the znodes and the actions that it speaks of."""

import pytest

from spec.formats.znodes import PAYLOADS, EmptyPayload
from spec.protocol.admin_requests import ADMIN_REQUESTS, part_of
from spec.scopes import PARTS, scope
from spec.state.listeners import LISTENED
from spec.state.zookeeper import ZooKeeper
from spec.variants import AS_CODED
from tests.spec.stepping import Run

EXAMPLES = {
    "reassignment": ("told_move", {"reassignments": 1, "move_withdrawals": 1}, "(k=0)"),
    "preferred_election": ("early_election", {"elections": 1, "withdrawals": 1}, "(named=1)"),
    "deletion": ("unasked_deletion", {"deletions": 1}, "(t=0)"),
}
"""A scope with the part, what may happen in it, and what is asked for."""

every_part = pytest.mark.parametrize("part", ADMIN_REQUESTS)


def test_a_failover_reads_these_requests_and_no_others() -> None:
    assert {part for part, brings in PARTS.items() if "pending_requests" in brings} == set(ADMIN_REQUESTS)


@every_part
def test_the_part_listens_to_what_the_request_says(part: str) -> None:
    request = ADMIN_REQUESTS[part]
    (listened,) = (one for one in LISTENED.values() if one.content is not None and one.content.stands == request.field)
    assert listened.parts == {part}
    assert str(request.kind).startswith(listened.path)
    assert getattr(ZooKeeper, request.field).meaning.startswith(("RAR, as /admin", "/admin"))
    assert part_of(request.kind) == part


@every_part
def test_what_names_a_topic_says_nothing_else(part: str) -> None:
    request = ADMIN_REQUESTS[part]
    assert (PAYLOADS.get(request.kind, EmptyPayload) is EmptyPayload) == ("{topic}" in str(request.kind))


@every_part
def test_who_asks_fills_the_znode_and_who_withdraws_empties_it(part: str) -> None:
    request, (name, budgets, asked) = ADMIN_REQUESTS[part], EXAMPLES[part]
    for rule in (*request.asked_by, *filter(None, [request.withdrawn_by])):
        assert (rule.parts, rule.actor) == (frozenset({part}), "admin"), rule.name
    run, field = Run(scope(name), AS_CODED, **budgets), f"zookeeper.{request.field}["
    before = {path: value for path, value in run.state.items() if path.startswith(field)}
    run.do(f"{request.asked_by[0].name}{asked}")
    assert any(run.state[path] != value for path, value in before.items())
    if request.withdrawn_by is not None:
        seen = run.do(f"{request.withdrawn_by.name}()")
        assert {path: run.state[path] for path in before} == before
        assert request.rewritten in {None, seen[0][0]}
