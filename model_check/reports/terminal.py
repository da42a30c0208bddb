"""A story as lanes for a terminal: a line a step, a column for ZooKeeper, each controller and each broker.

It is the time line of `timeline.py`, in 120 columns of plain ASCII, so that it pastes. A bar is a session: `|` lives,
`:` is lost, and its process does not know. A controller that acts has its epoch before the bar, `e2|`, so that two that
act at once are seen at once. A column has what its process does; in ZooKeeper's, what is done there. What a
broker gets has the controller that sent it; `x` fails, or is refused, and `!` is a fault.
"""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from model_check.reports.timeline import ZOOKEEPER, Operation, Request, Timeline, is_fault, shortened, timeline
from model_check.verdicts.opening import opening
from model_check.verdicts.results import Step, Story

WIDTH: Final = 120
NUMBER: Final = 5
"""Columns of a step's number."""
NARROWEST: Final = 14
"""Columns of a lane; where more lanes are than fit, those with the least in them are left out."""
SHORT: Final = {"controller": "c", "broker": "b"}
LEGEND: Final = (
    "| session, : lost session, e2| acts in epoch 2, ! fault, x fails or is refused, >b1 sends, c1> from controller 1"
)


def lanes(story: Story) -> Iterator[str]:
    """The lines of a story: its opening, the names of the lanes, a line for each step, and why it is the violation."""
    story, before = shortened(story)
    drawn = timeline(story)
    shown = _shown(story, drawn)
    width = (WIDTH - NUMBER) // len(shown)
    yield from (line for one in opening(story) for line in _wrapped(_plain(one)))
    yield " " * NUMBER + "".join(_cut(_name(one, width), width) for one in shown).rstrip()
    if before:
        yield f"{before} steps come before"
    operations, arrivals, sent = _by_row(drawn)
    for row, step in enumerate(story.steps, 1):
        cells = _cells(step, operations[row], arrivals[row], sent[row], width)
        line = "".join(_cut(_bar(drawn, one, row) + cells.get(one, ""), width) for one in shown)
        yield f"{step.number:>4} {line}".rstrip()
    yield LEGEND
    if left_out := [one for one in drawn.lanes if one not in shown]:
        yield from _wrapped(f"left out: {', '.join(map(_plain, left_out))}")
    if story.because is not None:
        yield from _wrapped(f"because {_plain(str(story.because))}")


def _shown(story: Story, drawn: Timeline) -> Sequence[str]:
    """The lanes that there is room for: ZooKeeper, and those in which most is done."""
    room = (WIDTH - NUMBER) // NARROWEST
    acts = Counter(step.actor for step in story.steps)
    acts.update(one.receiver for one in drawn.requests)
    best = sorted(drawn.lanes, key=lambda one: (one != ZOOKEEPER, -acts[one]))[:room]
    return [one for one in drawn.lanes if one in best]


def _by_row(
    drawn: Timeline,
) -> tuple[Mapping[int, list[Operation]], Mapping[int, list[Request]], Mapping[int, list[Request]]]:
    """What is done in ZooKeeper, what arrives and what is sent at each step."""
    operations = defaultdict[int, list[Operation]](list)
    arrivals, sent = defaultdict[int, list[Request]](list), defaultdict[int, list[Request]](list)
    for operation in drawn.operations:
        operations[operation.row].append(operation)
    for request in drawn.requests:
        if request.delivered is not None:
            arrivals[request.delivered].append(request)
        if request.sent is not None:
            sent[request.sent].append(request)
    return operations, arrivals, sent


def _cells(
    step: Step, operations: Sequence[Operation], arrivals: Sequence[Request], sent: Sequence[Request], width: int
) -> Mapping[str, str]:
    """What stands in the lanes at a step, by lane."""
    whose = re.search(r"\bb=(\d+)", step.action) if step.actor == ZOOKEEPER else None
    told = step.action.partition("(")[0] + (f" b{whose[1]}" if whose else "")
    cells = {step.actor: f"!{told}" if is_fault(step) else told}
    for one in operations[:1]:
        cells[ZOOKEEPER] = ("x " if one.fails else "") + one.label
    for request in arrivals[:1]:
        mark = "" if request.outcome == "accepted" else "x "
        cells[request.receiver] = f"{_short(request.sender)}> {mark}{request.kind}"
    if sent:
        to = ",".join(dict.fromkeys(_short(one.receiver) for one in sent))
        cells[sent[0].sender] = f"{_within(cells.get(sent[0].sender, ''), width - len(to) - 9)} >{to}"
    return {lane: _plain(text) for lane, text in cells.items()}


def _bar(drawn: Timeline, lane: str, row: int) -> str:
    """The bar of a lane at a step: its session, and the epoch in which it acts."""
    if lane == ZOOKEEPER:
        return ""
    alive = [one.value for one in drawn.sessions if one.lane == lane and one.first <= row < one.last]
    acts = [one.value for one in drawn.epochs if one.lane == lane and one.first <= row < one.last]
    bar = ("|" if alive[-1] == "LIVE" else ":") if alive else " "
    return (_plain(f"e{acts[-1]}") if acts else "").rjust(4) + f"{bar} "


def _name(lane: str, width: int) -> str:
    if lane == ZOOKEEPER:
        return "ZooKeeper"
    told = f"{' ' * 6}{lane}"
    return _plain(told if len(told) < width else f"{' ' * 6}{_short(lane)}")


def _short(lane: str) -> str:
    name, _, number = lane.partition(" ")
    return f"{SHORT[name]}{number}" if name in SHORT else lane


def _cut(text: str, width: int) -> str:
    """A text in so many columns, the last of them free."""
    return _within(text, width - 1).ljust(width)


def _within(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(width - 2, 0)]}.."


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _plain(text: str) -> str:
    """A text in which a terminal sees nothing but letters, each as wide as the other."""
    return "".join(one if one.isascii() and one.isprintable() else "?" for one in text)
