"""What a step of a controller writes to a log, to be compared with what its process wrote there next.

The rules say the lines where Kafka writes them, most of them on the thread that holds the controller's lock; so each
step has its own, in this order, and no other step may take them. What another thread writes meanwhile, without the
lock, may stand among them. (A process that is killed may not come to write them, and a log
that was copied early does not have them; but behind what is missing in a log that goes on, no more steps of that
process follow.) Where an older release writes otherwise, its lines are made of those of 0.10.2.

Kafka 0.10.2.2: `KafkaController`, `PartitionStateMachine`, `ReplicaStateMachine`, `ControllerBrokerRequestBatch`.
PROTOCOL.md sections 12.1 and 12.4.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, takewhile
from typing import NamedTuple

from model_check.recordings.recording import Cluster
from model_check.recordings.seen import MAY_BE_OFF, ControllerSaid
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.said_lines import Expected, Names
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.failover import Resigned
from spec.logs.controller_log.parts import ControllerLogLine, Thread
from spec.logs.controller_request_lines import UpdateMetadataSending


def _may_be_off(one: Expected) -> bool:
    return issubclass(one.kind, ControllerLogLine) and one.kind.level_at(V0102) in MAY_BE_OFF


def as_written(lines: Iterable[Expected], release: KafkaVersion, brokers: Sequence[int]) -> Iterator[Expected]:
    """The lines of 0.10.2 as a release writes them: without those that it lacks, as 0.8.2 does a resignation's end.

    Up to 0.10.1 UpdateMetadata has a line for each broker. `brokers` are all that may be told, where it is open who is.
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


class Match(NamedTuple):
    """What is a step's of the lines that come in a log, which of its lines do not come, and what comes behind it."""

    own: list[ControllerSaid]
    lacking: list[Expected]
    behind: ControllerSaid | None

    @property
    def fits(self) -> bool:
        """Whether all of its lines come, or the log ends among them."""
        return self.behind is None or not self.lacking

    @property
    def is_cut_short(self) -> bool:
        """Whether something that must be written does not come; a last resignation is not read."""
        return any(one.kind is not Resigned and not _may_be_off(one) for one in self.lacking)


class Writing:
    """The lines of a step in a log."""

    def __init__(self, expected: Sequence[Expected]) -> None:
        self._certain = [one for one in expected if not (one.perhaps or _is_late(one))]
        self._possible = [one for one in expected if one.perhaps]
        self._late = [one for one in expected if _is_late(one)]

    @property
    def must_say(self) -> bool:
        """Whether there is a line that it writes in any case."""
        return bool(self._certain or self._late)

    def match(
        self, lines: Iterable[ControllerSaid], may_come_between: Callable[[Thread], bool] = lambda _: False
    ) -> Match:
        """What is this step's of the lines that its process has yet to write, in their order.

        Those of a thread without the lock `may_come_between`: they are passed over, and the next step's.
        """
        certain, possible, own = list(self._certain), list(self._possible), list[ControllerSaid]()
        is_passed, coming, behind = False, iter(lines), None
        for line in coming:
            if not (is_passed and line.unlocked) and _takes(line, certain, possible):
                own.append(line)
            elif line.unlocked and may_come_between(line.unlocked):
                is_passed = True
            else:
                behind = line
                break
        late = list(self._late)
        if late and not certain:
            unlocked = (line for line in chain([behind] if behind else [], coming) if line.unlocked)
            own += (line for line in islice(unlocked, 1) if not is_passed and _takes(line, late, []))
        return Match(own, certain + late, behind)


def _is_late(one: Expected) -> bool:
    """Whether others may have written since its thread gave the lock back."""
    return issubclass(one.kind, ControllerLogLine) and one.kind.unlocked is Thread.DELETIONS


def _takes(line: ControllerSaid, certain: list[Expected], possible: list[Expected]) -> bool:
    """Whether a line is the next of those that certainly come, or one that may; what it is comes no more."""
    while True:
        found = next((one for one in _next(certain) if one.is_written_as(line.line)), None)
        if found is None and certain and _may_be_off(certain[0]) and certain[0].kind not in line.details:
            del certain[0]
            continue
        if found is not None:
            certain.remove(found)
            return True
        other = next((one for one in possible if one.is_written_as(line.line)), None)
        if other is not None:
            possible.remove(other)
        return other is not None


def _next(lines: Sequence[Expected]) -> Iterator[Expected]:
    """What may come next: a line, or one of the group that it is in."""
    if lines:
        group = lines[0].group
        yield from takewhile(lambda one: one.group == group, lines) if group else lines[:1]
