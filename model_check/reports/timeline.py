"""A story as a time line: lanes for ZooKeeper, each controller and each broker, and what goes between them.

Rows are the steps, counted from 0, the initial state. A lane that is a process has bars of its sessions; a
controller's has bands of the epoch in which it acts, so that two which act at once are side by side. An operation is
an arrow to ZooKeeper; a request is one from the step that queues it to the step that delivers it, or to nowhere.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from model_check.verdicts.results import Event, Step, Story

ZOOKEEPER: Final = "zookeeper"
REQUESTS: Final[Mapping[str, str]] = {
    "become leader": "LeaderAndIsr", "become follower": "LeaderAndIsr", "cannot become follower": "LeaderAndIsr",
    "is not assigned": "LeaderAndIsr", "cache metadata": "UpdateMetadata", "stop replica": "StopReplica",
}  # fmt: skip
"""Which request it is that a broker handles so; where it refuses, ignores or fails one, the name is said."""
OUTCOMES: Final[Mapping[str, str]] = {"refuse": "refused", "ignore": "refused", "fail": "failed"}
"""What becomes of a request that a broker does not do, by the first word that is said of it; others are accepted."""
WHOLE: Final = "LeaderAndIsr"
"""A request that is refused or fails for all its partitions at once."""
OPERATION: Final = re.compile(
    "(?:fail to )?(read|write|create|delete|remove|edit|add|request|withdraw|change) "
    "(?=/|state|assignment|isr_|delete_topics|topic|configuration|election|partitions|unclean)"
)
"""An operation on ZooKeeper's tree, and whether it fails."""
RAISES: Final = re.compile("(?:fail to )?(?:write|create) /controller_epoch")
"""Where a controller has an epoch of its own: it has raised the znode, or thinks so."""
ORDINARY: Final = frozenset(
    {
        "additions", "creations", "deletions", "elections", "joint_shrinks", "move_withdrawals", "reassignments",
        "shrinks", "shutdowns", "unclean_changes", "updates", "withdrawals",
    }
)  # fmt: skip
"""Budgets of what people and leaders do every day; the others are of faults."""
CHANGE: Final = re.compile(r"(?P<variable>\S+): (?P<old>.*?) -> (?P<new>.*)")
NUMBER: Final = re.compile("[0-9]{1,9}")
WITHOUT: Final = ("partition", "broker", "controller_epoch", "version")
"""Fields that a label leaves out, or says otherwise."""
MOST_STEPS: Final = 5_000
"""Of a longer story the last steps are drawn."""


class Span(NamedTuple):
    """A bar of a lane, from a row until another one: a session, or the epoch of a controller."""

    lane: str
    first: int
    last: int
    value: str
    ends: bool
    """Whether it ends there, and not only the story."""


class Operation(NamedTuple):
    """What somebody does in ZooKeeper: `kind` is read, or what it changes."""

    row: int
    lane: str
    kind: str
    label: str
    fails: bool


class Request(NamedTuple):
    """What a controller sends a broker, and what becomes of it: accepted, refused by a fence, failed, or lost.

    `sent` is None where it was on its way before, or is a late copy; `delivered` where nobody saw it arrive.
    """

    kind: str
    sender: str
    receiver: str
    sent: int | None
    delivered: int | None
    label: str
    outcome: str


@dataclass(frozen=True)
class Timeline:
    """All that is drawn. `places` says which lane is the first, the second and so on."""

    places: Mapping[str, int]
    rows: int
    sessions: tuple[Span, ...]
    epochs: tuple[Span, ...]
    operations: tuple[Operation, ...]
    requests: tuple[Request, ...]

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes in their order."""
        return tuple(self.places)


def shortened(story: Story) -> tuple[Story, int]:
    """A story with no more steps than are drawn, and how many come before them."""
    left_out = max(len(story.steps) - MOST_STEPS, 0)
    if not left_out:
        return story, 0
    state = dict(story.initial)
    for step in story.steps[:left_out]:
        for one in step.changes:
            if found := CHANGE.fullmatch(one):
                state[found["variable"]] = found["new"]
    return replace(story, steps=story.steps[left_out:], initial=state), left_out


def timeline(story: Story) -> Timeline:
    """The time line of a story that is printed."""
    operations = tuple(one for row, step in enumerate(story.steps, 1) for one in _operations(story, row, step))
    requests = tuple(_Sending(story).requests())
    lanes = {one: number for number, one in enumerate(sorted(_lanes(story), key=_place))}
    changes = _changes(story)
    sessions, epochs = tuple(_sessions(story, changes, lanes)), tuple(_epochs(story, changes, lanes))
    return Timeline(lanes, len(story.steps), sessions, epochs, operations, requests)


def _lanes(story: Story) -> set[str]:
    """The processes that do something, are sent something, or are a controller at work from the beginning."""
    found = {ZOOKEEPER}
    for step in story.steps:
        found |= {step.actor, *map(_actor, step.events)}
        found |= {f"broker {one.fields['broker']}" for one in step.events if _is_queued(one)}
    at_work = (re.fullmatch(r"controllers\[(\d+)\]\.active", name) for name in story.initial)
    return found | {f"controller {one[1]}" for one in at_work if one and story.initial[one[0]] == "yes"}


def _place(lane: str) -> tuple[int, int, str]:
    """ZooKeeper first, then controllers and brokers by number, then everybody else."""
    name, _, number = lane.partition(" ")
    known = [ZOOKEEPER, "controller", "broker"]
    return (known.index(name) if name in known else len(known), int(number) if NUMBER.fullmatch(number) else 0, lane)


def is_fault(step: Step) -> bool:
    """Whether a step is something that goes wrong: it draws on a budget of faults."""
    return bool(step.budget) and step.budget not in ORDINARY


# ---------------------------------------------------------------------------------------------- operations and requests


def _operations(story: Story, row: int, step: Step) -> Iterator[Operation]:
    for one in step.events:
        found = OPERATION.match(one.what)
        if found and _actor(one) != ZOOKEEPER:
            yield Operation(row, _actor(one), found[1], label(story, one), one.what.startswith("fail "))


def _actor(event: Event) -> str:
    """The actor of an event; a broker's registration is seen of ZooKeeper, which names the process."""
    registers = event.who == ZOOKEEPER and event.what.startswith("create ") and "process" in event.fields
    return f"broker {event.fields['process']}" if registers else event.who


def label(story: Story, event: Event) -> str:
    """An event in few words: `write state [a,0] leader=1 leader_epoch=1 isr=[1]`."""
    partition = f" {story.partition(event.fields['partition'])}" if "partition" in event.fields else ""
    fields = (f"{name}={value}" for name, value in event.fields.items() if name not in WITHOUT)
    return " ".join([f"{event.what}{partition}", *fields])


def _is_queued(event: Event) -> bool:
    return event.what.startswith("queue ") and "broker" in event.fields


def _kind(event: Event) -> str | None:
    """The request that an event is about, if it is one."""
    if event.what in REQUESTS:
        return REQUESTS[event.what]
    return next((one for one in REQUESTS.values() if event.what.endswith(f" {one}")), None)


Queued: TypeAlias = tuple[int, Event]
"""A row, and the event that queued something there."""


class _Sending:
    """The requests of a story: what is queued for a broker waits in order, until it arrives or its channel is dropped.

    What arrives is the first that waits of its kind and partition with the same contents: those before it were lost.
    """

    def __init__(self, story: Story) -> None:
        self.story, self.steps = story, story.steps
        self.waiting = defaultdict[tuple[str, str], dict[tuple[str, str | None], deque[Queued]]](dict)
        self.lost: list[Request] = []

    def requests(self) -> Iterator[Request]:
        """All requests: those that arrive in the order in which they do, then those that nobody gets."""
        for row, step in enumerate(self.steps, 1):
            self._drop_channels(step)
            for event in step.events:
                if _is_queued(event):
                    queues = self.waiting[event.who, f"broker {event.fields['broker']}"]
                    queues.setdefault((_kind(event) or "", event.fields.get("partition")), deque()).append((row, event))
            yield from self._delivered(row, step)
        for channel in list(self.waiting):
            self._lose(*channel)
        yield from self.lost

    def _drop_channels(self, step: Step) -> None:
        """What waits for a broker is lost where its channel is closed, or where the controller dies."""
        for one in step.changes:
            if found := re.fullmatch(r"controllers\[(\d+)\]\.channels: \{(.*)\} -> \{(.*)\}", one):
                for broker in set(found[2].split(",")) - set(found[3].split(",")):
                    self._lose(f"controller {found[1]}", f"broker {broker}")
            elif found := re.fullmatch(r"processes\[(\d+)\]\.session: \S+ -> NONE", one):
                for sender, receiver in [key for key in self.waiting if key[0] == f"controller {found[1]}"]:
                    self._lose(sender, receiver)

    def _lose(self, sender: str, receiver: str) -> None:
        for queue in self.waiting.pop((sender, receiver), {}).values():
            self.lost += [self._lost(sender, receiver, one) for one in queue]

    def _lost(self, sender: str, receiver: str, queued: Queued) -> Request:
        row, event = queued
        told = label(self.story, event).removeprefix("queue ")
        return Request(_kind(event) or "", sender, receiver, row, None, told, "lost")

    def _delivered(self, row: int, step: Step) -> Iterator[Request]:
        """What a step hands over; which controller's it is the action says, and a late copy was in no queue."""
        found = re.search(r"\bc=(\d+)", step.action)
        for event in step.events if found else ():
            kind = _kind(event)
            if kind is None or not event.who.startswith("broker "):
                continue
            sender = f"controller {found[1]}" if found else ""
            taken = self._taken(sender, kind, event) if step.action.startswith("deliver_") else None
            words = label(self.story, event)
            told = words if kind in event.what else f"{kind}: {words}"
            outcome = OUTCOMES.get(event.what.split(" ")[0], "accepted")
            yield Request(kind, sender, event.who, None if taken is None else taken[0], row, told, outcome)

    def _taken(self, sender: str, kind: str, event: Event) -> Queued | None:
        """What arrives of what waits: for a partition, or, where a request is refused as a whole, for all of a row."""
        queues, partition = self.waiting[sender, event.who], event.fields.get("partition")
        if kind == WHOLE and partition is None:
            heads = [queue[0] for (name, _), queue in queues.items() if name == kind and queue]
            first = min(heads, key=lambda one: one[0], default=None)
            for (name, _), queue in queues.items():
                while name == kind and queue and first is not None and queue[0][0] == first[0]:
                    queue.popleft()
            return first
        queue = queues.get((kind, partition), deque())
        while queue:
            one = queue.popleft()
            if _same(one[1], event) or not any(_same(other, event) for _, other in queue):
                return one
            self.lost.append(self._lost(sender, event.who, one))
        return None


def _same(queued: Event, event: Event) -> bool:
    """Whether what was queued and what arrives are of the same contents, as far as both tell of them."""
    both = (queued.fields.keys() & event.fields.keys()) - {"broker", "isr"}
    return all(queued.fields[name] == event.fields[name] for name in both)


# -------------------------------------------------------------------------------------------------- sessions and epochs

Changes: TypeAlias = Mapping[str, list[tuple[int, str]]]
"""By variable, the rows in which it changes, and what it is then."""


def _changes(story: Story) -> Changes:
    found = defaultdict[str, list[tuple[int, str]]](list)
    for row, step in enumerate(story.steps, 1):
        for one in step.changes:
            if change := CHANGE.fullmatch(one):
                found[change["variable"]].append((row, change["new"]))
    return found


def _sessions(story: Story, changes: Changes, lanes: Mapping[str, int]) -> Iterator[Span]:
    """The sessions of each process: one that lives, and one that a process has lost without knowing it yet."""
    for lane in lanes:
        number = lane.partition(" ")[2]
        if number:
            spans = _spans(story, changes, lane, f"processes[{number}].session")
            yield from (one for one in spans if one.value != "NONE")


def _epochs(story: Story, changes: Changes, lanes: Mapping[str, int]) -> Iterator[Span]:
    """The epochs in which each controller acts, from when it has raised the znode until it resigns or dies."""
    for lane in lanes:
        name, _, number = lane.partition(" ")
        if name != "controller":
            continue
        active = _spans(story, changes, lane, f"controllers[{number}].active")
        acts = [one for one in active if one.value == "yes"]
        dead = [one for one in _spans(story, changes, lane, f"processes[{number}].session") if one.value == "NONE"]
        ends = [*(one.last for one in acts if one.ends), *(one.first for one in dead)]
        for one in _spans(story, changes, lane, f"controllers[{number}].epoch"):
            began = [max(one.first, act.first) for act in acts if act.first < one.last and one.first < act.last]
            if one.first and any(RAISES.match(event.what) for event in story.steps[one.first - 1].events):
                began = [one.first]
            if one.value in {"", "0", "-1"} or not began:
                continue
            last = min([one.last, *(end for end in ends if end > began[0])])
            yield Span(lane, began[0], last, one.value, one.ends or last < one.last)


def _spans(story: Story, changes: Changes, lane: str, variable: str) -> list[Span]:
    """How long a variable has each of its values; nothing of one that the story does not have."""
    value, since, found = story.initial.get(variable, ""), 0, list[Span]()
    for row, new in changes.get(variable, ()):
        if value or since:
            found.append(Span(lane, since, row, value, ends=True))
        value, since = new, row
    return [*found, Span(lane, since, len(story.steps) + 1, value, ends=False)] if value else found
