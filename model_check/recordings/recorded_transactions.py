"""The transactions of a recording, read and replayed: whatever the cluster did, they must be the log of one ZooKeeper.

From an empty server on, a znode is created where there is none, its data versions count one by one, a session does
things between its beginning and its end, and takes exactly its own ephemeral znodes with it. A log that is not so was
put together wrongly, or has a part missing; it is refused, and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reference.zookeeper.recording import RecordingError, read_recording
from reference.zookeeper.transactions import (
    ERROR_NAMES,
    NodeCreated,
    SessionClosed,
    SessionCreated,
    Transaction,
    WriteRefused,
    hex_of,
)
from reference.zookeeper.tree import ZnodeTree
from spec.errors import BadInput, MalformedInput

ZOOKEEPER: Final = "zookeeper.jsonl"


def read_transactions(folder: Path) -> list[Transaction]:
    """The transactions of a folder; MalformedInput names the line that is none, or that cannot follow those above."""
    file = folder / ZOOKEEPER
    if not file.exists():
        raise BadInput(f"{folder} is no recording: it has no {ZOOKEEPER}")
    try:
        with file.open(encoding="utf-8", errors="backslashreplace") as lines:
            return list(_replayed(read_recording(lines)))
    except RecordingError as error:
        raise MalformedInput(str(file), "", str(error)) from error


def may_be_unanswered(transactions: Iterable[Transaction], zxid: int) -> bool:
    """Whether the answer to the create of an ephemeral znode may have been lost.

    The client then creates it again, and is refused because it is there; or the session does nothing any more.
    """
    (created, *later) = (one for one in transactions if one.zxid >= zxid)
    own = [one.change for one in later if one.session == created.session and not isinstance(one.change, SessionClosed)]
    refusals = {ERROR_NAMES.get(change.code) for change in own if isinstance(change, WriteRefused)}
    return not own or "NodeExists" in refusals


def _replayed(transactions: Iterable[Transaction]) -> Iterator[Transaction]:
    tree, sessions = ZnodeTree(), set[int]()
    for number, one in enumerate(transactions, start=1):
        reason = _impossible(tree, sessions, one)
        if reason:
            raise MalformedInput(f"{ZOOKEEPER}:{number}", "", reason)
        if isinstance(one.change, SessionCreated):
            sessions.add(one.session)
        if isinstance(one.change, SessionClosed):
            sessions.remove(one.session)
        tree.apply(one.change, one.zxid)
        yield one


def _impossible(tree: ZnodeTree, sessions: set[int], one: Transaction) -> str:
    """Why a transaction cannot follow those before it; nothing, if it can."""
    change = one.change
    if (one.session in sessions) is isinstance(change, SessionCreated):
        return f"session {hex_of(one.session)} is {'open already' if one.session in sessions else 'not open'}"
    if not tree.fits(change):
        return f"{change} cannot follow the transactions above"
    if isinstance(change, NodeCreated) and change.ephemeral_owner not in {0, one.session}:
        return f"ephemeralOwner: session {hex_of(one.session)} makes a znode of {hex_of(change.ephemeral_owner)}"
    if isinstance(change, SessionClosed) and set(change.deleted) != set(tree.owned_by(one.session)):
        return f"deleted: the session owned {', '.join(tree.owned_by(one.session)) or 'nothing'}"
    return ""
