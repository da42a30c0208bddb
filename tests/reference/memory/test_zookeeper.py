"""The in-memory ZooKeeper answers as the real one, on thousands of operations drawn at random, and to the zxid."""

import itertools
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings

from reference.live.zookeeper import LiveZookeeper
from reference.memory.zookeeper import MemoryZookeeper
from reference.zookeeper.api import (
    REFUSALS,
    BadVersion,
    Create,
    CreateMode,
    Delete,
    EventType,
    Exists,
    GetChildren,
    GetData,
    SessionExpired,
    SetData,
    Stat,
    WatchEvent,
    ZookeeperError,
)
from reference.zookeeper.log import read_transaction_log
from reference.zookeeper.server import ZookeeperServer
from reference.zookeeper.transactions import (
    Change,
    DataSet,
    NodeCreated,
    NodeDeleted,
    OtherChange,
    SessionClosed,
    Transaction,
    VersionChecked,
)
from tests.reference.zookeeper_sequences import (
    LiveServer,
    MemoryServer,
    Outcome,
    Run,
    Step,
    expiring,
    plain_log,
    sequences,
)

pytestmark = pytest.mark.xdist_group("zookeeper")

ROOTS = itertools.count()
"""Each run on the real server has a root znode of its own."""


def run_both(server: ZookeeperServer, steps: list[Step]) -> tuple[Outcome, Outcome, MemoryServer, LiveServer]:
    root = f"/run-{next(ROOTS)}"
    memory, live = MemoryServer(), LiveServer(server.address)
    return Run(memory, root).run(steps), Run(live, root).run(steps), memory, live


@pytest.mark.takes("Each operation is done on a real server, too.")
@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.slow), 10])
def test_memory_answers_as_the_real_server_on_5000_operations(zookeeper_server: ZookeeperServer, share: int) -> None:
    """Every day on one in so many of them."""
    seen: Counter[object] = Counter()
    operations = 0

    def agree(steps: list[Step]) -> None:
        nonlocal operations
        memory, live, server, real = run_both(zookeeper_server, steps)
        assert memory.answers == live.answers
        assert memory.events == live.events
        assert memory.trees == live.trees
        operations += memory.operations
        seen.update(type(answer) for answer in memory.answers)
        seen.update(event.type for events in memory.events.values() for event in events)
        if expired := expiries(server):
            seen.update(expired)
            log = read_transaction_log(zookeeper_server.data_dir)
            assert plain_log(server.server.transactions, server.ids) == plain_log(log, real.ids)

    settings(max_examples=56 // share + 1)(given(sequences(120))(agree))()
    settings(max_examples=4 // share + 1)(given(expiring(120))(agree))()
    assert operations >= 5000 // share
    if share > 1:
        return
    # Sessions expired, and most of them had ephemeral znodes, which went with them.
    assert seen[SessionClosed, True] + seen[SessionClosed, False] >= 6
    assert seen[SessionClosed, True] >= 3
    # Nothing agrees vacuously: every refusal, every kind of answer and every kind of event was there.
    for kind in (*REFUSALS.values(), Stat, str, type(None), *EventType):
        assert seen[kind] > 0, kind


def expiries(server: MemoryServer) -> list[tuple[type[SessionClosed], bool]]:
    """For each session that expired, whether znodes went with it; nobody asked for it, so that it has no cxid."""
    ends = [one for one in server.server.transactions if isinstance(one.change, SessionClosed) and not one.cxid]
    return [(SessionClosed, bool(one.change.deleted)) for one in ends if isinstance(one.change, SessionClosed)]


@pytest.mark.slow
@settings(max_examples=12)
@given(steps=sequences(60))
def test_the_memory_log_is_what_the_real_server_writes(zookeeper_server: ZookeeperServer, steps: list[Step]) -> None:
    _, _, memory, live = run_both(zookeeper_server, steps)
    real = read_transaction_log(zookeeper_server.data_dir)
    assert plain_log(memory.server.transactions, memory.ids) == plain_log(real, live.ids)


def test_a_new_server_has_the_reserved_tree_of_a_real_one(zookeeper_server: ZookeeperServer) -> None:
    memory = MemoryZookeeper()
    session = memory.open_session()
    with LiveZookeeper(zookeeper_server.address) as live:
        for path in ("/zookeeper", "/zookeeper/config", "/zookeeper/quota"):
            assert live.execute(GetChildren(path)) == memory.execute(session, GetChildren(path))
            assert live.execute(GetData(path)) == memory.execute(session, GetData(path))


def test_an_expired_session_loses_its_znodes_and_can_do_nothing_more() -> None:
    server = MemoryZookeeper()
    owner, other = server.open_session(), server.open_session()
    server.execute(owner, Create("/controller", b"1", CreateMode.EPHEMERAL))
    server.execute(owner, Create("/kept", b""))
    server.execute(owner, GetData("/controller", watch=True))
    server.execute(owner, Exists("/kept", watch=True))
    server.execute(other, GetData("/controller", watch=True))
    server.execute(other, SetData("/kept", b"x"))
    server.expire_session(owner)

    assert not server.is_live(owner)
    assert "/controller" not in server.tree
    assert "/kept" in server.tree
    assert server.take_watch_events(other) == (WatchEvent(EventType.NODE_DELETED, "/controller"),)
    # What was on its way before the end may still arrive; of its end it does not hear.
    assert server.take_watch_events(owner) == (WatchEvent(EventType.NODE_DATA_CHANGED, "/kept"),)
    assert server.watches(owner) == frozenset()

    log = list(server.transactions)
    with pytest.raises(SessionExpired, match="/again"):
        server.execute(owner, Create("/again"))
    with pytest.raises(SessionExpired):
        server.expire_session(owner)
    assert server.transactions == log
    assert log[-1] == Transaction(server.zxid, 0, owner, 0, SessionClosed(("/controller",)))


def test_a_session_may_hear_of_its_own_expiry() -> None:
    server = MemoryZookeeper()
    owner = server.open_session()
    server.execute(owner, Create("/controller", b"1", CreateMode.EPHEMERAL))
    server.execute(owner, GetData("/controller", watch=True))
    server.expire_session(owner, hears_of_it=True)
    assert server.take_watch_events(owner) == (WatchEvent(EventType.NODE_DELETED, "/controller"),)


def test_a_refusal_changes_nothing_but_takes_a_zxid() -> None:
    server = MemoryZookeeper()
    session = server.open_session()
    server.execute(session, Create("/epoch", b"1"))
    server.execute(session, GetData("/epoch", watch=True))
    before = dict(server.tree)
    with pytest.raises(BadVersion):
        server.execute(session, SetData("/epoch", b"2", version=7))
    with pytest.raises(BadVersion):
        server.execute(session, Delete("/epoch", version=7))
    assert server.tree == before
    assert server.take_watch_events(session) == ()
    assert [transaction.zxid for transaction in server.transactions] == [1, 2, 3, 4]
    # The read between the create and the refused writes has cxid 2, and is not logged.
    assert [transaction.cxid for transaction in server.transactions] == [0, 1, 3, 4]


@given(sequences(40), sequences(40))
def test_a_fork_goes_its_own_way(steps: list[Step], more: list[Step]) -> None:
    server = MemoryZookeeper()
    sessions = [server.open_session() for _ in range(3)]
    carry_out(server, sessions, steps)
    twin, untouched = server.fork(), server.fork()
    carry_out(twin, sessions, more)
    assert state_of(server, sessions) == state_of(untouched, sessions)
    # And it goes there as the original would have.
    carry_out(server, sessions, more)
    assert state_of(server, sessions) == state_of(twin, sessions)


@given(sequences(60))
def test_a_log_replayed_gives_the_same_tree_and_log(steps: list[Step]) -> None:
    server = MemoryZookeeper()
    carry_out(server, [server.open_session() for _ in range(3)], steps)
    replayed = MemoryZookeeper.replay(server.transactions)
    assert replayed.tree == server.tree
    assert replayed.transactions == server.transactions
    assert replayed.zxid == server.zxid


@pytest.mark.parametrize(
    "change",
    [
        NodeCreated("/a", b"", 0, 2),  # is there already
        NodeCreated("/b", b"", 0, 3),  # not the parent's second create
        NodeCreated("/c/d", b"", 0, 1),  # has no parent
        DataSet("/a", b"", 2),  # not the next version
        DataSet("/b", b"", 1),
        VersionChecked("/a", 2),  # is of a later version
        VersionChecked("/b", 1),
        NodeDeleted("/b"),
        NodeDeleted("/"),
        SessionClosed(("/b",)),
        OtherChange("setACL", (("path", "/a"), ("version", 1))),
    ],
)
def test_a_log_that_does_not_fit_is_refused(change: Change) -> None:
    created = Transaction(1, 0, 7, 1, NodeCreated("/a", b"", 0, 1))
    assert "/a" in MemoryZookeeper.replay([created]).tree
    with pytest.raises(ValueError, match=r'does not fit the tree before it: \{"zxid": "0x2"'):
        MemoryZookeeper.replay([created, Transaction(2, 0, 7, 2, change)])


def carry_out(server: MemoryZookeeper, sessions: list[int], steps: list[Step]) -> None:
    """The steps on fixed sessions; a step that would end one leaves it alive."""
    if "/r" not in server.tree:
        server.execute(sessions[0], Create("/r"))
    for step in steps:
        if step.operation is not None:
            with suppress(ZookeeperError):
                server.execute(sessions[step.slot], step.operation)


def state_of(server: MemoryZookeeper, sessions: list[int]) -> tuple[object, ...]:
    """All there is to a server; its queues of events are looked into in a fork, since looking empties them."""
    events = [server.fork().take_watch_events(session) for session in sessions]
    return dict(server.tree), list(server.transactions), [server.watches(session) for session in sessions], events
