"""What was done to the cluster while it was recorded: kills, pauses and stops are observations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model_check.recorded import Cluster, Observed
from model_check.recorded_processes import ProcessKilled, ProcessPaused, ProcessStopping
from spec.errors import MalformedInput

AS_TRANSACTIONS = "seen as ZooKeeper's transactions"
PROXY = "frames held, dropped or delivered late: seen by what they cause"
PASSED_OVER: Final = {
    "zookeeper-started": "the server's start",
    "broker-start": "a process start, seen as its first session",
    "broker-exited": "the end of a process that shut itself down, seen as the end of its session",
    "broker-kill-9 (end of recording)": "the end of the recording",
    "admin-create-topic": AS_TRANSACTIONS,
    "admin-add-partitions": AS_TRANSACTIONS,
    "admin-delete-topic": AS_TRANSACTIONS,
    "admin-reassign": AS_TRANSACTIONS,
    "admin-preferred-election": AS_TRANSACTIONS,
    "admin-remove-preferred-znode": AS_TRANSACTIONS,
    "admin-remove-topic-node-by-hand": AS_TRANSACTIONS,
    "observe-znodes": "a look at the tree",
    "observe-log-dirs": "a look at the disks",
    "jstack of the controller": "a look at the threads",
    "produce": "a client's request",
    "produce-skipped": "a client's request",
    "proxy-rule-installed": PROXY,
    "proxy-rule": PROXY,
    "proxy-release": PROXY,
    "proxy-response": PROXY,
    "proxy-late-copy-delivered": PROXY,
    "link-restored": PROXY,
    "note": "a note",
    "seed": "a note",
    "end": "the end of the recording",
}


def read_acts(file: Path, cluster: Cluster, passed_over: Counter[str]) -> Iterator[Observed]:
    """The kills, pauses and stops in actions.jsonl; MalformedInput names the line of an act that is not known."""
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file.name}:{number}"
            try:
                record = json.loads(line)
                act, head = record["action"], {"place": place, "time": int(record["ms"]), "text": line.strip()[:160]}
                observed = _act(act, record, head, cluster)
            except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise MalformedInput(place, "", f"is not an act with a time and its fields ({error})") from error
            if observed is not None:
                yield observed
            elif act in PASSED_OVER:
                passed_over[f"{file.name}: {PASSED_OVER[act]}"] += 1
            else:
                raise MalformedInput(place, "action", f"{act!r} is not one of {', '.join(PASSED_OVER)}")


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
