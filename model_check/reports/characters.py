"""Texts of recordings, made fit for others' formats: whatever a topic is called, a file of ours can be read."""

import re
from html import escape
from typing import Final

DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What turns the direction of the text around it, so that it reads otherwise than it is (CVE-2021-42574)."""
UNFIT: Final = re.compile(f"[^\t\n\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[{DIRECTIONS}]")
"""XML 1.0, 2.2: no control but tab and line ends, no half of a pair, and neither of the last two of the first plane."""


def printable(text: str) -> str:
    r"""A text in which what XML cannot hold, and what turns directions, is written as Python writes it: `\x1b`."""
    return UNFIT.sub(lambda one: repr(one[0])[1:-1], text)


def plain_markdown(text: str) -> str:
    """A text in which Markdown sees nothing, in one line."""
    return "".join(f"\\{one}" if one in "\\`*_[]<>|#~&@" else one for one in " ".join(printable(text).split()))


def folded(title: str, text: str) -> str:
    """A text in Markdown, as it is, behind a title that opens it."""
    told = printable(text)
    fence = "`" * (1 + max([2, *map(len, re.findall("`+", told))]))
    head = f"<details><summary>{escape(printable(title), quote=False)}</summary>"
    return f"\n{head}\n\n{fence}text\n{told}\n{fence}\n\n</details>\n"
