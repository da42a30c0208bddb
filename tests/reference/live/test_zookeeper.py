"""The client on a real server: the order of answers and events, and what becomes of a session whose connection breaks.

Answers and errors of operations are compared with the in-memory server's in `test_memory_zookeeper`; here a proxy
between client and server breaks connections.
"""

import struct
import time
from collections.abc import Iterator
from itertools import count

import pytest
from kazoo.protocol import serialization
from kazoo.security import OPEN_ACL_UNSAFE

from reference.live.zookeeper import LiveZookeeper, SessionEvent, SessionState
from reference.memory.zookeeper import MemoryZookeeper
from reference.ports import free_port
from reference.zookeeper.api import (
    ConnectionLoss,
    Create,
    CreateMode,
    Delete,
    EventType,
    Exists,
    GetChildren,
    GetData,
    SessionExpired,
    SetData,
    WatchEvent,
)
from reference.zookeeper.log import read_transaction_log
from reference.zookeeper.server import ZookeeperServer
from reference.zookeeper.transactions import NodeCreated, SessionClosed
from tests.reference.flaky_proxy import FlakyProxy
from tests.reference.silent_client import TIMEOUT, connected, frame, frames

pytestmark = pytest.mark.xdist_group("zookeeper")

ROOTS = count()


@pytest.fixture
def root(zookeeper_server: ZookeeperServer) -> str:
    path = f"/live-{next(ROOTS)}"
    with LiveZookeeper(zookeeper_server.address) as client:
        client.execute(Create(path))
    return path


@pytest.fixture
def proxy(zookeeper_server: ZookeeperServer) -> Iterator[FlakyProxy]:
    assert zookeeper_server.port is not None
    with FlakyProxy(zookeeper_server.port) as proxy:
        yield proxy


@pytest.fixture
def other(zookeeper_server: ZookeeperServer) -> Iterator[LiveZookeeper]:
    """A client whose connection does not break."""
    with LiveZookeeper(zookeeper_server.address) as client:
        yield client


def collect(client: LiveZookeeper, last: SessionState) -> list[WatchEvent | SessionEvent]:
    """Events as they come, up to one of the session's."""
    events: list[WatchEvent | SessionEvent] = []
    deadline = time.monotonic() + TIMEOUT
    while not any(isinstance(event, SessionEvent) and event.state is last for event in events):
        assert time.monotonic() < deadline, events
        events += client.wait_for_events(0.1)
    return events


def test_a_watch_is_told_before_the_answers_that_follow_it(zookeeper_server: ZookeeperServer, root: str) -> None:
    with LiveZookeeper(zookeeper_server.address) as client:
        assert client.take_events() == (SessionEvent(SessionState.SYNC_CONNECTED, client.session),)
        taken: list[tuple[WatchEvent | SessionEvent, ...]] = []
        for number in range(200):
            client.submit(GetData(root, watch=True))
            # The callback runs as soon as there is the answer, which the event must have preceded.
            client.submit(SetData(root, b"%d" % number)).add_done_callback(lambda _: taken.append(client.take_events()))
        client.execute(Exists(root))
        assert taken == [(WatchEvent(EventType.NODE_DATA_CHANGED, root),)] * 200


def test_two_watches_of_one_change_are_one_event(zookeeper_server: ZookeeperServer, root: str) -> None:
    with LiveZookeeper(zookeeper_server.address) as client:
        path = f"{root}/n"
        client.execute(Create(path))
        client.execute(GetData(path, watch=True))
        client.execute(Exists(path, watch=True))
        client.execute(GetChildren(path, watch=True))
        client.take_events()
        client.execute(Delete(path))
        assert client.take_events() == (WatchEvent(EventType.NODE_DELETED, path),)


def test_the_last_zxid_is_that_of_the_last_answer(zookeeper_server: ZookeeperServer, root: str) -> None:
    with LiveZookeeper(zookeeper_server.address) as client:
        assert client.execute(SetData(root, b"x")).mzxid == client.last_zxid


def test_watches_outlive_a_lost_connection(proxy: FlakyProxy, root: str, other: LiveZookeeper) -> None:
    paths = {name: f"{root}/{name}" for name in ("changed", "deleted", "created", "quiet", "parent", "later", "fired")}
    for name in ("changed", "deleted", "quiet", "parent", "fired"):
        other.execute(Create(paths[name]))
    with LiveZookeeper(proxy.address, session_timeout_ms=20_000) as client:
        session = client.session
        for name in ("changed", "deleted", "quiet", "fired"):
            client.execute(GetData(paths[name], watch=True))
        for name in ("created", "later"):
            assert client.execute(Exists(paths[name], watch=True)) is None
        client.execute(Exists(paths["deleted"], watch=True))
        client.execute(GetChildren(paths["parent"], watch=True))
        client.execute(GetChildren(paths["quiet"], watch=True))
        client.execute(GetChildren(paths["fired"], watch=True))
        other.execute(SetData(paths["fired"], b"x"))
        other.execute(Create(f"{paths['fired']}/child"))
        client.execute(Exists(root))
        client.take_events()
        proxy.cut()
        assert collect(client, SessionState.DISCONNECTED) == [SessionEvent(SessionState.DISCONNECTED, session)]
        assert not client._client.connected
        other.execute(SetData(paths["changed"], b"x"))
        other.execute(SetData(paths["fired"], b"y"))
        other.execute(Create(f"{paths['fired']}/another"))
        other.execute(Delete(paths["deleted"]))
        other.execute(Create(paths["created"]))
        other.execute(Create(f"{paths['parent']}/child"))
        proxy.let_in()
        connected, *fired = collect(client, SessionState.SYNC_CONNECTED)
        assert connected == SessionEvent(SessionState.SYNC_CONNECTED, session)
        client.execute(Exists(root))
        # What changed meanwhile fires, in no order that ZooKeeper promises; it does not say how often it changed.
        assert {*fired, *client.take_events()} == {
            WatchEvent(EventType.NODE_DATA_CHANGED, paths["changed"]),
            WatchEvent(EventType.NODE_DELETED, paths["deleted"]),
            WatchEvent(EventType.NODE_CREATED, paths["created"]),
            WatchEvent(EventType.NODE_CHILDREN_CHANGED, paths["parent"]),
        }
        # What did not change is still watched, once.
        for _ in range(2):
            other.execute(SetData(paths["quiet"], b"x"))
            other.execute(Create(f"{paths['quiet']}/child", mode=CreateMode.PERSISTENT_SEQUENTIAL))
        other.execute(Create(paths["later"]))
        client.execute(Exists(root))
        assert client.take_events() == (
            WatchEvent(EventType.NODE_DATA_CHANGED, paths["quiet"]),
            WatchEvent(EventType.NODE_CHILDREN_CHANGED, paths["quiet"]),
            WatchEvent(EventType.NODE_CREATED, paths["later"]),
        )


def test_an_answer_that_is_lost_leaves_the_operation_done(
    zookeeper_server: ZookeeperServer, proxy: FlakyProxy, root: str, other: LiveZookeeper
) -> None:
    with LiveZookeeper(proxy.address, session_timeout_ms=20_000) as client:
        client.execute(Exists(root))
        other.execute(Exists(f"{root}/done", watch=True))
        proxy.hold_answers()
        under_way = client.submit(Create(f"{root}/done"))
        deadline = time.monotonic() + TIMEOUT
        while other.execute(Exists(f"{root}/done")) is None:
            assert time.monotonic() < deadline
        proxy.cut()
        with pytest.raises(ConnectionLoss, match=f"{root}/done"):
            under_way.result(TIMEOUT)
        # What is asked while the connection is down waits for it; the session's requests are numbered on.
        waiting = client.submit(Create(f"{root}/next"))
        proxy.let_in()
        assert waiting.result(TIMEOUT) == f"{root}/next"
        created = [
            (transaction.cxid, transaction.change.path)
            for transaction in read_transaction_log(zookeeper_server.data_dir)
            if transaction.session == client.session and isinstance(transaction.change, NodeCreated)
        ]
        assert created == [(2, f"{root}/done"), (3, f"{root}/next")]


def test_an_expired_session_is_replaced(proxy: FlakyProxy, root: str, other: LiveZookeeper) -> None:
    with LiveZookeeper(proxy.address, session_timeout_ms=300) as client:
        expired = client.session
        client.execute(Create(f"{root}/mine", mode=CreateMode.EPHEMERAL))
        client.execute(GetData(root, watch=True))
        client.take_events()
        proxy.cut()
        collect(client, SessionState.DISCONNECTED)
        waiting = client.submit(SetData(root, b"from the old session"))
        deadline = time.monotonic() + TIMEOUT
        while other.execute(Exists(f"{root}/mine")) is not None:
            assert time.monotonic() < deadline
        proxy.let_in()
        events = collect(client, SessionState.SYNC_CONNECTED)
        assert client.session != expired
        assert events == [
            SessionEvent(SessionState.EXPIRED, expired),
            SessionEvent(SessionState.SYNC_CONNECTED, client.session),
        ]
        with pytest.raises(SessionExpired, match=root):
            waiting.result(TIMEOUT)
        # The new session can do everything, and has none of the old one's watches, nor gets them by a lost connection.
        assert client.execute(SetData(root, b"from the new session"), TIMEOUT).version == 1
        assert client.take_events() == ()
        proxy.cut()
        proxy.let_in()
        collect(client, SessionState.SYNC_CONNECTED)
        client.execute(SetData(root, b"once more"), TIMEOUT)
        assert [event for event in client.take_events() if isinstance(event, WatchEvent)] == []


def test_a_closed_session_can_do_nothing_more(zookeeper_server: ZookeeperServer, root: str) -> None:
    client = LiveZookeeper(zookeeper_server.address)
    client.start()
    session = client.session
    client.take_events()
    client.stop()
    assert client.take_events() == (SessionEvent(SessionState.CLOSED, session),)
    with pytest.raises(SessionExpired):
        client.execute(Exists(root), TIMEOUT)


def test_no_server_there() -> None:
    port = free_port()
    with pytest.raises(ConnectionError, match=rf"^no ZooKeeper answers on 127.0.0.1:{port} within 0.2 s$"):
        LiveZookeeper(f"127.0.0.1:{port}").start(timeout_seconds=0.2)


# ----------------------------------------------------------------------------------------- a client that falls silent


def test_a_silent_session_expires_as_in_memory(
    zookeeper_server: ZookeeperServer, root: str, other: LiveZookeeper
) -> None:
    """The real server ends it with cxid 0, and tells it of its own znode or not, as the caller in memory may choose."""
    path = f"{root}/mine"
    with connected(zookeeper_server.port or 0, 300) as silent:
        answers = frames(silent)
        session = serialization.Connect.deserialize(next(answers), 0)[0].session_id
        silent.sendall(frame(1, serialization.Create(path, b"", OPEN_ACL_UNSAFE, 1)))
        silent.sendall(frame(2, serialization.Exists(path, True)))
        for _ in range(2):
            next(answers)
        other.take_events()  # that it is connected
        other.execute(Exists(path, watch=True))
        heard = [struct.unpack_from("!iq", answer)[0] for answer in answers]
    assert other.wait_for_events(TIMEOUT) == (WatchEvent(EventType.NODE_DELETED, path),)
    (end,) = [
        transaction
        for transaction in read_transaction_log(zookeeper_server.data_dir)
        if transaction.session == session and isinstance(transaction.change, SessionClosed)
    ]
    assert (end.cxid, end.change) == (0, SessionClosed((path,)))

    memory = MemoryZookeeper()
    told = {}
    for hears_of_it in (False, True):
        owner = memory.open_session(300)
        if root not in memory.tree:
            memory.execute(owner, Create(root))
        memory.execute(owner, Create(path, mode=CreateMode.EPHEMERAL))
        memory.execute(owner, Exists(path, watch=True))
        memory.expire_session(owner, hears_of_it=hears_of_it)
        told[hears_of_it] = memory.take_watch_events(owner)
        assert memory.transactions[-1].cxid == end.cxid
        assert memory.transactions[-1].change == end.change
    assert heard == [-1] * len(told[bool(heard)])  # -1 numbers a watch's event
