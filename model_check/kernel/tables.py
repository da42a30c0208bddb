"""A kernel as tables: the same network of gates, walked by a loop instead of compiled.

To compile a kernel takes LLVM seconds, which a search of few states does not earn back. Here the gates are data; the
loops over them are in `table_loops`. Every gate is brought to one form, `(a AND b) XOR c`, so that the loop has no
branch: a, b and c are planes of the block, and a and b may be read negated.

Updates are gates as conditions are: where an action is enabled somewhere in a block, all bits that it may change are
computed for the whole block, and each successor takes its own from there. That computes more than is wanted, and still
costs less than to compile until a search has some million states.
"""

from collections.abc import Iterable, Mapping

from model_check.kernel.gates import FALSE, Blaster, Network
from model_check.kernel.packing import WORD, Packing
from model_check.kernel.predicates import predicates
from model_check.kernel.slicing import needed
from model_check.terms.folding import Folding
from spec.language.rules import Action, TransitionSystem

Row = tuple[int, int, int]
"""A gate: the literals a, b and c of planes, twice a plane's number and one more if negated; c is never negated."""


class Wiring:
    """Gates as rows; each computes the next plane from `first` on. What `known` gates have is read from there."""

    def __init__(self, network: Network, zeros: int, first: int, known: Mapping[int, int]) -> None:
        self.rows: list[Row] = []
        self.literals: dict[int, int] = {}
        self._network = network
        self._false = 2 * zeros
        self._first = first
        self._known = known

    def add(self, gates: Iterable[int]) -> None:
        """Wire gates up, each after those that it reads."""
        for gate in gates:
            operation, first, second, third = self._network.gates[gate]
            left, right = self.literal(first), self.literal(second)
            if operation == "and":
                self.literals[gate] = self._row(left, right, self._false)
            elif operation == "xor":
                self.literals[gate] = self._exclusive(left, right)
            else:
                otherwise = self.literal(third)
                self.literals[gate] = self._row(left, self._exclusive(right, otherwise), otherwise)

    def literal(self, literal: int) -> int:
        """The literal of planes for one of the network."""
        gate = literal >> 1
        found = self.literals.get(gate)
        return (self._known[gate] if found is None else found) ^ literal & 1

    def _exclusive(self, left: int, right: int) -> int:
        return self._row(left, self._false ^ 1, right)

    def _row(self, a: int, b: int, c: int) -> int:
        """The literal of `(a AND b) XOR c`: if c is negated, so is the result."""
        self.rows.append((a, b, c & ~1))
        return 2 * (self._first + len(self.rows) - 1) ^ c & 1


class Tables:
    """What the loops walk: the gates of all conditions, then those of each action, and where successors' bits are.

    Plane `64 * word + bit` of a block is that bit of its states, the next one is zeros, the others are gates:
    those of the conditions, and behind them an action's. `spans` has where the gates of all conditions, and then those
    of each action, begin and end. `asked` has each condition's literal, `words` four numbers for each action and word:
    what is kept, what is flipped then, and where the pairs (plane, position) of the bits that are flipped if they are
    set in a plane begin and end in `bits`.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.packing = Packing(system)
        self.zeros = self.packing.words * WORD
        self._network = Network()
        self._known = {FALSE >> 1: 2 * self.zeros}
        self._blaster = Blaster(Folding(), self._network, self._inputs)
        literals = [self._blaster.literal(one.term) for one in predicates(system)]
        updates = [self._changed(action) for action in system.actions]
        self._done = {0}
        conditions = Wiring(self._network, self.zeros, self.zeros + 1, self._known)
        for literal in literals:
            conditions.add(needed(self._network, literal >> 1, self._done))
        self.asked = [conditions.literal(literal) for literal in literals]
        self._known |= conditions.literals
        self.gates = conditions.rows
        self.spans = [(0, len(self.gates))]
        self._first = self.zeros + 1 + len(self.gates)
        self.words: list[list[int]] = []
        self.bits: list[tuple[int, int]] = []
        for update in updates:
            self._add(update)

    def _inputs(self, variable: str) -> tuple[int, ...]:
        """The network's literals of a variable's bits."""
        planes = self.packing.planes(variable)
        literals = tuple(self._network.input(plane) for plane in planes)
        self._known |= {literal >> 1: 2 * plane for literal, plane in zip(literals, planes, strict=True)}
        return literals

    def _changed(self, action: Action) -> dict[int, int]:
        """By their planes, the literals of all bits that an action may change."""
        found: dict[int, int] = {}
        for name, term in action.updates.items():
            changed = zip(self.packing.planes(name), self._inputs(name), self._blaster.bits(term), strict=True)
            found |= {plane: literal for plane, before, literal in changed if literal != before}
        return found

    def _add(self, update: Mapping[int, int]) -> None:
        """The gates of an action, and where its successors' bits are."""
        wiring, done = Wiring(self._network, self.zeros, self._first, self._known), set(self._done)
        for literal in update.values():
            wiring.add(needed(self._network, literal >> 1, done))
        self.spans.append((len(self.gates), len(self.gates) + len(wiring.rows)))
        self.gates += wiring.rows
        for word in range(self.packing.words):
            keep, flip, begin = (1 << WORD) - 1, 0, len(self.bits)
            for plane in range(word * WORD, (word + 1) * WORD):
                if plane in update:
                    literal, bit = wiring.literal(update[plane]), 1 << plane % WORD
                    keep &= ~bit
                    flip |= bit * (literal & 1)
                    if literal >> 1 != self.zeros:
                        self.bits.append((literal >> 1, plane % WORD))
            self.words.append([keep, flip, begin, len(self.bits)])
