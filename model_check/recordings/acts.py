"""What was done to the cluster while it was recorded: kills, pauses and stops are observations.

What is done to a broker must be known, for it may be the cause of what follows. An act that names no broker shows by
what it causes, or not at all, and is passed over even where nobody has heard of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from model_check.recordings.actions import ACTIONS, AT_REST, NOTE, Act, ActionLog
from model_check.recordings.entries import TORN_END
from model_check.recordings.processes import ProcessKilled, ProcessPaused, ProcessStopping
from model_check.recordings.recording import Cluster, Observed
from spec.errors import MalformedInput

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
DONE_TO_PROCESSES: Final = (
    "broker-kill-9",
    "broker-sigstop",
    "broker-sigcont",
    "broker-sigterm (controlled shutdown)",
)
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
