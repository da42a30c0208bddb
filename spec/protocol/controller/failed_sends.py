"""A send of a state machine fails: its batch keeps what was in it, and no later call of that machine does anything.

Each state machine has a batch of its own, as long as its process lives. What is raised while it is sent, an interrupt
or a leader that is registered without the brokers' listener, is logged by `handleStateChanges`; states, the cache and
ZooKeeper are ahead by then, and no broker is sent anything. The next call finds the batch dirty at its start, and so
does every other, in later terms of the same broker, too: it is logged, and no partition or replica changes its state
any more (D28-machines). A fix tries the send again.

Here what the next send is to run into comes up while the controller is idle. Left out: a send that fails after some
brokers' requests are on their queues; and sends that fail beside other parts than `BESIDE`, such as creations, whose
calls are not asked here whether they can begin.

Kafka 0.10.2.2: `ControllerBrokerRequestBatch.sendRequestsToBrokers`, `newBatch`; KAFKA-3173. PROTOCOL.md section 9.
"""

from enum import Enum
from typing import Final

from spec.language.rules import observe, require, when
from spec.language.terms import Value, both, flag
from spec.model import Model
from spec.protocol.controller.places import controller_step
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.variants import Switch

BESIDE: Final = frozenset({
    "partitions", "connections", "metadata", "notifications", "dead_replicas", "cached_leaderships", "failed_removals",
})  # fmt: skip
"""The parts in which every call of a state machine is asked whether it can begin."""


class Machine(Enum):
    """A state machine, by the flag that tells whether its batch was left dirty."""

    PARTITIONS = "partition_batch_left"
    REPLICAS = "replica_batch_left"


@controller_step(At.IDLE, source="PROTOCOL.md D28-machines", budget="failed_sends", over_session=False)
def fail_send(s: State, m: Model, c: int) -> None:
    """The next batch of a state machine will not be sent: something is raised in the middle."""
    del m
    controller = s.controllers[c]
    require(controller.active, ~controller.send_fails)
    controller.send_fails = True


def can_begin(s: State, c: int, machine: Machine) -> Value:
    """newBatch: whether no earlier send has left anything in the machine's batch. If one has, the call ends here."""
    return ~flag(s.controllers[c][machine.value])


def is_sent(s: State, m: Model, c: int, machine: Machine, content: Value) -> Value:
    """Whether the batch of a call is sent; one that has no content cannot fail."""
    controller = s.controllers[c]
    fails = both(controller.send_fails, content)
    tried_again = m.fixes(Switch.TRY_SENDS_AGAIN)
    with when(fails):
        controller.send_fails = False
        if not tried_again:
            observe(f"controller {c}", "fail to send")
            controller[machine.value] = True
    return flag(True) if tried_again else ~fails
