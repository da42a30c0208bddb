"""Which lines a step must write: of shutdowns refused or in vain, and those of DEBUG that its process writes."""

from itertools import pairwise

import pytest

from model_check.judging.lines.controller_log import Reports
from model_check.judging.lines.said_lines import Expected
from model_check.judging.lines.state_change_log import Printing
from model_check.recordings.processes import ControllerSaid
from model_check.recordings.recording import Cluster
from model_check.stepping.open_system import OpenSystem, open_system
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.language.terms import number
from spec.logs.controller_log.broker_changes import ShuttingDownBroker
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.reassignment import ReassignmentRequested
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.logs.logged_values import Leadership
from spec.logs.state_change_lines import ReplicaChanged, ReplicaChangeFailed
from spec.state.elections import Leaving
from spec.state.enumerations import At, Session
from spec.tables.replica_states import ReplicaState

CLUSTER = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1, 2),))
PARAMETERS = {"c": 1, "b": 2, "p": 0, "r": 2}


def system() -> OpenSystem:
    parts = frozenset({"deletion", "shutdown", "reassignment"})
    return open_system(2, ((1, 2),), (0,), controller_epochs=2, parts=parts, requests=(((2,),),))


def state(
    replica: ReplicaState = ReplicaState.ONLINE,
    *,
    active: bool = True,
    leader: int = 1,
    znode_epoch: int | None = 1,
    queued: bool = False,
) -> PlainState:
    """Controller 1, of epoch 1, knows who leads the partition, and replica 2's state; a controller wrote the znode."""
    known = {
        "leader": leader,
        "version": system().model.version.encode(1),
        "replicas": {2: list(ReplicaState).index(replica)},
    }
    controller = {"active": int(active), "epoch": 1, "queued": {0: int(queued)}, "partitions": {0: known}}
    znode = {} if znode_epoch is None else {"version": known["version"], "controller_epoch": znode_epoch}
    return {"controllers": {1: controller}, "zookeeper": {"state": {0: znode}}}


def demanded(at: PlainState, rule: str = "move_partition") -> frozenset[tuple[object, ...]]:
    """The lines that stopping a follower, or a removal from the ISR, must print to state-change.log."""
    return Printing(system(), CLUSTER, rule, PARAMETERS, at, at, ()).demands


@pytest.mark.parametrize(("active", "expected"), [(True, [ShuttingDownBroker]), (False, [])])
def test_who_is_active_says_which_shutdown_it_refuses(active: bool, expected: list[type[Line]]) -> None:
    """Controller 1 does not know broker 2, which asks it, as registered."""
    live, waits = list(Session).index(Session.LIVE), list(Leaving).index(Leaving.WAITS)
    processes = {1: {"session": live}, 2: {"session": live, "leaving": waits, "asked": 1}}
    found = system().step({**state(active=active), "processes": processes}, "refuse_shutdown", {"c": 1, "b": 2})
    assert found is not None
    assert [one.line for one in found.said] == expected


@pytest.mark.parametrize(
    ("replica", "leader", "expected"),
    [
        (ReplicaState.DELETION_SUCCESSFUL, 1, {(ReplicaChangeFailed, CLUSTER.partitions[0], 2)}),
        (ReplicaState.DELETION_STARTED, 1, {(ReplicaChangeFailed, CLUSTER.partitions[0], 2)}),
        (ReplicaState.ONLINE, 1, set()),
    ],
)
def test_a_follower_that_is_deleted_cannot_go_offline_and_that_is_said(
    replica: ReplicaState, leader: int, expected: set[tuple[object, ...]]
) -> None:
    assert demanded(state(replica, leader=leader)) == expected


@pytest.mark.parametrize("rule", ["move_partition", "read_for_removal"])
@pytest.mark.parametrize(
    ("znode_epoch", "queued", "fails"),
    [(1, False, False), (2, False, True), (2, True, True), (None, False, True), (None, True, False)],
)
def test_who_finds_a_newer_controllers_znode_or_none_takes_nobody_offline_and_says_so(
    rule: str, znode_epoch: int | None, queued: bool, fails: bool
) -> None:
    """`removeReplicaFromIsr` raises; of a topic that is being deleted a znode may be gone."""
    found = demanded(state(znode_epoch=znode_epoch, queued=queued), rule)
    failed = (ReplicaChangeFailed, CLUSTER.partitions[0], 2)
    assert (failed in found) == fails


def test_that_line_is_such_a_steps_and_no_resignations() -> None:
    at = state(znode_epoch=2)
    line = ReplicaChangeFailed(1, 1, 2, CLUSTER.partitions[0], ReplicaState.ONLINE, ReplicaState.OFFLINE)
    assert Printing(system(), CLUSTER, "read_for_removal", PARAMETERS, at, at, ()).accounts_for(line)
    resigned = {**at, "controllers": {1: {}}}
    assert not Printing(system(), CLUSTER, "on_new_session", PARAMETERS, at, resigned, ()).accounts_for(line)


GOING = (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL)
GONE = ReplicaState.NON_EXISTENT


@pytest.mark.parametrize(
    ("old", "failing", "rows"),
    [
        (ReplicaState.ONLINE, (), [(ReplicaState.ONLINE, GOING[0]), *pairwise((*GOING, GONE))]),
        (ReplicaState.DELETION_STARTED, GOING[:2], [*pairwise((*GOING[1:], GONE))]),
        (ReplicaState.DELETION_SUCCESSFUL, GOING, [(GOING[2], GONE)]),
    ],
)
def test_an_old_replica_takes_the_steps_that_the_table_lets_it_and_fails_in_the_others(
    old: ReplicaState, failing: tuple[ReplicaState, ...], rows: list[tuple[ReplicaState, ReplicaState]]
) -> None:
    """`handleStateChanges` catches for each replica and each of the four targets of steps 8 and 9."""

    def at(place: At, replica: ReplicaState) -> PlainState:
        known = state(replica, queued=True)
        controller = {**known["controllers"][1], "at": list(At).index(place), "reassigning": 0}
        return {**known, "controllers": {1: controller}}

    before, after = at(At.REMOVE_WRITE, old), at(At.WRITE_TARGET, GONE)
    step = Printing(system(), CLUSTER, "write_removal", PARAMETERS, before, after, ())
    partition = CLUSTER.partitions[0]
    every = [*ReplicaState]
    failed = {
        (source, target)
        for source in every
        for target in every
        if step.accounts_for(ReplicaChangeFailed(1, 1, 2, partition, source, target))
    }
    changed = {
        (source, target)
        for source in every
        for target in every
        if step.accounts_for(ReplicaChanged(1, 1, 2, partition, source, target))
    }
    assert failed == {(old, target) for target in failing}
    assert changed == set(rows)


def test_of_the_two_batches_for_a_new_broker_the_second_names_what_it_hosts() -> None:
    """A line like that of the first batch, right after the second, may be of the next handler."""

    def queued(kind: str, **fields: int) -> Seen:
        return Seen("controller 1", kind, {name: number(9).constant(value) for name, value in fields.items()})

    def updates(*seen: Seen, leader: int = 1) -> int:
        step = Printing(system(), CLUSTER, "on_broker_change", PARAMETERS, state(), state(), seen)
        line = UpdateMetadataSending(1, 1, Leadership(leader, (1,), 0, 1), (1, 2), CLUSTER.partitions[0])
        return step.updates_naming(line)

    everybody = queued("queue UpdateMetadata", broker=2)
    hosted, other = (queued("queue LeaderAndIsr", broker=2, partition=p) for p in (0, 1))
    assert updates() == 0
    assert updates(everybody) == updates(everybody, hosted) == 1
    assert updates(everybody, other, everybody) == 1
    assert updates(everybody, hosted, everybody) == 2
    assert updates(everybody, other, everybody, leader=LEADER_DURING_DELETE) == 2
    assert updates(everybody, everybody) == 2, "it hosts nothing; another broker, that led nothing, has died"
    assert updates(everybody, other, everybody, everybody) == 2


def said(line: Line, *details: type[Line]) -> ControllerSaid:
    return ControllerSaid(place="", time=0, text="", controller=1, incarnation=1, line=line, details=frozenset(details))


def test_a_line_of_debug_is_missed_where_its_process_writes_such_lines() -> None:
    """A callback of ISR changes begins with one; another line comes next."""
    step = Reports([Expected(NotificationsFound, {})])
    other = ReassignmentRequested(controller=1, data="")
    assert step.taken([said(NotificationsFound(controller=1), NotificationsFound)]) == 1
    assert step.taken([said(other, ReassignmentRequested)]) == 0
    assert step.taken([said(other, NotificationsFound)]) is None
