"""The worked examples of PROTOCOL.md section 8, as the reference goes through them; its log, line by line."""

import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from model_check.refinement.abstraction.abstraction import Abstraction
from model_check.refinement.history import History
from model_check.refinement.observations import Observer
from reference.journal import Entry, Report, RequestSent, StateChange
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest, StopReplicaRequest
from spec.language.views import leaves
from spec.logs.controller_log import reassignment
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_log.reassignment import LeaderNotReassigned, ReassignmentRemoved, ReassignmentRequested
from spec.logs.controller_log.state_machines import ReplicasInvoked
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.log_lines import Line, lines_of
from spec.logs.state_change_lines import ReplicaChanged
from spec.model import Model
from spec.scopes import Scope
from spec.state.cluster import shape
from spec.tables.replica_states import ReplicaState
from tests.reassignment_examples import EXAMPLES
from tests.reassignment_moves import NEW, OLD, UNION, Make, Move, begin, complete, phase_a, settled
from tests.reassignment_odd_targets import ODD_TARGETS

FIELDS = ("broker", "partition", "replicas", "leader", "leader_epoch", "isr", "version", "controller_epoch", "delete")
"""The order in which the examples name what was seen."""


class Referred:
    """A cluster in memory, led step by step; its state is read as the specification's variables."""

    def __init__(self, scope: Scope) -> None:
        self.cluster, self.history = initial_cluster(scope), History(frozenset({1}), frozenset({1}))
        model = Model(scope, frozenset())
        self._kinds = {one.name: one.kind for one in leaves(shape(model), "")}
        self._abstraction = Abstraction(model, self._kinds)
        self.lines: list[Line] = []
        self.replica_changes: list[ReplicaChanged] = []

    def can(self, rule: str, **parameters: int) -> bool:
        """Whether a choice is possible."""
        return _named(rule, parameters) in {choice.name for choice in choices(self.cluster)}

    def do(self, rule: str, **parameters: int) -> list[str]:
        """Make a choice; what was seen of it, as text."""
        name = _named(rule, parameters)
        found = {choice.name: choice for choice in choices(self.cluster)}
        assert name in found, f"{name} is not possible; what is: {', '.join(found)}"
        step(self.cluster, found[name])
        self.history = self.history.after(rule, self.cluster)
        self.lines += [entry.line for entry in self.cluster.entries if isinstance(entry, Report)]
        changed = [entry.line for entry in self.cluster.entries if isinstance(entry, StateChange)]
        self.replica_changes += [line for line in changed if isinstance(line, ReplicaChanged)]
        seen = Observer(self.cluster, rule, 1).observed()
        return [" ".join([one.role, one.kind, *self._shown(dict(one.fields))]) for one in seen]

    def _shown(self, fields: dict[str, object]) -> list[str]:
        known = [(name, fields[name]) for name in FIELDS if name in fields]
        return [f"{name}={list(value) if isinstance(value, tuple) else value}" for name, value in known]

    def __getitem__(self, path: str) -> str:
        """A variable as text."""
        raws = dict(zip(self._abstraction.names, self._abstraction(self.cluster, self.history), strict=True))
        return str(self._kinds[path].show(raws[path]))


def _named(rule: str, parameters: dict[str, int]) -> str:
    return f"{rule}({', '.join(f'{name}={value}' for name, value in parameters.items())})"


@pytest.mark.parametrize("example", [*EXAMPLES, *ODD_TARGETS], ids=lambda example: example.__name__)
def test_the_reference_goes_through_the_example(example: Callable[[Make], None]) -> None:
    example(Referred)


def recorded_lines() -> list[Line]:
    """What a real controller 1 wrote of the reassignment of topic a, from its begin to its end (05-reassign)."""
    logs = Path(__file__).parents[2] / "data" / "kafka-0.10.2.2-controller-logs.tar.xz"
    with tarfile.open(logs) as archive:
        member = archive.extractfile("05-reassign/broker-1/controller.log")
        assert member is not None
        text = member.read().decode().splitlines()
    entries = [entry for entry in read_entries(text, "controller.log") if isinstance(entry, LogEntry)]
    lines = [CONTROLLER_LOG.parse(entry.message) for entry in entries]
    first = next(number for number, line in enumerate(lines) if isinstance(line, ReassignmentRequested))
    last = next(number for number, line in enumerate(lines) if isinstance(line, ReassignmentRemoved))
    return lines[first : last + 1]


def about_to_move() -> tuple[Move, Referred]:
    """The worked example of PROTOCOL.md section 8 before it is asked for, and the cluster that it moves through."""
    made: list[Referred] = []

    def make(scope: Scope) -> Referred:
        made.append(Referred(scope))
        return made[0]

    return settled(make, OLD, NEW), made[0]


def in_sync() -> tuple[Move, Referred]:
    """The same where all of RAR is in the ISR, and phase B is about to begin."""
    move, cluster = about_to_move()
    begin(move)
    phase_a(move, 6, 5, 4)
    move.do("on_state_change", c=1, p=0)
    move.do("read_whether_caught_up", c=1, p=0)
    return move, cluster


def test_the_log_of_the_worked_example_is_what_a_real_controller_wrote() -> None:
    """The broker of replica 6 was the first to catch up, and the listener ran once more before the others had."""
    move, cluster = about_to_move()
    begin(move)
    move.do("write_union", c=1, p=0)
    move.do("read_for_bump", c=1, p=0)
    move.do("write_bump", c=1, p=0)
    for r in NEW:
        move.do("start_new_replica", c=1, p=0, r=r)
    move.deliver_all()
    move.do("on_state_change", c=1, p=0)
    move.do("expand_isr", b=1, p=0, r=6)
    move.do("on_state_change", c=1, p=0)
    for r in (5, 4):
        move.do("expand_isr", b=1, p=0, r=r)
    move.do("on_state_change", c=1, p=0)
    move.do("read_whether_caught_up", c=1, p=0)
    complete(move, *OLD)
    of_reassignment = tuple(lines_of(reassignment.__name__))
    assert [str(line) for line in cluster.lines if isinstance(line, of_reassignment)] == [
        str(line) for line in recorded_lines() if isinstance(line, of_reassignment)
    ]


def test_old_replicas_go_offline_all_together_and_then_through_deletion_to_nonexistent() -> None:
    """Steps 8 and 9, which the specification takes at once, as broker 1's state-change.log in 05-reassign has them."""
    move, cluster = in_sync()
    before = len(cluster.replica_changes)
    complete(move, *OLD)
    way = (
        "OnlineReplica",
        "OfflineReplica",
        "ReplicaDeletionStarted",
        "ReplicaDeletionSuccessful",
        "NonExistentReplica",
    )
    assert [(one.replica, str(one.source), str(one.target)) for one in cluster.replica_changes[before:]] == [
        (r, source, target) for source, target in pairwise(way) for r in OLD
    ]


@dataclass(frozen=True)
class Moment:
    """What controller 1 holds when it has written a line, and what it has queued in this step until then."""

    line: Line
    assigned: tuple[int, ...]
    states: dict[int, ReplicaState | None]
    queued: list[str]


def watched(cluster: Referred) -> list[Moment]:
    """The moments of all lines that are written from now on; ZooKeeper changes at the begin of a step only."""
    found: list[Moment] = []
    partition, controller = TopicPartition("a", 0), cluster.cluster.processes[1].own_controller

    def look(line: Line) -> None:
        queued = [_shown(entry) for entry in cluster.cluster.entries if isinstance(entry, RequestSent)]
        states = {r: controller.replica_machine.states.get((partition, r)) for r in (*OLD, *NEW)}
        found.append(Moment(line, controller.context.partition_replica_assignment[partition], states, queued))

    def record(entry: Entry) -> None:
        """Look at each line as it is written, in the middle of a step."""
        cluster.cluster.record(entry)
        if isinstance(entry, Report | StateChange):
            look(entry.line)

    controller.journal = record
    return found


def _shown(sent: RequestSent) -> str:
    """A request and its receiver, as the worked example tells it."""
    match request := sent.request.request:
        case StopReplicaRequest(partitions=partitions, delete_partitions=delete):
            about = f"StopReplica(del={str(delete).lower()}) of {len(partitions)}"
        case LeaderAndIsrRequest(partition_states=(state,)):
            one = state.leadership
            about = f"LeaderAndIsr(l{one.leader},isr{one.isr},e{one.leader_epoch},v{one.zk_version})"
        case _:
            about = type(request).__name__.removesuffix("Request")
    return f"{about} to {sent.broker}"


def test_row_5_all_of_rar_is_online_before_the_assignment_in_memory_is_rar() -> None:
    """Steps 5 and 6 are one action of the specification; here they are told apart by the lines in between."""
    move, cluster = about_to_move()
    begin(move)
    phase_a(move, 6, 5, 4)
    move.do("on_state_change", c=1, p=0)
    moments = watched(cluster)
    move.do("read_whether_caught_up", c=1, p=0)
    last = [one for one in moments if isinstance(one.line, ReplicaChanged)][-1]
    row_5, row_6 = moments[moments.index(last) :][:2]
    online = dict.fromkeys((*OLD, *NEW), ReplicaState.ONLINE)
    assert (str(row_5.assigned), row_5.states, row_5.queued) == (f"({UNION[1:-1]})", online, [])
    assert isinstance(row_6.line, LeaderNotReassigned)
    assert (row_6.assigned, row_6.states, row_6.queued) == (NEW, online, [])
    assert move.row() == (UNION, str(list(NEW)), "1", UNION, "1", "4")


def test_row_8_old_replicas_are_offline_and_told_to_stop_before_they_are_told_to_delete() -> None:
    """The sends of step 8 and all of step 9 are one action of the specification; a line of step 9 comes in between."""
    move, cluster = in_sync()
    move.do("read_for_move", c=1, p=0)
    move.do("write_move", c=1, p=0)
    for r in OLD:
        move.do("read_for_removal", c=1, p=0, r=r)
        moments = watched(cluster)
        move.do("write_removal", c=1, p=0, r=r)
    row_8 = next(one for one in moments if isinstance(one.line, ReplicasInvoked))
    states = {**dict.fromkeys(OLD, ReplicaState.OFFLINE), **dict.fromkeys(NEW, ReplicaState.ONLINE)}
    assert "to ReplicaDeletionStarted for" in str(row_8.line)
    assert (row_8.assigned, row_8.states) == (NEW, states)
    told = [f"LeaderAndIsr(l4,isr(5, 6, 4),e5,v8) to {r}" for r in NEW]
    told += [f"UpdateMetadata to {r}" for r in (*OLD, *NEW)]
    told += [f"StopReplica(del=false) of 1 to {r}" for r in OLD]
    assert row_8.queued == told
    row_9 = [f"StopReplica(del={delete} to {r}" for r in OLD for delete in ("false) of 0", "true) of 1")]
    assert [_shown(entry) for entry in cluster.cluster.entries if isinstance(entry, RequestSent)][len(told) :] == row_9
    assert move.row() == (UNION, str(list(NEW)), "4", "[5, 6, 4]", "5", "8")
