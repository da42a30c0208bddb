"""What an analysis of the terms finds of a system made for it: what never changes, and what nobody sees."""

from typing import Any

from spec.language.bits import shared
from spec.language.records import Leaf, Shape
from spec.language.rules import Property, TransitionSystem, action, instantiate, leaves, observe, require, when
from spec.language.terms import FLAG, number
from tests.spec.state.influence import Influence

SMALL = number(3)
SHAPE: Shape = {
    **{name: Leaf(SMALL, 1) for name in ("a", "b", "c", "d", "e")}, "none": Leaf(SMALL, 0), "on": Leaf(FLAG, False)
}  # fmt: skip
NEVER_CHANGE = {"none", "on"}


def influence(*bodies: Any, claimed: Any = None, stepped: Any = None, moving: tuple[str, ...] = ()) -> Influence:
    """The analysis of a system with an action for each of these bodies."""
    actions = []
    for number_, body in enumerate(bodies):

        def rule(s: Any, _m: object, body: Any = body, **_parameters: int) -> None:
            """Something happens."""
            body(s)

        actions.append(instantiate(action(actor="somebody", source="nowhere")(rule), SHAPE, None, {"n": number_})[0])
    claims = [] if claimed is None else [Property("state", "always", "It holds.", "", term=claimed)]
    if stepped is not None:
        claims.append(Property("steps", "step", "It holds.", "", terms={one.name: stepped for one in actions}))
    return Influence(TransitionSystem("made", tuple(leaves(SHAPE)), tuple(actions), tuple(claims)), moving)


def test_what_is_handed_round_among_constants_is_constant() -> None:
    def round_(s: Any) -> None:
        s.a, s.b = s.b, s.a

    assert influence(round_).constants == {"a", "b", "c", "d", "e"} | NEVER_CHANGE


def test_what_is_handed_on_from_what_changes_is_not() -> None:
    def counts(s: Any) -> None:
        s.a = s.a.plus(1)

    def hands_on(s: Any) -> None:
        s.c, s.b = s.b, s.a

    assert influence(counts, hands_on).constants == {"d", "e"} | NEVER_CHANGE


def test_what_only_an_action_changes_that_is_never_enabled_is_constant() -> None:
    def never(s: Any) -> None:
        require(s.on)
        s.a = 2

    def or_hidden(s: Any) -> None:
        with when(s.on):
            s.b = 3

    def switches(s: Any) -> None:
        s.on = True

    assert influence(never, or_hidden).constants == {"a", "b", "c", "d", "e"} | NEVER_CHANGE
    assert influence(never, or_hidden, switches).constants == {"c", "d", "e", "none"}


def test_what_is_not_presumed_to_be_constant_is_not() -> None:
    def hands_on(s: Any) -> None:
        s.b = s.a

    assert influence(hands_on, moving=("a",)).constants == {"c", "d", "e"} | NEVER_CHANGE


def counted(s: Any) -> None:
    """Every number goes its way, and a guard asks for one of them."""
    require(s.a < 3)
    s.a, s.b, s.c, s.d = s.b, s.b.plus(1), s.c.plus(1), s.c


def test_what_guards_see_directly_or_by_what_it_becomes() -> None:
    found = influence(counted)
    assert found.seen == {"a", "b"}
    assert found.idle == {"c", "d", "e"} | NEVER_CHANGE


def test_what_a_claim_sees() -> None:
    asked = (SMALL.variable("d") < 3).term
    assert influence(counted, claimed=asked).seen == {"a", "b", "c", "d"}
    assert influence(counted, stepped=asked).seen == {"a", "b", "c", "d"}


def test_what_an_observer_sees() -> None:
    def tells(s: Any) -> None:
        s.c = s.c.plus(1)
        observe("somebody", "tells", value=s.c)

    assert influence(tells).seen == {"c"}


def test_a_side_that_is_never_taken_sees_nothing() -> None:
    def asks(s: Any) -> None:
        s.c, s.e = s.c.plus(1), s.e.plus(1)
        with when(s.on):
            s.a = s.c
        with when(~s.on):
            s.a = s.e
        require(s.a < 3)

    assert influence(asks).seen == {"e"}


def test_of_what_is_decided_otherwise_nothing_is_seen() -> None:
    def asks(s: Any) -> None:
        s.a, s.b = s.a.plus(1), s.b.plus(1)
        require(~s.on | (s.a < 3), shared(s.none, s.b) == 0, ~(s.on & (s.a < 3)))

    assert influence(asks).seen == set()


def test_an_action_that_is_never_enabled_hands_nothing_on() -> None:
    def never(s: Any) -> None:
        require(s.on)
        s.a = s.b

    def counts(s: Any) -> None:
        s.a, s.b = s.a.plus(1), s.b.plus(1)
        observe("somebody", "tells", value=s.a)

    assert influence(never, counts).seen == {"a"}
    assert influence(never, counts, stepped=(SMALL.variable("b") < 3).term).seen == {"a", "b"}
    assert influence(never, stepped=(SMALL.variable("b") < 3).term, moving=("b",)).seen == set()
