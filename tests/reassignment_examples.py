"""The worked examples of PROTOCOL.md section 8, told once: the specification goes through them, and the reference.

Row by row: the assignment in ZooKeeper and in memory, leader, ISR, epoch, version, replica states, requests. The first
one was done by a real Kafka 0.10.2.2, too, with the same numbers and the same order of brokers. Of its table rows 5 and
8 are no states of the specification, where steps 5 and 6 are one action, and the sends of 8 and 9 are another
(spec/protocol/reassignment/steps.py): the reference is looked at in between
(tests/reference/reassignment/test_steps.py).
"""

from tests.reassignment_moves import NEW, OLD, UNION, Make, begin, complete, order, phase_a, queued, settled, to_each


def phase_a_of_the_worked_example_row_by_row(make: Make) -> None:
    """OAR = [1, 2, 3], RAR = [4, 5, 6], leader 1: the table of section 8, and topic a of the recording 05-reassign."""
    move = settled(make, OLD, NEW)
    begin(move)
    assert move.row() == ("[1, 2, 3]", "[1, 2, 3]", "1", "[1, 2, 3]", "0", "0")

    assert move.do("write_union", c=1, p=0) == [f"controller 1 write assignment partition=0 replicas={UNION}"]
    assert move.row() == (UNION, UNION, "1", "[1, 2, 3]", "0", "0")

    move.do("read_for_bump", c=1, p=0)
    seen = move.do("write_bump", c=1, p=0)
    bumped = " partition=0 leader=1 leader_epoch=1 isr=[1, 2, 3] version=1 controller_epoch=1"
    assert queued(seen, "LeaderAndIsr") == to_each("123456", bumped)
    assert queued(seen, "UpdateMetadata") == to_each("123456")
    assert move["controllers[1].partitions[0].leader_epoch"] == "0", "UpdateMetadata is filled from the stale cache"
    assert move.row() == (UNION, UNION, "1", "[1, 2, 3]", "1", "1")
    assert (move.replicas(*OLD), move.replicas(*NEW)) == ({"ONLINE"}, {"NON_EXISTENT"})
    move.deliver_all()
    assert {move.told(r) for r in (*OLD, *NEW)} == {("{1,2,3,4,5,6}", "1", "0")}, "UpdateMetadata has e0"

    for r in NEW:
        seen = move.do("start_new_replica", c=1, p=0, r=r)
        assert queued(seen, "LeaderAndIsr") == to_each(str(r), bumped)
        assert queued(seen, "UpdateMetadata") == to_each("123456")
    assert (move.replicas(*OLD), move.replicas(*NEW)) == ({"ONLINE"}, {"NEW"})
    assert move["controllers[1].at"] == "IDLE", "it waits"

    move.deliver_all()
    joined = []
    for r in (6, 5, 4):
        move.do("expand_isr", b=1, p=0, r=r)
        joined.append(move["zookeeper.state[0].isr"])
    assert joined == ["[1, 2, 3, 6]", "[5, 1, 6, 2, 3]", UNION]
    assert move.row() == (UNION, UNION, "1", UNION, "1", "4")


def phase_b_of_the_worked_example_row_by_row(make: Make) -> None:
    """The rest of the table, and of topic a."""
    move = settled(make, OLD, NEW)
    begin(move)
    phase_a(move, 6, 5, 4)
    move.do("on_state_change", c=1, p=0)
    assert queued(move.do("read_whether_caught_up", c=1, p=0), "LeaderAndIsr") == []
    assert (move.replicas(*OLD), move.replicas(*NEW)) == ({"ONLINE"}, {"ONLINE"})
    assert move.row() == (UNION, "[4, 5, 6]", "1", UNION, "1", "4")

    move.do("read_for_move", c=1, p=0)
    seen = move.do("write_move", c=1, p=0)
    moved = f" partition=0 leader=4 leader_epoch=2 isr={UNION} version=5 controller_epoch=1"
    assert queued(seen, "LeaderAndIsr") == to_each("456", moved)
    assert queued(seen, "UpdateMetadata") == to_each("123456")
    assert move.row() == (UNION, "[4, 5, 6]", "4", UNION, "2", "5")
    move.deliver_all()
    assert {move.told(r) for r in NEW} == {("{4,5,6}", "2", "2")}
    assert {move.told(r) for r in OLD} == {("{1,2,3,4,5,6}", "1", "2")}, "of the move only by UpdateMetadata (D47)"

    offline = []
    for r in OLD:
        offline.append([one for one in OLD if move.replicas(one) == {"OFFLINE"}])
        move.do("read_for_removal", c=1, p=0, r=r)
        seen = move.do("write_removal", c=1, p=0, r=r)
    assert offline == [[], [1], [1, 2]], "on the way to row 8; the last one takes it on to row 9"
    removed = " partition=0 leader=4 leader_epoch=5 isr=[5, 6, 4] version=8 controller_epoch=1"
    assert queued(seen, "LeaderAndIsr") == to_each("456", removed)
    assert queued(seen, "UpdateMetadata") == to_each("123456")
    stops = [one for delete in (0, 1) for one in to_each("123", f" partition=0 delete={delete}")]
    assert queued(seen, "StopReplica") == sorted(stops)
    assert [order(seen, r) for r in OLD] == [["UpdateMetadata", "StopReplica delete=0", "StopReplica delete=1"]] * 3
    assert [order(seen, r) for r in NEW] == [["LeaderAndIsr", "UpdateMetadata"]] * 3
    assert (move.replicas(*OLD), move.replicas(*NEW)) == ({"NON_EXISTENT"}, {"ONLINE"})
    assert move.row() == (UNION, "[4, 5, 6]", "4", "[5, 6, 4]", "5", "8")

    move.do("write_target", c=1, p=0)
    assert move.row() == ("[4, 5, 6]", "[4, 5, 6]", "4", "[5, 6, 4]", "5", "8")

    move.do("read_remaining", c=1, p=0)
    seen = move.do("write_remaining", c=1, p=0)
    assert move["zookeeper.requested[0]"] == move["controllers[1].reassigned[0]"] == "[]"
    assert queued(seen, "UpdateMetadata") == to_each("123456")
    assert queued(seen, "LeaderAndIsr") == queued(seen, "StopReplica") == []

    move.deliver_all()
    assert {b for b in (*OLD, *NEW) if move[f"logs[{b}][0]"] == "yes"} == set(NEW)
    assert [b for b in (*OLD, *NEW) if move[f"brokers[{b}].partitions[0].leader"] == str(b)] == [4]


def _partition_reassign_foo(
    make: Make, original: tuple[int, ...], wanted: tuple[int, ...], union: str, removed: int, isr: str
) -> None:
    """Topics b and d of the recording 05-reassign: a new replica 2; the leader stays, and its epoch goes to 1, 2, 3."""
    move, leader = settled(make, original, wanted, brokers=3), str(original[0])
    begin(move)
    phase_a(move, 2)
    caught_up = str([*original, 2])
    assert move.row() == (union, union, leader, caught_up, "1", "2")
    move.do("on_state_change", c=1, p=0)
    seen = move.do("read_whether_caught_up", c=1, p=0)
    stale = f" partition=0 leader={leader} leader_epoch=0 isr={list(original)} version=0 controller_epoch=1"
    stays = next(r for r in wanted if r in original)
    assert queued(seen, "LeaderAndIsr") == to_each(str(stays), stale), "who was Online is sent the cached epoch"
    move.do("read_for_move", c=1, p=0)
    seen = move.do("write_move", c=1, p=0)
    bumped = f" partition=0 leader={leader} leader_epoch=2 isr={caught_up} version=3 controller_epoch=1"
    assert queued(seen, "LeaderAndIsr") == to_each("123", bumped), "no election: the old replica is told, too"
    move.do("read_for_removal", c=1, p=0, r=removed)
    move.do("write_removal", c=1, p=0, r=removed)
    assert move.row() == (union, str(list(wanted)), leader, isr, "3", "4")
    move.do("write_target", c=1, p=0)
    assert move.row() == (str(list(wanted)), str(list(wanted)), leader, isr, "3", "4")
    assert move.replicas(removed) == {"NON_EXISTENT"}
    assert move.replicas(*wanted) == {"ONLINE"}


def a_permutation_is_done_at_once_with_nothing_to_remove(make: Make) -> None:
    """Topic e of the recording 05-reassign: [1, 2, 3] becomes [3, 1, 2]; one epoch more, the same leader."""
    move = settled(make, (1, 2, 3), (3, 1, 2), brokers=3)
    begin(move)
    complete(move)
    assert move.row() == ("[3, 1, 2]", "[3, 1, 2]", "1", "[1, 2, 3]", "1", "1")
    assert move["zookeeper.requested[0]"] == "[]"


def what_is_so_already_is_refused(make: Make) -> None:
    """Topic e of the recording 05-reassign, again: the entry is removed, and nothing else happens."""
    move = settled(make, (3, 1, 2), (3, 1, 2), brokers=3)
    before = move.row()
    move.do("request_reassignment", k=0)
    move.do("on_reassignment_request", c=1)
    assert not move.can("accept_reassignment", c=1, p=0)
    move.do("read_remaining", c=1, p=0)
    assert queued(move.do("write_remaining", c=1, p=0), "UpdateMetadata") == []
    assert (move.row(), move["zookeeper.requested[0]"], move["controllers[1].at"]) == (before, "[]", "IDLE")


def a_reassignment_waits_for_a_broker_that_is_down_and_starts_it_when_it_comes(make: Make) -> None:
    """KAFKA-4214. Phase A runs again when the broker starts, and step 2 then tells it; four epochs in all."""
    move = settled(make, (1,), (2,), brokers=2)
    move.do("crash", b=2)
    move.do("end_orphaned_session", b=2)
    move.do("on_broker_change", c=1)
    begin(move)
    phase_a(move)
    move.do("start_new_replica", c=1, p=0, r=2)
    move.do("start_process", b=2)
    move.do("register_broker", b=2)
    move.do("on_state_change", c=1, p=0)
    move.do("on_broker_change", c=1)
    move.do("read_whether_caught_up", c=1, p=0)
    phase_a(move)
    assert move.row() == ("[2, 1]", "[2, 1]", "1", "[1]", "2", "2")
    move.do("expand_isr", b=1, p=0, r=2)
    move.do("on_state_change", c=1, p=0)
    move.do("read_whether_caught_up", c=1, p=0)
    complete(move, 1)
    assert move.row() == ("[2]", "[2]", "2", "[2]", "4", "5")


#: From the delete of /controller to the state machines.
FAILOVER = ("elect_read", "elect_create", "read_epoch", "increment_epoch", "subscribe", "read_brokers", "read_topics")


def the_next_controller_resumes_from_what_zookeeper_holds(make: Make) -> None:
    """Topic c of the recording 06-reassign-controller-kill, zk 98 to 123: there [3, 4] goes to [3, 1], here [2, 3] to
    [2, 4]. The new replica's broker is down; it starts, and the controller is killed, before anybody acts on that.
    """
    move = settled(make, (2, 3), (2, 4), brokers=4, controllers=2)
    move.do("crash", b=4)
    move.do("end_orphaned_session", b=4)
    move.do("on_broker_change", c=1)
    begin(move)
    phase_a(move)
    move.do("start_new_replica", c=1, p=0, r=4)
    assert move.row()[0] == "[2, 4, 3]"
    assert move.row()[2:] == ("2", "[2, 3]", "1", "1")

    move.do("start_process", b=4)
    move.do("register_broker", b=4)
    move.do("crash", b=1)
    move.do("end_orphaned_session", b=1)
    move.do("on_controller_change", c=2)
    for rule in FAILOVER:
        move.do(rule, c=2)
    move.do("read_state", c=2, p=0)
    move.do("read_reassignments", c=2)
    assert move["controllers[2].partitions[0].assigned"] == "[2, 4, 3]", "OAR is not known any more"
    move.do("accept_reassignment", c=2, p=0)
    move.do("read_whether_caught_up", c=2, p=0)
    phase_a(move, c=2)
    assert move["controllers[2].at"] == "FINISH", "the union has no replica to start"
    assert move.row()[2:] == ("2", "[2, 3]", "2", "2")

    move.do("expand_isr", b=2, p=0, r=4)
    move.do("finish_failover", c=2)
    while not move.can("on_state_change", c=2, p=0):
        move.do("on_controller_change", c=2)
    move.do("on_state_change", c=2, p=0)
    move.do("read_whether_caught_up", c=2, p=0)
    complete(move, 3, c=2)
    assert (move["zookeeper.assigned[0]"], *move.row()[2:]) == ("[2, 4]", "2", "[2, 4]", "4", "5")
    assert move["zookeeper.state[0].controller_epoch"] == "2"
    assert move["zookeeper.requested[0]"] == "[]"
    assert move["logs[3][0]"] == "no"


def a_replica_machine_that_is_not_up_refuses_step_3(make: Make) -> None:
    """The failover of a second term fails before its machines start, and the broker stays active (D4)."""
    move = settled(make, (1,), (2,), brokers=2)
    move.do("expire_session", b=1, lost=0)
    move.do("renew_session", b=1)
    move.do("on_new_session", c=1)
    for rule in FAILOVER:
        move.do(rule, c=1)
    move.do("read_state", c=1, p=0)
    for rule in ("fail_failover", "resign_delete"):
        move.do(rule, c=1)
    move.do("register_broker", b=1)
    move.do("on_broker_change", c=1)
    begin(move)
    for rule in ("write_union", "read_for_bump", "write_bump"):
        move.do(rule, c=1, p=0)
    assert (move["controllers[1].active"], move["controllers[1].at"]) == ("yes", "IDLE")
    assert (move.row()[0], move.replicas(2)) == ("[2, 1]", {"NON_EXISTENT"})


def a_partition_moves_among_twelve_brokers(make: Make) -> None:
    """[12, 3] becomes [3, 7]: of the 10^9 lists of twelve brokers only those that come up have a number."""
    move = settled(make, (12, 3), (3, 7), brokers=12)
    begin(move)
    phase_a(move, 7)
    assert move.row() == ("[3, 7, 12]", "[3, 7, 12]", "12", "[12, 3, 7]", "1", "2")
    move.do("on_state_change", c=1, p=0)
    move.do("read_whether_caught_up", c=1, p=0)
    complete(move, 12)
    assert move.row() == ("[3, 7]", "[3, 7]", "3", "[3, 7]", "3", "4")


def partition_reassign_foo_0(make: Make) -> None:
    """OAR [3, 1] to RAR [2, 3]. The table has 2 lead at the end; 3 is of RAR, and Kafka has it stay."""
    _partition_reassign_foo(make, (3, 1), (2, 3), "[2, 3, 1]", 1, "[3, 2]")


def partition_reassign_foo_1(make: Make) -> None:
    """OAR [1, 3] to RAR [1, 2]. The table has [2, 1, 3] for the union; the recording, for the same lists, [1, 2, 3]."""
    _partition_reassign_foo(make, (1, 3), (1, 2), "[1, 2, 3]", 3, "[1, 2]")


EXAMPLES = (
    phase_a_of_the_worked_example_row_by_row, phase_b_of_the_worked_example_row_by_row, partition_reassign_foo_0,
    partition_reassign_foo_1, a_permutation_is_done_at_once_with_nothing_to_remove, what_is_so_already_is_refused,
    a_reassignment_waits_for_a_broker_that_is_down_and_starts_it_when_it_comes,
    the_next_controller_resumes_from_what_zookeeper_holds, a_replica_machine_that_is_not_up_refuses_step_3,
    a_partition_moves_among_twelve_brokers,
)  # fmt: skip
