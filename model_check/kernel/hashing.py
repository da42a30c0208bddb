"""The hash of a packed state: 64 bits that depend on every bit of it, the same on every machine.

Pairs of words are multiplied to 128 bits and folded. It is written twice: as a loop over rows of any length, and as
straight LLVM code for an action's function, which has the successor's words in registers. Tests hold the two equal.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.kernel.native import fold, inlined, loop
from model_check.kernel.packing import Words, signed

GOLDEN, FINAL = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93

GOLDEN_BITS, _FINAL = np.uint64(GOLDEN), np.uint64(FINAL)


@inlined
def hash_row(rows: Words, row: int) -> Any:
    """The hash of one row."""
    result, secret, words = np.uint64(0), GOLDEN_BITS, rows.shape[1]
    for pair in range(words >> 1):
        result ^= fold(rows[row, 2 * pair] ^ secret, rows[row, 2 * pair + 1] ^ ~secret)
        secret += GOLDEN_BITS + GOLDEN_BITS
    if words & 1:
        result ^= fold(rows[row, words - 1] ^ secret, _FINAL)
    return fold(result ^ GOLDEN_BITS, _FINAL)


@loop
def hash_rows(rows: Words) -> npt.NDArray[np.uint64]:
    """The hash of each packed state."""
    hashes = np.empty(rows.shape[0], dtype=np.uint64)
    for row in range(rows.shape[0]):
        hashes[row] = hash_row(rows, row)
    return hashes


def hash_ir(words: Sequence[str], new: Callable[[str], str]) -> str:
    """The name of the hash of a state whose words have these names; `new` appends an instruction, names its result."""

    def folded(left: str, right: str) -> str:
        wide = [new(f"zext i64 {one} to i128") for one in (left, right)]
        product = new(f"mul i128 {wide[0]}, {wide[1]}")
        high = new(f"trunc i128 {new(f'lshr i128 {product}, 64')} to i64")
        return new(f"xor i64 {high}, {new(f'trunc i128 {product} to i64')}")

    result, secret = "0", GOLDEN
    for left, right in zip(words[::2], words[1::2], strict=False):
        masked = new(f"xor i64 {left}, {signed(secret)}"), new(f"xor i64 {right}, {signed(~secret)}")
        result = new(f"xor i64 {result}, {folded(*masked)}")
        secret += 2 * GOLDEN
    if len(words) % 2:
        last = new(f"xor i64 {words[-1]}, {signed(secret)}")
        result = new(f"xor i64 {result}, {folded(last, str(signed(FINAL)))}")
    return folded(new(f"xor i64 {result}, {signed(GOLDEN)}"), str(signed(FINAL)))
