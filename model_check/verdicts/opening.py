"""What a story begins with, in two lines: the controller, the leaders, and what may still go wrong."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from model_check.verdicts.results import Story

FIELDS: Final = (("leader", "leader"), ("leader_epoch", "leader epoch"), ("isr", "ISR"))
NOBODY: Final = {"-1", "0"}


def opening(story: Story) -> tuple[str, ...]:
    """The lines of an initial state of the protocol; none of another system's, or of one that nobody kept."""
    initial = story.initial
    if "zookeeper.controller" not in initial:
        return ()
    budgets = {name.removeprefix("budget."): left for name, left in initial.items() if name.startswith("budget.")}
    wrong = ", ".join(f"{name.replace('_', ' ')} ({left})" for name, left in budgets.items() if left != "0")
    return ("; ".join(_cluster(story)), *([f"may still happen: {wrong}"] if wrong else []))


def _cluster(story: Story) -> Iterator[str]:
    initial = story.initial
    controller, epoch = initial["zookeeper.controller"], initial.get("zookeeper.epoch", "0")
    who = "no controller" if controller in NOBODY else f"controller {controller}"
    yield f"{who}, epoch {epoch}"
    if "zookeeper.registered" in initial:
        yield f"brokers {initial['zookeeper.registered']}"
    for name in initial:
        if found := re.fullmatch(r"zookeeper\.state\[(\d+)\]\.leader", name):
            yield f"{story.partition(found[1])} {_leadership(initial, found[1])}"


def _leadership(initial: Mapping[str, str], number: str) -> str:
    """What the state znode of a partition has, and its assigned replicas where they may change."""
    state = f"zookeeper.state[{number}]"
    if initial.get(f"{state}.version", "0") == "-1":
        told = "no leader yet"
    else:
        told = ", ".join(f"{word} {initial[f'{state}.{key}']}" for key, word in FIELDS if f"{state}.{key}" in initial)
    assigned = initial.get(f"zookeeper.assigned[{number}]")
    return told + (f", AR {assigned}" if assigned else "")
