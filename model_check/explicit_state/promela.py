"""The system for SPIN: a second, famous engine to agree with, and to be as fast as.

SPIN (Holzmann, 6.5) reads Promela and generates a C program, `pan`, that searches. Here the Promela is a single process
that forever takes one of the actions, each of them one indivisible `d_step`; guard and effect are C functions generated
from the same terms, and the state is a packed C struct inside of SPIN's own state vector. That is the shortest way from
the terms to `pan`, so SPIN stores exactly our states, in little more than their bits, and loses no time on anything
that is not its search.

Left out on purpose: properties. SPIN counts states and transitions here, and those counts are compared. Reductions are
off (`-DNOREDUCE`; with one process there is nothing to reduce), states are stored whole, not as hashes.
"""

import re
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model_check.terms.c_code import action_source, initial_source, struct_source
from model_check.terms.straight_line import Program
from spec.language.rules import TransitionSystem

MODEL, HEADER = "system.pml", "system.h"
COMPILE = ("gcc", "-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCOMP")
"""How `pan` is compiled: fastest for SPIN.

`-DNOCOMP` stores a vector as it is, instead of squeezing out the few bytes that are the same in all states; that made
searches 6 to 28 % shorter. `-w`, for SPIN's generated code is full of what gcc warns of.
"""

FIRST_DEPTH, LAST_DEPTH = 100_000, 1_000_000_000
"""The depth of the search, in steps: tried first, and given up after."""


class SpinError(Exception):
    """SPIN is not there, or did not finish; the message says what to do."""


@dataclass(frozen=True)
class SpinResult:
    """What SPIN counted, and what it took.

    `transitions` are enabled actions, as everywhere in this project. `seconds` are of the search alone, without
    generating and compiling it, `user_seconds` what it computed of them, without the kernel; `memory` in bytes is all
    that `pan` asked for; `vector` is the size of a stored state in bytes, `depth` how deep the search went.
    """

    states: int
    transitions: int
    seconds: float
    memory: int
    user_seconds: float
    vector: int
    depth: int


def promela_source(system: TransitionSystem) -> str:
    """The Promela model, which includes the header of `header_source`."""
    options = [
        f"  :: d_step {{ c_expr {{ GUARD_{place} }} -> c_code {{ EFFECT_{place}; }} }} // {action.name}"
        for place, action in enumerate(system.actions)
    ]
    lines = [
        f"// {system.name}, for SPIN: spin -a {MODEL} && {' '.join(COMPILE)} -o pan pan.c && ./pan -m1000000 -w24",
        f'c_decl {{ \\#include "{HEADER}" }}',
        'c_state "Raw raw" "Global" "INITIAL"',
        "active proctype system() {",
        "end:",  # a state in which nothing is enabled is no error
        "  do",
        *(options or ["  :: false"]),
        "  od",
        "}",
    ]
    return "\n".join(lines) + "\n"


def header_source(system: TransitionSystem) -> str:
    """The C header with the state and, for each action, its guard and its effect."""
    program = Program()
    functions = [action_source(program, system, place, action) for place, action in enumerate(system.actions)]
    # SPIN takes a function call in `c_expr` for a side effect, and overruns its buffer at a long text in `c_state`;
    # into a macro it does not look.
    initial = f"#define INITIAL {initial_source(system)}\n"
    macros = [
        f"#define GUARD_{place} guard_{place}(&now.raw)\n#define EFFECT_{place} effect_{place}(&now.raw)\n"
        for place, _ in enumerate(system.actions)
    ]
    begin = "#ifndef SYSTEM_H\n#define SYSTEM_H\n#include <stdint.h>\n"
    parts = [begin, struct_source(system), *functions, initial, *macros]
    return "".join([*parts, "#endif\n"])


def export(system: TransitionSystem, workdir: Path) -> Path:
    """Write the model and its header into a directory; give the model's path."""
    workdir.mkdir(parents=True, exist_ok=True)
    (workdir / HEADER).write_text(header_source(system), encoding="utf-8")
    (workdir / MODEL).write_text(promela_source(system), encoding="utf-8")
    return workdir / MODEL


def run_spin(
    system: TransitionSystem,
    workdir: Path,
    *,
    table: int = 24,
    memory: int = 4096,
    depth: int = FIRST_DEPTH,
    before: Callable[[], None] = lambda: None,
) -> SpinResult:
    """Let SPIN search all reachable states.

    `table` is the logarithm of the number of slots in the hash table (best about that of the number of states),
    `memory` the limit in MiB. A search that gets deeper than `depth` starts again with ten times the depth, and only
    the last one is timed; `before` is called right before each. SpinError if SPIN or gcc is missing, or if the limit
    does not suffice.
    """
    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            raise SpinError(f"{tool} is not on the PATH; install it (apt-get install spin gcc) or go without SPIN")
    export(system, workdir)
    vector = len(system.variables) * 8 + 64
    _call(["spin", "-a", MODEL], workdir)
    _call([*COMPILE, f"-DMEMLIM={memory}", f"-DVECTORSZ={max(1024, vector)}", "-o", "pan", "pan.c"], workdir)
    while depth <= LAST_DEPTH:
        before()
        start, user = time.perf_counter(), _user_seconds_of_children()
        report = _call(["./pan", f"-m{depth}", f"-w{table}", "-b", "-n"], workdir)
        seconds, user = time.perf_counter() - start, _user_seconds_of_children() - user
        if "max search depth too small" not in report and "depth limit" not in report:
            return _result(system, report, (seconds, user))
        depth *= 10
    raise SpinError(f"{system.name}: SPIN's search gets deeper than {LAST_DEPTH} steps; take a smaller scope")


def _user_seconds_of_children() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _call(command: list[str], workdir: Path) -> str:
    done = subprocess.run(command, cwd=workdir, capture_output=True, text=True, check=False)
    if done.returncode:
        said = _in_short(done.stdout + done.stderr)
        raise SpinError(f"`{' '.join(command)}` in {workdir} failed with exit code {done.returncode}: {said}")
    return done.stdout + done.stderr


def _result(system: TransitionSystem, report: str, spent: tuple[float, float]) -> SpinResult:
    if "Search not completed" in report or "out of memory" in report or "errors: 0" not in report:
        advice = "give it more memory or a smaller scope"
        raise SpinError(f"{system.name}: SPIN did not finish; {advice}. It said: {_in_short(report)}")
    return SpinResult(
        states=int(_number(r"(\d+) states, stored", report)),
        # SPIN counts the initial state as if a transition led to it.
        transitions=int(_number(r"(\d+) transitions \(= stored\+matched\)", report)) - 1,
        seconds=spent[0],
        memory=int(_number(r"([\d.]+)\s+(?:total actual memory usage|memory usage \(Mbyte\))", report) * 2**20),
        user_seconds=spent[1],
        vector=int(_number(r"State-vector (\d+) byte", report)),
        depth=int(_number(r"depth reached (\d+)", report)),
    )


def _number(pattern: str, report: str) -> float:
    found = re.search(pattern, report)
    if found is None:
        raise SpinError(f"SPIN's report lacks {pattern!r}; SPIN 6.5 is known to work. It said: {_in_short(report)}")
    return float(found.group(1))


def _in_short(report: str) -> str:
    return " / ".join(line.strip() for line in report.splitlines() if line.strip())[:600]
