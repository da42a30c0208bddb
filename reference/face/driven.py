"""A controller that is driven: `reference.driven({"broker": 1}, ask, send)`.

The caller plays ZooKeeper and the brokers. The controller asks for each of its ZooKeeper operations, hands over what it
sends, and is given what it hears of; it does nothing by itself. Between two calls it waits for what it is given next.

It is the module of a broker that somebody else registers, on ZkClient: a watch that fires calls the listener of its
path; a session that has expired is replaced, and an operation done again under the new one; a lost answer is asked for
again. Kafka 0.10.2.2: `KafkaController`, ZkClient 0.10. PROTOCOL.md sections 6 and 7.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from reference.broker_events.controlled_shutdown import answer_shutdown, begin_shutdown, move_partition
from reference.controller.controller import Configuration, KafkaController
from reference.controller.effects import ElectCreate
from reference.deletion.thread import is_due, on_replica_deleted
from reference.elections.rebalance import begin_rebalance, brokers_to_lead, find_imbalance, is_running
from reference.elections.rebalance import rebalance_partition as give_back
from reference.face import givens
from reference.face.settings import Settings, behaviour
from reference.face.view import Json, request_to_json, shutdown_to_json
from reference.failover.election import startup
from reference.journal import Entry, Report, StateChange
from reference.procedures import AskSession, Effect, PastZkClient, Procedure, SessionView, complete, run_script
from reference.reassignment.requests import take_up
from reference.requests.connections import Queue, QueuedRequest
from reference.scripts import CONTROLLER
from reference.threads import Event, event_of, on_callback, on_deletion_thread, on_election, subscribed
from reference.zookeeper import api
from spec.errors import BadInput, Where
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import (
    ControlledShutdownResponse,
    PartitionError,
    PartitionsResponse,
    StopReplicaRequest,
)
from spec.state.enumerations import Callback
from spec.state.listeners import IN_ORDER, listened

Ask = Callable[[Json], Json]
Send = Callable[[int, Json], int]
Log = Callable[[str], None]
REFUSALS: Final = {
    one.__name__: one for one in (api.NoNode, api.NodeExists, api.BadVersion, api.NotEmpty, api.NoChildrenForEphemerals)
}
TROUBLES: Final = {one.__name__: one for one in (api.SessionExpired, api.ConnectionLoss)}
OWN: Final = 1
"""The id of its own session, as far as it can tell; nobody's is 0."""


class Driven:
    """The controller of a broker.

    | key | is |
    |---|---|
    | `broker` | its id |
    | `settings`, `release`, `variant` | as for a cluster |

    `ask` does a ZooKeeper operation: an object with `op` (`create`, `set`, `delete`, `exists`, `get`, `children`),
    `path`, and `data`, `ephemeral`, `version`, `watch` where they matter. It gives `{"result": ...}`, which has
    `version`, `czxid`, `own` (whether it is an ephemeral znode of this session), `data`, `children` as the operation
    has them, null for a znode that does not exist; or `{"refused": ...}`, ZooKeeper's error. `send` takes a request to
    a broker, as an object with `name`, `version` and `body`, and gives the number under which its answer comes. `log`
    takes each line of state-change.log and controller.log, without time, level and logger.
    """

    def __init__(self, told: Mapping[str, Any], ask: Ask, send: Send, log: Log = lambda _: None) -> None:
        given = givens.Given(told)
        broker = given.require("broker", givens.number)
        settings = Settings.of(given.get("settings", givens.mapping, {}))
        self.release, switches = behaviour(
            given.get("release", givens.text, "0.10.2"), given.get("variant", givens.text, "AS_CODED")
        )
        given.refuse_others()
        heard = listened(switches, deletes_topics=settings.delete_topic_enable, order=IN_ORDER)
        configuration = Configuration(
            broker, switches, settings.unclean_leader_election_enable, tuple(one.path for one in heard.values()),
            settings.leader_imbalance_per_broker_percentage, deletes_topics=settings.delete_topic_enable,
        )  # fmt: skip
        self._controller = KafkaController(configuration, self._note)
        self._ask, self._send, self._log = ask, send, log
        self._waiting: dict[int, tuple[int, QueuedRequest, Queue]] = {}
        self._to_call: list[Event] = []
        self._rebalances = settings.auto_leader_rebalance_enable

    # ------------------------------------------------------------------------------------------------ what it is told

    def start(self) -> None:
        """It starts, and stands for election."""
        self._run(startup)
        self._go_on()

    def watch(self, path: str) -> None:
        """A watch on a path has fired."""
        if path == CONTROLLER or path in self._controller.listeners:
            self._call_back(event_of(path))
        self._go_on()

    def session_expired(self) -> None:
        """Its session has expired, and it has a new one; every listener that it has now is called later."""
        self._to_call = [*subscribed(self._controller)]
        self._call_back(Callback.SESSION)
        self._go_on()

    def session_goes_on(self) -> None:
        """Its broker is registered under the new session; ZkClient calls every listener, for watches may be lost."""
        to_call, self._to_call = self._to_call, []
        for event in to_call:
            self._call_back(event)
        self._go_on()

    def answered(self, number: int, codes: Mapping[str, int], error: int = 0) -> None:
        """A broker has answered the request of this number: the code of each partition, and of the whole.

        The answer to one of a channel that has been closed since, with its term or its broker, is nobody's.
        """
        if number not in self._waiting:
            return
        broker, queued, queue = self._waiting.pop(number)
        if self._controller.queue_to(broker) is not queue:
            return
        partitions = tuple(_code(name, code) for name, code in sorted(codes.items()))
        answer = PartitionsResponse(ErrorCode(error), partitions)
        if isinstance(queued.request, StopReplicaRequest):
            on_replica_deleted(self._controller, broker, queued.request, answer)
        self._go_on()

    def shut_down(self, broker: int) -> Json:
        """A broker asks for its controlled shutdown: the answer to it."""
        refusal = begin_shutdown(self._controller, broker)
        if refusal is not ErrorCode.NONE:
            return shutdown_to_json(ControlledShutdownResponse(refusal), self.release)
        while (work := self._controller.shutdown) is not None and work.to_move:
            self._run(partial(move_partition, partition=min(work.to_move)))
        answer = answer_shutdown(self._controller, None)
        self._go_on()
        return shutdown_to_json(answer, self.release)

    def rebalance(self) -> None:
        """It is time for the automatic rebalance to look at each broker."""
        if self._rebalances and is_running(self._controller):
            for broker in brokers_to_lead(self._controller):
                if find_imbalance(self._controller, broker):
                    begin_rebalance(self._controller, broker)
                while self._controller.imbalanced:
                    self._run(partial(give_back, partition=min(self._controller.imbalanced)))
        self._go_on()

    # ------------------------------------------------------------------------------------------------ what it does

    def _call_back(self, event: Event) -> None:
        self._run(partial(on_callback, callback=event))
        if self._controller.elects:
            self._run(on_election)
        while self._controller.to_reassign:
            self._run(partial(take_up, partition=min(self._controller.to_reassign)))

    def _go_on(self) -> None:
        """What its own threads have to do."""
        while is_due(self._controller):
            self._run(on_deletion_thread)

    def _note(self, entry: Entry) -> None:
        if isinstance(entry, StateChange | Report):
            self._log(str(entry.line))

    def _run(self, begin: Callable[[KafkaController], Procedure[None]]) -> None:
        complete(begin(self._controller), self._carry_out, after_step=self._hand_over)

    def _carry_out(self, effect: Effect[Any]) -> Any:
        return run_script(effect.script(), partial(self._answer, raw=isinstance(effect, ElectCreate)))

    def _answer(self, operation: api.AnyOperation | AskSession | PastZkClient, *, raw: bool) -> Any:
        """Ask for an operation; a read of a path with a listener sets the watch, and what got no answer is repeated."""
        if isinstance(operation, AskSession):
            return SessionView(OWN, 0)
        plain = operation.operation if isinstance(operation, PastZkClient) else operation
        listens = plain.path == CONTROLLER or plain.path in self._controller.listeners
        call = _call(plain, watches=plain is operation and listens)
        while True:
            came = self._ask(call)
            if "result" in came:
                return _given(plain, came["result"])
            if came["refused"] in REFUSALS:
                raise REFUSALS[came["refused"]](plain.path)
            if came["refused"] not in TROUBLES:
                raise BadInput(f"{came['refused']} is no error of ZooKeeper's that a controller knows")
            if raw and came["refused"] == api.SessionExpired.__name__:
                raise api.SessionExpired(plain.path)

    def _hand_over(self) -> None:
        """Send what is queued."""
        manager = self._controller.context.controller_channel_manager
        queues = {**self._controller.abandoned, **({} if manager is None else manager.queues)}
        for broker, queue in sorted(queues.items()):
            for queued in queue:
                number = self._send(broker, request_to_json(queued.request, self.release))
                if queued.calls_back:
                    self._waiting[number] = broker, queued, queue
            queue.clear()


def _call(operation: api.AnyOperation, *, watches: bool) -> Json:
    match operation:
        case api.Create(path=path, data=data, mode=mode):
            return {"op": "create", "path": path, "data": _text(data), "ephemeral": mode.is_ephemeral}
        case api.SetData(path=path, data=data, version=version):
            return {"op": "set", "path": path, "data": _text(data), "version": version}
        case api.Delete(path=path, version=version):
            return {"op": "delete", "path": path, "version": version}
        case api.Exists(path=path, watch=watch):
            return {"op": "exists", "path": path, "watch": watch or watches}
        case api.GetData(path=path, watch=watch):
            return {"op": "get", "path": path, "watch": watch or watches}
        case api.GetChildren(path=path, watch=watch):
            return {"op": "children", "path": path, "watch": watch or watches}


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _given(operation: api.AnyOperation, result: Any) -> Any:
    """What an operation gave, from JSON."""
    match operation:
        case api.Create(path=path):
            return path
        case api.SetData():
            return _stat(result)
        case api.Delete():
            return None
        case api.Exists():
            return None if result is None else _stat(result)
        case api.GetData():
            data = result["data"]
            return api.NodeData(None if data is None else data.encode(), _stat(result))
        case _:
            return api.Children(tuple(sorted(result["children"])), _stat(result))


def _stat(result: Json) -> api.Stat:
    owner = OWN if result.get("own") else 0
    czxid = result.get("czxid", 0)
    return api.Stat(czxid, 0, 0, result.get("version", 0), 0, owner, 0, 0)


def _code(name: str, code: int) -> PartitionError:
    partition = givens.partition(name, Where("codes"))
    return PartitionError(partition.topic, partition.partition, ErrorCode(code))
