"""When the cluster was at rest, by what was done to it (`recordings/actions.py`).

    {"ms": 1795201009071, "action": "at-rest", "zxid": "0x2f"}

Whoever made the recording writes that at moments when nothing moves any more; `zxid` is the last transaction by then,
if it is known. Where nobody has, the end of the recording is one if it is quiet, all processes run, and the last fault
is long enough ago; an older recording's looks at the tree or the disks are, too. While a process is paused others may
wait for it, so that is no rest.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final

from model_check.recordings.actions import ACTIONS, AT_REST, NOTE, Act, read_actions
from model_check.recordings.sessions import session_id

LOOKS: Final = ("observe-znodes", "observe-log-dirs")
END: Final = "(end of recording)"
TOLD_TO_STOP, EXITED = "broker-sigterm (controlled shutdown)", "broker-exited"
ENDS: Final = ("broker-kill-9", TOLD_TO_STOP, EXITED)
"""Acts after which a broker is up only once it registers anew."""
START: Final = "broker-start"
STOPPED, RESUMED = "broker-sigstop", "broker-sigcont"
HARMLESS: Final = ("observe-", NOTE, "seed", "produce", "jstack", "end", AT_REST)
"""How acts begin that change nothing."""
QUIET: Final = 2000
"""Milliseconds without a transaction or a request at the end of a recording that is at rest."""
SETTLED: Final = 5000
"""Milliseconds since the last fault or command, there."""


@dataclass(frozen=True)
class Rest:
    """A moment of rest, behind a transaction if that is known.

    A broker that is `down` is up only if it has registered after the time given there. The processes of those `running`
    have been started, and not ended since.
    """

    place: str
    ms: int
    down: Mapping[int, float]
    zxid: int | None = None
    running: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Acts:
    """The moments of rest; `reason` says why there are none. `is_told`: they were written down as such.

    `stops` are the times (ms) at which each broker was stopped where it was, and when that ended; `ends` those at
    which each was killed, or told to stop; `departures` those at which one was told to stop in order, and was gone.
    """

    rests: tuple[Rest, ...] = ()
    reason: str = "nothing tells when the cluster was at rest"
    is_told: bool = False
    stops: Mapping[int, Sequence[tuple[float, float]]] = field(default_factory=dict)
    ends: Mapping[int, Sequence[int]] = field(default_factory=dict)
    departures: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)

    def is_stopped(self, broker: int, start: float, end: float) -> bool:
        """Whether a broker was stopped at some time between these."""
        return any(stopped <= end and start <= ended for stopped, ended in self.stops.get(broker, ()))

    def is_let_alone(self, broker: int, start: float, end: float) -> bool:
        """Whether nothing was done to a broker between these times."""
        is_ended = any(start <= one <= end for one in self.ends.get(broker, ()))
        return not is_ended and not self.is_stopped(broker, start, end)


def read_acts(folder: Path, moves: Sequence[int]) -> Acts:
    """The moments of rest in a recording, in which something moved at `moves`; MalformedInput names a wrong line."""
    log = read_actions(folder)
    if log is None:
        return Acts(reason=f"there is no {ACTIONS} that tells when the cluster was at rest")
    acts = log.acts
    is_told = any(one.action == AT_REST for one in acts)
    rests = tuple(_told(acts) if is_told else _found(acts, moves))
    reason = "" if rests else "at no moment the cluster is known to have been at rest"
    return Acts(rests, reason, is_told, _stops(acts), _ends(acts), _departures(acts))


def admin_sessions(folder: Path) -> frozenset[int]:
    """Whose sessions an admin's are, where `kcheck live` wrote that down: there, all others are members'."""
    log = read_actions(folder)
    told = (one.admin_session for one in (log.acts if log else ()))
    return frozenset(session_id(one) for one in told if one is not None)


def _told(acts: Sequence[Act]) -> Iterator[Rest]:
    for number, one in enumerate(acts):
        down = _down(acts[:number])
        if one.action == AT_REST and inf not in down.values():
            started = {act.broker for act in acts[:number] if act.action == START and act.broker is not None}
            yield Rest(one.place, one.ms, down, one.zxid, frozenset(started - down.keys()))


def _found(acts: Sequence[Act], moves: Sequence[int]) -> Iterator[Rest]:
    """The end, and the looks at the tree, where nothing moves, nobody is down, and nothing was done lately."""
    end = next((number for number, one in enumerate(acts) if END in one.action or one.action == "end"), len(acts))
    for number, one in enumerate(acts[: end + 1]):
        if number != end and one.action not in LOOKS:
            continue
        done = [other.ms for other in acts[:number] if not other.action.startswith(HARMLESS)]
        is_quiet = bisect_left(moves, one.ms - QUIET) == bisect_left(moves, one.ms)
        if not _down(acts[:number]) and is_quiet and one.ms - max(done, default=0) >= SETTLED:
            yield Rest(one.place, one.ms, {})


def _down(acts: Iterable[Act]) -> Mapping[int, float]:
    """The brokers killed, stopped or paused and not started again; a paused one is not up whatever it registers."""
    down: dict[int, float] = {}
    for one in acts:
        if one.broker is None:
            continue
        if one.action in ENDS:
            down[one.broker] = one.ms
        elif one.action == STOPPED:
            down[one.broker] = inf
        elif one.action in {START, RESUMED}:
            down.pop(one.broker, None)
    return down


def _stops(acts: Iterable[Act]) -> dict[int, list[tuple[float, float]]]:
    """From when until when each broker was stopped; one that is never resumed, for ever."""
    stops: dict[int, list[tuple[float, float]]] = {}
    for one in acts:
        if one.broker is None:
            continue
        of_it = stops.setdefault(one.broker, [])
        if one.action == STOPPED:
            of_it.append((one.ms, inf))
        elif one.action in {START, RESUMED, *ENDS} and of_it and of_it[-1][1] == inf:
            of_it[-1] = (of_it[-1][0], one.ms)
    return stops


def _ends(acts: Iterable[Act]) -> dict[int, list[int]]:
    """When each broker was killed, told to stop, or gone."""
    ends = dict[int, list[int]]()
    for one in acts:
        if one.broker is not None and one.action in ENDS:
            ends.setdefault(one.broker, []).append(one.ms)
    return ends


def _departures(acts: Iterable[Act]) -> dict[int, list[tuple[int, int]]]:
    """When each broker was told to stop in order, and was gone, where nothing else was done to it in between."""
    departures, told = dict[int, list[tuple[int, int]]](), dict[int, int]()
    for one in acts:
        if one.broker is None:
            continue
        since = told.pop(one.broker, None)
        if one.action == TOLD_TO_STOP:
            told[one.broker] = one.ms
        elif one.action == EXITED and since is not None:
            departures.setdefault(one.broker, []).append((since, one.ms))
    return departures
