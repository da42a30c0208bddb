"""The world of a driven controller: a ZooKeeper, the other brokers, and a script of what happens to them.

The script is a list of turns. In each of them some things happen, then the controller is given what it hears of: first
the watches that fire, in their order, then the answers to what it has sent. A turn is over when it waits and there is
nothing more to tell, or when it asks for something while its session is gone: that is answered in the turn in which it
has a new one.

| in the script | is |
|---|---|
| `create`, `data`, `owner` | somebody creates a znode; ephemeral where a broker owns it, of that one's session |
| `register` | a broker registers, under its session |
| `set`, `data` | somebody writes a znode |
| `delete` | somebody deletes a znode |
| `end_session`, `renew_session` | the session of a broker ends; its client, the controller's own, too, has a new one |
| `down`, `up` | a broker's process is killed, or runs again: while it is down it answers nothing |
| `shutdown` | a broker asks for its controlled shutdown |
| `rebalance` | it is time for the automatic rebalance to look |
| `fail_deletion` | a broker cannot delete the next replica that it is told to |
| `before`, `do` | what is done right before the next write of that kind and path |
| `lose` | the next write of that kind and path is applied, and its answer lost |
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from model_check.conformance.driving.acts import Act, Replied, Sent, Wrote, turn, written
from model_check.conformance.driving.calls import WRITES, operation_of, result_of
from model_check.conformance.driving.log_lines import lines_of_turn
from model_check.conformance.vector import Object
from reference.memory.zookeeper import MemoryZookeeper
from reference.scripts import BROKER_IDS, COMMON_PATHS
from reference.zookeeper.api import (
    Create,
    CreateMode,
    Delete,
    NodeExists,
    NoNode,
    OperationRefused,
    SessionExpired,
    SetData,
    parent_path,
)
from spec.errors import SpecError, Where
from spec.formats.error_codes import ErrorCode

REGISTRATION: Final = {
    "version": 4, "host": "localhost", "port": 9092, "jmx_port": -1, "timestamp": "0",
    "endpoints": ["PLAINTEXT://localhost:9092"], "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
}  # fmt: skip
EXPIRED: Final = {"session": "expired"}
GOES_ON: Final = {"session": "goes on"}


class Impossible(SpecError):
    """Something of a script cannot happen, since the controller has done something else before."""


class World:
    """ZooKeeper, the brokers, and what is still to happen, for the controller that is given (`broker`, `script`)."""

    def __init__(self, given: Object) -> None:
        self._broker: int = given["broker"]
        self._compared = given["compared"]
        self._kinds: list[str] = given.get("lines", [])
        self._script: deque[list[Object]] = deque(given["script"])
        self._zookeeper = MemoryZookeeper()
        self._sessions = {0: self._zookeeper.open_session(), self._broker: self._zookeeper.open_session()}
        self._events: deque[Object] = deque()
        self._calls: deque[Object] = deque()
        self._answers: deque[Object] = deque()
        self._owed: list[tuple[int, int, Object]] = []
        self._running = {self._broker}
        self._failing: list[int] = []
        self._armed: list[Object] = []
        self._expired = self._is_gone = self._registers = self._is_held = False
        self._sent = 0
        self._acts: list[Act] = []
        self._logged: list[str] = []
        self._turns: list[list[Object]] = []
        self._lines: list[list[str]] = []
        self._happening: Mapping[str, Callable[[Object], None]] = {
            "create": self._create, "register": self._register, "set": self._set, "delete": self._delete,
            "end_session": self._end_session, "renew_session": self._renew_session,
            "down": lambda item: self._running.discard(item["down"]), "up": self._up,
            "shutdown": self._calls.append, "rebalance": self._calls.append,
            "fail_deletion": lambda item: self._failing.append(item["fail_deletion"]),
            "before": self._armed.append, "lose": self._armed.append,
        }  # fmt: skip
        for path in COMMON_PATHS:
            self._create_with_parents(path)
        self._begin_turn()

    @property
    def _own_path(self) -> str:
        return f"{BROKER_IDS}/{self._broker}"

    # ------------------------------------------------------------------------------------------- what it may be told

    def wait(self) -> Object | None:
        """What the controller hears next; None if that was all."""
        while True:
            self._hear()
            if self._events and not self._is_held and self._zookeeper.is_live(self._sessions[self._broker]):
                event = self._events.popleft()
                if event == EXPIRED:
                    self._hears_of_the_end()
                return event
            if self._calls:  # by other threads than ZkClient's
                return self._calls.popleft()
            if self._answers:
                return self._answers.popleft()
            self._end_turn()
            if not self._script:
                return None
            self._begin_turn()

    def _hears_of_the_end(self) -> None:
        """It has a new session, unless that has ended, too; its listeners are called once its broker is registered."""
        self._expired = EXPIRED in self._events or self._is_gone
        self._is_held = self._registers
        if not self._is_held:
            self._events.appendleft(GOES_ON)

    def _end_turn(self) -> None:
        self._owed = [one for one in self._owed if self._is_registered(one[0])]  # it knows of whom that is over
        self._turns.append(turn(self._acts, self._compared))
        self._lines.append(lines_of_turn(self._logged, self._kinds))
        self._acts, self._logged = [], []

    def _begin_turn(self) -> None:
        for item in self._script.popleft():
            self._happen(item)

    def _hear(self) -> None:
        """Queue the watches that have fired."""
        for event in self._zookeeper.take_watch_events(self._sessions[self._broker]):
            self._events.append({"watch": event.path, "type": event.type.value})

    def ask(self, call: Object, where: Where) -> Object:
        """Do an operation of the controller's, and give what it gave."""
        operation = operation_of(call, where)
        kind = WRITES.get(type(operation))
        armed = next((one for one in self._armed if _waits_for(one, kind, operation.path)), None)
        if armed is not None and "before" in armed:
            self._armed.remove(armed)
            for item in armed["do"]:
                self._happen(item)
        if self._expired:
            self._expired = False
            return {"refused": SessionExpired.__name__}
        while self._is_gone:
            self._end_turn()
            if not self._script:
                Where("the script").refuse("it ends while the controller has no session, and asks for something")
            self._begin_turn()
        try:
            answer = self._zookeeper.execute(self._sessions[self._broker], operation)
        except OperationRefused as refusal:
            return {"refused": type(refusal).__name__}
        if kind is not None:
            self._acts.append(Wrote(kind, operation.path, getattr(operation, "data", None)))
        if armed is not None and "lose" in armed:
            self._armed.remove(armed)
            return {"refused": "ConnectionLoss"}
        return {"result": result_of(operation, answer, self._sessions[self._broker])}

    def send(self, to: int, request: Object) -> Object:
        """Take a request to a broker; one that stops replicas for good is answered."""
        self._sent += 1
        self._acts.append(Sent(to, request))
        if request["name"] == "StopReplica" and request["delete"]:
            self._owed.append((to, self._sent, request))
            self._pay()
        return {"result": {"number": self._sent}}

    def reply(self, told: Object) -> Object:
        """Take the answer to the broker that asked for a controlled shutdown."""
        self._acts.append(Replied(told))
        return {"result": {}}

    def log(self, line: str) -> Object:
        """Take a line that it logs."""
        self._logged.append(line)
        return {"result": {}}

    def _pay(self) -> None:
        """Answer what live brokers owe."""
        for owed in list(self._owed):
            to, number, request = owed
            if to not in self._running:
                continue
            code = ErrorCode.NONE
            if to in self._failing:
                self._failing.remove(to)
                code = ErrorCode.UNKNOWN
            self._owed.remove(owed)
            partitions = {one: int(code) for one in request["partitions"]}
            self._answers.append({"answer": {"from": to, "number": number, "error": 0, "partitions": partitions}})

    def outcome(self) -> Object:
        """What it has done in each turn, and the lines that it has logged, of the kinds that are compared."""
        turns = {str(number): one for number, one in enumerate(self._turns)}
        return {"turns": turns, "lines": {str(number): one for number, one in enumerate(self._lines)}}

    # ------------------------------------------------------------------------------------------------ what happens

    def _happen(self, item: Object) -> None:
        """Impossible where the controller has done something else before than the script goes by."""
        kind = next(iter(item))
        try:
            self._happening[kind](item)
        except OperationRefused as refusal:
            raise Impossible(f"turn {len(self._turns)} cannot be: {kind} of {item[kind]} meets {refusal}") from refusal
        self._hear()

    def _create(self, item: Object) -> None:
        owner = item.get("owner", 0)
        if owner and owner not in self._sessions:
            self._sessions[owner] = self._zookeeper.open_session()
        mode = CreateMode.EPHEMERAL if owner else CreateMode.PERSISTENT
        self._create_with_parents(item["create"], written(item["data"]), mode, self._sessions[owner])
        if item["create"] == self._own_path and self._registers:
            self._registers = False
            if self._is_held:
                self._is_held = False
                self._events.appendleft(GOES_ON)
        self._pay()

    def _create_with_parents(
        self, path: str, data: bytes | None = None, mode: CreateMode = CreateMode.PERSISTENT, session: int | None = None
    ) -> None:
        try:
            self._zookeeper.execute(self._sessions[0] if session is None else session, Create(path, data, mode))
        except NoNode:
            self._create_with_parents(parent_path(path))
            self._create_with_parents(path, data, mode, session)
        except NodeExists:
            pass

    def _register(self, item: Object) -> None:
        broker = item["register"]
        self._running.add(broker)
        self._create({"create": f"{BROKER_IDS}/{broker}", "data": REGISTRATION, "owner": broker})

    def _set(self, item: Object) -> None:
        self._zookeeper.execute(self._sessions[0], SetData(item["set"], written(item["data"])))

    def _delete(self, item: Object) -> None:
        self._zookeeper.execute(self._sessions[0], Delete(item["delete"]))

    def _end_session(self, item: Object) -> None:
        broker = item["end_session"]
        session = self._sessions.get(broker)
        if broker == self._broker:
            self._expired = self._is_gone = True
            self._registers |= self._is_registered(broker)
        else:
            self._sessions.pop(broker, None)
        if session is not None:
            self._zookeeper.expire_session(session)

    def _renew_session(self, item: Object) -> None:
        broker = item["renew_session"]
        self._sessions[broker] = self._zookeeper.open_session()
        if broker == self._broker:
            self._is_gone = False
            self._events.append(EXPIRED)

    def _is_registered(self, broker: int) -> bool:
        return f"{BROKER_IDS}/{broker}" in self._zookeeper.tree

    def _up(self, item: Object) -> None:
        self._running.add(item["up"])
        self._pay()


def _waits_for(armed: Object, kind: str | None, path: str) -> bool:
    """Whether what is armed waits for a write of this kind and path."""
    return kind is not None and bool((armed.get("before") or armed["lose"]).get(kind) == path)
