"""ZkClient on a real server: operations outlast expiries, and a new session queues what Kafka's ZkClient queued."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from reference.controller.effects import ElectCreate
from reference.live.zkclient import ZkClient
from reference.live.zookeeper import LiveZookeeper
from reference.memory.zookeeper import MemoryZookeeper
from reference.procedures import OneOf, Procedure, Raised, Script
from reference.scripts import BROKER_IDS, COMMON_PATHS, CONTROLLER, create_with_parents
from reference.threads import Event
from reference.zookeeper.api import (
    AnyOperation,
    Create,
    Delete,
    Exists,
    NoNode,
    OperationRefused,
    SessionExpired,
    SetData,
    Stat,
)
from reference.zookeeper.log import read_transaction_log
from reference.zookeeper.server import ZookeeperServer
from reference.zookeeper.transactions import NodeCreated, SessionClosed, SessionCreated, Transaction
from spec.state.enumerations import Callback
from tests.reference.flaky_proxy import FlakyProxy

TIMEOUT = 15
SESSION_MS = 600


class Process:
    """A client, what it listens to, and the sessions that it had."""

    def __init__(self, address: str) -> None:
        self.sessions: list[int] = []
        self.listened = {CONTROLLER}
        self.client = ZkClient(
            address,
            SESSION_MS,
            listens_to=self.listened.__contains__,
            on_session=self.sessions.append,
            after_expiry=lambda: (Callback.SESSION, Callback.REGISTRATION),
        )

    def callback(self) -> Event:
        return self.client.callbacks.get(timeout=TIMEOUT)


@pytest.fixture(scope="module")
def server() -> Iterator[ZookeeperServer]:
    """A server of its own: the paths are Kafka's fixed ones."""
    with ZookeeperServer(tick_time_ms=100) as one:
        process = Process(one.address)
        process.client.start(TIMEOUT)
        for path in COMMON_PATHS:
            process.client.run(create_with_parents(path))
        process.client.stop()
        yield one


@pytest.fixture
def admin(server: ZookeeperServer) -> Iterator[LiveZookeeper]:
    with LiveZookeeper(server.address) as client:
        yield client
        if client.execute(Exists(CONTROLLER)) is not None:
            client.execute(Delete(CONTROLLER))


@pytest.fixture
def proxy(server: ZookeeperServer) -> Iterator[FlakyProxy]:
    assert server.port is not None
    with FlakyProxy(server.port) as proxy:
        yield proxy


def script(*operations: Create | Exists) -> Script[None]:
    for one in operations:  # noqa: UP028  # a tuple's iterator takes no answers
        yield one


def test_a_watch_queues_a_callback_once_and_only_for_listeners(server: ZookeeperServer, admin: LiveZookeeper) -> None:
    process = Process(server.address)
    process.client.start(TIMEOUT)
    process.client.run(script(Exists(CONTROLLER), Exists(BROKER_IDS)))  # only the first is listened to, so watched
    admin.execute(Create(CONTROLLER, b"x"))
    assert process.callback() is Callback.CONTROLLER
    admin.execute(Delete(CONTROLLER))
    process.client.run(script(Exists("/")))
    assert process.client.callbacks.empty()
    process.client.stop()


def wait_until_ended(session: int, server: ZookeeperServer) -> None:
    """Wait until the server has ended a session that nobody hears of."""
    deadline = time.monotonic() + TIMEOUT
    while not any(
        isinstance(one.change, SessionClosed) and one.session == session
        for one in read_transaction_log(server.data_dir)
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_operation_is_done_under_the_next_session(
    server: ZookeeperServer, admin: LiveZookeeper, proxy: FlakyProxy
) -> None:
    process = Process(proxy.address)
    process.client.start(TIMEOUT)
    proxy.cut()
    done = threading.Thread(target=process.client.run, args=(script(Create("/late")),), daemon=True)
    done.start()
    wait_until_ended(process.sessions[0], server)
    assert done.is_alive()
    assert admin.execute(Exists("/late")) is None
    proxy.let_in()
    assert [process.callback(), process.callback()] == [Callback.SESSION, Callback.REGISTRATION]
    done.join(TIMEOUT)
    assert admin.execute(Exists("/late")) is not None
    assert len(set(process.sessions)) == 2
    process.client.stop()


Outcome = str | int | type[OperationRefused] | None
LOST: dict[str, tuple[AnyOperation, list[AnyOperation]]] = {
    "a conditional write": (SetData("/lost", b"ours", 0), []),
    "another writes meanwhile": (SetData("/lost", b"ours", 0), [SetData("/lost", b"theirs", 0)]),
    "another deletes meanwhile": (SetData("/lost", b"ours"), [Delete("/lost")]),
    "a create": (Create("/lost/new", b"ours"), []),
    "another creates meanwhile": (Create("/lost/new", b"ours"), [Create("/lost/new", b"theirs")]),
    "a delete": (Delete("/lost", 1), [SetData("/lost", b"theirs", 0)]),
}
"""An operation that is lost before ZooKeeper applied it, and what another client does until it is repeated."""


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_before_it_is_applied_is_a_later_operation(
    name: str, server: ZookeeperServer, admin: LiveZookeeper, proxy: FlakyProxy
) -> None:
    ours, theirs = LOST[name]
    later, before = MemoryZookeeper(), len(tuple(read_transaction_log(server.data_dir)))
    we, they = later.open_session(), later.open_session()
    expected = [outcome(partial(later.execute, they, one)) for one in (Create("/lost"), *theirs)]
    expected.append(outcome(partial(later.execute, we, ours)))

    process, found = Process(proxy.address), [outcome(partial(admin.execute, Create("/lost")))]
    process.client.start(TIMEOUT)
    proxy.hold_requests()
    do = partial(process.client.run, answered(ours))
    doing = threading.Thread(target=lambda: found.append(outcome(do)), daemon=True)
    doing.start()
    assert proxy.holds_a_request.wait(TIMEOUT)
    found += [outcome(partial(admin.execute, one)) for one in theirs]
    proxy.cut()
    proxy.let_in()
    doing.join(TIMEOUT)
    assert found == expected
    assert written(tuple(read_transaction_log(server.data_dir))[before:]) == written(later.transactions)
    for path in ("/lost/new", "/lost"):
        if admin.execute(Exists(path)) is not None:
            admin.execute(Delete(path))
    process.client.stop()


def written(log: Iterable[Transaction]) -> list[object]:
    """What was written or refused, in order; a parent counts its children from the beginning of a server."""
    changes = [one.change for one in log if not isinstance(one.change, SessionCreated | SessionClosed)]
    return [replace(one, parent_cversion=0) if isinstance(one, NodeCreated) else one for one in changes]


def outcome(do: Callable[[], Any]) -> Outcome:
    """What an operation gives: the path, the new version, nothing, or how it is refused."""
    try:
        given = do()
    except OperationRefused as refusal:
        return type(refusal)
    return given.version if isinstance(given, Stat) else given


def answered(operation: AnyOperation) -> Script[Any]:
    """A script of one operation, which gives its answer."""
    return (yield operation)


@pytest.mark.slow
def test_who_creates_an_ephemeral_on_the_raw_handle_hears_of_the_expiry(
    server: ZookeeperServer, admin: LiveZookeeper, proxy: FlakyProxy
) -> None:
    process, raised = Process(proxy.address), list[Exception]()

    def create() -> None:
        try:
            process.client.carry_out(ElectCreate(1))
        except SessionExpired as error:
            raised.append(error)

    process.client.start(TIMEOUT)
    proxy.cut()
    creating = threading.Thread(target=create, daemon=True)
    creating.start()
    wait_until_ended(process.sessions[0], server)
    proxy.let_in()
    creating.join(TIMEOUT)
    assert raised == [SessionExpired(CONTROLLER)]
    assert admin.execute(Exists(CONTROLLER)) is None
    process.client.stop()


@pytest.mark.usefixtures("admin")
def test_a_procedure_is_told_which_effect_was_chosen_and_hears_refusals(server: ZookeeperServer) -> None:
    heard: list[object] = []

    class Refused(ElectCreate):
        def script(self) -> Script[bool]:
            yield Delete("/not-there")
            return True

    def procedure() -> Procedure[str]:
        index, won = yield OneOf((Refused(1), ElectCreate(2)))
        heard.append((index, won))
        heard.append((yield OneOf((ElectCreate(2), Refused(1)))))
        try:
            yield from Refused(1)
        except NoNode as refusal:
            heard.append(refusal)
        return "end"

    process, steps = Process(server.address), list[None]()
    process.client.start(TIMEOUT)
    assert process.client.complete(procedure(), lambda count: count - 1, lambda: steps.append(None)) == "end"
    assert heard == [(1, True), (1, Raised(NoNode("/not-there"))), NoNode("/not-there")]
    assert len(steps) == 4
    process.client.stop()
