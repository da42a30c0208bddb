"""Which reports somebody wants, `FORMAT=FILE` each, and how they are written.

What is wrong with the words is found before anything long begins. What cannot be written at the end is a failure of the
machine around us: it changes no verdict, which was printed by then.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from model_check.verdicts.results import Document
from model_check.verdicts.whole_files import refuse_unless_writable, write_files
from spec.errors import BadInput, UnknownName


class Report(NamedTuple):
    """A format, and the file that gets it."""

    format: str
    path: Path


FORMATS: Final = ("html", "json", "junit", "markdown", "mermaid", "sarif")
WITH_POSSIBILITIES: Final = ("html", "json")
"""Those that tell of each step of a counterexample what else was possible; in the others nobody would look for it."""


def rendered(document: Document, name: str) -> str:
    """A document in a format; what that needs is loaded here."""
    match name:
        case "html":
            from model_check.reports.html import report
        case "junit":
            from model_check.reports.junit import report
        case "markdown":
            from model_check.reports.markdown import report
        case "mermaid":
            from model_check.reports.mermaid import report
        case "sarif":
            from model_check.reports.sarif import report
        case _:
            return document.to_json() + "\n"
    return report(document)


def wanted(words: Iterable[str] | None, formats: Collection[str] = FORMATS) -> tuple[Report, ...]:
    """The reports that the words ask for; BadInput for an unknown format, or a file that cannot be one."""
    reports = tuple(_report(word, formats) for word in words or ())
    seen = set[Path]()
    for one in reports:
        if one.path.resolve() in seen:
            raise BadInput(f"{one.path}: two reports are to be written there; give each a file of its own")
        seen.add(one.path.resolve())
        refuse_unless_writable(one.path)
    return reports


def _report(word: str, formats: Collection[str]) -> Report:
    name, separator, file = word.partition("=")
    if not separator or not file:
        raise BadInput(f"--report {word}: say FORMAT=FILE, such as junit=report.xml")
    if name not in formats:
        raise UnknownName("format of reports", name, formats)
    return Report(name, Path(file))


def write(document: Document, reports: Iterable[Report]) -> None:
    """Write the reports, all or none; EnvironmentFailure names the file that cannot be written.

    A format that fails, which is a mistake of ours, keeps no other report from being written.
    """
    texts, mistakes = dict[Path, str](), list[Exception]()
    for one in reports:
        try:
            texts[one.path] = rendered(document, one.format)
        except Exception as error:  # noqa: BLE001 - it is raised below
            mistakes.append(error)
    write_files(texts)
    for mistake in mistakes:
        raise mistake
