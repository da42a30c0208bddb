"""Terms as C, for checkers that are themselves compiled from C.

A state is a struct of bit fields, each as wide as its variable's kind, so that a C compiler packs it as tightly as its
rules allow; everything is computed in 64-bit unsigned integers. An action becomes two functions: its guard, which
leaves at the first condition that is false, and its effect, which computes all new values before it writes the first.
Tested, as the Python is, against the table in `straight_line`.
"""

from collections.abc import Mapping, Sequence

import z3

from model_check.terms.generated_code import Language, Spelling, Writer, common, conjuncts, joined
from model_check.terms.straight_line import Node, Program
from spec.language.rules import Action, TransitionSystem

WIDEST = 64
"""The widest bit-vector, in bits, that a term may have here."""


class NotInC(Exception):
    """The system has something that these C functions cannot hold."""


def _shifted(symbol: str) -> Spelling:
    def spell(node: Node, texts: Sequence[str]) -> str:
        return f"({texts[1]} < {node.width} ? ({texts[0]} {symbol} {texts[1]}) & {_literal(node.mask)} : 0)"

    return spell


def _literal(value: int) -> str:
    return f"{value}ull"


SPELLING: Mapping[int, Spelling] = {
    **common("ull"),
    z3.Z3_OP_AND: joined("&&"),
    z3.Z3_OP_OR: joined("||"),
    z3.Z3_OP_NOT: lambda _n, t: f"(!{t[0]})",
    z3.Z3_OP_ITE: lambda _n, t: f"({t[0]} ? {t[1]} : {t[2]})",
    z3.Z3_OP_BSHL: _shifted("<<"),
    z3.Z3_OP_BLSHR: _shifted(">>"),
}
"""How C spells the operators of the table, except those on unbounded integers."""

C = Language(SPELLING, lambda node: _literal(node.value), lambda _node, name, text: f"const uint64_t {name} = {text};")


def struct_source(system: TransitionSystem) -> str:
    """The type `Raw`: one bit field for each variable, `v0`, `v1` ... in the system's order, widest first."""
    fields = sorted(enumerate(system.variables), key=lambda one: -one[1].kind.width)
    for _, variable in fields:
        if variable.kind.unbounded or variable.kind.width > WIDEST:
            raise NotInC(
                f"{variable.name} has no bound of at most {WIDEST} bits, so {system.name} cannot become a C program; "
                "take a scope for enumerating"
            )
    lines = [
        f"  {_unit(variable.kind.width)} v{place} : {variable.kind.width}; // {variable.name}"
        for place, variable in fields
    ]
    return "\n".join(["typedef struct {", *lines, "} Raw;"]) + "\n"


def _unit(width: int) -> str:
    """The type of a bit field; one of 32 bits leaves less room unused at its end than one of 64."""
    return "uint32_t" if width <= 32 else "uint64_t"


def initial_source(system: TransitionSystem) -> str:
    """The initial state as a value of the type `Raw`."""
    values = [f".v{place} = {_literal(variable.initial)}" for place, variable in enumerate(system.variables)]
    return f"(Raw){{{', '.join(values)}}}"


def action_source(program: Program, system: TransitionSystem, place: int, action: Action) -> str:
    """The functions `guard_<place>` (is it enabled in this state?) and `effect_<place>` (change this state)."""
    names = [variable.name for variable in system.variables]
    reads = {name: f"(uint64_t)s->v{position}" for position, name in enumerate(names)}
    guard = _guard_lines(program, reads, action)
    effect = _effect_lines(program, reads, names, action)
    return (
        f"// {action.name}\n"
        f"static inline int guard_{place}(const Raw *s) {{\n{_indented(guard)}}}\n"
        f"static inline void effect_{place}(Raw *s) {{\n{_indented(effect)}}}\n"
    )


def _guard_lines(program: Program, reads: Mapping[str, str], action: Action) -> list[str]:
    conditions = list(conjuncts(program, program.place(action.guard)))
    _check(program, conditions, action)
    writer = Writer(program, C, reads, conditions)
    for condition in conditions:
        text = writer.expression(condition)
        writer.lines.append(f"if (!{text}) return 0;")
    return [*writer.lines, "return 1;"]


def _effect_lines(program: Program, reads: Mapping[str, str], names: Sequence[str], action: Action) -> list[str]:
    targets = {names.index(name): program.place(term) for name, term in action.updates.items()}
    _check(program, list(targets.values()), action)
    writer = Writer(program, C, reads, list(targets.values()))
    texts = {position: writer.expression(target) for position, target in targets.items()}
    computed = [f"const uint64_t n{position} = {text};" for position, text in texts.items()]
    return [*writer.lines, *computed, *[f"s->v{position} = n{position};" for position in texts]]


def _check(program: Program, places: Sequence[int], action: Action) -> None:
    for position in program.needed_by(places):
        node = program.nodes[position]
        if not 0 < node.width <= WIDEST:
            size = f"{node.width} bits" if node.width else "unbounded integers"
            raise NotInC(f"{action.name} computes with {size}; C has {WIDEST} bits at most")


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"  {line}\n" for line in lines)
