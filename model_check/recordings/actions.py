"""What was done to the cluster while it was recorded: `actions.jsonl`, which whoever made the recording may write.

    {"ms": 1795201009071, "action": "broker-kill-9", "broker": 1}
    {"ms": 1795201021540, "action": "at-rest", "zxid": "0x2f"}

One act a line, in the order in which they were done. Each has a time and a name; the fields read here are the broker
that it was done to, which no act called `broker-...` lacks; at rest, the last transaction by then; of a note that tells
that a fault of a live run begins, its number and kind; and as ZooKeeper starts, the session of the admin tool. Others
are for people. What an act means to the specification stands in `acts.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

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
