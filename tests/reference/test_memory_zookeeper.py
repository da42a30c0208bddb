"""The in-memory ZooKeeper answers as the real one, on thousands of operations drawn at random, and to the zxid."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings

from reference.zookeeper_api import (
    REFUSALS,
    EventType,
    Stat,
)
from reference.zookeeper_log import read_transaction_log
from reference.zookeeper_server import ZookeeperServer
from tests.reference.zookeeper_sequences import LiveServer, MemoryServer, Outcome, Run, Step, plain_log, sequences

pytestmark = pytest.mark.xdist_group("zookeeper")

ROOTS = itertools.count()
"""Each run on the real server has a root znode of its own."""


def run_both(server: ZookeeperServer, steps: list[Step]) -> tuple[Outcome, Outcome, MemoryServer, LiveServer]:
    root = f"/run-{next(ROOTS)}"
    memory, live = MemoryServer(), LiveServer(server.address)
    return Run(memory, root).run(steps), Run(live, root).run(steps), memory, live


def test_memory_answers_as_the_real_server_on_5000_operations(zookeeper_server: ZookeeperServer) -> None:
    seen: Counter[object] = Counter()
    operations = 0

    @settings(max_examples=60)
    @given(sequences(120))
    def agree(steps: list[Step]) -> None:
        nonlocal operations
        memory, live, _, _ = run_both(zookeeper_server, steps)
        assert memory.answers == live.answers
        assert memory.events == live.events
        assert memory.trees == live.trees
        operations += memory.operations
        seen.update(type(answer) for answer in memory.answers)
        seen.update(event.type for events in memory.events.values() for event in events)

    agree()
    assert operations >= 5000
    # Nothing agrees vacuously: every refusal, every kind of answer and every kind of event was there, and often.
    for kind in (*REFUSALS.values(), Stat, str, type(None), *EventType):
        assert seen[kind] >= 20, kind


@settings(max_examples=12)
@given(steps=sequences(60))
def test_the_memory_log_is_what_the_real_server_writes(zookeeper_server: ZookeeperServer, steps: list[Step]) -> None:
    _, _, memory, live = run_both(zookeeper_server, steps)
    real = read_transaction_log(zookeeper_server.data_dir)
    assert plain_log(memory.server.transactions, memory.ids) == plain_log(real, live.ids)
