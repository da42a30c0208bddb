"""What a crash matrix has: a cell for each place of a handler and each fault, and all of them together.

`crash_matrix.py` makes them; a reader or printer of them needs no engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from model_check.traces.trace import Trace
from spec.language.rules import TransitionSystem


@dataclass(frozen=True)
class Cell:
    """What comes of a fault at a place: traces of broken claims and to where goals are out of reach, by name."""

    fault: str
    place: str
    states: int
    violated: Mapping[str, Trace] = field(default_factory=dict)
    stuck: Mapping[str, Trace] = field(default_factory=dict)
    open: frozenset[str] = frozenset()

    @property
    def traces(self) -> Mapping[str, Trace]:
        """Every trace, by the name of what it breaks or does not come to."""
        return {**self.violated, **self.stuck}

    @property
    def outcome(self) -> str:
        """The cell in words, as the manifest spells it; a fault that could not come there is no recovery."""
        if not self.states:
            return "never tried"
        said = [*(f"violates {name}" for name in self.violated), *(f"stuck {name}" for name in self.stuck)]
        said += [f"open {name}" for name in sorted(self.open)]
        return ", ".join(said) or "recovers"


@dataclass(frozen=True)
class Matrix:
    """A handler's cells, by place, in the order of a run without faults, and fault; if interrupted, not of all."""

    scope: str
    system: TransitionSystem
    places: tuple[str, ...]
    cells: tuple[Cell, ...]
    interrupted: bool = False

    def cell(self, place: str, fault: str) -> Cell:
        """One of the cells; KeyError if it was not looked at."""
        return {(one.place, one.fault): one for one in self.cells}[place, fault]
