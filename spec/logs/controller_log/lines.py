"""All lines of controller.log, and the parser of it.

    line = CONTROLLER_LOG.parse("[Controller 1]: Controller 1 incremented epoch to 3", V0102)
    line == EpochIncremented(1, 3)                                and str(line) is the text again

Kafka: the classes of kafka.controller, 0.8.2 to 0.10.2; PROTOCOL.md section 12.4.
"""

from typing import Final

from spec.logs import logger_lines
from spec.logs.controller_log import (
    broker_changes,
    channels,
    elections,
    failover,
    isr_notification,
    leader_selection,
    reassignment,
    state_machines,
    topic_deletion,
    topics,
)
from spec.logs.log_lines import Vocabulary, lines_of

MODULES = (
    failover, broker_changes, topics, state_machines, leader_selection, channels, reassignment, elections,
    isr_notification, topic_deletion, logger_lines,
)  # fmt: skip

CONTROLLER_LOG: Final = Vocabulary(lines_of(*(one.__name__ for one in MODULES)))
