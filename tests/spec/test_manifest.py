"""The manifest: what is cut out of it for one scope is what it says of that scope, and a damaged one is refused."""

from importlib.resources import files
from typing import Any

import pytest

from spec import manifest as reading
from spec.errors import MalformedInput
from spec.manifest import SOURCE, manifest_in, read_whole

TEXT = files("spec").joinpath(SOURCE).read_text(encoding="utf-8")

BOTH = "[scope.a.bounds]\nbrokers = 1\n[scope.b.bounds]\nbrokers = 2\n"
ODD = {
    "a scope's tables stand apart": BOTH + "[scope.a.verify]\ndeep = true\n",
    "a comment looks like a head": BOTH.replace("[scope.b", "# [scope.c]\n[scope.b"),
    "a scope is one table": BOTH + "[scope.c]\nbounds = { brokers = 3 }\n",
    "a long text looks like a head": BOTH + "[scope.c.bounds]\nstatement = '''\n[scope.d.bounds]\n'''\n",
    "a list looks like a head": BOTH + "[scope.c.bounds]\nassigned = [\n[1],\n[2]]\n",
    "a head is indented": BOTH + "  [scope.c.bounds]\n",
    "a head has blanks": BOTH + "[ scope . c . bounds ]\n",
    "a name stands between quotes": BOTH + '[scope."c d".bounds]\n',
    "tables are a list": BOTH + "[scope.c.bounds]\n[[scope.c.more]]\n[[scope.a.more]]\n",
    "a key stands before all tables": "scope.c.bounds.brokers = 3\n" + BOTH,
    "lines end as on Windows": BOTH.replace("\n", "\r\n"),
    "a table comes twice": BOTH + "[scope.a.bounds]\nbrokers = 3\n",
    "a table is another's key": BOTH + "[scope.a.bounds.brokers]\n",
    "a value is missing": BOTH + "[scope.c.bounds]\nbrokers = \n",
    "a table is of no scope": BOTH + "[scop.c.bounds]\n",
    "a table has no name": BOTH + "[scope]\nc = 3\n",
    "a scope has no bounds": BOTH + "[scope.c.verify]\ndeep = true\n",
    "bounds are no table": BOTH + "[scope.c]\nbounds = 3\n",
    "a head is not closed": BOTH + "[scope.c.bounds\n",
    "a name is not ASCII": BOTH + "[scope.é.bounds]\n",
}


def told(read: Any, given: Any) -> object:
    """What a way of reading makes of a manifest, every scope of it; or how it refuses it."""
    try:
        found = read(given)
        return list(found["scope"].items()), list(found)
    except MalformedInput as error:
        return str(error)


def test_the_manifest_says_the_same_of_each_scope_as_of_all_at_once() -> None:
    assert told(manifest_in, TEXT.encode()) == told(read_whole, TEXT)


def test_what_a_scope_has_is_read_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = manifest_in(TEXT.encode())["scope"]
    monkeypatch.setattr(reading, "read_whole", None)
    assert found["tiny"]["bounds"]["brokers"] == 3
    assert [name for name, one in found.data.items() if not isinstance(one, str)] == ["tiny"]


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_manifest_says_the_same_of_each_scope_as_of_all_at_once(text: str) -> None:
    assert told(manifest_in, text.encode()) == told(read_whole, text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[scop.tiny.bounds]", "manifest.toml: scop: is no table of the manifest; all are of a scope: scope.NAME"),
        ("deep = true\n[scope.tiny.bounds]", "manifest.toml: deep: is no table of the manifest"),
        ("[scope.tiny.bound]", "manifest.toml: scope.tiny.bounds: is missing, or no table"),
        ("[scope]\ntiny = 3", "manifest.toml: scope.tiny.bounds: is missing, or no table"),
        ("scope = 3", "manifest.toml: scope: is missing, or no table of scopes"),
        ("", "manifest.toml: scope: is missing, or no table of scopes"),
        ("[scope.tiny.bounds]\nbrokers = = 3", "manifest.toml: is no TOML: Invalid value (at line 2"),
        ("[scope.tiny.bounds]\n[scope.tiny.bounds]", "manifest.toml: is no TOML: Cannot declare"),
        ("\udcff", "manifest.toml: is no TOML: 'utf-8' codec can't decode"),
    ],
)
def test_a_manifest_that_is_none_is_refused_in_one_line(text: str, complaint: str) -> None:
    refused = told(manifest_in, text.encode(errors="surrogateescape"))
    assert isinstance(refused, str)
    assert refused.startswith(complaint)
    assert "\n" not in refused
