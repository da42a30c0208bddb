"""A controller and a broker that run: the whole protocol as handlers without I/O, readable next to Kafka's own classes.

Every handler is a generator that yields effects and receives results, so the same code runs in memory, where a
scheduler chooses each interleaving and crash, and on a real ZooKeeper. Each of its steps must be a step of `spec`,
whose tables drive it; it knows nothing of `model_check`, which judges it.

From outside it is driven by plain calls and JSON, and no inner module is imported for that:

    cluster = reference.cluster([1, 2, 3])   # a whole cluster       reference/face/cluster.py
    reference.module({"broker": 1, ...})     # a controller          reference/face/module.py
    reference.broker({"broker": 2, ...})     # what brokers do       reference/face/broker.py
    reference.driven({"broker": 1}, ...)     # one that is driven    reference/face/driven.py
    reference.delayed()                      # operations that wait  reference/face/delayed.py
    reference.encode({"name": ...})          # requests as bytes     reference/face/wire.py

What is wrong raises `BadInput`; what goes on and on, or does not come, `NoRest`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from reference.face.errors import NoRest
from spec.errors import BadInput

if TYPE_CHECKING:
    from reference.face.broker import BrokerFace
    from reference.face.cluster import Cluster
    from reference.face.delayed import DelayedFace
    from reference.face.driven import Driven
    from reference.face.module import Module

__all__ = ["BadInput", "NoRest", "broker", "cluster", "decode", "delayed", "driven", "encode", "module", "steps"]

# Each face is loaded when it is asked for: few who import a part of the reference need it.


def cluster(
    brokers: Iterable[int],
    *,
    settings: Mapping[str, Any] | None = None,
    release: str = "0.10.2",
    variant: str = "AS_CODED",
) -> "Cluster":
    """A cluster of brokers with these ids, none of which runs yet; BadInput says what is wrong.

    `settings` are Kafka's, by name: `unclean.leader.election.enable` (false if not given), `delete.topic.enable`
    (true), `auto.leader.rebalance.enable` (false), `leader.imbalance.per.broker.percentage` (10). `release` is a
    release line from 0.8.2 to 0.10.2; `variant` says which defects are fixed (`FENCED`, `AS_CODED+CLEAR_CONTEXT`).
    """
    from reference.face.cluster import Cluster

    return Cluster(brokers, settings=settings, release=release, variant=variant)


def module(given: Mapping[str, Any]) -> "Module":
    """A controller that knows what is given (the keys are those of `Module`); BadInput names the key that is wrong."""
    from reference.face.module import Module

    return Module(given)


def broker(given: Mapping[str, Any]) -> "BrokerFace":
    """A broker that knows what is given (the keys are those of `BrokerFace`); BadInput names the key that is wrong."""
    from reference.face.broker import BrokerFace

    return BrokerFace(given)


def driven(
    given: Mapping[str, Any],
    ask: Callable[[Any], Any],
    send: Callable[[int, Any], int],
    log: Callable[[str], None] = lambda _: None,
) -> "Driven":
    """A controller that asks somebody else for each of its operations; BadInput names the key that is wrong."""
    from reference.face.driven import Driven

    return Driven(given, ask, send, log)


def encode(request: Any) -> bytes:
    """The bytes of a request that is an object as `BrokerFace.request` takes it; BadInput says what cannot be sent."""
    from reference.face.wire import encode

    return encode(request)


def decode(data: bytes) -> Any:
    """The request that all these bytes are, as an object; BadInput says what is wrong with them."""
    from reference.face.wire import decode

    return decode(data)


def delayed(*, purge_interval: int = 1000, variant: str = "AS_CODED") -> "DelayedFace":
    """A purgatory in which nothing waits, with a clock of its own that stands still."""
    from reference.face.delayed import DelayedFace

    return DelayedFace(purge_interval=purge_interval, variant=variant)


def steps() -> Mapping[str, str]:
    """The names that `do`, `hold`, `fail` and `before` take, each with what that step does."""
    from reference.face.step_names import steps

    return steps()
