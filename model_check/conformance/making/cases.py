"""A case before it has its id, and how cases become files of vectors.

A case that is there already keeps its id, whatever is made beside it; a new one gets the next number of its group, and
the id of one that is made no more is retired. The change log says what came of it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from model_check.conformance.making.changelog import CHANGELOG, brought_up, ranges
from model_check.conformance.vector import (
    DIALECTS,
    MANIFEST,
    VERSION,
    Dialect,
    Manifest,
    Object,
    Vector,
    Verb,
    content_hash,
    parse_vector,
    read_manifest,
    read_vectors,
)
from model_check.verdicts.whole_files import write_files
from spec.errors import BadInput


@dataclass(frozen=True)
class Case:
    """What a vector says, without its id."""

    verb: Verb
    title: str
    given: Object
    then: list[Object]
    refs: Sequence[str]
    tags: Sequence[str]
    dialects: Sequence[Dialect] = field(default=DIALECTS)

    @property
    def hash(self) -> str:
        """The hash of its content."""
        return content_hash(self.verb, self.given, self.then, self.dialects)


BY_HAND: Final = "case"
"""The group of the scripts for driven controllers that are written by hand, and made at once."""


def driven_cases() -> dict[str, list[Case]]:
    """The cases of driven controllers that come of walks as they stand, by group."""
    found: dict[str, list[Case]] = {}
    for one in read_vectors():
        if one.verb == "control" and one.group != BY_HAND:
            case = Case(one.verb, one.title, one.given, one.then, one.refs, one.tags, one.dialects)
            found.setdefault(one.group, []).append(case)
    return found


def files_of(cases: Mapping[str, Sequence[Case]], known: Iterable[Vector], retired: Iterable[str]) -> dict[str, str]:
    """The text of each file of vectors, by group, and of their manifest."""
    before = list(known)
    ids = {(one.group, one.hash): one.id for one in before}
    used = {*(one.id for one in before), *retired}
    files, kept = {}, set[str]()
    for group, some in cases.items():
        last = max((int(one.rsplit("-", 1)[1]) for one in used if one.split("-")[1] == group), default=0)
        lines = []
        for one in some:
            if (group, one.hash) not in ids:
                last += 1
                ids[group, one.hash] = f"kcs-{group}-{last:04}"
            name = ids[group, one.hash]
            if name in kept:
                raise ValueError(f"two cases of {group} ask the same: {one.title}")
            kept.add(name)
            lines.append(vector_of(name, one).to_line() + "\n")
        files[f"{group}.jsonl"] = "".join(lines)
    summary = {name: _summary(text) for name, text in files.items()}
    manifest = Manifest(VERSION, summary, sorted(used - kept))
    return {**files, MANIFEST: json.dumps(asdict(manifest), indent=1) + "\n"}


def _summary(text: str) -> Object:
    """What the manifest has of a file: how many vectors, which, and the digest by which it is known to be whole."""
    ids = [json.loads(line)["id"] for line in text.splitlines()]
    return {"vectors": len(ids), "ids": [*ranges(ids)], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def vector_of(name: str, one: Case) -> Vector:
    """The vector that a case is under an id."""
    tags = [*one.tags, SEVERAL] if len(one.then) > 1 and SEVERAL not in one.tags else list(one.tags)
    return Vector(name, one.title, list(one.refs), tags, list(one.dialects), one.verb, one.given, one.then, one.hash)


SEVERAL: Final = "several-outcomes"
"""The tag of a vector that allows more than one."""


def made_anew(folder: Path, cases: Mapping[str, Sequence[Case]]) -> dict[str, str]:
    """The text of each file of a folder; NotRisen where they change more than their version says."""
    there, page = (folder / MANIFEST).exists(), folder / CHANGELOG
    known, manifest = (read_vectors(folder), read_manifest(folder)) if there else ([], None)
    files = files_of(cases, known, manifest.retired if manifest is not None else [])
    now = [parse_vector(line, name) for name, text in files.items() if name != MANIFEST for line in text.splitlines()]
    before = page.read_text("utf-8", errors="replace") if page.exists() else ""
    was = manifest.version if manifest is not None else None
    return {**files, CHANGELOG: brought_up(before, VERSION, known, now, was=was)}


def write_vectors(folder: Path, cases: Mapping[str, Sequence[Case]]) -> dict[str, int]:
    """Make the files of a folder anew; how many vectors each group has. BadInput where there can be none."""
    files = made_anew(folder, cases)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error.strerror}") from error
    write_files({folder / name: text for name, text in files.items()})
    return {group: len(some) for group, some in cases.items()}
