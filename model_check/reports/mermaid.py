"""Stories as sequence diagrams in Mermaid's language, in Markdown that code hosts draw as it is.

Whoever does something in ZooKeeper has an arrow there, whole for what it changes, dashed for what it reads, crossed for
what fails. A request is drawn where it arrives, with the step that sent it, and crossed where a fence refused it. Notes
say what happens to a process, and in which epoch a controller acts from now on.

Code hosts draw no diagram of more than 50,000 characters: the first steps of a longer story are left out, and counted.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from model_check.reports.characters import plain_markdown, printable
from model_check.reports.timeline import ZOOKEEPER, Operation, Request, Span, Timeline, is_fault, shortened, timeline
from model_check.verdicts.opening import opening
from model_check.verdicts.rendering import TOLD, steps_of
from model_check.verdicts.results import Document, Step, Story
from model_check.verdicts.told_stories import Told, stories_told

MOST_CHARACTERS: Final = 45_000


def report(document: Document) -> str:
    """A heading and a diagram for each story that is printed; a line where there is none."""
    told = [
        f"### {plain_markdown(f'{one.run.title}: {one.name}')}\n\n{plain_markdown(_sentence(one))}\n\n"
        f"```mermaid\n{diagram(one.story, one.because)}```\n"
        for one in stories_told(document)
    ]
    return "\n".join(told) or f"kcheck {plain_markdown(document.verb)}: {document.verdict}; there is no story to draw\n"


def _sentence(one: Told) -> str:
    steps = steps_of(one.story)
    return f"{one.statement} {TOLD[one.verdict].capitalize()} {steps}." if one.finding else f"{one.statement} {steps}."


def diagram(story: Story, because: str = "") -> str:
    """The diagram, without the fence around it; what the last step breaks is said below it."""
    story, before = shortened(story)
    drawn = timeline(story)
    head = ["sequenceDiagram", *(f"  participant {_id(drawn, one)} as {_text(_name(one))}" for one in drawn.lanes)]
    zookeeper, at = _id(drawn, ZOOKEEPER), _by_row(drawn)
    head += [f"  Note over {zookeeper}: {_text(line)}" for line in opening(story)]
    head += [line for span in at[0] for line in _seen(drawn, span)]
    rows = [list(_row(drawn, step, at[row])) for row, step in enumerate(story.steps, 1)]
    size, kept = 0, deque[list[str]]()
    for row in reversed(rows):
        size += sum(len(line) + 1 for line in row)
        if size > MOST_CHARACTERS:
            break
        kept.appendleft(row)
    left_out = before + len(rows) - len(kept)
    if left_out:
        head.append(f"  Note over {zookeeper}: {left_out} steps come before")
    end = [f"  Note over {zookeeper},{_id(drawn, drawn.lanes[-1])}: because: {_text(because)}"] if because else []
    return "".join(f"{line}\n" for line in [*head, *(line for row in kept for line in row), *end])


Seen: TypeAlias = Operation | Request | Span


def _by_row(drawn: Timeline) -> Mapping[int, Sequence[Seen]]:
    """What is drawn at each step: operations, what arrives or is lost, epochs that begin, sessions that end."""
    at = defaultdict[int, list[Seen]](list)
    for operation in drawn.operations:
        at[operation.row].append(operation)
    for request in drawn.requests:
        at[request.delivered or request.sent or 0].append(request)
    for span in drawn.epochs:
        at[span.first].append(span)
    for span in drawn.sessions:
        if span.ends and span.lane.startswith("broker "):
            at[span.last].append(span)
    return at


def _row(drawn: Timeline, step: Step, seen: Sequence[Seen]) -> Iterator[str]:
    """A step: a note of what it is, and what is seen of it."""
    mark = "FAULT: " if is_fault(step) else ""
    yield f"  Note over {_id(drawn, step.actor)}: {mark}{_text(f'{step.number}. {step.action}')}"
    for one in seen:
        yield from _seen(drawn, one)
    yield from (f"  Note over {_id(drawn, step.actor)}: breaks {_text(name)}" for name in step.breaks)


def _seen(drawn: Timeline, one: Seen) -> Iterator[str]:
    match one:
        case Operation():
            arrow = "-x" if one.fails else "-->>" if one.kind == "read" else "->>"
            yield f"  {_id(drawn, one.lane)}{arrow}{_id(drawn, ZOOKEEPER)}: {_text(one.label)}"
        case Request():
            arrow = {"accepted": "->>", "lost": "-)"}.get(one.outcome, "-x")
            since = ", which does not arrive" if one.delivered is None else f", sent at {one.sent}" if one.sent else ""
            if one.sender in drawn.places:
                yield f"  {_id(drawn, one.sender)}{arrow}{_id(drawn, one.receiver)}: {_text(one.label + since)}"
        case Span() if one.lane.startswith("controller "):
            yield f"  Note over {_id(drawn, one.lane)}: acts in epoch {_text(one.value)}"
        case Span():
            yield f"  Note over {_id(drawn, one.lane)}: its session is no longer {_text(one.value)}"


def _name(lane: str) -> str:
    return "ZooKeeper" if lane == ZOOKEEPER else lane


def _id(drawn: Timeline, lane: str) -> str:
    return f"L{drawn.places[lane]}"


def _text(text: str) -> str:
    """A text in which Mermaid sees nothing: whatever is no plain letter or sign is written by its number."""
    plain = " ".join(printable(text).split())
    return "".join(one if one.isalnum() or one in " .,:/_=()[]-+" else f"#{ord(one)};" for one in plain)
