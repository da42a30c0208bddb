"""`python -m model_check.benchmarks [SCOPE ...]`: measure the engines and print a table for each scope.

Without a scope everything that has a target is measured: `ci` beside SPIN, then on `large` its memory, what a state
costs late in a search, and the Spark engine. That takes some minutes, 14 GiB of memory and 6 GiB of disk. The gates,
`make verify` and `make test`, take the better part of an hour, and are measured by `--gates` alone; `--starts` alone
measures what verbs take that have little to do, and `--judging` what an observation of a recording takes.
"""

import argparse
import time
from collections.abc import Iterable

from model_check.benchmarks.explorer import Row, compare, rows, start_up_rows, whole_rows
from model_check.benchmarks.gates import gate_rows
from model_check.benchmarks.judging import judging_rows
from model_check.benchmarks.marginal import marginal_rows
from model_check.benchmarks.parts import parts
from model_check.benchmarks.spark import spark_rows
from model_check.benchmarks.starts import start_rows
from model_check.explicit_state.promela import SpinError
from spec.errors import UnknownName
from spec.language.rules import TransitionSystem
from spec.scopes import scope, scopes
from spec.system import system
from spec.variants import VARIANTS, variant

LIMIT = 60_000_000
"""States at which a run of the Spark engine ends."""

ONLY = {
    "whole": "the memory of an exploration to its end",
    "marginal": "what a state costs late, compared to early",
    "spark": "what the Spark engine takes, with two workers",
    "gates": "`make verify` and `make test`",
    "starts": "the processor seconds of verbs that have little to do",
    "judging": "what an observation of a recording takes, part by part",
}
"""What can be measured alone."""
WITHOUT_SCOPE = ("gates", "starts", "judging")


def main() -> None:
    """Measure what the command line names."""
    asked = _arguments()
    everything = [("ci", ""), ("large", "whole"), ("large", "marginal"), ("large", "spark")]
    try:
        if asked.only == "gates":
            show(gate_rows(asked.runs, asked.beside))
            return
        if asked.only == "starts":
            show(start_rows(asked.runs))
            return
        if asked.only == "judging":
            show(judging_rows())
            return
        for name, only in [(name, asked.only) for name in asked.scopes] or everything:
            measure(name, asked, only)
    except ValueError as reason:
        raise SystemExit(f"benchmarks: {reason}") from None


def measure(name: str, asked: argparse.Namespace, only: str) -> None:
    """Measure one scope: the native engine beside SPIN, or its whole memory, what a state costs late, or Spark."""
    print(f"\n{name} {asked.variant}: {scope(name).statement}")
    start = time.perf_counter()
    built = system(scope(name), variant(asked.variant))
    building = time.perf_counter() - start
    match only:
        case "whole":
            show(whole_rows(name, asked.variant))
        case "marginal":
            show(marginal_rows(name, asked.variant, asked.runs))
        case "spark":
            show(spark_rows(built, name, asked.variant, asked.limit, asked.runs))
        case _:
            show(start_up_rows(built, building))
            _compare(built, name, asked)


def _compare(built: TransitionSystem, name: str, asked: argparse.Namespace) -> None:
    try:
        show(rows(compare(built, name, asked.variant, asked.runs, spin=asked.spin)))
    except SpinError as reason:
        print(f"  SPIN: {reason}")
    if asked.parts:
        show((f"- {part}", f"{spent:.0f} ns a state", "") for part, spent in parts(built))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m model_check.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scopes", nargs="*", metavar="SCOPE", help="default: everything that has a target")
    parser.add_argument("--variant", default="AS_CODED", choices=[*VARIANTS])
    parser.add_argument("--runs", type=int, default=3, help="of which the median counts")
    parser.add_argument("--no-spin", dest="spin", action="store_false", help="without SPIN (it needs spin and gcc)")
    parser.add_argument("--no-parts", dest="parts", action="store_false", help="do not tell where the time goes")
    only = parser.add_mutually_exclusive_group()
    for name, said in ONLY.items():
        only.add_argument(f"--{name}", dest="only", action="store_const", const=name, help=f"only {said}")
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help="with --spark: begin no level when so many states are known"
    )
    parser.add_argument("--beside", metavar="REV", help="with --gates: another revision, in turn with this checkout")
    parser.set_defaults(only="")
    asked = parser.parse_args()
    if asked.only in WITHOUT_SCOPE and asked.scopes:
        parser.error(f"--{asked.only} is measured without a scope")
    if asked.beside and asked.only != "gates":
        parser.error("--beside goes with --gates")
    if asked.only not in ("", *WITHOUT_SCOPE) and not asked.scopes:
        parser.error(f"--{asked.only} is measured on a scope")
    for name in asked.scopes:
        if name not in scopes():
            parser.error(str(UnknownName("scope", name, scopes())))
    return asked


def show(table: Iterable[Row]) -> None:
    """Print rows as they are measured."""
    for name, number, target in table:
        print(f"  {name:34} {number:>24}   {target and f'(target: {target})'}", flush=True)


if __name__ == "__main__":
    main()
