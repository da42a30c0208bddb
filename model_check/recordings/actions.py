"""What was done to the cluster while it was recorded: `actions.jsonl`, which whoever made the recording may write.

    {"ms": 1795201009071, "action": "broker-kill-9", "broker": 1}
    {"ms": 1795201021540, "action": "at-rest", "zxid": "0x2f"}

One act a line, in the order in which they were done. Each has a time and a name; the fields read here are the broker
that it was done to, which no act called `broker-...` lacks; at rest, the last transaction by then; of a note that tells
that a fault of a live run begins, its number and kind; and as ZooKeeper starts, the session of the admin tool. Others
are for people.

Kills, pauses and stops are observations. What is done to a broker must be known, for it may be the cause of what
follows. An act that names no broker shows by what it causes, or not at all, and is passed over if nobody heard of it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from model_check.recordings.entries import TORN_END
from model_check.recordings.recording import Cluster, Observed
from model_check.recordings.seen import ProcessKilled, ProcessPaused, ProcessStopping
from spec.errors import MalformedInput

ACTIONS: Final = "actions.jsonl"
AT_REST: Final = "at-rest"
"""Nothing moves any more."""
NOTE: Final = "note"
"""For people; with a number and a kind, it tells that a fault begins."""
DONE_TO_A_BROKER: Final = "broker-"


@dataclass(frozen=True)
class Act:
    """Something that was done, to a broker or to none; `text` is the beginning of its line."""

    place: str
    ms: int
    action: str
    broker: int | None = None
    zxid: int | None = None
    number: int | None = None
    kind: str | None = None
    admin_session: str | None = None
    text: str = ""


@dataclass(frozen=True)
class ActionLog:
    """The acts in their order; `is_torn`: the file ends in an incomplete line; its writer may have been killed."""

    acts: tuple[Act, ...]
    is_torn: bool = False


def read_actions(folder: Path) -> ActionLog | None:
    """The acts that a recording tells, None if it has no such file; MalformedInput names the line that is not one."""
    file = folder / ACTIONS
    if not file.exists():
        return None
    acts: list[Act] = []
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                acts.append(_act(f"{ACTIONS}:{number}", line))
            except MalformedInput:
                if line.endswith("\n"):
                    raise
                return ActionLog(tuple(acts), is_torn=True)
    return ActionLog(tuple(acts))


def _zxid(text: str) -> int:
    number = int(text, 16)
    if number < 0:
        raise ValueError(f"its zxid is {text!r}")
    return number


def _session(text: str) -> str:
    int(text, 16)
    return text


FIELDS: Final[Mapping[str, tuple[type, Callable[[Any], object]]]] = {
    "ms": (int, int),
    "action": (str, str),
    "broker": (int, int),
    "zxid": (str, _zxid),
    "number": (int, int),
    "kind": (str, str),
    "admin_session": (str, _session),
}
"""The fields that are read, each with its kind in JSON, and what is made of it."""


def _act(place: str, line: str) -> Act:
    try:
        given = json.loads(line)
        needed = {"ms", "action"} | ({"broker"} if str(given.get("action")).startswith(DONE_TO_A_BROKER) else set())
        read: dict[str, Any] = {name: _field(name, given[name]) for name in FIELDS if name in given or name in needed}
        return Act(place, text=line.strip()[:160], **read)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise MalformedInput(place, "", f"is not an act with a time and its fields ({error})") from error


def _field(name: str, given: object) -> object:
    kind, made = FIELDS[name]
    if not isinstance(given, kind) or isinstance(given, bool):
        raise TypeError(f"its {name} is {given!r}")
    return made(given)


AS_TRANSACTIONS = "seen as ZooKeeper's transactions"
PROXY = "frames held, dropped or delivered late: seen by what they cause"
PASSED_OVER: Final = {
    "zookeeper-started": "the server's start",
    "broker-start": "a process start, seen as its first session",
    "broker-exited": "the end of a process that shut itself down, seen as the end of its session",
    "broker-kill-9 (end of recording)": "the end of the recording",
    "broker-sigterm (end of recording)": "the end of the recording",
    "observe-znodes": "a look at the tree",
    "observe-log-dirs": "a look at the disks",
    "jstack of the controller": "a look at the threads",
    "produce": "a client's request",
    "produce-skipped": "a client's request",
    NOTE: "a note",
    "seed": "a note",
    AT_REST: "a look whether anything moves",
    "end": "the end of the recording",
}
DONE_TO_PROCESSES: Final[Mapping[str, Callable[..., Observed]]] = {
    "broker-kill-9": ProcessKilled,
    "broker-sigstop": partial(ProcessPaused, resumed=False),
    "broker-sigcont": partial(ProcessPaused, resumed=True),
    "broker-sigterm (controlled shutdown)": ProcessStopping,
}
KNOWN: Final = (*DONE_TO_PROCESSES, *PASSED_OVER)
FAMILIES: Final = {"admin-": AS_TRANSACTIONS, "proxy-": PROXY, "link-": PROXY}
"""Acts that begin so; their reason."""


def read_acts(log: ActionLog, cluster: Cluster, passed_over: Counter[str]) -> Iterator[Observed]:
    """The kills, pauses and stops among the acts; MalformedInput names the line of an act that is not known."""
    for act in log.acts:
        if act.action not in DONE_TO_PROCESSES:
            passed_over[f"{ACTIONS}: {_reason(act)}"] += 1
            continue
        if act.broker not in cluster.broker_ids:
            raise MalformedInput(act.place, "broker", f"broker {act.broker} never had a session")
        made = DONE_TO_PROCESSES[act.action]
        yield made(place=act.place, time=act.ms, text=act.text, broker=cluster.broker(act.broker))
    if log.is_torn:
        passed_over[f"{ACTIONS}: {TORN_END}"] += 1


def _reason(act: Act) -> str:
    """Why an act is passed over; MalformedInput where it is done to a broker and is not known."""
    if act.action in PASSED_OVER:
        return PASSED_OVER[act.action]
    family = next((reason for prefix, reason in FAMILIES.items() if act.action.startswith(prefix)), "")
    if not family and act.broker is not None:
        reason = f"{act.action!r} is done to a broker, and not one of {', '.join(KNOWN)}"
        raise MalformedInput(act.place, "action", reason)
    return family or f"{act.action!r}, which is done to no broker"
