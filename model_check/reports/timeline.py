"""A story as a time line: lanes for ZooKeeper, each controller and each broker, and what goes between them.

Rows are the steps, counted from 0, the initial state. A lane that is a process has bars of its sessions; a
controller's has bands of the epoch in which it acts, so that two which act at once stand side by side. An operation is
an arrow to ZooKeeper; a request is one from the step that queues it to the step that delivers it, or to nowhere.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from model_check.verdicts.results import Event, Step, Story

ZOOKEEPER: Final = "zookeeper"
REQUESTS: Final[Mapping[str, str]] = {
    "become leader": "LeaderAndIsr", "become follower": "LeaderAndIsr", "cannot become follower": "LeaderAndIsr",
    "is not assigned": "LeaderAndIsr", "cache metadata": "UpdateMetadata", "stop replica": "StopReplica",
}  # fmt: skip
"""Which request it is that a broker handles so; where it refuses, ignores or fails one, the name is said."""
REFUSALS: Final = ("refuse ", "ignore ")
OPERATION: Final = re.compile(
    r"(?:fail to )?(read|write|create|delete) (?=/|state|assignment|isr_change|delete_topics)"
)
"""An operation on ZooKeeper's tree, and whether it fails."""
RAISES: Final = re.compile("(?:fail to )?(?:write|create) /controller_epoch")
"""Where a controller has an epoch of its own: it has raised the znode, or thinks so."""
CHANGE: Final = re.compile(r"(?P<variable>\S+): (?P<old>.*?) -> (?P<new>.*)")
WITHOUT: Final = ("partition", "broker", "controller_epoch", "version")
"""Fields that a label leaves out, or says otherwise."""


class Span(NamedTuple):
    """A bar of a lane, from a row until another one: a session, or the epoch of a controller."""

    lane: str
    first: int
    last: int
    value: str
    ends: bool
    """Whether it ends there, and not only the story."""


class Operation(NamedTuple):
    """What somebody does in ZooKeeper: `kind` is read, write, create or delete."""

    row: int
    lane: str
    kind: str
    label: str
    fails: bool


class Request(NamedTuple):
    """What a controller sends a broker.

    `sent` is None where it was on its way before, `delivered` where nobody saw it arrive; `refused`: by a fence.
    """

    kind: str
    sender: str
    receiver: str
    sent: int | None
    delivered: int | None
    label: str
    refused: bool


@dataclass(frozen=True)
class Timeline:
    """All that is drawn."""

    lanes: tuple[str, ...]
    rows: int
    sessions: tuple[Span, ...]
    epochs: tuple[Span, ...]
    operations: tuple[Operation, ...]
    requests: tuple[Request, ...]


def timeline(story: Story) -> Timeline:
    """The time line of a story that is told."""
    operations = tuple(one for row, step in enumerate(story.steps, 1) for one in _operations(row, step))
    requests = tuple(_requests(story.steps))
    lanes = tuple(sorted(_lanes(story), key=_place))
    sessions, epochs = tuple(_sessions(story, lanes)), tuple(_epochs(story, lanes))
    return Timeline(lanes, len(story.steps), sessions, epochs, operations, requests)


def _lanes(story: Story) -> set[str]:
    """Who does something, is sent something, or is a controller that is at work from the beginning."""
    found = {ZOOKEEPER}
    for step in story.steps:
        found |= {step.actor, *(one.who for one in step.events)}
        found |= {f"broker {one.fields['broker']}" for one in step.events if _is_queued(one)}
    at_work = (re.fullmatch(r"controllers\[(\d+)\]\.active", name) for name in story.initial)
    found |= {f"controller {one[1]}" for one in at_work if one and story.initial[one[0]] == "yes"}
    return {one for one in found if not one.startswith("request ")}


def _place(lane: str) -> tuple[int, int, str]:
    """ZooKeeper first, then controllers and brokers by number, then everybody else."""
    name, _, number = lane.partition(" ")
    known = [ZOOKEEPER, "controller", "broker"]
    return (known.index(name) if name in known else len(known), int(number) if number.isdigit() else 0, lane)


# ---------------------------------------------------------------------------------------------- operations and requests


def _operations(row: int, step: Step) -> Iterator[Operation]:
    for one in step.events:
        found = OPERATION.match(one.what)
        if found and one.who != ZOOKEEPER:
            yield Operation(row, one.who, found[1], label(one), one.what.startswith("fail "))


def is_fault(step: Step) -> bool:
    """Whether a step is something that goes wrong, as a step that draws on a budget is, but for an admin's command."""
    return bool(step.budget) and step.actor != "admin"


def label(event: Event) -> str:
    """An event in few words: `write state [0] leader=1 leader_epoch=1 isr=[1]`."""
    partition = f" [{event.fields['partition']}]" if "partition" in event.fields else ""
    fields = (f"{name}={value}" for name, value in event.fields.items() if name not in WITHOUT)
    return " ".join([f"{event.what}{partition}", *fields])


def _is_queued(event: Event) -> bool:
    return event.what.startswith("queue ") and "broker" in event.fields


@dataclass
class _Queue:
    """Requests that were queued and not delivered yet, in order: the row and the event of each."""

    waiting: list[tuple[int, Event]] = field(default_factory=list)

    def first(self, kind: str, partition: str | None, row: int | None) -> tuple[int, Event] | None:
        """Take the first of a kind, of a partition, and of a row if one is given."""
        for number, (at, event) in enumerate(self.waiting):
            same = partition is None or event.fields.get("partition") in {partition, None}
            if event.what == f"queue {kind}" and same and row in {at, None}:
                return self.waiting.pop(number)
        return None

    def forget(self, kind: str, row: int) -> None:
        """A request that is refused as a whole is so for all its partitions."""
        self.waiting = [one for one in self.waiting if one[0] != row or one[1].what != f"queue {kind}"]


def _requests(steps: tuple[Step, ...]) -> Iterator[Request]:
    queues: dict[tuple[str, str], _Queue] = {}
    for row, step in enumerate(steps, 1):
        for event in step.events:
            if _is_queued(event):
                queues.setdefault((event.who, f"broker {event.fields['broker']}"), _Queue()).waiting.append(
                    (row, event)
                )
        yield from _delivered(row, step, queues)
    for (sender, receiver), queue in queues.items():
        for row, event in queue.waiting:
            told = label(event).removeprefix("queue ")
            yield Request(_kind(event) or "", sender, receiver, row, None, told, refused=False)


def _delivered(row: int, step: Step, queues: Mapping[tuple[str, str], _Queue]) -> Iterator[Request]:
    """What a delivery hands over; which controller's it is the action says."""
    found = re.search(r"\bc=(\d+)", step.action)
    sender, since = f"controller {found[1]}" if found else "", None
    for event in step.events:
        kind = _kind(event)
        if kind is None or not event.who.startswith("broker ") or not sender:
            continue
        queue = queues.get((sender, event.who), _Queue())
        taken = queue.first(kind, event.fields.get("partition"), since)
        since = since if taken is None else taken[0]
        if taken and "partition" not in event.fields:
            queue.forget(kind, taken[0])
        told = label(event) if kind in event.what else f"{kind}: {label(event)}"
        yield Request(kind, sender, event.who, taken[0] if taken else None, row, told, event.what.startswith(REFUSALS))


def _kind(event: Event) -> str | None:
    """The request that an event is about, if it is one."""
    if event.what in REQUESTS:
        return REQUESTS[event.what]
    return next((one for one in REQUESTS.values() if event.what.endswith(f" {one}")), None)


# -------------------------------------------------------------------------------------------------- sessions and epochs


def _sessions(story: Story, lanes: tuple[str, ...]) -> Iterator[Span]:
    """The sessions of each process: one that lives, and one that a process has lost without knowing it yet."""
    for lane in lanes:
        number = lane.partition(" ")[2]
        if number:
            spans = _spans(story, lane, f"processes[{number}].session")
            yield from (one for one in spans if one.value != "NONE")


def _epochs(story: Story, lanes: tuple[str, ...]) -> Iterator[Span]:
    """The epochs in which each controller acts, from when it has raised the znode until it resigns or dies."""
    for lane in lanes:
        name, _, number = lane.partition(" ")
        if name != "controller":
            continue
        active = [one for one in _spans(story, lane, f"controllers[{number}].active") if one.value == "yes"]
        dead = [one for one in _spans(story, lane, f"processes[{number}].session") if one.value == "NONE"]
        ends = [*(one.last for one in active if one.ends), *(one.first for one in dead)]
        for one in _spans(story, lane, f"controllers[{number}].epoch"):
            began = [
                max(one.first, other.first) for other in active if other.first < one.last and one.first < other.last
            ]
            if one.first and any(map(RAISES.match, (event.what for event in story.steps[one.first - 1].events))):
                began = [one.first]
            if one.value in {"", "0", "-1"} or not began:
                continue
            last = min([one.last, *(end for end in ends if end > began[0])])
            yield Span(lane, began[0], last, one.value, one.ends or last < one.last)


def _spans(story: Story, lane: str, variable: str) -> Iterator[Span]:
    """How long a variable has each of its values; nothing of one that the story does not have."""
    value, since = story.initial.get(variable, ""), 0
    for row, step in enumerate(story.steps, 1):
        for one in step.changes:
            found = CHANGE.fullmatch(one)
            if found and found["variable"] == variable:
                if value or since:
                    yield Span(lane, since, row, value, ends=True)
                value, since = found["new"], row
    if value:
        yield Span(lane, since, len(story.steps) + 1, value, ends=False)
