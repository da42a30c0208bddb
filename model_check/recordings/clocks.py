"""A broker's clock, and its lives: how far it is ahead of ZooKeeper's, and which process wrote a line.

Both are known by what follows from transactions: lines, here. A LeaderAndIsr arrives soon after its state was written,
and never before; and a controller says its new epoch when it has written it. So the least time between the two, over a
whole log, is how far the clocks are apart, except for the moment that it takes. A log in another time zone is one whose
clock is hours off. Less than `SKEW` is left as it is, for the search bears that. A clock that is ahead looks like slow
requests; so it takes more than one line to tell, and none that, if the clock is right, was written right after a start
of the broker: it is sent then what was written while it was away.

All lives of a broker write to the same files, with the broker's clock; a process gets its session, by ZooKeeper's
clock, maybe after its first lines, by its own. But each process says in controller.log that its controller starts up,
before it says anything else as a controller or handles any request: that is where its life begins, by its own clock,
however far this is off. Where a life has no such line (it was killed before, or there is no controller.log, or it ends
early), its first session tells, and the death of the process before it: its life begins halfway between the two, as
nobody wrote then.

Kafka 0.10.2.2: `KafkaServer.startup`, which starts the controller before the request handlers.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from model_check.recordings import seen
from model_check.recordings.entries import Log, head_of
from model_check.recordings.recording import Cluster, Observed
from model_check.recordings.sessions import broker_of
from model_check.recordings.tracks import SKEW, is_death
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_log.failover import ControllerStarting, EpochIncremented
from spec.logs.leader_and_isr_lines import LeaderAndIsrReceived

LEAST: Final = 2
"""How many lines must tell that a clock is ahead."""
AT_START: Final = 10_000
"""The milliseconds within which a broker that has a new session is sent what it hosts."""


def ahead_of_zookeeper(log: Log, reports: Log, cluster: Cluster, changes: Sequence[seen.ZooKeeperChange]) -> int:
    """The milliseconds by which the clock of a broker's state-change.log, and of its controller.log, is ahead."""
    broker = cluster.broker(broker_of(log.file))
    writes = list(_written(changes, broker))
    often = Counter(event for event, _ in writes)
    written = {event: time for event, time in writes if often[event] == 1}
    starts = [one.time for one in changes if isinstance(one, seen.SessionBegan) and one.by == broker]
    pairs = [(written[event], time) for event, time in _told(log, reports, cluster) if event in written]
    return ahead_by(pairs, starts)


def ahead_by(pairs: Sequence[tuple[int, int]], starts: Sequence[int]) -> int:
    """The milliseconds by which a clock is ahead, 0 if it is at most `SKEW` off, or nobody can tell.

    Each pair is when something was written, by ZooKeeper's clock, and when it was logged, by this; `starts` is when
    sessions began.
    """
    behind = min((after - before for before, after in pairs), default=0)
    if behind < -SKEW:
        return behind
    fresh = [
        after - before
        for before, after in pairs
        if not any(before < start <= after <= start + AT_START for start in starts)
    ]
    least = min(fresh, default=0)
    return least if least > SKEW and len(fresh) >= LEAST else 0


def _written(changes: Iterable[seen.ZooKeeperChange], broker: int) -> Iterator[tuple[Hashable, int]]:
    """When each state was written, and each epoch of this broker's."""
    for one in changes:
        match one:
            case seen.StateWritten():
                yield (one.partition, *_epochs(one.state)), one.time
            case seen.EpochWritten(by=by) if by == broker:
                yield one.epoch, one.time


def _told(log: Log, reports: Log, cluster: Cluster) -> Iterator[tuple[Hashable, int]]:
    """The states that a broker was sent, and the epochs that it came to as controller, with its clock."""
    for entry, line in log.lines(having=" received LeaderAndIsr request "):
        if isinstance(line, LeaderAndIsrReceived) and line.partition in cluster.partitions:
            yield (cluster.partition(line.partition), *_epochs(line.state.leadership)), head_of(entry)["time"]
    for entry, line in reports.lines(having=" incremented epoch to "):
        if isinstance(line, EpochIncremented):
            yield line.epoch, head_of(entry)["time"]


def _epochs(leadership: LeaderIsrAndControllerEpoch) -> tuple[int, int, int]:
    return leadership.zk_version, leadership.leader_epoch, leadership.controller_epoch


def lives_of(broker: int, observed: Sequence[Observed], reports: Log) -> tuple[int, ...]:
    """When each process of a broker begins to write, in milliseconds, by the clock of its logs, set right.

    `observed` are ZooKeeper's changes and what was done to the cluster; `reports` is the broker's controller.log.
    """
    begun = [one.time for one in observed if isinstance(one, seen.SessionBegan) and one.by == broker and one.first]
    lines = reports.lines(having="Controller starting up")
    starts = [head_of(entry)["time"] for entry, line in lines if isinstance(line, ControllerStarting)]
    if len(starts) == len(begun):
        return tuple(starts)
    deaths = [one.time for one in observed if is_death(one, broker)]
    return tuple(_begin(number, begun, starts, deaths) for number in range(len(begun)))


def _begin(number: int, begun: Sequence[int], starts: Sequence[int], deaths: Sequence[int]) -> int:
    """When a life begins that may have no line of its start: as it says, or between the last death and its session."""
    session = begun[number]
    next_session = min(begun[number + 1 :], default=None)
    for start in starts:
        if session - SKEW <= start and (next_session is None or start < next_session - SKEW):
            return start
    before = begun[number - 1] if number else 0
    death = min((time for time in deaths if before < time <= session), default=session)
    return (death + session) // 2
