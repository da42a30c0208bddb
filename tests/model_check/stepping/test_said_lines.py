"""What a controller's log has of steps that no shipped recording shows; a settled cluster is led there by the hand."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from model_check.judging.writing import names_of
from model_check.recordings.recording import Cluster
from model_check.stepping.enabled import place_of
from model_check.stepping.open_system import OpenSystem, open_system
from model_check.stepping.plain_state import PlainState
from model_check.stepping.said_lines import Expected
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_log.state_machines import PartitionMachineStarted
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import ReplicaChanged, ReplicaChangeFailed
from spec.model import Model
from spec.state.enumerations import At, DeletionThread, Handler, Session
from spec.system import instances
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

PARTS = frozenset({"deletion", "preferred_election"})


class Told:
    """Two brokers, with controller 1 at work, topics `a`, `b` of one partition each, and the lines that steps write."""

    def __init__(self, *assigned: tuple[int, ...]) -> None:
        cold = open_system(2, assigned, tuple(range(len(assigned))), controller_epochs=7, parts=PARTS).model.scope
        topics = tuple("ab"[: len(assigned)])
        names = tuple(TopicPartition(topic, 0) for topic in topics)
        self.opened = OpenSystem(Model(replace(cold, cold=False), frozenset()))
        self.cluster = Cluster((1, 2), topics, names, assigned, parts=PARTS)
        self.state = self.opened.initial

    def do(self, *names: str) -> list[str]:
        """Take these steps; the kinds of the lines that they write."""
        written: list[str] = []
        for name in names:
            lines = self._lines(*_parsed(name))
            assert lines is not None, f"{name} is not enabled"
            written += lines
        return written

    def go_on(self) -> Iterator[list[str]]:
        """Let the controller do what it can, one step at a time, and what each writes; it lets callbacks be."""
        rules = [rule for rule in self.opened.rules.values() if rule.actor == "controller {c}" and rule.budget is None]
        steps = [(rule.name, one) for rule in rules for one in instances(rule, self.opened.model) if one["c"] == 1]
        while place_of(self.state, 1) is not At.IDLE:
            yield next(lines for step in steps if (lines := self._lines(*step)) is not None)

    def _lines(self, rule: str, parameters: Mapping[str, int]) -> list[str] | None:
        found = self.opened.step(self.state, rule, parameters)
        if found is None:
            return None
        self.state = found.after
        return [one.line.__name__ for one in found.said if issubclass(one.line, ControllerLogLine)]


def _parsed(name: str) -> tuple[str, dict[str, int]]:
    """`drop_request(c=1, t=0)` as a rule and its parameters."""
    rule, _, given = name.rstrip(")").partition("(")
    return rule, {key: int(value) for key, _, value in (one.partition("=") for one in given.split(", "))}


def test_known_topics_are_queued_behind_the_drop_of_requests_for_others() -> None:
    told = Told((1,), (1,))
    told.do("create_topic(t=0)", "on_topic_change(c=1)")
    list(told.go_on())
    told.do("request_deletion(t=0)", "create_topic(t=1)", "request_deletion(t=1)")
    assert told.do("on_deletion_change(c=1)") == ["DeletionRequested", "UnknownTopicsIgnored"]
    assert told.do("drop_request(c=1, t=1)") == ["DeletionQueued"]


def test_a_failover_that_elects_for_a_queued_topic_halts_its_deletion() -> None:
    """Broker 2, the preferred replica, is dead; the request for it, and that for the deletion, wait for a failover."""
    told = Told((2, 1))
    told.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "create_topic(t=0)")
    told.do("on_topic_change(c=1)")
    list(told.go_on())
    told.do("request_deletion(t=0)", "request_election(named=1)", "crash(b=1)", "end_orphaned_session(b=1)")
    told.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)")
    written = [line for lines in told.go_on() for line in lines]
    begins = written.index("PreferredElectionStarted")
    assert written[begins : begins + 2] == ["PreferredElectionStarted", "DeletionHalted"]
    assert written.count("DeletionHalted") == 1


# ------------------------------------------------------------------------------- transitions of replicas, one by one

CLUSTER = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1, 2),))
UP = list(Session).index(Session.LIVE)
GOING = (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL)
GONE = ReplicaState.NON_EXISTENT
Rows = set[tuple[ReplicaState, ReplicaState]]


def system() -> OpenSystem:
    parts = frozenset({"deletion", "shutdown", "reassignment"})
    return open_system(2, ((1, 2),), (0,), controller_epochs=2, parts=parts, requests=(((1,),),))


def state(
    place: At, replica: ReplicaState, *, znode_epoch: int | None = 1, queued: bool = False, **fields: Any
) -> PlainState:
    """Controller 1, of epoch 1, is at a place; broker 1 leads t-0 of AR [1, 2], and is the only one in sync."""
    lists = system().model.brokers.lists
    leadership = {"leader": 1, "leader_epoch": 1, "isr": lists.index((1,)), "version": 1, "controller_epoch": 1}
    cached = {**leadership, "replicas": {2: list(ReplicaState).index(replica)}, "assigned": lists.index((1, 2))}
    if place is At.REMOVE_READ:
        cached["visiting"] = 0b10
    controller = {
        "at": list(At).index(place), "active": 1, "epoch": 1, "live": 1, "partitions": {0: cached}, "topics": {0: 1},
        "deletion": list(DeletionThread).index(DeletionThread.RUNNING), "started": 1,
        **({"queued": {0: 1}, "doomed": {0: 1}} if queued else {}),
        **fields,
    }  # fmt: skip
    znode = {} if znode_epoch is None else {0: {**leadership, "controller_epoch": znode_epoch}}
    return {
        "processes": {1: {"session": UP}},
        "controllers": {1: controller},
        "zookeeper": {"state": znode, "registered": 1, "controller": 1, "epoch": 1},
    }


def transitions(at: PlainState, rule: str, **parameters: int) -> tuple[Rows, Rows, Rows]:
    """The rows that replica 2 takes at a step, those that it must be refused, and those that it may be."""
    opened = system()
    found = opened.step(at, rule, {"c": 1, **parameters})
    assert found is not None, f"{rule} is not enabled"
    lines = names_of(CLUSTER, opened).expected(found.said)

    def rows(kind: type[Line], *, perhaps: bool) -> Rows:
        of_it = (one.fields for one in lines if one.kind is kind and one.perhaps == perhaps)
        return {(one["source"], one["target"]) for one in of_it if one["replica"] == 2}  # type: ignore[misc]  # typed Any

    assert not rows(ReplicaChanged, perhaps=True)
    return (
        rows(ReplicaChanged, perhaps=False),
        rows(ReplicaChangeFailed, perhaps=False),
        rows(ReplicaChangeFailed, perhaps=True),
    )


@pytest.mark.parametrize("old", [ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL])
def test_a_follower_that_is_deleted_cannot_go_offline_and_that_is_said(old: ReplicaState) -> None:
    at = state(At.IDLE, old, shutdown_of=2, to_move={0: 1})
    assert transitions(at, "move_partition", p=0, r=2)[:2] == (set(), {(old, ReplicaState.OFFLINE)})


@pytest.mark.parametrize(
    ("znode_epoch", "queued", "goes", "fails"),
    [(1, False, True, False), (2, False, False, True), (2, True, False, True),
     (None, False, False, True), (None, True, False, False)],
)  # fmt: skip
def test_who_finds_a_newer_controllers_znode_or_none_takes_nobody_offline_and_says_so(
    znode_epoch: int | None, queued: bool, goes: bool, fails: bool
) -> None:
    """`removeReplicaFromIsr` raises; of a topic that is being deleted a znode may be gone."""
    at = state(At.REMOVE_READ, ReplicaState.ONLINE, znode_epoch=znode_epoch, queued=queued)
    row = {(ReplicaState.ONLINE, ReplicaState.OFFLINE)}
    assert transitions(at, "read_for_removal", p=0, r=2)[:2] == (row if goes else set(), row if fails else set())


@pytest.mark.parametrize(
    ("old", "refused", "rows"),
    [
        (ReplicaState.ONLINE, (), [(ReplicaState.ONLINE, GOING[0]), *pairwise((*GOING, GONE))]),
        (ReplicaState.DELETION_STARTED, GOING[:2], [*pairwise((*GOING[1:], GONE))]),
        (ReplicaState.DELETION_SUCCESSFUL, GOING, [(GOING[2], GONE)]),
    ],
)
def test_an_old_replica_takes_the_steps_that_the_table_lets_it_and_fails_in_the_others(
    old: ReplicaState, refused: tuple[ReplicaState, ...], rows: list[tuple[ReplicaState, ReplicaState]]
) -> None:
    """`handleStateChanges` catches for each replica and each of the four targets of steps 8 and 9.

    One that is being deleted is not visited: step 7 goes through to step 10.
    """
    wanted = system().model.brokers.lists.index((1,))
    handler = list(Handler).index(Handler.REASSIGNMENT)
    moving: dict[str, Any] = {"handler": handler, "reassigned": {0: wanted}, "leaving": 0b10}
    if old is ReplicaState.ONLINE:
        found = transitions(state(At.REMOVE_READ, old, **moving), "read_for_removal", p=0, r=2)
    else:
        decided = {"leader": 1, "leader_epoch": 1, "isr": wanted}
        at = state(At.MOVE_WRITE, old, **moving, read_version=1, decided=decided)
        found = transitions(at, "write_move", p=0)
    assert found == (set(rows), set(), {(old, target) for target in refused})


@pytest.mark.parametrize(
    ("znode_epoch", "alive", "written"),
    [
        (2, True, ["ElectionAborted", "PartitionChangeFailed"]),  # and perhaps ElectionFailed
        (None, True, ["ElectionFailed", "PartitionChangeFailed"]),
        (1, False, ["PartitionChangeFailed"]),  # NoReplicaOnlineException goes through
        (1, True, []),  # a leader is to be written
    ],
)
def test_a_failed_election_says_why_but_where_nobody_is_online(
    znode_epoch: int | None, alive: bool, written: list[str]
) -> None:
    """`PartitionStateMachine.electLeaderForPartition`, of an Offline partition of which broker 1 is in sync."""
    handler, offline = list(Handler).index(Handler.BROKER_FAILURE), list(PartitionState).index(PartitionState.OFFLINE)
    at: Any = state(At.ONLINE_READ, ReplicaState.OFFLINE, znode_epoch=znode_epoch, handler=handler, live=int(alive))
    at["controllers"][1]["partitions"][0] |= {"todo": 1, "state": offline}
    found = system().step(at, "read_for_election", {"c": 1, "p": 0})
    assert found is not None
    changes = [one for one in found.said if issubclass(one.line, ControllerLine) and not one.perhaps]
    assert [one.line.__name__ for one in changes][: len(written) or None] == written


def test_who_goes_on_in_a_later_term_also_writes_of_partitions_that_are_gone() -> None:
    """The machine's map keeps NonExistentPartition until a resignation; the rules have no state there."""
    t, u = TopicPartition("t", 0), TopicPartition("u", 0)
    expected = Expected(PartitionMachineStarted, lambda: {"states": frozenset({(t, PartitionState.ONLINE)})})

    def is_written_as(*states: tuple[TopicPartition, PartitionState]) -> bool:
        return expected.is_written_as(PartitionMachineStarted(1, states))

    gone, online, offline = PartitionState.NON_EXISTENT, PartitionState.ONLINE, PartitionState.OFFLINE
    assert is_written_as((u, gone), (t, online))
    assert not is_written_as((u, offline), (t, online))
    assert not is_written_as((t, gone))
