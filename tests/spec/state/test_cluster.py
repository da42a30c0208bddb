"""The records of the state: every field says what it is, and what names fields as text names some that exist."""

import pytest

from spec.language.records import ALWAYS, Declared, Each, Nested, Record, names, own, taken_over
from spec.language.views import leaves
from spec.lemmas import deletion as deletion_lemmas
from spec.model import Model
from spec.protocol.controller import controller_batch, resignation
from spec.scopes import scope, scopes
from spec.state.cluster import ROOTS, shape
from spec.state.controller import CachedPartition, Controller
from spec.state.start import running
from spec.variants import AS_CODED


def records(root: type[Record]) -> set[type[Record]]:
    """A record, what it takes over, and all that these hold."""
    found = {root}.union(*map(records, taken_over(root)))
    for one in own(root).values():
        within: Declared[object] = one
        while isinstance(within, Each):
            within = within.one
        if isinstance(within, Nested):
            found |= records(within.record)
    return found


ALL = sorted(set().union(*map(records, ROOTS)), key=lambda record: record.__name__)


def test_the_records_are_found() -> None:
    assert {"ZooKeeper", "Process", "Controller", "CachedPartition", "Broker", "Slot", "LateCopy", "Thread"} <= {
        record.__name__ for record in ALL
    }


@pytest.mark.parametrize("record", ALL)
def test_every_field_says_what_it_is(record: type[Record]) -> None:
    assert (record.__doc__ or "").strip().endswith(".")
    assert [name for name, one in own(record).items() if not one.meaning.endswith(".")] == []


@pytest.mark.parametrize("record", ALL)
def test_where_a_field_is_kept_is_worded(record: type[Record]) -> None:
    worded = [one.kept for one in own(record).values() if one.kept is not ALWAYS]
    assert all(kept.text and kept.text != "always" for kept in worded)


RESET_OF_A_CONTROLLER = (
    resignation.RESET_BY_RESIGNATION, resignation.KEPT_BY_RESIGNATION, resignation.LOCALS,
    resignation.LOCALS_OF_REASSIGNMENT, resignation.STATE_LISTENERS, resignation.TOPIC_LISTENERS,
    resignation.SHUTDOWN, controller_batch.MARKS, deletion_lemmas.MARKS,
)  # fmt: skip
RESET_OF_A_PARTITION = (resignation.LOCALS_OF_PARTITION, resignation.STATES_AND_LOCALS)


def test_what_is_reset_where_a_scope_has_it_is_a_field() -> None:
    """Names that a scope does not have are passed over, so one that no scope has would go unnoticed."""
    assert {name for one in RESET_OF_A_CONTROLLER for name in one} <= set(names(Controller))
    assert {name for one in RESET_OF_A_PARTITION for name in one} <= set(names(CachedPartition))


@pytest.mark.parametrize("name", scopes())
def test_initial_values_are_of_their_kind(name: str) -> None:
    m = Model(scope(name), AS_CODED)
    tree = shape(m)
    variables = tuple(leaves(tree)) if m.scope.cold else running(m, tree)
    assert all(0 <= one.initial <= one.kind.maximum for one in variables)
    assert len({one.name for one in variables}) == len(variables)
