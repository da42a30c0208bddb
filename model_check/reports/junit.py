"""A document as JUnit's XML, which every CI shows: a suite for a run, a case for the run itself and for each question.

A question is what the manifest expects something of; where it expects nothing, a property. What is not as it should be
is a failure, with its story. What is known to be violated, and is, passes: that is what the gate asks. A run that is
INCOMPLETE is an error, as is one that failed, and a property whose answer is still open is skipped with the reason.
"""

from collections.abc import Iterator

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from model_check.reports.characters import printable
from model_check.verdicts.rendering import steps_of, story_lines
from model_check.verdicts.results import Comparison, Document, Finding, Run
from model_check.verdicts.verdict import Verdict


def report(document: Document) -> str:
    """The XML."""
    whole = JUnitXml(printable(f"kcheck {document.verb}"))
    for number, run in enumerate(document.runs, 1):
        suite = TestSuite(printable(run.title))
        suite.add_property("run", str(number))  # two suites that are alike would become one
        suite.add_testcases([*_cases(document.verb, run)])
        whole.add_testsuite(suite)
    return str(whole.tostring().decode())  # type: ignore[no-untyped-call]  # it has no types


def _cases(verb: str, run: Run) -> Iterator[TestCase]:
    group = printable(".".join(["kcheck", verb, *run.title.replace(".", "_").split()]))
    itself = TestCase(printable(f"{verb} {run.title}"), group, sum((run.seconds or {}).values()))
    told = printable(run.reason) or f"the verdict is {run.verdict}"
    match run.verdict:
        case Verdict.VIOLATED:
            itself.result = [Failure(told, run.verdict)]
        case Verdict.INCOMPLETE | Verdict.ERROR:
            itself.result = [Error(told, run.verdict)]
    yield itself
    if run.comparisons:
        findings = {one.property: one for one in run.findings}
        for one in run.comparisons:  # of a property, or of a defect's
            yield _compared(one, findings.get(one.about) or findings.get(one.about.rpartition(": ")[2]), group)
    else:
        yield from (_found(one, group) for one in run.findings)


def _compared(one: Comparison, finding: Finding | None, group: str) -> TestCase:
    case = TestCase(printable(one.about), group)
    if not one.is_met:
        told = Failure(printable(f"expected {one.expected}, found {one.found}"), one.verdict)
        told.text = _story(finding)
        case.result = [told]
    return case


def _found(one: Finding, group: str) -> TestCase:
    case = TestCase(printable(one.property), group)
    match one.verdict:
        case Verdict.VIOLATED:
            broken = f"broken by {steps_of(one.story)}" if one.story else "broken"
            told = Failure(printable(one.reason) or broken, one.verdict)
            told.text = _story(one)
            case.result = [told]
        case Verdict.INCOMPLETE | Verdict.ERROR:
            case.result = [Skipped(f"{one.verdict}: {printable(one.reason)}")]
    return case


def _story(finding: Finding | None) -> str:
    """A story as the terminal prints it, where there is one."""
    if finding is None or finding.story is None or not finding.story.is_told:
        return ""
    return printable("\n".join(story_lines(finding)))
