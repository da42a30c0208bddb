"""What the active controller alone listens to: the paths, the callbacks that they queue, and the parts that have them.

After an expiry ZkClient queues a callback for every path. First come the listeners on children, as its table of hashes
has their paths, which has 16 places, or 32; then those on data, the last of them behind the elector's own, on
/controller.

ZkClient 0.10: `ZkClient.fireAllEvents`, `ConcurrentHashMap` of Java 8.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.formats import znode_paths as paths
from spec.formats.znode_paths import PathKind
from spec.language.terms import Kind, enumeration
from spec.model import Model
from spec.state.enumerations import Callback
from spec.variants import Switch, Switches


@dataclass(frozen=True)
class Listened:
    """A path that is listened to, where any of these parts is in; where none is named, always.

    An older release, by its switch, may not have known it.
    """

    kind: PathKind
    callback: Callback
    parts: frozenset[str] = frozenset()
    unknown_to: Switch | None = None

    @property
    def path(self) -> str:
        """The path itself."""
        return str(self.kind.path())

    def is_in(self, parts: frozenset[str], switches: Switches) -> bool:
        """Whether a scope with these parts has it, under these switches."""
        return self.unknown_to not in switches and (not self.parts or not self.parts.isdisjoint(parts))


LISTENED: Final[Mapping[str, Listened]] = {
    "brokers": Listened(paths.BROKER_IDS, Callback.BROKERS),
    "topics": Listened(paths.BROKER_TOPICS, Callback.TOPICS, frozenset({"creation", "deletion"})),
    "deletions": Listened(paths.DELETE_TOPICS, Callback.DELETIONS, frozenset({"deletion"})),
    "isr_changes": Listened(
        paths.ISR_CHANGES, Callback.ISR_CHANGES, frozenset({"notifications"}), Switch.ANNOUNCE_NO_ISR
    ),
    "reassignments": Listened(paths.REASSIGN_PARTITIONS, Callback.REASSIGNMENTS, frozenset({"reassignment"})),
    "preferred": Listened(paths.PREFERRED_REPLICA_ELECTION, Callback.PREFERRED, frozenset({"preferred_election"})),
}
"""All of them, by the names that their watches have in the state."""

ON_CHILDREN: Final = ("isr_changes", "brokers", "deletions", "topics")
"""Those whose children are listened to, by the hashes of their paths."""
BEHIND_CONTROLLER: Final = ("preferred",)
"""Those whose callbacks come behind that of /controller."""
IN_ORDER: Final = (*ON_CHILDREN, *(name for name in LISTENED if name not in ON_CHILDREN))
"""All of them, in the order of their callbacks."""
UNWATCHED_FIRST: Final = ("isr_changes", "reassignments", "preferred")
"""Those that a resignation gives up before anything that may raise."""


def listened_paths(m: Model) -> dict[str, Callback]:
    """The paths that only a controller listens to, with the callback that each one queues."""
    return {name: one.callback for name, one in LISTENED.items() if one.is_in(m.scope.parts, m.switches)}


def watched_paths(m: Model) -> dict[str, Callback]:
    """The paths whose watches are modelled: these, and the elector's own."""
    return {"controller": Callback.CONTROLLER, **listened_paths(m)}


def callback_kind(m: Model) -> Kind:
    """A place in an event queue; it has room for what is queued in this scope only, for queues are long."""
    order = list(Callback)
    queued = [Callback.REGISTRATION, *watched_paths(m).values()]
    queued += [Callback.STATE] if m.has("reassignment") else []
    queued += [Callback.MODIFICATIONS] if m.has("addition") else []
    return enumeration(Callback, max(queued, key=order.index))
