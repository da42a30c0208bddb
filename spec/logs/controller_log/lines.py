"""All lines of controller.log, and the parser of it.

    line = CONTROLLER_LOG.parse("[Controller 1]: Controller 1 incremented epoch to 3", V0102)
    line == EpochIncremented(1, 3)                                and str(line) is the text again

Kafka: the classes of kafka.controller, 0.8.2 to 0.10.2; PROTOCOL.md section 12.4.
"""

from typing import Final

from spec.logs.controller_log.broker_changes import BROKER_LINES
from spec.logs.controller_log.channels import CHANNEL_LINES
from spec.logs.controller_log.elections import ELECTION_LINES
from spec.logs.controller_log.failover import FAILOVER_LINES
from spec.logs.controller_log.isr_notification import ISR_NOTIFICATION_LINES
from spec.logs.controller_log.leader_selection import SELECTION_LINES
from spec.logs.controller_log.reassignment import REASSIGNMENT_LINES
from spec.logs.controller_log.state_machines import STATE_MACHINE_LINES
from spec.logs.controller_log.topic_deletion import DELETION_LINES
from spec.logs.controller_log.topics import TOPIC_LINES
from spec.logs.log_lines import Vocabulary
from spec.logs.logger_lines import LoggerRegistered

CONTROLLER_LOG: Final = Vocabulary(
    (
        *FAILOVER_LINES,
        *BROKER_LINES,
        *TOPIC_LINES,
        *STATE_MACHINE_LINES,
        *SELECTION_LINES,
        *CHANNEL_LINES,
        *REASSIGNMENT_LINES,
        *ELECTION_LINES,
        *ISR_NOTIFICATION_LINES,
        *DELETION_LINES,
        LoggerRegistered,
    )
)
