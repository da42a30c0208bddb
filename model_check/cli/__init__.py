"""The command line: `kcheck VERB`, a file for each verb.

A verb is a function that gives an exit code. To load one takes a second or more, in which somebody may press Ctrl-C
already; so nothing is loaded here before that is provided for.
"""

from model_check.compiled_modules import keep_modules
from model_check.verdicts.interrupts import end_at_once


def main() -> None:
    """The entry point of the `kcheck` script."""
    end_at_once()
    from model_check.cli.verbs import app

    keep_modules()
    app(prog_name="kcheck")
