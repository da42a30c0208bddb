"""What a mutant changes: one expression becomes another, or one statement goes.

Each operator is given a node of a syntax tree and yields the nodes that it may become. None changes a text: what logs
and errors say is read by people. What is special to terms and tables stands in `term_operators.py`.
"""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Final

Operator = Callable[[ast.AST], Iterator[ast.AST]]
"""What a node may become."""
Operators = dict[str, Operator]
"""By what each is called."""
OPERATORS: Operators = {}
"""Those of plain code."""
NONE: Final = ast.Constant(None)


def operator(made: Operator) -> Operator:
    """Declare an operator, under the name of its function."""
    OPERATORS[made.__name__.replace("_", " ")] = made
    return made


def with_other(node: Any, **changes: Any) -> Any:
    """A copy of a node with something else in it."""
    copy = deepcopy(node)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def named(node: ast.AST) -> str:
    """What a call's function is called, without what it is a method of; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    called = node.func
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


TURNED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SHIFTED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip


@operator
def comparison_turned(node: ast.AST) -> Iterator[ast.AST]:
    """`<` becomes `>=`, `in` becomes `not in`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield with_other(node, ops=[TURNED[type(node.ops[0])]()])


@operator
def comparison_shifted(node: ast.AST) -> Iterator[ast.AST]:
    """`<` becomes `<=`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SHIFTED:
        yield with_other(node, ops=[SHIFTED[type(node.ops[0])]()])


@operator
def and_for_or(node: ast.AST) -> Iterator[ast.AST]:
    """`a and b` becomes `a or b`, and the other way round."""
    if isinstance(node, ast.BoolOp):
        yield with_other(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


@operator
def condition_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """`a and b` becomes `a`, or `b`."""
    if isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            kept = node.values[:number] + node.values[number + 1 :]
            yield kept[0] if len(kept) == 1 else with_other(node, values=kept)


@operator
def condition_negated(node: ast.AST) -> Iterator[ast.AST]:
    """`not a` becomes `a`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand


def negated(condition: ast.AST) -> Iterator[ast.AST]:
    """The condition `a` becomes `not a`, if no other operator turns it round."""
    is_turned = isinstance(condition, ast.Compare) and len(condition.ops) == 1
    is_negated = isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)
    if isinstance(condition, ast.expr) and not is_turned and not is_negated:
        yield ast.UnaryOp(ast.Not(), condition)


@operator
def filter_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A comprehension takes all that there is."""
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        for number, one in enumerate(node.generators):
            if one.ifs:
                copy = deepcopy(node)
                copy.generators[number].ifs = []
                yield copy


SETS: Final[dict[type[ast.operator], tuple[type[ast.operator], ...]]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add, ast.BitAnd), ast.BitOr: (ast.BitAnd, ast.Sub),
    ast.BitAnd: (ast.BitOr, ast.Sub), ast.Mult: (ast.FloorDiv,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,),
}  # fmt: skip
METHODS: Final = {"union": "intersection", "intersection": "union", "difference": "intersection"}


@operator
def arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    """`+` becomes `-`; a union becomes an intersection, or a difference."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in SETS.get(type(node.op), ()):
            yield with_other(node, op=other())
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        yield with_other(node, func=with_other(node.func, attr=METHODS[node.func.attr]))


@operator
def operand_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """`a + 1` becomes `a`, `a - b` too, and `a | b` becomes `a`, or `b`."""
    if isinstance(node, ast.BinOp):
        yield node.left
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)):
            yield node.right


@operator
def constant(node: ast.AST) -> Iterator[ast.AST]:
    """A number becomes the next one, `True` becomes `False`, and `-1` becomes `1`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


@operator
def arguments_swapped(node: ast.AST) -> Iterator[ast.AST]:
    """`f(a, b)` becomes `f(b, a)`."""
    if isinstance(node, ast.Call) and named(node) not in {"isinstance", "cast", "getattr"}:
        for number in range(len(node.args) - 1):
            pair = node.args[number : number + 2]
            if not any(isinstance(one, ast.Starred) for one in pair) and ast.dump(pair[0]) != ast.dump(pair[1]):
                yield with_other(node, args=[*node.args[:number], *pair[::-1], *node.args[number + 2 :]])


OTHERS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


@operator
def other_function(node: ast.AST) -> Iterator[ast.AST]:
    """`min` becomes `max`, `any` becomes `all`; what was sorted is not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in OTHERS:
            yield with_other(node, func=ast.Name(OTHERS[node.func.id]))
        elif node.func.id == "sorted":
            yield with_other(node, func=ast.Name("list"), keywords=[])


@operator
def other_end(node: ast.AST) -> Iterator[ast.AST]:
    """The last for the first, and the first for the last."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        match node.slice:
            case ast.Constant(value=0):
                yield with_other(node, slice=ast.UnaryOp(ast.USub(), ast.Constant(1)))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
                yield with_other(node, slice=ast.Constant(0))


@operator
def nothing_returned(node: ast.AST) -> Iterator[ast.AST]:
    """A function returns nothing, which in Kafka's words is that there is none."""
    if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        yield with_other(node, value=NONE)


@operator
def statement_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A call, an addition, an assignment to something's field, a `raise` or a `continue` goes."""
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
    is_stored = isinstance(node, ast.Assign) and all(
        isinstance(one, (ast.Attribute, ast.Subscript)) for one in node.targets
    )
    if is_call or is_stored or isinstance(node, (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)):
        yield ast.Pass()
