"""Topic deletion led by the hand: as a real Kafka 0.10.2.2 did it, and as PROTOCOL.md section 7.4 has it."""

import re
from dataclasses import replace

import pytest

from spec.scopes import Scope, scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

TOPIC = Scope(
    name="a topic to delete",
    statement="The first topic of recording 08-delete: partition 0 on brokers 1, 2 and 3, partition 1 on 2 and 3.",
    brokers=3,
    controllers=1,
    assigned=((1, 2, 3), (2, 3)),
    parts=frozenset({"partitions", "connections", "deletion"}),
    callback_capacity=6,
    connection_capacity=4,
)
REPLICAS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))


@pytest.fixture
def run() -> Run:
    """A topic whose deletion was asked for, and the controller has queued it."""
    one = Run(TOPIC, AS_CODED, deletions=1, crashes=1)
    one.do("request_deletion(t=0)", "on_deletion_change(c=1)")
    return one


def remove(run: Run, p: int, r: int) -> tuple[str, ...]:
    """Take a replica out of the ISR; the state znode after that."""
    run.do(f"read_for_removal(c=1, p={p}, r={r})", f"write_removal(c=1, p={p}, r={r})")
    return run.leadership(f"zookeeper.state[{p}]")


def start(run: Run) -> None:
    """The deletion thread starts the deletion: every replica goes Offline."""
    run.do("delete_queued_topic(c=1, t=0)")
    for p, r in ((1, 2), (1, 3), (0, 3), (0, 2), (0, 1)):
        remove(run, p, r)


def deleted_by(run: Run, brokers: tuple[int, ...]) -> None:
    """These brokers delete all that they are told to, and the controller hears of it."""
    for b in brokers:
        run.do(f"deliver_request(c=1, b={b})")
        for p, r in REPLICAS:
            if r == b:
                run.do(f"deliver_deletion(c=1, b={b}, p={p})", f"on_replica_deleted(c=1, b={b}, p={p})")


def states(run: Run) -> set[str]:
    """The states that the topic's replicas are in."""
    return {run[f"controllers[1].partitions[{p}].replicas[{r}]"] for p, r in REPLICAS}


def test_the_isr_is_emptied_as_a_real_controller_did_it(run: Run) -> None:
    """Recording 08-delete, zk 51 to 55: the same replicas in the same order, one leader epoch each."""
    run.do("delete_queued_topic(c=1, t=0)")
    assert [remove(run, p, r) for p, r in ((1, 2), (1, 3), (0, 3), (0, 2), (0, 1))] == [
        ("-1", "[3]", "1"),
        ("-1", "[3]", "2"),
        ("1", "[1, 2]", "1"),
        ("1", "[1]", "2"),
        ("-1", "[1]", "3"),
    ]
    assert states(run) == {"DELETION_STARTED"}


def test_the_znodes_go_in_the_order_in_which_a_real_controller_deleted_them(run: Run) -> None:
    """Recording 08-delete, zk 56 to 63, less the znodes between the topic and its states."""
    start(run)
    deleted_by(run, (1, 2, 3))
    assert states(run) == {"DELETION_SUCCESSFUL"}
    run.do("delete_queued_topic(c=1, t=0)")
    assert states(run) == {"NON_EXISTENT"}
    names = ["delete_state(c=1, p=0)", "delete_state(c=1, p=1)"]
    names += [f"{rule}(c=1, t=0)" for rule in ("delete_topic", "delete_configuration", "delete_request")]
    seen = [run.do(name)[0][0] for name in names]
    assert seen == ["delete state", "delete state", "delete topic", "delete configuration", "delete delete_topics"]
    assert run["controllers[1].topics[0]"] == "no"
    assert not run.can("delete_queued_topic(c=1, t=0)")


def test_a_dead_replica_halts_the_deletion_until_its_broker_starts(run: Run) -> None:
    start(run)
    deleted_by(run, (1, 2))
    run.do("crash(b=3)", "end_orphaned_session(b=3)", "on_broker_change(c=1)")
    assert states(run) == {"DELETION_SUCCESSFUL", "DELETION_INELIGIBLE"}
    assert run["controllers[1].ineligible[0]"] == "yes"
    run.do("delete_queued_topic(c=1, t=0)")
    assert run["controllers[1].partitions[0].replicas[3]"] == "DELETION_INELIGIBLE"
    for p in (0, 1):  # the retry takes failed replicas Offline, although the topic is held back
        run.do(f"read_for_removal(c=1, p={p}, r=3)")
        if run.can(f"write_removal(c=1, p={p}, r=3)"):
            run.do(f"write_removal(c=1, p={p}, r=3)")
    assert states(run) == {"DELETION_SUCCESSFUL", "OFFLINE"}
    assert not run.can("delete_queued_topic(c=1, t=0)")
    run.do("start_process(b=3)", "register_broker(b=3)", "on_broker_change(c=1)")
    assert run["controllers[1].ineligible[0]"] == "no"
    assert run.can("delete_queued_topic(c=1, t=0)")


def test_a_request_for_a_topic_that_is_not_there_is_dropped() -> None:
    """Recording 08-delete, zk 110 and 111."""
    scope = replace(TOPIC, parts=TOPIC.parts | {"creation"})
    run = Run(scope, AS_CODED, creations=1, deletions=1, stray_deletions=2)
    assert not run.can("request_deletion(t=0)")
    run.do("request_stray_deletion(t=0)", "on_deletion_change(c=1)")
    assert run.do("drop_request(c=1, t=0)")[0][0] == "delete delete_topics"
    assert (run["controllers[1].at"], run["zookeeper.deletions[0]"]) == ("IDLE", "no")
    run.do("on_deletion_change(c=1)", "request_stray_deletion(t=0)", "create_topic(t=0)")
    assert not run.can("request_deletion(t=0)")
    run.do("on_deletion_change(c=1)")
    assert run["controllers[1].at"] == "DROP_REQUEST", "the controller has not heard of the topic yet"


def test_a_replica_without_leadership_never_goes_offline_unless_that_is_fixed() -> None:
    """D16: nothing is sent for it, and the thread, woken again, would begin anew."""
    scope = Scope(
        name="a topic without a leader",
        statement="Its only broker is dead when it is created.",
        brokers=2,
        controllers=1,
        assigned=((2,),),
        parts=frozenset({"partitions", "connections", "creation", "deletion"}),
        callback_capacity=6,
        connection_capacity=3,
    )
    found = {}
    for switches in (AS_CODED, frozenset({Switch.OFFLINE_WITHOUT_LEADERSHIP})):
        run = Run(scope, switches, creations=1, deletions=1, crashes=1)
        run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
        run.do("create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=2)")
        run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
        run.do("start_process(b=2)", "register_broker(b=2)", "on_broker_change(c=1)", "delete_queued_topic(c=1, t=0)")
        found[switches] = run["controllers[1].partitions[0].replicas[2]"]
    assert list(found.values()) == ["ONLINE", "DELETION_STARTED"]


def test_requests_for_unknown_topics_are_dropped_before_the_known_ones_are_queued() -> None:
    """`DeleteTopicsListener`: what was read is queued, and the thread woken, behind the last znode that goes."""
    scope = replace(TOPIC, brokers=1, assigned=((1,), (1,)), topic_of=(0, 1), parts=TOPIC.parts | {"creation"})
    run = Run(scope, creations=2, deletions=2)
    run.do("create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=1)", "create_state(c=1, p=0)")
    run.do("request_deletion(t=0)", "create_topic(t=1)", "request_deletion(t=1)", "on_deletion_change(c=1)")
    queued = [f"controllers[1].{name}" for name in ("queued[0]", "queued[1]", "woken")]
    assert [run[name] for name in queued] == ["no", "no", "no"]
    assert run.enabled("drop_request") == ["drop_request(c=1, t=1)"]
    assert run.do("drop_request(c=1, t=1)") == [("delete delete_topics", "1")]
    assert [run[name] for name in queued] == ["yes", "no", "yes"]
    assert run["controllers[1].to_queue[0]"] == "no"


def test_an_election_of_a_queued_topic_holds_its_deletion_back() -> None:
    """Only a failover elects for such a topic; here it has completed a reassignment, which resumes the deletion."""
    scope = replace(
        TOPIC,
        brokers=2,
        assigned=((2, 1),),
        requests=(((2,),),),
        parts=TOPIC.parts | {"reassignment", "preferred_election"},
    )
    run = Run(scope, crashes=1, expiries=1, reassignments=1, deletions=1, elections=1)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)")
    run.do("write_elected_leader(c=1, p=0)", "read_for_removal(c=1, p=0, r=2)", "renew_session(b=2)")
    run.do("register_broker(b=2)", "on_broker_change(c=1)")
    for b in (1, 2):
        while run.can(f"deliver_request(c=1, b={b})"):
            run.do(f"deliver_request(c=1, b={b})")
    run.do("expand_isr(b=1, p=0, r=2)", "crash(b=1)", "end_orphaned_session(b=1)")
    run.do("request_reassignment(k=0)", "request_deletion(t=0)", "request_election(named=1)")
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)")
    held_back = {}
    while run["controllers[1].at"] != "FINISH":
        held_back[run["controllers[1].handler"]] = run["controllers[1].ineligible[0]"]
        run.do(next(name for name in run.enabled("(c=1") if not name.startswith(("deliver", "fail"))))
    assert held_back["PENDING_ELECTION"] == "yes"
    assert run["controllers[1].ineligible[0]"] == "no"


@pytest.mark.parametrize("fixed", [False, True])
def test_a_topic_whose_election_sticks_is_deleted_unless_the_mark_is_made_when_it_is_queued(*, fixed: bool) -> None:
    """D49 leaves the election of a new partition under way for ever; D44 lets the deletion start all the same."""
    scope = replace(TOPIC, brokers=2, assigned=((2,),), parts=TOPIC.parts | {"creation", "preferred_election"})
    switches = AS_CODED | ({Switch.MARK_WHAT_IS_QUEUED} if fixed else set())
    run = Run(scope, switches, crashes=1, creations=1, elections=1, deletions=1)
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "create_topic(t=0)")
    run.do("on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=2)", "request_election(named=1)")
    run.do("on_election_request(c=1)", "start_process(b=2)", "register_broker(b=2)", "on_broker_change(c=1)")
    run.do("create_state(c=1, p=0)", "deliver_request(c=1, b=2)", "request_deletion(t=0)", "on_deletion_change(c=1)")
    assert run["controllers[1].electing[0]"] == "yes"
    run.do("delete_queued_topic(c=1, t=0)")
    assert run["controllers[1].at"] == ("IDLE" if fixed else "REMOVE_READ")
    if not fixed:
        run.do("read_for_removal(c=1, p=0, r=2)")
        assert not run.holds("busy_topics_are_not_deleted", "write_removal(c=1, p=0, r=2)")
        run.do("write_removal(c=1, p=0, r=2)")
        deleted_by_broker_2 = ("deliver_deletion(c=1, b=2, p=0)", "on_replica_deleted(c=1, b=2, p=0)")
        run.do("deliver_request(c=1, b=2)", *deleted_by_broker_2, "delete_queued_topic(c=1, t=0)")
        for step in ("delete_state(c=1, p=0)", "delete_topic(c=1, t=0)"):
            assert not run.holds("busy_topics_are_not_deleted", step)
            run.do(step)


OVERTAKEN = """
    request_deletion(t=0), on_deletion_change(c=1), delete_queued_topic(c=1, t=0),
    read_for_removal(c=1, p=0, r=2), write_removal(c=1, p=0, r=2), deliver_request(c=1, b=2),
    deliver_deletion(c=1, b=2, p=0), expire_session(b=1, lost=0), on_controller_change(c=2), elect_read(c=2),
    elect_create(c=2), read_epoch(c=2), increment_epoch(c=2), subscribe(c=2), read_brokers(c=2),
    read_topics(c=2), read_state(c=2, p=0), read_deletions(c=2), deliver_request(c=2, b=2),
    finish_failover(c=2), renew_session(b=1), on_replica_deleted(c=1, b=2, p=0), delete_queued_topic(c=2, t=0),
    delete_queued_topic(c=1, t=0), read_for_removal(c=2, p=0, r=2), write_removal(c=2, p=0, r=2),
    deliver_request(c=2, b=2), delete_state(c=1, p=0), delete_topic(c=1, t=0), deliver_deletion(c=2, b=2, p=0),
    on_controller_change(c=2)
"""
"""A zombie deletes a topic while its successor waits for the answer to a StopReplica with delete."""


@pytest.mark.parametrize("knows", [True, False])
def test_a_replica_of_a_topic_that_is_gone_goes_to_no_state(knows: bool) -> None:
    """As real Kafka did it, in the recording answered-when-its-topic-is-gone: a state machine asks for AR first."""
    run = Run(scope("overtaken_deletion"), AS_CODED, deletions=1, expiries=1)
    run.do(*re.findall(r"\w+\(.*?\)", OVERTAKEN))
    answer, hears = "on_replica_deleted(c=2, b=2, p=0)", "on_topic_change(c=2)"
    run.do(*((answer, hears) if knows else (hears, answer)))
    state = "DELETION_SUCCESSFUL" if knows else "DELETION_STARTED"
    assert run["controllers[2].partitions[0].replicas[2]"] == state
    run.do("delete_queued_topic(c=2, t=0)")
    assert run["controllers[2].partitions[0].replicas[2]"] == state
    assert run["controllers[2].queued[0]"] == "no"
    assert not run.holds("replicas_are_in_known_states")
