"""The command line: `kcheck VERB`, a file for each verb.

A verb is a function that gives an exit code. To load one takes a second or so, in which somebody may press Ctrl-C
already; so nothing is loaded here before that is provided for.
"""

import atexit

from model_check.cli.leaving import Leaving
from model_check.cli.streams import open_what_is_closed, spell_out_what_has_no_code
from model_check.compiled_modules import start_quickly
from model_check.verdicts.interrupts import end_at_once


def main() -> None:
    """The entry point of the `kcheck` script."""
    end_at_once()
    open_what_is_closed()
    spell_out_what_has_no_code()
    leaving = Leaving()
    atexit.register(leaving)
    from model_check.cli.verbs import app

    start_quickly()
    try:
        app(prog_name="kcheck")
    except SystemExit as end:
        leaving.code = end.code
        if isinstance(end.__context__, OSError):  # typer's own code for a broken pipe would read as VIOLATED
            leaving.code = _failed(end.__context__)
        raise SystemExit(leaving.code) from None
    except OSError as error:
        leaving.code = _failed(error)
        raise SystemExit(leaving.code) from None


def _failed(error: OSError) -> int:
    """The exit code, where it was not a verb that failed, but typer with a help text or a complaint."""
    from model_check.cli.failures import failed

    return failed(error)
