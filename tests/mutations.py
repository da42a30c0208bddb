"""Random damage to JSON and to lines, for what must refuse it and nothing else."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, -(2**63), 10**400, 0.5, "", "x", "1", "orders-0", "o-99", [], {},
    [[]], [None], [1, 1], ["1"], [-1], {"x": None}, {"": []}, "\ud800", "\x00", "[1]", "-0", "a" * 300,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, from the outside in."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def mutated(value: Any, random: Random, times: int = 2) -> Any:
    """A JSON value in which some places are lost, doubled, or have become something else."""
    changed = deepcopy(value)
    for _ in range(random.randint(1, times)):
        path = random.choice([*places(changed)])
        if not path:
            changed = random.choice([*JUNK, changed])
            continue
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        act = random.randrange(4)
        if act == 0:
            del holder[path[-1]]
        elif act == 1 and isinstance(holder, list):
            holder.insert(path[-1], deepcopy(holder[path[-1]]))
        elif act == 2 and isinstance(holder, dict):
            holder[f"{path[-1]}x"] = holder.pop(path[-1])
        else:
            holder[path[-1]] = deepcopy(random.choice(JUNK))
    return changed


def torn(text: str, random: Random) -> str:
    """A text that lacks a part, has one twice, or has other characters in it."""
    start, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
    junk = random.choice(["", "\x00", '"', "{", "]", "1e999", "NaN", "é", "\ud83d", text[start:end] * 2, "[" * 2000])
    return text[:start] + junk + text[end:]


def lines(value: Any, random: Random) -> Iterator[str]:
    """A JSON value as lines that are damaged inside, or as a whole."""
    while True:
        text = json.dumps(mutated(value, random))
        yield torn(text, random) if random.random() < 0.4 else text
