"""The same sequences of operations on two ZooKeeper servers: what is drawn, how it is run, and how it is compared.

A sequence is a list of steps of a few *slots*. A step issues one operation of the slot's session, or ends the session:
its client closes it, or falls silent until it expires. A slot without a session begins one first. Operations are
written below a root znode that each run has for itself, so that one real server serves many runs. Steps come from a
catalogue that lists every operation on a few paths with a few values, the simple ones first, and the interesting ones
more than once: so one draw makes a step, and shrinking goes towards few and simple steps.

Both servers see the same writes in the same order, so all that they answer is equal but for names: session ids differ,
and zxids differ by what the real server did before. `Outcome` holds what was answered with these renamed, and nothing
else is forgiven.
"""

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from hypothesis import strategies as st

from reference.live.zookeeper import LiveZookeeper
from reference.memory.zookeeper import MemoryZookeeper
from reference.zookeeper.api import (
    ANY_VERSION,
    Children,
    Create,
    CreateMode,
    Delete,
    Exists,
    GetChildren,
    GetData,
    NodeData,
    Operation,
    SetData,
    Stat,
    WatchEvent,
    ZookeeperError,
)
from reference.zookeeper.transactions import NodeCreated, SessionClosed, Transaction
from tests.reference.silent_client import connected, frames

SLOTS = (0, 1, 2)
TIMEOUT_MS = 6000
EXPIRY_MS = 200
"""The time-out of a session that is to expire; the server's least."""


@dataclass(frozen=True)
class Step:
    """An operation of a slot's session, its path relative to the run's root, or, with None, the session's end."""

    slot: int
    operation: Operation[Any] | None
    silent: bool = False
    """Whether the session ends by expiring, with a client that says nothing more."""


PRESENT = ("/r/a", "/r/a/c")
"""Znodes that are there before the first step, so that not everything misses."""

COLLIDING = "/a0000000002"
"""Created by hand as the root's second child, it has the name that a sequential create would give next."""


def _operations() -> Iterator[Operation[Any]]:
    """Every operation of the catalogue, as often as it should be drawn."""
    nodes = ("/a", "/b", "/a/c", "/a/c/d", "/b/e")
    for path in ("", *nodes, "/a", "/b", COLLIDING):
        for watch in (False, True, True):
            yield Exists(f"/r{path}", watch=watch)
            yield GetData(f"/r{path}", watch=watch)
            yield GetChildren(f"/r{path}", watch=watch)
    for path in (*nodes, *nodes, "/a", "/b", COLLIDING):
        for mode in CreateMode:
            yield Create(f"/r{path}", b"", mode)
        yield Create(f"/r{path}", b"x", CreateMode.PERSISTENT)
        yield Create(f"/r{path}", None, CreateMode.EPHEMERAL)
    for path in ("", "/a/", "/a/c/"):
        yield Create(f"/r{path or '/'}", b"x", CreateMode.PERSISTENT_SEQUENTIAL)
        yield Create(f"/r{path or '/'}", b"x", CreateMode.EPHEMERAL_SEQUENTIAL)
    for path in ("", *nodes):
        for version in (ANY_VERSION, ANY_VERSION, 0, 1):
            yield SetData(f"/r{path}", b"xyz", version)
        yield SetData(f"/r{path}", None, ANY_VERSION)
    for path in (*nodes, COLLIDING):
        for version in (ANY_VERSION, ANY_VERSION, 0, 1):
            yield Delete(f"/r{path}", version)


CATALOGUE = tuple(Step(slot, operation) for operation in (*_operations(), *[None] * 3) for slot in SLOTS)


def sequences(length: int) -> st.SearchStrategy[list[Step]]:
    """Sequences of about this many steps that shrink to fewer: a step shrinks to nothing, and that is then left out."""
    some = st.lists(st.sampled_from((None, *CATALOGUE)), min_size=length, max_size=length)
    return some.map(lambda steps: [step for step in steps if step is not None])


def expiring(length: int) -> st.SearchStrategy[list[Step]]:
    """Sequences in which the session of each slot expires once, somewhere."""

    def with_expiries(steps: list[Step], places: tuple[int, ...]) -> list[Step]:
        for slot, place in zip(SLOTS, places, strict=True):
            steps = [*steps[:place], Step(slot, None, silent=True), *steps[place:]]
        return steps

    return st.builds(with_expiries, sequences(length), st.tuples(*[st.integers(length // 4, length)] * len(SLOTS)))


class Server(Protocol):
    """What a run needs of a server; it numbers sessions by their beginning, and lists their ids in that order."""

    ids: list[int]

    def open(self) -> int: ...
    def close(self, session: int) -> None: ...
    def expire(self, session: int) -> None: ...
    def submit(self, session: int, operation: Operation[Any]) -> Future[Any]: ...
    def take_events(self, session: int) -> tuple[WatchEvent, ...]: ...


class MemoryServer:
    """The in-memory server, new for each run."""

    def __init__(self) -> None:
        self.server = MemoryZookeeper()
        self.ids: list[int] = []

    def open(self) -> int:
        self.ids.append(self.server.open_session(TIMEOUT_MS))
        return len(self.ids) - 1

    def close(self, session: int) -> None:
        self.server.close_session(self.ids[session])

    def expire(self, session: int) -> None:
        self.server.expire_session(self.ids[session])

    def submit(self, session: int, operation: Operation[Any]) -> Future[Any]:
        answer: Future[Any] = Future()
        try:
            answer.set_result(self.server.execute(self.ids[session], operation))
        except ZookeeperError as error:
            answer.set_exception(error)
        return answer

    def take_events(self, session: int) -> tuple[WatchEvent, ...]:
        return self.server.take_watch_events(self.ids[session])


class LiveServer:
    """Clients of a real server, new for each run."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.ids: list[int] = []
        self._clients: list[LiveZookeeper] = []

    def open(self) -> int:
        client = LiveZookeeper(self.address, TIMEOUT_MS)
        client.start()
        self._clients.append(client)
        self.ids.append(client.session)
        return len(self.ids) - 1

    def close(self, session: int) -> None:
        self._clients[session].stop()

    def expire(self, session: int) -> None:
        """Whoever takes a session over sets its time-out anew, and its old connection is closed with its watches."""
        client = self._clients[session]._client
        client._stopped.set()  # kazoo does not come back for its session
        port = int(self.address.rpartition(":")[2])
        with connected(port, EXPIRY_MS, client._session_id, client._session_passwd) as silent:
            for _ in frames(silent):
                pass  # until the session is over, and the server closes the connection
        client.close()

    def submit(self, session: int, operation: Operation[Any]) -> Future[Any]:
        return self._clients[session].submit(operation)

    def take_events(self, session: int) -> tuple[WatchEvent, ...]:
        return tuple(event for event in self._clients[session].take_events() if isinstance(event, WatchEvent))


Tree = dict[str, tuple[bytes | None, Stat]]


@dataclass
class Outcome:
    """What a server did in a run; sessions are numbered by their beginning, zxids count from the run's root znode.

    `answers` has the answer, or the error, of each step. `events` has those that each session was sent, in order; only
    where several znodes went with a session, their events are sorted, since ZooKeeper promises no order. `trees` are
    dumps with the last sessions alive and after their end. `operations` counts the steps that were operations.
    """

    answers: list[object] = field(default_factory=list)
    events: dict[int, list[WatchEvent]] = field(default_factory=dict)
    trees: list[Tree] = field(default_factory=list)
    operations: int = 0


class Run:
    """A sequence in the course of being run on one server, below the znode `root`."""

    def __init__(self, server: Server, root: str) -> None:
        self._server = server
        self._root = root
        self._slots: dict[int, int] = {}
        self._open_sessions: list[int] = []
        self._pending: list[Future[Any]] = []
        self._base = 0
        self.outcome = Outcome()

    def run(self, steps: list[Step]) -> Outcome:
        """Carry out the steps; the operations of one slot are sent without waiting, until another slot is to move."""
        observer = self._open()
        for path in ("/r", *PRESENT):
            self._ask(observer, Create(path, b""))
        self._base = self._ask(observer, Exists("/r")).czxid
        for before, step in itertools.pairwise([Step(-1, None), *steps]):
            if step.slot != before.slot:
                self._settle()
            self._carry_out(step)
        self._settle()
        self.outcome.trees.append(self._dump(observer))
        for slot in sorted(self._slots):
            self._end(self._slots[slot])
        self.outcome.trees.append(self._dump(observer))
        self._end(observer)
        return self.outcome

    def _carry_out(self, step: Step) -> None:
        if step.slot not in self._slots:
            self._slots[step.slot] = self._open()
        if step.operation is not None:
            self.outcome.operations += 1
            self._pending.append(self._submit(self._slots[step.slot], step.operation))
        else:
            self._settle()
            self._end(self._slots.pop(step.slot), silent=step.silent)

    def _open(self) -> int:
        session = self._server.open()
        self._open_sessions.append(session)
        self.outcome.events[session] = []
        return session

    def _end(self, session: int, *, silent: bool = False) -> None:
        self._take_events()
        if silent:
            self._server.expire(session)
        else:
            self._server.close(session)
        self._open_sessions.remove(session)
        self._take_events(is_ordered=False)

    def _take_events(self, *, is_ordered: bool = True) -> None:
        """Note what the sessions were sent; the answer to a read comes behind all events that were on their way."""
        for session in self._open_sessions:
            self._ask(session, Exists("/r"))
            events = [replace(event, path=self._below(event.path)) for event in self._server.take_events(session)]
            if not is_ordered:
                events.sort(key=lambda event: (event.path, event.type.value))
            self.outcome.events[session] += events

    def _submit(self, session: int, operation: Operation[Any]) -> Future[Any]:
        return self._server.submit(session, replace(operation, path=operation.path.replace("/r", self._root, 1)))

    def _settle(self) -> None:
        """Wait for the answers that are under way, and note them."""
        for pending in self._pending:
            try:
                self.outcome.answers.append(self._plain(pending.result(10)))
            except ZookeeperError as error:
                self.outcome.answers.append(type(error)(self._below(error.path)))
        self._pending.clear()

    def _ask(self, session: int, operation: Operation[Any]) -> Any:
        return self._plain(self._submit(session, operation).result(10))

    def _dump(self, observer: int) -> Tree:
        """Every znode of the run, with data and Stat."""
        tree: Tree = {}
        paths = ["/r"]
        while paths:
            path = paths.pop()
            node, below = self._ask(observer, GetData(path)), self._ask(observer, GetChildren(path))
            assert node.stat == below.stat
            tree[path] = (node.data, node.stat)
            paths += [f"{path}/{name}" for name in below.names]
        return tree

    def _below(self, path: str) -> str:
        return path.replace(self._root, "/r", 1)

    def _plain(self, answer: object) -> Any:
        """An answer with session ids, zxids and paths as `Outcome` has them."""
        match answer:
            case Stat():
                owner = self._server.ids.index(answer.ephemeral_owner) if answer.ephemeral_owner else 0
                zxids = {name: getattr(answer, name) - self._base for name in ("czxid", "mzxid", "pzxid")}
                return replace(answer, ephemeral_owner=owner, **zxids)
            case NodeData() | Children():
                return replace(answer, stat=self._plain(answer.stat))
            case str():
                return self._below(answer)
        return answer


def plain_log(transactions: Iterable[Transaction], ids: list[int]) -> list[Transaction]:
    """The transactions of these sessions with zxids from 1 and sessions numbered, as two servers agree on them.

    Left out are times, and how many runs there were before under "/"; the znodes that went with a session are sorted.
    """
    ours = [transaction for transaction in transactions if transaction.session in ids]
    base = ours[0].zxid - 1
    return [_plain_transaction(transaction, base, ids) for transaction in ours]


def _plain_transaction(transaction: Transaction, base: int, ids: list[int]) -> Transaction:
    change = transaction.change
    match change:
        case NodeCreated(path=path) if path.count("/") == 1:
            change = replace(change, parent_cversion=0)
        case NodeCreated(ephemeral_owner=owner) if owner:
            change = replace(change, ephemeral_owner=ids.index(owner))
        case SessionClosed(deleted=paths):
            change = SessionClosed(tuple(sorted(paths)))
    return Transaction(transaction.zxid - base, 0, ids.index(transaction.session), transaction.cxid, change)
