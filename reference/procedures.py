"""Procedures: how a handler of the controller asks the world to do something, one step at a time.

A handler is a generator. It yields an effect, is sent the effect's result, and goes on; it never touches a socket, a
clock or a lock. An effect carries a *script*: the ZooKeeper operations that it takes, as a generator of its own, so
that every driver runs the very same operations. A driver in memory runs a script at once, as one step of the
specification; a live one runs it operation by operation, waiting and retrying as ZkClient did.

The class of an effect is the action of the specification that it belongs to (`ElectRead` is `elect_read`), `at` is
where the specification says the handler then is, and the fields are the locals that it keeps there. What is yielded is
`OneOf` some effects, of which there are several where Kafka leaves an order to a hash table; the answer says which was
chosen, and what that gave or raised.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar, dataclass_transform

from reference.zookeeper.api import AnyOperation, GetChildren, GetData, OperationRefused, ZookeeperError
from spec.errors import SpecError
from spec.state.enumerations import At

Result_co = TypeVar("Result_co", covariant=True)
T = TypeVar("T")


class Ordered(Protocol):
    """What can be sorted and remembered."""

    def __lt__(self, other: Any, /) -> bool: ...
    def __hash__(self) -> int: ...


Key = TypeVar("Key", bound=Ordered)

Script: TypeAlias = Generator["AnyOperation | AskSession | PastZkClient", Any, T]
"""ZooKeeper operations, each answered before the next is asked for; a refusal is thrown in at its operation."""
Procedure: TypeAlias = Generator["OneOf", "tuple[int, Any]", T]
"""A handler, or a part of one."""


class ControllerFailure(Exception):
    """What goes wrong inside the controller, and what Kafka raises there."""


class ControllerMoved(ControllerFailure):
    """Another controller has incremented the epoch."""


class FencedOff(Exception):
    """A write, or what was read, was refused because /controller_epoch has moved on, where that is fenced.

    Nothing that catches what goes wrong catches it: it ends the handler, up to whoever has the lock.
    """


class DirtyBatch(ControllerFailure):
    """A batch is to be begun while requests of an earlier call are still in it (IllegalStateException)."""


class NoChannels(ControllerFailure):
    """A request is to be sent by a resigned controller, which has no channel manager (NullPointerException)."""


class LeftOverChannel(ControllerFailure):
    """A channel to this broker is open already: the metrics of its selector are (IllegalArgumentException)."""


class ForcedResignation(ControllerFailure):
    """A send of the controller's own failed; its handler is over, and the elector resigns (IllegalStateException)."""


class NoLeadership(ControllerFailure):
    """A partition has no leadership in the cache (NoSuchElementException)."""


class NoAssignment(ControllerFailure):
    """A partition has leadership in the cache, but no AR (NoSuchElementException)."""


class NoReplicas(ControllerFailure):
    """The first replica of an empty AR is asked for (NoSuchElementException)."""


class ReassignmentImpossible(ControllerFailure):
    """A partition has no AR or state znode any more, or the latter is a newer controller's."""


class NoSuchListener(ControllerFailure):
    """A topic has no listener of its own to be unsubscribed (NoSuchElementException)."""


class MissingDeletionThread(ControllerFailure):
    """A failover ended before it made the deletion thread that a resignation waits for."""


class UnexpectedFailure(ControllerFailure):
    """Some exception that nobody foresaw, put in on purpose."""


THROWABLE: Final = (ControllerFailure, ZookeeperError, SpecError)
"""What Kafka's `case e: Throwable` catches here: not a mistake of the reference, nor a full disk, which end it."""


@dataclass(frozen=True)
class AskSession:
    """No operation: a script asks under which session it runs, and what time it is; the answer is a SessionView."""


@dataclass(frozen=True)
class PastZkClient:
    """A read that sets no watch, whoever listens to the path: on the raw handle, or asked for without."""

    operation: GetData | GetChildren


@dataclass(frozen=True)
class SessionView:
    """The id of the session that a script runs under, and the time in milliseconds."""

    session: int
    now_ms: int


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Effect(ABC, Generic[Result_co]):
    """A step that a handler asks for: `result = yield from effect`. Each kind is a frozen dataclass.

    What its script raises is raised there. `written` is the path of the write whose answer a lost connection may take
    away; what is `repeated` then is done again. Where one of `parts` is left out, it is done with the step before.
    """

    at: ClassVar[At] = At.IDLE
    parts: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True)(cls)

    @abstractmethod
    def script(self) -> Script[Result_co]:
        """The ZooKeeper operations of this step, and the result that they give."""

    @property
    def written(self) -> str | None:
        """The path of the write that may go unanswered, if there is one."""
        return None

    @property
    def repeated(self) -> "Effect[Result_co]":
        """What the client carries out again once that answer is lost: the script, where it has read nothing first."""
        return self

    @property
    def needs_session(self) -> bool:
        """Whether there is an operation in it."""
        return True

    @property
    def action(self) -> str:
        """The name of the specification's action."""
        return snake_case(type(self).__name__)

    def __iter__(self) -> "Procedure[Result_co]":
        _, came = yield OneOf((self,))
        result: Result_co = given(came)
        return result


@cache
def snake_case(name: str) -> str:
    """`ElectRead` as `elect_read`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Raised:
    """What an effect raised, in place of a result."""

    error: Exception


def given(came: T | Raised) -> T:
    """What an effect gave; what it raised is raised anew, as each fork of a handler raises it for itself."""
    if isinstance(came, Raised):
        raise type(came.error)(*came.error.args) from came.error
    return came


@dataclass(frozen=True)
class OneOf:
    """One of these effects, all at one place; the answer is the index of the chosen one, and what it gave or Raised."""

    effects: tuple[Effect[Any], ...]


def whichever(effects: Mapping[Key, Effect[T]]) -> Procedure[tuple[Key, T | Raised]]:
    """Carry out one of these effects, which the driver chooses: its key, and what it gave, or Raised if that is caught.

    What no handler catches (FencedOff) is raised.
    """
    order = sorted(effects)
    chosen, came = yield OneOf(tuple(effects[key] for key in order))
    is_caught = isinstance(came, Raised) and isinstance(came.error, THROWABLE)
    return order[chosen], came if is_caught else given(came)


def any_of(effects: Mapping[Key, Effect[T]]) -> Procedure[tuple[Key, T]]:
    """Carry out one of these effects, which the driver chooses: its key, and what it gave, unless that is raised."""
    key, came = yield from whichever(effects)
    return key, given(came)


# -------------------------------------------------------------------------------------------------------------- drivers


def run_script(script: Script[T], answer: Callable[[AnyOperation | AskSession | PastZkClient], Any]) -> T:
    """Run a script to its end, operation by operation; what refuses one is thrown in at it."""
    give: Callable[[Any], Any] = script.send
    value: Any = None
    while True:
        try:
            operation = give(value)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            give, value = script.send, answer(operation)
        except OperationRefused as refusal:
            give, value = script.throw, refusal


def complete(
    procedure: Procedure[T],
    carry_out: Callable[[Effect[Any]], Any],
    choose: Callable[[int], int] = lambda _: 0,
    after_step: Callable[[], None] = lambda: None,
) -> T:
    """Run a procedure to its end; `choose` picks among effects in free order, `after_step` runs after each."""
    answer: Any = None
    while True:
        try:
            effects = procedure.send(answer).effects
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            after_step()
        index = choose(len(effects))
        try:
            answer = index, carry_out(effects[index])
        except Exception as error:  # noqa: BLE001 - whatever a script raises is the procedure's to catch
            answer = index, Raised(error)
