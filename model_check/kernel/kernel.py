"""The kernel: a system compiled to machine code, kept on disk under its digest.

Two kinds of code come out of the same z3 terms. Conditions (guards, overflows, properties) are bit-sliced and answered
for a block of 512 states at once; updates are ordinary scalar code, run only for enabled actions. For a short search
both stay tables of gates, which are made in a fraction of the time (see `tables`). The object file is cached under
everything that it depends on (the system, the text of the compiler, LLVM and this processor), written to a temporary
name and renamed, and trusted only if its checksum holds; a damaged one is compiled anew.
"""

import ctypes
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt

from model_check.kernel.cache import cache_folder, keep
from model_check.kernel.expansion import Program, Scratch, Tally, expand_block, make_scratch, make_tally
from model_check.kernel.gates import network_of
from model_check.kernel.packing import WORD, Packing, Words
from model_check.kernel.predicates import Predicate, predicates
from model_check.kernel.slicing import BLOCK, Slices, lanes_of
from model_check.kernel.system_digest import system_digest
from model_check.kernel.tables import TableArrays, loaded, planes_of, saved, tables_of
from model_check.kernel.updates import action_ir
from model_check.terms.folding import Folding
from spec.language.rules import TransitionSystem

OPTIMIZATION = 2
"""How hard LLVM tries."""
CHECKSUM = 16


def kernel_ir(system: TransitionSystem) -> str:
    """The whole system as LLVM IR: `predicates`, and one successor function for each action."""
    return "\n".join(_lines(system))


def _lines(system: TransitionSystem) -> Iterator[str]:
    packing, program = Packing(system), Folding()
    conditions = [one.term for one in predicates(system)]
    network, found = network_of(conditions, packing.words * WORD, packing.planes)
    literals = [condition for (condition,) in found]
    lanes = lanes_of(llvm.get_host_cpu_features())
    slices = Slices(network, literals, packing.words * WORD + 1, lanes)
    yield "declare i64 @llvm.cttz.i64(i64, i1)"
    yield from slices.ir()
    for number, action in enumerate(system.actions):
        yield from action_ir(number, action, program, packing)
    pointers = ", ".join(f"ptr @action{number}" for number in range(len(system.actions)))
    yield f"@actions = constant [{len(system.actions)} x ptr] [{pointers}]"
    yield f"@planes = constant i64 {slices.planes}"


def target_machine() -> llvm.TargetMachine:
    """What code is generated for: this machine. Always a new object, since an engine frees the one it was given."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=OPTIMIZATION, jit=True
    )


def compile_ir(ir: str) -> bytes:
    """LLVM IR as an object file for this machine."""
    return bytes(target_machine().emit_object(llvm.parse_assembly(ir)))


def compile_object(system: TransitionSystem, *, tables: bool = False) -> bytes:
    """The kernel of a system as an object file for this machine; as tables, if it is to run too short to be more."""
    return saved(tables_of(system)) if tables else compile_ir(kernel_ir(system))


def machine() -> str:
    """A name for what machine code depends on: processor, its features, and LLVM."""
    parts = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return hashlib.blake2b("\0".join((*parts, llvmlite.__version__)).encode(), digest_size=8).hexdigest()


@cache
def _compiler_version() -> bytes:
    """What an object depends on besides the system: our own text, LLVM, and the processor."""
    version = hashlib.blake2b(machine().encode(), digest_size=16)
    here = Path(__file__).parents[1]
    for module in (one for folder in ("terms", "kernel") for one in sorted((here / folder).glob("*.py"))):
        version.update(module.read_bytes())
    return version.digest()


def default_cache() -> Path:
    """Where compiled kernels are kept."""
    return cache_folder() / "kernels"


def object_of(system: TransitionSystem, cache_dir: Path, *, tables: bool = False) -> bytes:
    """The compiled kernel, from the cache if a sound one is there; a cache that cannot be written is done without."""
    made_of = system_digest(system).encode() + _compiler_version() + bytes([tables])
    name = hashlib.blake2b(made_of, digest_size=16).hexdigest()
    path = cache_dir / f"{name}.o"
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    checksum, compiled = content[:CHECKSUM], content[CHECKSUM:]
    if not compiled or checksum != _checksum(compiled):
        compiled = compile_object(system, tables=tables)
        keep(path, _checksum(compiled) + compiled)
    return compiled


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()


Edges = tuple[Words, npt.NDArray[np.int64], npt.NDArray[np.int32]]
"""Successors, the rows of their sources, and the numbers of actions in the system's order."""


@dataclass(frozen=True)
class Expansion:
    """The successors of a batch of states, as `Edges` has them, those left out that are equal to their parents.

    `tally` has, by predicate of the kernel, in how many states it held and the first row where it did (-1 for none).
    """

    successors: Words
    parents: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int32]
    tally: Tally


class Code:
    """A kernel's code, loaded, with the layout of the states that it is for.

    The addresses of its `program` are those of `predicates(planes, masks)` and each action's
    `successors(rows, mask, out, parents, hashes) -> count`. All of it is free of state of its own, so any
    number of threads may use it.
    """

    def __init__(
        self, packing: Packing, content: bytes, *, actions: int, predicates: int, tables: bool = False
    ) -> None:
        self.packing, self.words = packing, packing.words
        if tables:
            self.program = Program(np.empty(0, dtype=np.uint64), loaded(content))
            planes = planes_of(self.program.tables, self.words)
        else:
            # The engine owns the code: it lives as long as the kernel does.
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(content))
            self._engine.finalize_object()
            functions = [self._engine.get_function_address("predicates"), *self._constants("actions", actions)]
            addresses = np.array(functions, dtype=np.uint64)
            self.program, planes = Program(addresses, TableArrays()), self._constants("planes", 1)[0]
        self._sizes = (self.words, planes, predicates, actions)

    def make_scratch(self) -> Scratch:
        """Room for one block of states."""
        return make_scratch(*self._sizes)

    def edges(self, rows: Words, begin: int, end: int) -> Edges:
        """All edges from the states in some rows, unchanged ones too; a whole block must be readable after the last."""
        return _joined(some for both in self._blocks(rows, begin, end, self._make_tally()) for some in both)

    def expand(self, states: Words) -> Expansion:
        """All successors of a batch (`uint64[n, words]`) and the answers to all predicates."""
        given, tally = np.asarray(states, dtype=np.uint64).reshape(-1, self.words), self._make_tally()
        rows = np.concatenate((given, np.zeros((BLOCK, self.words), dtype=np.uint64)))
        return Expansion(*_joined(moving for moving, _ in self._blocks(rows, 0, len(given), tally)), tally)

    def _make_tally(self) -> Tally:
        return make_tally(self._sizes[2])

    def _blocks(self, rows: Words, begin: int, end: int, tally: Tally) -> Iterator[tuple[Edges, Edges]]:
        """Block by block, the edges to other states, and those that lead nowhere else."""
        scratch = self.make_scratch()
        count = len(scratch.ends)
        for start in range(begin, max(end, begin + 1), BLOCK):
            valid = min(BLOCK, end - start)
            made = expand_block(self.program, rows, start, valid, scratch, tally)
            actions = np.repeat(np.arange(count, dtype=np.int32), np.diff(scratch.ends, prepend=0))
            parents = scratch.parents[:made].astype(np.int64)
            # The code leaves out successors equal to their parent: those edges are where a guard held and nothing came.
            held = scratch.masks[:count].view(np.uint8)
            idle = np.unpackbits(held, axis=1, count=valid, bitorder="little").astype(bool)
            idle[actions, parents] = False
            doing, staying = np.nonzero(idle)
            moving = (scratch.successors[:made].copy(), start + parents, actions)
            yield moving, (rows[start + staying], start + staying, doing.astype(np.int32))

    def _constants(self, name: str, count: int) -> list[int]:
        address = self._engine.get_global_value_address(name)
        return list((ctypes.c_uint64 * count).from_address(address))


class Kernel(Code):
    """A loaded kernel, with the system that it was made from."""

    def __init__(self, system: TransitionSystem, content: bytes, *, tables: bool = False) -> None:
        self.system = system
        self.predicates: tuple[Predicate, ...] = predicates(system)
        actions, asked = len(system.actions), len(self.predicates)
        super().__init__(Packing(system), content, actions=actions, predicates=asked, tables=tables)


def _joined(parts: Iterable[Edges]) -> Edges:
    targets, sources, actions = (np.concatenate(column) for column in zip(*parts, strict=True))
    return targets, sources, actions


def load_kernel(system: TransitionSystem, cache_dir: str | Path | None = None, *, tables: bool = False) -> Kernel:
    """The kernel of a system, compiled at the first time and taken from the cache afterwards."""
    directory = Path(cache_dir) if cache_dir is not None else default_cache()
    return Kernel(system, object_of(system, directory, tables=tables), tables=tables)
