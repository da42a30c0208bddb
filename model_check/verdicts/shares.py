"""Shares of some work, as `--shard 2/5` names them."""

import re

from spec.errors import BadInput


def share_named(text: str) -> tuple[int, int]:
    """The number of a share, from 1 on, and how many there are; BadInput if the text names none."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    number, of = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= of:
        raise BadInput(f"--shard {text} names no share; the second of four is 2/4")
    return number, of
