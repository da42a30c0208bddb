"""What `FORMAT.md` asks and tells of each verb, so that a failure can say where the rule stands in words."""

import re
from functools import cache
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parent / "FORMAT.md"


def rule_of(verb: str) -> str:
    """Where the format page tells what a verb's outcome is, under which question."""
    return f"{PAGE.name}, {_questions()[verb]}"


@cache
def _questions() -> dict[str, str]:
    """The headings of the verbs, without marks: `elect: whom does a leader selector elect?`."""
    headings = re.findall(r"^### ((?:`\w+`(?:, )?)+: .+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {verb: one.replace("`", "") for one in headings for verb in re.findall(r"`(\w+)`", one)}
