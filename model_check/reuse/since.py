"""What a revision has changed: which checks depend on anything that is other than it was there.

The revision is taken at its word: its inventory says which terms its systems had, and that its gate passed is for
whoever names it to know. Nothing of it is run. A check is touched where a file that it runs differs, or its system has
other terms or words, or the manifest expects something else of its scope; where the pinned libraries changed, all are.
"""

import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from model_check.inventory.accepted import FILE, accepted, facts_in
from model_check.inventory.changed_terms import parts_of_fact
from model_check.inventory.checkout import is_checkout
from model_check.inventory.facts import specification_facts
from model_check.inventory.known_terms import KnownTerms
from model_check.inventory.sources import ROOT
from model_check.reuse.reusable import MANIFEST, Reusable, files_of
from model_check.verdicts.verification import Check
from spec.errors import BadInput
from spec.manifest import manifest
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope
from spec.system import is_in_scope, rules

EVERYTHING: Final = frozenset({"constraints.txt", "pyproject.toml"})
"""Files of which each check may depend on any line."""


@dataclass(frozen=True)
class Since:
    """What is other than at a revision; BadInput if there is no such revision, or no checkout."""

    revision: str

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that differ, those included that git does not know yet."""
        differing = _git("diff", "--name-only", "-z", self.revision, "--")
        return frozenset(
            filter(None, (differing + _git("ls-files", "--others", "--exclude-standard", "-z")).split("\0"))
        )

    @cached_property
    def _facts(self) -> Mapping[str, str]:
        """The facts that the revision's inventory has."""
        return facts_in(_git("show", f"{self.revision}:{FILE.relative_to(ROOT).as_posix()}"))

    @cached_property
    def _manifest(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = tomllib.loads(
            _git("show", f"{self.revision}:{MANIFEST.relative_to(ROOT).as_posix()}")
        )
        return found["scope"]  # type: ignore[no-any-return]  # as every manifest has

    @cached_property
    def _now(self) -> Mapping[str, str]:
        return accepted()

    @cached_property
    def _words(self) -> frozenset[str]:
        """The rules and claims of which something else is said."""
        said = {name: told for name, told in specification_facts() if name.endswith(" / words")}
        return frozenset(name.split()[1] for name, told in said.items() if self._facts.get(name) != told)

    def touches(self, check: Check, known: KnownTerms) -> bool:
        """Whether anything that a check depends on is other; a system is built if its terms are not known."""
        if not isinstance(check, Reusable) or self.files & EVERYTHING or self.files & files_of(check):
            return True
        if {path.relative_to(ROOT).as_posix() for path in check.files} & self.files:
            return True
        if check.whole_manifest:
            return bool({MANIFEST.relative_to(ROOT).as_posix(), FILE.relative_to(ROOT).as_posix()} & self.files)
        if self._manifest.get(check.scope) != manifest()["scope"].get(check.scope):
            return True
        return check.system is not None and self._is_other_system(check, known)

    def _is_other_system(self, check: Reusable, known: KnownTerms) -> bool:
        key = check.system
        if key is None or self._facts.get(key.name) != self._now.get(key.name):
            return True
        if not any(path.startswith("spec/") for path in self.files):
            return False
        m = Model(scope(key.scope), key.switches, key.proving)
        named = {one.name for one in rules() if is_in_scope(one, m)} | {
            one.name for one in claims() if m.is_about(one.parts)
        }
        if named & self._words or (key.proving and any(path.startswith("spec/lemmas/") for path in self.files)):
            return True
        parts, before = known.found(key), parts_of_fact(self._facts.get(key.name, ""))
        return any(before.get(part) != digest for part, digest in parts.items() if part in before) or not before


def _git(*arguments: str) -> str:
    """What git says; BadInput with its own words if it refuses."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BadInput("--since asks git, and there is none on the PATH") from None
    if not is_checkout(ROOT):
        raise BadInput(f"--since is for a checkout of this repository, which {ROOT} is not; leave it out")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it does not say why"]
        raise BadInput(f"--since: git {arguments[0]} fails: {said[0]}")
    return done.stdout
