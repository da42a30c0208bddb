"""The generated C against the table: one program for all operators, one for many random terms."""

import random
import shutil
import subprocess
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.terms.c_code import SPELLING, C, NotInC, action_source, initial_source, struct_source
from model_check.terms.generated_code import Writer
from model_check.terms.straight_line import MEANING, Program, evaluate
from spec.language.rules import Leaf, TransitionSystem, action
from spec.language.terms import epoch
from tests.model_check.random_terms import BOOL, INT, LARGE, NAMES, OPERATORS, SMALL, states, terms, variable
from tests.model_check.systems import build

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on the PATH (apt-get install gcc)")

INTEGERS_ONLY = {kind for kind, (sorts, _, _) in OPERATORS.items() if INT in sorts}


def in_c(workdir: Path, cases: Sequence[tuple[z3.ExprRef, dict[str, int]]]) -> list[int]:
    """The value of each term in its state, as a compiled C program computes it."""
    functions, calls = [], []
    for number, (term, state) in enumerate(cases):
        program = Program()
        place = program.place(term)
        writer = Writer(program, C, {name: f"s[{position}]" for position, name in enumerate(NAMES)}, [place])
        text = writer.expression(place)
        body = "\n".join([*writer.lines, f"return {text};"])
        functions.append(f"static uint64_t f{number}(const uint64_t *s) {{ {body} }}")
        values = ", ".join(f"{state.get(name, 0)}ull" for name in NAMES)
        calls.append(f'{{ const uint64_t s[] = {{ {values} }}; printf("%llu\\n", (unsigned long long)f{number}(s)); }}')
    main = "int main(void) {" + "\n".join(calls) + "return 0; }"
    source = "\n".join(["#include <stdint.h>\n#include <stdio.h>", *functions, main])
    (workdir / "terms.c").write_text(source, encoding="utf-8")
    # Unoptimised, a shift by too much does what the processor does; an optimiser might happen to fold it to zero.
    subprocess.run(["gcc", "-w", "-O0", "-o", "terms", "terms.c"], cwd=workdir, check=True)
    done = subprocess.run(["./terms"], cwd=workdir, check=True, capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


def test_c_spells_every_operator_but_those_on_unbounded_integers() -> None:
    assert SPELLING.keys() == MEANING.keys() - INTEGERS_ONLY


@needs_gcc
def test_an_operator_means_in_c_what_the_table_says_for_all_arguments(tmp_path: Path) -> None:
    values = {BOOL: (0, 1), SMALL: range(8), LARGE: (0, 1, 21, 64, 77, 127)}
    free = {BOOL: ("p", "q", "p"), SMALL: ("a", "b", "a"), LARGE: ("x", "y", "x")}
    cases = []
    for kind in sorted(OPERATORS.keys() - INTEGERS_ONLY):
        sorts, _, apply = OPERATORS[kind]
        names = [free[sort][position] for position, sort in enumerate(sorts)]
        term = apply(*map(variable, names))
        # Every eighth of the arguments is enough for a compiler, if it is another eighth for each operator.
        chosen = list(product(*[values[sort] for sort in sorts]))
        random.Random(kind).shuffle(chosen)
        cases += [(term, dict(zip(names, one, strict=True))) for one in chosen[: max(8, len(chosen) // 8)]]
    assert in_c(tmp_path, cases) == [evaluate(term, state) for term, state in cases]


@needs_gcc
@settings(max_examples=max(1, settings().max_examples // 20))
@given(st.data())
def test_nested_terms_mean_in_c_what_the_table_says(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    sorts = st.sampled_from([BOOL, SMALL, LARGE]).flatmap(lambda sort: terms(sort, 4, integers=False))
    cases = data.draw(st.lists(st.tuples(sorts, states(integers=False)), min_size=30, max_size=60))
    assert in_c(tmp_path_factory.mktemp("terms"), cases) == [evaluate(term, state) for term, state in cases]


@needs_gcc
def test_all_sixty_four_bits_are_computed_with(tmp_path: Path) -> None:
    x, all_ones = z3.ZeroExt(57, z3.BitVec("x", 7)), z3.BitVecVal(2**64 - 1, 64)
    cases = [(term, {"x": 5}) for term in (x + all_ones, x * all_ones, -x, ~x, x << 61, z3.LShR(all_ones, x))]
    far = [(term, {"x": 69}) for term in (z3.LShR(all_ones, x), all_ones << x)]
    expected = [4, 2**64 - 5, 2**64 - 5, 2**64 - 6, 2**63 + 2**61, 2**59 - 1, 0, 0]
    assert in_c(tmp_path, cases + far) == expected


@action(actor="nobody", source="by hand")
def swap(s: object, _model: object) -> None:
    """Two numbers change places, at once."""
    s.left, s.right = s.right, s.left  # type: ignore[attr-defined]  # a view


def swapper(width: int = 3) -> TransitionSystem:
    shape = {"left": Leaf(epoch(2**width - 1), 1), "right": Leaf(epoch(2**width - 1), 5)}
    return build("swapper", shape, [(swap, [{}])], [])


def test_an_effect_computes_all_values_before_it_writes_the_first() -> None:
    system = swapper()
    text = action_source(Program(), system, 0, system.actions[0])
    assert text.index("n0 = (uint64_t)s->v1") < text.index("s->v0 = n0")
    assert text.index("n1 = (uint64_t)s->v0") < text.index("s->v0 = n0")


def test_the_struct_has_a_bit_field_as_wide_as_each_variable() -> None:
    assert "uint32_t v0 : 3; // left" in struct_source(swapper())
    assert "uint64_t v1 : 33; // right" in struct_source(swapper(33))
    assert initial_source(swapper()) == "(Raw){.v0 = 1ull, .v1 = 5ull}"


def test_what_c_cannot_hold_is_refused_by_name() -> None:
    with pytest.raises(NotInC, match="left has no bound of at most 64 bits"):
        struct_source(swapper(65))
    unbounded = build("unbounded", {"left": Leaf(epoch(7, unbounded=True), 1)}, [], [])
    with pytest.raises(NotInC, match="take a scope for enumerating"):
        struct_source(unbounded)


def test_terms_wider_than_c_are_refused_by_the_action_that_has_them() -> None:
    @action(actor="nobody", source="by hand")
    def widen(s: object, _model: object) -> None:
        """A number is looked at through a term of seventy bits."""
        wide = z3.ZeroExt(67, s.left.term) << 2  # type: ignore[attr-defined]  # a view
        s.left = type(s.left)(s.left.kind, z3.Extract(2, 0, wide))  # type: ignore[attr-defined]  # a view

    system = build("widener", {"left": Leaf(epoch(7), 1)}, [(widen, [{}])], [])
    with pytest.raises(NotInC, match=r"widen\(\) computes with 70 bits"):
        action_source(Program(), system, 0, system.actions[0])
