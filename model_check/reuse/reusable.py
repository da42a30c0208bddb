"""A check whose result may be used again, and the key under which it is kept: all that the result depends on.

    what is asked      the check's function with its arguments, spelled out
    how                the files of ours that these run, byte by byte
    by what            Python, every library, Java, the machine
    of what            the digests of the system's terms, and the words of its rules and claims
    against what       the scope's bounds, and all that the manifest expects of it; the system as it was accepted
    other data         files that are named: a recording, say

Where a check is about a system, the files that only make terms are not among the sources: their product is. So an edit
of a rule runs again the checks of those systems whose terms it changed. Of any other check the whole manifest and all
files are among what it depends on.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from model_check.inventory.accepted import FILE, accepted
from model_check.inventory.known_terms import KnownTerms, Parts
from model_check.inventory.sources import ROOT, digest_of_files, reached
from model_check.inventory.system_facts import SystemKey
from model_check.reuse.canonical import canonical, modules_in
from model_check.reuse.environment import environment
from model_check.verdicts.verification import Check
from spec.expectations import plan
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope, scopes
from spec.system import is_in_scope, rules

MAKERS: Final = frozenset({"spec.system", "spec.properties", "spec.lemmas"})
"""The modules that make terms of rules, claims and lemmas; they are sources, what they import is not."""

MANIFEST: Final = ROOT / "spec" / "manifest.toml"


@dataclass(frozen=True)
class Reusable(Check):
    """A check that depends on nothing but its function, its arguments, a system or all files, its scope, and `files`.

    With `whole_manifest` it depends on what the manifest says of any scope, else only on what it says of its own.
    """

    system: SystemKey | None = None
    whole_manifest: bool = True
    files: tuple[Path, ...] = ()


def key_of(check: Reusable, terms: Parts | None) -> str:
    """Everything that a check depends on, as text; `terms` are those of its system."""
    return "\n".join(_lines(check, terms))


def _lines(check: Reusable, terms: Parts | None) -> Iterator[str]:
    asked = canonical(check.make)
    yield f"check: {check.identity}"
    yield f"asked: {asked}"
    yield f"sources: {_digest_of(files_of(check))} of {len(files_of(check))} files"
    yield environment()
    if check.system is not None:
        yield f"terms: {canonical(terms)}"
        yield f"words: {_words(check.system)}"
        yield f"accepted: {accepted().get(check.system.name)}"
    if check.whole_manifest:
        yield f"manifest: {_digest(MANIFEST)}, accepted: {_digest(FILE)}"
    elif check.scope in scopes():
        yield f"manifest: {canonical(plan(check.scope))} {canonical(scope(check.scope))}"
    yield from (f"file {path.name}: {_digest(path)}" for path in check.files)


def terms_of(check: Reusable, known: KnownTerms, *, build: bool) -> Parts | None:
    """The terms of a check's system, built if they are not known and may be; None where there are none, or not yet."""
    if check.system is None:
        return None
    return known.found(check.system) if build else known.get(check.system)


def files_of(check: Reusable) -> frozenset[str]:
    """The files of ours that a check runs; of a check about a system, without those that only make terms."""
    return _reached(frozenset(modules_in(check.make)), whole=check.system is None)


@cache
def _reached(modules: frozenset[str], *, whole: bool) -> frozenset[str]:
    return reached(modules, () if whole else MAKERS)


@cache
def _digest_of(files: frozenset[str]) -> str:
    return digest_of_files(files)


@cache
def _words(key: SystemKey) -> str:
    """A digest of what the rules and claims of a system say in words."""
    m = Model(scope(key.scope), key.switches, key.proving)
    said = [f"{one.name} {one.actor} {one.statement} {one.source}" for one in rules() if is_in_scope(one, m)]
    said += [f"{one.name} {one.statement} {one.source}" for one in claims() if m.is_about(one.parts)]
    return hashlib.blake2b("\n".join(said).encode(), digest_size=12).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
