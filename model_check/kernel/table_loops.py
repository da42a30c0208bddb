"""The loops over a kernel's tables, as LLVM IR: the functions that a compiled kernel has, for any system.

They are the same for every system but for the number of words of a state. A plane is one vector, which LLVM splits into
whatever the machine has.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from model_check.kernel.lowering import Scalars
from model_check.kernel.packing import Packing
from model_check.kernel.slicing import BLOCK, GROUPS
from model_check.kernel.tables import Tables
from model_check.kernel.updates import POINTERS, rows_ir
from model_check.terms.folding import Folding
from spec.language.rules import TransitionSystem


def tables_ir(system: TransitionSystem) -> str:
    """The whole system as LLVM IR: the functions that a compiled kernel has, and the tables that they walk."""
    return "\n".join(_lines(Tables(system)))


def _lines(tables: Tables) -> Iterator[str]:
    words, count = tables.packing.words, len(tables.actions)
    yield "declare i64 @llvm.cttz.i64(i64, i1)"
    yield _table("gates", tables.gates, np.uint32)
    yield _table("asked", tables.asked, np.uint32)
    yield _table("bits", tables.bits, np.uint32)
    yield _table("words", tables.words, np.uint64)
    for loop in (_TRANSPOSE, _RUN, _PREDICATES):
        yield _filled(
            loop, words=words, zeros=tables.zeros, first=tables.zeros + 1, gates=tables.conditions,
            asked=len(tables.asked), groups=GROUPS, block=BLOCK,
        )  # fmt: skip
    yield from _successors(tables.packing)
    for number, (begin, end) in enumerate(tables.actions):
        yield f"define internal i64 @action{number}({POINTERS}) {{"
        yield f"  call void @run(ptr %planes, i64 {begin}, i64 {end}, i64 {tables.first})"
        yield f"  %table = getelementptr i8, ptr @words, i64 {number * words * 32}"
        yield f"  %count = call i64 @successors({POINTERS.replace('noalias ', '')}, ptr %table)"
        yield "  ret i64 %count\n}"
    pointers = ", ".join(f"ptr @action{number}" for number in range(count))
    yield f"@actions = constant [{count} x ptr] [{pointers}]"
    yield f"@planes = constant i64 {tables.planes}"


def _table(name: str, numbers: Sequence[Any], kind: type[np.unsignedinteger[Any]]) -> str:
    content = np.array(numbers, dtype=kind).tobytes() or bytes(8)
    return f'@{name} = internal constant [{len(content)} x i8] c"\\{content.hex(chr(92))}", align 64'


def _filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace(f"<{name}>", str(value))
    return text


_TRANSPOSE = """
define void @transpose(ptr noalias %rows, ptr noalias %planes) {
entry:
  br label %word
word:
  %w = phi i64 [ 0, %entry ], [ %w1, %turned ]
  %source = getelementptr i64, ptr %rows, i64 %w
  %firstrow = mul i64 %w, 64
  %square = getelementptr [<groups> x i64], ptr %planes, i64 %firstrow
  br label %row
row:
  %r = phi i64 [ 0, %word ], [ %r1, %row ]
  %start = mul i64 %r, <words>
  %from = getelementptr i64, ptr %source, i64 %start
  %value = load i64, ptr %from, align 8
  %group = lshr i64 %r, 6
  %within = and i64 %r, 63
  %to = getelementptr [<groups> x i64], ptr %square, i64 %within, i64 %group
  store i64 %value, ptr %to, align 8
  %r1 = add i64 %r, 1
  %more = icmp ult i64 %r1, <block>
  br i1 %more, label %row, label %level
level:
  %distance = phi i64 [ 32, %row ], [ %half, %exchanged ]
  %low = phi i64 [ 4294967295, %row ], [ %lower, %exchanged ]
  %d0 = insertelement <<groups> x i64> poison, i64 %distance, i64 0
  %by = shufflevector <<groups> x i64> %d0, <<groups> x i64> poison, <<groups> x i32> zeroinitializer
  %l0 = insertelement <<groups> x i64> poison, i64 %low, i64 0
  %mask = shufflevector <<groups> x i64> %l0, <<groups> x i64> poison, <<groups> x i32> zeroinitializer
  br label %exchange
exchange:
  %k = phi i64 [ 0, %level ], [ %k1, %exchange ]
  %partner = add i64 %k, %distance
  %pa = getelementptr [<groups> x i64], ptr %square, i64 %k
  %pb = getelementptr [<groups> x i64], ptr %square, i64 %partner
  %a = load <<groups> x i64>, ptr %pa, align 8
  %b = load <<groups> x i64>, ptr %pb, align 8
  %high = lshr <<groups> x i64> %a, %by
  %differ = xor <<groups> x i64> %high, %b
  %swap = and <<groups> x i64> %differ, %mask
  %up = shl <<groups> x i64> %swap, %by
  %a1 = xor <<groups> x i64> %a, %up
  %b1 = xor <<groups> x i64> %b, %swap
  store <<groups> x i64> %a1, ptr %pa, align 8
  store <<groups> x i64> %b1, ptr %pb, align 8
  %beyond = add i64 %partner, 1
  %skip = xor i64 %distance, -1
  %k1 = and i64 %beyond, %skip
  %others = icmp ult i64 %k1, 64
  br i1 %others, label %exchange, label %exchanged
exchanged:
  %half = lshr i64 %distance, 1
  %shifted = shl i64 %low, %half
  %lower = xor i64 %low, %shifted
  %again = icmp ne i64 %half, 0
  br i1 %again, label %level, label %turned
turned:
  %w1 = add i64 %w, 1
  %rest = icmp ult i64 %w1, <words>
  br i1 %rest, label %word, label %done
done:
  %zeros = getelementptr [<groups> x i64], ptr %planes, i64 <zeros>
  store <<groups> x i64> zeroinitializer, ptr %zeros, align 8
  ret void
}"""
"""Each word of the rows is eight squares of 64 by 64 bits, which lie side by side in 64 planes and are turned at once:
squares of half the size change places, then those in each of them, down to single bits.
"""

_RUN = """
define internal void @run(ptr noalias %planes, i64 %begin, i64 %end, i64 %first) noinline {
entry:
  %none = icmp eq i64 %begin, %end
  br i1 %none, label %done, label %gate
gate:
  %i = phi i64 [ %begin, %entry ], [ %i1, %gate ]
  %plane = phi i64 [ %first, %entry ], [ %plane1, %gate ]
  %row = getelementptr [3 x i32], ptr @gates, i64 %i
  %rowb = getelementptr i32, ptr %row, i64 1
  %rowc = getelementptr i32, ptr %row, i64 2
  %ia = load i32, ptr %row, align 4
  %ib = load i32, ptr %rowb, align 4
  %ic = load i32, ptr %rowc, align 4
  %na = lshr i32 %ia, 1
  %nb = lshr i32 %ib, 1
  %nc = lshr i32 %ic, 1
  %xa = zext i32 %na to i64
  %xb = zext i32 %nb to i64
  %xc = zext i32 %nc to i64
  %pa = getelementptr [<groups> x i64], ptr %planes, i64 %xa
  %pb = getelementptr [<groups> x i64], ptr %planes, i64 %xb
  %pc = getelementptr [<groups> x i64], ptr %planes, i64 %xc
  %va = load <<groups> x i64>, ptr %pa, align 8
  %vb = load <<groups> x i64>, ptr %pb, align 8
  %vc = load <<groups> x i64>, ptr %pc, align 8
  %za = zext i32 %ia to i64
  %zb = zext i32 %ib to i64
  %la = and i64 %za, 1
  %lb = and i64 %zb, 1
  %ma = sub i64 0, %la
  %mb = sub i64 0, %lb
  %sa0 = insertelement <<groups> x i64> poison, i64 %ma, i64 0
  %sb0 = insertelement <<groups> x i64> poison, i64 %mb, i64 0
  %sa = shufflevector <<groups> x i64> %sa0, <<groups> x i64> poison, <<groups> x i32> zeroinitializer
  %sb = shufflevector <<groups> x i64> %sb0, <<groups> x i64> poison, <<groups> x i32> zeroinitializer
  %a = xor <<groups> x i64> %va, %sa
  %b = xor <<groups> x i64> %vb, %sb
  %both = and <<groups> x i64> %a, %b
  %value = xor <<groups> x i64> %both, %vc
  %to = getelementptr [<groups> x i64], ptr %planes, i64 %plane
  store <<groups> x i64> %value, ptr %to, align 8
  %i1 = add i64 %i, 1
  %plane1 = add i64 %plane, 1
  %last = icmp eq i64 %i1, %end
  br i1 %last, label %done, label %gate
done:
  ret void
}"""
"""Gates from `begin` on, into the planes from `first` on."""

_PREDICATES = """
define void @predicates(ptr noalias %planes, ptr noalias %masks) {
entry:
  call void @run(ptr %planes, i64 0, i64 <gates>, i64 <first>)
  br label %answer
answer:
  %i = phi i64 [ 0, %entry ], [ %i1, %answer ]
  %from = getelementptr i32, ptr @asked, i64 %i
  %literal = load i32, ptr %from, align 4
  %wide = zext i32 %literal to i64
  %plane = lshr i64 %wide, 1
  %negated = and i64 %wide, 1
  %flip = sub i64 0, %negated
  %s0 = insertelement <<groups> x i64> poison, i64 %flip, i64 0
  %s = shufflevector <<groups> x i64> %s0, <<groups> x i64> poison, <<groups> x i32> zeroinitializer
  %source = getelementptr [<groups> x i64], ptr %planes, i64 %plane
  %value = load <<groups> x i64>, ptr %source, align 8
  %mask = xor <<groups> x i64> %value, %s
  %to = getelementptr [<groups> x i64], ptr %masks, i64 %i
  store <<groups> x i64> %mask, ptr %to, align 8
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, <asked>
  br i1 %more, label %answer, label %done
done:
  ret void
}"""
"""All conditions' gates, and an answer for each."""

_WORD = """
  %table<w> = getelementptr [4 x i64], ptr %table, i64 <w>
  %flips<w> = getelementptr i64, ptr %table<w>, i64 1
  %begins<w> = getelementptr i64, ptr %table<w>, i64 2
  %ends<w> = getelementptr i64, ptr %table<w>, i64 3
  %keep<w> = load i64, ptr %table<w>, align 8
  %flip<w> = load i64, ptr %flips<w>, align 8
  %begin<w> = load i64, ptr %begins<w>, align 8
  %end<w> = load i64, ptr %ends<w>, align 8
  %kept<w> = and i64 %w<w>, %keep<w>
  %start<w> = xor i64 %kept<w>, %flip<w>
  br label %more<w>
more<w>:
  %i<w> = phi i64 [ %begin<w>, %<before> ], [ %next<w>, %bit<w> ]
  %x<w> = phi i64 [ %start<w>, %<before> ], [ %set<w>, %bit<w> ]
  %over<w> = icmp eq i64 %i<w>, %end<w>
  br i1 %over<w>, label %whole<w>, label %bit<w>
bit<w>:
  %pair<w> = getelementptr [2 x i32], ptr @bits, i64 %i<w>
  %second<w> = getelementptr i32, ptr %pair<w>, i64 1
  %plane<w> = load i32, ptr %pair<w>, align 4
  %place<w> = load i32, ptr %second<w>, align 4
  %number<w> = zext i32 %plane<w> to i64
  %shift<w> = zext i32 %place<w> to i64
  %where<w> = getelementptr [<groups> x i64], ptr %planes, i64 %number<w>, i64 %g
  %column<w> = load i64, ptr %where<w>, align 8
  %down<w> = lshr i64 %column<w>, %bit
  %one<w> = and i64 %down<w>, 1
  %moved<w> = shl i64 %one<w>, %shift<w>
  %set<w> = xor i64 %x<w>, %moved<w>
  %next<w> = add i64 %i<w>, 1
  br label %more<w>
whole<w>:"""
"""A word of the successor of row `%bit` in group `%g`: what is kept of the old one, and each bit of its planes."""


def _successors(packing: Packing) -> Iterator[str]:
    """`@successors(..., planes, table)`: an action's successors, by its four numbers for each word."""
    scalars = Scalars(Folding(), packing)
    for word in range(packing.words):
        scalars.text += [_filled(_WORD, w=word, before=scalars.label, groups=GROUPS)]
        scalars.label = f"whole{word}"
    yield f"define internal i64 @successors({POINTERS}, ptr noalias %table) {{"
    yield from rows_ir(scalars, {word: f"%x{word}" for word in range(packing.words)})
    yield "}"
