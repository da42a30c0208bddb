"""The batches of the two state machines: each call of a machine begins its batch, and sends it when all is treated.

Nothing that is raised by either leaves the call: it is logged in controller.log. What a send that failed left in the
batch is never cleared, and no later call of the machine can begin, as long as the process lives (D28-machines).

Kafka 0.10.2.2: `handleStateChanges` of `PartitionStateMachine` and `ReplicaStateMachine`. PROTOCOL.md section 9.
"""

from collections.abc import Callable

from reference.controller.batch import RequestBatch
from reference.controller.controller import KafkaController
from reference.journal import Milestone
from reference.procedures import DirtyBatch
from spec.logs.log_lines import Line
from spec.variants import Switch

Error = Callable[..., Line]
"""The line of controller.log that tells of what was raised."""


def begin(controller: KafkaController, batch: RequestBatch, error: Error) -> bool:
    """Whether a call can begin; where an earlier one left something in the batch, no state changes."""
    try:
        batch.new_batch()
    except DirtyBatch:
        controller.report(error)
        return False
    return True


def send(controller: KafkaController, batch: RequestBatch, error: Error) -> None:
    """Send what a call has gathered, unless that is to fail; states, the cache and ZooKeeper are ahead by then."""
    if controller.send_fails and batch.is_dirty:
        controller.send_fails = False
        if not controller.fixes(Switch.TRY_SENDS_AGAIN):
            batch.is_left = True
            controller.reach(Milestone.SEND_FAILED)
            controller.report(error)
            return
    batch.send(controller)
