"""Two revisions compared, run by run: the specification itself, each system whose terms changed, and the vectors.

Systems come as the manifests have them, the smallest first. Of most the terms are built and found to be the same.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model_check.revisions.asking import Answers, Pair, Stopped, asked
from model_check.revisions.revision import Revision
from model_check.revisions.specification import specification_run, vectors_run
from model_check.revisions.systems import ENGINE, System, Teller, are_alike, compared
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.waiting.progress import bar
from spec.errors import UnknownName

SYSTEMS: Final = "systems"
TEXTS: Final = (".py", ".toml", ".txt", ".json")
"""Files of the specification that may make a difference to a system."""


@dataclass(frozen=True)
class Wanted:
    """What is to be compared, and how far: these scopes, or all that are not deep; so many minutes, so many states."""

    scopes: tuple[str, ...] = ()
    deep: bool = False
    minutes: float = 10
    limit: int | None = None

    def has(self, scope: str, *, deep: bool) -> bool:
        """Whether a scope is asked for."""
        return scope in self.scopes if self.scopes else self.deep or not deep


def compare(before: Revision, after: Revision, wanted: Wanted, stop: Callable[[], bool]) -> Iterator[Run]:
    """The runs, each as soon as it is made; Ctrl-C leaves the rest INCOMPLETE."""
    with asked(before, after, stop) as pair:
        try:
            yield from _runs(pair, wanted)
        except Stopped:
            yield Run(SYSTEMS, "", "", Verdict.INCOMPLETE, f"{INTERRUPTED} before all was compared")
            return
    yield vectors_run(before.folder, after.folder)


def _runs(pair: Pair, wanted: Wanted) -> Iterator[Run]:
    known = pair.ask({"ask": "facts"})
    _refuse_unknown(wanted, known)
    systems, lines = _systems(known)
    yield specification_run(known[0]["facts"], known[1]["facts"], lines)
    chosen = sorted((one for one in systems if wanted.has(one.scope, deep=one.deep)), key=lambda one: one.states)
    yield from Comparison(pair, wanted, chosen, len(systems) - len(chosen)).runs()


def _refuse_unknown(wanted: Wanted, known: Answers) -> None:
    names = {one["scope"] for side in known for one in side["systems"]}
    for scope in wanted.scopes:
        if scope not in names:
            raise UnknownName("scope", scope, sorted(names), listed_by="kcheck show scopes")


def _systems(known: Answers) -> tuple[list[System], list[str]]:
    """The systems that both revisions explore, and a line on each that only one does or that is expected otherwise."""
    before, after = ({(one["scope"], one["variant"]): one for one in side["systems"]} for side in known)
    both = [_system(before[key], after[key]) for key in after if key in before]
    lines = [f"system {' '.join(key)}: added" for key in sorted(after.keys() - before.keys())]
    lines += [f"system {' '.join(key)}: removed" for key in sorted(before.keys() - after.keys())]
    for key in sorted(before.keys() & after.keys()):
        lines += [f"system {' '.join(key)}: expected {one}" for one in _expectations(before[key], after[key])]
    return both, lines


def _expectations(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What the later manifest expects of a system that the earlier one does not."""
    if before["states"] != after["states"]:
        yield f"states were {before['states']:,}; are {after['states']:,}"
    if before["broken"] != after["broken"]:
        old, new = (", ".join(side["broken"]) or "nothing" for side in (before, after))
        yield f"to be broken was {old}; is {new}"


def _system(before: dict[str, Any], after: dict[str, Any]) -> System:
    return System(
        after["scope"], after["variant"], after["deep"], before["goals"] and after["goals"],
        before["states"] + after["states"], frozenset(after["broken"]),
    )  # fmt: skip


@dataclass
class Comparison:
    """The systems, as far as they are compared."""

    pair: Pair
    wanted: Wanted
    systems: Sequence[System]
    left_out: int
    alike: int = 0
    differing: int = 0

    def runs(self) -> Iterator[Run]:
        """A run for each system whose terms differ, and one on all of them."""
        end, teller = time.monotonic() + 60 * self.wanted.minutes, Teller()
        if is_same_text(*(one.folder for one in self.pair.revisions)):
            self.alike, self.left_out = len(self.systems) + self.left_out, 0
        else:
            for one, terms in self._differing():
                self.differing += 1
                if time.monotonic() > end:
                    why = f"its terms differ, and the {self.wanted.minutes:g} minutes were over; name it with --scope"
                    yield Run(ENGINE, one.scope, one.variant, Verdict.INCOMPLETE, why)
                    continue
                with bar(one.title, one.states) as report:
                    found = {"before": 0, "after": 0}

                    def tell(side: str, states: int, depth: int) -> None:
                        found[side] = states  # noqa: B023 - it is called in this turn only
                        report(sum(found.values()), f"{side}: depth {depth}")  # noqa: B023 - as above

                    run = compared(self.pair, one, terms, teller, limit=self.wanted.limit, tell=tell)
                yield run
        yield self._told()

    def _differing(self) -> Iterator[tuple[System, Answers]]:
        """The systems whose terms differ, with a bar while nothing else has one."""
        left = iter(enumerate(self.systems, 1))
        while True:
            with ExitStack() as ending:
                report = ending.enter_context(bar("comparing terms", len(self.systems)))
                for done, one in left:
                    report(done, one.title)
                    terms = self.pair.ask({"ask": "terms", "scope": one.scope, "variant": one.variant})
                    if not are_alike(terms):
                        break
                    self.alike += 1
                else:
                    return
            yield one, terms

    def _told(self) -> Run:
        notes = [f"{counted(self.alike, 'system')} of the same terms, {self.differing} of others"]
        if self.left_out:
            notes.append(f"not looked at: {counted(self.left_out, 'system')} of other scopes; name them with --scope")
        return Run(SYSTEMS, "", "", Verdict.HOLDS, notes=tuple(notes))


def is_same_text(one: Path, other: Path) -> bool:
    """Whether both folders have the same specification, file by file."""
    return _texts(one) == _texts(other)


def _texts(folder: Path) -> dict[str, bytes]:
    files = (file for file in (folder / "spec").rglob("*") if file.suffix in TEXTS and file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
