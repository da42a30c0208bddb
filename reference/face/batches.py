"""What is added to a batch of requests, from plain dictionaries."""

from collections.abc import Callable
from typing import Any, Final

from reference.controller.batch import add_leader_and_isr, add_update_metadata
from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.face import givens
from spec.errors import BadInput, Where

KINDS: Final = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")


def added(one: KafkaController, batch: RequestBatch, told: givens.Given) -> None:
    """Add what is given; BadInput names the key that is wrong, or a partition that has no leadership."""
    kind = told.require("kind", givens.text)
    if kind == "UpdateMetadata":
        brokers = told.get("brokers", _or_none(givens.numbers), None)
        partitions = told.get("partitions", _or_none(givens.partitions), None)
        told.refuse_others()
        add_update_metadata(one, batch, partitions, brokers=None if brokers is None else frozenset(brokers))
        return
    if kind not in KINDS:
        raise BadInput(f"{kind} is no request of a batch; expected one of {', '.join(KINDS)}")
    receivers, partition = told.require("brokers", givens.numbers), told.require("partition", givens.partition)
    if kind == "StopReplica":
        delete = told.get("delete", givens.flag, False)
        told.refuse_others()
        batch.add_stop_replica(receivers, partition, delete=delete, calls_back=delete)
        return
    told.refuse_others()
    known = one.context.partition_leadership_info.get(partition)
    if known is None:
        raise BadInput(f"{partition} has no leadership to be sent; name it in `leadership`")
    add_leader_and_isr(one, batch, receivers, partition, known)


def _or_none(read: Callable[[Any, Where], Any]) -> Callable[[Any, Where], Any]:
    return lambda told, where: None if told is None else read(told, where)
