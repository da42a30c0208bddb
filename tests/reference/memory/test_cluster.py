"""The cluster in memory: deterministic, forked without a trace, and its faults are those of PROTOCOL.md section 3."""

import gc
import weakref
from dataclasses import replace

import pytest

from reference.controller.effects import ReadEpoch
from reference.elections.requested import ELECTIONS
from reference.journal import Report
from reference.memory.choices import BUDGETS, Choice
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster, run_to_rest
from reference.procedures import Script
from reference.scripts import CONTROLLER, CONTROLLER_EPOCH, broker_path
from reference.zookeeper.api import NoNode
from spec.scopes import scope
from spec.state.enumerations import Callback
from spec.variants import AS_CODED, Switch


def names(cluster: MemoryCluster) -> list[str]:
    return [choice.name for choice in choices(cluster)]


def named(cluster: MemoryCluster, name: str) -> Choice:
    return next(choice for choice in choices(cluster) if choice.name == name)


def take(cluster: MemoryCluster, *steps: str) -> None:
    for name in steps:
        step(cluster, named(cluster, name))


def registered(cluster: MemoryCluster) -> set[int]:
    return {b for b in cluster.processes if broker_path(b) in cluster.zookeeper.tree}


def snapshot(cluster: MemoryCluster) -> tuple[object, ...]:
    tree = {path: (znode.data, znode.version) for path, znode in cluster.zookeeper.tree.items()}
    events = {b: tuple(process.events) for b, process in cluster.processes.items()}
    return tree, events, dict(cluster.budget), names(cluster)


# ------------------------------------------------------------------------------------------------------------ the start


def test_a_settled_cluster_is_at_rest_with_everybody_registered_and_one_controller() -> None:
    one = initial_cluster(scope("tiny"))
    assert registered(one) == {1, 2, 3}
    assert one.processes[1].controller is not None
    assert one.processes[1].controller.is_active
    assert all(choice.is_fault for choice in choices(one))
    assert run_to_rest(one) == []


def test_a_cold_cluster_can_only_be_started() -> None:
    one = initial_cluster(scope("cold"))
    assert registered(one) == set()
    assert {choice.rule for choice in choices(one)} == {"start_process"}


def test_what_starts_first_becomes_controller_and_everybody_registers() -> None:
    one = initial_cluster(scope("cold"))
    for b in sorted(one.processes, reverse=True):
        eligible = one.processes[b].controller is not None
        run_to_rest(one, f"start_process(b={b})")
        assert not eligible or CONTROLLER in one.zookeeper.tree
    assert registered(one) == set(one.processes)
    active = [b for b, process in one.processes.items() if process.controller and process.controller.is_active]
    assert active == [max(b for b, process in one.processes.items() if process.controller)]


def test_a_step_that_is_not_possible_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="is not possible here; what is: start_process"):
        run_to_rest(initial_cluster(scope("cold")), "crash(b=1)")


# ---------------------------------------------------------------------------------------------------------------- forks


def test_the_same_choices_lead_to_the_same_cluster() -> None:
    one, other = (initial_cluster(scope("tiny")) for _ in range(2))
    for _ in range(60):
        possible = names(one)
        assert possible == names(other)
        if not possible:
            break
        take(one, possible[len(possible) // 2])
        take(other, possible[len(possible) // 2])
    assert snapshot(one) == snapshot(other)


def test_a_fork_goes_its_own_way_and_leaves_the_original_alone() -> None:
    """Wherever the two stand: also in the middle of handlers, which all but the first fork begin anew."""
    one = initial_cluster(scope("tiny"))
    for number in range(40):
        before, twin = snapshot(one), one.fork()
        for name in names(one):
            take(twin.fork(), name)
        assert snapshot(one) == before == snapshot(twin)
        if not before[-1]:
            break
        take(one, names(one)[number % len(names(one))])


def test_the_first_fork_goes_on_with_a_handler_and_the_next_one_begins_it_anew() -> None:
    one = initial_cluster(scope("tiny"))
    take(one, "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)")
    process = one.processes[2]
    controller = process.controller
    forks = [after(one, named(one, "elect_create(c=2)")) for _ in range(3)]
    assert [fork.processes[2].controller is controller for fork in forks] == [True, False, False]
    assert len({str(snapshot(fork)) for fork in forks}) == 1
    assert process.running is not None
    assert process.running.pending is not None
    with pytest.raises(RuntimeError, match="another fork of this process has its procedure"):
        process.running.resume(0, None)


def test_a_fork_whose_handler_does_not_go_on_leaves_the_procedure_where_it_is() -> None:
    one = initial_cluster(scope("tiny"))
    take(one, "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)")
    waits = one.fork()
    waits.change(2)
    goes_on = after(one, named(one, "elect_create(c=2)"))
    later = after(waits, named(waits, "elect_create(c=2)"))
    assert str(snapshot(later)) == str(snapshot(goes_on))
    assert names(later) == names(goes_on)


@pytest.mark.parametrize("goes_on", [True, False])
def test_what_another_thread_did_amid_a_handler_is_so_in_each_fork(goes_on: bool) -> None:
    bounds = scope("early_resignation")
    one = initial_cluster(replace(bounds, budgets=(*bounds.budgets, ("expiries", 1))))
    take(one, "stop_broker(b=1)", "request_shutdown(b=1, c=1)", "accept_shutdown(c=1, b=1)")
    take(one, "move_partition(c=1, p=0, r=1)", "expire_session(b=1, lost=0)", "renew_session(b=1)")
    take(one, "read_for_listener(c=1)", "stop_deletions(c=1)")
    told = [fork.change(1, goes_on=goes_on).own_controller for fork in [one.fork() for _ in range(3)]]
    assert [one.resigns for one in told] == [True] * 3
    assert len({one.listeners for one in told}) == 1
    assert len({str(one.deleting) for one in told}) == 1


@pytest.mark.parametrize("name", ["tiny", "election", "deletion", "reassignment_again"])
def test_a_fork_that_nobody_holds_is_gone_at_once(name: str) -> None:
    """A walk makes tens of thousands: none may wait for the collector of garbage, whatever it holds or has raised."""
    reached, forks = [initial_cluster(scope(name))], list[weakref.ref[MemoryCluster]]()
    gc.disable()
    try:
        for _ in range(7):
            reached = [after(one, choice) for one in reached[-12:] for choice in choices(one)]
            forks += map(weakref.ref, reached)
        reached.clear()
        assert len(forks) > 100
        assert [fork for fork in forks if fork() is not None] == []
    finally:
        gc.enable()


def test_what_was_raised_holds_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler keeps what its effects raised, to be begun again; not the frames that it came through."""

    def script(_: ReadEpoch) -> Script[None]:
        raise NoNode(CONTROLLER_EPOCH)
        yield

    one = initial_cluster(scope("tiny"))
    monkeypatch.setattr(ReadEpoch, "script", script)
    take(one, "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    gc.disable()
    try:
        fork = after(one, named(one, "read_epoch(c=2)"))
        assert "resign_delete(c=2)" in names(fork)
        reference = weakref.ref(fork)
        del fork
        assert reference() is None
    finally:
        gc.enable()


def after(one: MemoryCluster, choice: Choice) -> MemoryCluster:
    twin = one.fork()
    step(twin, choice)
    return twin


def test_asking_what_is_possible_changes_nothing() -> None:
    one = initial_cluster(scope("losses"))
    take(one, "expire_session(b=1, lost=0)")
    while any(not choice.is_fault for choice in choices(one)):
        assert snapshot(one) == snapshot(one)
        take(one, next(choice.name for choice in choices(one) if not choice.is_fault))
        if any(name.startswith("increment_epoch_unanswered") for name in names(one)):
            return
    pytest.fail("no write was ever asked about")


# --------------------------------------------------------------------------------------------------------------- faults


def test_a_fault_draws_on_its_budget_until_there_is_none() -> None:
    one = initial_cluster(scope("tiny"))
    take(one, "expire_session(b=2, lost=0)")
    assert one.budget["expiries"] == 0
    assert not [name for name in names(one) if name.startswith("expire_session")]
    assert {choice.rule for choice in choices(one) if choice.is_fault} == {"shrink_isr"}
    assert set(BUDGETS.values()) >= set(one.budget)


def test_a_killed_process_leaves_its_session_and_ephemerals_behind() -> None:
    one = initial_cluster(scope("bounce"))
    take(one, "crash(b=2)")
    assert registered(one) == set(one.processes)
    assert not one.processes[2].is_running
    take(one, "end_orphaned_session(b=2)")
    assert registered(one) == set(one.processes) - {2}
    assert names(one).count("start_process(b=2)") == 1


def test_an_expired_session_takes_the_ephemerals_but_not_the_process() -> None:
    one = initial_cluster(scope("tiny"))
    take(one, "expire_session(b=2, lost=0)")
    assert registered(one) == {1, 3}
    assert one.processes[2].is_running
    assert not one.can_operate(one.processes[2])
    take(one, "renew_session(b=2)")
    assert one.can_operate(one.processes[2])
    run_to_rest(one)
    assert registered(one) == {1, 2, 3}


def test_an_unanswered_request_is_carried_out_and_sent_again() -> None:
    one = initial_cluster(scope("resends"))
    take(one, "expire_session(b=2, lost=0)")
    while not [name for name in names(one) if name.startswith("deliver_request_unanswered")]:
        take(one, next(choice.name for choice in choices(one) if not choice.is_fault))
    name = next(name for name in names(one) if name.startswith("deliver_request_unanswered"))
    once = name.replace("_unanswered", "")
    take(one, name)
    assert once in names(one)
    assert one.budget["resends"] == 0


def test_who_asks_for_it_has_the_listeners_on_children_called_as_zkclients_table_of_hashes_has_them() -> None:
    """The order in which a real controller's are called: /isr_change_notification, /brokers/ids, then topics."""
    wide, expiry = scope("deletion").parts | {"notifications"}, (("expiries", 1),)
    bounds = replace(scope("deletion"), parts=wide, budgets=expiry, callback_capacity=12, fires_by_hash=True)
    cluster = initial_cluster(bounds, AS_CODED)
    take(cluster, "expire_session(b=1, lost=0)", "renew_session(b=1)")
    children = [Callback.ISR_CHANGES, Callback.BROKERS, Callback.DELETIONS, Callback.TOPICS]
    queued = list(cluster.processes[1].events)
    assert queued == [Callback.SESSION, Callback.REGISTRATION, *children, Callback.CONTROLLER]


# --------------------------------------------------------------------------------- what is read before the lock is had


def drain(cluster: MemoryCluster, *rules: str) -> None:
    """Take what has one of these rules until there is none."""
    while found := [choice for choice in choices(cluster) if choice.rule in rules]:
        step(cluster, found[0])


def said(cluster: MemoryCluster) -> list[str]:
    return [str(entry.line) for entry in cluster.entries if isinstance(entry, Report)]


def test_a_listener_goes_by_what_was_read_before_it_had_the_lock() -> None:
    """The deletion thread completes a topic meanwhile, which the listener then finds new, and without partitions."""
    one = initial_cluster(scope("early_topics"))
    take(one, "request_deletion(t=0)", "request_deletion(t=1)")
    drain(one, "on_deletion_change", "delete_queued_topic", "read_for_removal", "write_removal")
    drain(one, "deliver_request", "deliver_deletion", "on_replica_deleted")
    take(one, "delete_queued_topic(c=1, t=1)", "delete_state(c=1, p=1)", "delete_topic(c=1, t=1)")
    assert "on_topic_change(c=1)" not in names(one), "the thread has the lock"
    take(one, "read_for_listener(c=1)")
    assert one.processes[1].given == frozenset("a")
    drain(one, "delete_queued_topic", "delete_state", "delete_topic", "delete_configuration", "delete_request")
    take(one, "on_topic_change(c=1)")
    fired, difference, *_ = [line.partition(": ")[2] for line in said(one)]
    assert fired == "Topic change listener fired for path /brokers/topics with children a"
    assert difference == "New topics: [Set(a)], deleted topics: [Set()], new partition replica assignment [Map()]"


def test_a_listener_carries_out_a_request_that_was_removed_before_it_had_the_lock() -> None:
    one = initial_cluster(scope("early_move"))
    take(one, "request_reassignment(k=0)", "read_for_listener(c=1)", "withdraw_reassignment()")
    take(one, "on_reassignment_request(c=1)")
    (fired,) = [line.partition(": ")[2] for line in said(one)]
    assert fired.startswith("Partitions reassigned listener fired for path /admin/reassign_partitions. Record")
    assert "accept_reassignment(c=1, p=0)" in names(one)


def test_a_listener_deletes_the_request_that_took_the_place_of_the_one_it_was_given() -> None:
    one = initial_cluster(scope("early_election"))
    take(one, "request_election(named=1)", "read_for_listener(c=1)", "withdraw_election()")
    take(one, "request_election(named=1)", "on_election_request(c=1)", "read_for_election(c=1, p=0)")
    take(one, "delete_election_request(c=1)")
    assert ELECTIONS not in one.zookeeper.tree


def test_before_0_10_2_a_new_session_is_printed_before_the_lock_and_nothing_is_read() -> None:
    one = initial_cluster(scope("early_expiry"), frozenset({Switch.ALWAYS_RESIGN}))
    take(one, "start_process(b=1)", "expire_session(b=1, lost=0)", "renew_session(b=1)", "elect_read(c=1)")
    take(one, "elect_create(c=1)", "read_for_listener(c=1)")
    assert [type(entry) for entry in one.entries] == [Report], "the line, and no operation"
    assert one.processes[1].events[0] is Callback.SESSION, "though /controller has its id by now"


def test_d68_a_controller_that_resigns_forgets_which_topics_go_before_it_has_the_lock() -> None:
    one = initial_cluster(scope("early_resignation"))
    take(one, "request_deletion(t=0)", "on_deletion_change(c=1)", "remove_controller()", "read_for_listener(c=1)")
    controller = one.processes[1].controller
    assert controller is not None
    assert controller.deleting.queued == {"a"}
    take(one, "stop_deletions(c=1)")
    controller = one.processes[1].controller
    assert controller is not None
    assert (controller.deleting.queued, controller.is_active) == (frozenset(), True)
    take(one, "on_controller_change(c=1)")
    assert said(one)[-1].endswith("resigned as the controller")
