"""How the program ends: at once, as soon as all is said and put away.

Python would first take apart all that it holds, term by term and table by table: 0.2 s for the smallest scope, seconds
for a large one, and nobody has any use for it.
"""

import os
import sys


class Leaving:
    """The last thing that the program does, if it is registered before all else that is to happen at its end."""

    def __init__(self) -> None:
        self.code: object = None
        """The exit code; none where the program ends in any other way than by saying so."""

    def __call__(self) -> None:
        """End the program, if it is known how and all that was printed can be written; else Python goes on."""
        if not isinstance(self.code, int):
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            return
        os._exit(self.code)
