"""The options of `kcheck verify`: which of the gate's checks are made, and how."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from model_check.checks.processes import fitting
from model_check.checks.selection import kinds_named, of_kinds, seconds_named, shard_named
from model_check.checks.verifying import How
from model_check.explicit_state.memory import free_memory
from model_check.inventory.known_terms import KnownTerms
from model_check.reuse.since import Since
from model_check.verdicts.verification import Check
from model_check.waiting.progress import note

ONLY_HELP = "Only checks of these kinds: explore, prove, refine, judge, live, matrix, defects, with commas between."


@dataclass(frozen=True)
class Chosen:
    """Which checks: of some kinds, of a share, or of what a revision has changed."""

    only: Annotated[str | None, typer.Option(metavar="KINDS", help=ONLY_HELP)] = None
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only the K-th of N shares of about the same length.")
    ] = None
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Only what depends on anything changed since REV.")
    ] = None

    @property
    def is_partial(self) -> bool:
        """Whether anything is left out."""
        return bool(self.only or self.shard or self.since)

    def of(self, here: Sequence[Check], anywhere: Sequence[Check]) -> tuple[list[Check], list[Check]]:
        """The chosen ones of the checks; BadInput if an option says nothing that can be done."""
        kept = [*here, *anywhere]
        if self.only:
            kept = of_kinds(kept, kinds_named(self.only))
        if self.since:
            kept = _since(self.since, kept)
        if self.shard:
            kept = shard_named(self.shard).chosen(kept)
        chosen = set(kept)
        return [one for one in here if one in chosen], [one for one in anywhere if one in chosen]


def _since(revision: str, checks: Sequence[Check]) -> list[Check]:
    """The checks that a change since a revision touches, with a word on what that is."""
    since, known = Since(revision), KnownTerms()
    kept = [one for one in checks if since.touches(one, known)]
    names = sorted(since.files)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    note(f"changed since {revision}: {', '.join(names[:5]) or 'nothing'}{more}")
    note(f"that touches {len(kept)} of {len(checks)} checks; the others are taken as that revision has them")
    return kept


@dataclass(frozen=True)
class Manner:
    """How the checks are made."""

    fresh: Annotated[
        bool, typer.Option("--fresh", help="Check all, also what was verified before and did not change.")
    ] = False
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Begin no check after one that is not as expected.")
    ] = False
    within: Annotated[
        str | None, typer.Option(metavar="TIME", help="Begin no check after 90s, 5m, 1h; what says most comes first.")
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many processes; default: by cores and free memory.")
    ] = None

    @property
    def how(self) -> How:
        """The same for whoever makes them; BadInput if the time cannot be read."""
        processes = self.jobs or fitting(os.cpu_count() or 1, free_memory())
        within = seconds_named(self.within) if self.within else None
        return How(processes, self.fresh, self.fail_fast, within)
