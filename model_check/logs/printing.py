"""Text of somebody else's, as it may be printed: nothing in it tells a terminal what to do."""


def printable(text: str) -> str:
    """The text, with an escape in place of each character that cannot be seen."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
