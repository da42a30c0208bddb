"""Mutants of whole modules: of what runs, each Python, each once, drawn evenly."""

import subprocess
from collections import Counter

import pytest

from model_check.mutation.mutants import WIDTH, Maker, Mutant, drawn
from model_check.mutation.mutating import AREAS
from tests.needs import ROOT

MODULE = b'''"""What it is, 1 of 2."""

LIMIT: Final[tuple[int, ...]] = 1, 2


@dataclass(frozen=True)
@step(At.READ, parts=("a", "b"))
class C:
    def f(self, of: int = 7) -> None:
        assert of < 7
        self.at = of
'''


def test_of_a_module_all_that_runs_is_changed_but_types_defaults_texts_and_assertions() -> None:
    assert {(one.function, one.change) for one in Maker().mutants_of("a.py", MODULE)} == {
        ("", "1, 2 -> (1,)"), ("", "1, 2 -> (2,)"), ("", "1 -> 2"), ("", "1 -> 0"), ("", "2 -> 3"), ("", "2 -> 1"),
        ("C", "('a', 'b') -> ('a',)".replace("'a', 'b'", '"a", "b"')), ("C", '("a", "b") -> (\'b\',)'),
        ("C.f", "self.at = of -> pass"),
    }  # fmt: skip


def test_a_mutant_is_told_with_its_line_as_it_was_and_as_it_is() -> None:
    (one,) = [one for one in Maker().mutants_of("a.py", MODULE) if one.operator == "statement dropped"]
    assert one.difference(MODULE) == "- self.at = of\n+ pass"
    assert one.title == "a.py:11 C.f: self.at = of -> pass"
    long = f"x = f({'a' * WIDTH}, 1)\n".encode()
    (less,) = [one for one in Maker().mutants_of("a.py", long) if one.operator == "one less"]
    assert less.difference(long) == "- 1\n+ 0"


def test_alike_mutants_of_a_function_have_numbers_in_their_names_and_titles() -> None:
    made = [one for one in Maker().mutants_of("a.py", b"x = [g(1), g(1)]\n") if one.change == "1 -> 2"]
    assert [one.number for one in made] == [0, 1]
    assert [one.title for one in made] == ["a.py:1 (module): 1 -> 2", "a.py:1 (module): 1 -> 2 [2]"]


def test_a_draw_is_the_same_again_and_its_share_of_a_large_kind_is_that_of_all() -> None:
    made = Maker().mutants_of("a.py", b"f(a < b, 1)\n" * 300)
    assert drawn(made, 50, "s") == drawn(reversed(made), 50, "s") == drawn(made, None, "s")[:50]
    assert drawn(made, 50, "s") != drawn(made, 50, "t")
    assert set(drawn(made, None, "s")) == set(made)
    kinds = Counter(one.operator for one in made)
    picked = Counter(one.operator for one in drawn(made, 500, "s"))
    for kind, number in kinds.items():  # within five deviations of what a fair draw gives
        share = number / len(made)
        assert abs(picked[kind] - 500 * share) <= 5 * (500 * share * (1 - share)) ** 0.5


@pytest.mark.takes("It makes thousands of mutants.")
@pytest.mark.parametrize("area", AREAS)
def test_every_mutant_of_an_area_is_python_and_none_is_the_module_itself(area: str) -> None:
    listed = subprocess.run(["git", "ls-files", f"{area}/*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    some = listed.stdout.split()[::12]
    made = [(one, source) for file in some for source in [(ROOT / file).read_bytes()] for one in _mutants(file, source)]
    assert len({one.name for one, _ in made}) == len(made) > 50
    for one, source in made[::8]:
        assert one.of(source) != source
        compile(one.of(source), one.file, "exec", dont_inherit=True)


def _mutants(file: str, source: bytes) -> list[Mutant]:
    return Maker().mutants_of(file, source)
