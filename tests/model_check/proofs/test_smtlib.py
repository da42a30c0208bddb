"""Questions as texts: said once, saved, read back, decided several at a time."""

import itertools
import time
from pathlib import Path
from typing import Any

import pytest
import z3

from model_check.proofs import smtlib
from model_check.proofs.induction import TACTICS
from model_check.proofs.smtlib import (
    Answer,
    NotSmtLib,
    Problem,
    Question,
    decide,
    decide_all,
    export,
    file_name,
    problem,
)

EPOCH, BYTE, TRUE = z3.Int("a[1].epoch"), z3.BitVec("a.byte", 8), z3.Bool("a.flag")


def hard() -> Problem:
    """The factors of a product of two primes below 2^64, which no solver finds in a test's time."""
    left, right = z3.BitVecs("left right", 128)
    small = [z3.ULT(one, 2**64) for one in (left, right)] + [z3.ULT(1, left), z3.ULE(left, right)]
    return problem("hard", "There are none.", [*small, left * right == (2**61 - 1) * (2**64 - 59)])


def test_a_text_says_what_it_claims_and_asks_the_same() -> None:
    asked = problem("two claims", "No epoch is below itself.\nThis is a second line.", [EPOCH < EPOCH + 0])
    assert asked.text.splitlines()[:3] == ["; two claims", "; No epoch is below itself.", "; This is a second line."]
    assert asked.text.rstrip().endswith("(check-sat)")
    assert decide(asked.text, 5).result == "unsat"
    assert z3.parse_smt2_string(asked.text)[0].decl().kind() == z3.Z3_OP_LT


def test_the_values_of_every_sort_come_back_raw() -> None:
    asked = problem("values", "None.", [EPOCH == 300, BYTE == 200, TRUE])
    assert decide(asked.text, 5).values == {"a[1].epoch": 300, "a.byte": 200, "a.flag": 1}


@pytest.mark.parametrize("tactics", [(), TACTICS])
def test_a_state_is_pulled_as_near_as_it_can_be(tactics: tuple[str, ...]) -> None:
    asked = problem("near", "None.", [EPOCH > 6, z3.UGT(BYTE, 3), z3.Or(TRUE, EPOCH > 9)])
    near = {"a[1].epoch": 7, "a.byte": 0, "a.flag": 1}
    values = decide(asked.text, 5, near, tactics).values
    assert (values["a[1].epoch"], values["a.flag"]) == (7, 1)
    assert values["a.byte"] > 3


HOW = pytest.mark.parametrize("tactics", [(), TACTICS], ids=["z3's choice", "as proofs are"])


@HOW
def test_time_is_kept(tactics: tuple[str, ...]) -> None:
    started = time.perf_counter()
    answer = decide(hard().text, 0.2, tactics=tactics)
    assert answer.result == "unknown"
    assert answer.reason
    assert time.perf_counter() - started < 5


def test_files_have_plain_names_of_which_no_two_are_equal(tmp_path: Path) -> None:
    assert file_name("write_isr(b=1, p=2)") == "write_isr.b1.p2.smt2"
    assert file_name("implied/one_leader") == "implied--one_leader.smt2"
    assert file_name("write(c=1)/type of candidates[1].at") == "write.c1.--type.of.candidates.1.at.smt2"
    with pytest.raises(ValueError, match=r"a\(1\) and a\[1\] would both be written to a.1.smt2"):
        export([Problem("a(1)", ""), Problem("a[1]", "")], tmp_path)


def test_a_text_that_is_no_question_is_refused() -> None:
    with pytest.raises(NotSmtLib, match=r"z3 cannot read it: .*line 1"):
        decide("(assert (= x", 1)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_answers_give_rise_to_questions_until_there_are_none(workers: int) -> None:
    """Counting down from each of three numbers: three, two and five questions."""
    seen: list[tuple[str, int]] = []

    def ask(who: str, number: int) -> Question[str]:
        return Question(who, problem(who, "None.", [z3.Int("n") == number]), 5)

    def follow(who: str, answer: Answer) -> Question[str] | None:
        seen.append((who, answer.values["n"]))
        return ask(who, answer.values["n"] - 1) if answer.values["n"] > 1 else None

    decide_all([ask("a", 3), ask("b", 2), ask("c", 5)], follow, workers=workers)
    assert {who: [n for one, n in seen if one == who] for who in "abc"} == {
        "a": [3, 2, 1],
        "b": [2, 1],
        "c": [5, 4, 3, 2, 1],
    }


@HOW
def test_an_interruption_stops_the_solvers_at_once(tactics: tuple[str, ...]) -> None:
    def interrupt(_: str, __: Answer) -> None:
        raise KeyboardInterrupt

    easy = Question("easy", problem("easy", "None.", [EPOCH < EPOCH + 0]), 60)
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        decide_all([Question("hard", hard(), 60, tactics=tactics), easy], interrupt, workers=2)
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize("reading", [0.0, 0.5])
def test_who_asks_to_stop_need_not_wait_for_an_answer(reading: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither if the solver is at work, nor if it begins after the first time that it is interrupted."""
    real, asked = smtlib.decide, itertools.count()

    def late(*question: Any) -> Answer:
        time.sleep(reading)
        return real(*question)

    monkeypatch.setattr(smtlib, "decide", late)
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        decide_all([Question("hard", hard(), 60)], lambda *_: None, workers=1, stop=lambda: next(asked) == 2)
    assert time.perf_counter() - started < 20
