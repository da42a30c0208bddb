"""From terms to machine code: what every engine that counts states runs on.

A system's z3 terms are folded, laid out as packed words, and lowered through LLVM into functions that make the
successors of a block of states and answer every question about them. The same terms as Python and as C are here, too.
"""
