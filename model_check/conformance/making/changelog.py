"""What came with each version of the vectors, by id: `vectors/CHANGELOG.md`, which is written, and read again.

The author of an adapter sees there what a newer version asks of it. The version has to rise as FORMAT.md says: the
first number when one that passed may fail, which is when the same question has lost a legal outcome, in a dialect in
which it was asked before; the second when ids come or go. A version that has not risen enough is refused.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from model_check.conformance.vector import Vector
from spec.errors import BadInput, MalformedInput

CHANGELOG: Final = "CHANGELOG.md"
HEAD: Final = """# The vectors, version by version

`kcheck vectors` writes this page. *Added* ids are new. *Changed* are those of them that ask what a vector of the last
version asked, in the same dialect, and allow less. *Retired* ids are used no more. The digest is the first 16
digits of the SHA-256 of all the vectors, each as a line `ID HASH`, in ascending order.

Up to 0.3.0 a version grew while it was being written, and some of its ids meant something else at first; each stands
here as it was at last.
"""
KINDS: Final = ("added", "changed", "retired")
RAISE: Final = "raise VERSION in model_check/conformance/vector.py"


class NotRisen(BadInput):
    """The vectors change more than their version says."""


@dataclass(frozen=True)
class Entry:
    """A version: how many vectors it has, their digest, and the ids that it added, changed and retired."""

    version: str
    count: int
    digest: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    retired: tuple[str, ...]

    def to_text(self) -> str:
        """The entry as a section of the page."""
        lines = [f"## {self.version}", "", f"{self.count} vectors, digest `{self.digest}`", ""]
        for kind in KINDS:
            ids = getattr(self, kind)
            told = ", ".join(f"`{one}`" for one in ranges(ids))
            lines.append(f"- {kind} {len(ids)}" + (f": {told}" if ids else ""))
        return "\n".join([*lines, ""])


def entry_of(version: str, before: Sequence[Vector], now: Sequence[Vector]) -> Entry:
    """What a version has that comes after other vectors."""
    old, new = {one.id for one in before}, {one.id for one in now}
    earlier, answers = _answers(before), _answers(now)
    changed = {
        one.id for one in now for key, then in _answers([one]).items() if not earlier.get(key, then) <= answers[key]
    }
    lines = "".join(sorted(f"{one.id} {one.hash}\n" for one in now))
    digest = hashlib.sha256(lines.encode()).hexdigest()[:16]
    return Entry(version, len(now), digest, *(tuple(sorted(one)) for one in (new - old, changed, old - new)))


def _answers(vectors: Iterable[Vector]) -> dict[tuple[str, str, str], set[str]]:
    """The legal outcomes of each question, in each dialect, whichever vectors ask it."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for one in vectors:
        outcomes = {json.dumps(then, sort_keys=True) for then in one.then}
        for dialect in one.dialects:
            found.setdefault((one.verb, json.dumps(one.given, sort_keys=True), dialect), set()).update(outcomes)
    return found


def brought_up(
    page: str, version: str, before: Sequence[Vector], now: Sequence[Vector], *, was: str | None = None
) -> str:
    """The page with the entry of the version that is made; NotRisen where the version ought to be a higher one.

    `before` are the vectors of the version that `was`; the page is empty where there are none yet.
    """
    known = entries(page)
    entry = entry_of(version, before, now)
    _refuse_other_content(before, now)
    _refuse_used_again(entry, known)
    if was is not None:
        _refuse_too_low(entry, was)
    if known and known[0].version == version:
        if known[0].digest != entry.digest:
            told = f"{CHANGELOG}: the digest of {version} is {known[0].digest}, and would be {entry.digest}"
            raise NotRisen(f"{told}; {RAISE}")
        return page
    return "\n".join([HEAD, *(one.to_text() for one in (entry, *known))])


def _refuse_other_content(before: Iterable[Vector], now: Iterable[Vector]) -> None:
    """Refuse an id that means something else than it did."""
    hashes = {one.id: one.hash for one in before}
    for one in now:
        if hashes.get(one.id, one.hash) != one.hash:
            raise NotRisen(f"{one.id} would ask something else than before; an id keeps its content, take a new one")


def _refuse_used_again(entry: Entry, known: Iterable[Entry]) -> None:
    """Refuse an id as new that an earlier version has added."""
    used = {name: one.version for one in known if one.version != entry.version for name in one.added}
    if again := [name for name in entry.added if name in used]:
        raise NotRisen(
            f"{again[0]} would be new, and is of {used[again[0]]}; put the vectors back as they were, and begin anew"
        )


def _refuse_too_low(entry: Entry, was: str) -> None:
    """Refuse a version that has not risen as what came, changed and went asks for."""
    first, second, *_ = _numbers(was)
    needed, why = (0, 0), ""
    if entry.added or entry.retired:
        needed, why = (first, second + 1), f"{(entry.added + entry.retired)[0]} is not in {was}, or is no more"
    if entry.changed:
        needed, why = (first + 1, 0), f"{entry.changed[0]} allows less than the same question did in {was}"
    if _numbers(entry.version)[:2] < needed:
        raise NotRisen(
            f"the vectors are of version {entry.version}, but {why}; {RAISE} to {'.'.join(map(str, needed))}.0"
        )
    if _numbers(entry.version) < _numbers(was):
        raise NotRisen(f"the vectors are of version {entry.version}, and were of {was}, which is higher")


def _numbers(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise MalformedInput(version, "", "is no version; expected three numbers, as in 0.3.0")
    return tuple(map(int, version.split(".")))


# ---------------------------------------------------------------------------------------------------- the page, read


def entries(page: str) -> list[Entry]:
    """The entries of a page, the newest first; MalformedInput names the line that is wrong."""
    found: list[Entry] = []
    for section in page.split("\n## ")[1:]:
        version, *lines = [line for line in section.splitlines() if line]
        head = re.fullmatch(r"(\d+) vectors, digest `([0-9a-f]{16})`", lines[0] if lines else "")
        if head is None or len(lines) != 4:
            raise MalformedInput(
                CHANGELOG, version, "expected its count and digest, and what was added, changed, retired"
            )
        ids = {kind: tuple(_read(version, kind, line)) for kind, line in zip(KINDS, lines[1:], strict=True)}
        found.append(Entry(version, int(head[1]), head[2], **ids))
    return found


def _read(version: str, kind: str, line: str) -> Iterator[str]:
    """The ids that a line names."""
    told = re.fullmatch(rf"- {kind} (\d+)(?:: (.+))?", line)
    if told is None:
        raise MalformedInput(CHANGELOG, version, f"expected a line that begins with - {kind}")
    for one in told[2].split(", ") if told[2] else ():
        named = re.fullmatch(r"`(kcs-[a-z]+-)(\d{4,})(?:\.\.(\d{4,}))?`", one)
        if named is None:
            raise MalformedInput(CHANGELOG, version, f"{one} is no range of ids, as in `kcs-elect-0001..0422`")
        yield from (f"{named[1]}{number:04}" for number in range(int(named[2]), int(named[3] or named[2]) + 1))


def ranges(ids: Iterable[str]) -> Iterator[str]:
    """Ids in ranges, ascending: kcs-elect-0001..0422."""
    apart = sorted((group, int(number)) for _, group, number in (one.split("-") for one in ids))
    for (group, _), run in groupby(enumerate(apart), lambda one: (one[1][0], one[1][1] - one[0])):
        numbers = [number for _, (_, number) in run]
        last = f"..{numbers[-1]:04}" if len(numbers) > 1 else ""
        yield f"kcs-{group}-{numbers[0]:04}{last}"
