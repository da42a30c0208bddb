"""Terms as functions of plain numbers, so that a test can ask millions of questions of them."""

from collections.abc import Callable, Mapping, Sequence

from model_check.terms.python_code import step_function
from model_check.terms.straight_line import Program
from spec.language.terms import TRUE, Kind, Value

Function = Callable[..., tuple[int, ...]]
"""From raw values, in the order of the variables, to raw values, in the order of the results."""


def function_of(kinds: Mapping[str, Kind], build: Callable[..., Sequence[Value]]) -> Function:
    """Compile what `build` makes of variables of these kinds."""
    results = build(**{name: kind.variable(name) for name, kind in kinds.items()})
    updates = {f"result {place}": result.term for place, result in enumerate(results)}
    step = step_function(Program(), (*kinds, *updates), TRUE, updates)
    nothing = (0,) * len(updates)

    def function(*raws: int) -> tuple[int, ...]:
        answer = step(raws + nothing)
        assert answer is not None
        return answer[len(raws) :]

    return function
