"""A broker process on a real ZooKeeper: the same handlers as in memory, run by threads.

    main thread            starts everything; elects; registers the broker
    event thread           runs ZkClient's callbacks, one after the other
    deletion thread        deletes the topics that are queued, when it is woken
    sender threads         one for each channel of the controller (`live.channels`)
    processors             one for each connection to this broker (`live.requests`); they handle shutdowns, too
    ISR thread             shrinks and expands (`live.isr`)
    fetcher                tells leaders that they are followed (`live.fetching`)

A handler of the controller holds the controller's one lock from its begin to its end, across its ZooKeeper operations,
or for each partition by itself; a request, and a change of an ISR, holds the broker's. Where Kafka leaves an order to a
hash table, a seed decides.

A process ends by being killed, because its id is registered by another session, or in order, when it is told to stop
(`live.shutdown`).

Kafka 0.10.2.2: `KafkaServer.startup`, `KafkaServer.shutdown`, `KafkaController`, `KafkaHealthcheck`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from reference.brokers.broker import Broker
from reference.controller.controller import Configuration, KafkaController
from reference.controller.effects import RegisterBroker
from reference.deletion.thread import is_due, on_replica_deleted
from reference.failover.election import startup
from reference.live.channels import Channels
from reference.live.fetching import Fetcher
from reference.live.isr import IsrManager
from reference.live.logs import Logs
from reference.live.requests import Listeners, RequestServer
from reference.live.shutdown import ShutdownHandler, depart
from reference.live.zkclient import ZkClient
from reference.procedures import THROWABLE, Procedure, Script
from reference.reassignment.requests import take_up
from reference.requests.connections import QueuedRequest
from reference.scripts import COMMON_PATHS, CONTROLLER, create_with_parents
from reference.threads import Event, on_callback, on_deletion_thread, on_election, subscribed
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.formats.request_schemas import PartitionsResponse, Response, StopReplicaRequest
from spec.logs.controller_log.failover import Resigned
from spec.state.enumerations import Callback
from spec.state.listeners import IN_ORDER, listened
from spec.variants import AS_CODED, Switch, Switches

HOST = "127.0.0.1"
CONNECT_SECONDS = 15.0


@dataclass(frozen=True)
class Settings:
    """What a process is given: its broker, where ZooKeeper is, where it listens and writes its logs, and its times.

    One that is only to be a broker `never_controls`: it does not stand for election. `protocol` is the release line
    whose requests it sends, and whose form of a registration it writes (`inter.broker.protocol.version`).
    `deletes_topics` is `delete.topic.enable`.
    """

    broker_id: int
    zookeeper: str
    port: int
    folder: Path
    seed: int = 0
    session_timeout_ms: int = 1500
    lag_ms: int = 1250
    switches: Switches = AS_CODED
    never_controls: bool = False
    protocol: KafkaVersion = V0102
    deletes_topics: bool = True


class AlreadyRegistered(Exception):
    """Another session has the broker's id: its start-up fails (KAFKA-1387)."""


class LiveProcess:
    """The threads of one broker process, and what they share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.logs = Logs(settings.broker_id, settings.folder)
        heard = listened(settings.switches, deletes_topics=settings.deletes_topics, order=IN_ORDER)
        configuration = Configuration(
            settings.broker_id, settings.switches, paths=tuple(one.path for one in heard.values()),
            deletes_topics=settings.deletes_topics,
        )  # fmt: skip
        self.controller = KafkaController(configuration, self.logs.journal)
        compares = Switch.COMPARE_METADATA_EPOCHS in settings.switches
        self.broker = Broker(settings.broker_id, journal=self.logs.journal, compares_epochs=compares)
        self.controller_lock, self.broker_lock = threading.Lock(), threading.RLock()
        self.channels = Channels(self.controller, self._on_replica_deleted, settings.protocol)
        self._deletion_is_due = threading.Event()
        self.zookeeper = ZkClient(
            settings.zookeeper,
            settings.session_timeout_ms,
            listens_to=self.listens_to,
            on_session=self._session_began,
            after_expiry=self._after_expiry,
        )
        self.isr = IsrManager(
            self.broker,
            self.broker_lock,
            self.zookeeper,
            settings.lag_ms / 1000,
            compares_epochs=Switch.FETCH_EPOCHS in settings.switches,
        )
        self._random = Random(settings.seed)
        self.shutdowns = ShutdownHandler(
            self.controller, self.controller_lock, self.run, self.zookeeper, Random(settings.seed)
        )
        address, listeners = (HOST, settings.port), Listeners(self.isr.hear, self.shutdowns.handle)
        self.server = RequestServer(self.broker, self.broker_lock, self.logs, address, listeners)
        self.fetcher = Fetcher(self.broker, self.server.addresses)
        self.is_starting = True

    # -------------------------------------------------------------------------------------------------------- starting

    def start(self) -> None:
        """Start up to the registration; raises ConnectionError without a ZooKeeper, AlreadyRegistered."""
        self.logs.starting()
        self.server.start()
        self.zookeeper.start(CONNECT_SECONDS)
        threading.Thread(target=self._run_callbacks, name="ZkClient-EventThread", daemon=True).start()
        name = f"delete-topics-thread-{self.settings.broker_id}"
        threading.Thread(target=self._run_deletions, name=name, daemon=True).start()
        self.zookeeper.run(_setup_common_paths())
        if not self.settings.never_controls:
            self.run(startup)
        if not self._register():
            with self.controller_lock:
                self.controller.report(Resigned)  # what the controller module says last
            self.zookeeper.stop()
            raise AlreadyRegistered(f"broker {self.settings.broker_id} is registered by another session")
        self.is_starting = False
        self.isr.start()
        self.fetcher.start()

    def _register(self) -> bool:
        """Create /brokers/ids/N; false if another session has it."""
        told = self.settings
        return self.zookeeper.carry_out(RegisterBroker(told.broker_id, HOST, told.port, told.protocol))

    def stop(self) -> None:
        """Stop in order, let go by the controller or not: follow nobody, close the session, and do nothing after."""
        self.broker.is_shutting_down = True
        try:
            depart(self.settings.broker_id, self.zookeeper, self.settings.protocol)
        except THROWABLE as error:
            self.logs.swallowed(error)
        self.fetcher.stop()
        self.controller_lock.acquire()
        self.broker_lock.acquire()
        self.controller.report(Resigned)
        self.zookeeper.stop()

    # ------------------------------------------------------------------------------------------------------- controller

    def run(self, begin: Callable[[KafkaController], Procedure[None]]) -> None:
        """Run a handler of the controller to its end, under its lock."""
        with self.controller_lock:
            self._complete(begin)

    def _complete(self, begin: Callable[[KafkaController], Procedure[None]]) -> None:
        self.zookeeper.complete(begin(self.controller), self._random.randrange, self.channels.follow)
        self._wake_deletion_thread()

    def _wake_deletion_thread(self) -> None:
        if is_due(self.controller):
            self._deletion_is_due.set()

    def _run_deletions(self) -> None:
        while self._deletion_is_due.wait():
            self._deletion_is_due.clear()
            with self.controller_lock:
                if is_due(self.controller):
                    self._complete(on_deletion_thread)

    def _on_replica_deleted(self, queued: QueuedRequest, answer: Response, broker: int) -> None:
        """A sender's callback."""
        if isinstance(queued.request, StopReplicaRequest) and isinstance(answer, PartitionsResponse):
            with self.controller_lock:
                on_replica_deleted(self.controller, broker, queued.request, answer)
                self._wake_deletion_thread()

    def _run_callbacks(self) -> None:
        while True:
            callback = self.zookeeper.callbacks.get()
            if callback is Callback.REGISTRATION:
                with suppress(*THROWABLE):  # `ZkEventThread` only logs what a listener raises
                    self._register()
            else:
                self.run(partial(on_callback, callback=callback))
                if self.controller.elects:
                    self.run(on_election)
                while asked := self.controller.to_reassign:
                    self.run(partial(take_up, partition=self._random.choice(sorted(asked))))

    def listens_to(self, path: str) -> bool:
        """Whether a listener of this process is subscribed to a path."""
        return not self.settings.never_controls and (path == CONTROLLER or path in self.controller.listeners)

    def _session_began(self, session: int) -> None:
        self.logs.session_began(session, self.settings.zookeeper, self.settings.session_timeout_ms)

    def _after_expiry(self) -> Iterator[Event]:
        """The handlers of a new session, then a callback for every listener."""
        if not self.settings.never_controls:
            yield Callback.SESSION
        if not self.is_starting:
            yield Callback.REGISTRATION
        if not self.settings.never_controls:
            yield from subscribed(self.controller)


def _setup_common_paths() -> Script[None]:
    """`setupCommonPaths`: create what is missing of the fixed paths."""
    for path in COMMON_PATHS:
        yield from create_with_parents(path)
