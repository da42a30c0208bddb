"""What the scripts of each version were chosen for, so that those of an earlier one stay as they are.

A version shows what the one before it does not: with themes of its own, and with kinds of what is shown that were not
looked for before.
"""

from typing import Final

from model_check.conformance.making.occasions import BRANCH, BROKEN, OCCASION, TAKEN, TROUBLE
from model_check.conformance.making.stages import Shown

VERSIONS: Final = ("0.4.0", "0.5.0")
"""Those that brought scripts of walks."""
SINCE: Final = dict.fromkeys((OCCASION, BROKEN, TROUBLE, BRANCH, TAKEN), "0.5.0")
"""The version from which on a kind is looked for; others are from the first."""


def comes_by(since: str, version: str) -> bool:
    """Whether what came with a version is there in another."""
    return VERSIONS.index(since) <= VERSIONS.index(version)


def asked(shown: Shown, version: str) -> Shown:
    """What a version looks for, of what is shown."""
    return frozenset(one for one in shown if comes_by(SINCE.get(one[0], VERSIONS[0]), version))


def new_to(shown: Shown, version: str) -> Shown:
    """What no version before this one looks for, of what is shown."""
    earlier = VERSIONS[: VERSIONS.index(version)]
    return shown - asked(shown, earlier[-1]) if earlier else shown
