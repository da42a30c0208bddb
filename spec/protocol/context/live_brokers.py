"""Which brokers a controller takes to live: those that it has read as registered, less those that are shutting down.

Kafka's words are `liveBrokerIds` and `liveOrShuttingDownBrokerIds`; the second get requests, the first may lead.
`shuttingDownBrokerIds` grows with every request for a controlled shutdown that is accepted, and shrinks only when the
broker's failure is handled, or with a failover. Where broker epochs are on, a request for a shutdown is of one
registration, and its treatment ends with that (2.2.0: `StaleBrokerEpochException`); else it goes on with the next
incarnation (D12-outlived).

Kafka 0.10.2.2: `ControllerContext`. PROTOCOL.md sections 1 and 7.2.
"""

from spec.language.rules import reset, when
from spec.language.terms import Value
from spec.model import Model
from spec.state.cluster import State
from spec.variants import Switch


def live_brokers(s: State, m: Model, c: int) -> Value:
    """The brokers that may lead, for all that this controller knows."""
    controller = s.controllers[c]
    return m.brokers.difference(controller.live, controller.shutting_down)


def shutdown_is_over(s: State, m: Model, c: int, brokers: Value) -> None:
    """These brokers are gone: they are not shutting down any more."""
    controller = s.controllers[c]
    controller.shutting_down = m.brokers.difference(controller.shutting_down, brokers)
    if m.fixes(Switch.BROKER_EPOCHS):
        with when(m.brokers.in_set(controller.shutdown_of, brokers)):
            reset(controller, "shutdown_of", "to_move", "shutdown_fails")
