"""Where a field says that it is kept only where something may happen, elsewhere it would tell nothing.

Each such field is forced in where it is not kept: the rules ask the field, so they keep it then. What is reached is as
large as the manifest says, so the field only repeats what the other variables tell.
"""

from typing import Any

import pytest

from model_check.explicit_state.explorer import explore
from spec.expectations import plan
from spec.language.records import ALWAYS, Declared
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
