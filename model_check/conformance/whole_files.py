"""Files that are written whole, or not at all, together."""

from collections.abc import Mapping
from pathlib import Path

from spec.errors import BadInput


def write_files(texts: Mapping[Path, str]) -> None:
    """Write each text to its file, which is only replaced once all texts are on the disk; BadInput says why not."""
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
        one.unlink(missing_ok=True)
    raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
