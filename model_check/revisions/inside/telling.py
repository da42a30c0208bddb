"""The traces of one revision's search as data: each step with what an observer saw, in the form of today's results."""

from collections.abc import Mapping
from typing import Any

from model_check.terms.straight_line import Valuation
from model_check.traces.trace import Trace, tell
from spec.language.rules import Action, TransitionSystem


def trace_to_step(system: TransitionSystem, found: Any, source: int, number: int) -> Trace:
    """A shortest trace to a state, and behind it the step of one of the actions, by its place in the system."""
    way, action = found.retracer.trace(source), system.actions[number]
    before = dict(way.steps[-1][1])
    value = Valuation(before)
    after = before | {name: value(term) for name, term in action.updates.items()}
    return Trace((*way.steps, (action.name, after)))


def told(system: TransitionSystem, trace: Trace) -> dict[str, Any]:
    """A trace as the fields of a story."""
    actions = {one.name: one for one in system.actions}
    steps = [
        {
            "number": one.number,
            "action": one.action,
            "actor": one.actor,
            "statement": one.statement,
            "source": one.source,
            "events": _events(actions[one.action], before),
            "logged": list(getattr(one, "logged", ())),
            "changes": list(one.changes),
            "budget": actions[one.action].budget or "",
        }
        for one, (_, before) in zip(tell(system, trace), trace.steps, strict=False)
    ]
    initial = trace.steps[0][1]
    shown = {one.name: one.show(initial[one.name]) for one in system.variables if one.name in initial}
    return {"length": len(trace), "steps": steps, "initial": shown, "partitions": _partitions(system)}


def _partitions(system: TransitionSystem) -> list[str]:
    """What the partitions are called, by number; nothing where a revision has no names for them."""
    names = getattr(getattr(system.model, "scope", None), "partition_names", ())
    return [f"[{one.topic},{one.partition}]" for one in names]


def _events(action: Action, before: Mapping[str, int]) -> list[dict[str, Any]]:
    value = Valuation(dict(before))
    return [
        {
            "who": event.role,
            "what": event.kind,
            "fields": {name: one.kind.show(value(one.term)) for name, one in event.fields.items()},
        }
        for event in action.events
        if value(event.condition)
    ]


def claims_of(system: TransitionSystem, found: Any) -> dict[str, dict[str, Any]]:
    """What became of each claim: its kind, whether it is broken, in how many steps; and `open` where nobody knows."""
    return {one.name: {"kind": one.kind, **_became(one, found)} for one in system.properties}


def _became(one: Any, found: Any) -> dict[str, Any]:
    if one.kind == "sometimes":
        seen = found.witnessed.get(one.name)
        return {"is": "shown" if seen is not None else "not shown", "steps": len(seen) if seen is not None else 0}
    if one.kind in ("recoverable", "eventually"):
        goal = found.goals.get(one.name)
        if goal is None:
            return {"is": "not asked", "steps": 0}
        kinds = {"VIOLATED": "broken", "HOLDS": "kept"}
        return {"is": kinds.get(goal.verdict, "open"), "steps": len(goal.trace) if goal.trace is not None else 0}
    if one.name in found.violated:
        return {"is": "broken", "steps": len(found.violated[one.name])}
    return {"is": "kept" if found.exhausted else "open", "steps": 0}


def trace_of_claim(found: Any, name: str) -> Trace:
    """The trace that breaks a claim."""
    trace: Trace = found.violated[name] if name in found.violated else found.goals[name].trace
    return trace
