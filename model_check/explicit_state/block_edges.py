"""All edges out of some states, those that change nothing included."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model_check.kernel.expansion import expand_block, make_tally
from model_check.kernel.kernel import Code
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK

Edges = tuple[Words, npt.NDArray[np.int64], npt.NDArray[np.int32]]
"""Successors, the rows of their sources, and the numbers of actions."""


def edges_from(kernel: Code, rows: Words, begin: int, end: int) -> Edges:
    """The edges from the states in some rows; a whole block must be readable after the last."""
    scratch, count, parts = kernel.make_scratch(), len(kernel.addresses) - 2, []
    for start in range(begin, max(end, begin + 1), BLOCK):
        valid = min(BLOCK, end - start)
        address = rows.ctypes.data + start * rows.strides[0]
        made = expand_block(kernel.addresses, address, valid, scratch, make_tally(len(scratch.masks)), start)
        actions = np.repeat(np.arange(count, dtype=np.int32), np.diff(scratch.ends, prepend=0))
        parents = scratch.parents[:made].astype(np.int64)
        # The kernel leaves out successors equal to their parent: those edges are where a guard held and nothing came.
        idle = np.unpackbits(scratch.masks[:count].view(np.uint8), axis=1, count=valid, bitorder="little").astype(bool)
        idle[actions, parents] = False
        doing, staying = np.nonzero(idle)
        parts.append((scratch.successors[:made].copy(), start + parents, actions))
        parts.append((rows[start + staying], start + staying, doing.astype(np.int32)))
    targets, sources, names = (np.concatenate(column) for column in zip(*parts, strict=True))
    return targets, sources, names
