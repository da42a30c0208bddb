"""The listener on /controller_epoch, which releases before 0.8.2.0 had: a controller took over each new epoch.

It was meant to keep the controller's epoch up to date. But a former controller passes the brokers' fence
with its successor's epoch (D25).

Left out on purpose: its place among the callbacks; it runs when all others have. Kafka 0.8.1: `ControllerEpochListener`
(KAFKA-1096). PROTOCOL.md section 13.
"""

from reference.controller.controller import KafkaController
from reference.controller.effects import EpochZnode, present_epoch
from reference.procedures import Effect, Procedure


class AdoptEpoch(Effect[EpochZnode | None]):
    """A data callback of /controller_epoch: what it holds."""

    script = staticmethod(present_epoch)


def adopt_epoch(controller: KafkaController) -> Procedure[None]:
    """Take the epoch over, and its version."""
    found = yield from AdoptEpoch()
    if found is not None:
        controller.context.epoch, controller.context.epoch_zk_version = found.epoch, found.version
