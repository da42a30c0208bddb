"""What is claimed of the automatic rebalance: each claim is kept by what Kafka does, and broken by what it does not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from model_check.stepping.open_system import OpenSystem, Taken, open_system
from spec.claims.auto_rebalance import (
    rebalance_acts_only_beyond_the_percentage,
    rebalance_elects_live_brokers_one_by_one,
    rebalance_leaves_dying_topics_alone,
    rebalance_waits_for_what_is_under_way,
)
from spec.language.rules import Claim
from spec.state.enumerations import At, Handler

PARTS = frozenset({"auto_rebalance", "preferred_election", "reassignment", "deletion", "shutdown"})
CLUSTER = open_system(2, ((2, 1),) * 4 + ((1, 2),), (0, 0, 0, 0, 1), controller_epochs=2, parts=PARTS)
"""Broker 2 is to lead the four partitions of topic 0, broker 1 the one of topic 1."""
LISTS, SETS = CLUSTER.model.brokers.list_kind, CLUSTER.model.brokers.set_kind
ELECTING: dict[str, Any] = {"handler": list(Handler).index(Handler.REBALANCE), "at": list(At).index(At.ONLINE_WRITE)}


def controller(*led: int, imbalanced: str = "", todo: str = "0", live: tuple[int, ...] = (1, 2), **more: Any) -> Any:
    """Controller 1, which knows the leaders of the partitions; it visits some, and others are to be given back."""
    partitions = {
        p: {
            "leader": led[p] if p < len(led) else 2,
            "leader_epoch": 1,
            "assigned": LISTS.encode((2, 1) if p < 4 else (1, 2)),
            "todo": int(str(p) in todo),
        }
        for p in range(5)
    }
    topics, taken_up = {0: 1, 1: 1}, {int(p): 1 for p in imbalanced}
    known = {"live": SETS.encode(live), "topics": topics, "partitions": partitions, "imbalanced": taken_up}
    return {**known, **more}


def holds(claim: Claim, mine: Mapping[str, Any]) -> bool:
    """Whether a claim holds of a state with this controller."""
    value = claim.function(CLUSTER.view({"controllers": {1: mine}}), CLUSTER.model)
    assert value is not None
    return bool(value.raw)


# ------------------------------------------------------------------------------------------------------- the percentage


def may_take_up(*led: int, percentage: int, taken_up: str, rule: str = "check_imbalance", **more: Any) -> bool:
    """Whether a step may take up these partitions where they are led so."""
    bounds = replace(CLUSTER.model.scope, imbalance_percentage=percentage)
    cluster = OpenSystem(replace(CLUSTER.model, scope=bounds))
    before, after = (controller(*led, imbalanced=one, **more) for one in ("", taken_up))
    views = (cluster.view({"controllers": {1: one}}) for one in (before, after))
    value = rebalance_acts_only_beyond_the_percentage.function(*views, cluster.model, Taken(rule, {"c": 1, "h": 2}))
    return value is None or bool(value.raw)


@pytest.mark.parametrize(
    ("led", "percentage", "allowed"),
    [
        ((2, 2, 2, 2), 0, False),
        ((1, 2, 2, 2), 0, True),
        ((1, 2, 2, 2), 24, True),
        ((1, 2, 2, 2), 25, False),
        ((1, 1, 1, 1), 99, True),
        ((1, 1, 1, 1), 100, False),
    ],
)
def test_the_share_is_to_be_strictly_more_whatever_the_step_is_called(
    led: tuple[int, ...], percentage: int, allowed: bool
) -> None:
    assert may_take_up(*led, 1, percentage=percentage, taken_up="0") == allowed
    assert may_take_up(*led, 1, percentage=percentage, taken_up="0", rule="another") == allowed
    assert may_take_up(*led, 1, percentage=percentage, taken_up="")


def test_each_broker_has_a_share_of_its_own() -> None:
    assert may_take_up(2, 2, 2, 2, 2, percentage=99, taken_up="4")
    assert not may_take_up(2, 2, 2, 2, 2, percentage=0, taken_up="04")


def test_what_is_to_be_deleted_does_not_count() -> None:
    assert may_take_up(1, 2, 2, 2, 2, percentage=20, taken_up="0", queued={1: 1})
    assert not may_take_up(1, 2, 2, 2, 1, percentage=20, taken_up="0", queued={0: 1})


def test_what_a_reassignment_puts_first_counts() -> None:
    moved = controller(1, imbalanced="0")["partitions"]
    assert not may_take_up(1, 2, 2, 2, percentage=50, taken_up="0", partitions=moved)
    moved = {p: {**one, "assigned": LISTS.encode((1, 2))} if p in {2, 3} else one for p, one in moved.items()}
    assert may_take_up(1, 2, 2, 2, percentage=49, taken_up="0", partitions=moved)


# ------------------------------------------------------------------------------------------------------- its elections


def test_one_partition_is_elected_at_a_time_and_to_a_live_broker_that_stays() -> None:
    claim = rebalance_elects_live_brokers_one_by_one
    assert holds(claim, controller(1, **ELECTING))
    faults: list[dict[str, Any]] = [{"live": (1,)}, {"todo": "01"}, {"shutting_down": SETS.encode((2,))}]
    for wrong in faults:
        assert not holds(claim, controller(1, **ELECTING, **wrong))
        assert holds(claim, controller(1, **{**ELECTING, "handler": list(Handler).index(Handler.FAILOVER)}, **wrong))


@pytest.mark.parametrize("busy", [{"reassigned": {4: LISTS.encode((2,))}}, {"electing": {4: 1}}])
def test_whatever_else_is_under_way_with_any_partition_comes_first(busy: dict[str, Any]) -> None:
    claim = rebalance_waits_for_what_is_under_way
    assert holds(claim, controller(1, **ELECTING))
    assert holds(claim, controller(1, imbalanced="0", **busy))
    assert not holds(claim, controller(1, **ELECTING, **busy))


def test_nothing_is_elected_for_a_topic_that_is_to_be_deleted_or_is_not_known() -> None:
    claim = rebalance_leaves_dying_topics_alone
    assert holds(claim, controller(1, **ELECTING, queued={1: 1}))
    assert not holds(claim, controller(1, **ELECTING, queued={0: 1}))
    assert not holds(claim, {**controller(1, **ELECTING), "topics": {1: 1}})
