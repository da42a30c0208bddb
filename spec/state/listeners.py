"""What the active controller alone listens to: the paths, the callbacks that they queue, and the parts that have them.

After an expiry ZkClient queues a callback for every path. First come the listeners on children, as its table of hashes
has their paths, which has 16 places, or 32; then those on data, the last of them behind the elector's own, on
/controller; here those on topics and on partitions' states come by number, unless the scope says otherwise.

ZkClient 0.10: `ZkClient.fireAllEvents`, `ConcurrentHashMap` of Java 8.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from spec.formats import znode_paths as paths
from spec.formats.znode_paths import PathKind
from spec.language.terms import Kind, enumeration
from spec.model import Model
from spec.state.enumerations import Callback
from spec.variants import Switch, Switches


class Content(NamedTuple):
    """What is read of a path: the variables of what it holds, and of what its listener is given.

    They have a value for each topic, or for each partition. `still` is the variable that tells whether what is given is
    still there; `is_observed`: an observer sees the read.
    """

    stands: str
    given: str
    by_topic: bool = False
    still: str | None = None
    is_observed: bool = True


@dataclass(frozen=True)
class Listened:
    """A path that is listened to, where any of these parts is in; where none is named, always.

    An older release, by its switch, may not have known it, or only where topics are deleted. `goes_first`: a
    resignation gives it up before anything that may raise. `comes_last`: its callback comes behind that of /controller.
    """

    kind: PathKind
    callback: Callback
    parts: frozenset[str] = frozenset()
    unknown_to: Switch | None = None
    only_to_delete: Switch | None = None
    content: Content | None = None
    goes_first: bool = False
    comes_last: bool = False

    @property
    def path(self) -> str:
        """The path itself."""
        return str(self.kind.path())

    def is_in(self, parts: frozenset[str], switches: Switches, *, deletes_topics: bool) -> bool:
        """Whether a scope with these parts has it, under these switches and this `delete.topic.enable`."""
        is_known = self.unknown_to not in switches and (deletes_topics or self.only_to_delete not in switches)
        return is_known and (not self.parts or not self.parts.isdisjoint(parts))


LISTENED: Final[Mapping[str, Listened]] = {
    "brokers": Listened(paths.BROKER_IDS, Callback.BROKERS),
    "topics": Listened(
        paths.BROKER_TOPICS, Callback.TOPICS, frozenset({"creation", "deletion"}),
        content=Content("topics", "given_topics", by_topic=True),
    ),
    "deletions": Listened(
        paths.DELETE_TOPICS, Callback.DELETIONS, frozenset({"deletion"}), only_to_delete=Switch.LEAVE_REFUSED_DELETIONS,
        content=Content("deletions", "given_requests", by_topic=True),
    ),
    "isr_changes": Listened(
        paths.ISR_CHANGES, Callback.ISR_CHANGES, frozenset({"notifications"}), Switch.ANNOUNCE_NO_ISR, goes_first=True
    ),
    "reassignments": Listened(
        paths.REASSIGN_PARTITIONS, Callback.REASSIGNMENTS, frozenset({"reassignment"}),
        content=Content("requested", "given_moves"), goes_first=True,
    ),
    "elections": Listened(
        paths.PREFERRED_REPLICA_ELECTION, Callback.ELECTIONS, frozenset({"preferred_election"}),
        content=Content("elections", "given_elections", still="given_stands", is_observed=False),
        goes_first=True, comes_last=True,
    ),
}  # fmt: skip
"""All of them, by the names that their watches have in the state."""

ON_CHILDREN: Final = ("isr_changes", "brokers", "deletions", "topics")
"""Those whose children are listened to, by the hashes of their paths."""
BEHIND_CONTROLLER: Final = tuple(name for name, one in LISTENED.items() if one.comes_last)
IN_ORDER: Final = (*ON_CHILDREN, *(name for name in LISTENED if name not in ON_CHILDREN))
"""All of them, in the order of their callbacks."""
UNWATCHED_FIRST: Final = tuple(name for name, one in LISTENED.items() if one.goes_first)
KNOWN_BY: Final = frozenset(
    switch for one in LISTENED.values() for switch in (one.unknown_to, one.only_to_delete) if switch is not None
)
"""The switches that decide which of them are known."""
CALLBACKS: Final = {"controller": Callback.CONTROLLER, **{name: one.callback for name, one in LISTENED.items()}}
"""What a change of each path queues; the elector's own is among them."""


def listened(
    switches: Switches, *, deletes_topics: bool, parts: frozenset[str] | None = None, order: Iterable[str] = LISTENED
) -> dict[str, Listened]:
    """The paths that a release listens to, by their names in an order; those of some parts of the protocol, or all."""
    some = {name: LISTENED[name] for name in order}
    return {
        name: one
        for name, one in some.items()
        if one.is_in(one.parts if parts is None else parts, switches, deletes_topics=deletes_topics)
    }


def listened_paths(m: Model) -> dict[str, Callback]:
    """The paths that only a controller listens to, with the callback that each one queues."""
    switches = frozenset(one for one in KNOWN_BY if m.fixes(one))
    known = listened(switches, deletes_topics=m.scope.deletes_topics, parts=m.scope.parts)
    return {name: one.callback for name, one in known.items()}


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
