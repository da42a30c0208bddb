"""The lines that the reference writes at a step, held against those that the rules say, log by log and in order.

Of controller.log the rules say what a recording is judged by; other lines of the reference are not compared, nor, in
a scope without UpdateMetadata, its lines. Each line must be there
with what the rule knows of it; only what a rule says `perhaps` may be missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from model_check.judging.writing import Writing
from model_check.recordings.reports import REPORTS, REPORTS_OF
from model_check.recordings.seen import ControllerSaid
from model_check.traces.logged import opened
from reference.journal import Entry, Report, StateChange
from reference.memory.choices import Choice
from spec.logs.controller_log.parts import ControllerLogLine
from spec.logs.controller_request_lines import ControllerLine, UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.model import Model

LOGS: Final = (ControllerLine, ControllerLogLine)
"""A controller's lines of each log."""


class WrittenLines:
    """The lines of a model's steps."""

    def __init__(self, model: Model) -> None:
        self._rules, self._names = opened(model)
        self._reports = REPORTS.union(*(kinds for part, kinds in REPORTS_OF.items() if model.has(part)))
        self._ignored = set() if model.has("metadata") else {UpdateMetadataSending}

    def differences(self, choice: Choice, before: Mapping[str, int], entries: Sequence[Entry]) -> list[str]:
        """How what was written departs from what a step, taken in this state, writes."""
        parameters = dict(choice.parameters)
        told = (one.line for one in entries if isinstance(one, StateChange | Report))
        lines = [line for line in told if self._is_compared(type(line))]
        if "c" not in parameters and not lines:
            return []
        found = self._rules.step(self._rules.layout.unflatten(before), choice.rule, parameters)
        said = [one for one in found.said if self._is_compared(one.line)] if found else []
        reasons: list[str] = []
        for log in LOGS:
            expected = Writing(self._names.expected(said, log))
            reasons += _differences(expected, [self._said(one) for one in lines if isinstance(one, log)])
        return reasons

    def _is_compared(self, kind: type[Line]) -> bool:
        return kind in self._reports or (issubclass(kind, ControllerLine) and kind not in self._ignored)

    def _said(self, line: Line) -> ControllerSaid:
        """A line, as one of a log that has every level."""
        return ControllerSaid(
            place="", time=0, text=str(line), controller=0, incarnation=1, line=line, details=self._reports
        )


def _differences(step: Writing, written: Sequence[ControllerSaid]) -> Iterator[str]:
    count, left = step.matched(written)
    yield from (f"the specification writes: {one.kind.__name__} {dict(one.fields)}" for one in left)
    yield from (f"the reference writes: {one.text}" for one in written[count:])
