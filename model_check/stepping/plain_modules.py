"""Modules of the specification, read once more with changes to their syntax trees, for states in which all is known.

`with when(condition):`, which in a system being built only guards the assignments below it, becomes `if
holds(condition):`. In a state of numbers every condition is known, so both say the same, and the second does not run
what does not apply. For the same reason `both`, `either` and `implies` become `and` and `or`, which go no further than
to the first that decides: what is asked reads less, and is due again less often (`watched_state.py`).

A module is read once more where it speaks the words of an action, which its reader replaces, or where it joins
conditions. One of the latter that declares classes is not: values of both readings meet, and must be of one class.
"""

import ast
import builtins
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import isclass
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Final

from model_check.compiled_modules import kept_code
from model_check.stepping.late_values import OWN_TEXT as LATE
from model_check.stepping.late_values import with_late_values
from spec.language import rules as language
from spec.language import terms
from spec.language.terms import NO, YES, Value, flag

MODELLING_LAYER = "spec.language."
LANGUAGE = f"{MODELLING_LAYER}rules"
CLAIMS = "spec.claims."
HOLDS, EQUAL, ALL, ANY = "if this holds", "these are equal", "all of these hold", "any of these holds"
TRUE, FALSE = "it holds", "it does not hold"
"""Names of what a module that is read again is given; they have spaces, so no code can have them."""


def holds(condition: object) -> bool:
    """Whether a condition, all of whose variables are known, holds."""
    content = condition.content if type(condition) is Value else flag(condition).content
    if type(content) is not int:
        raise TypeError(f"only a state of numbers tells; this is the term {content}")
    return content == 1


def are_equal(one: object, other: object) -> bool:
    """Whether two values, both of which are known, are equal."""
    if type(one) is Value and type(one.content) is int:
        right = other if type(other) is Value else one.kind.constant(other)
        if type(right.content) is int:
            return one.content == right.content
    return holds(one == other)


GIVEN: Final = {
    HOLDS: holds,
    EQUAL: are_equal,
    ALL: lambda conditions: all(map(holds, conditions)),
    ANY: lambda conditions: any(map(holds, conditions)),
    TRUE: YES,
    FALSE: NO,
}


class _Branches(ast.NodeTransformer):
    """Makes `with when(condition):` an `if`, and conditions that are joined an `and` or an `or`."""

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(ast.Call(func=ast.Name(id="when"), args=[condition]), optional_vars=None)]:
                return ast.copy_location(ast.If(test=_test(condition), body=node.body, orelse=[]), node)
            case _:
                return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="both"), args=[_, *_] as conditions, keywords=[]):
                test = _joined(ast.And(), conditions)
            case ast.Call(func=ast.Name(id="either"), args=[_, *_] as conditions, keywords=[]):
                test = _joined(ast.Or(), conditions)
            case ast.Call(func=ast.Attribute(attr="implies", value=premise), args=[then], keywords=[]):
                test = _joined(ast.Or(), [ast.UnaryOp(ast.Invert(), premise), then])
            case _:
                return node
        return ast.copy_location(ast.IfExp(test, _name(TRUE), _name(FALSE)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if _is_flag(node) and _is_flag(node.operand):
            return ast.copy_location(ast.IfExp(_test(node), _name(TRUE), _name(FALSE)), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()) if _is_flag(node.left) or _is_flag(node.right):
                return ast.copy_location(ast.IfExp(_test(node), _name(TRUE), _name(FALSE)), node)
            case _:
                return node


def _is_flag(one: ast.expr) -> bool:
    """Whether an expression is surely no set, nor a number; numbers are never inverted there."""
    match one:
        case ast.UnaryOp(op=ast.Invert()) | ast.IfExp(body=ast.Name(id="it holds")):
            return True
        case _:
            return False


def _joined(operator: ast.boolop, conditions: Sequence[ast.expr]) -> ast.expr:
    tests = [_test(one, ALL if isinstance(operator, ast.And) else ANY) for one in conditions]
    return ast.BoolOp(operator, tests) if len(tests) > 1 else tests[0]


def _test(one: ast.expr, of_each: str = ALL) -> ast.expr:
    """Whether a condition holds, or `of_each` of a starred one; each of a comprehension is made when it is asked."""
    match one:
        case ast.Starred(value=ast.ListComp(elt, generators)):
            test: ast.expr = ast.Call(_name(of_each), [ast.GeneratorExp(elt, generators)], [])
        case ast.Starred(value=conditions):
            test = ast.Call(_name(of_each), [conditions], [])
        case ast.IfExp(test=test, body=ast.Name(id="it holds")):
            pass
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            test = ast.UnaryOp(ast.Not(), _test(operand))
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() as operator, right=right):
            test = _joined(ast.And() if isinstance(operator, ast.BitAnd) else ast.Or(), [left, right])
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]):
            test = ast.Call(_name(EQUAL), [left, right], [])
            test = test if isinstance(operator, ast.Eq) else ast.UnaryOp(ast.Not(), test)
        case _:
            test = ast.Call(_name(HOLDS), [one], [])
    return test


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


class Reader:
    """Modules read once more, by name; what they import is read once more where that says anything else then."""

    def __init__(self, words: Mapping[str, object]) -> None:
        self.read: dict[str, ModuleType] = {}
        self.language = SimpleNamespace(**{**vars(language), **words})
        self.builtins = {**vars(builtins), "__import__": self._import, **GIVEN}
        self._replaced = frozenset({*words, "when"})

    def _import(
        self,
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if name == LANGUAGE and fromlist:
            return self.language
        if fromlist and name.startswith("spec.") and _says_something_else(name, self._replaced):
            return self.module(name)
        return builtins.__import__(name, globals_, locals_, fromlist, level)

    def module(self, name: str) -> ModuleType:
        """A module, read once more."""
        if name not in self.read:
            module = ModuleType(name)
            module.__dict__["__builtins__"] = self.builtins
            self.read[name] = module
            exec(_code(name), module.__dict__)  # noqa: S102 - the specification's own text, changed as told above
        return self.read[name]


OWN_TEXT: Final = Path(__file__).read_bytes()


def _code(name: str) -> CodeType:
    """A module's code, with the change to its syntax tree."""
    path = str(import_module(name).__file__)
    text = Path(path).read_bytes()

    def changed() -> CodeType:
        tree = ast.parse(text)
        if name.startswith(CLAIMS):
            tree = with_late_values(tree)
        tree = ast.fix_missing_locations(_Branches().visit(tree))
        code: CodeType = compile(tree, path, "exec")
        return code

    return kept_code(f"plain-{name}", b"\n".join((path.encode(), OWN_TEXT, LATE, text)), changed)


@cache
def _says_something_else(name: str, replaced: frozenset[str]) -> bool:
    """Whether a module has imported words of an action that are replaced, or joins conditions and declares no class.

    There is none where the words are declared.
    """
    if name.startswith(MODELLING_LAYER):
        return False
    here = vars(import_module(name)).values()
    if not {id(getattr(language, word)) for word in replaced}.isdisjoint(map(id, here)):
        return True
    joins = not {id(terms.both), id(terms.either)}.isdisjoint(map(id, here))
    return joins and not any(isclass(one) and one.__module__ == name for one in here)
