"""What a rule says in a state, kept by what it read there: where all of that is the same, it says the same.

A rule reads few of a state's variables, and most edges of a graph differ in others. So what was found once is found
again by a few questions: the first variable that the rule read, and, by each value of it, the one that it read next. A
rule has nothing else to go by, and asks in the same order as long as the answers are the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import Cell, Draft, Layout, PlainState
from model_check.terms.python_code import Raw
from spec.language.terms import Value
from spec.model import Model

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Question(Generic[Found]):
    """Which variable is read next, and what comes of each value of it."""

    place: int
    answers: "dict[Any, _Question[Found] | Found]" = field(default_factory=dict)


class ByWhatIsRead(Generic[Found]):
    """Results by name, and by the values of the variables that were read for them; `kept` counts them."""

    def __init__(self) -> None:
        self._first: dict[Any, _Question[Found] | Found] = {}
        self.kept = 0

    def get(self, name: str, raw: Raw) -> Found | None:
        """What was kept in a state where all that counts is the same; None if there is nothing yet."""
        found = self._first.get(name)
        while isinstance(found, _Question):
            found = found.answers.get(raw[found.place])
        return found

    def keep(self, name: str, raw: Raw, places: Iterable[int], result: Found) -> Found:
        """Keep what was found in a state by reading these variables, in this order."""
        answers: dict[Any, _Question[Found] | Found] = self._first
        answer: object = name
        for place in places:
            question = answers.setdefault(answer, _Question(place))
            if not isinstance(question, _Question) or question.place != place:
                raise RuntimeError(f"{name} does not ask the same where it was answered the same")
            answers, answer = question.answers, raw[place]
        answers[answer] = result
        self.kept += 1
        return result


# ------------------------------------------------------------------------------------------------- what a rule has read


class Noted(Draft):
    """A draft that notes which variables of the state before are read, in this order, once each."""

    __slots__ = ("_noted",)
    _noted: dict[object, None]

    def __init__(self, layout: Layout, node: PlainState, parent: "Noted | None" = None, key: object = None) -> None:
        super().__init__(layout, node, parent, key)
        noted = {} if parent is None else parent._noted  # noqa: SLF001 - the class's own
        object.__setattr__(self, "_noted", noted)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if type(found) is Value:
            self._noted[self._parts[key]] = None
        return found

    def __getattr__(self, key: str) -> Any:
        return self[key]

    def _put(self, key: Any, cell: Cell, raw: int) -> None:
        """What was assigned is not asked of the state before, whether or not that had the same."""
        super()._put(key, cell, raw)
        if cell.kept:
            self.__dict__[key] = cell.value(raw)

    def _replace(self, node: PlainState) -> None:
        """What a record became is asked for again, whether or not it was the same."""
        super()._replace(node)
        self._ask_again()

    def _ask_again(self) -> None:
        children = self._below()
        self.__dict__.clear()
        self.__dict__.update(children)
        for _, child in children:
            child._ask_again()  # type: ignore[attr-defined]  # noqa: SLF001 - what is below is of the same class

    def become(self, other: Draft) -> None:
        """What is taken over may be read here."""
        self._note(other._parts)  # noqa: SLF001 - the class's own
        super().become(other)

    def is_blank(self) -> bool:
        """Every variable below is asked."""
        self._note(self._parts)
        return super().is_blank()

    def _note(self, parts: Mapping[Any, Cell | Layout]) -> None:
        for part in parts.values():
            if isinstance(part, Cell):
                self._noted[part] = None
            else:
                self._note(part.parts)


class Noting(OpenSystem):
    """The rules of a model, of which is noted what they read. Queues have all their places, whatever is in them."""

    def model_for(self, parameters: Mapping[str, int], *_: PlainState) -> Model:
        """The model of the whole scope, or a rule would ask otherwise of a longer queue."""
        return super().model_for(parameters)

    def _draft(self, state: PlainState) -> Noted:
        self._last_draft[:] = [Noted(self.layout, state)]
        return self._last_draft[0]

    @cached_property
    def _last_draft(self) -> list[Noted]:  # type: ignore[override]  # each is new here, and a noted one
        return []

    def read(self) -> Iterator[object]:
        """The cells of the variables that the last step has read until now, in this order, once each."""
        yield from self._last_draft[0]._noted  # noqa: SLF001 - which a rule would take for a variable
