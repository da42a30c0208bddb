"""What a claim names, and uses once, is computed where it is used: perhaps nowhere.

Claims name their parts, for people to read: `told = ...`, `doomed = ...`, `return ~both(told, doomed)`. Where the first
part decides, the second need not be computed, nor read anything. Claims change nothing, neither the state nor what they
have named, except a list that they add to, or a name that they assign again: so, where none of these is involved, it
makes no difference when a part is computed.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

OWN_TEXT: Final = Path(__file__).read_bytes()


def with_late_values(tree: ast.Module) -> ast.Module:
    """A module of claims in which such values are late."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            every = list(ast.walk(function))
            inner = {id(one) for each in every if isinstance(each, ast.comprehension) for one in ast.walk(each.target)}
            names = [one for one in every if isinstance(one, ast.Name) and id(one) not in inner]
            if any(map(_is_refused, every)):
                continue
            assigned = Counter(one.id for one in names if isinstance(one.ctx, ast.Store))
            assigned.update(one.arg for one in every if isinstance(one, ast.arg))
            used = Counter(one.id for one in names if isinstance(one.ctx, ast.Load))
            changing = {name for one in every for name in _changed(one)}
            changing |= {name for name, times in assigned.items() if times > 1}
            changing |= _made_of(changing, every)
            once = {name for name in assigned if used[name] == 1} - changing
            for block in _blocks(function):
                block[:] = _late(block, once, changing)
    return tree


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """The lists of statements in a function, the inner ones last."""
    lists = (getattr(one, name, None) for one in ast.walk(function) for name in ("body", "orelse"))
    return [one for one in lists if isinstance(one, list)]


def _assignment(statement: ast.AST) -> list[tuple[str, ast.expr]]:
    """The one name that a statement assigns, and to what."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return [(name, value)]
        case _:
            return []


def _changed(node: ast.AST) -> list[str]:
    """The name of what is changed in its place: it is called for nothing but that, or an item of it is assigned."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name)))) | ast.Subscript(ast.Name(id=name), ctx=ast.Store()):
            return [name]
        case _:
            return []


def _is_refused(node: ast.AST) -> bool:
    """Whether a function with this is left as it is: it may change what it has named in other ways than these."""
    match node:
        case ast.NamedExpr() | ast.Match() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Call(ast.Name(id="next")) | ast.Call(ast.Attribute(attr="pop" | "popitem" | "popleft")):
            return True
        case _:
            return False


def _made_of(changing: set[str], every: Sequence[ast.AST]) -> set[str]:
    """The names of what is made of what changes, directly or not: it may be the very same list."""
    found, made = set(changing), [one for node in every for one in _assignment(node)]
    while more := {name for name, value in made if found & _names(value)} - found:
        found |= more
    return found


def _names(value: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}


def _late(block: Sequence[ast.stmt], once: set[str], changing: set[str]) -> list[ast.stmt]:
    """Statements of which those are gone whose value is used in a later one, once."""
    left = list(block)
    for statement in block:
        for name, value in _assignment(statement):
            later = left[left.index(statement) + 1 :]
            if name in once and not _names(value) & changing and any(_Put(name, value).into(one) for one in later):
                left.remove(statement)
    return left


class _Put(ast.NodeTransformer):
    """Replaces a name by its value, except where code runs more than once."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value, self._is_done = name, value, False

    def into(self, statement: ast.stmt) -> bool:
        """Whether it was put into a statement."""
        self.visit(statement)
        return self._is_done

    def visit(self, node: ast.AST) -> ast.AST:
        """What is there instead of a node."""
        match node:
            case ast.Name(id=self._name):
                self._is_done = True
                return self._value
            case ast.For():
                node.iter = self._expression(node.iter)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                node.generators[0].iter = self._expression(node.generators[0].iter)
            case ast.While() | ast.Lambda() | ast.FunctionDef():  # computed more than once, or in another function
                pass
            case _:
                self.generic_visit(node)
        return node

    def _expression(self, node: ast.expr) -> ast.expr:
        found = self.visit(node)
        assert isinstance(found, ast.expr)  # noqa: S101 - an expression stands where one stood
        return found
