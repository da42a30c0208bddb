"""A broker's controller.log as observations: what its controller read, and when.

The lines that the rules of the specification say are observations; of those about deletion, or about a reassignment,
only where the recording shows any. All others are passed over, by the part that they are about; a line that is in no
table of `spec/logs/controller_log/` is refused.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from model_check.recordings.entries import Log, head_of
from model_check.recordings.recording import Cluster, Observed
from model_check.recordings.seen import MAY_BE_OFF, ControllerSaid
from model_check.recordings.tracks import UNLOCKED
from spec import protocol, system  # noqa: F401 - whoever loads the system loads the whole protocol
from spec.errors import MalformedInput
from spec.logs.controller_log import reassignment, topic_deletion
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.controller_log.elections import ImbalanceRatio
from spec.logs.controller_log.failover import Resigned
from spec.logs.controller_log.lines import MODULES
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.log_lines import Line, lines_of
from spec.scopes import IMBALANCE_PERCENTAGE


def _said() -> Iterator[type[Line]]:
    """The lines that modules of the protocol name, which are loaded with the rules."""
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{protocol.__name__}.")]
    for one in (value for module in modules for value in vars(module).values()):
        if isinstance(one, type) and issubclass(one, ControllerLogLine):
            yield one


SAID: Final = frozenset(_said())
REPORTS_OF: Final[Mapping[str, frozenset[type[Line]]]] = {
    "deletion": frozenset(
        one for one in SAID if one.__module__ == topic_deletion.__name__ or one is DeletionThreadFailed
    ),
    "reassignment": frozenset(one for one in SAID if one.__module__ == reassignment.__name__),
}
"""What is an observation only where the recording has a part of the protocol."""
REPORTS: Final = SAID.difference(*REPORTS_OF.values())
"""The lines that are observations in any recording."""

CONTROLLER_LOG: Final = "controller.log"

REASONS: Final[Mapping[str, str]] = {
    "failover": "a failover's other lines, which say nothing more",
    "broker_changes": "a broker change's other lines: what follows is in ZooKeeper and in state-change.log",
    "topics": "a creation's other lines: what follows is in state-change.log",
    "state_machines": "batches of transitions, each of which is in state-change.log",
    "leader_selection": "the choice of a leader, which is in ZooKeeper once it is written",
    "channels": "requests and connections: what arrives is in the brokers' state-change.log",
    "isr_notification": "ISR change notifications, whose deletion is in ZooKeeper",
    "elections": "an election's other lines, and imbalances within the percentage",
    "reassignment": "a reassignment's other lines, which say nothing more, or where nothing is reassigned",
    "topic_deletion": "a topic deletion's other lines, which say nothing more",
    "logger_lines": "a line of log4j",
}
"""Why lines are no observations, by the module that declares them."""
LAST_WORD = "a resignation that is the last word of its process: a broker that is shut down resigns, too"
PASSED_OVER: Final[Mapping[type[Line], str]] = {
    kind: REASONS[module.__name__.rpartition(".")[2]]
    for module in MODULES
    for kind in lines_of(module.__name__)
    if kind not in REPORTS
}


def _why_passed_over(line: Line, parts: Collection[str]) -> str:
    """Why a line is no observation of a recording that has these parts of the protocol; nothing, if it is one."""
    if isinstance(line, ImbalanceRatio) and line.ratio * 100 <= IMBALANCE_PERCENTAGE:
        return REASONS["elections"]  # the broker leads as much as it must, so that nothing follows
    is_of_a_part = any(type(line) in REPORTS_OF.get(part, ()) for part in parts)
    return "" if is_of_a_part else PASSED_OVER.get(type(line), "")


def read_reports(
    log: Log, cluster: Cluster, broker: int, life: Callable[[int], int], passed_over: Counter[str]
) -> dict[str, tuple[Observed, ...]]:
    """The two sequences of a log by name; MalformedInput names the line that is not one of Kafka's."""
    said: list[ControllerSaid] = []
    own = cluster.broker_ids[broker - 1]
    details = defaultdict[int, set[type[Line]]](set)
    for entry, line in log.lines():
        writer: Any = getattr(line, "controller", None)
        if writer not in {own, None}:
            raise MalformedInput(entry.place, "controller", f"is {writer} in a log of broker {own}")
        head = head_of(entry)
        if why := _why_passed_over(line, cluster.parts):
            passed_over[f"{CONTROLLER_LOG}: {why}"] += 1
        else:
            if entry.level in MAY_BE_OFF:
                details[life(head["time"])].add(type(line))
            said.append(ControllerSaid(**head, controller=broker, incarnation=life(head["time"]), line=line))
    said = [replace(one, details=frozenset(details[one.incarnation])) for one in said]
    kept = [one for one, after in pairwise((*said, None)) if one is not None and not _is_last_word(one, after)]
    if len(kept) < len(said):
        passed_over[f"{CONTROLLER_LOG}: {LAST_WORD}"] += len(said) - len(kept)
    held, unlocked = (tuple(one for one in kept if bool(one.unlocked) is free) for free in (False, True))
    return {f"{CONTROLLER_LOG} {own}": held, f"{UNLOCKED} {own}": unlocked}


def _is_last_word(one: ControllerSaid, after: ControllerSaid | None) -> bool:
    """Whether a process resigns, and says nothing more."""
    is_last = after is None or after.incarnation != one.incarnation
    return is_last and isinstance(one.line, Resigned)
