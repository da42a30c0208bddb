"""What is compared with what: facts of the claims that recordings are asked, and of the modules that compare.

A claim that always answers that it holds, a refinement that compares two fields less and a check that leaves a
comparison out find nothing wrong, and all holds. Each module that decides such a thing is a fact: the digest of its
text, without docstrings and lines of comments, so that whoever changes it has it accepted. That such an engine finds
anything at all is for the planted faults of `kcheck verify`.
"""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Final

from model_check.inventory.facts import Fact
from model_check.inventory.sources import Files, sources
from model_check.inventory.system_digests import digest_of_text
from model_check.monitors.check import CLAIMS
from model_check.monitors.occasions import OCCASIONS

COMPARERS: Final = (
    "model_check/checks/", "model_check/monitors/", "model_check/refinement/", "model_check/judging/asked_claims.py",
    "model_check/judging/broken_claims.py", "model_check/judging/not_asked.py",
    "model_check/judging/shipped_recordings.py",
)  # fmt: skip
"""Folders and files: the gate's checks, the claims asked of recordings, the refinement, and what a judgement asks."""


def comparer_facts(files: Files | None = None) -> Iterator[Fact]:
    """When each claim is asked of a recording, and what the modules do that compare; by default as they are."""
    for claim in CLAIMS:
        occasion = f"; its occasion: {OCCASIONS[claim].what}" if claim in OCCASIONS else ""
        yield f"recorded claim {claim.name}", f"{claim.kind}, asked of {claim.needs.value}{occasion}"
        yield f"recorded claim {claim.name} / words", digest_of_text(claim.statement, claim.source)
    for path, text in sorted((sources() if files is None else files).items()):
        if path.startswith(COMPARERS) and path.endswith(".py"):
            yield f"module {path} / code", digest_of_text(code_of(text.decode()))


@cache
def code_of(text: str) -> str:
    """A module's text without docstrings, lines of comments and empty lines; the same under every version of Python.

    A docstring that shares its lines with code stays, and so does what stands within any other string.
    """
    lines, words, inner = text.split("\n"), set[int](), set[int]()
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Constant | ast.JoinedStr):
            inner |= {*range(one.lineno, one.end_lineno or one.lineno)}
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and _stands_alone(one.value, lines):
            words |= {*range(one.lineno - 1, one.end_lineno or one.lineno)}
    kept = (line for number, line in enumerate(lines) if number not in words and (number in inner or _is_code(line)))
    return "\n".join(kept)


def _stands_alone(one: ast.Constant, lines: list[str]) -> bool:
    """Whether it is a text with no code beside it."""
    before = lines[one.lineno - 1].encode()[: one.col_offset]
    behind = lines[(one.end_lineno or one.lineno) - 1].encode()[one.end_col_offset :].decode()
    return isinstance(one.value, str) and not before.strip() and not _is_code(behind)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
