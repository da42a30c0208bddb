"""What processes do unseen: steps of progress that may leave no trace, or lines in their logs only.

Seen from outside, a controller's reads leave no trace but a gap in the numbers of its requests, and its handlers run
whenever their callbacks come up. Where it is in its code names the steps that it may take next, mostly one. Whether a
step leaves no trace is found out by taking it.
"""

from collections.abc import Iterator
from typing import Final

from model_check.stepping.enabled import Candidate, ControllerSteps, place_of
from model_check.stepping.plain_state import PlainState, part
from spec.model import Model
from spec.protocol.broker_events.controlled_shutdown import lose_shutdown_request
from spec.protocol.brokers.processes import fail_registration, register_broker
from spec.protocol.controller.early_reads import read_for_listener, stop_deletions
from spec.protocol.elections.rebalance import check_imbalance
from spec.protocol.failover.steps import read_state
from spec.state.enumerations import At

OF_BROKERS: Final = (register_broker, fail_registration)
"""A broker that is registered and registers once more (an answer was lost, or a second session expired) finds its own
znode; one that starts while the session of its last process is there finds that one's."""
CALLED_FOR: Final = frozenset({check_imbalance.name})
"""What a timer begins, which would begin all the time: it is taken where something calls for it (`on_demand`)."""
UNORDERED: Final = frozenset({read_state.name})
"""Visits whose order has no bearing on what follows."""


def of_brokers(m: Model) -> Iterator[Candidate]:
    """What brokers may do unseen."""
    yield from ((rule.name, {"b": b}) for b in m.brokers.ids for rule in OF_BROKERS)
    yield from ((lose_shutdown_request.name, {"b": b, "c": c}) for b in m.brokers.ids for c in m.controllers)


def hidden(controllers: ControllerSteps, m: Model, state: PlainState) -> Iterator[Candidate]:
    """What may happen unseen; not all of it is enabled."""
    for c in m.controllers:
        yield from (one for one in controllers.enabled(state, c) if one[0] not in CALLED_FOR)
        controller = part(state, "controllers", c)
        if place_of(state, c) is not At.IDLE or controller.get("shutdown_of"):
            yield read_for_listener.name, {"c": c}
        if controller.get("given"):
            yield stop_deletions.name, {"c": c}
    yield from controllers.enabled(state, 0)


def is_instead_of(candidate: Candidate, taken: Candidate) -> bool:
    """Whether a controller may do this rather than that: take up another topic or partition, or let a thread in.

    Several threads may wait for its lock, and which one gets it is open.
    """
    if candidate[1].get("c") != taken[1].get("c"):
        return False
    return candidate[0] not in UNORDERED or taken[0] not in UNORDERED
