"""Scopes: the named bounds within which the protocol is explored.

A scope says how many brokers and eligible controllers there are, which partitions with which assigned replicas, how
much may go wrong (budgets), how long queues may grow and how far epochs may count, and which parts of the protocol are
in. The scopes stand in manifest.toml, with the exact counts and the verdicts that each must give.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

from spec.errors import MalformedInput, UnknownName, Where
from spec.formats.kafka_types import TopicPartition
from spec.language.broker_lists import FEW, NOBODY, plain
from spec.language.lists_in_use import Members
from spec.manifest import SOURCE, manifest

PARTS: Final[Mapping[str, frozenset[str]]] = {
    "partitions": frozenset(),
    "connections": frozenset(),
    "metadata": frozenset({"several_requests"}),
    "creation": frozenset({"changing_topics"}),
    "deletion": frozenset({"stopped_replicas", "changing_topics", "several_requests", "pending_requests"}),
    "notifications": frozenset(),
    "reassignment": frozenset({"stopped_replicas", "busy_topics", "pending_requests"}),
    "preferred_election": frozenset({"busy_topics", "pending_requests", "failing_requests", "preferred_leaders"}),
    "auto_rebalance": frozenset({"preferred_leaders"}),
    "shutdown": frozenset({"stopped_replicas"}),
    "failed_removals": frozenset(),
    "delayed_operations": frozenset(),
    "dead_replicas": frozenset(),
    "cached_leaderships": frozenset(),
    "addition": frozenset(),
    "remembered_requests": frozenset(),
    "soft_failures": frozenset(),
    "notification_reads": frozenset(),
}
"""The parts of the protocol, and what a rule may ask for that each of them brings.

That is StopReplica to living brokers, topics that come or go, topics that are not to be deleted now, batches of several
kinds of requests; requests that a failover reads, and such as may end it (D42); and the preferred selector.
"""
BUDGETS = (
    "crashes", "expiries", "exceptions", "shrinks", "losses", "resends", "early_starts", "creations", "deletions",
    "reassignments", "elections", "withdrawals", "shutdowns", "updates", "removals", "late_copies", "additions",
    "heard_expiries", "stray_deletions", "state_removals", "slow_notes", "move_losses", "deletion_losses",
    "joint_shrinks", "stale_fetches", "failed_sends", "move_withdrawals", "controller_removals",
    "unclean_changes", "half_requests", "early_reads", "late_requests", "failed_deletions", "edits",
)  # fmt: skip

TOPICS: Final = "abcdefgh"
"""The names of topics, by number."""

IMBALANCE_PERCENTAGE = 10
"""Kafka's default of `leader.imbalance.per.broker.percentage`."""

APART = frozenset({"delayed_operations"})
"""Parts that are systems of their own: a scope with one has nothing else of the protocol."""


@dataclass(frozen=True)
class Purgatory:
    """Bounds of a purgatory: the topics that each CreateTopics request names, and those of them that it cannot create.

    `partitions` says how many each topic has, `updaters` how many threads handle UpdateMetadata, `purge_interval` how
    many completed operations may stay on lists.
    """

    requests: tuple[tuple[int, ...], ...]
    refused: tuple[tuple[int, ...], ...]
    partitions: tuple[int, ...]
    updaters: int = 1
    purge_interval: int = 0


@dataclass(frozen=True)
class Scope:
    """Bounds of one exploration.

    `assigned` holds the AR of each partition, `topic_of` its topic (empty: all are of one); `added` are the partitions
    that the topic does not have at first. `requests` are the reassignments that the admin may ask for, each the RAR of
    every partition (empty: it is not in the request; only 0: an empty list is; -2: the text "2"). `edited` are the
    assignments that somebody may write by hand, each the AR of every partition (empty: it is left as it is).

    `cold` starts with nothing running; otherwise controller 1 is at work, everything is registered and every request is
    answered. `versions` bounds leader epochs and data versions, `notification_capacity` how many of a broker's ISR
    change notifications stand at a time; `deletes_topics` is `delete.topic.enable`, `imbalance_percentage` is
    `leader.imbalance.per.broker.percentage`, and `shutdown_tries` is `controlled.shutdown.max.retries` (0: not known,
    any number). With `topics_stand` the topics are there from the start also where topics are created. With
    `reads_rearm` what a controller reads amidst its work, of a state znode that it listens to or of the reassignments,
    sets the watch again; the callbacks that come of it find what others find, too, so only what is compared with a real
    controller, callback by callback, needs them. Likewise `fires_by_hash`: after an expiry the listeners on children
    come as ZkClient's table has them, not in the order of their subscription; and `states_fire` has the partitions in
    the order in which the callbacks of their state znodes come then (empty: by number).
    """

    name: str
    statement: str
    brokers: int
    controllers: int
    assigned: tuple[tuple[int, ...], ...] = ()
    topic_of: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    requests: tuple[tuple[tuple[int, ...], ...], ...] = ()
    edited: tuple[tuple[tuple[int, ...], ...], ...] = ()
    parts: frozenset[str] = frozenset()
    budgets: tuple[tuple[str, int], ...] = ()
    connection_capacity: int = 2
    callback_capacity: int = 4
    notification_capacity: int = 1
    controller_epochs: int = 7
    versions: int = 7
    unclean: bool = False
    deletes_topics: bool = True
    imbalance_percentage: int = IMBALANCE_PERCENTAGE
    shutdown_tries: int = 1
    cold: bool = False
    purgatory: Purgatory | None = None
    topics_stand: bool = False
    reads_rearm: bool = False
    fires_by_hash: bool = False
    states_fire: tuple[int, ...] = ()

    def budget(self, name: str) -> int:
        """How often a kind of fault may happen."""
        return dict(self.budgets).get(name, 0)

    @property
    def partition_names(self) -> tuple[TopicPartition, ...]:
        """The partitions as a cluster calls them, by number: those of topic a, of topic b and so on."""
        topics = [TOPICS[topic] for topic in self.topic_of or (0,) * len(self.assigned)]
        return tuple(TopicPartition(topic, topics[:place].count(topic)) for place, topic in enumerate(topics))

    @property
    def odd_targets(self) -> tuple[Members, ...]:
        """RAR of a request that is no list of distinct brokers: nobody, one twice, or text."""
        named = dict.fromkeys(replicas for one in self.requests for replicas in one)
        return tuple(replicas for replicas in named if replicas != plain(replicas))

    @property
    def features(self) -> frozenset[str]:
        """The parts that are in, the budgets that are not zero, and `unclean`: what a rule or a claim may ask for."""
        return self.parts | {name for name, limit in self.budgets if limit} | ({"unclean"} if self.unclean else set())


@cache
def scopes() -> Mapping[str, Scope]:
    """Every scope of the manifest by name."""
    return {name: _read(name, entry["bounds"]) for name, entry in manifest()["scope"].items()}


def scope(name: str) -> Scope:
    """The scope of that name; UnknownName lists the known ones."""
    known = manifest()["scope"]
    if name not in known:
        raise UnknownName("scope", name, known, listed_by="kcheck show scopes")
    bounds = known[name]["bounds"]
    before, found = _known.get(name, (None, None))
    if found is None or before is not bounds:
        found = _read(name, bounds)
        _known[name] = bounds, found
    return found


_known: dict[str, tuple[Mapping[str, Any], Scope]] = {}
"""The scopes that were asked for, each with the table that it was read from: some are asked for a thousand times."""


def _read(name: str, bounds: Mapping[str, Any]) -> Scope:
    """A scope from its table, refusing keys, parts and budgets that do not exist, and replicas on no broker."""
    _refuse_unknown(name, bounds, [one.name for one in fields(Scope)])
    given = _values(bounds, Scope, Where(f"{SOURCE} scope {name}"))
    _refuse_unknown(name, bounds.get("budgets", {}), BUDGETS)
    _refuse_unknown(name, bounds.get("parts", ()), PARTS)
    given["budgets"] = tuple(bounds.get("budgets", {}).items())
    given["purgatory"] = _read_purgatory(name, bounds["purgatory"]) if "purgatory" in bounds else None
    for required in ("statement", "brokers", "controllers"):
        if required not in given:
            raise _malformed(name, required, "is missing")
    return _sensible(Scope(name=name, **given))


def _sensible(one: Scope) -> Scope:
    """The scope itself, if its numbers go together."""
    if one.brokers > FEW:
        raise _malformed(one.name, "brokers", f"is more than {FEW}, of which all lists can be walked through")
    if not 1 <= one.controllers <= one.brokers:
        raise _malformed(one.name, "controllers", f"is not from 1 to {one.brokers}, the number of brokers")
    for replicas in one.assigned:
        if not replicas or not _are_brokers(one, replicas):
            raise _malformed(one.name, "assigned", f"{list(replicas)} are no distinct brokers from 1 to {one.brokers}")
    _refuse_requests(one)
    if len(one.topic_of) not in {0, len(one.assigned)}:
        raise _malformed(one.name, "topic_of", f"names {len(one.topic_of)} topics for {len(one.assigned)} partitions")
    if bool(one.added or one.edited) != ("addition" in one.parts) or not set(one.added) <= set(
        range(len(one.assigned))
    ):
        raise _malformed(one.name, "added", "goes, as edited does, with the part addition, and names partitions of it")
    _refuse_edits(one)
    if bool(one.assigned) != ("partitions" in one.parts):
        raise _malformed(one.name, "assigned", "goes with the part partitions, and neither is without the other")
    if (one.purgatory is not None) != bool(one.parts & APART):
        raise _malformed(
            one.name, "purgatory", "goes with the part delayed_operations, and neither is without the other"
        )
    if one.parts & APART and (one.parts > APART or not one.cold):
        raise _malformed(one.name, "parts", "delayed_operations is a system of its own, cold and without other parts")
    return one


def _refuse_requests(one: Scope) -> None:
    """Refuse reassignments to no brokers, or of other partitions, or without the part."""
    for request in one.requests:
        if len(request) != len(one.assigned) or not all(_may_be_asked(one, replicas) for replicas in request):
            raise _malformed(one.name, "requests", f"{list(map(list, request))} has no brokers for each partition")
    if bool(one.requests) != ("reassignment" in one.parts):
        raise _malformed(one.name, "requests", "goes with the part reassignment, and neither is without the other")


def _refuse_edits(one: Scope) -> None:
    """Refuse edits of other partitions, of several topics at once, to no distinct brokers, or that nobody may make."""
    topic_of = one.topic_of or (0,) * len(one.assigned)
    for edit in one.edited:
        topics = {topic_of[p] for p, replicas in enumerate(edit) if replicas} if len(edit) == len(topic_of) else set()
        if len(topics) != 1 or not all(_are_brokers(one, replicas) for replicas in edit if replicas):
            raise _malformed(one.name, "edited", f"{list(map(list, edit))} has no distinct brokers for one topic's AR")
    if bool(one.edited) != bool(one.budget("edits")):
        raise _malformed(one.name, "edited", "goes with the budget edits, and neither is without the other")


def _read_purgatory(name: str, given: Mapping[str, Any]) -> Purgatory:
    """A purgatory from its table, refusing unknown keys and requests that name no topic, or one that is not there."""
    _refuse_unknown(name, given, [one.name for one in fields(Purgatory)])
    for required in ("requests", "refused", "partitions"):
        if required not in given:
            raise _malformed(name, f"purgatory.{required}", "is missing")
    one = Purgatory(**_values(given, Purgatory, Where(f"{SOURCE} scope {name}", "purgatory")))
    for topics in one.requests:
        if not topics or not set(topics) <= set(range(len(one.partitions))) or len(set(topics)) < len(topics):
            raise _malformed(name, "purgatory.requests", f"{list(topics)} are no distinct topics with partitions")
    if [set(r) <= set(t) for r, t in zip(one.refused, one.requests, strict=False)] != [True] * len(one.requests):
        raise _malformed(name, "purgatory.refused", "is not, request by request, some of the topics that it names")
    return one


def _are_brokers(one: Scope, replicas: tuple[int, ...]) -> bool:
    """Whether these are brokers of the scope, none of them twice."""
    return len(set(replicas)) == len(replicas) and set(replicas) <= {*range(1, one.brokers + 1)}


def _may_be_asked(one: Scope, replicas: tuple[int, ...]) -> bool:
    """Whether a request may name these: brokers of the scope, as numbers or as text, or nobody."""
    return replicas == NOBODY or {abs(broker) for broker in replicas} <= {*range(1, one.brokers + 1)}


def _refuse_unknown(scope_name: str, given: Any, known: Any) -> None:
    for key in given:
        if key not in known:
            raise _malformed(scope_name, key, f"is not one of {', '.join(known)}")


def _values(given: Mapping[str, Any], record: type, where: Where) -> dict[str, Any]:
    """The values of a record's fields, refusing those of another type; TOML has tables for budgets and purgatories."""
    kinds = {**get_type_hints(record), "budgets": Mapping[str, int], "purgatory": Mapping[str, object]}
    return {key: _value(value, kinds[key], where.key(key)) for key, value in given.items()}


def _value(given: Any, kind: Any, where: Where) -> Any:
    """A value of a kind; TOML has lists for tuples and sets."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None:
        if type(given) is not kind and kind is not object:
            where.refuse(f"is not of type {kind.__name__}")
        return given
    if origin is Mapping:
        if not isinstance(given, Mapping):
            where.refuse("is no table")
        return {key: _value(one, inner[1], where.key(key)) for key, one in given.items()}
    if not isinstance(given, list):
        where.refuse("is no list")
    return origin(_value(one, inner[0], where.item(index)) for index, one in enumerate(given))


def _malformed(scope_name: str, key: str, reason: str) -> MalformedInput:
    return MalformedInput(f"{SOURCE} scope {scope_name}", key, reason)
