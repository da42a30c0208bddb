"""Mutants of a module: its text with one place changed, found by its syntax tree.

A mutant is named by what stands in the code (file, function, line, what becomes what), never by a line's number, so
that what is known of it stays true when the file grows elsewhere.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.model_check.conformance.mutant_operators import OPERATORS, Operator, named, negated

Name = tuple[str, str, str, str, int]
"""File, function, line, change, and which of those that are alike in all this."""

LOGGED: Final = frozenset({
    "report", "log_state_change", "note", "journal", "reach", "is_about", "_log", "_tell", "_log_failure",
    "_report_cache", "_tell_of_attempt",
})  # fmt: skip
"""Functions that only say what goes on, in a log or to the model checker; no vector looks there."""


@dataclass(frozen=True)
class Mutant:
    """One change: in which function, what the line says, and the bytes that stand for others.

    `number` counts the mutants of a function that would be named alike.
    """

    file: str
    function: str
    line: str
    change: str
    number: int
    operator: str
    at: int
    start: int
    end: int
    text: bytes

    @property
    def name(self) -> Name:
        """What it is known by."""
        return self.file, self.function, self.line, self.change, self.number

    def of(self, source: bytes) -> bytes:
        """The module with the change."""
        return source[: self.start] + self.text + source[self.end :]


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """The mutants of a module, none twice."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.decode().splitlines()
    made = dict[tuple[int, int, bytes], Mutant]()
    alike = Counter[Any]()
    for function, node, operators in _within_functions(ast.parse(source)):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(source[start:end].decode().split())
        for operator, become in operators.items():
            for other in become(node):
                after = ast.unparse(other)
                text = f"({after})" if isinstance(other, ast.expr) and not isinstance(other, ast.Constant) else after
                place = start, end, text.encode()
                if place not in made:
                    known = file, function, lines[node.lineno - 1].strip(), f"{before} -> {after}"
                    made[place] = Mutant(*known, alike[known], operator, node.lineno, *place)
                    alike[known] += 1
    return [*made.values()]


def _within_functions(
    node: ast.AST, function: str = "", *, is_within: bool = False
) -> Iterator[tuple[str, Any, dict[str, Operator]]]:
    """What runs when a function does, with the function's name and what changes it: no annotation, default or text."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if node.name in LOGGED:
            return
        name = f"{function}.{node.name}" if function else node.name
        for inner in node.body:
            yield from _within_functions(inner, name, is_within=not isinstance(node, ast.ClassDef))
        return
    if isinstance(node, (ast.JoinedStr, ast.Assert, ast.arguments)) or named(node) in LOGGED:
        return
    if isinstance(node, ast.Expr) and named(node.value) in LOGGED:
        return
    if is_within and isinstance(node, (ast.expr, ast.stmt)):
        yield function, node, OPERATORS
    if is_within:
        for condition in _conditions(node):
            yield function, condition, {"condition negated": negated}
    annotated = [node.target, node.value] if isinstance(node, ast.AnnAssign) else None
    for child in ast.iter_child_nodes(node) if annotated is None else filter(None, annotated):
        yield from _within_functions(child, function, is_within=is_within)


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def chosen(mutants: Iterable[Mutant], number: int, seed: str) -> list[Mutant]:
    """So many of them, by lot, and spread over functions: no function has two before each has one."""
    by_function: dict[tuple[str, str], list[tuple[str, Mutant]]] = {}
    for one in mutants:
        lot = hashlib.sha256(repr((seed, one.name)).encode()).hexdigest()
        by_function.setdefault((one.file, one.function), []).append((lot, one))
    rounds = [
        (turn, *pair) for some in by_function.values() for turn, pair in enumerate(sorted(some, key=lambda one: one[0]))
    ]
    return [mutant for _, _, mutant in sorted(rounds, key=lambda one: one[:2])[:number]]
