"""Python's collector of circles, kept from walking through what has none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Inside, nobody looks for circles: of terms and gates, made by the ten thousand, none is part of one.

    What is left of them is old from then on, or the collector would walk through all of it at once.
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
