"""What arrived at a broker, from its log, where that is of a documented release: each request that it handled.

An answer is what the lines say became of the request, and is right behind it, for a broker handles one at a time. The
sender of a StopReplica is not logged, nor, up to 0.9.0, the version of a state. A recording that cannot be read as a
whole tells nothing here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from model_check.monitors.arrivals import NOT_TOLD, Answer, Arrival, Received, in_no_order
from model_check.monitors.contents import State
from model_check.recordings.recording import Cluster, Recording
from model_check.recordings.seen import Handled, ReplicaStopped, RequestHandled, StopReplicaRefused
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.formats.request_schemas import ApiKey

KINDS: Final[Mapping[str, ApiKey]] = {"LeaderAndIsr": ApiKey.LEADER_AND_ISR, "UpdateMetadata": ApiKey.UPDATE_METADATA}
CODES: Final[Mapping[str, ErrorCode]] = {
    "ignored": ErrorCode.STALE_CONTROLLER_EPOCH,
    "unassigned": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
"""Outcomes that are answered with an error of their partition."""

REMOVED: Final = State(controller_epoch=-1, leader=LEADER_DURING_DELETE, leader_epoch=-1, isr=())
"""What a broker's line tells of a partition that is removed from its cache: nothing but that."""


def received_by_log(recording: Recording, brokers: Sequence[int]) -> dict[int, Received]:
    """What these brokers say in their logs that they handled, as far as the recording was read."""
    cut = "" if recording.cut is None else f"the recording is read up to {recording.cut.place} only"
    received = {}
    for broker in brokers:
        handled = recording.tracks.get(f"broker {broker}")
        if handled is not None:
            of_it = _Log(recording.cluster, broker)
            told = (of_it.arrival(one, order) for order, one in enumerate(handled) if isinstance(one, Handled))
            requests = tuple(filter(None, told))
            unreadable = cut or ("" if requests else "its log tells of none")
            received[broker] = Received(requests, unreadable=unreadable, is_documented=True)
    return received


@dataclass(frozen=True)
class _Log:
    """A broker's log, whose brokers and partitions are numbered as in the specification."""

    cluster: Cluster
    broker: int

    def arrival(self, one: Handled, order: int) -> Arrival | None:
        """A request that was handled."""
        arrival = partial(
            Arrival, place=one.place, ms=one.time, order=2 * order, broker=self.broker, incarnation=one.incarnation
        )
        stop, answer = partial(arrival, kind=ApiKey.STOP_REPLICA, controller=None), partial(Answer, 2 * order + 1)
        match one:
            case RequestHandled():
                return self._request(one, arrival, answer)
            case ReplicaStopped(partition=partition, delete=delete, codes=codes):
                stopped = frozenset({self.cluster.partitions[partition]})
                answered = answer(ErrorCode.NONE, dict.fromkeys(stopped, *codes)) if len(codes) == 1 else None
                return stop(epoch=None, stopped=stopped, delete=delete, answer=answered)
            case StopReplicaRefused(epoch=epoch):
                return stop(epoch=epoch, answer=answer(ErrorCode.STALE_CONTROLLER_EPOCH, {}))
        return None

    def _request(
        self, one: RequestHandled, arrival: Callable[..., Arrival], answer: Callable[[int, Mapping[Any, int]], Answer]
    ) -> Arrival:
        key, name = KINDS[one.kind], self.cluster.partitions
        codes = {name[p]: CODES.get(outcome, ErrorCode.NONE) for p, outcome in one.outcomes.items()}
        said = {name[p]: self._told(state, key) for p, state in {**one.told, **one.states}.items()}
        return arrival(
            kind=key,
            controller=self._id(one.controller),
            epoch=one.epoch,
            states=said | {name[p]: REMOVED for p in one.removed},
            answer=answer(ErrorCode.STALE_CONTROLLER_EPOCH if one.refused else ErrorCode.NONE, codes),
        )

    def _told(self, state: State, key: ApiKey) -> State:
        version = state.zk_version if key is ApiKey.LEADER_AND_ISR and state.zk_version >= 0 else NOT_TOLD
        isr = tuple(map(self._id, state.isr))
        return in_no_order(replace(state, leader=self._id(state.leader), isr=isr, zk_version=version))

    def _id(self, number: int) -> int:
        return self.cluster.broker_ids[number - 1] if number else -1
