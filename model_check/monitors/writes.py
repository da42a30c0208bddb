"""What a log of transactions tells, as the writes of a history.

A transaction of several changes comes as its parts, one by one, or as what refused it (`recordings/transactions.py`).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from model_check.monitors.contents import Content, read_content
from model_check.monitors.history import Author, History, Office, Refusal, Write, office_after
from model_check.recordings.sessions import Session
from model_check.recordings.transactions import with_lines
from reference.zookeeper import transactions as log
from spec.errors import MalformedInput
from spec.formats.znode_paths import Path as ZnodePath


def history_of(
    transactions: Iterable[log.Transaction], sessions: Mapping[int, Session], admins: frozenset[int] = frozenset()
) -> History:
    """What a log tells, each line a place.

    Where admins' sessions are known, those that are nobody's are members'; else they count as admins'.
    """
    tree: dict[str, Content] = {}
    writes: list[Write] = []
    refusals: list[Refusal] = []
    office = Office()
    for line, one in with_lines(transactions):
        author, dropped = _author(one.session, sessions, admins), isinstance(one.change, log.SessionClosed)
        for name, data, version in _changed(one.change):
            path, before = _path(name), tree.pop(name, None)
            after = None if version < 0 else read_content(path, data)
            if after is not None:
                tree[name] = after
            head = (len(writes), f"zookeeper.jsonl:{line}", one.time_ms, one.zxid, author)
            write = Write(*head, path, name, before, after, version, office, dropped)
            writes.append(write)
            office = office_after(write, office)
        if isinstance(one.change, log.WriteRefused):
            refusals.append(Refusal(author, len(writes), log.ERROR_NAMES.get(one.change.code, "")))
    return History(tuple(writes), refusals=tuple(refusals), is_admin_told=bool(admins))


def _changed(change: log.Change) -> Iterator[tuple[str, bytes | None, int]]:
    """Path, data and version of what a change writes; version -1 of what it deletes."""
    match change:
        case log.NodeCreated(path=name, data=data):
            yield name, data, 0
        case log.DataSet(path=name, data=data, version=version):
            yield name, data, version
        case log.NodeDeleted(path=name):
            yield name, None, -1
        case log.SessionClosed(deleted=names):
            yield from ((name, None, -1) for name in names)
        case _:
            pass


def _author(session: int, sessions: Mapping[int, Session], admins: frozenset[int]) -> Author:
    whose = sessions.get(session)
    if whose is None:
        return Author(session, is_members=bool(admins) and session not in admins)
    return Author(session, whose.broker, whose.incarnation, is_members=True)


@cache
def _path(name: str) -> ZnodePath | None:
    """The path of a znode of the protocol; others are nobody's business here."""
    try:
        return ZnodePath.parse(name)
    except MalformedInput:
        return None
