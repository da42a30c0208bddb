"""Results of checks, kept in the cache folder under the digest of their key, and taken from there only if sound.

An entry says its whole key, so one that was put under a wrong name is noticed, and has a checksum, so is one that was
damaged. Only what is as expected is kept: whatever is not, is found again each time.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.kernel.cache import cache_folder
from model_check.reuse.reusable import Reusable
from model_check.reuse.sealed_files import keep_latest, read_sealed, short, write_sealed
from model_check.verdicts.results import Document, Run, from_json
from model_check.verdicts.verdict import Verdict
from spec.errors import MalformedInput

OF_EACH: Final = 8
"""So many results of one check are kept, the latest ones: going back to an earlier revision finds its own."""


@dataclass(frozen=True)
class Kept:
    """A result that was made earlier: when (UTC, to the minute), and the runs."""

    made: str
    runs: tuple[Run, ...]


class KeptResults:
    """The results in the cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "results"

    def has_any(self, check: Reusable) -> bool:
        """Whether there is any result of a check, whatever it depended on."""
        return any(self.folder.glob(f"{short(check.identity)}-*.json"))

    def get(self, check: Reusable, key: str) -> Kept | None:
        """The result that is kept under a key; None if there is none, or none that is sound."""
        entry = read_sealed(self._file(check, key))
        try:
            if entry["key"] != key:
                return None
            document = from_json(entry["document"], "a kept result")
        except (ValueError, KeyError, TypeError, RecursionError, MalformedInput):
            return None
        return Kept(entry["made"], document.runs) if document.verdict is Verdict.HOLDS else None

    def put(self, check: Reusable, key: str, runs: list[Run]) -> None:
        """Keep a result that is as expected; of the same check the oldest ones go."""
        if not runs or any(run.verdict is not Verdict.HOLDS for run in runs):
            return
        document = Document("verify", Verdict.HOLDS, tuple(runs))
        made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        write_sealed(self._file(check, key), {"key": key, "made": made, "document": document.to_json()})
        keep_latest(self.folder, f"{short(check.identity)}-*.json", OF_EACH)

    def _file(self, check: Reusable, key: str) -> Path:
        return self.folder / f"{short(check.identity)}-{short(key)}.json"
