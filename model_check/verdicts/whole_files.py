"""Files that are written whole, or not at all, together."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from spec.errors import BadInput, EnvironmentFailure


def refuse_unless_writable(path: Path) -> None:
    """BadInput where a file cannot stand, which is better found before long work than behind it."""
    if path.is_dir():
        raise BadInput(f"{path}: cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: cannot be written: there is no folder {path.parent}")


def write_files(texts: Mapping[Path, str]) -> None:
    """Write each text to its file, which is only replaced once all are on the disk; EnvironmentFailure: why not."""
    unfinished = {path: path.with_name(f"{path.name}.unfinished") for path in texts}
    for path, text in texts.items():
        try:
            unfinished[path].write_text(text, encoding="utf-8")
        except OSError as error:
            _give_up(path, error, unfinished)
    for path, beside in unfinished.items():
        try:
            beside.replace(path)
        except OSError as error:
            _give_up(path, error, unfinished)


def _give_up(path: Path, error: OSError, unfinished: Mapping[Path, Path]) -> None:
    for one in unfinished.values():
        with suppress(OSError):
            one.unlink()
    raise EnvironmentFailure(f"{path}: cannot be written: {error.strerror}", "name another file") from error
