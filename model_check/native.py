"""What numba lacks and a search needs: calling a compiled kernel, prefetching, counting bits, folding multiplications.

Each is one LLVM instruction or intrinsic, usable inside `@njit` functions. Addresses are plain unsigned integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)

machine_code: Callable[[Callable[..., Any]], Any] = intrinsic
"""numba's decorator: what it makes is called with values, not with the types that the decorated function is given."""


def _operation(result: Any, parameters: tuple[Any, ...], build: Any) -> tuple[Any, Any]:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return build(builder, *arguments)

    return result(*parameters), generate


@machine_code
def call2(_typing: Any, _function: Any, _a: Any, _b: Any) -> Any:
    """Call `void function(ptr a, ptr b)` by addresses."""

    def build(builder: Any, function: Any, a: Any, b: Any) -> Any:
        signature = ir.FunctionType(ir.VoidType(), [_WORD, _WORD])
        builder.call(builder.inttoptr(function, signature.as_pointer()), [a, b])
        return ir.Constant(_WORD, 0)

    return _operation(types.uint64, (types.uint64,) * 3, build)


@machine_code
def call4(_typing: Any, _function: Any, _a: Any, _b: Any, _c: Any, _d: Any) -> Any:
    """Call `i64 function(ptr a, ptr b, ptr c, ptr d)` by addresses."""

    def build(builder: Any, function: Any, *arguments: Any) -> Any:
        signature = ir.FunctionType(_WORD, [_WORD] * 4)
        return builder.call(builder.inttoptr(function, signature.as_pointer()), arguments)

    return _operation(types.int64, (types.uint64,) * 5, build)


@machine_code
def prefetch(_typing: Any, _address: Any) -> Any:
    """Ask for the cache line at an address, for reading and writing, without waiting for it."""

    def build(builder: Any, address: Any) -> Any:
        pointer = builder.inttoptr(address, ir.IntType(8).as_pointer())
        flags = [ir.Constant(ir.IntType(32), value) for value in (1, 3, 1)]
        signature = ir.FunctionType(ir.VoidType(), [pointer.type, *(flag.type for flag in flags)])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], signature)
        builder.call(function, [pointer, *flags])
        return ir.Constant(_WORD, 0)

    return _operation(types.uint64, (types.uint64,), build)


@machine_code
def count_bits(_typing: Any, _word: Any) -> Any:
    """How many bits of a word are set."""
    return _operation(types.int64, (types.uint64,), lambda builder, word: builder.ctpop(word))


@machine_code
def lowest_bit(_typing: Any, _word: Any) -> Any:
    """The position of the lowest bit of a word that is not zero."""
    unless_zero = ir.Constant(ir.IntType(1), 1)
    return _operation(types.int64, (types.uint64,), lambda builder, word: builder.cttz(word, unless_zero))


@machine_code
def fold(_typing: Any, _a: Any, _b: Any) -> Any:
    """The two halves of a 128-bit product, xored: a fast and thorough mixer."""

    def build(builder: Any, a: Any, b: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)
        return builder.xor(high, builder.trunc(product, _WORD))

    return _operation(types.uint64, (types.uint64,) * 2, build)
