"""Python's collector of circles, kept from walking through what has none, or few."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Frozen:
    """What the collector never looks at again."""

    for_good = False
    """Whether there is any; Python could only count it, one by one."""


def freeze_for_good() -> None:
    """Whatever there is now stays until the process ends, and is never looked at again. Call this, not `gc.freeze`."""
    gc.freeze()
    Frozen.for_good = True


@contextmanager
def without_collector(*, leaves_circles: bool = False) -> Iterator[None]:
    """Inside, nobody looks for circles: of terms and gates, made by the ten thousand, none is part of one.

    What is left of them goes to the oldest generation, lest the next collection walk through all of it. Whoever
    `leaves_circles` has those collected at the end that were made inside: nothing that was there before is looked at.
    If something was frozen already, what came since is collected first, and then frozen for good.
    """
    was_on = gc.isenabled()
    gc.disable()
    if leaves_circles:
        if Frozen.for_good:
            gc.collect()  # of what came since: frozen, it would never go
        gc.freeze()
    try:
        yield
    finally:
        if leaves_circles:
            gc.collect()
            if not Frozen.for_good:
                gc.unfreeze()
        if was_on:
            if not Frozen.for_good:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
