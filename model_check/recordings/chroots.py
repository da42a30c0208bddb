"""The chroot of a cluster: Kafka may keep its znodes below one, named in `zookeeper.connect` (`host:2181/kafka`).

It is told by what is there: where nothing is registered at the root, but below /kafka, that is the cluster's. It is
taken off, since brokers' logs and requests do not name it either. What is outside of it keeps its place in the log, and
gets a path that no cluster has.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from reference.zookeeper import transactions as zk
from spec.errors import BadInput

WHERE_A_CLUSTER_IS: Final = re.compile(r"(?P<chroot>.*)(?<!/consumers)/(?:brokers/ids|controller_epoch)")
"""Paths that every cluster has, and nobody else; a group of consumers may be called brokers."""
OUTSIDE: Final = "/.."


def chroot_in(transactions: Iterable[zk.Transaction]) -> str:
    """Below which path the cluster is, empty for the root; BadInput if there are several, and none is at the root."""
    created = (one.change.path for one in transactions if isinstance(one.change, zk.NodeCreated))
    found = sorted({match["chroot"] for path in created if (match := WHERE_A_CLUSTER_IS.fullmatch(path))})
    if len(found) > 1 and found[0]:
        known = "one of them can be judged if it is at the root, or has the log to itself"
        raise BadInput(f"several clusters are recorded, below {', '.join(found)}; {known}")
    return found[0] if found else ""


def without_chroot(one: zk.Transaction, chroot: str) -> zk.Transaction:
    """A transaction as the cluster sees it, each path below its chroot."""

    def seen(path: str) -> str:
        return path.removeprefix(chroot) if path.startswith(f"{chroot}/") else OUTSIDE + path

    match one.change:
        case zk.NodeCreated() | zk.DataSet() | zk.NodeDeleted() | zk.VersionChecked():
            return replace(one, change=replace(one.change, path=seen(one.change.path)))
        case zk.SessionClosed(deleted=paths):
            return replace(one, change=replace(one.change, deleted=tuple(map(seen, paths))))
        case _:
            return one
