"""What a second process begins with, which makes a part of the work: all that people see is the first one's."""

import os
import signal
import threading
from multiprocessing import connection, parent_process
from typing import Final

from model_check.compiled_modules import start_quickly

ORPHANED: Final = 1
"""Its exit code where the first one was killed, which nobody hears."""


def leave_to_the_first_process() -> None:
    """No bars, and Ctrl-C is for the first one, which ends this; should that be killed, this ends, too."""
    start_quickly()
    os.environ["CI"] = "true"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (first := parent_process()) is not None:
        threading.Thread(target=_end_with, args=(first.sentinel,), name="end with the first", daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(ORPHANED)
