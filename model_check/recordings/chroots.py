"""The chroot of a cluster: Kafka may keep its znodes below one, named in `zookeeper.connect` (`host:2181/kafka`).

It is found by what is there: where nothing is registered at the root, but below /kafka, that is the cluster's. Which of
several clusters is meant, `kcheck judge --chroot` says. It is taken off, since brokers' logs and requests do not name
it either. What is outside of it keeps its place in the log, and gets a path that no cluster has.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from reference.zookeeper import transactions as zk
from spec.errors import BadInput, MalformedInput

WHERE_A_CLUSTER_IS: Final = re.compile(r"(?P<chroot>.*)(?<!/consumers)/(?:brokers/ids|controller_epoch)")
"""Paths that every cluster has, and nobody else; a group of consumers may be called brokers."""
ROOT: Final = "/"
OUTSIDE: Final = "/.."


def chroot_named(path: str) -> str:
    """The chroot that a path is, empty for the root; MalformedInput says what is wrong with one that can be none."""
    if path == ROOT:
        return ""
    if not path.startswith("/") or not all(path[1:].split("/")):
        raise MalformedInput("--chroot", "", f"{path!r} is no path of a znode, such as /kafka, or / for the root")
    return path


def chroot_in(transactions: Iterable[zk.Transaction], chosen: str | None = None) -> str:
    """Below which path the cluster is, empty for the root.

    BadInput, if none is below the chosen one; or if none is chosen, there are several, and none is at the root.
    """
    created = (one.change.path for one in transactions if isinstance(one.change, zk.NodeCreated))
    found = sorted({match["chroot"] for path in created if (match := WHERE_A_CLUSTER_IS.fullmatch(path))})
    known = ", ".join(one or ROOT for one in found) or "nothing"
    if chosen is not None:
        if chosen not in found:
            raise BadInput(f"--chroot: no cluster is recorded below {chosen or ROOT} (there are: {known})")
        return chosen
    if len(found) > 1 and found[0]:
        raise BadInput(f"several clusters are recorded, below {known}; choose one of them by --chroot")
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
