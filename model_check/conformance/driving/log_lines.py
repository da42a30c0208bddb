"""What a driven controller logs, in a form that is the same for all that may differ.

The lines of a turn stand in ascending order, for several threads may write them, and each of them once, for a listener
that is called twice, by two watches, finds the same again. In each what has no order is sorted, for Kafka goes through
a set. What is no line of Kafka's, or of a kind that a vector does not name, is passed over.
"""

from collections.abc import Collection, Iterable
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Final

from spec.formats.kafka_types import V0102
from spec.logs.controller_log.elections import ImbalanceRatio
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_log.topic_deletion import DeletionInProgress
from spec.logs.controller_request_lines import ControllerLine, ResponseReceived
from spec.logs.log_lines import Line, in_order
from spec.logs.state_change_lines import STATE_CHANGE_LOG

LOGS: Final = (STATE_CHANGE_LOG, CONTROLLER_LOG)
KINDS: Final = frozenset(
    one.__name__ for log in LOGS for one in log.kinds if issubclass(one, ControllerLine | ControllerLogLine)
) - {ResponseReceived.__name__, DeletionInProgress.__name__, ImbalanceRatio.__name__}
"""The lines that a controller may be asked for.

Not those that differ by which broker answers, and when; nor a ratio, of which the specification knows imbalances only.
"""
LISTENERS: Final = frozenset(
    one.__name__ for one in CONTROLLER_LOG.kinds if any("Listener on " in form.text for form in one.templates.values())
)
"""The lines of listeners."""
NUMBERS: Final = frozenset({"behind", "brokers", "dead", "live", "live_brokers", "new", "partitions"})
"""The fields that are sets of brokers, or of partitions; other lists of numbers have an order: an AR, an ISR."""


def lines_of_turn(texts: Iterable[str], kinds: Collection[str]) -> list[str]:
    """The lines among these texts that are of some kinds; without any kind no text is read."""
    return sorted({line for kind, line in filter(None, map(_line, texts if kinds else ())) if kind in kinds})


def plain(line: Line) -> str:
    """A line with all that has no order sorted."""
    told = {one.name: getattr(line, one.name) for one in fields(line) if one.init}
    in_one_order: dict[str, Any] = {name: in_order(value) for name, value in told.items() if _is_set(name, value)}
    return str(replace(line, **in_one_order))


def _is_set(name: str, value: Any) -> bool:
    return isinstance(value, tuple) and (name in NUMBERS or not all(isinstance(one, int) for one in value))


@lru_cache(maxsize=10_000)
def _line(text: str) -> tuple[str, str] | None:
    """The kind and the form of a line of Kafka's. Where a text departs from them is not looked for: that takes long."""
    for log in LOGS:
        if log.has(text, V0102):
            line = log.parse(text)
            return type(line).__name__, plain(line)
    return None
