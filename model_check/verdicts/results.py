"""What `kcheck` found, as one versioned JSON document; every text that it prints is rendered from such a document.

A document says which verb ran, and holds a `Run` for each thing that was checked: an exploration of a scope under a
variant, a proof, a judged recording. A run has counts, a finding for each property, and the comparisons with what the
manifest expects. A finding that is violated or witnessed carries the length of its story, and where that is not as
expected, or somebody asked for it, also the steps.

    Document          verb, verdict
    └── Run           engine, scope, variant, verdict, seconds
        ├── Counts    states, transitions, depth, levels, digest
        ├── Explained observations, and those that come next where an explanation ends
        ├── Finding   property, verdict, reason
        │   └── Story steps in words, the values that they begin with, and why that breaks the property
        └── Comparison    what was expected, what was found

Readers of another version get an error: a document is refused unless format and version are those below. Fields are
only added or changed together with the version.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from model_check.verdicts.possibilities import Choices, Possibilities
from model_check.verdicts.state_graphs import StateGraph
from model_check.verdicts.verdict import BAD_USAGE, EXIT_CODES, INTERRUPTED, NOT_BEGUN, Verdict, worst
from spec.errors import MalformedInput, Where
from spec.language.rules import Property

UNWITNESSED = "unwitnessed"
"""What stands in place of an expected verdict for a `sometimes` that a scope has no state for."""

CLAIMS = "claims"
"""The engine of a run that asks claims of a recording without a search."""

FORMAT, VERSION = "kafka-controller-spec results", 9


@dataclass(frozen=True)
class Event:
    """What an observer saw at a step: actor and kind (`controller 1`, `write state`), and its fields, as printed."""

    who: str
    what: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.who, self.what, *(f"{name}={value}" for name, value in self.fields.items())])


@dataclass(frozen=True)
class Step:
    """A step of a story: the action in words, what an observer saw, and what changed (`variable: old -> new`).

    `logged` are lines that Kafka logs, each behind its log's name, or where a recording has what was seen. `budget`
    is what of the scope's budgets the step draws on; a step of progress draws on none. `about` has the things that the
    action is about (`[a,0], replica 2`), `branch` says which way of the rule it went, and why. `breaks` names the
    claims that it is the first to break, where the story goes on behind that.
    """

    number: int
    action: str
    actor: str
    statement: str
    source: str
    events: tuple[Event, ...] = ()
    logged: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    budget: str = ""
    about: str = ""
    branch: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()

    @property
    def observed(self) -> tuple[str, ...]:
        """All that was seen of it, in words."""
        return (*map(str, self.events), *self.logged)


@dataclass(frozen=True)
class Because:
    """Why a story is a violation: of what the claim is false (`broker 2, [a,0]`), and what is so, each with its values.

    The facts decide of the first false conjunct of the claim: whatever else is so, with them it is false.
    """

    about: str
    facts: tuple[str, ...] = ()

    def __str__(self) -> str:
        of = f"of {self.about}" if self.about else ""
        return ": ".join(one for one in (of, "; ".join(self.facts)) if one)


@dataclass(frozen=True)
class Story:
    """A trace in words; `length` counts its steps, and 0 is the initial state alone.

    Of a trace that nobody reads only the length is there. `initial` has the values of the state before the first of
    the steps, by variable; a recording's story may have but its last steps. `because` says why what it ends with
    breaks a claim; of a goal, what is not as it should be there. `partitions` has what the partitions are called
    (`[a,0]`), by number; `possibilities` what could be done in place of its steps, where a report is to show that.
    """

    length: int
    steps: tuple[Step, ...] = ()
    initial: Mapping[str, str] = field(default_factory=dict)
    because: Because | None = None
    partitions: tuple[str, ...] = ()
    possibilities: Possibilities | None = None

    @property
    def is_told(self) -> bool:
        """Whether there are words for it."""
        return bool(self.steps) or not self.length

    def partition(self, number: str) -> str:
        """What a partition is called, by its number as printed."""
        is_known = number.isdecimal() and len(number) < 6 and int(number) < len(self.partitions)
        return self.partitions[int(number)] if is_known else f"[{number}]"


@dataclass(frozen=True)
class Finding:
    """What was found of one property. `expected` is what the manifest says of it, or empty."""

    property: str
    kind: str
    statement: str
    source: str
    verdict: Verdict
    reason: str = ""
    expected: str = ""
    story: Story | None = None

    @classmethod
    def of(cls, claim: Property, verdict: Verdict, reason: str = "", story: Story | None = None) -> "Finding":
        """What was found of a property of a system."""
        statement = " ".join(claim.statement.split())
        return cls(claim.name, claim.kind, statement, claim.source, verdict, reason, story=story)


def is_break(one: Finding) -> bool:
    """Whether a property is broken, and was not expected to be."""
    return one.verdict is Verdict.VIOLATED and one.expected != Verdict.VIOLATED


@dataclass(frozen=True)
class Counts:
    """The size of an exploration; `levels[d]` counts the states first reached by d steps."""

    states: int
    transitions: int
    depth: int
    digest: str
    levels: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """An observation of a recording: its kind, where it is (`file:line`), when (ms), and how it reads."""

    kind: str
    place: str
    time: int
    text: str


@dataclass(frozen=True)
class Explained:
    """How far the observations of a recording are explained, and how many positions were searched for that.

    `best_at` is the position at which that was reached, None if nobody counted. Where an explanation ends too early,
    `next` are the observations that come next, one of each sequence, lines that contradict others and then the earliest
    first; `instead` are the steps that were possible.
    """

    observations: int
    explained: int
    positions: int
    best_at: int | None = None
    next: tuple[Seen, ...] = ()
    instead: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One expectation: what it is about, what was expected and found, and what it means if these differ.

    `verdict` is HOLDS if the expectation is met; `expected_verdict` is what the manifest expects of a property (a
    verdict, or UNWITNESSED), and empty where the expectation is about a count.
    """

    about: str
    expected: str
    found: str
    verdict: Verdict
    expected_verdict: str = ""

    @classmethod
    def of(
        cls, about: str, expected: object, found: object, weight: Verdict = Verdict.VIOLATED, expected_verdict: str = ""
    ) -> "Comparison":
        """An expectation and what was found; `weight` is what it means if they differ."""
        wanted, seen = (f"{one:,}" if isinstance(one, int) else str(one) for one in (expected, found))
        return cls(about, wanted, seen, Verdict.HOLDS if expected == found else weight, expected_verdict)

    @property
    def is_met(self) -> bool:
        """Whether what was expected was found."""
        return self.verdict is Verdict.HOLDS


@dataclass(frozen=True)
class Run:
    """One check: which engine looked at what, and what it found.

    `fired` counts, by rule, the transitions, and `bounds_hit` the states in which only a bound of the scope stopped it;
    `occurrences` counts the states from which a row of a transition table is taken, that show a witness, or that lack
    a goal yet, and `first_depths` has the length of a shortest trace to each of these, and to each rule. `never_fired`
    names rules, `idle_instances` single actions of other rules, that were enabled nowhere. `not_asked` names properties
    that this run says nothing about. `seconds` are by part. `story` is the run's own, as of a trace that was
    replayed. `refused` says of an ERROR that it was the input that was wrong. `explained` is of a recording, and so are
    the `faults` of the live run that made it, each by its number and kind. `made` says when, of a result that was made
    earlier and is used again. `choices` are what else could be done at some steps, where somebody asks; `graph` is of
    what is small enough to be looked at.
    """

    engine: str
    scope: str
    variant: str
    verdict: Verdict
    reason: str = ""
    counts: Counts | None = None
    findings: tuple[Finding, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    fired: Mapping[str, int] | None = None
    bounds_hit: Mapping[str, int] | None = None
    occurrences: Mapping[str, int] | None = None
    first_depths: Mapping[str, int] | None = None
    never_fired: tuple[str, ...] = ()
    idle_instances: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] | None = None
    story: Story | None = None
    refused: bool = False
    explained: Explained | None = None
    faults: tuple[str, ...] = ()
    made: str = ""
    choices: tuple[Choices, ...] = ()
    graph: StateGraph | None = None

    @property
    def title(self) -> str:
        """What was checked, on what, how."""
        return " ".join(part for part in (self.scope, self.variant, f"({self.engine})") if part)

    @property
    def is_cut_short(self) -> bool:
        """Whether Ctrl-C ended it, or came before it; an ERROR's reason may name anything."""
        return self.verdict is not Verdict.ERROR and INTERRUPTED in self.reason


def news_of(run: Run) -> frozenset[str]:
    """The properties that are broken, and that neither the manifest nor the run expects to be."""
    met = {name for one in run.comparisons if one.is_met for name in (one.about, one.about.rpartition(": ")[2])}
    return frozenset(one.property for one in run.findings if is_break(one)) - met


@dataclass(frozen=True)
class Document:
    """Everything that one call of `kcheck` found."""

    verb: str
    verdict: Verdict
    runs: tuple[Run, ...]

    @property
    def exit_code(self) -> int:
        """What the process says to a gate; where nothing is worse than input that was refused, that it is bad input."""
        errors = [run for run in self.runs if run.verdict is Verdict.ERROR]
        if self.verdict is Verdict.ERROR and errors and all(run.refused for run in errors):
            return BAD_USAGE
        return EXIT_CODES[self.verdict]

    def to_json(self) -> str:
        """The document as JSON text."""
        head = {"format": FORMAT, "version": VERSION, "exit_code": self.exit_code}
        return json.dumps({**head, **asdict(self)}, indent=1, allow_nan=False)


def plain_document(verb: str, *runs: Run) -> Document:
    """A document whose verdict is the worst of its runs'; of one that was interrupted it says whether that is kept."""
    if verb not in RESUMED:
        begun = [run.is_cut_short and run.reason != NOT_BEGUN for run in runs]
        runs = tuple(
            replace(run, notes=(*run.notes, ANEW)) if lost else run for run, lost in zip(runs, begun, strict=True)
        )
    return Document(verb, worst(run.verdict for run in runs), runs)


RESUMED = ("verify", "enumerate", "campaign")
"""The verbs that go on, next time, where Ctrl-C ended them."""

ANEW = (
    "the same command begins anew; only `kcheck verify`, `kcheck enumerate` and `kcheck campaign` go on where they were"
)


def from_json(text: str, source: str) -> Document:
    """Read a document; MalformedInput names the source and the field that is not as it should be."""
    where = Where(source)
    try:
        given = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where.refuse(f"not JSON: {error}")
    except ValueError as error:  # an integer of more digits than Python reads
        where.refuse(f"cannot be read: {error}")
    if not isinstance(given, dict) or given.pop("format", None) != FORMAT:
        where.refuse(f"not a document of the format {FORMAT!r}")
    if given.pop("version", None) != VERSION:
        where.refuse(f"another version of the format than {VERSION}; read it with the kcheck that wrote it")
    exit_code = given.pop("exit_code", None)
    document: Document = _read(Document, given, where)
    if exit_code != document.exit_code:
        where.key("exit_code").refuse(f"is {exit_code}, but the verdict {document.verdict} is {document.exit_code}")
    return document


def _read(kind: Any, given: Any, where: Where) -> Any:
    """A value of a declared type from what JSON gave."""
    if is_dataclass(kind):
        return _read_record(kind, given, where)
    if get_origin(kind) is UnionType:
        inner = next(one for one in get_args(kind) if one is not NoneType)
        return None if given is None else _read(inner, given, where)
    if get_origin(kind) is tuple:
        _expect(isinstance(given, list), "is not a list", where)
        return tuple(_read(get_args(kind)[0], one, where.item(index)) for index, one in enumerate(given))
    if get_origin(kind) is Mapping:
        _expect(isinstance(given, dict), "is not an object", where)
        return {key: _read(get_args(kind)[1], one, where.key(key)) for key, one in given.items()}
    if kind is Verdict:
        _expect(given in list(Verdict), f"is not one of {', '.join(Verdict)}", where)
        return Verdict(given)
    _expect(not isinstance(given, float) or isfinite(given), "is no finite number", where)
    accepted = (int, float) if kind is float else kind
    fits = isinstance(given, accepted) and isinstance(given, bool) == (kind is bool)
    _expect(fits, f"is not of type {kind.__name__}", where)
    return given


def _read_record(kind: Any, given: Any, where: Where) -> Any:
    _expect(isinstance(given, dict), "is not an object", where)
    types = _types(kind)
    if given.keys() != types.keys():
        wrong = sorted(given.keys() ^ types.keys())
        raise MalformedInput(where.source, where.field, f"missing or unknown: {', '.join(wrong)}")
    return kind(**{name: _read(of, given[name], where.key(name)) for name, of in types.items()})


@cache
def _types(kind: Any) -> Mapping[str, Any]:
    """The types of a record's fields, by name."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _expect(holds: bool, complaint: str, where: Where) -> None:
    if not holds:
        where.refuse(complaint)
