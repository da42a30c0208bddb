"""The tree of znodes of one ZooKeeper server, and how a change is made of it: first prepared, then applied.

ZooKeeper does the two in different places, and so does this module. `prepare` (`PrepRequestProcessor`) checks a write
against the tree and turns it into a change that no longer depends on anything, or refuses it; `apply`
(`DataTree.processTxn`) carries a change out and tells which watches it triggers, in the server's order. A change that
was read from a log is applied in the same way, after `fits` has said that it can have been made of this tree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from reference.forking import Notes, shallow_copy
from reference.zookeeper import api, transactions
from spec.formats.scala_order import java_set_order


@dataclass(frozen=True)
class Znode:
    """A node of the tree; `child_creates` counts the children ever created, of which sequential names are made."""

    data: bytes | None = b""
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    version: int = 0
    child_creates: int = 0
    ephemeral_owner: int = 0
    children: frozenset[str] = frozenset()

    @property
    def stat(self) -> api.Stat:
        """The znode's Stat as ZooKeeper reports it (`DataNode.copyStat`)."""
        zxids, children = (self.czxid, self.mzxid, self.pzxid), len(self.children)
        cversion = 2 * self.child_creates - children
        return api.Stat(*zxids, self.version, cversion, self.ephemeral_owner, len(self.data or b""), children)


class WatchKind(Enum):
    """What a watch looks at: a znode itself, there or not, or the set of its children."""

    NODE = "node"
    CHILDREN = "children"


@dataclass(frozen=True)
class Trigger:
    """Watches of these kinds on this path fire, with this event."""

    kinds: frozenset[WatchKind]
    path: str
    event: api.EventType


_NODE = frozenset({WatchKind.NODE})
_CHILDREN = frozenset({WatchKind.CHILDREN})


NEW: Mapping[str, Znode] = {
    "/": Znode(children=frozenset({"zookeeper"})),
    "/zookeeper": Znode(children=frozenset({"config", "quota"})),
    "/zookeeper/config": Znode(),
    "/zookeeper/quota": Znode(),
}
"""What a new server has: the root and its own reserved tree."""


class ZnodeTree:
    """The znodes by path; copies share them until one of the copies is changed."""

    def __init__(self, nodes: Mapping[str, Znode] = NEW) -> None:
        self._nodes = dict(nodes)
        self._is_shared = False
        self.notes = Notes()

    @property
    def nodes(self) -> Mapping[str, Znode]:
        """Every znode by its path, until the next change."""
        return self._nodes

    def copy(self) -> "ZnodeTree":
        """The same tree once more."""
        self._is_shared = True
        return shallow_copy(self)

    def existing(self, path: str) -> Znode:
        """The znode of a path; raises NoNode."""
        if path not in self._nodes:
            raise api.NoNode(path)
        return self._nodes[path]

    def owned_by(self, session: int) -> tuple[str, ...]:
        """The paths of a session's ephemeral znodes, in the order in which the server deletes them: a HashSet's."""
        return tuple(java_set_order(path for path, znode in self._nodes.items() if znode.ephemeral_owner == session))

    # -------------------------------------------------------------------------------------------------------- prepare

    def prepare(self, session: int, operation: api.Create | api.SetData | api.Delete) -> transactions.Change:
        """The change that a write makes, or the refusal that it meets; the checks are in the server's order."""
        match operation:
            case api.Create():
                return self._prepare_create(session, operation)
            case api.SetData(path=path, data=data, version=expected):
                return transactions.DataSet(path, data, self._expected(path, expected).version + 1)
            case api.Delete(path=path, version=expected):
                if self._expected(path, expected).children:
                    raise api.NotEmpty(path)
                return transactions.NodeDeleted(path)

    def _expected(self, path: str, version: int) -> Znode:
        znode = self.existing(path)
        if version not in {api.ANY_VERSION, znode.version}:
            raise api.BadVersion(path)
        return znode

    def _prepare_create(self, session: int, operation: api.Create) -> transactions.NodeCreated:
        path, mode = operation.path, operation.mode
        parent = self._nodes.get(api.parent_path(path))
        if parent is None:
            raise api.NoNode(path)
        if mode.is_sequential:
            path += f"{parent.child_creates:010d}"
        if path in self._nodes:
            raise api.NodeExists(operation.path)
        if parent.ephemeral_owner:
            raise api.NoChildrenForEphemerals(operation.path)
        owner = session if mode.is_ephemeral else 0
        return transactions.NodeCreated(path, operation.data, owner, parent.child_creates + 1)

    # ---------------------------------------------------------------------------------------------------------- apply

    def fits(self, change: transactions.Change) -> bool:
        """Whether a change can have been made of this tree."""
        match change:
            case transactions.NodeCreated(path=path, parent_cversion=creates):
                parent = self._nodes.get(api.parent_path(path))
                return path not in self._nodes and parent is not None and parent.child_creates == creates - 1
            case (
                transactions.DataSet(path=path, version=version)
                | transactions.VersionChecked(path=path, version=version)
            ):
                return path in self._nodes and self._nodes[path].version == version - 1
            case transactions.NodeDeleted(path=path):
                return path in self._nodes and not self._nodes[path].children
            case transactions.SessionClosed(deleted=paths):
                return all(path in self._nodes for path in paths)
            case _:
                return isinstance(change, transactions.SessionCreated | transactions.WriteRefused)

    def apply(self, change: transactions.Change, zxid: int) -> tuple[Trigger, ...]:
        """Carry out a change that fits, and tell what it triggers."""
        return tuple(self._carry_out(change, zxid))

    def _carry_out(self, change: transactions.Change, zxid: int) -> Iterator[Trigger]:
        match change:
            case transactions.NodeCreated(path=path):
                self._add(change, zxid)
                yield Trigger(_NODE, path, api.EventType.NODE_CREATED)
                yield Trigger(_CHILDREN, api.parent_path(path), api.EventType.NODE_CHILDREN_CHANGED)
            case transactions.DataSet(path=path, data=data, version=version):
                self._own()
                self._nodes[path] = replace(self._nodes[path], data=data, version=version, mzxid=zxid)
                yield Trigger(_NODE, path, api.EventType.NODE_DATA_CHANGED)
            case transactions.NodeDeleted(path=path):
                yield from self._remove(path, zxid)
            case transactions.SessionClosed(deleted=paths):
                for path in paths:
                    yield from self._remove(path, zxid)

    def _own(self) -> None:
        """Be this tree's own from now on, and no copy's."""
        if self._is_shared:
            self._nodes, self._is_shared = dict(self._nodes), False
        self.notes = Notes()

    def _add(self, created: transactions.NodeCreated, zxid: int) -> None:
        self._own()
        above, _, name = created.path.rpartition("/")
        parent = self._nodes[above or "/"]
        self._nodes[above or "/"] = replace(
            parent, children=parent.children | {name}, child_creates=created.parent_cversion, pzxid=zxid
        )
        self._nodes[created.path] = Znode(
            created.data, czxid=zxid, mzxid=zxid, pzxid=zxid, ephemeral_owner=created.ephemeral_owner
        )

    def _remove(self, path: str, zxid: int) -> Iterator[Trigger]:
        self._own()
        del self._nodes[path]
        above, _, name = path.rpartition("/")
        parent = self._nodes[above or "/"]
        self._nodes[above or "/"] = replace(parent, children=parent.children - {name}, pzxid=zxid)
        yield Trigger(_NODE | _CHILDREN, path, api.EventType.NODE_DELETED)
        yield Trigger(_CHILDREN, above or "/", api.EventType.NODE_CHILDREN_CHANGED)
