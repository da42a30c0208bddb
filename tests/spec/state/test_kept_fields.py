"""Where a field says that it is kept only where something may happen, elsewhere it would tell nothing.

Such fields are forced in where they are not kept; rules assign them either way. Most tell nothing by the terms alone,
which an analysis finds: they stay as they are at first, or nobody asks for them. Of the others it is a matter of what
the protocol does: what is reached is as large as the manifest says, so they only repeat what the other variables tell.
And no other field than those that are known to tell nothing is assigned where it is not kept: that would be lost.
"""

import re
from typing import Any

import pytest

from model_check.explicit_state.explorer import explore
from model_check.inventory.system_facts import SystemKey, system_keys
from spec.expectations import plan, plans
from spec.language.records import ALWAYS, Declared, Leaf, Record, own
from spec.language.terms import NO
from spec.language.views import View, leaves
from spec.model import Model
from spec.scopes import scope
from spec.state.brokers import BrokerPartition, LateCopy, Slot, SlotPartition
from spec.state.cluster import History, State, shape
from spec.state.controller import BatchWords, CachedPartition, Controller
from spec.state.controller_parts import EarlyReads, LostTopics, Notifications, Reassigning, TopicListeners
from spec.state.elections import GivenElections
from spec.state.zookeeper import ZooKeeper
from spec.variants import switches_named
from tests.spec.on_demand import OnDemand
from tests.spec.state.influence import Influence
from tests.spec.state.test_cluster import records

EPOCH_VERSION = (ZooKeeper.epoch_version, Controller.epoch_version)
DIRTY = (Controller.dirty, Controller.resigns_again)
TOLD_ASSIGNMENT = (BrokerPartition.assigned, SlotPartition.assigned)

FORCED = [
    ("epoch_version", EPOCH_VERSION, "partitions", "AS_CODED"),
    ("informed", (CachedPartition.informed,), "removal", "AS_CODED"),
    ("informed", (CachedPartition.informed,), "addition", "FENCED"),
    ("named", (CachedPartition.named,), "slow_notes", "AS_CODED"),
    ("assigned", TOLD_ASSIGNMENT, "slow_notes", "AS_CODED"),
    ("assigned", TOLD_ASSIGNMENT, "addition", "FENCED"),
    ("resuming", (Controller.resuming,), "resigned_deletion", "AS_CODED"),
    ("to_queue", (Controller.to_queue,), "resigned_deletion", "AS_CODED"),
    ("calls_back", (Slot.calls_back,), "resigned_deletion", "AS_CODED"),
    ("created", (Controller.created,), "creation_shutdown", "AS_CODED"),
    ("remaining_read", (Controller.remaining_read,), "told_move", "FENCED"),
    ("outside", (Controller.outside,), "told_move", "AS_CODED"),
    ("outside", (Controller.outside,), "move_election", "AS_CODED"),
    ("dirty", DIRTY, "late_copies", "AS_CODED"),
    ("shutdown_fails", (Controller.shutdown_fails,), "creation_shutdown", "FENCED"),
    ("elects", (Controller.elects,), "shutdown", "FENCED"),
]

PROVED = (*DIRTY, Controller.remaining_read, Controller.shutdown_fails)
"""Of these the analysis tells, too."""

QUICK = ("removal",)
"""The scope that is soonest explored."""


@pytest.mark.parametrize(
    ("fields", "name", "variant"),
    [
        pytest.param(fields, name, variant, id=f"{field}-{name}", marks=[pytest.mark.slow] * (name not in QUICK))
        for field, fields, name, variant in FORCED
    ],
)
def test_where_a_field_is_not_kept_it_would_tell_nothing(
    fields: tuple[Declared[Any], ...], name: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plan(name).exploration(variant)
    assert expected is not None
    switches = switches_named(variant)
    without = OnDemand(scope(name), switches)
    assert not any(Model(scope(name), switches).keeps(field) for field in fields)
    for field in fields:
        monkeypatch.setattr(field, "kept", ALWAYS)
    forced = OnDemand(scope(name), switches).unclaimed()
    assert len(forced.variables) > len([*without.variables])
    found = explore(forced, limit=2 * expected.states, expected=expected.states)
    assert (found.states, found.transitions, found.depth) == (expected.states, expected.transitions, expected.depth)


REPEATING = tuple({one: None for _, fields, *_ in FORCED for one in fields if one not in PROVED})
DECIDING: tuple[Declared[Any], ...] = (
    ZooKeeper.topic_ids, LostTopics.topic_ids, BrokerPartition.topic_id, SlotPartition.topic_id, ZooKeeper.assigned,
    BatchWords.assigned, History.target, Notifications.unread, SlotPartition.leader_lives, Slot.delete_epoch,
    LateCopy.leader_epoch, EarlyReads.given_topics, EarlyReads.given_requests, EarlyReads.given_moves,
    Controller.allowed,
)  # fmt: skip
"""Where one of these is kept, rules do not only remember more: they do otherwise."""
WITH_CALLBACKS = (TopicListeners, Reassigning, GivenElections)
"""Fields that come with callbacks of their own, for which other scopes have no number."""

RECORDS = sorted(records(State) - {*WITH_CALLBACKS}, key=lambda record: record.__name__)
UNASKED: list[type[Record] | Declared[Any]] = [
    *(record for record in RECORDS if record.kept is not ALWAYS),
    *(
        field
        for record in RECORDS
        for field in own(record).values()
        if field.kept is not ALWAYS and field not in (*REPEATING, *DECIDING)
    ),
]

SYSTEMS = [one for one in system_keys(plans().values()) if "partitions" in scope(one.scope).parts and not one.proving]
SMALL = [one for one in SYSTEMS if one.scope in {"cold", "addition", "resigned_deletion"}]


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.slow] * (one.scope != "cold"))
        for one in dict.fromkeys((*SMALL, *SYSTEMS[::12]))
    ],
)
def test_where_most_fields_are_not_kept_nobody_would_ask(key: SystemKey, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are forced in at once. Where one is not kept it reads as its field says, whatever a start says."""
    left_out = {one.name: one.initial for one in leaves(shape(Model(scope(key.scope), key.switches)), kept=False)}
    for one in UNASKED:
        monkeypatch.setattr(one, "kept", ALWAYS)
    forced = key.built()
    added = {one.name: one.initial for one in forced.variables if one.name in left_out}
    assert len(added) > 20
    started = [name for name, initial in added.items() if initial != left_out[name]]
    assert sorted(added.keys() - Influence(forced, moving=started).idle) == []


DERIVED = {
    "assigned", "leader_lives", "told", "logs", "unreported", "configurations", "topic_ids", "modified",
    "topic_listening", "topic_watching", "delete_epoch", "target", "asked", "calls_back", "started", "allowed", "seen",
}  # fmt: skip
"""What rules go by otherwise where it is not kept, or what nobody asks for there."""
LOST_IN = ("left_overs", "losses", "topics", "reassignment", "shutdown", "late_copies", "creation_shutdown", "move")


@pytest.mark.parametrize(
    ("variant", "names"),
    [
        pytest.param("AS_CODED", ("creation_shutdown", "move"), id="AS_CODED, of two"),
        *(pytest.param(one, LOST_IN, id=one, marks=pytest.mark.slow) for one in ("AS_CODED", "FENCED")),
    ],
)
def test_only_what_tells_nothing_is_lost(variant: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """An assignment to a field that is not kept is lost, unless it is of the value that the field has at first."""
    lost: set[str] = set()
    assign = View.__setitem__

    def assigned(view: View, key: object, value: object) -> None:
        place, frame = view._place.member(key), view._frame
        child = place.shape
        if isinstance(child, Leaf) and not child.kept and frame is not None and frame.condition is not NO:
            raw = child.kind.constant(value)
            if not (raw.is_known and raw.raw == child.at_first.raw):
                lost.add(next(name for name in re.findall(r"[a-z_]+", place.path)[::-1]))
        assign(view, key, value)

    monkeypatch.setattr(View, "__setitem__", assigned)
    monkeypatch.setattr(View, "__setattr__", assigned)
    for name in names:
        OnDemand(scope(name), switches_named(variant)).unclaimed()
    assert lost <= DERIVED | {field for field, *_ in FORCED}
    assert len(lost) > (10 if names == LOST_IN else 0)
