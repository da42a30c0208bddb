"""The small controller with a bug, by its name: `python -m ...planted_bugs deaf --id 1 --zookeeper 127.0.0.1:2181`.

Each is one that somebody may write and hardly see: it is elected, creates partitions, and brokers obey it.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from kazoo.exceptions import NodeExistsError

from spec.formats.request_schemas import Request, UpdateMetadataRequest
from spec.formats.requests import RequestHeader, encode_request, schema_of
from tests.left_out_fields import leaving_out, struct_with
from tests.model_check.live.controllers.moves import Moves
from tests.model_check.live.controllers.small_controller import Partition, main


class Deaf(Moves):
    """It hears of no change of brokers after it has seen as many as there are."""

    def registered(self) -> dict[int, Any]:
        """The brokers that it has seen, whether they live or not."""
        self.seen: dict[int, Any] = {**super().registered(), **getattr(self, "seen", {})}
        return self.seen


class InAMulti(Moves):
    """It has no bug: /controller is created in one transaction with the next epoch, as Kafka does from 2.1 on."""

    def is_elected(self) -> bool:
        """Whether /controller is ours now, and the epoch raised."""
        with suppress(NodeExistsError):
            self.zookeeper.create("/controller_epoch", b"0")
        data, stat = self.zookeeper.get("/controller_epoch")
        together = self.zookeeper.transaction()
        together.create("/controller", self.claim(), ephemeral=True)
        together.set_data("/controller_epoch", str(int(data) + 1).encode(), stat.version)
        return not any(isinstance(one, Exception) for one in together.commit())

    def raise_epoch(self) -> int:
        """The epoch that was raised."""
        return int(self.zookeeper.get("/controller_epoch")[0])


class DeafInAMulti(InAMulti, Deaf):
    """Both."""


class TextIds(Moves):
    """Its id in /controller is a text."""

    def claim(self) -> bytes:
        """What it writes to /controller."""
        return json.dumps({"version": 1, "brokerid": str(self.id), "timestamp": "0"}).encode()


class NoRack(Moves):
    """It leaves the racks of brokers out, which may be null, but not missing."""

    def encoded(self, header: RequestHeader, request: Request) -> bytes:
        """The bytes of a request, without any broker's rack."""
        if not isinstance(request, UpdateMetadataRequest):
            return super().encoded(header, request)
        with leaving_out(struct_with("rack", schema_of(header), header.api_version), "rack"):
            return super().encoded(header, request)


class OtherVersion(Moves):
    """It says version 2 where it writes version 3."""

    def encoded(self, header: RequestHeader, request: Request) -> bytes:
        """The bytes of a request, with a version that is not its own."""
        data = encode_request(header, request)
        return data[:2] + b"\0\2" + data[4:] if isinstance(request, UpdateMetadataRequest) else data


class NoMetadata(Moves):
    """It tells the leadership to the replicas only, and to nobody for his clients."""

    def send(self, end: dict[str, Any], requests: list[Request]) -> bool:
        """Send what is no UpdateMetadata."""
        return super().send(end, [one for one in requests if not isinstance(one, UpdateMetadataRequest)])


class ForgetsNobody(Moves):
    """It tells a broker what it has not told it before, and does not see that its process is another one."""

    def incarnation(self, broker: int, _stat: Any) -> tuple[int, int]:
        """The broker's id, whenever it registered."""
        return broker, 0


class NoStop(Moves):
    """It moves replicas, and tells nobody to delete those that are left behind."""

    def stop(self, partition: Partition, brokers: list[int], live: dict[int, Any]) -> None:
        """Tell nobody."""


class NoWait(Moves):
    """It moves replicas, and does not wait until the new ones are in sync."""

    def move(self, partition: Partition, wanted: tuple[int, ...], live: dict[int, Any]) -> None:
        """All at once: what is in sync of RAR leads, or whoever is first."""
        self.assign(partition, wanted)
        self.decide(partition, [wanted[0]], wanted[0])
        self.stop(partition, [b for b in partition.replicas if b not in wanted and b in live], live)
        self.done(partition)


BUGS = {
    "deaf": Deaf,
    "in-a-multi": InAMulti,
    "deaf-in-a-multi": DeafInAMulti,
    "text-ids": TextIds,
    "no-rack": NoRack,
    "other-version": OtherVersion,
    "no-metadata": NoMetadata,
    "forgets-nobody": ForgetsNobody,
    "no-stop": NoStop,
    "no-wait": NoWait,
}

if __name__ == "__main__":
    main(BUGS[sys.argv[1]], sys.argv[2:])
