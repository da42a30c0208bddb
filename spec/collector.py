"""Python's collector of circles, kept from walking through what has none, or few."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector(*, leaves_circles: bool = False) -> Iterator[None]:
    """Inside, nobody looks for circles: of terms and gates, made by the ten thousand, none is part of one.

    What is left of them goes to the oldest generation, lest the next collection walk through all of it. Whoever
    `leaves_circles` has those collected at the end that were made inside: nothing that was there before is looked at.
    If something was frozen already, what came since is collected first, and then frozen for good.
    """
    was_on = gc.isenabled()
    gc.disable()
    was_frozen = gc.get_freeze_count() > 0
    if leaves_circles:
        if was_frozen:
            gc.collect()  # of what came since: frozen, it would never go
        gc.freeze()
    try:
        yield
    finally:
        if leaves_circles:
            gc.collect()
            if not was_frozen:
                gc.unfreeze()
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
