"""Goals that proofs have shown, kept for the next proof of the scope: of another variant, or after an edit.

What is kept are facts: from these hypotheses, a step of this guard with these updates keeps this clause. A fact speaks
of its terms alone, whatever the system that they came from, and is known by digests of all of them
(`obligations.Step.key`). It stands in a proof in which each of its hypotheses is held: others in addition only leave
fewer states. So the second of two variants asks about those goals alone in which it differs; another rule has its own
actions asked again; another lemma, if it replaces one, has everything asked again, and if it is one more, itself.

That a fact was shown is the word of an engine, so each is kept with the digest of the engine's files, the libraries and
Python, and stands for no other. Like results, goals are not kept once a file was edited while the process ran.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from model_check.inventory.sources import are_as_loaded, digest_of_files, reached
from model_check.kernel.cache import cache_folder
from model_check.proofs.shown_goals import Shown
from model_check.reuse.environment import environment
from model_check.reuse.reusable import MAKERS
from model_check.reuse.sealed_files import keep_latest, read_sealed, short, write_sealed

OF_EACH: Final = 12
"""So many proofs of one scope have their goals kept, the latest ones."""

ENGINE: Final = "model_check.proofs.induction"
"""What shows goals; all that it imports counts."""

DIGITS: Final = 32
"""Of a digest."""


class KeptGoals:
    """The goals that were shown of one scope, under any variant; those that are put there come from one of them."""

    def __init__(self, scope: str, variant: str, folder: Path | None = None) -> None:
        self.folder, self._scope, self._variant = folder or goals_folder(), scope, variant
        self._engine = f"{digest_of_files(reached([ENGINE], MAKERS))}\n{environment()}"

    def earlier(self) -> list[Shown]:
        """What this very engine showed earlier, the sound entries."""
        entries = (read_sealed(path) for path in sorted(self.folder.glob(f"{short(self._scope)}-*.json")))
        return [shown for entry in entries if (shown := self._read(entry)) is not None]

    def put(self, shown: Shown) -> None:
        """Keep what a proof has shown; of the same scope the oldest goes."""
        if not shown.goals or not are_as_loaded():
            return
        entry = {"engine": self._engine, "hypotheses": _written(shown.hypotheses), "goals": _written(shown.goals)}
        name = f"{self._variant}\n{self._engine}\n{entry['hypotheses']}"
        write_sealed(self.folder / f"{short(self._scope)}-{short(name)}.json", entry)
        keep_latest(self.folder, f"{short(self._scope)}-*.json", OF_EACH)

    def _read(self, entry: object) -> Shown | None:
        match entry:
            case {"engine": self._engine, "hypotheses": str(hypotheses), "goals": str(goals)}:
                with suppress(ValueError):
                    return Shown(_digests(hypotheses), _digests(goals))
        return None


def goals_folder() -> Path:
    """Where goals are kept."""
    return cache_folder() / "goals"


def forget_goals() -> None:
    """Have everything proved again."""
    shutil.rmtree(goals_folder(), ignore_errors=True)


def _written(digests: frozenset[bytes]) -> str:
    return "".join(sorted(one.hex() for one in digests))


def _digests(text: str) -> frozenset[bytes]:
    return frozenset(bytes.fromhex(text[at : at + DIGITS]) for at in range(0, len(text), DIGITS))
