"""What a model's variables and parameters are called where people read: `controller 1's leader epoch of [a,0]`.

The names follow the records of the state (spec/state/): its owner, what it is, and of which partition, topic or broker
it is. A variable after a step has its name with a mark, and is said to be so. What is no variable of the protocol's
keeps its name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from spec.formats.kafka_types import TopicPartition
from spec.language.records import Declared, Each, Nested, Record
from spec.model import Model
from spec.state.cluster import State, root_of

AFTER: Final = "'"
"""The mark of a variable's value after the step, behind its name."""
OWNERS: Final = {"controllers": "controller", "brokers": "broker", "processes": "broker", "logs": "broker"}
QUEUES: Final = {
    "connections": "{2} of the queue from controller {0} to broker {1}",
    "late": "the late copies from controller {} to broker {}",
    "late_requests": "the late request from controller {} to broker {}",
}
"""What is between a controller and a broker."""
SAID: Final = {
    "zookeeper.controller": "/controller",
    "zookeeper.epoch": "/controller_epoch",
    "zookeeper.registered": "/brokers/ids",
    "zookeeper.controller_orphaned": "/controller left by an earlier incarnation",
    "zookeeper.registered_orphaned": "/brokers/ids left by earlier incarnations",
}
"""Znodes that everybody knows by their paths."""
WORDS: Final = {
    "isr": "ISR", "assigned": "AR", "requested": "RAR", "original": "OAR", "at": "place in its code",
    "logs": "log", "replicas": "state", "live": "live brokers", "stop": "StopReplica",
    "delete": "StopReplica with delete", "alive": "live brokers", "orphan": "orphaned session",
    "visiting": "replicas to visit", "owes": "registration to do", "deletion": "deletion thread",
    "queued": "queued deletion", "reassigned": "RAR",
    "callbacks": "queued callback", "electing": "running election", "shutdown_of": "broker to shut down",
    "ineligible": "held-back deletion", "ordered": "LeaderAndIsr", "metadata": "UpdateMetadata",
    "told": "UpdateMetadata", "told_epoch": "UpdateMetadata's leader epoch",
}  # fmt: skip
"""Fields by other names than theirs."""
ZNODES: Final = {
    **WORDS, "topics": "znode", "deletions": "deletion request", "elections": "election request",
    "notified": "notification", "configurations": "configuration", "unclean": "unclean election",
}  # fmt: skip
"""What ZooKeeper has of each topic or partition."""
PAST: Final = {**WORDS, "acted": "actions", "asked": "deletion request"}
"""What has been, as the state remembers it."""
DROPPED: Final = ("partitions", "state")
"""Arrays of records that go without saying where it is said which partition it is."""
PART: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]")


@dataclass(frozen=True)
class Names:
    """The names of the things of a model; None is a system of other things, whose names stay as they are."""

    model: Model | None
    partitions: tuple[TopicPartition, ...] = ()
    """What the partitions are called by number, where it is not the scope that says so."""

    def of(self, path: str) -> str:
        """A variable in words."""
        plain = path.removesuffix(AFTER)
        return self._words(plain) + (" after the step" if plain != path else "")

    def thing(self, kind: str, number: object) -> str:
        """A thing by its kind and number: `broker 2`, `[a,0]`, `topic a`."""
        partitions, place = self._partitions, int(str(number)) if kind in {"partition", "topic"} else 0
        if kind == "partition" and place < len(partitions):  # a purgatory has others than its scope
            return f"[{partitions[place].topic},{partitions[place].partition}]"
        topics = tuple(dict.fromkeys(one.topic for one in partitions))
        if kind == "topic" and place < len(topics):
            return f"topic {topics[place]}"
        return f"{kind} {number}"

    def every_partition(self) -> tuple[str, ...]:
        """What the partitions are called, by number."""
        return tuple(self.thing("partition", number) for number in range(len(self._partitions)))

    @property
    def _partitions(self) -> tuple[TopicPartition, ...]:
        return self.partitions or (self.model.scope.partition_names if self.model is not None else ())

    def parameter(self, name: str, number: int) -> str:
        """A parameter of an action or a claim in words; one that has none as it is written."""
        if name in KINDS:
            return self.thing(KINDS[name], number)
        if name == "lost":
            return f"{number} events lost"
        if name == "lagging" and self.model is not None:
            return f"followers {self.model.brokers.set_kind.show(number)}"
        return f"{name}={number}"

    def parameters(self, given: Mapping[str, int]) -> str:
        """All parameters of an action or a claim: `controller 1, [a,0]`."""
        return ", ".join(self.parameter(name, number) for name, number in given.items())

    def _words(self, path: str) -> str:
        if path in SAID or self.model is None or root_of(self.model) is not State:
            return SAID.get(path, path)
        root, *rest = parts = _parts(self.model, path)
        if root.text in QUEUES and len(rest) > 1:
            return self._queued(root.text, rest)
        if root.text in OWNERS:
            own = [root] if root.text == "logs" else []
            return f"{OWNERS[root.text]} {rest[0].text}'s {self._chain([*own, *rest[1:]])}"
        if root.text == "zookeeper":
            return f"the {self._chain(rest, ZNODES)} in ZooKeeper"
        if root.text == "history":
            return f"the past {self._chain(rest, PAST)}"
        before = "what is left of " if root.text == "budget" else ""
        return before + self._chain(rest if before else parts)

    def _queued(self, root: str, rest: Sequence["Part"]) -> str:
        """What is on its way from a controller to a broker, and at which place of the queue."""
        place = [one.text for one in rest[2:3] if one.index_of == "slot"]
        batch = "".join("the head" if one == "0" else f"place {one}" for one in place)
        between = QUEUES[root].format(*(one.text for one in rest[:2]), batch)
        return f"the {self._chain(rest[2 + len(place) :])} in {between}"

    def _chain(self, parts: Sequence["Part"], words: Mapping[str, str] = WORDS) -> str:
        """What a field is, then of which things it is."""
        of = [self.thing(one.index_of, one.text) for one in parts if one.index_of not in WITHOUT_NUMBER]
        named = [one.text for one in parts if one.index_of in WITHOUT_NUMBER]
        fields = [one for place, one in enumerate(named) if one not in DROPPED or place == len(named) - 1]
        what = " ".join(words.get(one, one.replace("_", " ")) for one in fields)
        what = "knowledge" if of and what == "topics" else what
        return f"{what} of {', '.join(of)}" if of else what


class Part(NamedTuple):
    """A part of a path: the name of a field, or an index, and then of which things."""

    text: str
    index_of: str = ""


WITHOUT_NUMBER: Final = ("", "path", "fault")
"""What is named, not numbered."""
KINDS: Final = {
    "c": "controller", "b": "broker", "p": "partition", "r": "replica", "t": "topic", "n": "notification",
    "k": "place", "o": "operation", "h": "preferred leader",
}  # fmt: skip
"""What the parameters of actions and claims are."""


@cache
def _parts(model: Model, path: str) -> tuple[Part, ...]:
    """The parts of a path, each index with what it is an index of."""
    texts = [name or number for name, number in PART.findall(path)]
    return tuple(map(Part, texts, _index_of(root_of(model), texts, model)))


def _index_of(record: type[Record], parts: Iterable[str], model: Model) -> Iterator[str]:
    """Follow a path through records and arrays."""
    at: Declared[Any] | None = None
    fields = dict(record.declared)
    for part in parts:
        if isinstance(at, Each):
            yield "partition" if at.over.text.startswith("partition") else at.over.text
            at = at.one
        else:
            yield ""
            at = fields.get(part)
        while isinstance(at, Nested) or (isinstance(at, Each) and _stands_alone(at, model)):
            if isinstance(at, Nested):
                fields, at = dict(at.record.declared), None
            else:
                at = at.one


def _stands_alone(array: Each[Any, Any], model: Model) -> bool:
    """Whether a model has no indices of an array, so that its one thing is there by itself."""
    return not array.over.indexed and array.over.of(model, None) is None
