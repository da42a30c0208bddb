"""What a driven controller does, in a form that is the same for all that may differ.

A turn is what it does until it waits with nothing more to hear. It is given as a list: each write that was applied, in
order; what was sent between two writes as one element; each answer to a broker that asked for its controlled shutdown.
The order in which brokers are sent something does not matter, so `sent` has, by the name of the request, the brokers
that are sent the same, and what each of them is sent, in order; but requests to delete replicas, one right behind the
other, come of a set, so they are in the order of the replicas' names. A request to stop no replica is left out: older
releases send none.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias

from model_check.conformance.protocol import read_json
from model_check.conformance.vector import Object

NAMES: Final = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")


@dataclass(frozen=True)
class Wrote:
    """A write that was applied: `create`, `set` or `delete`, the path, and the data, None if there are none."""

    kind: str
    path: str
    data: bytes | None = None

    def told(self) -> Object:
        """As an element of a turn."""
        if self.kind == "delete":
            return {self.kind: self.path}
        data = read(self.data)
        if isinstance(data, dict):
            data.pop("timestamp", None)  # nobody reads it
        return {self.kind: self.path, "data": data}


@dataclass(frozen=True)
class Sent:
    """A request that was put on its way to a broker, in a vector's words."""

    to: int
    request: Object


@dataclass(frozen=True)
class Replied:
    """What a broker was answered that asked for its controlled shutdown."""

    reply: Object


Act: TypeAlias = Wrote | Sent | Replied


def read(data: bytes | None) -> Any:
    """The data of a znode as JSON, as text where they are not JSON, or None."""
    if data is None:
        return None
    text = data.decode(errors="replace")
    try:
        return read_json(text)
    except ValueError:
        return text


def written(data: Any) -> bytes | None:
    """The data of a znode that are given so."""
    if data is None:
        return None
    return (data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))).encode()


def turn(acts: Iterable[Act], compared: Collection[str] = NAMES) -> list[Object]:
    """What was done in a turn; requests of other names than those that are compared are left out."""
    told: list[Object] = []
    sent: list[Sent] = []
    for act in acts:
        if isinstance(act, Sent):
            if act.request["name"] in compared and not _stops_nothing(act.request):
                sent.append(act)
            continue
        told += _sent(sent, compared)
        sent = []
        told.append(act.told() if isinstance(act, Wrote) else {"reply": act.reply})
    return told + _sent(sent, compared)


def _stops_nothing(request: Object) -> bool:
    return request["name"] == "StopReplica" and not request["partitions"]


def _sent(sent: list[Sent], compared: Collection[str]) -> list[Object]:
    """What was sent between two writes, as one element; without any, none."""
    if not sent:
        return []
    return [{"sent": {name: _by_receivers(sent, name) for name in NAMES if name in compared}}]


def _by_receivers(sent: Iterable[Sent], name: str) -> list[Object]:
    """The brokers that are sent the same requests of a name, and these."""
    of_broker: dict[int, list[Object]] = {}
    for one in sent:
        if one.request["name"] == name:
            of_broker.setdefault(one.to, []).append({key: one.request[key] for key in one.request if key != "name"})
    groups: list[tuple[list[int], list[Object]]] = []
    for broker in sorted(of_broker):
        in_order = _deletions_by_name(of_broker[broker]) if name == "StopReplica" else of_broker[broker]
        same = next((to for to, requests in groups if requests == in_order), None)
        if same is None:
            groups.append(([broker], in_order))
        else:
            same.append(broker)
    return [{"to": to, "requests": requests} for to, requests in groups]


def _deletions_by_name(requests: list[Object]) -> list[Object]:
    """StopReplica requests in order, of which those that delete, one right behind the other, stand by replica."""
    runs = groupby(requests, key=lambda one: bool(one.get("delete")))
    return [one for deletes, run in runs for one in (sorted(run, key=_names) if deletes else run)]


def _names(request: Object) -> list[str]:
    return [*request["partitions"]]
