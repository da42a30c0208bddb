"""A controller that wrongly claims to be one: where a leader dies, any broker that lives is made leader."""

from typing import Any

from tests.model_check.live.controllers.moves import Moves
from tests.model_check.live.controllers.small_controller import Partition, main


class ElectsAnybody(Moves):
    """It asks neither whether the new leader has a replica, nor whether that is in sync."""

    def decision(self, partition: Partition, live: tuple[int, ...]) -> dict[str, Any] | None:
        """The last live broker leads, in an ISR of its own."""
        state = partition.state
        if state is None or state["leader"] in live or not live:
            return super().decision(partition, live)
        return self.state([max(live)], state["leader_epoch"] + 1)


if __name__ == "__main__":
    main(ElectsAnybody)
