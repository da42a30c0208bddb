"""Which brokers a controller takes to live: those that it has read as registered, less those that are shutting down.

Kafka's words are `liveBrokerIds` and `liveOrShuttingDownBrokerIds`; the second are who gets requests, the first who may
lead. `shuttingDownBrokerIds` grows with every request for a controlled shutdown that is accepted, and shrinks only when
the broker's failure is handled, or with a failover.

Kafka 0.10.2.2: `ControllerContext`. PROTOCOL.md sections 1 and 7.2.
"""

from spec.language.rules import reset
from spec.language.terms import Value
from spec.model import Model
from spec.state.cluster import State


def live_brokers(s: State, m: Model, c: int) -> Value:
    """The brokers that may lead, for all that this controller knows."""
    controller = s.controllers[c]
    if not m.has("shutdown"):
        return controller.live
    return m.brokers.difference(controller.live, controller.shutting_down)


def shutdown_is_over(s: State, m: Model, c: int, brokers: Value) -> None:
    """These brokers are gone, or new: they are not shutting down any more."""
    if m.has("shutdown"):
        controller = s.controllers[c]
        controller.shutting_down = m.brokers.difference(controller.shutting_down, brokers)


def forget_shutdowns(s: State, m: Model, c: int) -> None:
    """A new controller knows of none that is shutting down (`initializeControllerContext`)."""
    if m.has("shutdown"):
        reset(s.controllers[c], "shutting_down")
