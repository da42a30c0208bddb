"""Records: what a class declares becomes the tree of variables, field by field, where a model keeps it."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from spec.language.records import (
    ALWAYS,
    Choice,
    Each,
    Field,
    Flag,
    Leaf,
    Nested,
    PerScope,
    Record,
    array_of,
    flags,
    names,
    shape_of,
)
from spec.language.terms import FLAG, Kind, number
from spec.language.views import Frame, View, leaves


@dataclass(frozen=True)
class Yard:
    """The model of these tests: how many coops there are, and how many hens are in each."""

    coops: tuple[int, ...] = (1, 2)
    parts: frozenset[str] = field(default_factory=frozenset)
    counts: bool = False


class Weather(enum.Enum):
    """How it is outside."""

    DRY = "one may go out"
    WET = "one stays in"


def has(part: str) -> PerScope[bool]:
    return PerScope(part, lambda m: part in m.parts)


SMALL = number(7)
SIZE: PerScope[Kind] = PerScope("size", lambda m, coop: number(m.coops[coop], "size"), indexed=True)
HENS: PerScope[int] = PerScope("all", lambda m, coop: m.coops[coop], indexed=True)
COOPS: PerScope[Iterable[int]] = PerScope("coop", lambda m: range(len(m.coops)))
OF_COOP: PerScope[Iterable[int]] = PerScope("hen", lambda m, coop: range(m.coops[coop]), indexed=True)
FIRST: PerScope[bool] = PerScope("the first", lambda _, coop: coop == 0, indexed=True)


class Door(Record, kept=has("doors")):
    """What a coop has where doors are a part."""

    opens = Flag("It opens.", initial=True)
    locks = Flag("It locks.", kept=has("locks"))


class Roof(Record):
    """What every coop has."""

    leaks = Flag("It leaks.")


class Coop(Door, Roof):
    """A coop."""

    inside = Field(SIZE, HENS, "How many hens are in.")
    asleep = flags(OF_COOP, "The hen sleeps.")
    painted = Flag("It is painted.", kept=FIRST)


class Farm(Record):
    """Everything."""

    weather = Choice(Weather.WET, "How it is.")
    roof = Nested(Roof, "That of the house.")
    coops = Each(COOPS, Coop, "The coops.")
    fences = Each(COOPS, flags(COOPS), "Between each two.", kept=has("fences") & ~has("doors"))
    eggs = Each(PerScope("day", lambda m: (1, 2) if m.counts else None), Field(SMALL, 3), "Eggs, a day or ever.")


def variables(m: Yard) -> list[str]:
    return [one.name for one in leaves(shape_of(Farm, m))]


def test_fields_become_variables_in_the_order_they_are_declared_those_of_others_first() -> None:
    assert variables(Yard(parts=frozenset({"doors", "locks"}))) == [
        "weather", "roof.leaks",
        "coops[0].opens", "coops[0].locks", "coops[0].leaks", "coops[0].inside", "coops[0].asleep[0]",
        "coops[0].painted",
        "coops[1].opens", "coops[1].locks", "coops[1].leaks", "coops[1].inside", "coops[1].asleep[0]",
        "coops[1].asleep[1]",
        "eggs",
    ]  # fmt: skip


def test_what_a_model_has_no_use_for_is_no_variable() -> None:
    assert not any("opens" in name or "locks" in name for name in variables(Yard(parts=frozenset({"locks"}))))
    fences = [name for name in variables(Yard(parts=frozenset({"fences"}))) if name.startswith("fences")]
    assert fences == ["fences[0][0]", "fences[0][1]", "fences[1][0]", "fences[1][1]"]
    assert not any(name.startswith("fences") for name in variables(Yard(parts=frozenset({"fences", "doors"}))))


def test_an_array_without_indices_is_what_it_has_one_of() -> None:
    assert [name for name in variables(Yard(counts=True)) if name.startswith("eggs")] == ["eggs[1]", "eggs[2]"]
    assert shape_of(Farm, Yard())["eggs"] == Leaf(SMALL, 3)


def test_kinds_and_initial_values_may_go_by_the_index_of_the_array_around() -> None:
    found = {one.name: one for one in leaves(shape_of(Farm, Yard(parts=frozenset({"doors"}))))}
    assert [(found[f"coops[{i}].inside"].kind.maximum, found[f"coops[{i}].inside"].initial) for i in (0, 1)] == [
        (1, 1), (2, 2),
    ]  # fmt: skip
    assert found["coops[1].opens"].kind is FLAG
    assert found["coops[1].opens"].initial == 1
    assert found["weather"].show(found["weather"].initial) == "WET"


def test_a_name_that_two_records_declare_stands_where_it_is_first_kept() -> None:
    class Early(Record, kept=has("early")):
        both = Flag("Early.")
        first = Flag("First.")

    class Late(Record):
        last = Flag("Last.")
        both = Flag("Late.", initial=True)

    class Whole(Early, Late):
        """Both."""

    assert [one.name for one in leaves(shape_of(Whole, Yard()))] == ["last", "both"]
    assert shape_of(Whole, Yard(parts=frozenset({"early"}))) == {
        "both": Leaf(FLAG, True), "first": Leaf(FLAG, False), "last": Leaf(FLAG, False),
    }  # fmt: skip


def test_where_a_field_is_kept_is_said_in_words() -> None:
    found = {name: one.where.text for name, one in (*Coop.declared, ("fences", Farm.fences))}
    assert found == {
        "opens": "doors", "locks": "doors and locks", "leaks": "always", "inside": "always", "asleep": "always",
        "painted": "the first", "fences": "fences and not doors",
    }  # fmt: skip
    either = has("doors") | has("locks")
    assert either.text == "doors or locks"
    assert [either.of(Yard(parts=frozenset(parts)), None) for parts in ((), ("doors",), ("locks",))] == [
        False, True, True,
    ]  # fmt: skip
    assert (ALWAYS & has("doors")).text == "doors"


def test_all_names_of_a_record_are_known_whatever_is_kept() -> None:
    assert names(Coop) == ("opens", "locks", "leaks", "inside", "asleep", "painted")


def test_what_is_not_kept_reads_as_it_is_at_first_whatever_is_assigned() -> None:
    frame = Frame()
    view = View(shape_of(Farm, Yard()), frame)
    view["coops"][1].opens = False
    view["fences"][0][1] = True
    assert view["coops"][1].opens.raw == 1
    assert "opens" not in view["coops"][1]
    assert "inside" in view["coops"][1]
    assert not frame.values
    assert {one.name for one in leaves(shape_of(Farm, Yard()), kept=False)} >= {"coops[1].opens", "fences[0][1]"}


def test_a_view_has_what_the_classes_say() -> None:
    frame = Frame()
    view = View(shape_of(Farm, Yard()), frame)
    array_of(view["coops"][1], "asleep")[0] = True
    assert set(frame.values) == {"coops[1].asleep[0]"}


def test_nobody_makes_a_state_of_the_classes() -> None:
    """The classes have no members of their own: only a view does."""
    with pytest.raises(TypeError, match="not subscriptable"):
        _ = Farm().weather
    with pytest.raises(TypeError, match="does not support item assignment"):
        Farm().weather = Weather.DRY
