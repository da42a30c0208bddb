"""Which of a broker's processes wrote a line: where one life ends in its logs, and the next begins.

All lives of a broker write to the same files, with the broker's clock. That may be off ZooKeeper's, so that a process
gets its session, by ZooKeeper's clock, after its first lines, by its own. But each process says in controller.log that
its controller starts up, before it says anything else as a controller or handles any request: that is where its life
begins, by its own clock, however far this is off.

Where a life has no such line (it was killed before, or there is no controller.log, or it ends early), its first session
tells, and the death of the process before it: its life begins halfway between the two, as nobody wrote then.

Kafka 0.10.2.2: `KafkaServer.startup`, which starts the controller before the request handlers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_check.recordings.entries import Log, head_of
from model_check.recordings.processes import ProcessKilled
from model_check.recordings.recording import Observed
from model_check.recordings.tracks import SKEW
from model_check.recordings.zookeeper import SessionBegan, SessionEnded
from spec.logs.controller_log.failover import ControllerStarting


def lives_of(broker: int, observed: Sequence[Observed], reports: Log) -> tuple[int, ...]:
    """When each process of a broker begins to write, in milliseconds, by the clock of its logs, set right.

    `observed` are ZooKeeper's changes and what was done to the cluster; `reports` is the broker's controller.log.
    """
    begun = [one.time for one in observed if isinstance(one, SessionBegan) and one.by == broker and one.first]
    starts = list(_starts(reports))
    if len(starts) == len(begun):
        return tuple(starts)
    deaths = [one.time for one in observed if _is_death(one, broker)]
    return tuple(_begin(number, begun, starts, deaths) for number in range(len(begun)))


def _starts(reports: Log) -> Iterator[int]:
    """When a process said that its controller starts up."""
    for entry, line in reports.lines(having="Controller starting up"):
        if isinstance(line, ControllerStarting):
            yield head_of(entry)["time"]


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


def _is_death(one: Observed, broker: int) -> bool:
    """Whether this is the death of a broker's present process, or its session's end after that."""
    match one:
        case ProcessKilled():
            return one.broker == broker
        case SessionEnded():
            return one.by == broker and not (one.survived or one.superseded)
        case _:
            return False
