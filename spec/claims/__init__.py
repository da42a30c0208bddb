"""What is claimed: the sentences about states, steps and whole runs that every engine asks, a file for each part."""

import sys

from spec.language.rules import Claim


def claims_of(module: str) -> tuple[Claim, ...]:
    """The claims that a module declares, in its order."""
    declared = vars(sys.modules[module]).values()
    return tuple(one for one in declared if isinstance(one, Claim) and one.function.__module__ == module)
