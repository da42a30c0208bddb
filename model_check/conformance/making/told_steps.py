"""Steps in a vector's words: what the driven controller has done by one, or what has happened."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from model_check.conformance.driving.acts import Act, Replied, Sent, Wrote, read
from model_check.conformance.making.who_acts import DRIVEN, LOOKS
from model_check.conformance.request_words import words_with_epoch
from model_check.conformance.vector import Object
from reference.journal import Entry, Fate, FateMet, RequestSent, ShutdownAnswered
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.zookeeper.transactions import Change, DataSet, NodeCreated, NodeDeleted, SessionClosed
from spec.formats.json_requests import body_to_json
from spec.formats.kafka_types import V0102
from spec.formats.request_schemas import api_version

OF_BROKERS: Final = {
    "crash": "down", "leave_cluster": "down", "close_failed_startup": "down", "start_process": "up",
    "register_broker": "register", "renew_session": "renew_session", "request_shutdown": "shutdown",
}  # fmt: skip
"""What happens to a broker, by the name that it has in a script."""


def acts_of(changes: Iterable[Change], entries: Iterable[Entry]) -> Iterator[Act]:
    """What the controller has done: it writes first, then it sends."""
    for change in changes:
        match change:
            case NodeCreated(path=path, data=data):
                yield Wrote("create", path, data)
            case DataSet(path=path, data=data):
                yield Wrote("set", path, data)
            case NodeDeleted(path=path):
                yield Wrote("delete", path)
            case _:
                pass
    for entry in entries:
        match entry:
            case RequestSent(controller, broker, queued, True) if controller == DRIVEN:
                request = queued.request
                yield Sent(broker, words_with_epoch(body_to_json(request, api_version(request.api_key, V0102))))
            case ShutdownAnswered(controller, _, response) if controller == DRIVEN:
                remaining = sorted(f"{one.topic}-{one.partition}" for one in response.partitions_remaining)
                yield Replied({"error": int(response.error_code), "remaining": remaining})
            case _:
                pass


def items_of(choice: Choice, changes: Sequence[Change], cluster: MemoryCluster) -> Iterator[Object]:
    """What has happened, as items of a script."""
    given = dict(choice.parameters)
    if choice.rule in OF_BROKERS and given.get("c", DRIVEN) == DRIVEN:
        yield {OF_BROKERS[choice.rule]: given["b"]}
    if choice.rule == LOOKS:
        yield {"rebalance": True}
    if choice.rule == "register_broker":
        return  # its znode is part of that
    ended = [one.process for one in cluster.entries if isinstance(one, FateMet) and one.fate is Fate.SESSION_ENDED]
    for change in changes:
        match change:
            case NodeCreated(path=path, data=data, ephemeral_owner=session):
                owner = {"owner": _owner(cluster, session)} if session else {}
                yield {"create": path, "data": read(data), **owner}
            case DataSet(path=path, data=data):
                yield {"set": path, "data": read(data)}
            case NodeDeleted(path=path):
                yield {"delete": path}
            case SessionClosed():
                yield {"end_session": ended.pop(0)}
            case _:
                pass


def _owner(cluster: MemoryCluster, session: int) -> int:
    return next(b for b, one in cluster.processes.items() if session in (one.session, one.orphan))
