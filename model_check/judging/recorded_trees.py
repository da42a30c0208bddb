"""ZooKeeper's transactions as changes of the specification's tree: what a step must do to it, exactly.

The specification keeps of ZooKeeper who is controller, the epoch, the registered brokers, the topics, the state znodes,
the notifications, and what is assigned and to be reassigned. A transaction says how that changes; a step that is to
explain it must change it just so, and a step that explains none must leave it alone. Whether an ephemeral's owner is a
running process is in no transaction, and is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from model_check.recordings import seen
from model_check.stepping.leadership_words import in_words
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import EMPTY, PlainState, part
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.language.records import Leaf, shape_of
from spec.model import Model
from spec.protocol.admin_requests import ADMIN_REQUESTS
from spec.state.zookeeper import Leadership, ZooKeeper

NOTHING: Final = frozenset[str]()

Tree: TypeAlias = dict[str, Any]
"""What transactions show of ZooKeeper's part of a state."""

NOT_SHOWN: Final = frozenset({"controller_orphaned", "registered_orphaned"})


def _bit(member: int) -> int:
    return 1 << member - 1 if member else 0


def _epoch_written(m: Model, _tree: Tree, one: seen.EpochWritten) -> Tree:
    return {"epoch": one.epoch} | ({"epoch_version": one.version} if m.keeps(ZooKeeper.epoch_version) else {})


def _topic_created(m: Model, tree: Tree, one: seen.TopicCreated) -> Tree:
    """A topic comes with its configuration, which the tool writes before."""
    assigned = _assigned(m, tree, one.assigned) if m.keeps_assignments else {}
    return _with(tree, "topics", {one.topic: 1}) | _configured(m, tree, one.topic) | assigned


def _assignment_written(m: Model, tree: Tree, one: seen.AssignmentWritten) -> Tree:
    """A controller that writes a topic which is deleted creates it again, without its configuration (D52)."""
    return _with(tree, "topics", {one.topic: 1}) | _assigned(m, tree, one.assigned)


def _assigned(m: Model, tree: Tree, lists: Mapping[int, tuple[int, ...]]) -> Tree:
    return _with(tree, "assigned", {p: m.brokers.list_kind.encode(brokers) for p, brokers in lists.items()})


def _configured(m: Model, tree: Tree, topic: int) -> Tree:
    return _with(tree, "configurations", {topic: 1}) if m.has("deletion") else {}


def _request_changed(m: Model, tree: Tree, one: seen.RequestChanged) -> Tree:
    encode = m.brokers.list_kind.encode
    raws = {i: encode(said) if isinstance(said, tuple) else int(said) for i, said in one.says.items()}
    return _with(tree, ADMIN_REQUESTS[one.part].field, raws)


def _session_ended(_m: Model, tree: Tree, one: seen.SessionEnded) -> Tree:
    left = {"controller": 0} if one.had_controller else {}
    return left | ({"registered": tree.get("registered", 0) & ~_bit(one.by)} if one.had_registration else {})


def _notified(_m: Model, tree: Tree, one: seen.NotificationCreated) -> Tree:
    notified = tree.get("notified", EMPTY)
    return _with(tree, "notified", {p: notified.get(p, 0) | _bit(one.notice) for p in one.partitions})


def _notification_gone(_m: Model, tree: Tree, one: seen.NotificationDeleted) -> Tree:
    return _with(tree, "notified", {p: mask & ~_bit(one.notice) for p, mask in tree.get("notified", EMPTY).items()})


def _topic_deleted(m: Model, tree: Tree, one: seen.TopicDeleted) -> Tree:
    return _with(tree, "topics", {one.topic: 0}) | _with(tree, "assigned", dict.fromkeys(m.partitions_of(one.topic), 0))


def _configuration_deleted(m: Model, tree: Tree, one: seen.ConfigurationDeleted) -> Tree:
    """Whether a topic without one may elect who is not in sync, the brokers' own configuration says."""
    return _with(tree, "configurations", {one.topic: 0}) | _with(tree, "unclean", {one.topic: int(m.unclean)})


def _unclean_changed(m: Model, tree: Tree, one: seen.UncleanChanged) -> Tree:
    """The configuration is written, and be it for a topic that is not there yet."""
    return _configured(m, tree, one.topic) | _with(tree, "unclean", {one.topic: int(one.unclean)})


def _with(tree: Tree, name: str, entries: Mapping[int, Any]) -> Tree:
    """A record of the tree, with these entries; what is 0 is not there."""
    return {name: {key: value for key, value in {**tree.get(name, EMPTY), **entries}.items() if value}}


CHANGES: Final[Mapping[type[seen.ZooKeeperChange], Callable[[Model, Tree, Any], Tree]]] = {
    seen.ControllerCreated: lambda _m, _tree, one: {"controller": one.by},
    seen.ControllerDeleted: lambda _m, _tree, _one: {"controller": 0},
    seen.EpochWritten: _epoch_written,
    seen.BrokerRegistered: lambda _m, tree, one: {"registered": tree.get("registered", 0) | _bit(one.by)},
    seen.TopicCreated: _topic_created,
    seen.AssignmentWritten: _assignment_written,
    seen.RequestMade: _request_changed,
    seen.RequestWritten: _request_changed,
    seen.SessionEnded: _session_ended,
    seen.StateWritten: lambda m, tree, one: _with(tree, "state", {one.partition: raw_leadership(m, one.state)}),
    seen.NotificationCreated: _notified,
    seen.NotificationDeleted: _notification_gone,
    seen.StateDeleted: lambda _m, tree, one: _with(tree, "state", {one.partition: 0}),
    seen.TopicDeleted: _topic_deleted,
    seen.ConfigurationDeleted: _configuration_deleted,
    seen.UncleanChanged: _unclean_changed,
}
"""What each transaction changes; one that is not here changes nothing."""


def raw_leadership(m: Model, one: LeaderIsrAndControllerEpoch) -> dict[str, int]:
    """Leadership as a record of a state."""
    said, leaves = in_words(one), shape_of(Leadership, m).items()
    raws = {name: leaf.kind.encode(said[name]) for name, leaf in leaves if isinstance(leaf, Leaf)}
    return {name: raw for name, raw in raws.items() if raw}


WRITES: Final[Mapping[type[object], frozenset[str]]] = {
    seen.AssignmentWritten: frozenset({"write assignment", "add partitions", "edit assignment"}),
    seen.WriteConflicted: frozenset({"fail to write state", "fail to write /controller_epoch"}),
}
"""What is seen of a step that writes, where that need not change the tree: it may write what is there, or fail."""
REWRITES: Final = {part: frozenset({one.rewritten}) for part, one in ADMIN_REQUESTS.items() if one.rewritten}
"""Likewise of a step that writes what is left of a request."""
ALL_WRITES: Final = frozenset().union(*WRITES.values(), *REWRITES.values())


def agrees(
    m: Model, one: seen.ZooKeeperChange | None, before: PlainState, after: PlainState, events: Sequence[Seen] = ()
) -> bool:
    """Whether a step changes ZooKeeper exactly as the transaction does; without one, not at all."""
    written = ALL_WRITES.intersection(event.kind for event in events)
    wanted = REWRITES.get(one.part, NOTHING) if isinstance(one, seen.RequestWritten) else WRITES.get(type(one), NOTHING)
    if not written <= wanted or bool(written) != bool(wanted):
        return False
    if isinstance(one, seen.AssignmentWritten):  # whose it is, the tree need not tell: it may be what was there
        rewritten = (event.fields["partition"].raw for event in events if event.kind == "write assignment")
        if any(m.topic_of(p) != one.topic for p in rewritten):
            return False
    if one is None:
        return part(before, "zookeeper") is part(after, "zookeeper") or _tree(before) == _tree(after)
    tree = _tree(before)
    change = CHANGES[type(one)](m, tree, one) if type(one) in CHANGES else {}
    expected = {name: value for name, value in {**tree, **change}.items() if value}
    return expected == _tree(after)


def _tree(state: PlainState) -> Tree:
    return {name: value for name, value in part(state, "zookeeper").items() if name not in NOT_SHOWN}
