"""JUnit's XML, read by the library's own parser: a suite for a run, and a failure for what is not as it should be."""

from hypothesis import given
from junitparser import Error, Failure, JUnitXml, Skipped

from model_check.reports.junit import report
from model_check.verdicts.results import Comparison, Document, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import documents, finding, run


@given(documents)
def test_whatever_is_in_a_document_the_xml_is_read(document: Document) -> None:
    suites = list(JUnitXml.fromstring(report(document).encode()))
    assert [len(suite) for suite in suites] == [1 + len(one.comparisons or one.findings) for one in document.runs]
    bad = sum(one.verdict is not Verdict.HOLDS for one in document.runs)
    bad += sum(not made.is_met for one in document.runs for made in one.comparisons)
    broken = sum(f.verdict is Verdict.VIOLATED for one in document.runs if not one.comparisons for f in one.findings)
    assert sum(suite.failures + suite.errors for suite in suites) == bad + broken


def test_where_something_is_expected_a_case_is_an_expectation() -> None:
    known, new = finding("known", Verdict.VIOLATED, length=1), finding("new", Verdict.VIOLATED, length=2)
    made = (
        Comparison("known", "VIOLATED", "VIOLATED", Verdict.HOLDS, "VIOLATED"),
        Comparison("new", "HOLDS", "VIOLATED", Verdict.VIOLATED, "HOLDS"),
        Comparison("states", "124", "125", Verdict.VIOLATED),
    )
    told = run(known, new, verdict=Verdict.VIOLATED, comparisons=made)
    (suite,) = JUnitXml.fromstring(report(plain_document("verify", told)).encode())
    cases = {case.name: case.result for case in suite}
    assert list(cases) == ["verify tiny AS_CODED (explorer)", "known", "new", "states"]
    assert cases["known"] == []
    (failed,) = cases["new"]
    assert isinstance(failed, Failure)
    assert failed.message == "expected HOLDS, found VIOLATED"
    assert (failed.text or "").startswith(
        "new: What new says.\nBroken by 2 steps (by hand):\n   0. The initial state.\n"
    )
    assert (suite.tests, suite.failures) == (4, 3)


def test_where_nothing_is_expected_a_case_is_a_property() -> None:
    told = run(
        finding("broken", Verdict.VIOLATED, length=2),
        finding("kept", Verdict.HOLDS),
        finding("open", Verdict.INCOMPLETE),
        verdict=Verdict.INCOMPLETE,
    )
    (suite,) = JUnitXml.fromstring(report(plain_document("explore", told)).encode())
    itself, broken, kept, still_open = (case.result for case in suite)
    assert [type(one) for (one,) in (itself, broken, still_open)] == [Error, Failure, Skipped]
    assert broken[0].message == "broken by 2 steps"
    assert kept == []
