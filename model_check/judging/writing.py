"""What a step of a controller writes to a log, to be compared with what its process wrote there next.

The rules say the lines where Kafka writes them, most of them on the thread that holds the controller's lock; so each
step has its own, in this order, and no other step may take them. What other threads write is matched by itself. (A
process that is killed may not come to write them, and a log that was copied early does not have them; but behind what
is missing in a log that goes on, no more steps of that process follow.) Where an older release writes otherwise, its
lines are made of those of 0.10.2.

Kafka 0.10.2.2: `KafkaController`, `PartitionStateMachine`, `ReplicaStateMachine`, `ControllerBrokerRequestBatch`.
PROTOCOL.md sections 12.1 and 12.4.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from model_check.recordings.recording import Cluster
from model_check.recordings.seen import MAY_BE_OFF, ControllerSaid
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.said_lines import Expected, Names
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.failover import Resigned
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_request_lines import UpdateMetadataSending


def _may_be_off(one: Expected) -> bool:
    return issubclass(one.kind, ControllerLogLine) and one.kind.level_at(V0102) in MAY_BE_OFF


def as_written(lines: Iterable[Expected], release: KafkaVersion, brokers: Sequence[int]) -> Iterator[Expected]:
    """The lines of 0.10.2 as a release writes them: without those that it lacks, as 0.8.2 does a resignation's end.

    Up to 0.10.1 UpdateMetadata has a line for each broker. `brokers` are all that may be sent it, where it is open
    which are.
    """
    for one in lines:
        if one.kind is UpdateMetadataSending and release < V0102:
            told = one.fields.get("brokers", brokers)
            assert isinstance(told, Iterable)  # noqa: S101 - a line names a set of brokers
            yield from (replace(one, known=partial(dict, one.fields, brokers=(broker,))) for broker in told)
        elif release in one.kind.templates:
            yield one


def names_of(cluster: Cluster, system: OpenSystem) -> Names:
    """The names that the lines of a recorded cluster have."""
    return Names(cluster.broker_ids, cluster.topics, cluster.partitions, system.model.brokers)


class Writing:
    """The lines of a step in a log."""

    def __init__(self, expected: Sequence[Expected]) -> None:
        self._certain = [one for one in expected if not one.perhaps]
        self._possible = [one for one in expected if one.perhaps]

    @property
    def must_say(self) -> bool:
        """Whether there is a line that it writes in any case."""
        return bool(self._certain)

    def taken(self, lines: Sequence[ControllerSaid]) -> int | None:
        """How many of the lines that its process has yet to write are this step's; None if one of its lines differs."""
        count, left = self.matched(lines)
        return count if count == len(lines) or not left else None

    def is_cut_short(self, lines: Sequence[ControllerSaid]) -> bool:
        """Whether something that must be written is not among these lines; a last resignation is not read."""
        _, left = self.matched(lines)
        return any(one.kind is not Resigned and not _may_be_off(one) for one in left)

    def matched(self, lines: Sequence[ControllerSaid]) -> tuple[int, list[Expected]]:
        """How many lines come in the order of the step, and which lines of the step do not."""
        certain, possible, count = list(self._certain), list(self._possible), 0
        while count < len(lines):
            line = lines[count]
            next_one = next((one for one in _next(certain) if one.is_written_as(line.line)), None)
            if next_one is not None:
                certain.remove(next_one)
            elif certain and _may_be_off(certain[0]) and certain[0].kind not in line.details:
                del certain[0]
                continue
            else:
                other = next((one for one in possible if one.is_written_as(line.line)), None)
                if other is None:
                    break
                possible.remove(other)
            count += 1
        return count, certain


def _next(lines: Sequence[Expected]) -> Iterator[Expected]:
    """What may come next: a line, or one of the group that it is in."""
    if lines:
        group = lines[0].group
        yield from takewhile(lambda one: one.group == group, lines) if group else lines[:1]
