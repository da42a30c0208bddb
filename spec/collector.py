"""Python's collector of circles, kept from walking through what has none, or few."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Inside, nobody looks for circles: of terms and gates, made by the ten thousand, none is part of one.

    What is left of them goes to the oldest generation, lest the next collection walk through all of it. Whoever leaves
    circles in there again and again has to collect them at times.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
