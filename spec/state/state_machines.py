"""Whether the two state machines of a controller are up; machines that are not do nothing that they are asked.

`handleStateChange` of either raises at the first item then, outside of what it catches and logs in state-change.log.

Kafka 0.10.2.2: `PartitionStateMachine.hasStarted`, `ReplicaStateMachine.hasStarted`. PROTOCOL.md section 6.
"""

from spec.language.terms import Value, flag
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import DeletionThread


def has_started(s: State, m: Model, c: int) -> Value:
    """Whether the state machines are up: an active controller's are, except where a failover ended before it came to
    them.

    Of a former controller a controlled shutdown asks that, and before 0.10.2.0 a reassignment.

    Between the channels and the machines it reads what is pending, and only there it can end, or at the send of
    UpdateMetadata, which a dirty batch forbids: where batches may be dirty, a flag tells.
    """
    if m.loses_topics:
        return flag(s.controllers[c].started)
    if "pending_requests" not in m.features:
        return flag(s.controllers[c].active) if m.shutdowns_outlive_terms else flag(True)
    return flag(s.controllers[c].deletion != DeletionThread.NONE)
