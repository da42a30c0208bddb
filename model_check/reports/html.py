"""A document as one page of HTML: the verdict, what is new and what is known, and a time line for each story.

The page needs nothing but itself: no network, no font, no image. Without a script it is tables, drawings and stories;
with one, the arrow keys go through the steps of a story, and the state at each is shown. Whatever a topic is called,
nothing of it is executed: the template escapes all texts, and the page's policy lets no script run but its own.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from model_check.reports.characters import printable
from model_check.reports.handlers import handlers, junctions
from model_check.reports.state_graph import state_graphs
from model_check.reports.taken import DRAWING, STATE, machines, taken
from model_check.reports.timeline import (
    CHANGE,
    NUMBER,
    ZOOKEEPER,
    Request,
    Span,
    Timeline,
    is_fault,
    shortened,
    timeline,
)
from model_check.verdicts.choices_text import why_not
from model_check.verdicts.opening import opening
from model_check.verdicts.possibilities import Standing
from model_check.verdicts.rendering import TOLD, headline, steps_of
from model_check.verdicts.results import Document, Finding, Step
from model_check.verdicts.told_stories import Told, broken_in, stories_told

ROW, HEAD, LEFT = 40, 56, 16
"""Pixels: a step's height, that of the heads of the lanes, and what is free beside the first lane."""
WIDE, NARROW, ALL_LANES = 150, 96, 850
"""Pixels: a lane is no wider and no narrower, and all of them leave room beside them for the steps' words."""
NAMED_AGAIN = 15
"""After so many rows the lanes are named again."""
LETTER = 6
"""Pixels: so wide is a letter of a label."""
COLOURS: Final = 6
"""So many epochs differ in colour; the next one has the first colour again."""


def report(document: Document) -> str:
    """The page."""
    style, script = (_resource(name) for name in ("page.css", "page.js"))
    told = [_Drawn.of(number, one) for number, one in enumerate(stories_told(document))]
    anchors = {(id(one.told.run), one.told.name): one.anchor for one in told if one.told.finding}
    broken = [
        _Broken(run.title, one, anchors.get((id(run), one.property), ""), is_new)
        for run, one, is_new in broken_in(document)
    ]
    occurring = taken(document)
    return _template().render(
        document=document,
        headline=headline(document),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        style=Markup(style),  # noqa: S704 - our own
        script=Markup(script),  # noqa: S704 - our own
        stories=told,
        new=[one for one in broken if one.is_new],
        known=[one for one in broken if not one.is_new],
        unmet=[(run.title, one) for run in document.runs for one in run.comparisons if not one.is_met],
        graphs=state_graphs(document),
        occurring=occurring,
        machines=machines(occurring),
        handlers=handlers(document),
        junctions=junctions(),
        drawing=DRAWING,
        state=STATE,
        is_fault=is_fault,
        why_not=why_not,
        row=ROW,
        head=HEAD,
    )


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_fit
    )
    return environment.from_string(_resource("page.html.jinja"))


def _fit(told: object) -> object:
    """Whatever the template is given to show, with each text made printable; what is our own markup stays as it is."""
    return printable(told) if isinstance(told, str) and not isinstance(told, Markup) else told


def _resource(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text("utf-8")


def _hash(text: str) -> str:
    """What a policy calls a style or a script that is in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Broken(NamedTuple):
    run: str
    finding: Finding
    anchor: str
    is_new: bool


# ---------------------------------------------------------------------------------------------------------- a time line


class _Arrow(NamedTuple):
    """A line between two lanes, in pixels, with what is written at a place of it, and all of that for a pointer."""

    x: float
    y: float
    to_x: float
    to_y: float
    look: str
    label: str
    text_x: float = 0
    text_y: float = 0
    title: str = ""

    @property
    def letters(self) -> int:
        """So many letters of the label fit beside the arrow."""
        return int(max(abs(self.to_x - self.x), NARROW) / LETTER)


class _Bar(NamedTuple):
    x: float
    y: float
    height: float
    look: str
    label: str


class _Drawn(NamedTuple):
    """A story with all that its drawing needs."""

    anchor: str
    told: Told
    before: int
    lanes: list[tuple[float, str]]
    sessions: list[_Bar]
    epochs: list[_Bar]
    arrows: list[_Arrow]
    marks: list[tuple[float, float, str]]
    broken_by: str
    data: Markup

    @classmethod
    def of(cls, number: int, told: Told) -> "_Drawn":
        """The drawing of a story."""
        story, before = shortened(told.story)
        drawn = timeline(story)
        return cls(
            anchor=f"story-{number}",
            told=told._replace(story=story),
            before=before,
            lanes=[(_x(drawn, one), "ZooKeeper" if one == ZOOKEEPER else one) for one in drawn.lanes],
            sessions=[_bar(drawn, one, f"session {one.value.lower()}{' ends' * one.ends}") for one in drawn.sessions],
            epochs=[_bar(drawn, one, f"epoch {_colour(one.value)}") for one in drawn.epochs],
            arrows=_merged(_arrows(drawn)),
            marks=[(_x(drawn, step.actor), _y(row), _mark(step)) for row, step in enumerate(story.steps, 1)],
            broken_by=_broken_by(told),
            data=_as_data({"initial": _shown(story.initial), "steps": [_step(one) for one in story.steps]}),
        )

    @property
    def opening(self) -> tuple[str, ...]:
        """What the story begins with."""
        return opening(self.told.story)

    def is_asked(self, step: Step) -> bool:
        """Whether the story has what else was possible at a step."""
        told = self.told.story.possibilities
        return told is not None and told.first <= step.number <= told.last

    def others(self, step: Step) -> list[Standing]:
        """What else was possible at a step."""
        told = self.told.story.possibilities
        return told.others(step.number, step.action) if told else []

    @property
    def breaking(self) -> list[Step]:
        """The steps that are the first to break a claim, in a story that goes on behind them."""
        return [one for one in self.told.story.steps if one.breaks]

    @property
    def heads(self) -> list[float]:
        """Where the names of the lanes are: above, and again where a reader who scrolls no longer sees that."""
        return [28, *(_y(row) - ROW / 4 for row in range(NAMED_AGAIN, len(self.told.story.steps), NAMED_AGAIN))]

    @property
    def width(self) -> int:
        """Of the drawing, in pixels."""
        return LEFT + len(self.lanes) * lane_width(len(self.lanes))

    @property
    def height(self) -> int:
        """Of the drawing, in pixels."""
        return HEAD + (len(self.told.story.steps) + 1) * ROW


def _broken_by(told: Told) -> str:
    return f"{TOLD[told.verdict].capitalize()} {steps_of(told.story)}" if told.finding else steps_of(told.story)


def _step(step: Step) -> Mapping[str, Any]:
    """What the script shows of a step: what it changes, as variable, value before and value after."""
    found = (CHANGE.fullmatch(one) for one in step.changes)
    return {"changes": [[*map(printable, one.group("variable", "old", "new"))] for one in found if one]}


def _shown(values: Mapping[str, str]) -> Mapping[str, str]:
    return {printable(name): printable(value) for name, value in values.items()}


def _as_data(given: object) -> Markup:
    """JSON in which no tag can begin, whatever the texts are."""
    return Markup(json.dumps(given).replace("<", "\\u003c"))  # noqa: S704 - nothing of it is HTML


def _mark(step: Step) -> str:
    return "fault" if is_fault(step) else "breaks" if step.breaks else "act"


def _colour(epoch: str) -> str:
    return f"e{int(epoch) % COLOURS}" if NUMBER.fullmatch(epoch) else "e0"


def lane_width(lanes: int) -> int:
    """The width of each of so many lanes, in pixels."""
    return max(NARROW, min(WIDE, ALL_LANES // lanes))


def _x(drawn: Timeline, lane: str) -> float:
    return LEFT + (drawn.places[lane] + 0.5) * lane_width(len(drawn.lanes))


def _y(row: float) -> float:
    return HEAD + (row + 0.5) * ROW


def _bar(drawn: Timeline, span: Span, look: str) -> _Bar:
    first, last = _y(span.first), _y(span.last if span.ends else span.last - 0.5)
    told = "session" if look.startswith("session") else "acts in epoch"
    return _Bar(_x(drawn, span.lane), first, max(last - first, 1), look, f"{span.lane}: {told} {span.value}")


def _arrows(drawn: Timeline) -> Iterator[_Arrow]:
    for one in drawn.operations:
        look = f"operation {one.kind}{' fails' * one.fails}"
        x, to_x, y = _x(drawn, one.lane), _x(drawn, ZOOKEEPER), _y(one.row)
        yield _Arrow(x, y, to_x, y, look, one.label, (x + to_x) / 2, y - 5)
    for request in drawn.requests:
        if request.delivered is None:
            yield _lost(drawn, request, request.sent or 0)
        else:
            yield _delivered(drawn, request, request.delivered)


def _merged(arrows: Iterable[_Arrow]) -> list[_Arrow]:
    """Arrows that lie on each other as one, which says how many they are, and has all labels for a pointer."""
    lines = dict[tuple[float, float, float, float, str], list[_Arrow]]()
    for one in arrows:
        lines.setdefault((one.x, one.y, one.to_x, one.to_y, one.look), []).append(one)
    return [
        first._replace(
            label=f"{len(same)} x {first.label}" if len(same) > 1 else first.label,
            title="\n".join(one.label for one in same),
        )
        for first, *others in lines.values()
        for same in [[first, *others]]
    ]


def _delivered(drawn: Timeline, one: Request, delivered: int) -> _Arrow:
    """From its sender, where it is sent, to its receiver, beside which it is named."""
    x, to_x, y = _sender(drawn, one), _x(drawn, one.receiver), _y(delivered)
    sent = one.sent if one.sent is not None else delivered - 0.5
    side = lane_width(len(drawn.lanes)) / 2 * (-1 if x < to_x else 1)
    look = "request" if one.outcome == "accepted" else f"request {one.outcome}"
    return _Arrow(x, _y(sent), to_x, y, look, one.label, to_x + side, y - 6)


def _lost(drawn: Timeline, one: Request, sent: int) -> _Arrow:
    """Half the way, for nobody gets it. There may be many from one step: only a pointer over one sees what it is."""
    x = _sender(drawn, one)
    to_x = (x + _x(drawn, one.receiver)) / 2
    return _Arrow(x, _y(sent), to_x, _y(sent + 0.4), "request lost", one.label)


def _sender(drawn: Timeline, one: Request) -> float:
    return _x(drawn, one.sender if one.sender in drawn.places else one.receiver)
