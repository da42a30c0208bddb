"""Loops in machine code: numba, and what it lacks and a search needs.

What it lacks is calling a compiled kernel or z3, prefetching, counting bits and folding multiplications. Each is one
LLVM instruction or intrinsic, usable inside `@loop` functions. Addresses are plain unsigned integers.

numba keeps compiled functions on disk and makes them anew when their file changes, but not when a file changes whose
functions they call. So here the cache belongs to the text of all files that have such functions.
"""

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic

from model_check.kernel.cache import cache_folder, can_keep, lacking

LOOPS = (
    *(f"kernel/{name}" for name in ("expansion", "gates", "hashing", "native", "reading", "slicing", "table_loops")),
    *(f"explicit_state/{name}" for name in ("digest", "graph", "search", "visited")),
)
"""The modules whose text compiled loops depend on."""


def _loop_cache() -> str:
    """A folder of its own for each version of our loops, beside the modules or in our cache; empty if none can be."""
    here = Path(__file__).parents[1]
    version = hashlib.blake2b(b"".join((here / f"{name}.py").read_bytes() for name in LOOPS), digest_size=8)
    given = os.environ.get("NUMBA_CACHE_DIR")
    homes = (here / "__pycache__", cache_folder())
    places = [*([Path(given)] if given else []), *(home / f"loops-{version.hexdigest()}" for home in homes)]
    return next((str(place) for place in places if can_keep(place)), "")


KEPT_IN = _loop_cache()
if KEPT_IN:
    setattr(config, "CACHE_DIR", KEPT_IN)  # noqa: B010 - known at run time only
else:
    lacking.add("compiled loops")

UNWRAPPED: dict[str, Any] = {"no_cfunc_wrapper": True}
"""Nobody calls a loop from C, so that none is wrapped for it; numba takes this option, but its types do not know it."""

Loop = Callable[[Callable[..., Any]], Any]
"""Makes a function one that is compiled, at its first call, and runs without the interpreter's lock."""


def _compiled(*, nogil: bool = True, **options: Any) -> Loop:
    def declare(function: Callable[..., Any]) -> Any:
        found = njit(cache=bool(KEPT_IN), nogil=nogil, **UNWRAPPED, **options)(function)
        if KEPT_IN:
            cache: Any = found._cache  # noqa: SLF001 - numba has no other way to what it keeps
            cache.load_overload = partial(_compiled_earlier, cache)
        return found

    return declare


def _compiled_earlier(cache: Any, signature: Any, target: Any) -> Any:
    """What numba has kept of a function, or None, as its own `load_overload` gives it.

    That first loads all that compiling needs, a third of numba's start; where nothing is kept, its compiler does so.
    """
    rtsys.initialize(target)
    return cache._load_overload(signature, target)  # noqa: SLF001 - as above


loop: Loop = _compiled()
"""A function that may make arrays."""

tight_loop: Loop = _compiled(_nrt=False)
"""The same for a function that makes no arrays: nothing in it counts references to them.

Counting is a locked instruction, and waits for every prefetch under way.
"""

tight_part: Loop = _compiled(_nrt=False, forceinline=True)
"""The same for a part of such a loop that must not cost a call: each array takes seven values on the stack."""

holding_loop: Loop = _compiled(nogil=False, _nrt=False)
"""The same for one that asks z3, which serves one thread at a time: it keeps the interpreter's lock."""

inlined: Loop = _compiled(inline="always")
"""The same for a part of any loop that is small, or is called in one place only: it is not compiled by itself."""

_WORD = ir.IntType(64)

machine_code: Callable[[Callable[..., Any]], Any] = intrinsic
"""numba's decorator: what it makes is called with values, not with the types that the decorated function is given."""


def _operation(result: Any, parameters: tuple[Any, ...], build: Any) -> tuple[Any, Any]:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return build(builder, *arguments)

    return result(*parameters), generate


@machine_code
def ask(_typing: Any, _function: Any, _a: Any, _b: Any) -> Any:
    """Call `i64 function(ptr a, ptr b)` by addresses."""

    def build(builder: Any, function: Any, *arguments: Any) -> Any:
        signature = ir.FunctionType(_WORD, [_WORD] * 2)
        return builder.call(builder.inttoptr(function, signature.as_pointer()), arguments)

    return _operation(types.uint64, (types.uint64,) * 3, build)


@machine_code
def ask_at(_typing: Any, _function: Any, _a: Any, _b: Any, _number: Any) -> Any:
    """Call `i64 function(ptr a, ptr b, unsigned number)` by addresses."""

    def build(builder: Any, function: Any, a: Any, b: Any, number: Any) -> Any:
        short = ir.IntType(32)
        signature = ir.FunctionType(_WORD, [_WORD, _WORD, short])
        found = builder.inttoptr(function, signature.as_pointer())
        return builder.call(found, [a, b, builder.trunc(number, short)])

    return _operation(types.uint64, (types.uint64,) * 4, build)


@machine_code
def call2(_typing: Any, _function: Any, _a: Any, _b: Any) -> Any:
    """Call `void function(ptr a, ptr b)` by addresses."""

    def build(builder: Any, function: Any, a: Any, b: Any) -> Any:
        signature = ir.FunctionType(ir.VoidType(), [_WORD, _WORD])
        builder.call(builder.inttoptr(function, signature.as_pointer()), [a, b])
        return ir.Constant(_WORD, 0)

    return _operation(types.uint64, (types.uint64,) * 3, build)


@machine_code
def call5(_typing: Any, _function: Any, _a: Any, _b: Any, _c: Any, _d: Any, _e: Any) -> Any:
    """Call `i64 function(ptr a, ptr b, ptr c, ptr d, ptr e)` by addresses."""

    def build(builder: Any, function: Any, *arguments: Any) -> Any:
        signature = ir.FunctionType(_WORD, [_WORD] * 5)
        return builder.call(builder.inttoptr(function, signature.as_pointer()), arguments)

    return _operation(types.int64, (types.uint64,) * 6, build)


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
def equal_bytes(_typing: Any, _address: Any, _byte: Any) -> Any:
    """Which of the 16 bytes at an address (a multiple of 16) are equal to a byte: bit i for byte i."""

    def build(builder: Any, address: Any, byte: Any) -> Any:
        lanes = ir.VectorType(ir.IntType(8), 16)
        content = builder.load(builder.inttoptr(address, lanes.as_pointer()), align=16)
        each = _splat(builder, builder.trunc(byte, ir.IntType(8)), lanes)
        return builder.zext(builder.bitcast(builder.icmp_unsigned("==", content, each), ir.IntType(16)), _WORD)

    return _operation(types.uint64, (types.uint64,) * 2, build)


def _splat(builder: Any, value: Any, lanes: Any) -> Any:
    """A vector that has a value in each of its lanes."""
    nothing, first = ir.Constant(lanes, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), lanes.count), [0] * lanes.count)
    return builder.shuffle_vector(builder.insert_element(nothing, value, first), nothing, everywhere)


_PLANE = ir.VectorType(_WORD, 8)


def _plane(builder: Any, planes: Any, number: Any) -> Any:
    """The address of a plane of 512 bits."""
    offset = builder.shl(number, ir.Constant(_WORD, 6))
    return builder.inttoptr(builder.add(planes, offset), _PLANE.as_pointer())


@machine_code
def gate(_typing: Any, _planes: Any, _a: Any, _b: Any, _c: Any, _to: Any) -> Any:
    """Into plane `to`, of 512 bits, `(a AND b) XOR c`.

    These are literals of planes, twice a number, and one more if negated, as c never is.
    """

    def build(builder: Any, planes: Any, a: Any, b: Any, c: Any, to: Any) -> Any:
        one = ir.Constant(_WORD, 1)

        def plane(literal: Any) -> Any:
            return builder.load(_plane(builder, planes, builder.lshr(literal, one)), align=8)

        def value(literal: Any) -> Any:
            return builder.xor(plane(literal), _splat(builder, builder.neg(builder.and_(literal, one)), _PLANE))

        found = builder.xor(builder.and_(value(a), value(b)), plane(c))
        builder.store(found, _plane(builder, planes, to), align=8)
        return ir.Constant(_WORD, 0)

    return _operation(types.uint64, (types.uint64,) * 5, build)


@machine_code
def exchange(_typing: Any, _planes: Any, _a: Any, _b: Any, _by: Any, _low: Any) -> Any:
    """In each word the high bits of plane `a`, moved down, change places with the low ones of plane `b`."""

    def build(builder: Any, planes: Any, a: Any, b: Any, by: Any, low: Any) -> Any:
        places = [_plane(builder, planes, one) for one in (a, b)]
        highs, lows = (builder.load(place, align=8) for place in places)
        by, low = (_splat(builder, one, _PLANE) for one in (by, low))
        swap = builder.and_(builder.xor(builder.lshr(highs, by), lows), low)
        builder.store(builder.xor(highs, builder.shl(swap, by)), places[0], align=8)
        builder.store(builder.xor(lows, swap), places[1], align=8)
        return ir.Constant(_WORD, 0)

    return _operation(types.uint64, (types.uint64,) * 5, build)


def _product(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The two halves of a product of 128 bits, the upper one first."""
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
    return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD), builder.trunc(product, _WORD)


@machine_code
def share(_typing: Any, _fraction: Any, _whole: Any) -> Any:
    """The upper half of a product: so much of the whole as the fraction is of 2**64."""
    return _operation(types.uint64, (types.uint64,) * 2, lambda builder, a, b: _product(builder, a, b)[0])


@machine_code
def fold(_typing: Any, _a: Any, _b: Any) -> Any:
    """The two halves of a 128-bit product, xored: a fast and thorough mixer."""
    return _operation(types.uint64, (types.uint64,) * 2, lambda builder, a, b: builder.xor(*_product(builder, a, b)))
