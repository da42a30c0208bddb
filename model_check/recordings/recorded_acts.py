"""What was done to the cluster while it was recorded: kills, pauses and stops are observations.

What is done to a broker must be known, for it may be the cause of what follows. An act that names no broker shows by
what it causes, or not at all, and is passed over even where nobody has heard of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model_check.recordings.recorded import Cluster, Observed
from model_check.recordings.recorded_entries import TORN_END
from model_check.recordings.recorded_processes import ProcessKilled, ProcessPaused, ProcessStopping
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
    "note": "a note",
    "seed": "a note",
    "at-rest": "a look whether anything moves",
    "end": "the end of the recording",
}
KNOWN: Final = (
    "broker-kill-9",
    "broker-sigstop",
    "broker-sigcont",
    "broker-sigterm (controlled shutdown)",
    *PASSED_OVER,
)
FAMILIES: Final = {"admin-": AS_TRANSACTIONS, "proxy-": PROXY, "link-": PROXY}
"""Acts that begin so; their reason."""


def read_acts(file: Path, cluster: Cluster, passed_over: Counter[str]) -> Iterator[Observed]:
    """The kills, pauses and stops in actions.jsonl; MalformedInput names the line of an act that is not known.

    A last line without its end is passed over if it is none: who writes the file may be killed, too.
    """
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file.name}:{number}"
            try:
                record = json.loads(line)
                act, head = (
                    _text(record["action"]),
                    {"place": place, "time": int(record["ms"]), "text": line.strip()[:160]},
                )
                observed = _act(act, record, head, cluster)
            except (json.JSONDecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError) and not line.endswith("\n"):
                    passed_over[f"{file.name}: {TORN_END}"] += 1
                    continue
                raise MalformedInput(place, "", f"is not an act with a time and its fields ({error})") from error
            if observed is not None:
                yield observed
            else:
                passed_over[f"{file.name}: {_reason(act, record, place)}"] += 1


def _text(given: object) -> str:
    """What an act is called; TypeError if that is no text."""
    if not isinstance(given, str):
        raise TypeError("its action is not text")
    return given


def _reason(act: str, record: dict[str, Any], place: str) -> str:
    """Why an act is passed over; MalformedInput where it is done to a broker and is not known."""
    if act in PASSED_OVER:
        return PASSED_OVER[act]
    family = next((reason for prefix, reason in FAMILIES.items() if act.startswith(prefix)), "")
    if not family and "broker" in record:
        raise MalformedInput(place, "action", f"{act!r} is done to a broker, and not one of {', '.join(KNOWN)}")
    return family or f"{act!r}, which is done to no broker"


def _act(act: str, record: dict[str, Any], head: dict[str, Any], cluster: Cluster) -> Observed | None:
    match act:
        case "broker-kill-9":
            return ProcessKilled(**head, broker=cluster.broker(record["broker"]))
        case "broker-sigstop" | "broker-sigcont":
            return ProcessPaused(**head, broker=cluster.broker(record["broker"]), resumed=act == "broker-sigcont")
        case "broker-sigterm (controlled shutdown)":
            return ProcessStopping(**head, broker=cluster.broker(record["broker"]))
        case _:
            return None
