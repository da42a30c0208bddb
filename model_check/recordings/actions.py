"""What was done to the cluster while it was recorded: `actions.jsonl`, which whoever made the recording may write.

    {"ms": 1795201009071, "action": "broker-kill-9", "broker": 1}
    {"ms": 1795201021540, "action": "at-rest", "zxid": "0x2f"}

One act a line, in the order in which they were done. Each has a time and a name; the fields read here are the broker
that it was done to, which no act called `broker-...` lacks; at rest, the last transaction by then; of a note that tells
that a fault of a live run begins, its number and kind; and as ZooKeeper starts, the session of the admin tool. Others
are for people.

Kills, pauses and stops are observations. What is done to a broker must be known, for it may be the cause of what
follows. An act that names no broker shows by what it causes, or not at all, and is passed over even where nobody has
heard of it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from model_check.recordings.entries import TORN_END
from model_check.recordings.processes import ProcessKilled, ProcessPaused, ProcessStopping
from model_check.recordings.recording import Cluster, Observed
from spec.errors import MalformedInput

ACTIONS: Final = "actions.jsonl"
AT_REST: Final = "at-rest"
"""Nothing moves any more."""
NOTE: Final = "note"
"""For people; with a number and a kind, it tells that a fault begins."""
DONE_TO_A_BROKER: Final = "broker-"
Kind = TypeVar("Kind")


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
    """The acts in their order; `is_torn`: behind them is an end that is none, for who writes may be killed, too."""

    acts: tuple[Act, ...]
    is_torn: bool = False


def read_actions(folder: Path) -> ActionLog | None:
    """The acts that a recording tells, None if it has no such file; MalformedInput names the line that is none."""
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


def _act(place: str, line: str) -> Act:
    try:
        given = json.loads(line)
        action = _of_kind(str, given["action"], "action")
        is_of_a_broker = action.startswith(DONE_TO_A_BROKER)
        return Act(
            place,
            ms=_of_kind(int, given["ms"], "ms"),
            action=action,
            broker=_of_kind(int, given["broker"], "broker") if is_of_a_broker else _if_given(int, given, "broker"),
            zxid=_zxid(given),
            number=_if_given(int, given, "number"),
            kind=_if_given(str, given, "kind"),
            admin_session=_admin_session(given),
            text=line.strip()[:160],
        )
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise MalformedInput(place, "", f"is not an act with a time and its fields ({error})") from error


def _of_kind(kind: type[Kind], given: object, name: str) -> Kind:
    if not isinstance(given, kind) or isinstance(given, bool):
        raise TypeError(f"its {name} is {given!r}")
    return given


def _if_given(kind: type[Kind], given: dict[str, Any], name: str) -> Kind | None:
    return _of_kind(kind, given[name], name) if name in given else None


def _zxid(given: dict[str, Any]) -> int | None:
    text = _if_given(str, given, "zxid")
    if text is None:
        return None
    number = int(text, 16)
    if number < 0:
        raise ValueError(f"its zxid is {text!r}")
    return number


def _admin_session(given: dict[str, Any]) -> str | None:
    text = _if_given(str, given, "admin_session")
    if text is not None:
        int(text, 16)
    return text


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
DONE_TO_PROCESSES: Final = ("broker-kill-9", "broker-sigstop", "broker-sigcont", "broker-sigterm (controlled shutdown)")
KNOWN: Final = (*DONE_TO_PROCESSES, *PASSED_OVER)
FAMILIES: Final = {"admin-": AS_TRANSACTIONS, "proxy-": PROXY, "link-": PROXY}
"""Acts that begin so; their reason."""


def read_acts(log: ActionLog, cluster: Cluster, passed_over: Counter[str]) -> Iterator[Observed]:
    """The kills, pauses and stops among the acts; MalformedInput names the line of an act that is not known."""
    for act in log.acts:
        observed = _observed(act, cluster)
        if observed is not None:
            yield observed
        else:
            passed_over[f"{ACTIONS}: {_reason(act)}"] += 1
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


def _observed(act: Act, cluster: Cluster) -> Observed | None:
    if act.action not in DONE_TO_PROCESSES:
        return None
    if act.broker not in cluster.broker_ids:
        raise MalformedInput(act.place, "broker", f"broker {act.broker} never had a session")
    head: dict[str, Any] = {"place": act.place, "time": act.ms, "text": act.text, "broker": cluster.broker(act.broker)}
    match act.action:
        case "broker-kill-9":
            return ProcessKilled(**head)
        case "broker-sigstop" | "broker-sigcont":
            return ProcessPaused(**head, resumed=act.action == "broker-sigcont")
        case _:
            return ProcessStopping(**head)
