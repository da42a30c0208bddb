"""The transactions of a recording, read and replayed: whatever the cluster did, they must be the log of one ZooKeeper.

From an empty server on, a znode is created where there is none, its data versions count one by one, a session does
things between its beginning and its end, and takes exactly its own ephemeral znodes with it. A log that is not so was
put together wrongly, or has a part missing; it is refused, and nothing is judged.

Controllers after those documented make several changes in one transaction. It is read as what it does: as many
transactions of one zxid, in the order of its parts; or a write that is refused, if a part is, for then nothing is done.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from model_check.recordings.chroots import chroot_in, without_chroot
from reference.zookeeper import transactions as zk
from reference.zookeeper.recording import RecordingError, read_recording
from reference.zookeeper.tree import ZnodeTree
from spec.errors import BadInput, MalformedInput

ZOOKEEPER: Final = "zookeeper.jsonl"


def read_transactions(folder: Path, chroot: str | None = None) -> list[zk.Transaction]:
    """The transactions of a folder as the cluster sees them (`read_log`)."""
    return read_log(folder, chroot)[0]


def read_log(folder: Path, chroot: str | None = None) -> tuple[list[zk.Transaction], str]:
    """The transactions of a folder, the parts of each that has several one by one; and the chroot that was taken off.

    Without a chosen chroot, it is found by what is there. MalformedInput names the line that is no transaction, or that
    cannot follow those above; BadInput says that there is no file, or none in it: whatever else is recorded, no cluster
    runs without them; or that it has no such chroot.
    """
    file = folder / ZOOKEEPER
    if not file.exists():
        raise BadInput(f"{folder} is no recording: it has no {ZOOKEEPER}")
    try:
        with file.open(encoding="utf-8", errors="backslashreplace") as lines:
            transactions = list(_replayed(read_recording(lines)))
    except RecordingError as error:
        raise MalformedInput(str(file), "", str(error)) from error
    if not transactions:
        raise BadInput(f"{folder} is no recording: its {ZOOKEEPER} has no transaction")
    found = chroot_in(transactions, chroot)
    return [without_chroot(one, found) for one in transactions] if found else transactions, found


def with_lines(transactions: Iterable[zk.Transaction]) -> Iterator[tuple[int, zk.Transaction]]:
    """What was read, each with the number of its line, which the parts of one transaction share."""
    for line, (_, parts) in enumerate(groupby(transactions, lambda one: one.zxid), start=1):
        yield from ((line, one) for one in parts)


def may_be_unanswered(transactions: Iterable[zk.Transaction], zxid: int) -> bool:
    """Whether the answer to the create of an ephemeral znode may have been lost.

    The client then creates it again, and is refused because it is there; or the session does nothing any more.
    """
    (created, *others) = (one for one in transactions if one.zxid >= zxid)
    later = [one for one in others if one.zxid > zxid]
    own = [
        one.change for one in later if one.session == created.session and not isinstance(one.change, zk.SessionClosed)
    ]
    refusals = {zk.ERROR_NAMES.get(change.code) for change in own if isinstance(change, zk.WriteRefused)}
    return not own or "NodeExists" in refusals


def _replayed(transactions: Iterable[zk.Transaction]) -> Iterator[zk.Transaction]:
    tree, sessions = ZnodeTree(), set[int]()
    for number, whole in enumerate(transactions, start=1):
        for one in parts_of(whole):
            reason = _impossible(tree, sessions, one)
            if reason:
                raise MalformedInput(f"{ZOOKEEPER}:{number}", "", reason)
            if isinstance(one.change, zk.SessionCreated):
                sessions.add(one.session)
            if isinstance(one.change, zk.SessionClosed):
                sessions.remove(one.session)
            tree.apply(one.change, one.zxid)
            yield one


def parts_of(one: zk.Transaction) -> list[zk.Transaction]:
    """What a transaction does, one by one: itself, except for a multi."""
    if not isinstance(one.change, zk.MultiChange):
        return [one]
    refused = one.change.refused
    return [replace(one, change=change) for change in ((refused,) if refused else one.change.changes)]


def _impossible(tree: ZnodeTree, sessions: set[int], one: zk.Transaction) -> str:
    """Why a transaction cannot follow those before it; nothing, if it can."""
    change = one.change
    if (one.session in sessions) is isinstance(change, zk.SessionCreated):
        return f"session {zk.hex_of(one.session)} is {'open already' if one.session in sessions else 'not open'}"
    if not tree.fits(change):
        return f"{change} cannot follow the transactions above"
    if isinstance(change, zk.NodeCreated) and change.ephemeral_owner not in {0, one.session}:
        return f"ephemeralOwner: session {zk.hex_of(one.session)} makes a znode of {zk.hex_of(change.ephemeral_owner)}"
    if isinstance(change, zk.SessionClosed) and set(change.deleted) != set(tree.owned_by(one.session)):
        return f"deleted: the session owned {', '.join(tree.owned_by(one.session)) or 'nothing'}"
    return ""
