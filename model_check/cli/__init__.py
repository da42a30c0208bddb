"""The command line: `kcheck VERB`, a file for each verb.

A verb is a function that gives an exit code. To load one takes a second or so, in which somebody may press Ctrl-C
already; so nothing is loaded here before that is provided for.
"""

import atexit

from model_check.cli.leaving import Leaving
from model_check.compiled_modules import start_quickly
from model_check.verdicts.interrupts import end_at_once


def main() -> None:
    """The entry point of the `kcheck` script."""
    end_at_once()
    leaving = Leaving()
    atexit.register(leaving)
    from model_check.cli.verbs import app

    start_quickly()
    try:
        app(prog_name="kcheck")
    except SystemExit as end:
        leaving.code = end.code
        raise
