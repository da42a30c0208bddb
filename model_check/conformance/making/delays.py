"""Operations that wait in a purgatory: which thread completes them, which finds them expired, and what stays on the
lists.

Expected is what PROTOCOL.md section 11 says, step by step, in one thread: an operation is tried, watched under each of
its keys, tried once more, and armed; a check walks a list, drops what is completed and tries the rest; the clock ends
the waiting of what is due; then the lists are purged, if more operations than the limit are guessed to be completed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object, since
from spec.formats.kafka_types import V0100

SOURCES: Final = ["PROTOCOL.md section 11", "DelayedOperationPurgatory"]
USUAL: Final = 1000
PENDING, COMPLETED, EXPIRED = "pending", "completed", "expired"


def watch(name: str, *keys: str, timeout: int = 100, holds: bool = False) -> Object:
    """`tryCompleteElseWatch` of a new operation."""
    return {"do": "watch", "operation": name, "keys": [*keys], "timeout": timeout, "holds": holds}


def holds(name: str, *, now: bool = True) -> Object:
    """From now on the condition of an operation holds, or does not."""
    return {"do": "set", "operation": name, "holds": now}


def check(key: str) -> Object:
    """`checkAndComplete` of a key."""
    return {"do": "check", "key": key}


def complete(name: str) -> Object:
    """`forceComplete` of an operation."""
    return {"do": "complete", "operation": name}


def advance(by: int) -> Object:
    """So many milliseconds later the reaper advances the clock, and purges."""
    return {"do": "advance", "by": by}


A, AB = watch("p", "a"), watch("p", "a", "b")
STORIES: Final[dict[str, list[Object]]] = {
    "one whose condition holds is not watched": [watch("p", "a", "b", holds=True)],
    "one waits under a key": [A],
    "one waits under two keys": [AB],
    "one waits under one key twice": [watch("p", "a", "a"), holds("p"), check("a")],
    "a check whose condition does not hold": [A, check("a")],
    "a check of a key under which nobody waits": [A, holds("p"), check("b")],
    "a check whose condition holds": [A, holds("p"), check("a")],
    "a second check finds nothing": [A, holds("p"), check("a"), check("a")],
    "the condition holds, and nobody checks": [A, holds("p")],
    "the condition held, and holds no more": [A, holds("p"), holds("p", now=False), check("a")],
    "a check leaves it on the list of its other key": [AB, holds("p"), check("a")],
    "a check of its other key drops it": [AB, holds("p"), check("a"), check("b")],
    "two under a key, and both conditions hold": [A, watch("q", "a"), holds("p"), holds("q"), check("a")],
    "two under a key, and one condition holds": [A, watch("q", "a"), holds("q"), check("a")],
    "two under other keys": [A, watch("q", "b"), holds("p"), holds("q"), check("b")],
    "a new one whose condition holds completes no other": [A, holds("p"), watch("q", "a", holds=True)],
    "a millisecond before its time": [A, advance(99)],
    "at its time": [A, advance(100)],
    "in two steps": [A, advance(60), advance(40)],
    "long after its time": [A, advance(100_000)],
    "its time is up, though its condition holds": [A, holds("p"), advance(100)],
    "an expired one stays on its list until a check": [A, advance(100), check("a")],
    "an expired one is completed by no check": [A, advance(100), holds("p"), check("a")],
    "a completed one does not expire": [A, holds("p"), check("a"), advance(200)],
    "one that came later expires later": [A, advance(50), watch("q", "a"), advance(50)],
    "the one of the shorter time": [watch("p", "a", timeout=200), watch("q", "a", timeout=50), advance(50)],
    "both at once": [A, watch("q", "b", timeout=70), advance(100)],
    "it is completed by force": [A, complete("p")],
    "by force, and once more": [A, complete("p"), complete("p")],
    "by force, and a check drops it": [AB, complete("p"), check("a")],
    "by force, and its time passes": [A, complete("p"), advance(100)],
    "by force after its time": [A, advance(100), complete("p")],
    "by force, of one that was never watched": [watch("p", "a", holds=True), complete("p")],
}
PURGES: Final[dict[str, tuple[int, list[Object]]]] = {
    "as many completed as the limit": (1, [AB, complete("p"), advance(0)]),
    "more completed than the limit": (1, [AB, watch("q", "a"), complete("p"), complete("q"), advance(0)]),
    "limit 0": (0, [AB, watch("q", "a"), complete("p"), advance(0)]),
    "a purge counts anew": (1, [
        AB, watch("q", "a"), complete("p"), complete("q"), advance(0), watch("r", "a"), complete("r"), advance(0),
    ]),
    "what a check has dropped counts as well": (0, [A, watch("q", "b", "c"), holds("p"), check("a"), advance(0)]),
    "what was never watched does not count": (0, [watch("p", "a", holds=True), AB | {"operation": "q"}, advance(0)]),
    "what expires as the lists are purged": (0, [AB, advance(100)]),
}  # fmt: skip


def delay_cases() -> Iterator[Case]:
    """The stories, then those in which lists are purged."""
    for words, steps in STORIES.items():
        yield _case(words, USUAL, steps)
    for words, (limit, steps) in PURGES.items():
        yield _case(f"purge: {words}", limit, steps)


def _case(words: str, limit: int, steps: Sequence[Object]) -> Case:
    then = delay_outcomes(limit, steps)
    given: Object = {"purge_interval": limit, "steps": [*steps]}
    return Case("delay", f"Purgatory: {words}", given, then, SOURCES, ["purgatory"], since(V0100))


def delay_outcomes(limit: int, steps: Sequence[Object]) -> list[Object]:
    """What the steps may come to: what expires does so before the lists are purged, or after."""
    early, late = (_outcome(limit, steps, is_late=is_late) for is_late in (False, True))
    return [early] if early == late else [early, late]


@dataclass
class _Waiting:
    """An operation: where it is, when its time is up, and whether its timer is armed."""

    holds: bool
    due: int
    state: str = PENDING
    is_armed: bool = False

    def end(self, state: str) -> bool:
        """Complete it, as the first one who does."""
        if self.state != PENDING:
            return False
        self.state, self.is_armed = state, False
        return True


class _Purgatory:
    """The lists in their order, the clock, and the number of operations that are guessed to be watched.

    `is_late`: what expires is carried out by another thread, after the lists are purged.
    """

    def __init__(self, limit: int, *, is_late: bool) -> None:
        self.limit, self.is_late, self.now, self.guessed = limit, is_late, 0, 0
        self.known, self.lists = dict[str, _Waiting](), dict[str, list[str]]()

    def watch(self, step: Object) -> bool:
        name = step["operation"]
        one = self.known[name] = _Waiting(step["holds"], self.now + step["timeout"])
        if one.holds:
            return one.end(COMPLETED)
        for key in step["keys"]:
            self.lists.setdefault(key, []).append(name)
        self.guessed += 1
        one.is_armed = True
        return False

    def set(self, step: Object) -> None:
        self.known[step["operation"]].holds = step["holds"]

    def check(self, step: Object) -> int:
        names = self.lists.get(step["key"], [])
        done = [name for name in names if self.known[name].holds and self.known[name].end(COMPLETED)]
        self.lists[step["key"]] = self._pending(names)
        return len(done)

    def complete(self, step: Object) -> bool:
        return self.known[step["operation"]].end(COMPLETED)

    def advance(self, step: Object) -> list[str]:
        self.now += step["by"]
        due = [name for name, one in self.known.items() if one.is_armed and one.due <= self.now]
        for name in due:
            self.known[name].is_armed = False
        if not self.is_late:
            self._expire(due)
        if self.guessed - self.delayed > self.limit:
            self.guessed = self.delayed
            self.lists = {key: self._pending(names) for key, names in self.lists.items()}
        self._expire(due)
        return sorted(due)

    def _expire(self, due: Sequence[str]) -> None:
        for name in due:
            self.known[name].end(EXPIRED)

    def _pending(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if self.known[name].state == PENDING]

    @property
    def delayed(self) -> int:
        return sum(one.is_armed for one in self.known.values())


def _outcome(limit: int, steps: Sequence[Object], *, is_late: bool) -> Object:
    purgatory: Any = _Purgatory(limit, is_late=is_late)
    results = [getattr(purgatory, step["do"])(step) for step in steps]
    return {
        "results": results, "operations": {name: one.state for name, one in purgatory.known.items()},
        "watched": sum(map(len, purgatory.lists.values())), "delayed": purgatory.delayed,
    }  # fmt: skip
