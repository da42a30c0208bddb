"""Scopes: the manifest's are what it says, and a damaged table is refused by scope, key and what is known."""

from typing import Any

import pytest

from spec.errors import MalformedInput, UnknownName
from spec.manifest import manifest
from spec.scopes import APART, BUDGETS, PARTS, Purgatory, Scope, _read, scope, scopes


def test_the_scopes_from_tiny_to_large_are_there() -> None:
    assert {"tiny", "small", "epochs", "ci", "large"} <= scopes().keys()
    assert list(scopes()) == list(manifest()["scope"])


def test_a_scope_is_what_its_table_says() -> None:
    bounds = {
        "statement": "A try.", "brokers": 3, "controllers": 2, "assigned": [[1, 2], [3, 1]], "topic_of": [0, 1],
        "parts": ["partitions", "creation"], "budgets": {"crashes": 2, "losses": 0}, "unclean": True,
    }  # fmt: skip
    one = _read("try", bounds)
    assert (one.name, one.statement, one.brokers, one.controllers) == ("try", "A try.", 3, 2)
    assert (one.assigned, one.topic_of) == (((1, 2), (3, 1)), (0, 1))
    assert (one.unclean, one.cold) == (True, False)
    assert [one.budget(name) for name in ("crashes", "losses", "expiries")] == [2, 0, 0]
    assert one.features == {"partitions", "creation", "crashes", "unclean"}, "a budget of 0 is no feature"


BARE: dict[str, Any] = {"statement": "A try.", "brokers": 2, "controllers": 1}


@pytest.mark.parametrize(
    ("damage", "field"),
    [
        ({"broker": 3}, "broker"),
        ({"parts": ["partitions", "reassignmint"]}, "reassignmint"),
        ({"budgets": {"crash": 1}}, "crash"),
    ],
)
def test_what_a_scope_does_not_have_is_refused_with_what_it_may_have(damage: dict[str, Any], field: str) -> None:
    with pytest.raises(MalformedInput, match=rf"manifest\.toml scope try: {field}: is not one of ") as caught:
        _read("try", BARE | damage)
    known = {"parts": PARTS, "budgets": BUDGETS}.get(next(iter(damage)), ("brokers", "assigned"))
    assert all(name in str(caught.value) for name in known)


WHOLE = BARE | {"parts": ["partitions"], "assigned": [[1, 2]]}
EDITED = WHOLE | {"parts": ["partitions", "addition"], "edited": [[[2]]], "budgets": {"edits": 1}}


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"brokers": None}, "brokers: is missing"),
        ({"statement": None}, "statement: is missing"),
        ({"brokers": 6}, "brokers: is more than 5, of which all lists can be walked through"),
        ({"controllers": 3}, "controllers: is not from 1 to 2, the number of brokers"),
        ({"controllers": 0}, "controllers: is not from 1 to 2, the number of brokers"),
        ({"assigned": [[1, 3]]}, "assigned: [1, 3] are no distinct brokers from 1 to 2"),
        ({"assigned": [[1, 1]]}, "assigned: [1, 1] are no distinct brokers from 1 to 2"),
        ({"assigned": [[]]}, "assigned: [] are no distinct brokers from 1 to 2"),
        ({"topic_of": [0, 1]}, "topic_of: names 2 topics for 1 partitions"),
        ({"assigned": []}, "assigned: goes with the part partitions"),
        ({"parts": []}, "assigned: goes with the part partitions"),
        ({"edited": [[[1]]], "budgets": {"edits": 1}}, "added: goes, as edited does, with the part addition"),
        (EDITED | {"budgets": {}}, "edited: goes with the budget edits"),
        (EDITED | {"edited": []}, "added: goes, as edited does, with the part addition"),
        (EDITED | {"edited": [[[1], [2]]]}, "edited: [[1], [2]] has no distinct brokers for one topic's AR"),
        (EDITED | {"edited": [[[]]]}, "edited: [[]] has no distinct brokers for one topic's AR"),
        (EDITED | {"edited": [[[3]]]}, "edited: [[3]] has no distinct brokers for one topic's AR"),
        (EDITED | {"edited": [[[2, 2]]]}, "edited: [[2, 2]] has no distinct brokers for one topic's AR"),
    ],
)
def test_a_scope_whose_numbers_do_not_go_together_is_refused(damage: dict[str, Any], complaint: str) -> None:
    given = {key: value for key, value in (WHOLE | damage).items() if value is not None}
    with pytest.raises(MalformedInput) as caught:
        _read("try", given)
    assert str(caught.value).startswith(f"manifest.toml scope try: {complaint}")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"brokers": "2"}, "brokers: is not of type int"),
        ({"controllers": True}, "controllers: is not of type int"),
        ({"cold": 1}, "cold: is not of type bool"),
        ({"parts": "partitions"}, "parts: is no list"),
        ({"assigned": [1, 2]}, "assigned[0]: is no list"),
        ({"assigned": [[1, "2"]]}, "assigned[0][1]: is not of type int"),
        ({"budgets": ["crashes"]}, "budgets: is no table"),
        ({"budgets": {"crashes": True}}, "budgets.crashes: is not of type int"),
        ({"purgatory": 3}, "purgatory: is no table"),
    ],
)
def test_a_bound_of_another_type_is_refused_at_its_place(damage: dict[str, Any], complaint: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        _read("try", WHOLE | damage)
    assert str(caught.value) == f"manifest.toml scope try: {complaint}"


WAITING = {"requests": [[0, 1], [1]], "refused": [[1], []], "partitions": [2, 1]}
ALONE = BARE | {"parts": ["delayed_operations"], "cold": True}


def test_a_purgatory_is_what_its_table_says() -> None:
    one = _read("try", ALONE | {"purgatory": WAITING | {"updaters": 2}})
    assert one.purgatory == Purgatory(((0, 1), (1,)), ((1,), ()), (2, 1), updaters=2, purge_interval=0)


@pytest.mark.parametrize(
    ("bounds", "complaint"),
    [
        (ALONE, "purgatory: goes with the part delayed_operations"),
        (BARE | {"purgatory": WAITING}, "purgatory: goes with the part delayed_operations"),
        (ALONE | {"purgatory": WAITING, "cold": False}, "parts: delayed_operations is a system of its own"),
        (
            ALONE | {"purgatory": WAITING, "parts": ["delayed_operations", "partitions"], "assigned": [[1]]},
            "parts: delayed_operations is a system of its own",
        ),
        (ALONE | {"purgatory": {"requests": [[0]], "refused": [[]]}}, "purgatory.partitions: is missing"),
        (ALONE | {"purgatory": WAITING | {"timers": 1}}, "timers: is not one of requests, refused"),
        (ALONE | {"purgatory": WAITING | {"requests": [[0, 2], [1]]}}, "purgatory.requests: [0, 2] are no distinct"),
        (ALONE | {"purgatory": WAITING | {"requests": [[], [1]]}}, "purgatory.requests: [] are no distinct"),
        (ALONE | {"purgatory": WAITING | {"refused": [[1]]}}, "purgatory.refused: is not, request by request"),
        (ALONE | {"purgatory": WAITING | {"refused": [[1], [0]]}}, "purgatory.refused: is not, request by request"),
    ],
)
def test_a_purgatory_that_cannot_be_is_refused(bounds: dict[str, Any], complaint: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        _read("try", bounds)
    assert str(caught.value).startswith(f"manifest.toml scope try: {complaint}")


def test_an_unknown_scope_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownName, match=r"no scope is called 'tinny'; did you mean tiny\? \(`kcheck show scopes` lists"
    ):
        scope("tinny")


@pytest.mark.parametrize("one", scopes().values(), ids=lambda one: one.name)
def test_a_scope_of_the_manifest_makes_sense(one: Scope) -> None:
    assert one.statement.endswith((".", "?"))
    assert 1 <= one.controllers <= one.brokers
    for replicas in one.assigned:
        assert replicas
        assert len(set(replicas)) == len(replicas)
        assert set(replicas) <= set(range(1, one.brokers + 1))
    assert len(one.topic_of) in {0, len(one.assigned)}
    assert bool(one.assigned) == ("partitions" in one.parts)
    about_partitions = one.parts - {"partitions"} - APART
    assert not about_partitions or "partitions" in one.parts, "every other part is about partitions"


@pytest.mark.parametrize("name", BUDGETS)
def test_every_budget_is_spent_in_some_scope(name: str) -> None:
    assert any(one.budget(name) for one in scopes().values())


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_in_some_scope(name: str) -> None:
    assert any(name in one.parts for one in scopes().values())
