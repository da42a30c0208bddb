"""What comes between: an effect that is to meet an error, or something that is done right before it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from reference.face.step_names import is_meant, refuse_unknown
from reference.face.view import partition_name
from reference.memory.open_cluster import NOTHING, Between
from reference.memory.process import MemoryProcess
from reference.procedures import Effect, UnexpectedFailure
from reference.zookeeper.api import (
    BadVersion,
    ConnectionLoss,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    OperationRefused,
    SessionExpired,
    ZookeeperError,
)
from spec.errors import BadInput, UnknownName

ERRORS: Final[dict[str, type[ZookeeperError]]] = {
    one.__name__: one
    for one in (NoNode, BadVersion, NodeExists, NotEmpty, NoChildrenForEphemerals, ConnectionLoss, SessionExpired)
}
UNFORESEEN: Final = UnexpectedFailure.__name__
LOST: Final = "LostAnswer"
"""No error that anybody sees: the write is applied, its answer is lost, and ZkClient does it again."""


@dataclass
class Intervention:
    """What comes so many times."""

    step: str
    error: str | None
    act: Callable[[], None] | None
    times: int


class Interventions:
    """Those that are still to come."""

    def __init__(self) -> None:
        self._waiting: list[Intervention] = []
        self._broken: Exception | None = None

    def add(self, step: str, *, times: int, error: str | None = None, act: Callable[[], None] | None = None) -> None:
        """One more; UnknownName for an error that there is not."""
        if error is not None and error not in {*ERRORS, UNFORESEEN, LOST}:
            raise UnknownName("error", error, [*ERRORS, UNFORESEEN, LOST])
        if type(times) is not int or times < 1:
            raise BadInput(f"{times!r} times is not so often as anything can come; expected 1 or more")
        refuse_unknown(step)
        self._waiting.append(Intervention(step, error, act, times))

    def come_before(self, process: MemoryProcess, effect: Effect[Any]) -> Between:
        """Do what is to be done before an effect, and raise what it is to raise; what else comes between."""
        between, name = NOTHING, effect_name(process, effect)
        for one in [one for one in self._waiting if is_meant(one.step, effect.action, name)]:
            one.times -= 1
            if one.times <= 0:
                self._waiting.remove(one)
            if one.act is not None:
                self._act(one.act)
            if one.error == LOST:
                between = replace(between, loses_answer=True)
            elif one.error is not None:
                between = replace(between, refusal=self._refusal(process, effect, one.error))
        return between

    def _act(self, act: Callable[[], None]) -> None:
        """Do what is to be done; what it raises is no exception of the handler that it comes before."""
        try:
            act()
        except Exception as error:
            self._broken = self._broken or error
            raise

    def tell_what_broke(self) -> None:
        """Raise what something raised that came before an effect."""
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken

    @staticmethod
    def _refusal(process: MemoryProcess, effect: Effect[Any], error: str) -> OperationRefused:
        """What ZooKeeper is to say to an operation of the effect; what it does not say is raised."""
        if process.running is None or effect not in process.running.choices.values():
            raise BadInput(
                f"{effect.action} is no effect of a handler of the controller, so nobody would catch {error}"
            )
        if error == UNFORESEEN:
            raise UnexpectedFailure(f"{effect.action} was to fail")
        made = ERRORS[error](effect.written or effect.action)
        if isinstance(made, OperationRefused):
            return made
        raise made


def effect_name(process: MemoryProcess, effect: Effect[Any]) -> str:
    """An effect as the step that carries it out is named."""
    about = [f"controller={process.broker_id}"]
    if (partition := getattr(effect, "partition", None)) is not None:
        about.append(f"partition={partition_name(partition)}")
    about += [f"{name}={getattr(effect, name)}" for name in ("replica", "topic") if hasattr(effect, name)]
    return f"{effect.action}({', '.join(about)})"
