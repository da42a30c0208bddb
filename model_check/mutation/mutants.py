"""Mutants of a module: its text with one place changed, found by its syntax tree.

A mutant is named by what stands in the code (file, function, line, what becomes what), never by a line's number, so
that what is known of it stays true when the file grows elsewhere.

Left alone are annotations, defaults, assertions, texts, and how a class is made (`@dataclass(frozen=True)`).
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from model_check.mutation.operators import Operator, Operators, named, negated
from model_check.mutation.term_operators import ALL, inverted

Name = tuple[str, str, str, str, int]
"""File, function, line, change, and which of those that are alike in all this."""

WIDTH: Final = 160
"""A line of a difference that is longer than this is shown by what becomes what."""

GENERIC: Final = frozenset({
    "dict", "list", "tuple", "set", "frozenset", "type", "defaultdict", "Counter", "deque", "Callable", "Mapping",
    "Sequence", "Iterable", "Iterator", "Collection", "Literal", "Annotated", "Final", "Future",
})  # fmt: skip
"""What types are made of: nothing in `dict[str, int]()` runs."""


@dataclass(frozen=True)
class Mutant:
    """One change: in which function, what the line says, and the bytes that stand for others.

    `number` counts the mutants of a function that would be named alike; `at` is the number of the line.
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

    @property
    def title(self) -> str:
        """Where it is, and what it changes, on a line."""
        where = f"{self.file}:{self.at}"
        return f"{where} {self.function or '(module)'}: {self.change}" + (f" [{self.number + 1}]" * (self.number > 0))

    def of(self, source: bytes) -> bytes:
        """The module with the change."""
        return source[: self.start] + self.text + source[self.end :]

    def difference(self, source: bytes) -> str:
        """The change as a difference has it: a line that goes, and one that comes."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        after = source[first : self.start] + self.text + source[self.end : last]
        lines = [" ".join(one.decode().split()) for one in (source[first:last], after)]
        if max(map(len, lines)) > WIDTH:
            lines = [one[:WIDTH] for one in self.change.split(" -> ", 1)]
        return f"- {lines[0]}\n+ {lines[1]}"


@dataclass(frozen=True)
class Maker:
    """Makes the mutants of modules: by which operators, whether also of what runs as a module is loaded (`whole`).

    Functions of the names `silent` are left alone, and so are calls of them.
    """

    operators: Operators = field(default_factory=lambda: ALL)
    whole: bool = True
    silent: frozenset[str] = frozenset()

    def mutants_of(self, file: str, source: bytes) -> list[Mutant]:
        """The mutants of a module, none twice."""
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        lines = source.decode().splitlines()
        made = dict[tuple[int, int, bytes], Mutant]()
        alike = Counter[Any]()
        for function, node, operators in self._places(ast.parse(source), is_within=self.whole):
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            before = " ".join(source[start:end].decode().split())
            for operator, become in operators.items():
                for other in become(node):
                    after = ast.unparse(other)
                    text = (
                        f"({after})" if isinstance(other, ast.expr) and not isinstance(other, ast.Constant) else after
                    )
                    place = start, end, text.encode()
                    if place not in made:
                        known = file, function, lines[node.lineno - 1].strip(), f"{before} -> {after}"
                        made[place] = Mutant(*known, alike[known], operator, node.lineno, *place)
                        alike[known] += 1
        return [*made.values()]

    def _places(
        self, node: ast.AST, function: str = "", returns: str = "", *, is_within: bool
    ) -> Iterator[tuple[str, Any, Operators]]:
        """What runs, with the function's name and what changes it; `returns` is what the function is said to give."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from self._declared(node, function)
            return
        if self._is_left_alone(node):
            return
        if is_within and isinstance(node, (ast.expr, ast.stmt)):
            yield function, node, self.operators
        if is_within:
            for condition in _conditions(node):
                yield function, condition, {"condition negated": negated}
            if self.whole and isinstance(node, ast.Return) and node.value and returns in ANSWERS:
                yield function, node.value, ANSWERS[returns]
        children = [node.target, node.value] if isinstance(node, ast.AnnAssign) else ast.iter_child_nodes(node)
        for child in filter(None, children):
            yield from self._places(child, function, returns, is_within=is_within)

    def _declared(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, function: str
    ) -> Iterator[tuple[str, Any, Operators]]:
        """What a function or a class runs, and what its decorators are given."""
        if node.name in self.silent:
            return
        name = f"{function}.{node.name}" if function else node.name
        for decorator in node.decorator_list if self.whole else ():
            if named(decorator) != "dataclass":
                yield from self._places(decorator, name, is_within=True)
        returns = "" if isinstance(node, ast.ClassDef) or node.returns is None else ast.unparse(node.returns)
        for inner in node.body:
            within = self.whole or not isinstance(node, ast.ClassDef)
            yield from self._places(inner, name, returns, is_within=within)

    def _is_left_alone(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.JoinedStr, ast.Assert, ast.arguments, ast.Import, ast.ImportFrom)):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in GENERIC:
            return True
        return named(node) in self.silent or (isinstance(node, ast.Expr) and named(node.value) in self.silent)


ANSWERS: Final[dict[str, dict[str, Operator]]] = {
    "bool": {"answer negated": negated}, "Value": {"answer negated": inverted},
}  # fmt: skip
"""What changes the answer of a function that says whether, by what it returns."""


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def lot(mutant: Mutant, seed: str) -> str:
    """By what mutants are drawn: as good as by chance, and the same wherever it is asked."""
    return hashlib.sha256(repr((seed, mutant.name)).encode()).hexdigest()


def drawn(mutants: Iterable[Mutant], number: int | None, seed: str) -> list[Mutant]:
    """So many of them, or all, by lot: each is as likely as any other."""
    return sorted(mutants, key=lambda one: lot(one, seed))[:number]
