"""Edge replay: the reference does what the specification says, and a fault put into it is found by a shortest story.

How long the shortest story must be is read off the specification's own tree: the nearest state in which the faulty step
can show itself, and that step.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from model_check.explicit_state.spanning_tree import SpanningTree, spanning_tree
from model_check.refinement.edge_replay import joined, walk
from model_check.refinement.lockstep import Disagreement, Sides
from reference.brokers.broker import Broker
from reference.controller.context import RequestBatch
from reference.controller.effects import ResignDelete
from reference.deletion import requests as deletion_requests
from reference.leadership.effects import WriteRemoval
from reference.memory import isr_changes as memory_isr_changes
from reference.memory import scheduler as memory_scheduler
from reference.memory.cluster import MemoryCluster
from reference.procedures import Script
from reference.scripts import state_data, state_path
from reference.zookeeper.api import SetData
from spec.expectations import plan
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import PartitionLeadership
from spec.scopes import Scope, scope
from spec.variants import VARIANTS, Switch
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.plain_trees import plain_tree, replay_edges

ONE_SHUTDOWN = replace(scope("shutdown"), name="one shutdown", controllers=1, budgets=(("shutdowns", 1),))
"""One broker may stop while the other is controller, which nobody can become in its place."""


@cache
def sides(name: str, variant: str = "AS_CODED") -> Sides:
    base, *older = variant.split("+")
    bounds = ONE_SHUTDOWN if name == ONE_SHUTDOWN.name else scope(name)
    return Sides(bounds, VARIANTS[base] | {Switch[one] for one in older})


@cache
def tree(name: str, depth: int | None = None, variant: str = "AS_CODED") -> SpanningTree:
    return spanning_tree(sides(name, variant).system, depth=depth)


@cache
def plainly(name: str, depth: int | None = None, variant: str = "AS_CODED") -> SpanningTree:
    """The same for the price of a small scope: nothing is compiled."""
    return plain_tree(sides(name, variant).machine, depth)


# ----------------------------------------------------------------------------------------------------------- agreement

WHOLE = ("cold", "early", "unclean", "topics", "partitions", "metadata", "told_move", "move_crash")
"""Scopes small enough to be replayed whole in a test."""
OF_ONE_PART = (
    "addition_deletion", "addition_reassignment", "late_copies", "dead_replica", "unasked_deletion", "failed_send",
    "removed_controller", "removed_controller_creation", "withdrawn_move", "refused_deletions", "early_reads",
    "early_expiry", "early_topics", "early_move", "early_election", "late_requests", "kept_topic", "failed_deletion",
    "failed_move", "edited_assignment", "edited_move", "edited_deletion", "edited_shutdown",
)  # fmt: skip
"""Those that are about one part, in two variants."""


REMOVALS, VARIANTS_BY_HAND = ("torn_removal", "dirty_batch"), ("AS_CODED", "AS_CODED+KEEP_DIRTY_BATCH", "FENCED")
BY_HAND = tuple((name, variant) for name in REMOVALS for variant in VARIANTS_BY_HAND)
"""Where somebody removes a topic by hand."""
SMALLEST = (
    ("bounce", "AS_CODED"), ("bounce", "FENCED"), ("move", "AS_CODED"), ("leaderless_deletion", "AS_CODED"),
    ("addition", "AS_CODED"), ("foreign_recreation", "AS_CODED"), ("out_of_sync_rebalance", "AS_CODED"),
)  # fmt: skip
"""Of each part of the protocol one: failover, fencing, reassignment, creation and deletion, and so on."""
OLDER = (
    ("lost_isr_write", "AS_CODED+COMPARE_NO_CONTENT"),
    ("three_replicas", "AS_CODED+TELL_ONLY_THE_LEADER"),
    ("removal", "AS_CODED+TAKE_ANY_FOLLOWER"),
    ("resigned_deletion", "AS_CODED+CALLBACK_WITHOUT_LOCK+RESIGN_UNDER_LOCK"),
    ("cold_metadata", "AS_CODED+METADATA_LAST"),
    ("cold_metadata", "AS_CODED+TELL_ONLY_THE_NEW"),
    ("silent_isr", "AS_CODED+ANNOUNCE_NO_ISR"),
    ("leaderless_deletion", "AS_CODED+IGNORE_WHO_IS_NEW"),
    ("kept_topic", "AS_CODED+LEAVE_REFUSED_DELETIONS"),
    ("creation_shutdown", "AS_CODED+SHUTDOWN_FOLLOWS_ISR"),
    ("metadata", "AS_CODED+TELL_ONLY_THE_NEW"),
    ("early_expiry", "AS_CODED+ALWAYS_RESIGN"),
    ("slow_notes", "AS_CODED"),
    ("addition_shrinks", "AS_CODED"),
)
"""Scopes of what an older release did, and of what a leader may, small enough to be replayed whole."""


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("bounce", "AS_CODED"),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in SMALLEST if one != ("bounce", "AS_CODED")),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in OLDER),
        pytest.param("foreign_recreation", "FENCED", marks=pytest.mark.slow),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in BY_HAND),
        *(pytest.param(name, variant, marks=pytest.mark.slow) for name in WHOLE for variant in VARIANTS),
        *(pytest.param(name, "FENCED", marks=pytest.mark.slow) for name in ("leaderless_deletion", "deletion")),
        pytest.param("stray_deletion", "AS_CODED", marks=pytest.mark.slow),
        pytest.param("threadless_rebalance", "AS_CODED+CALLBACK_WITHOUT_LOCK", marks=pytest.mark.slow),
        *(pytest.param(name, "FENCED", marks=pytest.mark.slow) for name in ("move", "addition")),
        *(pytest.param(name, one, marks=pytest.mark.slow) for name in OF_ONE_PART for one in ("AS_CODED", "FENCED")),
    ],
)  # fmt: skip
def test_every_edge_of_a_scope_is_an_edge_of_the_reference(name: str, variant: str) -> None:
    both = sides(name, variant)
    plain = explore_plainly(replace(both.system, properties=()))
    replayed = replay_edges(both, tree(name, variant=variant))
    assert (replayed.states, replayed.edges, replayed.depth) == (plain.states, plain.transitions, plain.depth)
    assert replayed.complete
    assert {rule for rule, count in replayed.by_rule.items() if count} == {
        action.rule for action in both.system.actions if plain.fired[action.name]
    }


DAILY = {"bounce"}


@pytest.mark.parametrize(
    ("name", "variant"), [pytest.param(*one, marks=[pytest.mark.slow] * (one[0] not in DAILY)) for one in SMALLEST]
)
def test_every_edge_of_the_smallest_scopes_is_an_edge_of_the_reference(name: str, variant: str) -> None:
    """The tree is the interpreter's; what it must come to, the manifest says, from the native explorer's counts."""
    both, counted = sides(name, variant), plan(name).exploration(variant)
    assert counted is not None
    replayed = replay_edges(both, plainly(name, variant=variant))
    assert (replayed.states, replayed.edges, replayed.depth) == (counted.states, counted.transitions, counted.depth)
    assert replayed.complete
    rules = {action.rule for action in both.system.actions}
    assert {rule for rule, count in replayed.by_rule.items() if count} == rules - counted.never_fired


@pytest.mark.slow
def test_every_edge_of_one_shutdown_under_one_controller_is_one_of_the_reference() -> None:
    replayed = replay_edges(sides(ONE_SHUTDOWN.name), plainly(ONE_SHUTDOWN.name))
    assert (replayed.complete, replayed.states, replayed.edges) == (True, 221, 367)
    assert replayed.by_rule["move_partition"]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_edge_of_one_shutdown_is_one_of_the_reference(variant: str) -> None:
    both = Sides(replace(scope("shutdown"), budgets=(("shutdowns", 1),)), VARIANTS[variant])
    replayed, plain = replay_edges(both, spanning_tree(both.system)), explore_plainly(both.system)
    assert (replayed.complete, replayed.states, replayed.edges) == (True, plain.states, plain.transitions)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
def test_every_edge_of_one_creation_with_metadata_is_one_of_the_reference(variant: str) -> None:
    """Brokers cache what UpdateMetadata says; two controllers that say it take more steps than a test has time for."""
    both = Sides(replace(scope("cached_leaderships"), budgets=(("creations", 1), ("shrinks", 1))), VARIANTS[variant])
    replayed = replay_edges(both, spanning_tree(both.system))
    plain = explore_plainly(both.system)
    assert (replayed.complete, replayed.states, replayed.edges) == (True, plain.states, plain.transitions)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_edge_of_a_move_is_one_of_the_reference_also_with_all_watches_and_requests(variant: str) -> None:
    """What a controller reads of a state znode sets its watch again, and UpdateMetadata goes between other requests."""
    bounds = scope("move")
    more = replace(bounds, parts=bounds.parts | {"metadata"}, reads_rearm=True, connection_capacity=10)
    both = Sides(replace(more, callback_capacity=10), VARIANTS[variant])
    replayed = replay_edges(both, spanning_tree(both.system))
    assert replayed.complete
    assert replayed.states > tree("move").states


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("tiny", 2),
        pytest.param("tiny", 4, marks=pytest.mark.slow),
        pytest.param("failed_send", 12, marks=pytest.mark.slow),
        *(
            pytest.param(name, 5, marks=pytest.mark.slow)
            for name in ("tiny", "election", "notifications", "losses", "resends", "shutdown")
        ),
    ],
)
def test_the_first_levels_of_larger_scopes_agree(name: str, depth: int) -> None:
    of = plainly(name, depth)
    replayed = replay_edges(sides(name), of)
    assert replayed.edges == of.edges
    assert not replayed.complete


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_two_topics_that_come_and_go_agree_where_one_is_not_known_yet(variant: str) -> None:
    """Its request is dropped, and only then the other is queued: that takes nine steps."""
    bounds = Scope(
        name="two topics",
        statement="Created and deleted, each once; the broker that has them is the controller.",
        brokers=1,
        controllers=1,
        assigned=((1,), (1,)),
        topic_of=(0, 1),
        parts=frozenset({"partitions", "connections", "creation", "deletion"}),
        budgets=(("creations", 2), ("deletions", 2)),
        callback_capacity=6,
        connection_capacity=6,
    )
    both = Sides(bounds, VARIANTS[variant])
    assert replay_edges(both, spanning_tree(both.system, depth=11)).by_rule["drop_request"]


# -------------------------------------------------------------------------------------------------------------- faults

Plant = Callable[[pytest.MonkeyPatch], None]


def forgets_to_delete(patch: pytest.MonkeyPatch) -> None:
    """A resignation leaves /controller where it is."""

    def script(_: ResignDelete) -> Script[None]:
        yield from ()

    patch.setattr(ResignDelete, "script", script)


def accepts_equal_epochs(patch: pytest.MonkeyPatch) -> None:
    """A broker takes a LeaderAndIsr whose leader epoch is no higher than the one it has."""
    decide = Broker._decide

    def lenient(self: Broker, state: PartitionLeadership, *given: Any) -> ErrorCode:
        known = self.partition(state.topic_partition)
        epoch = known.leadership.leader_epoch
        if epoch == state.leadership.leader_epoch:
            older = replace(known.leadership, leader_epoch=epoch - 1)
            self.partitions[state.topic_partition] = replace(known, leadership=older)
        return decide(self, state, *given)

    patch.setattr(Broker, "_decide", lenient)


def writes_unconditionally(patch: pytest.MonkeyPatch) -> None:
    """Who removes a replica from the ISR does not compare the znode's version."""

    def script(self: WriteRemoval) -> Script[int | None]:
        stat = yield SetData(state_path(self.partition), state_data(self.leadership))
        return int(stat.version)

    patch.setattr(WriteRemoval, "script", script)


def tells_nobody(patch: pytest.MonkeyPatch) -> None:
    """A batch is cleared without having been sent."""
    patch.setattr("reference.controller.batch._send_leader_and_isr", lambda *_: None)


def forgets_to_queue(patch: pytest.MonkeyPatch) -> None:
    """A request to delete a topic is heard of, and that is all."""
    patch.setattr(deletion_requests, "enqueue", lambda *_: None)


def stops_nobody(patch: pytest.MonkeyPatch) -> None:
    """Who is taken out of the ISR is not told to stop."""
    patch.setattr(RequestBatch, "add_stop_replica", lambda *_, **__: None)


def watches_are_silent(patch: pytest.MonkeyPatch) -> None:
    """ZooKeeper ends a session, but tells nobody who watches."""
    patch.setattr(MemoryCluster, "tell_watchers", lambda _: None)


# Each with the rule of the step that shows it, how many steps that takes, and why no fewer do.
PLANTED: dict[str, tuple[Plant, str, int, str, str]] = {
    # To become controller takes an expiry and three steps, to fail one, and the resignation is the sixth.
    "forgets_to_delete": (forgets_to_delete, "left_overs", 6, "resign_delete", "zookeeper.controller is"),
    # The README's fault in the specification: a shrink, an expiry, the callback, and a read that ends in a late batch.
    "accepts_equal_epochs": (
        accepts_equal_epochs, "tiny", 5, "deliver_request", "the specification shows: broker 1: ignore",
    ),
    # A broker must be lost, noticed and read of, and the ISR change between that read and the write.
    "writes_unconditionally": (
        writes_unconditionally, "tiny", 5, "write_removal", "zookeeper.state[0].leader_epoch is 0",
    ),
    # The same without the ISR change: what the write makes known is then not told.
    "tells_nobody": (tells_nobody, "tiny", 4, "write_removal", "controllers[1].partitions[0].batched is {}"),
    # The topic is created, its deletion asked for, and before that request is read, three steps make the partition.
    "forgets_to_queue": (
        forgets_to_queue, "leaderless_deletion", 6, "on_deletion_change", "controllers[1].queued[0] is yes",
    ),
    # A broker is told to stop, asks, and is accepted; the follower is stopped before it is taken out of the ISR.
    "stops_nobody": (
        stops_nobody, ONE_SHUTDOWN.name, 4, "move_partition", "connections[1][2][0].stage is STOP_REPLICA",
    ),
    # Ephemerals go with the first expiry.
    "watches_are_silent": (
        watches_are_silent, "tiny", 1, "expire_session", "controllers[2].callbacks[0] is CONTROLLER",
    ),
}  # fmt: skip


SELDOM = {"forgets_to_queue", "stops_nobody"}
"""Those in scopes that no other test looks at."""


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one in SELDOM)) for one in PLANTED])
def test_a_planted_fault_is_found_by_a_shortest_story(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, where, length, rule, reason = PLANTED[name]
    both, of = sides(where), plainly(where, length)
    both.initial()
    plant(monkeypatch)
    with pytest.raises(Disagreement) as found:
        replay_edges(both, of)
    assert len(found.value.steps) == length
    assert found.value.steps[-1].startswith(rule)
    assert found.value.reasons[0].startswith(reason)


@pytest.mark.parametrize("parts", [1, 5])
def test_a_fault_is_found_by_the_same_story_however_the_tree_is_cut(
    parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, of = sides("tiny"), plainly("tiny", depth=6)
    both.initial()
    tells_nobody(monkeypatch)
    with pytest.raises(Disagreement) as found:
        joined(both, of, [walk(both, stretch) for stretch in of.stretches(parts)])
    assert len(found.value.steps) == 4


def test_a_fault_at_the_start_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    tells_nobody(monkeypatch)
    with pytest.raises(Disagreement) as found:
        Sides(scope("bounce")).initial()
    assert found.value.steps == ()
    assert str(found.value).startswith("specification and reference disagree after the initial state:\n")


def test_a_choice_that_only_the_reference_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that draws on no budget may happen again and again."""
    both, of = sides("tiny"), plainly("tiny", depth=3)
    both.initial()
    monkeypatch.setattr(memory_scheduler, "is_left", lambda *_: True)
    with pytest.raises(Disagreement) as found:
        replay_edges(both, of)
    assert found.value.reasons[0].startswith("only the reference can do ")


def test_a_step_that_only_the_specification_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    both, of = sides("tiny"), plainly("tiny", depth=3)
    both.initial()
    monkeypatch.setattr(memory_scheduler, "_callback", lambda *_: iter(()))
    with pytest.raises(Disagreement) as found:
        replay_edges(both, of)
    assert found.value.reasons == ("only the specification enables on_controller_change(c=2)",)
    assert found.value.steps == ("expire_session(b=1, lost=0)",)


# ---------------------------------------------------------------------------------------------------------- conditions


def test_two_ways_to_a_state_must_find_the_reference_in_one_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deferred answer that only some orders of steps leave behind: nobody reads it, but it is there."""
    both, of = sides("tiny"), plainly("tiny", depth=4)
    both.initial()
    shrink = memory_isr_changes.change_isr

    def leaves_a_trace(cluster: MemoryCluster, *, b: int, **given: Any) -> None:
        shrink(cluster, b=b, **given)
        if cluster.budget["expiries"]:
            cluster.change(3).broker.isr_changes = frozenset({cluster.partitions[0]})
            cluster.change(3).broker.partitions[cluster.partitions[0]] = replace(
                cluster.processes[3].broker.partition(cluster.partitions[0]), assigned_replicas=(2, 1)
            )

    monkeypatch.setattr(memory_isr_changes, "change_isr", leaves_a_trace)
    with pytest.raises(Disagreement) as found:
        replay_edges(both, of)
    assert found.value.reasons[0].startswith("the specification is in the same state after ")
    assert [reason.partition(" is ")[0] for reason in found.value.reasons[1:]] == ["partitions of broker 3"] * 2
    assert {name.partition("(")[0] for name in found.value.steps} == {"shrink_isr", "expire_session"}
    assert len(found.value.steps) == 2
