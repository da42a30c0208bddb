"""The loops over a kernel's tables: they do for any system what the functions of a compiled kernel do for one."""

import io
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.kernel.native import gate, tight_loop
from model_check.kernel.packing import WORD, Words
from model_check.kernel.slicing import GROUPS
from model_check.kernel.tables import Tables

Numbers = npt.NDArray[np.uint32]


class TableArrays(NamedTuple):
    """The numbers of `Tables`; of a compiled kernel there are none."""

    gates: Numbers = np.empty((0, 3), dtype=np.uint32)
    spans: Numbers = np.empty((0, 2), dtype=np.uint32)
    asked: Numbers = np.empty((0, 1), dtype=np.uint32)
    words: Words = np.empty((0, 4), dtype=np.uint64)
    bits: Numbers = np.empty((0, 2), dtype=np.uint32)


def saved(tables: Tables) -> bytes:
    """The numbers of tables as a file has them."""
    file, usual = io.BytesIO(), TableArrays()._asdict().items()
    of_them = {name: np.array(getattr(tables, name), one.dtype).reshape(-1, one.shape[1]) for name, one in usual}
    np.savez(file, allow_pickle=False, **of_them)
    return file.getvalue()


def loaded(content: bytes) -> TableArrays:
    """The numbers that a file has."""
    return TableArrays(**np.load(io.BytesIO(content)))


def planes_of(tables: TableArrays, words: int) -> int:
    """How many planes a block needs: the bits of states, zeros, the gates of conditions, and those of one action."""
    sizes = tables.spans[:, 1] - tables.spans[:, 0]
    return int(words * WORD + 1 + sizes[0] + max(sizes[1:], default=0))


@tight_loop
def compute(tables: TableArrays, span: int, planes: Words, first: int) -> None:
    """The gates of a span, into the planes from `first` on."""
    begin, end, base = np.int64(tables.spans[span, 0]), np.int64(tables.spans[span, 1]), np.uint64(planes.ctypes.data)
    for number in range(begin, end):
        a, b, c = tables.gates[number, 0], tables.gates[number, 1], tables.gates[number, 2]
        gate(base, np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(first + number - begin))


@tight_loop
def answer(tables: TableArrays, planes: Words, masks: Words) -> None:
    """Every condition's mask, from its literal."""
    for number in range(tables.asked.shape[0]):
        literal = np.uint64(tables.asked[number, 0])
        for group in range(GROUPS):
            plane = planes[literal >> np.uint64(1), group]
            masks[number, group] = ~plane if literal & np.uint64(1) else plane


@tight_loop
def changed(tables: TableArrays, number: int, word: Any, planes: Words, group: int, bit: Any) -> Any:
    """The word of the successor of row `bit` of a group: what is kept of the old one, and each bit of its planes."""
    word = word & tables.words[number, 0] ^ tables.words[number, 1]
    for pair in range(tables.words[number, 2], tables.words[number, 3]):
        plane = planes[tables.bits[pair, 0], group]
        word ^= (plane >> np.uint64(bit) & np.uint64(1)) << np.uint64(tables.bits[pair, 1])
    return word
