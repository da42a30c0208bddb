"""Why what was observed next is no step where an explanation ends: which conjunct keeps each action that shows it.

The search runs rules on numbers. Here the few actions that may be what was observed are made as terms, in a model just
as wide as the queues of that state, so that their guards can be taken apart and put in words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from model_check.judging.explanations import candidates
from model_check.judging.judge import Judgement
from model_check.judging.judgement_report import ELSE
from model_check.judging.positions import Position
from model_check.reasons.choices import Seen
from model_check.reasons.names import Names
from model_check.recordings.recording import Recording
from model_check.stepping.enabled import Candidate, ControllerSteps
from model_check.stepping.open_system import ADDITION, RECREATION
from model_check.stepping.plain_state import Layout, PlainState
from model_check.terms.straight_line import Valuation
from model_check.verdicts.possibilities import Choice, Choices
from model_check.verdicts.results import Run
from spec.errors import BadInput, UnknownName
from spec.language.broker_lists import FEW
from spec.language.rules import Action, Rule, TransitionSystem, instantiate, leaves
from spec.language.views import Place
from spec.state.cluster import shape
from spec.system import instances
from spec.system import rules as every_rule

ELSEWHERE: Final = (RECREATION, ADDITION)


def choices_at_the_end(recording: Recording, judged: Judgement, why_not: str = "") -> Choices:
    """What could have happened where the explanation ends, and why not what was observed, or what is asked for.

    BadInput for a cluster of more brokers than have words, UnknownName for a rule that there is not.
    """
    if len(recording.cluster.broker_ids) > FEW:
        raise BadInput(f"{recording.folder.name}: reasons are given for at most {FEW} brokers")
    rules = judged.system.rules
    if why_not and why_not not in rules:
        raise UnknownName("rule", why_not, rules, listed_by="kcheck show actions")
    seen = _At(recording, judged, judged.path[-1])
    asked = [(why_not, one) for one in instances(rules[why_not], seen.model)] if why_not else [*seen.observed()]
    told = map(seen.told, asked)
    return Choices(
        step=len(judged.path),
        taken="",
        possible=seen.possible(),
        refused=tuple({one.action: one for one in told if one.because}.values()),
    )


MOST_BREAKS: Final = 20
"""For so many steps that break a claim the report says what else could have happened."""


def with_choices(run: Run, recording: Recording, judged: Judgement) -> Run:
    """A run that tells what else could have happened: in place of steps that break a claim, and where it ends early.

    Why the rest could not is said of the end alone, where it is of what was observed; elsewhere the rest has no end.
    A note says what is left out.
    """
    breaking = [step.number for step in run.story.steps if step.breaks] if run.story else []
    if len(recording.cluster.broker_ids) > FEW:
        return replace(run, notes=(*run.notes, f"{ELSE} is said for at most {FEW} brokers"))
    told = [_in_place_of(number, recording, judged) for number in breaking[:MOST_BREAKS]]
    if judged.stuck is not None:
        told.append(choices_at_the_end(recording, judged))
    return replace(run, choices=tuple(told), notes=(*run.notes, *_left_out(breaking)))


def _left_out(breaking: Sequence[int]) -> Iterator[str]:
    if breaking:
        many, each = f"the first {MOST_BREAKS} of {len(breaking)} steps that break", "each step that breaks"
        yield (
            f"{ELSE} is said for {many if len(breaking) > MOST_BREAKS else each} a claim"
            "; why the rest was not, only of where an explanation ends too early"
        )


def _in_place_of(number: int, recording: Recording, judged: Judgement) -> Choices:
    """What could have happened in place of a step of the explanation."""
    position = judged.path[number]
    step, before = position.step, position.before
    assert step is not None and before is not None  # noqa: S101, PT018 - only such positions are told
    seen = _At(recording, judged, before)
    taken = seen.told((step.rule, step.parameters)) if step.rule in judged.system.rules else None
    possible = {one.action: one for one in [*filter(None, [taken]), *seen.possible()]}
    return Choices(number, taken.action if taken else "", tuple(possible.values()))


class _At:
    """A state on the way of an explanation, and a model for it."""

    def __init__(self, recording: Recording, judged: Judgement, position: Position) -> None:
        self.judged, self.names = judged, recording.cluster.partitions
        self.state: PlainState = position.state
        self.model = judged.system.model_for({}, self.state)
        self.steps = ControllerSteps(judged.system)

    def possible(self) -> tuple[Choice, ...]:
        """What can be done, faults aside."""
        able = (one for one in self.steps.progress(self.state) if self.judged.system.step(self.state, *one) is not None)
        return tuple(map(self.told, able))

    def observed(self) -> Iterator[Candidate]:
        """The actions that may be what was observed next."""
        for one in self.judged.stuck.next if self.judged.stuck else ():
            yield from candidates(self.judged.system.model, self.steps, one, self.state)

    def told(self, one: Candidate) -> Choice:
        """An action in words, and why it is not possible if it is not."""
        rule, parameters = one
        model = self.judged.system.model_for(parameters, self.state)
        place = Place(shape(model))
        action = self._made(rule, parameters, place)
        system = TransitionSystem("open", tuple(leaves(place.shape)), (), (), model)
        values = Valuation(Layout(place.shape).flatten(self.state))
        seen = Seen(system, values, Names(model, self.names))
        return seen.possible(action) if values(action.guard) else seen.refused(action)

    def _made(self, rule: str, parameters: Mapping[str, int], place: Place) -> Action:
        given = {name: number for name, number in parameters.items() if name not in ELSEWHERE}
        model = self.judged.system.model_for(parameters, self.state)
        return instantiate(_as_written()[rule], place, model, given)[0]


@cache
def _as_written() -> Mapping[str, Rule]:
    return {one.name: one for one in every_rule()}
