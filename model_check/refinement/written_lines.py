"""The lines that the reference writes at a step, held against those that the rules say, log by log and in order.

Of controller.log the rules say what a recording is judged by; other lines of the reference are not compared, nor, in
a scope without UpdateMetadata, its lines. Each line must be there
with what the rule knows of it; only what a rule says `perhaps` may be missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from model_check.judging.writing import Writing
from model_check.recordings.reports import REPORTS, REPORTS_OF
from model_check.recordings.seen import ControllerSaid
from model_check.refinement.by_what_is_read import ByWhatIsRead, Noting
from model_check.stepping.said_lines import Expected
from model_check.terms.python_code import Raw
from model_check.traces.logged import names_of
from reference.journal import Entry, Report, StateChange
from reference.memory.choices import Choice
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_request_lines import ControllerLine, UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.model import Model

LOGS: Final = (ControllerLine, ControllerLogLine)
"""A controller's lines of each log."""


@dataclass(frozen=True)
class Due:
    """The lines that a step writes, by log, and those of the reference that were found to be these."""

    lines: Mapping[type[Line], Sequence[Expected]]
    agreed: list[Sequence[Line]] = field(default_factory=list)


class WrittenLines:
    """The lines of a model's steps; `variables` are its names, in the order of a state's values."""

    def __init__(self, model: Model, variables: Sequence[str]) -> None:
        self._names, self._variables = names_of(model), tuple(variables)
        self._rules = Noting(model, draws_budgets=True)
        places = {name: place for place, name in enumerate(variables)}
        self._places: dict[object, int] = {cell: places[name] for name, _, cell in self._rules.layout.names}
        self.known = ByWhatIsRead[Due]()
        self._reports = REPORTS.union(*(kinds for part, kinds in REPORTS_OF.items() if model.has(part)))
        self._ignored = set() if model.has("metadata") else {UpdateMetadataSending}

    def differences(self, choice: Choice, before: Raw, entries: Sequence[Entry]) -> list[str]:
        """How what was written departs from what a step, taken in this state, writes."""
        told = (one.line for one in entries if isinstance(one, StateChange | Report))
        lines = [line for line in told if self.is_compared(type(line))]
        if not lines and all(name != "c" for name, _ in choice.parameters):
            return []
        due = self.due(choice, before)
        if lines in due.agreed:
            return []
        reasons = [one for log, of_it in due.lines.items() for one in self._differences(of_it, log, lines)]
        if not reasons:
            due.agreed.append(lines)
        return reasons

    def due(self, choice: Choice, before: Raw) -> Due:
        """What a step writes, as its rule said where all that it reads was the same."""
        return self.known.get(choice.name, before) or self._asked(choice, before)

    def _asked(self, choice: Choice, before: Raw) -> Due:
        """What the rule says now."""
        state = self._rules.layout.unflatten(dict(zip(self._variables, before, strict=True)))
        found = self._rules.step(state, choice.rule, dict(choice.parameters))
        said = [one for one in found.said if self.is_compared(one.line)] if found else []
        due = Due({log: [_read_now(one) for one in self._names.expected(said, log)] for log in LOGS})
        read = (self._places[cell] for cell in self._rules.read() if cell in self._places)
        return self.known.keep(choice.name, before, read, due)

    def is_compared(self, kind: type[Line]) -> bool:
        """Whether lines of this kind are."""
        return kind in self._reports or (issubclass(kind, ControllerLine) and kind not in self._ignored)

    def _differences(self, due: Sequence[Expected], log: type[Line], lines: Sequence[Line]) -> Iterator[str]:
        written = self._said(lines, log)
        count, left = Writing(due).matched(written)
        yield from (f"the specification writes: {one.kind.__name__} {dict(one.fields)}" for one in left)
        yield from (f"the reference writes: {one.text}" for one in written[count:])

    def _said(self, lines: Sequence[Line], log: type[Line]) -> list[ControllerSaid]:
        """Those of a log, as lines of one that has every level."""
        return [
            ControllerSaid(
                place="", time=0, text=str(line), controller=0, incarnation=1, line=line, details=self._reports
            )
            for line in lines
            if isinstance(line, log)
        ]


def _read_now(line: Expected) -> Expected:
    """A line with the fields that it would read from the state when it is compared."""
    fields = line.fields
    return replace(line, known=lambda: fields)
