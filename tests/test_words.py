"""Words: docstrings, claims, titles of defects and messages say nothing that the glossary would have said otherwise.

Every string of more than one word is read from the syntax tree; comments, and code between backticks, are not. A phrase
is a pattern; `spec/GLOSSARY.md` says what to write in its place. Each is tried on sentences that have it, on good
English that is like it, and on the repository, which must have none.

Left out: what vectors say, as long as it is no docstring, for vectors keep what is written. Kafka's own log lines have
none of the phrases.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.test_architecture import LAYERS, Sources, modules, repository

GLOSSARY: Final = (Path(__file__).parents[1] / "spec/GLOSSARY.md").read_text(encoding="utf-8")
HEADER: Final = "| not | but | for example |"
OF_VECTORS: Final = "model_check/conformance/making/"
"""Where strings are what vectors say."""

NO_QUESTION: Final = r"\b(?![^.;?]*\?)"
BEFORE_IT: Final = (
    "of|by|to|for|from|with|than|on|in|at|except|about|that|which|whether|if|unless|when|while|because|but"
)
PROCESSES: Final = (
    "controller|broker|replica|process|leader|follower|session|client|thread|listener|handler|writer|caller|program|"
    "adapter|engine|worker|server|member|manager|owner|successor|predecessor"
)
PLACES: Final = (
    "for|in|at|on|under|beside|behind|between|before|after|alone|still|by|above|below|within|here|next|first|last|inside|"
    "outside|among|around"
)
PHRASES: Final[Mapping[str, re.Pattern[str]]] = {
    "Who resigns": re.compile(rf"(?:\A|[.;:]\s|\(|\n\n)[Ww]ho{NO_QUESTION}"),
    "of who, that who": re.compile(rf"\b(?i:{BEFORE_IT})\swho{NO_QUESTION}"),
    "a controller who": re.compile(rf"\b(?:{PROCESSES})(?:s?|,)\swho\b"),
    "is none": re.compile(r"(?<![Tt]here\s)\b(?:is|was|are|were)\snone\b(?!\sof\b)"),
    "but for": re.compile(r"\bbut\sfor\b"),
    "stands": re.compile(rf"(?:(?<!\bas\sit\s)(?<!\bas\sthey\s)\bstands?|\bstood)\b(?!-|\s(?:{PLACES})\b)"),
    "treats": re.compile(r"\btreat(?:s|ed|ing)?\b"),
    "is told": re.compile(r"(?<!\.)\btold\b(?!\s(?:apart|to)\b)"),
}
"""Each phrase as the glossary has it, and its pattern. What stands at a place, or as it stands, is good English."""


def rows(header: str) -> list[list[str]]:
    """The cells of the glossary's table that begins with this header."""
    table = GLOSSARY.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


INSTEAD: Final = {phrase: advice for phrase, advice, _ in rows(HEADER)}


def strings(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """The strings of a module: line, text, and whether it is a docstring; a formatted string has {} for its values."""
    nodes = list(ast.walk(tree))
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            said = [str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values]
            yield node.lineno, "".join(said), False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value, id(node) in docstrings


def prose(text: str) -> str:
    """A text line by line as it was, without code and indents; nothing, if it is one word."""
    plain = re.sub(r"[^\S\n]*\n[^\S\n]*", "\n", re.sub(r"`[^`\n]*`", "`", text))
    return plain if " " in text.strip() else ""


def wrong_words(sources: Sources) -> list[str]:
    """Places whose text has one of the phrases, each with what to write instead."""
    return [
        f"{path}:{line + len(text[: found.end()].splitlines()) - 1}: "
        f"{' '.join(found.group().split())!r}; write {INSTEAD[phrase]}"
        for path, tree in modules(sources, LAYERS[:-1])
        for line, said, is_docstring in strings(tree)
        if is_docstring or not path.startswith(OF_VECTORS)
        for text in [prose(said)]
        for phrase, pattern in PHRASES.items()
        for found in pattern.finditer(text)
    ]


PLANTED: Final[list[tuple[str, str]]] = [
    ("Who resigns", "Who resigns has seen the thread end."),
    ("Who resigns", "It stays open. Who closes it has seen that."),
    ("Who resigns", "The znode; who owns it goes on."),
    ("Who resigns", "who is the controller"),
    ("of who, that who", "What is known of who asks."),
    ("of who, that who", "Nothing is sent unless who asked is alive."),
    ("of who, that who", "Whether who resigned sends it all the same."),
    ("of who, that who", "A znode is left, which who is in office has not read."),
    ("a controller who", "The transaction manager, who has decided, commits."),
    ("a controller who", "A session ends, and each client\nwho had it makes another."),
    ("is none", "MalformedInput names the line that is none."),
    ("is none", "Requests that were none are let pass."),
    ("but for", "Every scope but for deep ones."),
    ("stands", "A request that stands is read."),
    ("stands", "No request stands, and all rests."),
    ("stands", "The line is printed as it stood."),
    ("treats", "The handler that treats a shutdown goes on."),
    ("treats", "Partitions are treated one by one."),
    ("is told", "All of RAR is told."),
    ("is told", "What a broker was told of a partition."),
]
GOOD: Final = [
    "Who resigns? The one that lost its session.",
    "Two questions. Who owns the znode, and who wrote it?",
    "Whoever makes a recording reads this; somebody who edits a rule does, too.",
    "It names the admin who removed the topic, and who did so first.",
    "A table of all controllers, who acted in whose epoch, and which acts broke a claim.",
    "There is none, and of these there are none.",
    "99 is none of 4 LEADER_AND_ISR, 5 STOP_REPLICA.",
    "Not only that, but also what follows for nobody.",
    "A letter stands for a broker, and the numbers stand at the end.",
    "A treaty is no treatment.",
    "The working tree as it stands, or a stand-in.",
    "What cannot be told apart: a broker that is told to stop, and one that crashes.",
    "A field: `told` counts, `is none` does not, and given.told is a key.",
    "told",
]


def modules_that_say(text: str) -> list[Sources]:
    """A text as docstring of a module, of a function and of an attribute, as a title, and in a formatted message."""
    quoted = repr(text)
    codes = [
        quoted,
        f"def f():\n    {quoted}",
        f"X = 1\n{quoted}",
        f"ROWS = (Defect('D1', {quoted}),)",
        f"def f(n):\n    raise ValueError(f'{{n}}. ' + f{quoted})",
    ]
    return [{"spec/a.py": code} for code in codes]


@pytest.fixture(scope="module")
def sources() -> Sources:
    return repository()


@pytest.mark.takes("Every module is parsed.")
def test_every_text_is_as_the_glossary_has_it(sources: Sources) -> None:
    assert wrong_words(sources) == []


@pytest.mark.parametrize(("phrase", "text"), PLANTED)
def test_a_planted_phrase_is_found_wherever_it_is_said(phrase: str, text: str) -> None:
    for one in modules_that_say(text):
        (found,) = wrong_words(one)
        assert re.match(r"spec/a\.py:\d+: '", found)
        assert found.endswith(f"; write {INSTEAD[phrase]}")


@pytest.mark.parametrize("text", GOOD)
def test_good_english_is_let_pass(text: str) -> None:
    assert [wrong_words(one) for one in modules_that_say(text)] == [[]] * 5


def test_the_line_is_that_of_the_phrase() -> None:
    (found,) = wrong_words({"spec/a.py": 'X = 1\n"""What it is.\n\nAll is sent. Who has it\ngoes on.\n"""\n'})
    assert found.startswith("spec/a.py:4: '. Who'; write ")


def test_comments_and_the_words_of_vectors_are_not_read() -> None:
    assert wrong_words({"spec/a.py": "# Who resigns is told.\n"}) == []
    assert wrong_words({f"{OF_VECTORS}a.py": "TITLE = 'all are told of it'"}) == []
    assert len(wrong_words({f"{OF_VECTORS}a.py": "'''All are told of it.'''"})) == 1


def test_the_glossary_has_each_phrase_and_no_other() -> None:
    assert list(INSTEAD) == list(PHRASES)


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    words = [word for word, _, _ in rows("| word | means | more |")]
    assert len(words) > 50
    assert words == sorted(words, key=str.lower)
