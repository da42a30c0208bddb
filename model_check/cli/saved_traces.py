"""Saved traces as verbs are given them: the file, and the system that it is a trace of, unless another is asked for."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from model_check.cli import options
from model_check.traces.itf import ItfError, SavedTrace, load
from spec.errors import BadInput
from spec.language.rules import TransitionSystem
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import adjusted, show_switches, switches_named


class Opened(NamedTuple):
    """A saved trace, and the system to take it on: its scope and its variant by name."""

    saved: SavedTrace
    built: TransitionSystem
    scope: str
    variant: str


def opened(
    path: Path, scope: str | None, variant: str | None, on: Iterable[str] | None, off: Iterable[str] | None
) -> Opened:
    """A trace with the system that its file names, except for what is named here; BadInput says what is wrong."""
    try:
        saved = load(path)
    except ItfError as error:
        raise BadInput(str(error)) from error
    named, _, rest = saved.system.partition(" ")
    try:
        if variant:
            switches = options.Variant(variant, [*(on or ())], [*(off or ())]).switches
        else:
            base = switches_named(saved.variant or rest or "AS_CODED")
            switches = adjusted(base, options.named(on), options.named(off))
        built = system(scope_named(scope or named), switches)
    except BadInput as error:
        raise BadInput(f"{path}: {error}; say --scope and --variant") from error
    return Opened(saved, built, scope or named, show_switches(switches))
