"""A broker's controller.log as observations: what its controller read, and when.

The lines that the rules of the specification say are observations; of those about deletion, or about a reassignment,
only where the recording shows any. All others are passed over, by the part that they are about; a line that is in no
table of `spec/logs/controller_log/` is refused.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from model_check.recordings.entries import Log, head_of
from model_check.recordings.processes import MAY_BE_OFF, ControllerSaid
from model_check.recordings.recording import Cluster, Observed
from spec import protocol, system  # noqa: F401 - whoever loads the system loads the whole protocol
from spec.errors import MalformedInput
from spec.logs.controller_log import reassignment, topic_deletion
from spec.logs.controller_log.broker_changes import BROKER_LINES
from spec.logs.controller_log.channels import CHANNEL_LINES, DeletionThreadFailed
from spec.logs.controller_log.elections import ELECTION_LINES, ImbalanceRatio
from spec.logs.controller_log.failover import FAILOVER_LINES, Resigned
from spec.logs.controller_log.isr_notification import ISR_NOTIFICATION_LINES
from spec.logs.controller_log.leader_selection import SELECTION_LINES
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_log.reassignment import REASSIGNMENT_LINES
from spec.logs.controller_log.state_machines import STATE_MACHINE_LINES
from spec.logs.controller_log.topic_deletion import DELETION_LINES
from spec.logs.controller_log.topics import TOPIC_LINES
from spec.logs.log_lines import Line
from spec.logs.logger_lines import LoggerRegistered
from spec.scopes import IMBALANCE_PERCENTAGE


def _said() -> Iterator[type[Line]]:
    """The lines that modules of the protocol name, which are loaded with the rules."""
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{protocol.__name__}.")]
    for one in (value for module in modules for value in vars(module).values()):
        if isinstance(one, type) and issubclass(one, ControllerLogLine):
            yield one


SAID: Final = frozenset(_said())
DELETION_REPORTS: Final = frozenset(
    one for one in SAID if one.__module__ == topic_deletion.__name__ or one is DeletionThreadFailed
)
"""The lines of deletion that are observations."""
REASSIGNMENT_REPORTS: Final = frozenset(one for one in SAID if one.__module__ == reassignment.__name__)
"""The lines that are observations where something is reassigned."""
REPORTS: Final = SAID - DELETION_REPORTS - REASSIGNMENT_REPORTS
"""The lines that are observations in any recording."""

CONTROLLER_LOG: Final = "controller.log"

REASONS: Final[Mapping[tuple[type[Line], ...], str]] = {
    FAILOVER_LINES: "a failover's other lines, which say nothing more",
    BROKER_LINES: "a broker change's other lines: what follows is in ZooKeeper and in state-change.log",
    TOPIC_LINES: "a creation's other lines: what follows is in state-change.log",
    STATE_MACHINE_LINES: "batches of transitions, each of which is in state-change.log",
    SELECTION_LINES: "the choice of a leader, which is in ZooKeeper once it is written",
    CHANNEL_LINES: "requests and connections: what arrives is in the brokers' state-change.log",
    ISR_NOTIFICATION_LINES: "ISR change notifications, whose deletion is in ZooKeeper",
    ELECTION_LINES: "an election's other lines, and imbalances within the percentage",
    REASSIGNMENT_LINES: "a reassignment's other lines, which say nothing more, or where nothing is reassigned",
    DELETION_LINES: "a topic deletion's other lines, which say nothing more",
    (LoggerRegistered,): "a line of log4j",
}
"""Why lines are no observations, by part; the last that names a line counts."""
LAST_WORD = "a resignation that is the last word of its process: a broker that is shut down resigns, too"
PASSED_OVER: Final[Mapping[type[Line], str]] = {
    kind: reason for kinds, reason in REASONS.items() for kind in kinds if kind not in REPORTS
}
REPORTS_OF: Final[Mapping[str, frozenset[type[Line]]]] = {
    "deletion": DELETION_REPORTS,
    "reassignment": REASSIGNMENT_REPORTS,
}
"""What is an observation only where the recording has a part of the protocol."""

IN_BALANCE: Final = REASONS[ELECTION_LINES]


def is_in_balance(line: Line) -> bool:
    """Whether a line says that a broker leads as much as it must, so that nothing follows."""
    return isinstance(line, ImbalanceRatio) and line.ratio * 100 <= IMBALANCE_PERCENTAGE


def read_reports(
    log: Log, cluster: Cluster, broker: int, life: Callable[[int], int], passed_over: Counter[str]
) -> dict[str, tuple[Observed, ...]]:
    """The sequence of a log by its name; MalformedInput names the line that is none of Kafka's."""
    said: list[ControllerSaid] = []
    of_parts = frozenset[type[Line]]().union(*(REPORTS_OF.get(part, ()) for part in cluster.parts))
    own = cluster.broker_ids[broker - 1]
    details = defaultdict[int, set[type[Line]]](set)
    for entry, line in log.lines():
        writer: Any = getattr(line, "controller", None)
        if writer not in {own, None}:
            raise MalformedInput(entry.place, "controller", f"is {writer} in a log of broker {own}")
        head = head_of(entry)
        if is_in_balance(line) or (type(line) in PASSED_OVER and type(line) not in of_parts):
            passed_over[f"{CONTROLLER_LOG}: {PASSED_OVER.get(type(line), IN_BALANCE)}"] += 1
        else:
            if entry.level in MAY_BE_OFF:
                details[life(head["time"])].add(type(line))
            said.append(ControllerSaid(**head, controller=broker, incarnation=life(head["time"]), line=line))
    said = [replace(one, details=frozenset(details[one.incarnation])) for one in said]
    kept = [one for one, after in pairwise((*said, None)) if one is not None and not _is_last_word(one, after)]
    if len(kept) < len(said):
        passed_over[f"{CONTROLLER_LOG}: {LAST_WORD}"] += len(said) - len(kept)
    return {f"{CONTROLLER_LOG} {own}": tuple(kept)}


def _is_last_word(one: ControllerSaid, after: ControllerSaid | None) -> bool:
    """Whether a process resigns, and says nothing more."""
    is_last = after is None or after.incarnation != one.incarnation
    return is_last and isinstance(one.line, Resigned)
