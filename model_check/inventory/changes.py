"""What changed between two inventories, in words, for whoever reviews it: thing by thing, fact by fact."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

NOTHING = "nothing"
"""How a fact reads that is not there."""


@dataclass(frozen=True)
class Change:
    """A fact that was added (`before` is None), removed (`after` is None) or changed."""

    name: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """What happened to it."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def about(self) -> str:
        """What the fact is about: `scope tiny`."""
        return self.name.partition(" / ")[0]

    @property
    def aspect(self) -> str:
        """What of that: `verified`; empty where there is nothing to tell apart."""
        return self.name.partition(" / ")[2]

    @property
    def difference(self) -> tuple[str, str]:
        """Before and after, without the parts in which they agree where both are lists of parts."""
        if self.before is None or self.after is None:
            return self.before or NOTHING, self.after or NOTHING
        before, after = (re.split(r"(?<=[,;:]) ", one) for one in (self.before, self.after))
        if len(before) != len(after):
            return self.before, self.after
        differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        olds, news = zip(*differing, strict=True)
        return " ".join(olds).rstrip(",;:"), " ".join(news).rstrip(",;:")


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Every fact that is not the same, by name."""
    names = sorted(before.keys() | after.keys())
    return [Change(one, before.get(one), after.get(one)) for one in names if before.get(one) != after.get(one)]


def in_words(found: Sequence[Change]) -> str:
    """What changed: how much of each kind, and then each fact under what it is about."""
    kinds = [one.kind for one in found]
    counted = [f"{kinds.count(kind)} {kind}" for kind in ("added", "removed", "changed") if kind in kinds]
    return "".join(f"{line}\n" for line in [", ".join(counted) or "nothing changed", *_lines(found)])


def _lines(found: Sequence[Change]) -> Iterator[str]:
    for about, some in groupby(found, lambda one: one.about):
        yield about
        for one in some:
            old, new = one.difference
            told = {"added": new, "removed": old, "changed": f"{old} -> {new}"}[one.kind]
            yield f"  {one.kind}: {f'{one.aspect}: ' if one.aspect else ''}{told}"
