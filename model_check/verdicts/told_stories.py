"""What of a document reports tell: the properties that are broken, and the stories that have words, news first."""

from collections.abc import Iterator
from typing import NamedTuple

from model_check.verdicts.results import Document, Finding, Run, Story, news_of
from model_check.verdicts.verdict import Verdict


class Told(NamedTuple):
    """A story that has words: of a property, or of a whole run, as of a recording or of a trace that was replayed."""

    run: Run
    story: Story
    finding: Finding | None

    @property
    def name(self) -> str:
        """The property, or what the run is about."""
        return self.finding.property if self.finding else self.run.scope

    @property
    def statement(self) -> str:
        """What the property says, or why the run ended as it did."""
        return self.finding.statement if self.finding else self.run.reason

    @property
    def verdict(self) -> Verdict:
        """What the story shows."""
        return self.finding.verdict if self.finding else self.run.verdict

    @property
    def is_broken(self) -> bool:
        """Whether the last step is the one that breaks a property."""
        return self.finding is not None and self.finding.verdict is Verdict.VIOLATED

    @property
    def because(self) -> str:
        """Why the last step breaks the property: of what, and by which values; its statement where nobody says."""
        return str(self.story.because or self.statement) if self.is_broken else ""


def broken_in(document: Document) -> Iterator[tuple[Run, Finding, bool]]:
    """Each property that is broken, with its run, and whether that is news."""
    for run in document.runs:
        news = news_of(run)
        yield from ((run, one, one.property in news) for one in run.findings if one.verdict is Verdict.VIOLATED)


def stories_told(document: Document) -> list[Told]:
    """The stories of a document whose steps are printed, what is news first."""
    new, others = list[Told](), list[Told]()
    for run in document.runs:
        news = news_of(run)
        others += [Told(run, run.story, None)] if run.story and run.story.steps else []
        for one in run.findings:
            if one.story and one.story.steps:
                (new if one.property in news else others).append(Told(run, one.story, one))
    return [*new, *others]
