"""A controller that wrongly claims to be one: once elected, it goes on for ever, whoever is elected after it."""

import time
from contextlib import suppress
from typing import Any

from kazoo.exceptions import ConnectionLoss, SessionExpiredError

from tests.model_check.live.controllers.moves import Moves
from tests.model_check.live.controllers.small_controller import Partition, main

ZOMBIES_START_SECONDS = 0.5
"""A later controller gives its predecessor so much time to write first: a zombie that is always late does no harm."""


class IgnoresAFence(Moves):
    """It never asks whether /controller is still its own, and does not mind that its session has ended."""

    def govern(self) -> None:
        """Look at everything, again and again."""
        while True:
            with suppress(ConnectionLoss, SessionExpiredError):
                self.look_around()
            time.sleep(0.005)

    def write(self, partition: Partition, state: dict[str, Any]) -> None:
        """Write a state, unless somebody else has done so since it was read."""
        if self.epoch > 1:
            time.sleep(ZOMBIES_START_SECONDS)
        super().write(partition, state)


if __name__ == "__main__":
    main(IgnoresAFence)
