"""A controller that wrongly claims to be one: it works on in the epoch that it finds, and raises none."""

from tests.model_check.live.controllers.moves import Moves
from tests.model_check.live.controllers.small_controller import main


class RaisesNoEpoch(Moves):
    """The first of a cluster creates the epoch; its successors only read it."""

    def raise_epoch(self) -> int:
        """The epoch that is there."""
        if self.zookeeper.exists("/controller_epoch"):
            return int(self.zookeeper.get("/controller_epoch")[0])
        return super().raise_epoch()


if __name__ == "__main__":
    main(RaisesNoEpoch)
