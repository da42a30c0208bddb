"""What `kcheck conform` leaves behind for others: JUnit's XML for a CI, Markdown for a pull request, a badge."""

import json
from collections import Counter
from typing import Final

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from model_check.conformance import conformance_report as report
from model_check.conformance.conformance_report import of_failure
from model_check.conformance.conforming import Conformance, Outcome
from model_check.conformance.vector import VERSION
from model_check.reports.characters import folded, plain_markdown, printable
from model_check.verdicts.verdict import Verdict

COLOURS: Final = {Verdict.HOLDS: "brightgreen", Verdict.VIOLATED: "red"}
MOST: Final = 20
"""So many failures are printed in Markdown; a pull request shows no more."""


def document(found: Conformance, _command: list[str]) -> str:
    """All of it, as `--json` prints it."""
    return json.dumps(report.document(found), indent=1) + "\n"


def junit(found: Conformance, command: list[str]) -> str:
    """Each vector as a test case, each group as a class: what came of it, and what there is to tell."""
    suite = TestSuite(printable(f"conformance of {found.adapter.name}"))
    for one in found.results:
        case = TestCase(f"{one.vector.id} {one.vector.title}", classname=f"conformance.{one.vector.group}")
        told = printable("\n".join(of_failure(one, command)))
        match one.outcome:
            case Outcome.FAIL:
                case.result = [Failure(printable(one.told), "failure")]
                case.system_out = told
            case Outcome.ERROR:
                case.result = [Error(printable(one.told), "error")]
                case.system_out = told
            case Outcome.SKIP | Outcome.EXPECTED:
                case.result = [Skipped(printable(f"{one.outcome}: {one.told}"))]
        suite.add_testcase(case)
    document = JUnitXml()
    document.add_testsuite(suite)
    return str(document.tostring().decode())  # type: ignore[no-untyped-call]  # it has no types


def markdown(found: Conformance, command: list[str]) -> str:
    """A table of the groups, and the failures, folded away."""
    adapter, kinds = found.adapter, [one for one in Outcome if found.counts[one]]
    groups = dict.fromkeys(one.vector.group for one in found.results)
    reason = f": {found.reason}" if found.reason else ""
    whose = f"{plain_markdown(adapter.name)} ({plain_markdown(adapter.language)})"
    lines = [
        f"### {found.verdict}: {whose}, {adapter.dialect}{reason}", "",
        f"| vectors {VERSION} | {' | '.join(kinds)} |", f"|---|{'---:|' * len(kinds)}",
    ]  # fmt: skip
    for group in groups:
        counts = Counter(one.outcome for one in found.results if one.vector.group == group)
        lines.append(f"| {group} | {' | '.join(str(counts[one]) for one in kinds)} |")
    lines.append(f"| of {found.of} | {' | '.join(str(found.counts[one]) for one in kinds)} |")
    failed = [one for one in found.results if one.outcome in {Outcome.FAIL, Outcome.ERROR}]
    if failed:
        told = "\n\n".join("\n".join(of_failure(one, command)) for one in failed[:MOST])
        more = f"\n\nand {len(failed) - MOST} more" if len(failed) > MOST else ""
        lines.append(folded("What failed", told + more))
    return "\n".join([*lines, ""])


def badge(found: Conformance, _command: list[str]) -> str:
    """What shields.io reads from an address: how many vectors of its dialect passed, of those that were looked at.

    A skip is no pass here, either: an adapter that does not answer half of the verbs is not shown as one that passes
    all.
    """
    passed = found.counts[Outcome.PASS]
    of_dialect = sum(found.adapter.dialect in one.vector.dialects for one in found.results)
    told = {
        "schemaVersion": 1, "label": f"kafka-controller-spec {VERSION}", "message": f"{passed} of {of_dialect}",
        "color": COLOURS.get(found.verdict, "lightgrey"),
    }  # fmt: skip
    return json.dumps(told) + "\n"


FORMATS: Final = {"json": document, "junit": junit, "markdown": markdown, "badge": badge}
"""What makes each report, of what was found and the command that asks again."""
