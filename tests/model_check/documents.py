"""Result documents: one by hand with everything in it, and a strategy that makes any."""

from hypothesis import strategies as st

from model_check.verdicts.possibilities import Choice, Choices, Possibilities, Standing
from model_check.verdicts.results import (
    Because,
    Comparison,
    Counts,
    Document,
    Event,
    Explained,
    Finding,
    Run,
    Seen,
    Step,
    Story,
)
from model_check.verdicts.state_graphs import StateGraph
from model_check.verdicts.verdict import Verdict
from tests.strategies import characters

STEP = Step(
    1, "turn(w=1)", "wheel 1", "A wheel shows one more than before.", "by hand", (Event("wheel 1", "turned"),), (),
    ("a: 0 -> 1",),
)  # fmt: skip
SILENT = Step(2, "rest(w=1)", "wheel 1", "The wheel rests.", "by hand")


def finding(name: str, verdict: Verdict, *, kind: str = "always", length: int | None = None) -> Finding:
    """A finding, with a story of so many steps if a length is given."""
    steps = tuple(Step(one, "turn(w=1)", "wheel 1", "It turns.", "by hand") for one in range(1, (length or 0) + 1))
    story = None if length is None else Story(length, steps)
    return Finding(name, kind, f"What {name} says.", "by hand", verdict, story=story)


def run(*findings: Finding, verdict: Verdict = Verdict.HOLDS, comparisons: tuple[Comparison, ...] = ()) -> Run:
    """An exhausted run of 125 states."""
    counts = Counts(125, 300, 12, "7d-1", (1, 3, 121))
    return Run("explorer", "tiny", "AS_CODED", verdict, counts=counts, findings=findings, comparisons=comparisons)


texts = st.text(characters, max_size=8)
counts = st.integers(0, 10**12)
verdicts = st.sampled_from(Verdict)
names = st.lists(texts, max_size=3).map(tuple)
shown = st.dictionaries(texts, texts, max_size=2)
events = st.lists(st.builds(Event, texts, texts, shown), max_size=2).map(tuple)
steps = st.builds(Step, counts, texts, texts, texts, texts, events, names, names, texts, texts, names, names)
reasons = st.builds(Because, texts, st.lists(texts, max_size=2).map(tuple))
numbers = st.lists(st.integers(0, 3), max_size=2).map(tuple)
standings = st.lists(st.builds(Standing, texts, texts, numbers, numbers), max_size=2).map(tuple)
possibilities = st.builds(Possibilities, st.integers(0, 2), st.integers(0, 3), shown, names, standings)
stories = st.builds(
    Story, counts, st.lists(steps, max_size=2).map(tuple), shown, st.none() | reasons, names, st.none() | possibilities
)
findings = st.builds(Finding, texts, texts, texts, texts, verdicts, texts, texts, st.none() | stories)
comparisons = st.builds(Comparison, texts, texts, texts, verdicts, texts)
sizes = st.builds(Counts, counts, counts, counts, texts, st.lists(counts, max_size=3).map(tuple))
seen = st.lists(st.builds(Seen, texts, texts, counts, texts), max_size=2).map(tuple)
steps_there = st.lists(
    st.builds(Choice, texts, texts, texts, texts, texts, names, counts, st.booleans()), max_size=2
).map(tuple)  # fmt: skip
graphs = st.builds(StateGraph, st.just((1, 2)), st.just(("turn", "rest")), st.just(((0, 0, 1), (0, 1, 2), (2, 0, 1))))
runs = st.builds(
    Run,
    engine=texts,
    scope=texts,
    variant=texts,
    verdict=verdicts,
    reason=texts,
    counts=st.none() | sizes,
    findings=st.lists(findings, max_size=2).map(tuple),
    comparisons=st.lists(comparisons, max_size=2).map(tuple),
    fired=st.none() | st.dictionaries(texts, counts, max_size=2),
    bounds_hit=st.none() | st.dictionaries(texts, counts, max_size=2),
    occurrences=st.none() | st.dictionaries(texts, counts, max_size=2),
    first_depths=st.none() | st.dictionaries(texts, counts, max_size=2),
    never_fired=names,
    idle_instances=names,
    not_asked=names,
    notes=names,
    seconds=st.none() | st.dictionaries(texts, st.floats(0, 1e6), max_size=2),
    story=st.none() | stories,
    graph=st.none() | graphs,
    choices=st.lists(st.builds(Choices, counts, texts, steps_there, steps_there), max_size=2).map(tuple),
    refused=st.booleans(),
    explained=st.none() | st.builds(Explained, counts, counts, counts, st.none() | counts, seen, names),
    faults=names,
)
documents = st.builds(Document, texts, verdicts, st.lists(runs, max_size=2).map(tuple))
