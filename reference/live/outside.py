"""What whoever starts a broker process of the reference has to know of it, without loading what it runs on."""

import signal
from enum import IntEnum
from typing import Final

STARTED: Final = "started"
"""The line that it prints once it is registered."""
BLACK_OUT_SECONDS: Final = 1.0
"""How long no ISR must have changed before changes are announced (`IsrChangePropagationBlackOut`, 5 s)."""


class Exit(IntEnum):
    """How a broker process ends by itself."""

    INPUT_ENDED = 0
    MISTAKE = 1
    REGISTERED = 3
    ENVIRONMENT = 4
    TOLD_TO_STOP = 128 + signal.SIGTERM
