"""What can be asked of a revision, each question a method: its facts, a system's terms, a search, stories of that."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_check.explicit_state.explorer import explore
from model_check.revisions.inside import facts
from model_check.revisions.inside.behaviours import write
from model_check.revisions.inside.telling import claims_of, told, trace_of_claim, trace_to_step
from model_check.revisions.inside.term_digests import digests_of
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import switches_named

OFTEN = 0.2
"""Seconds between two words on how far a search is."""


class Revision:
    """What was asked last, and found."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.tell = tell
        self.named: tuple[str, str] | None = None
        self.system: Any = None
        self.found: Any = None

    def facts(self) -> dict[str, Any]:
        """What the specification has, and which systems are explored."""
        return {"facts": facts.facts(), "systems": facts.systems()}

    def terms(self, scope: str, variant: str) -> dict[str, Any]:
        """The digests of a system's terms, part by part, its actions with their arguments, and how it begins."""
        built = self._built(scope, variant)
        begins = {one.name: one.show(one.initial) for one in built.variables}
        return digests_of(built) | {"steps": {one.name: one.rule for one in built.actions}, "begins": begins}

    def explore(self, scope: str, variant: str, **how: Any) -> dict[str, Any]:
        """Search a system, write its steps to files, and say how large it is and what became of the claims."""
        built = self._built(scope, variant)
        self.found = found = explore(
            built, limit=how["limit"], likely=how["likely"], memory_bytes=how["memory"], graph=how["goals"],
            progress=self._progress(),
        )  # fmt: skip
        write(Path(how["folder"]), built, found, set(how["variables"]), set(how["actions"]))
        return {
            "states": found.states,
            "transitions": found.transitions,
            "levels": list(found.levels),
            "digest": found.digest,
            "expanded": found.expanded,
            "exhausted": found.exhausted,
            "stopped": found.stopped,
            "claims": claims_of(built, found),
            "actions": [
                {"name": one.name, "rule": one.rule, "statement": _sentence(one.statement), "source": one.source}
                for one in built.actions
            ],
            "said": {one.name: [_sentence(one.statement), one.source] for one in built.properties},
        }

    def stories(self, steps: list[list[int]], claims: list[str]) -> dict[str, Any]:
        """The stories of some steps, each by its source and its action, and of some claims that are broken."""
        return {
            "steps": [told(self.system, trace_to_step(self.system, self.found, *one)) for one in steps],
            "claims": {name: told(self.system, trace_of_claim(self.found, name)) for name in claims},
        }

    def _built(self, scope: str, variant: str) -> Any:
        if self.named != (scope, variant):
            self.found = self.system = None
            self.system = system(scope_named(scope), switches_named(variant))
            self.named = scope, variant
        return self.system

    def _progress(self) -> Callable[[Any], None]:
        last = [0.0]

        def report(explored: Any) -> None:
            if time.monotonic() - last[0] > OFTEN:
                last[0] = time.monotonic()
                self.tell({"states": int(explored.states), "depth": int(explored.depth)})

        return report


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())
