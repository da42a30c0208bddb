"""The fingerprint: everything concrete about a state of the reference that should not depend on how it was reached.

Left out, and with a reason each:

* zxids, session ids, times, the transaction log and the children's counters: they count what happened;
* the znodes between a topic and its states, and a topic's own where it is only their parent, which hold nothing;
* correlation ids and the numbers of batches, likewise; which requests belong to one batch stays in;
* the journal;
* the watches of a dead process, and those of a path without a listener: they wake nobody;
* how many new sessions a process without a controller has to hear of: the first that it hears of registers it;
* the addresses of leaders in a LeaderAndIsr, which say whom the controller knew to live; 0.10 brokers do not read them;
* the ISR, AR, data version and controller epoch that UpdateMetadata names: a broker's cache has them for clients only;
* what UpdateMetadata says of partitions that are not removed, in a scope that does not tell what a broker has cached;
* the order of the partitions in a request; that of a partition's replicas in a LeaderAndIsr, and so in a broker;
* the ISR changes that a leader has still to announce, in a scope without announcements;
* what a broker has cached of leaderships, in a scope that does not tell it;
* the logs on a broker's disk, in a scope without deletions of replicas;
* which topics' own listeners a controller holds, in a scope without deletions;
* the data versions of what is written unconditionally: assignments, what is to be reassigned, and configurations;
* that a partition was heard of which does not exist: it reads like one that was not;
* partitions whose last replica has gone while their topic's deletion is completed, which forgets them;
* what a procedure was sent: only what it asks for next can matter;
* which request for elections a controller has read, except whether it is the one in ZooKeeper where that counts;
* which reassignment request a controller has read for its write, except whether it still exists, where answers to that
  may be lost;
* what is in a controller's own batch, except that there is something: it is sent within a step, or never (D53);
* which partitions those ISR changes name that are being handled, in a scope where no controller loses topics;
* whether a controller has the id of a name's first topic, or none: a controller without it sends nothing of that topic;
* which registration of a broker a controller has read, except where broker epochs are on: nobody looks at it.

A session is replaced by its owner, and so is the znode of an ISR change.

Subtrees of one graph are walked by several processes, which meet in the same states. So the fingerprint is a digest of
a canonical text, equal in every process; `conditions` is what it is the digest of, for whoever asks what differs.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache, partial
from hashlib import blake2b
from typing import Any, Final

from model_check.refinement.abstraction.assignments import has_read_remaining
from model_check.refinement.abstraction.elections import read_elections
from model_check.refinement.history import is_of_a_reassignment
from model_check.refinement.memories import Named, items, memory_of, queued, standing
from reference.deletion.completion import DeleteTopic
from reference.forking import Notes
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import BROKER_TOPICS, broker_path, topic_path
from reference.zookeeper.api import parent_path
from spec.formats.znode_paths import TOPIC_CONFIG
from spec.state.controller import Controller
from spec.variants import Switch

SIZE = 16
"""Bytes of a fingerprint."""

MANY: Final = 1 << 16
"""How many contents are known again, which no scope that is replayed every day has."""

PARTITIONS_BELOW = "/partitions"
"""What is in the paths of the znodes below a topic's."""


class Condition:
    """Some of what the fingerprint is made of, named, with its digest."""

    def __init__(self, content: tuple[tuple[str, Hashable], ...]) -> None:
        self.content = content
        self.digest = _joined(map(_digest_of, content))


def fingerprint(cluster: MemoryCluster) -> bytes:
    """The condition of a cluster, as 16 bytes that are the same in every process."""
    return _joined(one.digest for one in _conditions(cluster))


def conditions(cluster: MemoryCluster) -> frozenset[tuple[str, Hashable]]:
    """Everything that the fingerprint is made of, named."""
    return frozenset(part for one in _conditions(cluster) for part in one.content)


def _conditions(cluster: MemoryCluster) -> Iterator[Condition]:
    """Everything; what was read of a process or of ZooKeeper's tree is not read again before that changes."""
    yield _condition(tuple(_on_the_way(cluster)))
    sessions = tuple([(process.session, process.orphan) for process in cluster.processes.values()])
    yield _kept(cluster.zookeeper.notes, sessions, lambda: sorted(_znodes(cluster)))
    for process in cluster.processes.values():
        known = cluster.can_operate(process), cluster.watches(process)
        yield _kept(process.notes, known, partial(_session, cluster, process))
        yield _condition(tuple(_read_before(cluster, process)))
        yield memory(cluster, process)


def memory(cluster: MemoryCluster, process: MemoryProcess) -> Condition:
    """What is in the memory of a process and nowhere else."""
    return _kept(process.notes, "memory", partial(memory_of, cluster, process))


def _kept(notes: Notes, key: Hashable, read: Callable[[], Iterable[tuple[str, Hashable]]]) -> Condition:
    """What is in these notes by this key, which are all that it depends on; what is not yet is read."""
    kept: Condition | None = notes.get((fingerprint, key))
    if kept is None:
        kept = notes[fingerprint, key] = _condition(tuple(read()))
    return kept


# -------------------------------------------------------------------------------------------------------------- digests


@lru_cache(maxsize=MANY)
def _condition(content: tuple[tuple[str, Hashable], ...]) -> Condition:
    """The condition of this content, of which there is one."""
    return Condition(content)


@lru_cache(maxsize=MANY)
def _digest_of(part: Hashable) -> bytes:
    return blake2b(_canonical(part), digest_size=SIZE).digest()


def _joined(digests: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(digests), digest_size=SIZE).digest()


def _canonical(value: Any) -> bytes:
    """A text that equal values share; sets are sorted by the texts of their members, and True is 1."""
    match value:
        case Enum():
            return f"{type(value).__name__}.{value.name}".encode()
        case bool():
            return b"%d" % value
        case None | int() | str() | bytes():
            return repr(value).encode()
        case tuple():
            return b"(%s)" % b",".join(map(_canonical, value))
        case frozenset():
            return b"{%s}" % b",".join(sorted(map(_canonical, value)))
        case _ if is_dataclass(value):
            members = (getattr(value, one.name) for one in fields(value))
            return type(value).__name__.encode() + _canonical(tuple(members))
    raise TypeError(f"a fingerprint cannot hold {value!r}")


# ---------------------------------------------------------------------------------------------------------------- parts


def _on_the_way(cluster: MemoryCluster) -> Named:
    """What is in no process: budgets, late copies of requests, and what a tool has read."""
    yield "budget", tuple(cluster.budget.items())
    late = cluster.late.items()
    deletions = {way: (copy.request, copy.leader_epoch) for way, copy in late if way[2] is not None}
    yield "copies that stayed behind", items(deletions)
    yield "requests that did", items({way: queued(cluster, one) for way, one in late if way[2] is None})
    if cluster.adding is not None:
        yield "topic to which partitions are being added", (cluster.adding[0], items(cluster.adding[1]))


def _znodes(cluster: MemoryCluster) -> Iterator[tuple[str, tuple[bytes, int, str]]]:
    owners = {cluster.admin_session: "admin"}
    for b, process in cluster.processes.items():
        owners |= {session: f"{b}" for session in (process.session,) if session is not None}
        owners |= {session: f"orphan of {b}" for session in (process.orphan,) if session is not None}
    for path, znode in cluster.zookeeper.tree.items():
        if _is_between(path) or (znode.data is None and parent_path(path) == BROKER_TOPICS):
            continue
        owner = owners.get(znode.ephemeral_owner, "nobody")
        yield f"znode {standing(cluster, path)}", (znode.data or b"", znode.version if _counts(path) else 0, owner)


@cache
def _is_between(path: str) -> bool:
    """Whether this is the path of a znode between a topic and its states."""
    return PARTITIONS_BELOW in path and not path.endswith("/state")


@cache
def _counts(path: str) -> bool:
    """Whether anybody writes the znode of this path on a condition."""
    return not (is_of_a_reassignment(path) or path.startswith(TOPIC_CONFIG.prefix))


def _session(cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """Whether the session of a process lives, and what it watches."""
    b = process.broker_id
    yield f"session of {b} lives", cluster.can_operate(process)
    if process.session is not None:
        listened = ((kind.name, path) for kind, path in cluster.watches(process) if process.listens_to(path))
        yield f"watches of {b}", frozenset(listened)


def _read_before(cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """What has become in ZooKeeper of what a process has read there."""
    b = process.broker_id
    if process.running is not None:
        handled: frozenset[str] = getattr(process.running.options[0], "taken", frozenset())
        gone = frozenset(standing(cluster, path) for path in handled if path not in cluster.zookeeper.tree)
        yield f"notifications that {b} handles and that are gone", gone
        topics = [one.topic for one in process.running.choices.values() if isinstance(one, DeleteTopic) and one.below]
        yield f"{b} deletes what is below", tuple(one for one in topics if topic_path(one) in cluster.zookeeper.tree)
    if process.controller is not None and Switch.KEEP_UNREAD_REQUESTS in cluster.switches:
        stand = read_elections(cluster, process, process.controller, "")
        yield f"requests that {b} has read, and is given, are still there", tuple(stand)
    if process.controller is not None and cluster.model.keeps(Controller.remaining_read):
        yield f"request that {b} has read for its write is still there", has_read_remaining(cluster, process)
    if process.controller is not None and Switch.BROKER_EPOCHS in cluster.switches:
        known = process.controller.known_broker_epochs()
        yield (
            f"registrations that {b} knows",
            frozenset((r, cluster.stands(broker_path(r), one)) for r, one in known.items()),
        )
