"""A small state graph as part of a result: what one looks at where a table of counts says too little."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StateGraph:
    """States by number, in the order of their discovery, and the steps between them.

    `levels[d]` counts the states first reached by d steps; each step is the numbers of its source, of its action among
    `actions`, and of its target.
    """

    levels: tuple[int, ...]
    actions: tuple[str, ...]
    steps: tuple[tuple[int, ...], ...]
