"""The command line: `kcheck VERB`, a file for each verb.

A verb is a function that gives an exit code. To load one takes a second or so, in which somebody may press Ctrl-C
already; so nothing is loaded here before that is provided for.
"""

import atexit
import gc

from model_check.cli.leaving import Leaving
from model_check.compiled_modules import keep_modules
from model_check.verdicts.interrupts import end_at_once


def main() -> None:
    """The entry point of the `kcheck` script."""
    end_at_once()
    gc.set_threshold(10_000, 20, 20)  # modules and terms are many and stay: to look through them for rubbish is in vain
    leaving = Leaving()
    atexit.register(leaving)
    from model_check.cli.verbs import app

    keep_modules()
    try:
        app(prog_name="kcheck")
    except SystemExit as end:
        leaving.code = end.code
        raise
