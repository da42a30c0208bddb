"""The effects of election, failover and callbacks: a class for each action of the specification.

Each says what it is for, where its handler is (`at`), and its script. A class whose `at` is IDLE begins a callback:
it is done when the callback is taken from the queue. `reference/leadership/effects.py` has those about a partition's
state znode.

Kafka 0.10.2.2, the methods named at each; `ZkClient` 0.10 for what a callback reads before its listener is called.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from reference.controller.context import Registration
from reference.procedures import AskSession, ControllerMoved, Effect, Script, SessionView
from reference.scripts import (
    BROKER_IDS,
    CHILD_PATHS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    broker_path,
    create_ephemeral,
    create_persistent,
    number_of,
    owner_of,
    parsed,
    read_data,
)
from reference.zookeeper.api import BadVersion, Delete, Exists, GetChildren, NodeExists, NoNode, SetData
from spec.formats.kafka_types import NO_LEADER, V0102, KafkaVersion
from spec.formats.znodes import BrokerPayload, ControllerEpochPayload, ControllerPayload, registration_version
from spec.state.enumerations import At

# ----------------------------------------------------------------------------------------------- election, resignation


def read_controller_id() -> Script[int]:
    """`getControllerID`: the id in /controller, -1 if there is none."""
    node = yield from read_data(CONTROLLER)
    return NO_LEADER if node is None else parsed(ControllerPayload, CONTROLLER, node.data).brokerid


class StartProcess(Effect[None]):
    """The controller module starts: it subscribes to /controller."""

    def script(self) -> Script[None]:
        """`subscribeDataChanges` sets a watch, whether or not the znode is there."""
        yield Exists(CONTROLLER, watch=True)


class ElectRead(Effect[int]):
    """elect(): the id in /controller, or -1; a read sets the watch again only if there is something to read."""

    at = At.ELECT_READ
    script = staticmethod(read_controller_id)


@dataclass(frozen=True)
class EpochZnode:
    """/controller_epoch as read or written: the epoch, and the data version."""

    epoch: int
    version: int


class ElectCreate(Effect["EpochZnode | bool"]):
    """elect(): create /controller; say whether it is now this session's (`ZKCheckedEphemeral`, KAFKA-1387).

    Where the election is atomic (2.1.0), the epoch is incremented in the same transaction and is the result.
    """

    broker_id: int
    atomic: bool = False
    at = At.ELECT_CREATE

    @property
    def written(self) -> str:
        """The znode; where its create is a transaction with the epoch's write, the latter ends it."""
        return CONTROLLER_EPOCH if self.atomic else CONTROLLER

    def script(self) -> Script[EpochZnode | bool]:
        """Create it; what exists may be this session's own, if an answer was lost."""
        view: SessionView = yield AskSession()
        payload = ControllerPayload(brokerid=self.broker_id, timestamp=view.now_ms)
        owner = yield from create_ephemeral(CONTROLLER, payload.encode())
        if owner not in {None, view.session}:
            return False
        if not self.atomic:
            return True
        return (yield from _next_epoch() if owner is None else present_epoch()) or False


def present_epoch() -> Script[EpochZnode | None]:
    """What /controller_epoch holds; None if it is missing."""
    node = yield from read_data(CONTROLLER_EPOCH)
    if node is None:
        return None
    return EpochZnode(parsed(ControllerEpochPayload, CONTROLLER_EPOCH, node.data).controller_epoch, node.stat.version)


def _next_epoch() -> Script[EpochZnode | None]:
    """Increment /controller_epoch, or create it with 1."""
    present = yield from present_epoch()
    if present is None:
        yield from create_persistent(CONTROLLER_EPOCH, ControllerEpochPayload(1).encode())
        return EpochZnode(1, 0)
    stat = yield SetData(CONTROLLER_EPOCH, ControllerEpochPayload(present.epoch + 1).encode())
    return EpochZnode(present.epoch + 1, stat.version)


class ElectReread(Effect[int]):
    """elect(): somebody else was faster; ask who."""

    at = At.ELECT_REREAD
    script = staticmethod(read_controller_id)


class ResignDelete(Effect[None]):
    """resign(): delete /controller, whoever owns it; `only_own` where that is fixed."""

    only_own: bool
    at = At.RESIGN_DELETE
    written = CONTROLLER

    def script(self) -> Script[None]:
        """`deletePath`: a znode that is gone needs no delete."""
        if self.only_own:
            view: SessionView = yield AskSession()
            if (yield from owner_of(CONTROLLER)) != view.session:
                return
        with suppress(NoNode):
            yield Delete(CONTROLLER)


class ReadForListener(Effect["int | frozenset[str]"]):
    """What a listener is given: the id in /controller, or the children of its path.

    ZkClient sets the watch of a path again, whether or not the znode is there, then reads.
    """

    path: str

    def script(self) -> Script[int | frozenset[str]]:
        """Read it."""
        if self.path in CHILD_PATHS:
            return frozenset((yield GetChildren(self.path)).names)
        yield Exists(self.path)
        return (yield from read_controller_id())


class OnControllerChange(Effect["int | None"]):
    """A data callback of /controller: the id in it, or None where it is gone; it may be given what was read before."""

    given: int | None = None

    def script(self) -> Script[int | None]:
        """What ZkClient reads."""
        current = self.given
        if current is None:
            yield Exists(CONTROLLER)
            current = yield from read_controller_id()
        return None if current == NO_LEADER else current


class OnNewSession(Effect[int]):
    """The new-session handler: the id in /controller, or -1; it may have read that before.

    Before 0.10.2.0 it does not ask (`asks`).
    """

    given: int | None
    asks: bool

    def script(self) -> Script[int]:
        """Read it."""
        if self.given is not None:
            return self.given
        return (yield from read_controller_id()) if self.asks else NO_LEADER


# ------------------------------------------------------------------------------------------------------------ failover


class ReadEpoch(Effect["EpochZnode | None"]):
    """Failover: `readControllerEpochFromZookeeper`; None where nobody was controller before."""

    at = At.READ_EPOCH
    script = staticmethod(present_epoch)


class IncrementEpoch(Effect["int | None"]):
    """Failover: write the next epoch on the version read; the new version, -1 on a conflict, None if it is missing."""

    new_epoch: int
    expected_version: int
    at = At.INCREMENT_EPOCH
    written = CONTROLLER_EPOCH

    def script(self) -> Script[int | None]:
        """The conditional write; content is not compared here (D1)."""
        data = ControllerEpochPayload(self.new_epoch).encode()
        try:
            stat = yield SetData(CONTROLLER_EPOCH, data, self.expected_version)
        except NoNode:
            return None
        except BadVersion:
            return -1
        version: int = stat.version
        return version


class CreateEpoch(Effect[None]):
    """Failover, the first ever: create /controller_epoch with 1, or raise ControllerMoved if somebody did meanwhile."""

    at = At.CREATE_EPOCH
    written = CONTROLLER_EPOCH

    def script(self) -> Script[None]:
        """Create it."""
        try:
            yield from create_persistent(CONTROLLER_EPOCH, ControllerEpochPayload(1).encode())
        except NodeExists:
            raise ControllerMoved("/controller_epoch was created by another controller") from None


class Subscribe(Effect[None]):
    """Failover: watch the children, or the data, of the paths that only the controller listens to."""

    paths: tuple[str, ...]
    at = At.SUBSCRIBE

    def script(self) -> Script[None]:
        """`watchForChilds` and `watchForData`, path by path."""
        for path in self.paths:
            yield GetChildren(path, watch=True) if path in CHILD_PATHS else Exists(path, watch=True)


def _read_brokers(given: frozenset[str] | None = None) -> Script[Mapping[int, Registration]]:
    """`getAllBrokersInCluster`: the registrations that could be read, by broker id."""
    children = given if given is not None else (yield GetChildren(BROKER_IDS)).names
    return (yield from _read_registrations(number_of(BROKER_IDS, name) for name in children))


def _read_registrations(broker_ids: Iterable[int]) -> Script[Mapping[int, Registration]]:
    found = {}
    for broker_id in sorted(broker_ids):
        node = yield from read_data(broker_path(broker_id))
        if node is not None:
            payload = parsed(BrokerPayload, broker_path(broker_id), node.data)
            found[broker_id] = Registration(payload, node.stat.czxid)
    return found


class ReadBrokers(Effect[Mapping[int, Registration]]):
    """Failover: the registered brokers."""

    at = At.READ_BROKERS
    script = staticmethod(_read_brokers)


# ----------------------------------------------------------------------------------------------------------- callbacks


class OnBrokerChange(Effect[Mapping[int, Registration]]):
    """A child callback of /brokers/ids: the registered brokers of the children, all from one read (0.10.0)."""

    given: frozenset[str] | None = None

    def script(self) -> Script[Mapping[int, Registration]]:
        """Children and data."""
        return _read_brokers(self.given)


class ReadBrokerData(Effect[Mapping[int, Registration]]):
    """Before 0.10.0.0: the registrations of the brokers that were `listed`, of those whose data is still there."""

    listed: frozenset[int]
    at = At.READ_BROKER_DATA

    def script(self) -> Script[Mapping[int, Registration]]:
        """The data alone."""
        return _read_registrations(self.listed)


class SkipCallback(Effect[None]):
    """A callback of a listener that is the controller's only, on a broker that is not active."""

    path: str
    was_read: bool = False

    def script(self) -> Script[None]:
        """ZkClient reads before it calls the listener, which then does nothing."""
        if self.was_read:
            return
        if self.path in CHILD_PATHS:
            yield GetChildren(self.path)
        else:
            yield Exists(self.path)
            yield from read_data(self.path)


# ------------------------------------------------------------------------------------------------------ other threads


class JoinThread(Effect[None]):
    """A thread is to be joined that waits for the lock that is held here: neither ever goes on.

    It is the sender of a channel that is closed (D50), or, before 0.10.2.0, the deletion thread (D9).
    """

    at = At.DEADLOCKED

    def script(self) -> Script[None]:
        """Nothing is asked of ZooKeeper."""
        yield from ()


# -------------------------------------------------------------------------------------------------------- registration


class RegisterBroker(Effect[bool]):
    """A broker creates /brokers/ids/N; false if another session has it, which ends its start-up (KAFKA-1387)."""

    broker_id: int
    host: str = "localhost"
    port: int = 9092
    release: KafkaVersion = V0102
    """The release line whose form of it is written."""

    @property
    def written(self) -> str:
        """The registration."""
        return broker_path(self.broker_id)

    def script(self) -> Script[bool]:
        """Create it; what exists may be this session's own, if an answer was lost."""
        path = broker_path(self.broker_id)
        view: SessionView = yield AskSession()
        version = registration_version(self.release)
        payload = BrokerPayload(
            version,
            self.host,
            self.port,
            endpoints=(f"PLAINTEXT://{self.host}:{self.port}",) if version >= 2 else None,
            timestamp=view.now_ms,
            listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"} if version >= 4 else None,
        )
        return (yield from create_ephemeral(path, payload.encode())) in {None, view.session}
