"""A controller that wrongly claims to be one: it takes /controller, and does nothing."""

from __future__ import annotations

from tests.model_check.live.controllers.small_controller import SmallController, main


class DoesNothing(SmallController):
    """Elected, and idle."""

    def raise_epoch(self) -> int:
        """Leave the epoch alone."""
        return 1

    def look_around(self) -> None:
        """Look away."""


if __name__ == "__main__":
    main(DoesNothing)
