"""State changes as a controller logs them: each line of state-change.log bears the epoch that it holds.

Kafka 0.10.2.2: `ReplicaStateMachine.handleStateChange`, `PartitionStateMachine.handleStateChange`, and their
`StateChangeLogger`. PROTOCOL.md section 12.1.
"""

from spec.language.rules import only_said, say, when
from spec.language.terms import Value, either
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.state_change_lines import PartitionChangeFailed, PartitionLostLeader, ReplicaChanged, ReplicaChangeFailed
from spec.model import Model
from spec.state.cluster import State
from spec.state.state_machines import has_started
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import valid_previous_states
from spec.tables.taken_rows import move


@only_said
def log(s: State, c: int, line: type[ControllerLine], *, perhaps: object = False, **fields: object) -> None:
    """The controller writes this line."""
    say(line, perhaps=perhaps, epoch=s.controllers[c].epoch, **fields)


def replica_goes(s: State, c: int, p: int, r: int, target: ReplicaState) -> None:
    """A replica goes to a state, and that is logged."""
    log_replica(s, c, p, r, target)
    move(s.controllers[c].partitions[p].replicas, r, target)


@only_said
def log_replica(s: State, c: int, p: int, r: int, target: ReplicaState) -> None:
    """That a replica goes to a state is logged."""
    source = s.controllers[c].partitions[p].replicas[r]
    log(s, c, ReplicaChanged, partition=p, replica=r, source=source, target=target)


@only_said
def replica_stays(s: State, m: Model, c: int, p: int, r: int, target: ReplicaState, *, perhaps: object = False) -> None:
    """A replica does not go to a state, which a machine that is up logs; one that is not ends its call before."""
    source = s.controllers[c].partitions[p].replicas[r]
    with when(has_started(s, m, c)):
        log(s, c, ReplicaChangeFailed, perhaps=perhaps, partition=p, replica=r, source=source, target=target)


@only_said
def partition_stays(s: State, m: Model, c: int, p: int, *, target: PartitionState, perhaps: object = False) -> None:
    """A partition does not go to a state, which a machine that is up logs; one that is not ends its call before."""
    source = s.controllers[c].partitions[p].state
    with when(has_started(s, m, c)):
        log(s, c, PartitionChangeFailed, perhaps=perhaps, partition=p, source=source, target=target)


@only_said
def log_lost_leader(s: State, c: int, p: int, target: PartitionState, *behind: PartitionState) -> None:
    """That a partition goes to a state without a leader is logged; it has the last of those `behind` it by then."""
    state = s.controllers[c].partitions[p].state
    with when(state != PartitionState.NON_EXISTENT):
        log(s, c, PartitionLostLeader, partition=p, source=(state, *behind)[-1], target=target)


@only_said
def refused(s: State, m: Model, c: int, p: int, r: int, target: ReplicaState) -> None:
    """A replica that the table does not let go to a state stays as it is; Kafka visits it among others."""
    with when(~is_let(s.controllers[c].partitions[p].replicas[r], target)):
        replica_stays(s, m, c, p, r, target, perhaps=True)


def is_let(state: Value, target: ReplicaState) -> Value:
    """Whether the table lets a replica go from a state to another."""
    lets = valid_previous_states(REPLICA_TRANSITIONS, target)
    return either(*(state == source for source in ReplicaState if source in lets))
