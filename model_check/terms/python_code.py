"""Terms as Python functions: what makes the plain oracle tolerably quick.

A state is a tuple of raw values here, in the order of the system's variables. A function is straight Python without
any call to z3, and it can be read: see `condition_source`. It is a fast twin of the table in `straight_line`, and
tested to be equal to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import z3

from model_check.terms.generated_code import Language, Spelling, Writer, common, conjuncts, joined
from model_check.terms.straight_line import MEANING, Node, Program

Raw = tuple[int, ...]
"""A state as raw values in the order of the system's variables."""


def _shifted(symbol: str) -> Spelling:
    def spell(node: Node, texts: Sequence[str]) -> str:
        return f"((({texts[0]} {symbol} {texts[1]}) & {node.mask}) if {texts[1]} < {node.width} else 0)"

    return spell


SPELLING: Mapping[int, Spelling] = {
    **common(),
    z3.Z3_OP_AND: joined("and"),
    z3.Z3_OP_OR: joined("or"),
    z3.Z3_OP_NOT: lambda _n, t: f"(not {t[0]})",
    z3.Z3_OP_ITE: lambda _n, t: f"({t[1]} if {t[0]} else {t[2]})",
    z3.Z3_OP_ADD: joined("+"),
    z3.Z3_OP_MUL: joined("*"),
    z3.Z3_OP_LT: joined("<"),
    z3.Z3_OP_BSHL: _shifted("<<"),
    z3.Z3_OP_BLSHR: _shifted(">>"),
}
assert SPELLING.keys() == MEANING.keys()  # noqa: S101 - the two tables stand or fall together, at import

PYTHON = Language(SPELLING, lambda node: f"({node.value})", lambda _node, name, text: f"{name} = {text}")


def reads(names: Sequence[str]) -> dict[str, str]:
    """How a function reads each variable of a state `s`."""
    return {name: f"s[{position}]" for position, name in enumerate(names)}


def step_function(
    program: Program, names: Sequence[str], guard: z3.BoolRef, updates: Mapping[str, z3.ExprRef]
) -> Callable[[Raw], Raw | None]:
    """A function from a state to the state after an action, or None where its guard is false.

    What the action does is written when it is first enabled: Python walks few of a large system's actions.
    """
    conditions = list(conjuncts(program, program.place(guard)))
    writer = Writer(program, PYTHON, reads(names), conditions)
    for condition in conditions:
        text = writer.expression(condition)
        writer.lines.append(f"if not {text}: return None")

    def begin(state: Raw) -> Raw:
        effect: Callable[[Raw], Raw] = compiled(effect_source(program, names, updates))
        namespace["effect"] = effect
        return effect(state)

    step = compiled(_function([*writer.lines, "return effect(s)"]))
    namespace: dict[str, Any] = step.__globals__
    namespace["effect"] = begin
    return step


def guards_source(program: Program, names: Sequence[str], guards: Sequence[z3.BoolRef]) -> str:
    """A function from a state to the numbers of the guards that hold; what several require first is asked once."""
    alike: dict[int, list[str]] = {}
    for number, guard in enumerate(guards):
        first, *others = conjuncts(program, program.place(guard))
        alike.setdefault(first, []).extend(_where(program, names, others, [f"found.append({number})"]))
    asked = (line for first, lines in alike.items() for line in _where(program, names, [first], lines))
    return _function(["found = []", *asked, "found.sort()", "return found"])


def _where(program: Program, names: Sequence[str], conditions: Sequence[int], lines: Sequence[str]) -> Iterator[str]:
    """Lines that are run where some conditions hold, each of which is asked where those before it hold."""
    writer, indent = Writer(program, PYTHON, reads(names), conditions), ""
    for condition in conditions:
        known = len(writer.lines)
        text = writer.expression(condition)
        yield from (indent + line for line in writer.lines[known:])
        yield f"{indent}if {text}:"
        indent += " "
    yield from (indent + line for line in lines)


def effect_source(program: Program, names: Sequence[str], updates: Mapping[str, z3.ExprRef]) -> str:
    """A function from a state in which an action is enabled to the state after it."""
    targets = {name: program.place(term) for name, term in updates.items()}
    writer = Writer(program, PYTHON, reads(names), list(targets.values()))
    texts = {name: writer.expression(target) for name, target in targets.items()}
    writer.lines.append("n = list(s)")
    writer.lines += [f"n[{names.index(name)}] = int({text})" for name, text in texts.items()]
    writer.lines.append("return tuple(n)")
    return _function(writer.lines)


def condition_source(program: Program, names: Sequence[str], term: z3.BoolRef) -> str:
    """A function from a state to whether a term holds there."""
    place = program.place(term)
    writer = Writer(program, PYTHON, reads(names), [place])
    text = writer.expression(place)
    return _function([*writer.lines, f"return bool({text})"])


def _function(lines: Sequence[str]) -> str:
    return "def function(s):\n" + "\n".join(f"    {line}" for line in lines) + "\n"


def compiled(source: str) -> Callable[[Raw], Any]:
    """The function that a source defines."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<generated from terms>", "exec"), namespace)  # noqa: S102 - our own text, from our own terms
    function: Callable[[Raw], Any] = namespace["function"]
    return function
