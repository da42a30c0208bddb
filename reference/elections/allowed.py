"""A topic is allowed unclean election while its partitions are offline: the active controller elects for them, at once.

A fix of 2.1.0; in the era nobody tells the controller (D63).

Kafka 2.1.0: `KafkaController.TopicUncleanLeaderElectionEnable`. PROTOCOL.md section 5.
"""

from reference.controller.controller import KafkaController
from reference.leadership.partitions import trigger_online_partition_state_change
from reference.procedures import Procedure
from spec.state.enumerations import Handler


def elect_where_allowed(controller: KafkaController, topic: str) -> Procedure[None]:
    """Bring the partitions of a topic online that wait, if this is the active controller."""
    if controller.is_active:
        yield from trigger_online_partition_state_change(controller, Handler.NONE, topic)
