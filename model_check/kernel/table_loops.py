"""The loops over a kernel's tables: they do for any system what the functions of a compiled kernel do for one."""

from typing import Any

import numpy as np

from model_check.kernel.native import gate, inlined
from model_check.kernel.packing import Words
from model_check.kernel.slicing import GROUPS
from model_check.kernel.tables import TableArrays


@inlined
def compute(tables: TableArrays, span: int, planes: Words, first: int) -> None:
    """The gates of a span, into the planes from `first` on."""
    begin, end, base = np.int64(tables.spans[span, 0]), np.int64(tables.spans[span, 1]), np.uint64(planes.ctypes.data)
    for number in range(begin, end):
        a, b, c = tables.gates[number, 0], tables.gates[number, 1], tables.gates[number, 2]
        gate(base, np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(first + number - begin))


@inlined
def answer(tables: TableArrays, planes: Words, masks: Words) -> None:
    """Every condition's mask, from its literal."""
    for number in range(tables.asked.shape[0]):
        literal = np.uint64(tables.asked[number, 0])
        for group in range(GROUPS):
            plane = planes[literal >> np.uint64(1), group]
            masks[number, group] = ~plane if literal & np.uint64(1) else plane


@inlined
def changed(tables: TableArrays, number: int, word: Any, planes: Words, group: int, bit: Any) -> Any:
    """The word of the successor of row `bit` of a group: what is kept of the old one, and each bit of its planes."""
    word = word & tables.words[number, 0] ^ tables.words[number, 1]
    for pair in range(tables.words[number, 2], tables.words[number, 3]):
        plane = planes[tables.bits[pair, 0], group]
        word ^= (plane >> np.uint64(bit) & np.uint64(1)) << np.uint64(tables.bits[pair, 1])
    return word
