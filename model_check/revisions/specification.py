"""What two revisions say once for all systems, side by side: what was added, removed and changed; and the vectors.

A vector's id keeps its content for ever, so a new outcome comes as a new id beside one that is used no more. So
vectors are compared by what they ask, too: the same question, in the same dialect, with other legal outcomes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from model_check.inventory.changes import Change, changes
from model_check.revisions.inside.facts import WORDS
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.errors import MalformedInput

SPECIFICATION, VECTORS = "specification", "vectors"
NOTHING: Final = "nothing changed"
SAME_NAMES: Final = f"{NOTHING} of what is named: actions, claims, rows, switches, variants, defects, scopes"
FOLDER: Final = Path("model_check/conformance/vectors")
MOST: Final = 40
"""So many vectors are named; the rest is counted."""

Vectors = Mapping[str, Mapping[str, Any]]


def specification_run(before: Mapping[str, str], after: Mapping[str, str], systems: Iterable[str]) -> Run:
    """The facts that were added, removed or changed, and lines on `systems`, a note each."""
    notes = [*_fact_lines(changes(before, after)), *systems]
    return Run(SPECIFICATION, "", "", Verdict.HOLDS, notes=tuple(notes or [SAME_NAMES]))


def _fact_lines(found: Sequence[Change]) -> Iterator[str]:
    """A line for each thing; what a whole one that came or went has is not told apart."""
    for about, some in groupby(found, lambda one: one.about):
        facts = list(some)
        whole = next((one for one in facts if not one.aspect and one.kind != "changed"), None)
        if whole is not None:
            old, new = whole.difference
            yield f"{about}: {whole.kind}: {new if whole.kind == 'added' else old}"
        else:
            yield from (f"{about}: {_told(one)}" for one in facts)


def _told(one: Change) -> str:
    if one.aspect == WORDS:
        return "its words changed"
    (old, new), what = one.difference, f"{one.aspect} " if one.aspect else ""
    if one.kind == "changed":
        return f"{what}was {old}; is {new}"
    return f"{what}{one.kind}: {new if one.kind == 'added' else old}"


def vectors_run(before: Path, after: Path) -> Run:
    """The vectors that came and went, and those of the same question that has other outcomes now."""
    old, new = (vectors_in(folder / FOLDER) for folder in (before, after))
    other = [one for one in old.keys() & new.keys() if _content(old[one]) != _content(new[one])]
    told = {
        "added": sorted(new.keys() - old.keys()),
        "retired": sorted(old.keys() - new.keys()),
        "other content under the same id": sorted(other),
    }
    notes = [f"{kind} {len(ids):,}: {_named(ids)}" for kind, ids in told.items() if ids]
    moved = [*_other_outcomes(old, new)]
    notes += [f"other outcomes of {counted(len(moved), 'question')}: {_named(moved)}"] if moved else []
    return Run(VECTORS, "", "", Verdict.HOLDS, notes=tuple(notes or [f"{NOTHING}: {counted(len(new), 'vector')}"]))


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST:,} more" if len(names) > MOST else "")


def vectors_in(folder: Path) -> Vectors:
    """All vectors of a folder by id; MalformedInput names a line that is not one."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                one = json.loads(line)
                found[str(one["id"])] = one
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                where = f"{path.name}:{number}"
                raise MalformedInput(where, "", f"is no vector: {type(error).__name__}") from error
    return found


def _content(one: Mapping[str, Any]) -> str:
    """What decides whether a vector passes."""
    return json.dumps([one.get(key) for key in ("verb", "given", "dialects", "then")], sort_keys=True)


def _other_outcomes(before: Vectors, after: Vectors) -> Iterator[str]:
    """The ids that ask the same in the same dialect, and allow something else; those before, and those after."""
    old, new = _answers(before), _answers(after)
    told = dict[str, None]()
    for question in old.keys() & new.keys():
        (ids, outcomes), (others, allowed) = old[question], new[question]
        if outcomes != allowed:
            names = " ".join(sorted(ids)), " ".join(sorted(others))
            told[names[0] if names[0] == names[1] else f"{names[0]} -> {names[1]}"] = None
    yield from sorted(told)


def _answers(vectors: Vectors) -> dict[tuple[str, ...], tuple[set[str], set[str]]]:
    """By verb, question and dialect: which vectors ask it, and all outcomes that are legal."""
    found: dict[tuple[str, ...], tuple[set[str], set[str]]] = {}
    for name, one in vectors.items():
        then = one.get("then") or []
        outcomes = {json.dumps(some, sort_keys=True) for some in (then if isinstance(then, list) else [then])}
        for dialect in one.get("dialects") or [""]:
            key = str(one.get("verb")), json.dumps(one.get("given"), sort_keys=True), str(dialect)
            ids, known = found.setdefault(key, (set(), set()))
            ids.add(name)
            known |= outcomes
    return found
