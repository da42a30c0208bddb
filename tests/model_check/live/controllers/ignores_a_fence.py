"""A controller that wrongly claims to be one: once elected, it goes on for ever, whoever is elected after it."""

import time
from contextlib import suppress

from kazoo.exceptions import ConnectionLoss, SessionExpiredError

from tests.model_check.live.controllers.small_controller import SmallController, main


class IgnoresAFence(SmallController):
    """It never asks whether /controller is still its own, and does not mind that its session has ended."""

    def govern(self) -> None:
        """Look at everything, again and again."""
        while True:
            with suppress(ConnectionLoss, SessionExpiredError):
                self.look_around()
            time.sleep(0.005)


if __name__ == "__main__":
    main(IgnoresAFence)
