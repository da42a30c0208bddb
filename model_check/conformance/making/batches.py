"""A batch of requests: what is added to it, and what is sent of that, to whom and in which order.

Expected is what PROTOCOL.md section 9 says: all LeaderAndIsr, then all UpdateMetadata, then all StopReplica; a
partition's leadership goes to its brokers, and its metadata to all registered ones; that a partition is being deleted
goes to all, whatever is asked for; the older releases differ in what they group, and in what they send empty. Before
0.10.2 no batch of Kafka's tells different brokers of different partitions, so that is not asked there.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V0102

DOOMED: Final = {"leader": -2, "leader_epoch": 0, "zk_version": 0}
"""What is sent of a partition that is being deleted, beside the rest."""
LATEST: Final = since(V0102)
OLDEST: Final[tuple[Dialect, ...]] = ("as-coded-0.8.2",)
MIDDLE: Final[tuple[Dialect, ...]] = tuple(one for one in DIALECTS if one not in (*LATEST, *OLDEST))
EARLIER: Final = (*OLDEST, *MIDDLE)
PARTITIONS: Final[Object] = {
    "orders-0": {"assigned": [1, 2, 3], "leadership": {
        "leader": 1, "leader_epoch": 4, "isr": [1, 3], "controller_epoch": 2, "zk_version": 9}},
    "orders-1": {"assigned": [3, 1], "leadership": {
        "leader": 3, "leader_epoch": 0, "isr": [3, 1], "controller_epoch": 5, "zk_version": 0}},
    "more-0": {"assigned": [2], "leadership": {
        "leader": -1, "leader_epoch": 7, "isr": [2], "controller_epoch": 5, "zk_version": 12}},
    "new-0": {"assigned": [2, 3], "leadership": None},
}  # fmt: skip


def leads(brokers: Sequence[int], partition: str) -> Object:
    """LeaderAndIsr of a partition is added for brokers."""
    return {"kind": "LeaderAndIsr", "brokers": [*brokers], "partition": partition}


def tells(brokers: Sequence[int] | None, partitions: Sequence[str] | None) -> Object:
    """UpdateMetadata of partitions is added for brokers; of all, for all, where None is named."""
    named = None if partitions is None else [*partitions]
    return {"kind": "UpdateMetadata", "brokers": None if brokers is None else [*brokers], "partitions": named}


def stops(brokers: Sequence[int], partition: str, *, delete: bool = False) -> Object:
    """StopReplica of a replica is added for brokers; one that deletes calls back."""
    return {"kind": "StopReplica", "brokers": [*brokers], "partition": partition, "delete": delete}


def batch_cases() -> Iterator[Case]:
    """Each kind by itself, then together; twice; to a broker that is not there; of what is deleted, or unknown."""
    yield from _of("nothing", [])
    for partition in ("orders-0", "orders-1", "more-0"):
        yield from _of(f"LeaderAndIsr of {partition} for all", [leads([1, 2, 3], partition)])
    yield from _of("LeaderAndIsr for one broker", [leads([2], "orders-0")])
    yield from _of("LeaderAndIsr for nobody", [leads([], "orders-0")])
    yield from _of("LeaderAndIsr for ids below 0", [leads([-1, 3, -2], "orders-0")])
    yield from _of("LeaderAndIsr for who is not registered", [leads([4, 1], "orders-0")])
    yield from _of("LeaderAndIsr twice", [leads([1, 2], "orders-0"), leads([2, 3], "orders-0")])
    both = [leads([1, 3], "orders-1"), leads([1, 2], "orders-0")]
    yield from _of("LeaderAndIsr of two partitions", both)
    yield from _of("LeaderAndIsr while a broker shuts down", both, live=[1, 2], shutting_down=[3])
    yield from _of("LeaderAndIsr of a leader that is gone", both, live=[1, 2])
    for partitions in (["orders-0"], ["orders-0", "more-0"], None):
        yield from _of(f"UpdateMetadata of {partitions or 'all'}", [tells(None, partitions)])
        yield from _of(f"UpdateMetadata of {partitions or 'all'} for two", [tells([1, 3], partitions)])
    unknown = [tells(None, ["new-0"])]
    yield from _of("UpdateMetadata of what has no leadership", unknown)
    yield from _of("UpdateMetadata of nothing that is known", [tells(None, None)], partitions={})
    yield from _of("UpdateMetadata of what has none, and of what has", [tells(None, ["new-0", "orders-1"])])
    yield from _of("UpdateMetadata of what is deleted", [tells(None, ["orders-0"])], deleting=["orders"])
    yield from _of("UpdateMetadata of another than is deleted", [tells(None, ["more-0"])], deleting=["orders"])
    yield from _of("UpdateMetadata of all while some are deleted", [tells(None, None)], deleting=["orders"])
    yield from _of("UpdateMetadata of what has none while some are deleted", unknown, deleting=["orders"])
    yield from _of("LeaderAndIsr of what is deleted", [leads([1, 2], "orders-0")], deleting=["orders"])
    for delete in (False, True):
        words = "to delete" if delete else "to stop"
        yield from _of(f"StopReplica {words}", [stops([2], "orders-0", delete=delete)])
        yield from _of(f"StopReplica {words} for two", [stops([3, 2], "orders-0", delete=delete)])
        two = [stops([3], "orders-1", delete=delete), stops([3], "orders-0", delete=delete)]
        yield from _of(f"StopReplica {words} of two", two)
        yield from _of(f"StopReplica {words} for ids below 0", [stops([-1], "orders-0", delete=delete)])
        yield from _of(f"StopReplica {words} for who is not there", [stops([4], "orders-0", delete=delete)])
    mixed = [stops([3], "orders-1", delete=True), stops([3], "orders-0"), stops([3], "more-0", delete=True)]
    yield from _of("StopReplica to delete, to stop, and to delete", mixed)
    yield from _of("StopReplica to stop twice", [stops([3], "orders-0"), stops([3], "orders-0")], dialects=LATEST)
    yield from _of("all three, added in the other order", [stops([2], "orders-0"), tells(None, ["more-0"]), *both])
    yield from _of("LeaderAndIsr, and StopReplica for the same", [leads([1, 3], "orders-0"), stops([1], "orders-0")])
    apart = [tells([1], ["orders-0"]), tells([2], ["more-0"])]
    yield from _of("UpdateMetadata of one for one, of another for another", apart, dialects=LATEST)
    nobody = [tells([], ["orders-0"]), tells([2], ["more-0"])]
    yield from _of("UpdateMetadata of one for nobody, of another for one", nobody, dialects=LATEST)
    hyphens = {"a-b-0": PARTITIONS["orders-0"], "a-0": PARTITIONS["orders-1"], "a-b-10": PARTITIONS["more-0"]}
    yield from _of("topics with hyphens, one is deleted", [tells(None, ["a-0"])], partitions=hyphens, deleting=["a-b"])
    yield from _of("topics with hyphens, the other is deleted", [tells(None, None)], partitions=hyphens, deleting=["a"])


def _of(
    words: str,
    adds: Sequence[Object],
    *,
    live: Sequence[int] = (1, 2, 3),
    shutting_down: Sequence[int] = (),
    deleting: Sequence[str] = (),
    partitions: Object = PARTITIONS,
    dialects: Sequence[Dialect] = DIALECTS,
) -> Iterator[Case]:
    """A case for all dialects that agree, or several."""
    given: Object = {
        "controller_epoch": 5, "live": [*live], "shutting_down": [*shutting_down], "deleting": [*deleting],
        "partitions": partitions, "adds": [*adds],
    }  # fmt: skip
    found: list[tuple[Object, list[Dialect]]] = []
    for group in (LATEST, MIDDLE, OLDEST):
        outcome = {"requests": Sent(given, group).requests()}
        same = next((those for known, those in found if known == outcome), None)
        named = [one for one in group if one in dialects]
        if same is None:
            found.append((outcome, named))
        else:
            same += named
    for outcome, those in found:
        if those:
            yield Case(
                "send_batch", f"A batch: {words}", given, [outcome],
                ["PROTOCOL.md section 9", "ControllerBrokerRequestBatch"], ["batches"],
                tuple(one for one in DIALECTS if one in those),
            )  # fmt: skip


class Sent:
    """What is sent of a batch in some dialects, by broker."""

    def __init__(self, given: Object, dialects: Sequence[Dialect]) -> None:
        self.given, self.dialects = given, dialects
        self.registered = sorted({*given["live"], *given["shutting_down"]})
        self.led: dict[int, list[str]] = {}
        self.told: dict[int, list[str]] = {}
        self.added: list[str] = []
        self.stopped: dict[int, list[Object]] = {}

    def requests(self) -> list[Object]:
        """For each broker its requests, in order; nothing for one that is not registered, since there is no channel."""
        for one in self.given["adds"]:
            self._add(one)
        sent: list[Object] = []
        for broker in self.registered:
            requests: list[Object] = []
            if broker in self.led:
                requests.append(self._leader_and_isr(self.led[broker]))
            if broker in self.told:
                names = self.added if self.dialects == LATEST else self.told[broker]
                if names or self.dialects != OLDEST:
                    requests.append(self._metadata(names))
            requests += self._stops(self.stopped.get(broker))
            if requests:
                sent.append({"to": broker, "sent": requests})
        return sent

    def _add(self, one: Object) -> None:
        if one["kind"] == "LeaderAndIsr":
            for broker in (b for b in one["brokers"] if b >= 0):
                self.led.setdefault(broker, []).append(one["partition"])
            self._tell(self.registered, [one["partition"]])
        elif one["kind"] == "UpdateMetadata":
            self._tell(self.registered if one["brokers"] is None else one["brokers"], one["partitions"])
        else:
            for broker in (b for b in one["brokers"] if b >= 0):
                self.stopped.setdefault(broker, []).append(one)

    def _tell(self, brokers: Sequence[int], partitions: Sequence[str] | None) -> None:
        known = self.given["partitions"]
        led = [name for name, one in known.items() if one["leadership"] is not None]
        asked = [name for name in (led if partitions is None else partitions) if not self._is_doomed(name)]
        names = [name for name in asked if name in led] + [name for name in led if self._is_doomed(name)]
        if not names and asked and self.dialects != LATEST:
            return  # KAFKA-4415
        self.added += names
        for broker in brokers:
            self.told.setdefault(broker, []).extend(names)

    def _is_doomed(self, name: str) -> bool:
        return name.rsplit("-", 1)[0] in self.given["deleting"]

    def _state(self, name: str, **changes: int) -> Object:
        one = self.given["partitions"][name]
        return {"partition": name, **one["leadership"], "replicas": sorted(one["assigned"]), **changes}

    def _leader_and_isr(self, names: Sequence[str]) -> Object:
        states = [self._state(name) for name in sorted({*names})]
        leaders = sorted({one["leader"] for one in states} & {*self.registered})
        return {"name": "LeaderAndIsr", "partitions": states, "live_leaders": leaders}

    def _metadata(self, names: Sequence[str]) -> Object:
        states = [self._state(name, **(DOOMED if self._is_doomed(name) else {})) for name in sorted({*names})]
        return {"name": "UpdateMetadata", "partitions": states, "live_brokers": self.registered}

    def _stops(self, entries: Sequence[Any] | None) -> list[Object]:
        if entries is None:
            return []
        if self.dialects != LATEST:
            return [_stop([one["partition"]], delete=one["delete"]) for one in entries]
        grouped = sorted({one["partition"] for one in entries if not one["delete"]})
        alone = [_stop([one["partition"]], delete=True) for one in entries if one["delete"]]
        return [_stop(grouped, delete=False), *alone]


def _stop(partitions: Sequence[str], *, delete: bool) -> Object:
    return {"name": "StopReplica", "delete": delete, "partitions": [*partitions]}
