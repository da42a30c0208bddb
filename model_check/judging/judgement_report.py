"""A judgement as a run of a result document: what was explained, what broke, and where an explanation ends."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from model_check.judging.broken_claims import Broken
from model_check.judging.judge import Judgement, Outcome
from model_check.judging.not_asked import OF_KINDS
from model_check.judging.positions import BreakOff, Position
from model_check.reasons.names import Names
from model_check.recordings.recording import Observed, Recording
from model_check.stepping.open_system import OpenSystem
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Event, Explained, Finding, Run, Seen, Step, Story
from model_check.verdicts.verdict import NONE_ASKED, NOT_ALL_ASKED, Verdict
from spec.errors import BadInput
from spec.expectations import known_to_break
from spec.language.rules import GOALS, Claim
from spec.protocol.brokers.processes import crash

LAST_STEPS = 8
"""How many steps of an explanation are printed where it ends too early."""
SHOWN = 300
"""Characters of an observation that are shown."""
A_QUEUE = re.compile(r"^(connections\[\d+\]\[\d+\]).*")
"""A change in a controller's queue for a broker, printed as one: every field of each request in it moves up."""

NOT_EXPLAINED: Final = "not explained"
"""What the reason of a run begins with if the search came to its end, and no behaviour was found."""
ELSE: Final = "what else was possible"
"""What a note begins with that says which steps have that, and which do not."""
POSSIBLY: Final = "possibly: not in every explanation found, or only if nobody had died before"


def run_of(
    recording: Recording, judged: Judgement, variant: str, *, chosen: Collection[str] = (), whole_story: bool = False
) -> Run:
    """What became of a recording; one that breaks what nothing is known to break is a violation.

    So is one that contradicts itself; one that is not explained is INCOMPLETE.

    The story is the whole explanation if asked for, or its last steps where it ends too early. Where properties are
    chosen, only they are reported, also those that hold; one that this recording cannot be asked leaves it INCOMPLETE,
    BadInput says why one can be asked of no recording.
    """
    known = known_to_break(variant, recording.release)
    if chosen:
        judged = _about(judged, chosen, recording.folder.name)
    broken = {one.claim.name for one in (*judged.broken, *judged.possibly)}
    findings = (
        *(_finding(judged, one, known, "in every explanation found") for one in judged.broken),
        *(_finding(judged, one, known, POSSIBLY) for one in judged.possibly),
        *(_kept(judged, one) for one in judged.asked if one.name in set(chosen) - broken),
    )
    is_open = judged.outcome is Outcome.UNEXPLAINED and not recording.contradictions
    is_told = whole_story or judged.outcome is not Outcome.EXPLAINED
    verdict, reason = _verdict(recording, judged, known), f"{NOT_EXPLAINED}: " * is_open + judged.reason
    if chosen and judged.not_asked and verdict is Verdict.HOLDS:
        verdict, reason = Verdict.INCOMPLETE, NOT_ALL_ASKED if findings else NONE_ASKED
    return Run(
        engine="judge",
        scope=recording.folder.name,
        variant=variant,
        verdict=verdict,
        reason=reason,
        findings=findings,
        not_asked=judged.not_asked,
        notes=tuple(_notes(recording, judged)),
        story=_story(recording, judged, 0 if whole_story else LAST_STEPS) if is_told else None,
        explained=_explained(judged),
    )


def in_brief(run: Run) -> Run:
    """A run with the whole story, as `run_of` tells it where nobody asks for that: but its last steps, or nothing.

    What else was possible at its steps is left out, too.
    """
    run = replace(run, choices=(), notes=tuple(one for one in run.notes if not one.startswith(ELSE)))
    if run.story is None or run.explained is None:
        return run
    last = replace(run.story, steps=run.story.steps[-LAST_STEPS:], initial={})
    is_open = run.explained.explained < run.explained.observations
    return replace(run, story=last if is_open else None)


def _explained(judged: Judgement) -> Explained:
    """How far, as figures."""
    return Explained(
        observations=judged.observations,
        explained=judged.explained,
        positions=judged.positions,
        best_at=judged.best_after,
        next=tuple(map(_seen, judged.stuck.next if judged.stuck else ())),
        instead=judged.stuck.enabled if judged.stuck else (),
    )


def _seen(one: Observed) -> Seen:
    return Seen(type(one).__name__, one.place, one.time, str(one).removeprefix(f"{one.place}: ")[:SHOWN])


def _about(judged: Judgement, chosen: Collection[str], name: str) -> Judgement:
    """The judgement, as far as it is about some properties."""
    unasked = [one for one in judged.not_asked if one.partition(" (")[0] in chosen]
    for one in unasked:
        claim, _, reason = one.removesuffix(")").partition(" (")
        if reason in OF_KINDS.values():
            raise BadInput(f"{claim} is not asked of {name}: {reason}")
    return replace(
        judged,
        not_asked=tuple(unasked),
        broken=tuple(one for one in judged.broken if one.claim.name in chosen),
        possibly=tuple(one for one in judged.possibly if one.claim.name in chosen),
    )


def _kept(judged: Judgement, claim: Claim) -> Finding:
    """A claim that no explanation breaks; only an end at which all rests shows whether a goal is reached."""
    is_whole = judged.outcome is Outcome.EXPLAINED
    verdict, reason = (Verdict.HOLDS, "") if is_whole else (Verdict.INCOMPLETE, "not broken by what was explained")
    if is_whole and claim.kind in GOALS:
        reason = "unless the recording ends before the cluster has come to rest"
    return Finding(claim.name, claim.kind, claim.statement, claim.source, verdict, reason)


def _verdict(recording: Recording, judged: Judgement, known: frozenset[str]) -> Verdict:
    """What is not explained is no violation: the specification, or the search, may not know what Kafka does there."""
    if recording.contradictions or any(one.claim.name not in known for one in judged.broken):
        return Verdict.VIOLATED
    return Verdict.HOLDS if judged.outcome is Outcome.EXPLAINED else Verdict.INCOMPLETE


def _finding(judged: Judgement, broken: Broken, known: frozenset[str], how_surely: str) -> Finding:
    claim = broken.claim
    place = next((str(one.place) for one in _observations(judged.path[: broken.step + 1])), "the start")
    times = "once" if broken.count == 1 else f"{broken.count} times"
    reason = f"{times}, first at step {broken.step}, about {place}; {how_surely}"
    expected = Verdict.VIOLATED if claim.name in known else Verdict.HOLDS
    return Finding(claim.name, claim.kind, claim.statement, claim.source, Verdict.VIOLATED, reason, str(expected))


def _observations(path: Sequence[Position]) -> Iterator[Observed]:
    """What the steps of a path explain, the latest first."""
    for position in reversed(path):
        if position.step is not None:
            yield from reversed(position.step.observations)


def _notes(recording: Recording, judged: Judgement) -> Iterator[str]:
    """How much was explained, by how much; which logs break off; where that is not all, what came next, or could."""
    passed_over = sum(recording.passed_over.values())
    yield (
        f"{judged.explained:,} of {judged.observations:,} observations explained by {len(judged.path) - 1:,} steps; "
        f"{passed_over:,} lines passed over"
    )
    yield f"{judged.positions:,} positions searched, {counted(judged.explanations, 'explanation')} found"
    if not judged.explanations:
        best = f"{judged.explained:,} of {judged.observations:,} observations"
        yield f"best: {best}, reached after {judged.best_after:,} of {judged.positions:,} positions"
    yield from (
        f"{place} is torn: a process was killed there, and what it wrote last is cut off"
        for place in recording.torn_ends
    )
    yield from map(_broken_off, _break_offs(judged))
    if judged.stuck is not None:
        yield "What was observed next, in each sequence:"
        yield from (f"  {str(one)[:SHOWN]}" for one in judged.stuck.next)
        yield "What could have happened instead:"
        yield from (f"  {one}" for one in judged.stuck.enabled or ("nothing",))


def _break_offs(judged: Judgement) -> Iterator[BreakOff]:
    """Where a controller's log lacks what it must have, the first such place of each life.

    What a process that dies does not write any more does not count; where the judge is stuck, that may be what it is
    stuck on.
    """
    told = set[tuple[int, int, str]]()
    for number, position in enumerate(judged.path):
        for one in position.breaks_off:
            is_why = judged.stuck is not None and one.goes_on and not _dies(one.controller, judged.path[number:])
            if one.key not in told and (one.lives_on or is_why):
                told.add(one.key)
                yield one


def _dies(c: int, path: Sequence[Position]) -> bool:
    """Whether a controller's process dies on a path."""
    steps = (position.step for position in path)
    return any(step is not None and step.rule == crash.name and step.parameters["b"] == c for step in steps)


def _broken_off(one: BreakOff) -> str:
    how = "goes on, so this controller took no more steps" if one.goes_on else "ends by then, as if copied early"
    return f"controller {one.controller} did not write what Kafka writes after {one.after}; that log {how}"


def _story(recording: Recording, judged: Judgement, last: int) -> Story:
    """The steps of the path, or the last few of them."""
    taken = [(number, one) for number, one in enumerate(judged.path) if one.step is not None]
    breaks = {number: tuple(one.claim.name for one in judged.broken if one.step == number) for number, _ in taken}
    steps = tuple(replace(_step(judged.system, number, one), breaks=breaks[number]) for number, one in taken[-last:])
    partitions = Names(None, recording.cluster.partitions).every_partition()
    return Story(len(taken), steps, _initial(judged.system, taken[-last:][0][1]) if steps else {}, None, partitions)


DRAWN = ("session", "epoch", "active")
"""Variables of processes and controllers from which a time line is drawn."""


def _initial(system: OpenSystem, first: Position) -> dict[str, str]:
    """The values of the state before a step, by variable; of the thousands that are initial only what draws a line."""
    assert first.before is not None  # noqa: S101 - a step was taken
    state, names = system.layout.flatten(first.before.state), system.layout.names
    return {
        name: cell.kind.show(state[name])
        for name, path, cell in names
        if state[name] != cell.initial or path[-1] in DRAWN
    }


def _places(observations: Sequence[Observed]) -> Iterator[str]:
    """Where observations are, consecutive lines of a file as a range."""
    places = [(file, int(line)) for file, _, line in (one.place.rpartition(":") for one in observations)]
    for (file, _), run in groupby(enumerate(places), lambda at: (at[1][0], at[1][1] - at[0])):
        lines = [line for _, (_, line) in run]
        yield f"{file}:{lines[0]}" if len(lines) == 1 else f"{file}:{lines[0]}-{lines[-1]}"


def _step(system: OpenSystem, number: int, position: Position) -> Step:
    step, before = position.step, position.before
    assert step is not None and before is not None  # noqa: S101, PT018 - only such positions are told
    rule = system.rules.get(step.rule)
    changes = system.layout.changes(before.state, position.state)
    recorded = tuple(f"recorded at {places}" for places in _places(step.observations))
    return Step(
        number=number,
        action=step.action,
        actor=rule.actor.format(**step.parameters) if rule else "environment",
        statement=" ".join(rule.statement.split("\n\n")[0].split()) if rule else "What changes nothing in the model.",
        source=rule.source if rule else "",
        events=tuple(Event(one.role, one.kind, one.shown) for one in step.seen),
        logged=recorded,
        budget=(rule.budget if rule else None) or "",
        changes=tuple(dict.fromkeys(A_QUEUE.sub(r"\1: changes", one) for one in changes)),
    )
