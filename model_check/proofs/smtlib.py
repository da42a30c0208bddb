"""Questions for a solver, as SMT-LIB texts: written, saved, read back and decided.

A proof obligation leaves this project as a text in the standard language of solvers, so any other solver may be asked
the same question: every question is put so that `unsat` is the good answer. Where z3 is asked for more than a quick
yes (`model_check/proofs/goal_solver.py`), it is that text, not some object in memory, which is decided here.

Each question is decided in a z3 context of its own. That makes an answer independent of what was asked before it, and
lets several questions be decided at once by threads of one process, since z3 works outside Python's lock. Left out on
purpose: proof certificates. To check an answer, run another solver on the file.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, Literal, TypeVar

import z3

Result = Literal["unsat", "sat", "unknown"]
Key = TypeVar("Key")

LOOK: Final = 0.1
"""Seconds between two looks at whether to stop."""


class NotSmtLib(Exception):
    """A text that z3 cannot read as SMT-LIB."""


@dataclass(frozen=True)
class Problem:
    """A question in SMT-LIB under a stable name; `unsat` means that the claim in its first lines holds."""

    name: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What a solver said: the result, the time in seconds, and for `sat` the raw values of the variables it chose."""

    result: Result
    seconds: float
    values: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


def problem(name: str, claim: str, constraints: Iterable[z3.BoolRef]) -> Problem:
    """The question whether the constraints can hold together, headed by the claim that they cannot."""
    heading = "".join(f"; {line}\n" for line in [name, *claim.splitlines(), "unsat: proved; sat: not proved"])
    terms = list(constraints) or [z3.BoolVal(True)]
    *rest, last = (one.as_ast() for one in terms)
    # As `Solver.to_smt2`, which would first give every constraint one more Python object.
    body = z3.Z3_benchmark_to_smtlib_string(
        z3.main_ctx().ref(), "", "", "unknown", "", len(rest), (z3.Ast * len(rest))(*rest), last
    )
    return Problem(name, heading + body[body.index("(set-info") :])


def file_name(name: str) -> str:
    """A file name for a problem: `write(i=1, j=2)` becomes `write.i1.j2.smt2`."""
    plain = re.sub(r"[^A-Za-z0-9_/-]+", ".", name.replace("=", "")).strip(".").replace("/", "--")
    return f"{plain}.smt2"


def export(problems: Iterable[Problem], folder: Path) -> list[Path]:
    """Write each problem to a file of its own; ValueError if two names would share a file."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, str] = {}
    for one in problems:
        path = folder / file_name(one.name)
        if path in written:
            raise ValueError(f"{written[path]} and {one.name} would both be written to {path.name}; rename one")
        path.write_text(one.text, encoding="utf-8")
        written[path] = one.name
    return list(written)


def decide(
    text: str,
    timeout_s: float,
    near: Mapping[str, int] | None = None,
    tactics: Sequence[str] = (),
    context: z3.Context | None = None,
) -> Answer:
    """Decide one SMT-LIB text, by z3's tactics in turn if any; `near` pulls a satisfying state towards values."""
    started, context = time.perf_counter(), context or z3.Context()
    solver = _solver(context, timeout_s, tactics)
    try:
        solver.from_string(text)
    except z3.Z3Exception as error:
        raise NotSmtLib(f"z3 cannot read it: {error}") from None
    result = solver.check()
    if result == z3.unsat:
        return Answer("unsat", time.perf_counter() - started)
    if result == z3.unknown:
        return Answer("unknown", time.perf_counter() - started, reason=solver.reason_unknown())
    model = solver.model()
    if near is not None:
        model = _near(context, text, model, near, max(1.0, started + timeout_s - time.perf_counter()))
    values = {declaration.name(): _raw(model[declaration]) for declaration in model.decls()}
    return Answer("sat", time.perf_counter() - started, values)


def _solver(context: z3.Context, timeout_s: float, tactics: Sequence[str]) -> z3.Solver:
    used = [_tactic(name, context) for name in tactics]
    solver = z3.Then(*used, ctx=context).solver() if used else z3.Solver(ctx=context)
    # Ctrl-C belongs to the main thread, which interrupts the contexts; z3 must not catch the signal itself.
    solver.set("ctrl_c", False)
    solver.set("timeout", max(1, int(timeout_s * 1000)))
    return solver


def _tactic(name: str, context: z3.Context) -> z3.Tactic:
    """A tactic; integers are epochs here, compared and counted up by one, which the older simplex does faster."""
    tactic = z3.Tactic(name, ctx=context)
    return z3.With(tactic, "arith.solver", 2) if name == "smt" else tactic


def _near(context: z3.Context, text: str, model: z3.ModelRef, near: Mapping[str, int], timeout_s: float) -> z3.ModelRef:
    """A model of a text that has one, close to the values of `near`; by a solver that goes on where it was."""
    solver = _solver(context, timeout_s, ())
    solver.from_string(text)
    if solver.check() != z3.sat:  # no answer in time: the model is right, if far
        return model
    return _pulled(solver, solver.model(), near, time.perf_counter() + min(2.0, timeout_s))


def _pulled(solver: z3.Solver, model: z3.ModelRef, near: Mapping[str, int], until: float) -> z3.ModelRef:
    """A model in which as many variables as one greedy pass can reach have the values of `near`."""
    solver.set("timeout", 200)
    for declaration in sorted(model.decls(), key=lambda one: str(one.name())):
        if declaration.name() not in near or time.perf_counter() > until:
            continue
        wanted = declaration() == _literal(declaration, near[declaration.name()])
        if z3.is_true(model.eval(wanted, model_completion=True)):
            solver.add(wanted)
            continue
        solver.push()
        solver.add(wanted)
        if solver.check() == z3.sat:
            model = solver.model()
        else:
            solver.pop()
    return model


def _literal(declaration: z3.FuncDeclRef, raw: int) -> z3.ExprRef:
    sort = declaration.range()
    return z3.BoolVal(bool(raw), sort.ctx) if sort.kind() == z3.Z3_BOOL_SORT else sort.cast(raw)


def _raw(value: z3.ExprRef) -> int:
    return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


# --------------------------------------------------------------------------------------------------- several at once


@dataclass(frozen=True)
class Question(Generic[Key]):
    """A problem to decide, whose it is, and how."""

    key: Key
    problem: Problem
    timeout_s: float
    near: Mapping[str, int] | None = None
    tactics: tuple[str, ...] = ()


def decide_all(
    questions: Iterable[Question[Key]],
    follow_up: Callable[[Key, Answer], Question[Key] | None],
    *,
    workers: int,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Decide all questions, `workers` at a time, and whatever each answer gives rise to.

    Questions are drawn when they are needed, and `follow_up` runs in the calling thread, once for each answer; the
    question that it returns is decided next. `stop` is asked some times a second; once it says so, KeyboardInterrupt is
    raised from here, as it is for Ctrl-C. However this is left, no solver goes on.
    """
    coming, first = iter(questions), list[Question[Key]]()
    running: dict[Future[Answer], tuple[Question[Key], z3.Context]] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while not stop():
                while len(running) < workers and (one := first.pop() if first else next(coming, None)) is not None:
                    context = z3.Context()
                    asked = (one.problem.text, one.timeout_s, one.near, one.tactics, context)
                    running[pool.submit(decide, *asked)] = one, context
                if not running:
                    return
                for done in wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done:
                    following = follow_up(running.pop(done)[0].key, done.result())
                    first += [following] if following is not None else []
            raise KeyboardInterrupt
        finally:
            while going := {one: context for one, (_, context) in running.items() if not one.done()}:
                for context in going.values():
                    context.interrupt()  # again and again: one that still reads its question is not stopped by it
                wait(going, timeout=LOOK)
