"""What Kafka would write to its logs at a step of a trace: the rule is run once more, on numbers.

A line that may be missing, or that the model does not know all of, is left out.
"""

from collections.abc import Callable, Mapping
from functools import cache

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.said_lines import Names
from spec.language.rules import Action, TransitionSystem
from spec.logs.controller_request_lines import ControllerLine
from spec.model import Model

Logged = Callable[[Action, Mapping[str, int]], tuple[str, ...]]
"""The lines of an action taken in a state, each with its log."""


def logs_of(system: TransitionSystem) -> Logged:
    """What is logged of the steps of a system; of one that has no rules, or no bounds, nothing is said."""
    if system.model is None or system.model.proving:
        return lambda _action, _before: ()
    rules, names = opened(system.model)

    def logged(action: Action, before: Mapping[str, int]) -> tuple[str, ...]:
        found = rules.step(rules.layout.unflatten(before), action.rule, action.parameters)
        certain = [one for one in names.expected(found.said) if not one.perhaps] if found else []
        lines = (one.line(action.parameters.get("c", 0)) for one in certain)
        logs = "controller.log", "state-change.log"
        return tuple(f"{logs[isinstance(line, ControllerLine)]}: {line}" for line in lines if line is not None)

    return logged


@cache
def opened(model: Model) -> tuple[OpenSystem, Names]:
    """The rules of a model to be run on numbers, and its names."""
    return OpenSystem(model, draws_budgets=True), names_of(model)


def names_of(model: Model) -> Names:
    """The names that a scope's brokers, topics and partitions have."""
    partitions = model.scope.partition_names
    topics = tuple(dict.fromkeys(one.topic for one in partitions))
    return Names(model.brokers.ids, topics, partitions, model.brokers)
