"""The listener on /controller_epoch, which releases before 0.8.2.0 had: every controller took over each new epoch.

It was meant to keep the controller's epoch up to date. But a former controller that has not noticed its end, or has
given up by halves, takes over its successor's epoch in this way, and passes the brokers' fence with it (D25).

Left out: its place among the callbacks; it runs when all others have. Kafka 0.8.1: `ControllerEpochListener`
(KAFKA-1096). PROTOCOL.md section 13.
"""

from spec.language.rules import observe, require
from spec.model import Model
from spec.protocol.controller.places import controller_step
from spec.state.cluster import State
from spec.state.enumerations import At, Callback


@controller_step(At.IDLE, source="ControllerEpochListener 0.8.1, KAFKA-1096", parts=("adopted_epochs",))
def adopt_epoch(s: State, m: Model, c: int) -> None:
    """/controller_epoch was changed by another: whoever is active takes the new epoch over."""
    controller = s.controllers[c]
    require(controller.active, controller.callbacks[0] == Callback.NONE)
    require(controller.epoch < s.zookeeper.epoch)
    controller.epoch = s.zookeeper.epoch
    controller.acted = False
    observe(f"controller {c}", "read /controller_epoch", epoch=controller.epoch)
