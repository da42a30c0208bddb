"""Asks mutants of the reference all vectors: `python -m tests.model_check.conformance.mutant_process < TASK`.

This process loads nothing of ours but the makers of mutants. A child of it loads the reference and notes which lines
each question runs; a question is a vector in a dialect. Then, for each mutant, a child loads the reference with the
change, and is asked the questions that run its line, until one is not answered as its vector says. The task and the
results are JSON.
"""

import importlib
import importlib.util
import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, TypeAlias

from tests.model_check.conformance.mutant_subjects import SUBJECTS
from tests.model_check.conformance.mutants import chosen, mutants_of

ROOT: Final = Path(__file__).parents[3]
CPU_SECONDS: Final = 10
"""What a question may take of the processor, after which its process is killed; the longest takes a tenth of one."""
BYTES: Final = 4 << 30
"""What a mutant may have of memory."""
Line: TypeAlias = tuple[str, int]
"""A file and the number of a line."""


class Question(NamedTuple):
    """A vector in a dialect, as a line."""

    verb: str
    dialect: str
    vector: str


def questions(verbs: Iterable[str]) -> list[Question]:
    """The vectors of some verbs, in a mixed order, each in the first and the last release line for which it holds."""
    folder, only = ROOT / "model_check" / "conformance" / "vectors", {*verbs}
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    asked = list[Question]()
    for line in lines:
        vector = json.loads(line)
        if vector["verb"] in only:
            releases = [one for one in vector["dialects"] if one != "documented"]
            asked += [Question(vector["verb"], one, line) for one in dict.fromkeys([releases[0], releases[-1]])]
    Random(0).shuffle(asked)
    return asked


def is_answered(question: Question) -> bool:
    """Whether the reference, as it is loaded, answers as the vector says."""
    adapter, vectors = (
        importlib.import_module(f"model_check.conformance.{name}") for name in ("reference_adapter", "vector")
    )
    vector = json.loads(question.vector)
    answer = adapter.Adapter(question.dialect).answer({name: vector[name] for name in ("verb", "id", "given")})
    outcome = json.loads(json.dumps(answer)).get("outcome")
    return any(vectors.difference(then, outcome) is None for then in vector["then"])


def run_by(asked: Sequence[Question]) -> dict[Line, int]:
    """The lines that are run, of the reference and the specification, each with the questions that run it, as bits.

    What a question keeps for the next ones runs but once: it counts as run by all.
    """

    def measure() -> dict[Line, int]:
        importlib.import_module("model_check.conformance.reference_adapter")
        met, bits = set[str](), dict[Line, int]()
        for number, question in enumerate(asked):
            lines = _traced(question)
            for line in lines:
                bits[line] = bits.get(line, 0) | 1 << number
            if question.verb not in met:
                met.add(question.verb)
                bits |= dict.fromkeys(lines - _traced(question), (1 << len(asked)) - 1)
        return bits

    told: dict[Line, int] = in_child(measure)
    return told


def _traced(question: Question) -> set[Line]:
    """The lines that are run of the two packages."""
    folders = tuple(f"{ROOT / name}/" for name in ("reference", "spec"))
    numbers: dict[CodeType, set[int]] = {}

    def enter(frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(folders):
            return None
        lines = numbers.setdefault(code, set())

        def step(frame: FrameType, _event: str, _argument: object) -> Any:
            lines.add(frame.f_lineno)
            return step

        return step

    sys.settrace(enter)
    try:
        is_right = is_answered(question)
    finally:
        sys.settrace(None)
    assert is_right, "the reference itself does not answer as a vector says"
    return {
        (str(Path(code.co_filename).relative_to(ROOT)), number) for code, lines in numbers.items() for number in lines
    }


def in_child(work: Callable[[], Any]) -> Any:
    """What comes of some work that a child of this process does; a sentence if it dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as file:
                pickle.dump(work(), file)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(told) if status == 0 else f"dies: {status}"  # noqa: S301 - a child of our own wrote it


class Task(NamedTuple):
    """What is to be done: which verbs are asked, how many mutants are chosen by which seed, and which come besides."""

    verbs: list[str]
    number: int
    seed: str
    known: list[list[Any]]


def main(task: Task) -> Iterator[dict[str, Any]]:
    """What there is to mutate, and what becomes of the reference unchanged; then what becomes of each mutant."""
    asked = questions(task.verbs)
    bits = run_by(asked)
    of_verb = {verb: sum(1 << number for number, one in enumerate(asked) if one.verb == verb) for verb in task.verbs}
    subjects = [(file, run) for verb, run in of_verb.items() for file in SUBJECTS[verb]]
    covered = {line for line, run in bits.items() if any(line[0] == file and run & mine for file, mine in subjects)}
    sources = {file: (ROOT / file).read_bytes() for file in sorted({file for file, _ in covered})}
    mutants = [one for file, text in sources.items() for one in mutants_of(file, text) if (file, one.at) in covered]
    unchanged = fate(*next(iter(sources.items())), asked)
    yield {"questions": len(asked), "lines": len(covered), "mutants": len(mutants), "unchanged": unchanged}
    known = {tuple(name) for name in task.known}
    picked = dict.fromkeys([*chosen(mutants, task.number, task.seed), *(one for one in mutants if one.name in known)])
    for one in picked:
        source, run = one.of(sources[one.file]), bits[one.file, one.at]
        running = [question for number, question in enumerate(asked) if run >> number & 1]
        running.sort(key=lambda question: one.file not in SUBJECTS[question.verb])  # the likeliest first
        told = fate(one.file, source, running)
        yield {"name": one.name, "operator": one.operator, "at": one.at, "fate": told}


def fate(file: str, source: bytes, asked: Iterable[Question]) -> str:
    """What becomes of a mutant: which question catches it, or that its process dies; empty if it survives."""
    compile(source, file, "exec", dont_inherit=True)  # one that is no Python is a fault of the makers

    def ask() -> str:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        sys.meta_path.insert(0, Finder(file, source))
        for question in asked:
            signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
            if not is_answered(question):
                return f"{json.loads(question.vector)['id']} {question.dialect}"
        return ""

    told: str = in_child(ask)
    return told


class Finder:
    """Has one module loaded from another text."""

    def __init__(self, file: str, source: bytes) -> None:
        self._path, self._source = ROOT / file, source
        self._name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """The module's, if it is this one."""
        if name != self._name:
            return None
        loader = Loader(name, str(self._path))
        loader.source = self._source
        return importlib.util.spec_from_file_location(name, self._path, loader=loader)


class Loader(SourceFileLoader):
    """Compiles another text than the file's."""

    source: bytes

    def get_code(self, fullname: str) -> CodeType:
        """The text's code; none of it is kept on disk."""
        return compile(self.source, self.get_filename(fullname), "exec", dont_inherit=True)


if __name__ == "__main__":
    for result in main(Task(**json.load(sys.stdin))):
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
