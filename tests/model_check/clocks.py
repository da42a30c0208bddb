"""Recordings whose brokers have clocks that are off ZooKeeper's."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spec.logs.log_entries import print_time
from tests.model_check.unpacking import unpacked

LOGS = ("state-change.log", "controller.log")


def moment(milliseconds: int) -> datetime:
    """A time as logs have it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).replace(tzinfo=None)


def shifted(name: str, folder: Path, ahead: Mapping[int, timedelta]) -> Path:
    """A copy of a recording in which brokers' clocks are ahead by so much."""
    copy = unpacked(name, folder)
    for broker, much in ahead.items():

        def later(found: re.Match[str], much: timedelta = much) -> str:
            return f"[{print_time(datetime.fromisoformat(found[1]) + much)}]"

        for log in (copy / f"broker-{broker}" / name for name in LOGS):
            text = re.sub(r"^\[(\d{4}-\S+ [\d:,]+)\]", later, log.read_text(encoding="utf-8"), flags=re.MULTILINE)
            log.write_text(text, encoding="utf-8")
    return copy
