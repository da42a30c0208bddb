"""Where in its code a controller takes a step: the place at which the lock's holder is, or where the lock is free.

The holder's place (`At`) names the steps that come next, so each step is declared with its places. Whoever looks for
the steps of a state, as the judge of recordings does, looks only there.

Kafka 0.10.2.2: `KafkaController`, `ControllerContext.controllerLock`. PROTOCOL.md sections 2 and 6.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from spec.language.rules import Rule, action, require
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.zookeeper import can_operate
from spec.state.cluster import State
from spec.state.enumerations import At, Callback, Handler

Declared: TypeAlias = Callable[[Callable[..., None]], Rule]

WHERE_LOCK_IS_FREE = (At.IDLE, At.REASSIGN_NEXT)
"""Where nobody has the lock in a term: nobody is under way, or a request to reassign is between two partitions."""
WHERE_LOCK_MAY_BE_FREE = (*WHERE_LOCK_IS_FREE, At.ELECT_READ)
"""Where another thread than ZkClient's may get it, also when the term has ended: `lock_is_free` says whether."""


def controller_step(
    *places: At, source: str, budget: str | None = None, parts: Sequence[str] = (), over_session: bool = True
) -> Declared:
    """Declare a step that a controller takes only at these places; unless said otherwise, its session must live."""

    def guard(s: State, _m: Model, c: int) -> None:
        here = either(*(s.controllers[c].at == place for place in places))
        require(both(can_operate(s, c), here) if over_session else here)

    return _declared(guard, places, source, budget, parts)


def listener(callback: Callback, *, source: str, parts: Sequence[str] = ()) -> Declared:
    """Declare the first step of a listener: it is at the head of ZkClient's queue, and the lock is free."""

    def guard(s: State, _m: Model, c: int) -> None:
        controller = s.controllers[c]
        require(can_operate(s, c), controller.at == At.IDLE, controller.callbacks[0] == callback)

    return _declared(guard, (At.IDLE,), source, None, parts)


def locking_step(*, source: str, parts: Sequence[str] = ()) -> Declared:
    """Declare a step with which a thread that is not ZkClient's takes the free lock; it need not have a session."""

    def guard(s: State, m: Model, c: int) -> None:
        require(lock_is_free(s, m, c))

    return _declared(guard, WHERE_LOCK_MAY_BE_FREE, source, None, parts)


def _declared(
    guard: Callable[[State, Model, int], None],
    places: Sequence[At],
    source: str,
    budget: str | None,
    parts: Sequence[str],
) -> Declared:
    def declare(function: Callable[..., None]) -> Rule:
        @functools.wraps(function)
        def step(s: State, m: Model, c: int, **others: int) -> None:
            guard(s, m, c)
            function(s, m, c, **others)

        rule = action(actor="controller {c}", source=source, budget=budget, parts=parts)(step)
        return replace(rule, places=tuple(places))

    return declare


def lock_is_free(s: State, m: Model, c: int) -> Value:
    """Whether a thread that is not ZkClient's can get the lock: nobody is under way, or a listener has given it back.

    That is between two partitions of a request to reassign, and between a resignation and the election behind it.
    """
    controller = s.controllers[c]
    free = flag(controller.at == At.IDLE)
    if m.has("reassignment"):
        free = either(free, both(controller.at == At.REASSIGN_NEXT, controller.handler == Handler.REASSIGNMENT))
    return either(free, both(controller.at == At.ELECT_READ, controller.elects))
