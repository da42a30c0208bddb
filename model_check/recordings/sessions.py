"""Whose the sessions of a recording are: which broker's, and which of its processes'.

`sessions.json` says it, where whoever made the recording wrote it down. Otherwise the brokers' `server.log` do, in
which each process says when it starts and which sessions it gets; and where there is none, the ephemeral znodes that a
session owns. A session that nobody claims is an admin tool's.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model_check.recordings.transactions import parts_of
from reference.scripts import COMMON_PATHS
from reference.zookeeper.transactions import NodeCreated, SessionClosed, SessionCreated, Transaction
from spec.errors import BadInput, MalformedInput
from spec.formats import znode_paths as paths
from spec.formats.znode_paths import Path as ZnodePath

SESSIONS: Final = "sessions.json"


@dataclass(frozen=True)
class Session:
    """Whose a session is: a broker's id, and the number of its process, the first being 1, or a guess at that."""

    broker: int
    incarnation: int
    is_guess: bool = False


def sessions_of(folder: Path, transactions: list[Transaction]) -> dict[int, Session]:
    """Whose the sessions of a recording are, from the best that it has to tell it."""
    file = folder / SESSIONS
    if not file.exists():
        return {**sessions_by_ownership(transactions), **sessions_by_log(folder)}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {
            session_id(name): Session(_number(one, "broker"), _number(one, "incarnation"))
            for name, one in content.items()
        }
    except (json.JSONDecodeError, AttributeError, KeyError, ValueError, TypeError, RecursionError) as error:
        reason = "is not an object of sessions, each with a broker and an incarnation"
        raise MalformedInput(str(file), "", f"{reason} ({error})") from error


STARTING: Final = re.compile(r"INFO (?:\[Kafka Server \d+\], )?starting \(kafka\.server\.KafkaServer\)")
"""Up to 0.8.2 the server names itself."""
SESSION: Final = re.compile(r"Session establishment complete on server .*, session ?id = (0x[0-9a-f]+),")
"""ZooKeeper's client has a blank more from 3.6 on. An id without the comma behind it may be torn."""


def sessions_by_log(folder: Path) -> dict[int, Session]:
    """What the brokers' own logs say: when a process started, and which sessions it got."""
    sessions = {}
    for log in sorted(one for one in folder.glob("broker-*/server.log") if one.is_file()):
        broker, life = broker_of(log), 0
        for line in log.read_text(encoding="utf-8", errors="backslashreplace").splitlines():
            life += STARTING.search(line) is not None
            if found := SESSION.search(line):
                sessions[session_id(found[1])] = Session(broker, max(1, life))
    return sessions


def sessions_by_ownership(transactions: list[Transaction]) -> dict[int, Session]:
    """Whose the sessions are, by the ephemeral znodes that they own, and of which process, by what they do.

    A process that starts looks for all the paths that a cluster has before it writes anything; one that goes on under a
    new session does not.
    """
    owners: dict[int, int] = {}
    for one in (part for whole in transactions for part in parts_of(whole)):
        if isinstance(one.change, NodeCreated) and one.change.ephemeral_owner:
            path = ZnodePath.find(one.change.path)
            if path is not None and path.kind is paths.BROKER and path.broker is not None:
                owners[one.session] = path.broker
            if path is not None and path.kind is paths.CONTROLLER:
                broker = elected_in(one.change.data)
                owners |= {} if broker is None else {one.session: broker}
    began = [one.session for one in transactions if isinstance(one.change, SessionCreated) and one.session in owners]
    firsts = _first_writes(transactions)
    lives: Counter[int] = Counter()
    sessions = {}
    for session in began:
        broker = owners[session]
        if not lives[broker] or firsts[session] > len(COMMON_PATHS):
            lives[broker] += 1
        sessions[session] = Session(broker, lives[broker], is_guess=True)
    return sessions


def by_starts(
    sessions: Mapping[int, Session], transactions: Iterable[Transaction], starts: Mapping[int, Sequence[int]]
) -> dict[int, Session]:
    """Sessions, of which those that were guessed are their broker's last process's of when each began.

    `starts` are the times at which each broker's processes were started, in milliseconds of ZooKeeper's clock.
    """
    began = {one.session: one.time_ms for one in transactions if isinstance(one.change, SessionCreated)}
    told = dict(sessions)
    for number, one in sessions.items():
        if one.is_guess and number in began:
            lives = sum(started <= began[number] for started in starts.get(one.broker, ()))
            told[number] = Session(one.broker, max(1, lives))
    return told


def in_use(sessions: Mapping[int, Session], transactions: Iterable[Transaction]) -> dict[int, Session]:
    """Sessions, without those that a process lost while it started, before it asked for any change.

    Nobody listens to their end yet: the process is one that begins with its next session.
    """
    left, used = Counter((one.broker, one.incarnation) for one in sessions.values()), set[tuple[int, int]]()
    unused = set[int]()
    for each in transactions:
        if (one := sessions.get(each.session)) is None or isinstance(each.change, SessionCreated):
            continue
        process = one.broker, one.incarnation
        if isinstance(each.change, SessionClosed):
            left[process] -= 1
            if process not in used and left[process]:
                unused.add(each.session)
        else:
            used.add(process)
    return {number: one for number, one in sessions.items() if number not in unused}


def elected_in(data: bytes | None) -> int | None:
    """Whose id a /controller has, also where a stranger wrote it as a text; None where none can be made out."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        given = json.loads(data or b"")
        found = given["brokerid"] if isinstance(given, dict) else given
        return None if isinstance(found, bool | float) else int(found)
    return None


def _first_writes(transactions: list[Transaction]) -> dict[int, int]:
    """How many requests each session has made by its first write, refused or not."""
    firsts: dict[int, int] = {}
    for one in transactions:
        if not isinstance(one.change, SessionCreated | SessionClosed):
            firsts.setdefault(one.session, one.cxid)
    return firsts


def broker_of(log: Path) -> int:
    """The id of the broker whose log this is."""
    number = log.parent.name.removeprefix("broker-")
    if not is_broker_id(number):
        raise BadInput(f"{log}: the folder of a broker is called broker- and its id")
    return int(number)


def is_broker_id(text: str) -> bool:
    """Whether a text is a broker's id, as it is printed."""
    return text.isdecimal() and text == str(int(text))


def session_id(text: str) -> int:
    """The number of a session, as ZooKeeper counts it, from its hexadecimal form."""
    number = int(text, 16)
    return number - (1 << 64) if number >> 63 else number


def _number(record: Any, name: str) -> int:
    value = record[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}")
    return value
