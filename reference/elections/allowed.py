"""A topic is allowed unclean election while its partitions are offline: the active controller elects for them, at once.

A fix of 2.1.0; in the era nobody tells the controller (D63).

Kafka 2.1.0: `KafkaController.TopicUncleanLeaderElectionEnable`. PROTOCOL.md section 5.
"""

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.resignation import on_controller_moved
from reference.leadership.partitions import trigger_online_partition_state_change
from reference.procedures import FencedOff, Procedure
from spec.state.enumerations import Handler


def elect_where_allowed(controller: KafkaController, topic: str) -> Procedure[None]:
    """Bring the partitions of a topic online that wait, if this is the active controller, and the latest one."""
    try:
        if controller.is_active:
            yield from trigger_online_partition_state_change(controller, Handler.NONE, topic)
    except FencedOff:
        on_controller_moved(controller)
    finally:
        controller.activity = Activity()
