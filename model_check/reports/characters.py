"""Texts of recordings, made fit for others' formats: whatever a topic is called, a file of ours can be read."""

import re
from html import escape


def printable(text: str) -> str:
    r"""A text in which what XML cannot hold is written as Python writes it, such as `\x1b`."""
    return "".join(one if _may_stand(one) else repr(one)[1:-1] for one in text)


def _may_stand(one: str) -> bool:
    """XML 1.0, 2.2: no control but tab and line ends, no half of a pair, and neither of the last two of a plane."""
    code = ord(one)
    return one in "\t\n" or (0x20 <= code <= 0xD7FF and code != 0x7F) or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def plain_markdown(text: str) -> str:
    """A text in which Markdown sees nothing, in one line."""
    return "".join(f"\\{one}" if one in "\\`*_[]<>|#~&@" else one for one in " ".join(printable(text).split()))


def folded(title: str, text: str) -> str:
    """A text in Markdown, as it is, behind a title that opens it."""
    told = printable(text)
    fence = "`" * (1 + max([2, *map(len, re.findall("`+", told))]))
    head = f"<details><summary>{escape(printable(title), quote=False)}</summary>"
    return f"\n{head}\n\n{fence}text\n{told}\n{fence}\n\n</details>\n"
