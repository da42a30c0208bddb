"""The protocol's document says what the repository cites of it, and has every defect that is a row, and no other.

Two kinds of citations are read, wherever text is kept: sections ("PROTOCOL.md section 7.4", "sections 7 to 10", "the
table of section 8") and defects ("D44", "D44-failover", "S8"). A citation in a form that is not known is an offender,
as is one of what the document lacks; so each rule is tried on planted offenders, too.
"""

import re
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from spec.defects import listed, number
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import KafkaState, Table, transitions
from tests.test_architecture import ROOT, Sources, repository

NAME = "PROTOCOL.md"
PATH = f"spec/{NAME}"
DOCUMENT = (ROOT / PATH).read_text(encoding="utf-8")
UNREAD = {"LICENSE", Path(__file__).relative_to(ROOT).as_posix()}
"""The licence has sections of its own, and here offenders are planted."""

HEADING = re.compile(r"^##+ (\d+(?:\.\d+)?)\.? ", re.MULTILINE)
DEFECT = re.compile(r"^(?:### ([DS]\d+(?:-[a-z]+)*)\. |- \*\*([DS]\d+(?:-[a-z]+)+)\*\*: )", re.MULTILINE)
SECTIONS = HEADING.findall(DOCUMENT)
DEFECTS = [heading or item for heading, item in DEFECT.findall(DOCUMENT)]

NUMBER = r"\d++(?:\.\d++)?+"
MORE = r"(?:[./–-]|[,;&/]? ?(?:and|or|to|through|&)? ?)\d"
LIST = re.compile(rf" {NUMBER}(?:(?:, and|,| and| to) {NUMBER})*+(?!\w|{MORE})")
"""Numbers of sections: "7.4", "2 and 6", "7.2, 7.5 and 8", "9 to 11". More numbers right behind it: another form."""
MENTION = re.compile(rf"{re.escape(NAME)}(?:,? [Ss]ections?\b)?|\b[Ss]ections?(?= \(?[\w.]*\d)")
WHOLE = re.compile(r"(?:'s)?(?:,? [DS]\d|(?![^.;:)\"`|]*(?:\d|§|\b[Ss]ect|\b[Pp]art|\b[Cc]hapter)))")
"""What follows the document's name where no section is meant: a defect, or a clause that has no number and no such
word."""
RECORDING = re.compile(r"\b\d\d[a-z]?(?:-[A-Za-z]\w*)+")
"""The name of a recording, which may begin with that of a defect: `25-D42-D49-preferred-without-leadership`."""
CITED_DEFECT = re.compile(r"(?<!\w)[DS]\d{1,2}(?!\d)\w*(?:-[a-z]\w*)*")
"""Ids of one or two digits: ruff's codes have three."""
STEMS = {one.partition("-")[0] for one in DEFECTS}
"""S11 names what goes wrong there in several ways, and has no row of its own."""
NO_ROWS = {
    "D0": {"tests/spec/test_defects.py", "tests/model_check/checks/test_defects.py"},
    "D4x": {"tests/model_check/cli/test_defects.py"},
    "D4-unstarted": {"tests/model_check/defect_plays.py"},
    "D4-read": {"tests/model_check/defect_plays.py"},
    "D28-shutdown": {"tests/model_check/defect_plays.py"},
    "D28-halted": {"tests/model_check/defect_plays.py"},
    "D52-state": {"tests/model_check/defect_plays.py"},
    "D53-namesake": {"tests/model_check/defect_plays.py"},
}
"""Names of that kind which are no defects, and where they stand: what tests see refused, and plays of the defects."""


def flat(text: str) -> str:
    """A text without its line breaks and the comment signs behind them, for a citation may go on in the next line."""
    return re.sub(r"[^\S\n]*\n\s*(?:#+:? +)?", " ", text)


def numbers(text: str) -> list[str]:
    """The sections that a list of them names, those between the ends of a range included."""
    named: list[str] = []
    for is_range, one in re.findall(rf"( to)? ({NUMBER})", text):
        named += [*between(named[-1], one), one] if is_range else [one]
    return named


def between(first: str, last: str) -> list[str]:
    """The sections between two: 3 of 2 and 4, 7.3 of 7.2 and 7.4; of unlike ones, as 2 and 7.4, none that exists."""
    (*outer, low), (*other, high) = first.split("."), last.split(".")
    return [".".join([*outer, str(one)]) for one in range(int(low) + 1, int(high))] if outer == other else ["unlike"]


@cache
def section_citations(text: str) -> list[tuple[str, list[str] | None]]:
    """What a text cites of the document: where, and the sections (none: all of it); None if that cannot be read."""
    text, citations = flat(text), list[tuple[str, list[str] | None]]()
    for found in MENTION.finditer(text):
        named = LIST.match(text, found.end())
        whole = found.group() == NAME and WHOLE.match(text, found.end())
        where = text[found.start() : found.end() + 40]
        citations.append((where, numbers(named.group()) if named else [] if whole else None))
    return citations


def wrong_sections(sources: Sources) -> list[str]:
    """Citations of sections that the document does not have, or that cannot be read."""
    return [
        f"{path}: {where}"
        for path, text in sources.items()
        for where, named in section_citations(text)
        if named is None or not set(named) <= set(SECTIONS)
    ]


def wrong_defects(sources: Sources) -> list[str]:
    """Citations of defects that the document does not have."""
    return [
        f"{path}: {cited}"
        for path, text in sources.items()
        for cited in CITED_DEFECT.findall(RECORDING.sub("", text))
        if cited not in {*DEFECTS, *STEMS} and path not in NO_ROWS.get(cited, ())
    ]


@pytest.fixture(scope="module")
def sources() -> Sources:
    return {path: text for path, text in repository().items() if path not in UNREAD}


def test_sections_that_are_cited_stand_in_the_document(sources: Sources) -> None:
    assert wrong_sections(sources) == []


def test_defects_that_are_cited_stand_in_the_document(sources: Sources) -> None:
    assert wrong_defects(sources) == []


def test_citations_are_seen(sources: Sources) -> None:
    """Were they overlooked, the rules above would hold."""
    others = [text for path, text in sources.items() if path != PATH]
    cited = [named for text in others for _, named in section_citations(text)]
    assert len(cited) > 300
    assert {one.partition(".")[0] for named in cited for one in named or []} >= {str(one) for one in range(1, 14)}
    assert {one for text in others for one in CITED_DEFECT.findall(RECORDING.sub("", text))} == {
        *DEFECTS,
        *STEMS,
        *NO_ROWS,
    }


@pytest.mark.parametrize(
    ("cited", "named"),
    [
        ("Kafka: `It`. PROTOCOL.md section 7.4.", ["7.4"]),
        ('source="PROTOCOL.md sections 2 and 6; KafkaController"', ["2", "6"]),
        ("PROTOCOL.md sections\n    7.2, 7.5, 7.6 and 12.4. Left out", ["7.2", "7.5", "7.6", "12.4"]),
        ("# of PROTOCOL.md sections 9 to\n# 11, and more", ["9", "10", "11"]),
        ("PROTOCOL.md sections 1 to 5 and 10.", ["1", "2", "3", "4", "5", "10"]),
        ("PROTOCOL.md sections 7.2 to 7.4", ["7.2", "7.3", "7.4"]),
        ("(PROTOCOL.md, section 9). What", ["9"]),
        ("PROTOCOL.md 7.1: no election", ["7.1"]),
        ("PROTOCOL.md section 8, steps 8 and 9", ["8"]),
        ("refuses it (section 10); who", ["10"]),
        ("Section 10: a failed write", ["10"]),
        ("PROTOCOL.md D29, KAFKA-5083", []),
        ("PROTOCOL.md, D1): the same", []),
        ("from PROTOCOL.md before it was read", []),
        ("PROTOCOL.md's examples of who is controller", []),
        ("[the protocol](spec/PROTOCOL.md) says", []),
    ],
)
def test_citations_are_read_in_every_form(cited: str, named: list[str]) -> None:
    assert [one for _, one in section_citations(cited)] == [named]


@pytest.mark.parametrize(
    "planted",
    [
        "PROTOCOL.md section 15.", "PROTOCOL.md section 7.9.", "PROTOCOL.md sections 7.4 and\n99", "PROTOCOL.md 7.9:",
        "PROTOCOL.md sections 13 to 15", "see section 99", "PROTOCOL.md section 7.4.1", "PROTOCOL.md sections 7/8",
        "PROTOCOL.md sections 7 or 8", "PROTOCOL.md sections 7-8", "PROTOCOL.md section seven", "PROTOCOL.md sect. 7",
        "PROTOCOL.md, part 7", "sections 7, 8 or 9", "section 7.4b", "PROTOCOL.md section", "section VII.1",
        "PROTOCOL.md sections 7; 8", "PROTOCOL.md-7.4", "PROTOCOL.md sections (7)",
        "PROTOCOL.md sections 7 to 9, 10, 15", "PROTOCOL.md sections 7 to 7.4",
    ],
)  # fmt: skip
def test_a_planted_section_is_found(planted: str) -> None:
    assert len(wrong_sections({"spec/a.py": planted})) == 1


@pytest.mark.parametrize("planted", ["D98", "D99-loss", "D1-late", "S5", "D1b", "PROTOCOL.md D00", "D2-D98", "D0"])
def test_a_planted_defect_is_found(planted: str) -> None:
    assert len(wrong_defects({"spec/a.py": f"see {planted}, D1"})) == 1


def test_rows_and_document_have_the_same_defects() -> None:
    assert sorted(DEFECTS) == sorted(one.id for one in listed())


def test_defects_stand_in_the_order_of_their_numbers_and_ways_of_one_below_it() -> None:
    assert [number(one)[:2] for one in DEFECTS] == sorted(number(one)[:2] for one in DEFECTS)
    last = ""
    for heading, item in DEFECT.findall(DOCUMENT):
        last = heading or last
        assert not item or item.startswith(f"{last}-")


def test_sections_are_numbered_in_order() -> None:
    assert [one for one in SECTIONS if "." not in one] == [str(one) for one in range(1, 15)]
    inner = [tuple(map(int, one.split("."))) for one in SECTIONS if "." in one]
    assert inner == [(6, 1), *((7, one) for one in range(1, 9)), *((12, one) for one in range(1, 5))]


@pytest.mark.parametrize(("section", "table"), [("3", PARTITION_TRANSITIONS), ("4", REPLICA_TRANSITIONS)])
def test_its_transition_tables_are_those_of_the_specification(section: str, table: Table[KafkaState]) -> None:
    text = DOCUMENT.partition(f"\n## {section}. ")[2].partition("| from \\ to |")[2].partition("\n\n")[0]
    header, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines())
    told = {(row[0], target) for row in rows for target, cell in zip(header, row[1:], strict=True) if cell == "yes"}
    states = {re.sub("Partition|Replica", "", state).replace("Deletion", "Del"): state for state in table}
    assert {row[0] for row in rows} == set(header) == set(states)
    assert {(states[source], states[target]) for source, target in told} == {
        (one.source, one.target) for one in transitions(table)
    }


def test_the_map_of_the_readme_names_sections() -> None:
    readme = (ROOT / "spec/README.md").read_text(encoding="utf-8")
    table = readme.partition("| part | section |")[2].partition("\n\n")[0].splitlines()[2:]
    named = {one.strip() for row in table for one in row.split("|")[2].split(",")}
    assert len(named) > 10
    assert named <= set(SECTIONS)


def test_recordings_that_are_named_are_shipped() -> None:
    account = (ROOT / "model_check/shipped/README.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"`({RECORDING.pattern})`", DOCUMENT))
    assert len(named) > 20
    assert {one for one in named if f"`{one}`" not in account} == set()


def test_only_tables_have_long_lines() -> None:
    assert [line for line in DOCUMENT.splitlines() if len(line) > 120 and not line.startswith("|")] == []


def test_whoever_installs_the_package_has_what_it_reads_and_the_document() -> None:
    """Every file of `spec` that is no module is package data."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    patterns = tools["setuptools"]["package-data"]["*"]
    data = {path.name for path in (ROOT / "spec").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert {NAME, "manifest.toml"} <= data
    assert [name for name in sorted(data) if not any(fnmatch(name, pattern) for pattern in patterns)] == []
