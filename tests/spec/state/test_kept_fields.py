"""Where a field says that it is kept only where something may happen, elsewhere it would tell nothing.

Each such field is forced in where it is not kept; rules assign it either way. What is reached is as large as the
manifest says, so the field only repeats what the other variables tell. And no other field than those that are known to
tell nothing is assigned where it is not kept: that would be lost.
"""

import re
from typing import Any

import pytest

from model_check.explicit_state.explorer import explore
from spec.expectations import plan
from spec.language.records import ALWAYS, Declared, Leaf
from spec.language.views import View
from spec.model import Model
from spec.scopes import scope
from spec.state.controller import CachedPartition, Controller
from spec.state.zookeeper import ZooKeeper
from spec.system import system
from spec.variants import switches_named

EPOCH_VERSION = (ZooKeeper.epoch_version, Controller.epoch_version)
DIRTY = (Controller.dirty, Controller.resigns_again)

FORCED = [
    ("epoch_version", EPOCH_VERSION, "partitions", "AS_CODED"),
    ("informed", (CachedPartition.informed,), "removal", "AS_CODED"),
    ("informed", (CachedPartition.informed,), "addition", "FENCED"),
    ("named", (CachedPartition.named,), "slow_notes", "AS_CODED"),
    ("resuming", (Controller.resuming,), "resigned_deletion", "AS_CODED"),
    ("created", (Controller.created,), "creation_shutdown", "AS_CODED"),
    ("remaining_read", (Controller.remaining_read,), "told_move", "FENCED"),
    ("dirty", DIRTY, "late_copies", "AS_CODED"),
    ("shutdown_fails", (Controller.shutdown_fails,), "creation_shutdown", "FENCED"),
    ("elects", (Controller.elects,), "shutdown", "FENCED"),
]

QUICK = ("removal", "addition", "slow_notes", "resigned_deletion")
"""Scopes of which a kernel is made within a second."""


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
    without = system(scope(name), switches)
    assert not any(Model(scope(name), switches).keeps(field) for field in fields)
    for field in fields:
        monkeypatch.setattr(field, "kept", ALWAYS)
    forced = system(scope(name), switches)
    assert len(forced.variables) > len(without.variables)
    found = explore(forced, limit=2 * expected.states, expected=expected.states)
    assert (found.states, found.transitions, found.depth) == (expected.states, expected.transitions, expected.depth)


DERIVED = {
    "assigned", "leader_lives", "told", "logs", "unreported", "configurations", "topic_ids", "modified",
    "topic_listening", "topic_watching", "delete_epoch", "target", "asked", "calls_back", "started", "allowed", "seen",
}  # fmt: skip
"""What rules go by otherwise where it is not kept, or what nobody asks for there."""
LOST_IN = ("left_overs", "losses", "topics", "reassignment", "shutdown", "late_copies", "creation_shutdown", "move")


@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
def test_only_what_tells_nothing_is_lost(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assignment to a field that is not kept is lost, unless it is of the value that the field has at first."""
    lost: set[str] = set()
    assign = View.__setitem__

    def assigned(view: View, key: object, value: object) -> None:
        child = view._shape[key]
        if isinstance(child, Leaf) and not child.kept and not view._frame.never:  # type: ignore[union-attr]  # as above
            raw = child.kind.constant(value)
            if not (raw.is_known and raw.raw == child.at_first.raw):
                lost.add(next(name for name in re.findall(r"[a-z_]+", f"{view._path}.{key}")[::-1]))
        assign(view, key, value)

    monkeypatch.setattr(View, "__setitem__", assigned)
    monkeypatch.setattr(View, "__setattr__", assigned)
    for name in LOST_IN:
        system(scope(name), switches_named(variant))
    assert lost <= DERIVED | {field for field, *_ in FORCED}
    assert len(lost) > 10
