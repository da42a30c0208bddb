"""Packed states: a whole state as a few 64-bit words.

The engines keep millions of states, so a state is not a dictionary but a row of `words` unsigned 64-bit integers.
Every variable has its own bits, and they never straddle two words: reading one is a shift and a mask. Variables keep
the order of their declaration as far as the words allow, since those declared together change together. A state has
exactly one packed form, unused bits are zero, so equal states are equal rows and nothing else needs comparing.

Left out on purpose: compression of any kind (COLLAPSE, hash compaction). A stored state is complete.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spec.language.rules import TransitionSystem, Variable

WORD = 64

Words = npt.NDArray[np.uint64]
"""One packed state (shape `[words]`) or a batch of them (shape `[n, words]`)."""


def signed(value: int, width: int = WORD) -> int:
    """The lowest bits of a number, as LLVM writes a literal of so many: the highest one tells the sign."""
    bits = value & (1 << width) - 1
    return bits - (bits >> width - 1 << width)


@dataclass(frozen=True)
class Place:
    """Where a variable lives: `width` bits of word number `word`, from bit `shift` up."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The variable's bits within its word."""
        return ((1 << self.width) - 1) << self.shift


class Packing:
    """The layout of a system's states.

    `words` is the length of a packed state; `places` has a `Place` for every variable by name. ValueError names a
    variable that has no fixed width (mathematical integers are for proofs) or is wider than a word.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.variables = system.variables
        self.places: dict[str, Place] = {}
        used: list[int] = []
        for variable in system.variables:
            width = _width(variable)
            word = next((number for number, bits in enumerate(used) if bits + width <= WORD), len(used))
            if word == len(used):
                used.append(0)
            self.places[variable.name] = Place(word, used[word], width)
            used[word] += width
        self.words = max(1, len(used))
        self.bits = sum(used)

    def pack(self, state: Mapping[str, int]) -> Words:
        """A state by name as `uint64[words]`; KeyError if it lacks a variable, ValueError if a value does not fit."""
        words = [0] * self.words
        for name, place in self.places.items():
            raw = int(state[name])
            if not 0 <= raw < 1 << place.width:
                raise ValueError(f"{name} cannot be {raw}: it has {place.width} bits")
            words[place.word] |= raw << place.shift
        return np.array(words, dtype=np.uint64)

    def unpack(self, words: Iterable[int | np.uint64]) -> dict[str, int]:
        """A packed state by name, as raw values in the order of the system."""
        row = [int(word) for word in words]
        return {name: (row[place.word] & place.mask) >> place.shift for name, place in self.places.items()}

    def planes(self, name: str) -> range:
        """Where a variable's bits are in a block of states that is turned on its side: `64 * word + bit`."""
        place = self.places[name]
        first = place.word * WORD + place.shift
        return range(first, first + place.width)

    @property
    def initial(self) -> Words:
        """The initial state, packed."""
        return self.pack({variable.name: variable.initial for variable in self.variables})


def _width(variable: Variable) -> int:
    kind = variable.kind
    if kind.unbounded or not 1 <= kind.width <= WORD:
        size = "no bound" if kind.unbounded else f"{kind.width} bits"
        raise ValueError(f"{variable.name} has {size}: only variables of 1 to {WORD} bits can be enumerated")
    return kind.width
