"""Specification and reference side by side: the same start, and an abstraction that says all and remembers rightly."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from model_check.refinement.abstraction.abstraction import Abstraction
from model_check.refinement.fingerprint import conditions, fingerprint
from model_check.refinement.history import History
from model_check.refinement.lockstep import Disagreement, Sides
from reference.journal import Report, StateChange
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from spec.errors import BadInput
from spec.logs.controller_log.broker_changes import AllLeaders
from spec.logs.state_change_lines import PartitionChangeFailed, ReplicaChangeFailed
from spec.model import Model
from spec.scopes import scope
from spec.tables.replica_states import ReplicaState
from spec.variants import AS_CODED, VARIANTS, Switch, Switches
from tests.model_check.side_by_side import SideBySide
from tests.spec.on_demand import OnDemand


@cache
def sides(name: str, variant: str = "AS_CODED") -> Sides:
    return Sides(scope(name), VARIANTS[variant])


@pytest.mark.parametrize(("name", "variant"), [("bounce", "FENCED"), ("cold", "AS_CODED"), ("topics", "AS_CODED")])
def test_both_start_in_the_same_state(name: str, variant: str) -> None:
    both = sides(name, variant)
    assert both.initial().raw == both.machine.initial


def test_nobody_listens_to_topics_that_are_still_to_come() -> None:
    both = SideBySide(replace(scope("addition_shutdown"), topics_stand=False))
    assert both["controllers[1].topic_listening[0]"] == "no"


def test_each_start_is_a_new_one() -> None:
    both = sides("bounce")
    one, other = both.initial(), both.initial()
    both.follow(one, next(iter(choices(one.cluster))))
    assert both.abstraction(other.cluster, other.history) == both.machine.initial


def edges(both: SideBySide, count: int) -> Iterator[tuple[MemoryCluster, History]]:
    """The cluster, with its history, after each of the first edges, breadth first."""
    waiting, seen = deque([(both.cluster, both.history)]), set[bytes]()
    while waiting and count > 0:
        cluster, history = waiting.popleft()
        for choice in choices(cluster):
            reached = cluster.fork()
            step(reached, choice)
            after = reached, history.after(choice.rule, reached)
            yield after
            if fingerprint(reached) not in seen:
                seen.add(fingerprint(reached))
                waiting.append(after)
            count -= 1


MANY_PARTS = (
    "tiny", "notifications", "late_copies", "late_requests", "addition_reassignment", "recreation", "shutdown",
    "withdrawn_move", "early_election", "late_deletion",
)  # fmt: skip


DAILY = {("tiny", "AS_CODED"), ("addition_reassignment", "AS_CODED")}


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        pytest.param(variant, name, marks=[pytest.mark.slow] * ((name, variant) not in DAILY))
        for variant in ("AS_CODED", "FENCED")
        for name in MANY_PARTS
    ],
)
def test_what_is_kept_is_what_would_be_read_again(name: str, variant: str) -> None:
    both, count = SideBySide(scope(name), VARIANTS[variant]), 0
    for cluster, history in edges(both, 200):
        raw = both.abstraction(cluster, history)
        assert all(0 <= one <= kind.maximum for one, kind in zip(raw, both.kinds.values(), strict=True))
        for part in both.abstraction.parts:
            again = both.abstraction.placed(part, part.says(cluster, history))
            assert both.abstraction.read(part, cluster, history) == again
        kept = fingerprint(cluster), conditions(cluster)
        cluster.zookeeper.notes.clear()
        for process in cluster.processes.values():
            process.notes.clear()
        assert (fingerprint(cluster), conditions(cluster)) == kept
        count += 1
    assert count > 80


def test_a_variable_that_the_abstraction_does_not_know_is_named() -> None:
    one = scope("bounce")
    kinds = {variable.name: variable.kind for variable in OnDemand(one).variables}
    pair = sides("bounce").initial()
    with pytest.raises(KeyError, match="says nothing of the_weather"):
        Abstraction(Model(one, AS_CODED), {**kinds, "the_weather": kinds["zookeeper.controller"]})(
            pair.cluster, pair.history
        )
    del kinds["zookeeper.controller"]
    with pytest.raises(KeyError, match=r"zookeeper\.controller"):
        Abstraction(Model(one, AS_CODED), kinds)(pair.cluster, pair.history)


def test_steps_by_name_lead_where_each_side_goes() -> None:
    both, steps = sides("bounce"), ("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    pair = both.after(steps)
    assert both.machine.unpack(pair.raw) == both.story(steps).last
    assert both.story(steps).actions == steps
    with pytest.raises(Disagreement) as found:
        both.after((*steps, "crash(b=2)"))
    assert found.value.steps == steps


def test_an_old_replica_whose_deletion_has_begun_is_not_told_to_stop_by_a_reassignment() -> None:
    """Of two old replicas the dead one goes Offline in step 8; the other refuses, and is NonExistent all the same."""
    wider = replace(scope("doomed_reassignment"), brokers=3, assigned=((1, 2),), requests=(((3,),),))
    both = SideBySide(wider)
    both.do(
        "request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)",
        "read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)", "write_bump(c=1, p=0)",
        *(f"deliver_request(c=1, b={b})" for b in (1, 2, 3)), "start_new_replica(c=1, p=0, r=3)",
        "deliver_request(c=1, b=3)", "on_state_change(c=1, p=0)",
        "crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "read_for_removal(c=1, p=0, r=2)",
        "write_removal(c=1, p=0, r=2)", "deliver_request(c=1, b=1)", "deliver_request(c=1, b=3)",
        "on_state_change(c=1, p=0)",
        "request_deletion(t=0)", "expand_isr(b=1, p=0, r=3)",
        "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)",
        *(f"{does}_removal(c=1, p=0, r={r})" for r in (1, 3) for does in ("read_for", "write")),
        "deliver_request(c=1, b=1)", "deliver_request(c=1, b=3)",
        "on_state_change(c=1, p=0)", "read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)",
        "write_move(c=1, p=0)", "read_for_removal(c=1, p=0, r=2)", "write_target(c=1, p=0)",
    )  # fmt: skip
    controller = both.cluster.processes[1].controller
    assert controller is not None
    states_of = controller.replica_machine.states
    assert {replica: one for (_, replica), one in states_of.items()} == {3: ReplicaState.DELETION_STARTED}


def test_a_broker_that_is_back_deletes_what_it_has_of_a_topic_that_is_gone(pytestconfig: pytest.Config) -> None:
    """Broker 1 was to delete its replica, which had moved, and died before; nobody waited for it (D38).

    With --deep what else can be done in each state is compared, too.
    """
    both = SideBySide(scope("doomed_reassignment"), VARIANTS["FENCED"])
    both.do(
        "request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)",
        "read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)",
        "request_deletion(t=0)", "write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)",
        "deliver_request(c=1, b=2)", "deliver_request(c=1, b=1)", "expand_isr(b=1, p=0, r=2)",
        "on_deletion_change(c=1)", "on_state_change(c=1, p=0)", "read_whether_caught_up(c=1, p=0)",
        "read_for_move(c=1, p=0)", "write_move(c=1, p=0)", "read_for_removal(c=1, p=0, r=1)",
        "write_removal(c=1, p=0, r=1)", "write_target(c=1, p=0)", "read_remaining(c=1, p=0)",
        "write_remaining(c=1, p=0)", "deliver_request(c=1, b=2)", "deliver_request(c=1, b=2)",
        "delete_queued_topic(c=1, t=0)", "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)",
        "deliver_request(c=1, b=2)", "deliver_deletion(c=1, b=2, p=0)", "on_replica_deleted(c=1, b=2, p=0)",
        "delete_queued_topic(c=1, t=0)", "delete_state(c=1, p=0)", "delete_topic(c=1, t=0)",
        "crash(b=1)", "end_orphaned_session(b=1)", "start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)",
        "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)", "read_reassignments(c=1)", "read_deletions(c=1)",
        "finish_failover(c=1)", "register_broker(b=1)", "on_controller_change(c=1)", "on_broker_change(c=1)",
    )  # fmt: skip
    assert both["logs[1][0]"] == "yes"
    both.do("deliver_request(c=1, b=1)", "deliver_deletion(c=1, b=1, p=0)")
    assert both["logs[1][0]"] == "no"
    assert "on_replica_deleted" not in {one.rule for one in choices(both.cluster)}
    if pytestconfig.getoption("--deep"):
        compared = sides("doomed_reassignment", "FENCED")
        assert compared.machine.unpack(compared.after(tuple(both.way)).raw) == compared.story(tuple(both.way)).last


def test_everybody_is_told_of_what_a_notification_names_and_of_nothing_else() -> None:
    """`processUpdateNotifications`: brokers keep what they have of the other partition."""
    parts = frozenset({"partitions", "connections", "metadata", "notifications", "cached_leaderships"})
    both = SideBySide(replace(scope("notifications"), assigned=((1, 2), (1, 2)), parts=parts), shrinks=1)
    both.do("shrink_isr(b=1, p=0, r=2)", "report_isr_changes(b=1)", "on_isr_change(c=1)", "read_notified(c=1, p=0)")
    assert [both[f"connections[1][2][0].told[{p}]"] for p in (0, 1)] == ["yes", "no"]


def test_before_0_10_2_a_deletion_is_told_of_where_all_that_is_known_of_the_topic_goes() -> None:
    """`addUpdateMetadataRequestForBrokers` 0.10.1.1: nobody is, where something is left that has no leadership.

    A partition that is still to be added is none of the topic's (`partitionsForTopic`), so nothing is left here.
    """
    adding = scope("addition_deletion")
    parts = adding.parts | {"metadata"}
    bounds = replace(adding, brokers=2, assigned=((2,), (2,)), topics_stand=False, parts=parts)
    both = SideBySide(bounds, frozenset({Switch.RUN_WHEN_NOT_ACTIVE}), deletions=1, crashes=1, creations=1)
    both.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "create_topic(t=0)")
    both.do("on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=2)", "request_deletion(t=0)")
    both.do("on_deletion_change(c=1)")
    assert both.do("delete_queued_topic(c=1, t=0)") == ["turn to deletion", "queue UpdateMetadata"]


PARTS = frozenset({"partitions", "connections", "shutdown"})


def test_in_step_7_a_leader_that_is_shutting_down_is_not_live() -> None:
    """`liveBrokerIds`: broker 1 is of RAR and up, but another one is elected."""
    bounds = replace(scope("shutdown"), controllers=1, requests=(((2, 1),),), parts=PARTS | {"reassignment"})
    both = SideBySide(bounds, shutdowns=1, reassignments=1)
    both.do("stop_broker(b=1)", "request_shutdown(b=1, c=1)", "accept_shutdown(c=1, b=1)")
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)", "write_move(c=1, p=0)")
    assert both["zookeeper.state[0].leader"] == "2"


@pytest.mark.parametrize(("assigned", "told"), [((2, 1), []), ((1, 2), ["queue StopReplica"])])
def test_machines_that_are_not_up_move_nobody_for_a_shutdown(assigned: tuple[int, int], told: list[str]) -> None:
    """A failover ends before it has started the machines; its channels are open, so it is active (D4).

    Neither machine has a line in state-change.log of it.
    """
    parts = PARTS | {"preferred_election"}
    bounds = replace(scope("shutdown"), controllers=1, assigned=(assigned,), requests=(), parts=parts)
    both = SideBySide(bounds, expiries=1, exceptions=1, shutdowns=1)
    both.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)")
    both.do("elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)", "read_brokers(c=1)")
    both.do("read_topics(c=1)", "read_state(c=1, p=0)", "stop_broker(b=2)", "request_shutdown(b=2, c=1)")
    both.do("fail_failover(c=1)", "resign_delete(c=1)", "accept_shutdown(c=1, b=2)")
    assert both.do("move_partition(c=1, p=0, r=2)") == told
    written = [one.line for one in both.cluster.entries if isinstance(one, StateChange)]
    assert not any(isinstance(line, PartitionChangeFailed | ReplicaChangeFailed) for line in written)
    assert both.do("answer_shutdown(c=1, b=2)") == ["answer ControlledShutdown"]
    assert both["zookeeper.state[0].version"] == "0"
    assert (both["processes[2].leaving"] == "ASKS") == (not told), "it leads still"


@pytest.mark.parametrize(("switches", "told"), [(AS_CODED, True), (frozenset({Switch.FENCED_ANSWERS}), False)])
def test_who_is_to_answer_a_shutdown_and_has_been_overtaken_tells_no_leaders(switches: Switches, told: bool) -> None:
    both = SideBySide(scope("shutdown_zombie"), switches, shutdowns=1, controller_removals=1)
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    both.do("move_partition(c=1, p=0, r=2)", "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    both.do("remove_controller()", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    both.do("read_epoch(c=2)", "increment_epoch(c=2)", "answer_shutdown(c=1, b=2)")
    assert any(isinstance(one, Report) and isinstance(one.line, AllLeaders) for one in both.cluster.entries) == told


def test_a_shutdown_that_outlives_its_term_has_the_lock_before_the_election() -> None:
    """Its controller resigns once more, which deletes the successor's znode; so the listener finds no controller."""
    both = SideBySide(replace(scope("shutdown_zombie"), assigned=((2, 1),)), shutdowns=1, expiries=1)
    both.do("stop_broker(b=1)", "request_shutdown(b=1, c=1)", "accept_shutdown(c=1, b=1)")
    both.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    both.do("renew_session(b=1)", "on_new_session(c=1)")
    assert (both["controllers[1].at"], both["controllers[1].elects"]) == ("ELECT_READ", "yes")
    assert not both.can("register_broker(b=1)"), "which is the next callback"
    both.do("move_partition(c=1, p=0, r=1)", "resign_delete(c=1)")
    assert both["controllers[1].elects"] == "yes"
    both.do("answer_shutdown(c=1, b=1)", "elect_read(c=1)")
    assert (both["controllers[1].at"], both["controllers[1].elects"]) == ("ELECT_CREATE", "no")


def test_a_story_ends_where_the_specification_cannot_go_on() -> None:
    assert sides("bounce").story(("crash(b=2)", "crash(b=2)", "no_such_step(c=1)")).actions == ("crash(b=2)",)


def test_a_part_that_the_reference_does_not_have_is_refused_and_what_to_do_is_said() -> None:
    with pytest.raises(BadInput, match=r"the reference cluster has no .*kcheck explore purgatory_alone"):
        Sides(scope("purgatory_alone"))
