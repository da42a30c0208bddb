"""Fingerprints: equal in every process, blind to what is left out, and to nothing else."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from model_check.refinement.fingerprint import _canonical, conditions, fingerprint
from reference.brokers.broker import Broker
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.scopes import scope
from spec.state.enumerations import Callback
from tests.model_check.side_by_side import SideBySide

BY_ANOTHER_PROCESS = """
from model_check.refinement.fingerprint import fingerprint
from reference.memory.start import initial_cluster
from spec.scopes import scope
print(fingerprint(initial_cluster(scope("tiny"))).hex())
"""


def cluster(*names: str, of: str = "tiny") -> MemoryCluster:
    """The cluster after some steps."""
    one = initial_cluster(scope(of))
    for name in names:
        step(one, next(choice for choice in choices(one) if choice.name == name))
    return one


@pytest.mark.slow
def test_every_process_computes_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", BY_ANOTHER_PROCESS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == fingerprint(cluster()).hex()


def test_a_fork_has_the_fingerprint_of_its_original_until_it_goes_its_own_way() -> None:
    one = cluster("expire_session(b=1, lost=0)")
    twin = one.fork()
    assert fingerprint(twin) == fingerprint(one)
    step(twin, next(iter(choices(twin))))
    assert fingerprint(twin) != fingerprint(one)
    assert fingerprint(one) == fingerprint(cluster("expire_session(b=1, lost=0)"))


def test_the_order_of_independent_steps_leaves_no_mark() -> None:
    steps = ("shrink_isr(b=1, p=0, r=2)", "expire_session(b=3, lost=0)")
    assert fingerprint(cluster(*steps)) == fingerprint(cluster(*reversed(steps)))


def test_how_many_sessions_were_lost_before_a_broker_registers_leaves_no_mark() -> None:
    """Broker 3 can be no controller; whether it registered in between has no trace either."""
    once = ("expire_session(b=3, lost=0)", "renew_session(b=3)")
    one, other = (SideBySide(scope("tiny"), expiries=2) for _ in range(2))
    one.do(*once, *once)
    other.do(*once, "register_broker(b=3)", *once)
    assert (one["processes[3].owes"], one.state) == ("AFTER_EXPIRY", other.state)
    assert conditions(one.cluster) == conditions(other.cluster)


def test_what_is_left_out_changes_nothing() -> None:
    one = cluster()
    before = fingerprint(one)
    controller = one.processes[1].controller
    assert controller is not None
    controller.queue_to(1).sent += 1
    one.zookeeper.zxid += 1
    one.zookeeper.time_ms += 1
    assert fingerprint(one) == before


def _renumber(broker: Broker) -> None:
    for partition, known in broker.partitions.items():
        broker.partitions[partition] = replace(known, leadership=replace(known.leadership, zk_version=9))


def _context(one: MemoryCluster) -> Any:
    controller = one.change(1).controller
    assert controller is not None
    return controller.context


TOUCHES: dict[str, tuple[Callable[[MemoryCluster], object], str]] = {
    "an epoch": (lambda one: setattr(_context(one), "epoch", 5), "epochs and topics of controller 1"),
    "a cached leadership": (
        lambda one: _context(one).partition_leadership_info.clear(), "leadership of controller 1",
    ),
    "an event": (lambda one: one.change(2).events.append(Callback.CONTROLLER), "process 2"),
    "a broker's epoch": (lambda one: setattr(one.change(3).broker, "controller_epoch", 4), "broker 3"),
    "a stored version": (lambda one: _renumber(one.change(3).broker), "partitions of broker 3"),
    "a budget": (lambda one: one.budget.update(expiries=0), "budget"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOUCHES)
def test_whatever_is_touched_shows_and_is_named(name: str) -> None:
    touch, named = TOUCHES[name]
    one, other = cluster(), cluster()
    touch(other)
    assert fingerprint(one) != fingerprint(other)
    assert {part for part, _ in conditions(one) ^ conditions(other)} == {named}


def test_a_lost_session_shows_in_znodes_and_watches() -> None:
    one, other = cluster(), cluster("expire_session(b=2, lost=0)")
    named = {part for part, _ in conditions(one) ^ conditions(other)}
    assert {"znode /brokers/ids/2", "session of 2 lives", "watches of 2", "process 1", "budget"} <= named


def test_the_text_tells_values_apart_and_equal_ones_not() -> None:
    values: list[Any] = [None, "None", 1, "1", b"1", (), frozenset(), (1,), frozenset({1}), ((1,),), Callback.NONE]
    assert len({_canonical(value) for value in values}) == len(values)
    assert _canonical(True) == _canonical(1)
    assert _canonical(frozenset({"a", "b", "c"})) == _canonical(frozenset({"c", "b", "a"}))
    with pytest.raises(TypeError, match="cannot hold"):
        _canonical([1])
