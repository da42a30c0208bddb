"""A controller as a program of its own: it elects, raises the epoch, decides who leads, and tells the brokers.

It stands for what somebody brings who has a controller in another language: all that it shares with the rest of this
project is the bytes on the wire. It creates partitions and elects leaders; it neither reassigns nor deletes anything.
"""

import argparse
import json
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, ConnectionLoss, NodeExistsError, NoNodeError, SessionExpiredError

from reference.live.frames import receive_frame, send_frame
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    Request,
    UpdateMetadataRequest,
)
from spec.formats.requests import RequestHeader, encode_request


@dataclass(frozen=True)
class Partition:
    """A partition, its replicas and what its state znode says, with the znode's version."""

    topic: str
    number: int
    replicas: tuple[int, ...]
    state: dict[str, Any] | None
    version: int

    @property
    def path(self) -> str:
        """Its state znode."""
        return f"/brokers/topics/{self.topic}/partitions/{self.number}/state"


class SmallController:
    """The controller; `run` never ends."""

    def __init__(self, broker_id: int, zookeeper: str) -> None:
        self.id = broker_id
        self.zookeeper = KazooClient(zookeeper, timeout=4.0)
        self.epoch = 0
        self.told: set[tuple[Any, ...]] = set()

    def run(self) -> None:
        """Stand for election, again and again; in office, look at everything, again and again."""
        self.zookeeper.start()
        while True:
            with suppress(ConnectionLoss, SessionExpiredError):  # then /controller is not known to be ours
                if self.is_elected():
                    self.epoch, self.told = self.raise_epoch(), set()
                    self.govern()
            time.sleep(0.05)

    def govern(self) -> None:
        """Look at everything, again and again, while in office."""
        while self.is_in_office():
            self.look_around()
            time.sleep(0.05)

    def is_elected(self) -> bool:
        """Whether /controller is ours now."""
        try:
            self.zookeeper.create("/controller", self.claim(), ephemeral=True)
        except NodeExistsError:
            return False
        return True

    def claim(self) -> bytes:
        """What it writes to /controller."""
        return json.dumps({"version": 1, "brokerid": self.id, "timestamp": "0"}).encode()

    def is_in_office(self) -> bool:
        """Whether /controller is still ours."""
        stat = self.zookeeper.exists("/controller")
        return stat is not None and stat.ephemeralOwner == self.zookeeper.client_id[0]

    def raise_epoch(self) -> int:
        """Write the next epoch, on condition that nobody else has."""
        try:
            data, stat = self.zookeeper.get("/controller_epoch")
        except NoNodeError:
            self.zookeeper.create("/controller_epoch", b"1")
            return 1
        self.zookeeper.set("/controller_epoch", str(int(data) + 1).encode(), stat.version)
        return int(data) + 1

    def look_around(self) -> None:
        """Decide what is to be decided, tell everybody what is new to them, and take what leaders have announced."""
        announced = self.children("/isr_change_notification")
        live = self.registered()
        for topic in self.children("/brokers/topics"):
            for partition in self.partitions(topic):
                if wanted := self.decision(partition, tuple(live)):
                    self.write(partition, wanted)
                elif partition.state:
                    self.tell(partition, live)
        for one in announced:
            self.zookeeper.delete(f"/isr_change_notification/{one}")

    def registered(self) -> dict[int, Any]:
        """The brokers that live, each with its registration and that znode's stat."""
        found = {}
        for one in self.children("/brokers/ids"):
            with suppress(NoNodeError):  # then it has gone meanwhile
                found[int(one)] = self.zookeeper.get(f"/brokers/ids/{one}")
        return found

    def children(self, path: str) -> list[str]:
        """The names below a path, if it is there."""
        return sorted(self.zookeeper.get_children(path)) if self.zookeeper.exists(path) else []

    def partitions(self, topic: str) -> list[Partition]:
        """What is to be known of a topic's partitions."""
        assigned = json.loads(self.zookeeper.get(f"/brokers/topics/{topic}")[0])["partitions"]
        return [self.partition(topic, int(number), tuple(ids)) for number, ids in assigned.items()]

    def partition(self, topic: str, number: int, replicas: tuple[int, ...]) -> Partition:
        """One of them."""
        unborn = Partition(topic, number, replicas, None, -1)
        try:
            data, stat = self.zookeeper.get(unborn.path)
        except NoNodeError:
            return unborn
        return Partition(topic, number, replicas, json.loads(data), stat.version)

    def decision(self, partition: Partition, live: tuple[int, ...]) -> dict[str, Any] | None:
        """The state that a partition is to have, if that is another: its leader is the first live one in sync."""
        state = partition.state
        in_sync = partition.replicas if state is None else tuple(state["isr"])
        able = [one for one in partition.replicas if one in in_sync and one in live]
        if not able or (state is not None and state["leader"] in live):
            return None
        return self.state(able, 0 if state is None else state["leader_epoch"] + 1)

    def state(self, isr: list[int], leader_epoch: int) -> dict[str, Any]:
        """A state in this epoch; the first in sync leads."""
        decided = {"leader": isr[0], "leader_epoch": leader_epoch, "isr": isr}
        return {"controller_epoch": self.epoch, "version": 1, **decided}

    def write(self, partition: Partition, state: dict[str, Any]) -> None:
        """Write a state, unless somebody else has just done so."""
        data = json.dumps(state).encode()
        try:
            if partition.state is None:
                self.zookeeper.create(partition.path, data, makepath=True)
            else:
                self.zookeeper.set(partition.path, data, partition.version)
        except (BadVersionError, NodeExistsError):
            return

    def tell(self, partition: Partition, live: dict[int, Any]) -> None:
        """Tell a partition's leadership to its replicas, and to all brokers for their clients."""
        state = partition.state or {}
        fields = {name: state[name] for name in ("controller_epoch", "leader", "leader_epoch")}
        led = LeaderIsrAndControllerEpoch(**fields, isr=tuple(state["isr"]), zk_version=partition.version)
        said = PartitionLeadership(partition.topic, partition.number, led, partition.replicas)
        ends = {one: json.loads(data) for one, (data, _) in live.items()}
        brokers = tuple(
            LiveBroker(b, end_points=(EndPoint(e["port"], e["host"], "PLAINTEXT"),)) for b, e in ends.items()
        )
        leaders = tuple(LiveLeader(b, e["host"], e["port"]) for b, e in ends.items() if b == led.leader)
        for broker, (_, stat) in live.items():
            who = (self.incarnation(broker, stat), partition.path)
            wanted: dict[tuple[Any, ...], Request] = {
                (*who, partition.version, *ends): UpdateMetadataRequest(self.id, self.epoch, (said,), brokers)
            }
            if broker in partition.replicas:
                order = LeaderAndIsrRequest(self.id, self.epoch, (said,), leaders)
                wanted = {(*who, led.leader_epoch): order, **wanted}
            new = {known: one for known, one in wanted.items() if known not in self.told}
            if new and self.send(ends[broker], list(new.values())):
                self.told |= new.keys()

    def incarnation(self, broker: int, stat: Any) -> tuple[int, int]:
        """Of which process of a broker it remembers what it was told."""
        return broker, stat.czxid

    def encoded(self, header: RequestHeader, request: Request) -> bytes:
        """The bytes of a request."""
        return encode_request(header, request)

    def send(self, end: dict[str, Any], requests: list[Request]) -> bool:
        """Send requests to where a broker listens; say whether it has answered all of them."""
        try:
            with socket.create_connection((end["host"], end["port"]), 2.0) as connection:
                for number, one in enumerate(requests):
                    version = 3 if isinstance(one, UpdateMetadataRequest) else 0
                    header = RequestHeader(one.api_key, version, number, str(self.id))
                    send_frame(connection, self.encoded(header, one))
                    receive_frame(connection)
        except (OSError, EOFError):
            return False
        return True


def main(kind: type[SmallController] = SmallController, arguments: Sequence[str] | None = None) -> None:
    """Run a controller of some kind: `--id 1 --zookeeper 127.0.0.1:2181`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--id", type=int, required=True)
    parser.add_argument("--zookeeper", required=True)
    given = parser.parse_args(arguments)
    kind(given.id, given.zookeeper).run()


if __name__ == "__main__":
    main()
