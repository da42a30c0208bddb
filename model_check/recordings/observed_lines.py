"""Which lines of controller.log are observations: those that the rules of the specification say.

A line that no rule says is passed over. So is one about deletion, or about a reassignment, where the recording shows
none of that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from spec import protocol, system  # noqa: F401 - whoever loads the system loads the whole protocol
from spec.logs.controller_log import reassignment, topic_deletion
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.log_lines import Line


def _said() -> Iterator[type[Line]]:
    """The lines that modules of the protocol name, which are loaded with the rules."""
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{protocol.__name__}.")]
    for one in (value for module in modules for value in vars(module).values()):
        if isinstance(one, type) and issubclass(one, ControllerLogLine):
            yield one


SAID: Final = frozenset(_said())
DELETION_REPORTS: Final = frozenset(
    one for one in SAID if one.__module__ == topic_deletion.__name__ or one is DeletionThreadFailed
)
"""The lines of deletion that are observations."""
REASSIGNMENT_REPORTS: Final = frozenset(one for one in SAID if one.__module__ == reassignment.__name__)
"""The lines that are observations where something is reassigned."""
REPORTS: Final = SAID - DELETION_REPORTS - REASSIGNMENT_REPORTS
"""The lines that are observations in any recording."""
