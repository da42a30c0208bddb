"""The batches of the two state machines: each call of a machine begins its batch, and sends it when all is handled.

Nothing that is raised by either leaves the call: it is logged in controller.log. What a send that failed left in the
batch is never cleared, and no later call of the machine can begin, as long as the process lives (D28-machines). A
machine that is not up, since the failover ended before it came to that (D4), or the term has, raises at the first that
it is to handle, and state-change.log has nothing of it.

Kafka 0.10.2.2: `handleStateChanges` of `PartitionStateMachine` and `ReplicaStateMachine`. PROTOCOL.md section 9.
"""

from collections.abc import Callable

from reference.controller.batch import send_batch
from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.journal import Milestone
from reference.procedures import DirtyBatch
from spec.logs.log_lines import Line
from spec.variants import Switch

Error = Callable[..., Line]
"""The line of controller.log that tells of what was raised."""


def begin(controller: KafkaController, batch: RequestBatch, error: Error, *, is_up: bool = True) -> bool:
    """Whether a call can begin; with a machine that is not up, or what an earlier call left, no state changes."""
    try:
        batch.new_batch()
    except DirtyBatch:
        is_up = False
    if not is_up:
        controller.report(error)
    return is_up


def send(controller: KafkaController, batch: RequestBatch, error: Error) -> None:
    """Send what a call has gathered, unless that is to fail; states, the cache and ZooKeeper are ahead by then."""
    if controller.send_fails and batch.is_dirty:
        controller.send_fails = False
        if not controller.fixes(Switch.TRY_SENDS_AGAIN):
            batch.is_left = True
            controller.reach(Milestone.SEND_FAILED)
            controller.report(error)
            return
    send_batch(controller, batch)
