"""What a mutant changes of terms, of tables, and of what a function answers.

The specification's actions and claims are calls that leave terms behind: `when(a)`, `both(a, ~b)`, `choose(a, b, c)`.
Its tables are literals. So here a guard is turned round, a part of a conjunction goes, and so does an element of a
literal. The operators of plain code (`operators.py`) do the rest: comparisons, numbers, statements.
"""

import ast
from collections.abc import Iterator
from typing import Final

from model_check.mutation.operators import OPERATORS, Operator, Operators, named, with_other

TERM_OPERATORS: Operators = {}
"""By what each is called."""


def term_operator(made: Operator) -> Operator:
    """Declare an operator, under the name of its function."""
    TERM_OPERATORS[made.__name__.replace("_", " ")] = made
    return made


JOINED: Final = {"both": "either", "either": "both"}


def is_inverted(node: ast.AST) -> bool:
    """Whether a node is `~a`, which is how terms say not."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)


@term_operator
def term_turned(node: ast.AST) -> Iterator[ast.AST]:
    """`~a` becomes `a`."""
    if isinstance(node, ast.UnaryOp) and is_inverted(node):
        yield node.operand


@term_operator
def guard_turned(node: ast.AST) -> Iterator[ast.AST]:
    """`when(a)` becomes `when(~a)`, unless another operator turns it round."""
    if isinstance(node, ast.Call) and named(node) == "when" and node.args:
        guard = node.args[0]
        if not isinstance(guard, ast.Compare) and not is_inverted(guard):
            yield with_other(node, args=[ast.UnaryOp(ast.Invert(), guard), *node.args[1:]])


@term_operator
def both_for_either(node: ast.AST) -> Iterator[ast.AST]:
    """`both(a, b)` becomes `either(a, b)`, and the other way round."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in JOINED:
        yield with_other(node, func=ast.Name(JOINED[node.func.id]))


@term_operator
def term_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """`both(a, b)` becomes `both(a)`, or `both(b)`."""
    if isinstance(node, ast.Call) and named(node) in JOINED and len(node.args) > 1:
        for number in range(len(node.args)):
            yield with_other(node, args=node.args[:number] + node.args[number + 1 :])


@term_operator
def choice_swapped(node: ast.AST) -> Iterator[ast.AST]:
    """`choose(a, b, c)` becomes `choose(a, c, b)`."""
    if isinstance(node, ast.Call) and named(node) == "choose" and len(node.args) == 3:
        yield with_other(node, args=[node.args[0], node.args[2], node.args[1]])


@term_operator
def element_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A literal of several elements loses one of them; a table, a row."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        for number in range(len(node.elts) if len(node.elts) > 1 else 0):
            yield with_other(node, elts=node.elts[:number] + node.elts[number + 1 :])
    elif isinstance(node, ast.Dict):
        for number in range(len(node.keys) if len(node.keys) > 1 else 0):
            keys, values = node.keys, node.values
            kept = {"keys": keys[:number] + keys[number + 1 :], "values": values[:number] + values[number + 1 :]}
            yield with_other(node, **kept)


@term_operator
def one_less(node: ast.AST) -> Iterator[ast.AST]:
    """A number becomes the one before it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        less = node.value - 1
        yield ast.Constant(less) if less >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-less))


def inverted(answer: ast.AST) -> Iterator[ast.AST]:
    """The term `a` becomes `~a`, if no other operator turns it round."""
    if isinstance(answer, ast.expr) and not isinstance(answer, ast.Compare) and not is_inverted(answer):
        yield ast.UnaryOp(ast.Invert(), answer)


SWAPPED: Final = "arguments swapped"
ALL: Final[Operators] = {name: one for name, one in OPERATORS.items() if name != SWAPPED} | TERM_OPERATORS
"""Every operator but the swap of any arguments: in terms it says the same (`both(b, a)`), elsewhere mypy says no."""
