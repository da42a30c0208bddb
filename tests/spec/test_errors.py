"""The project's errors: one line each, with their parts, and fit to cross a process."""

import pickle

import pytest

from spec.errors import EnvironmentFailure, IllegalTransition, MalformedInput, NotJson, SpecError, UnknownName, Where

ERRORS = [
    (MalformedInput("/controller", "brokerid", "missing"), "/controller: brokerid: missing"),
    (MalformedInput("line 3", "", "torn"), "line 3: torn"),
    (NotJson("/brokers/topics/t", "", "not JSON"), "/brokers/topics/t: not JSON"),
    (
        UnknownName("scope", "tinny", ["tiny", "small"]),
        "no scope is called 'tinny'; did you mean tiny? (known: tiny, small)",
    ),
    (UnknownName("property", "x", []), "no property is called 'x' (known: none)"),
    (IllegalTransition("NewReplica", "StopReplica", "OnlineReplica"), "StopReplica: no transition from NewReplica to"),
    (EnvironmentFailure("port 2181 is taken", "name another with --port"), "port 2181 is taken; name another"),
]


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_is_one_line_and_survives_pickling(error: SpecError, text: str) -> None:
    assert str(error).startswith(text)
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_many_known_names_are_all_listed_on_lines_of_their_own() -> None:
    known = [f"a-name-{number:03}" for number in range(200)]
    first, *rest = str(UnknownName("scope", "nowhere", known)).removesuffix(")").splitlines()
    assert first == "no scope is called 'nowhere' (known:"
    assert " ".join(line.strip() for line in rest).split(", ") == known
    assert all(line.startswith("  ") and len(line) <= 102 for line in rest)


def test_many_known_names_that_a_command_lists_are_counted() -> None:
    known = [f"a-name-{number:03}" for number in range(200)]
    error = UnknownName("scope", "a-name-9", known, listed_by="kcheck show scopes")
    assert str(error) == (
        "no scope is called 'a-name-9'; did you mean a-name-199? (`kcheck show scopes` lists all 200)"
    )
    assert str(UnknownName("scope", "x", ["tiny"], listed_by="kcheck show scopes")).endswith("(known: tiny)")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own bytes


def test_a_place_names_the_field_as_one_would_write_it() -> None:
    where = Where("/x").key("partitions").item(2).key("replicas").item(0)
    with pytest.raises(MalformedInput, match=r"^/x: partitions\[2\]\.replicas\[0\]: no$"):
        where.refuse("no")
