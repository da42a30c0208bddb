"""One system under two revisions: which behaviours are newly possible, which no longer, and what became of the claims.

Each is a finding: of a rule, in one direction, with the shortest trace that ends in such a step; and of each claim that
broke or was mended. How large the system is, and what else differs, are notes. A story that a smaller system has shown
is not printed again; only its length is.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from model_check.explicit_state.memory import free_memory
from model_check.revisions.asking import SIDES, Answers, Pair, Tell
from model_check.revisions.steps import Difference, OneSided, Written, differences
from model_check.verdicts.difference import Outcome, changed_claims, size_change
from model_check.verdicts.rendering import steps_of
from model_check.verdicts.results import Counts, Event, Finding, Run, Step, Story
from model_check.verdicts.verdict import Verdict

ENGINE: Final = "both revisions"
GONE, NEW = KINDS = ("no longer possible", "newly possible")
"""What a step is that only one of the sides takes: that of the revision before, and of the one after."""
NO_OTHER: Final = "the same steps are possible as before"


@dataclass(frozen=True)
class System:
    """A system that both revisions have: `states` are as many as the manifests expect of both together."""

    scope: str
    variant: str
    deep: bool
    goals: bool
    states: int
    broken: frozenset[str]
    """The claims that the later revision's manifest expects to be broken."""

    @property
    def title(self) -> str:
        """The scope and the variant."""
        return f"{self.scope} {self.variant}"


@dataclass
class Teller:
    """The stories that were shown; each is shown once, of the smallest system that has it."""

    told: set[str] = field(default_factory=set)

    def is_new(self, name: str) -> bool:
        """Whether a story was not shown yet; from now on it was."""
        is_new = name not in self.told
        self.told.add(name)
        return is_new


def compared(pair: Pair, one: System, terms: Answers, teller: Teller, *, limit: int | None, tell: Tell) -> Run:
    """A system whose terms differ, explored under both revisions."""
    variables = sorted(name for name, _ in terms[0]["begins"].items() & terms[1]["begins"].items())
    steps = sorted(terms[0]["steps"].keys() & terms[1]["steps"].keys())
    how = {
        "ask": "explore", "scope": one.scope, "variant": one.variant, "limit": limit, "likely": one.states // 2,
        "memory": free_memory() * 2 // 5, "goals": one.goals, "variables": variables, "actions": steps,
    }  # fmt: skip
    with TemporaryDirectory(prefix="kcheck-diff-") as made:
        folders = [Path(made).resolve() / side for side in SIDES]
        for folder in folders:
            folder.mkdir()
        found = pair.ask_each([how | {"folder": str(folder)} for folder in folders], tell)
        rules = [[action["rule"] for action in side["actions"]] for side in found]
        apart = differences(Written(folders[0]), Written(folders[1]), rules)
    outcomes = _outcome(found[0]), _outcome(found[1])
    findings = [*_behaviours(pair, found, apart, teller), *_claims(pair, one, found, outcomes, teller)]
    reason = _open(found, limit, terms)
    broken = any(each.verdict is Verdict.VIOLATED and not each.expected for each in findings)
    verdict = Verdict.VIOLATED if broken else Verdict.INCOMPLETE if reason else Verdict.HOLDS
    after = found[1]
    counts = Counts(after["states"], after["transitions"], outcomes[1].depth, after["digest"], tuple(after["levels"]))
    notes = (*map(told_of, filter(is_behaviour, findings)), *_notes(terms, found, outcomes, apart))
    return Run(ENGINE, one.scope, one.variant, verdict, reason, counts, tuple(findings), notes=notes)


def _outcome(side: Mapping[str, Any]) -> Outcome:
    broken = {name: one["steps"] for name, one in side["claims"].items() if one["is"] == "broken"}
    return Outcome(side["states"], len(side["levels"]) - 1, broken)


def _open(found: Answers, limit: int | None, terms: Answers) -> str:
    """Why not everything was compared; empty if it was."""
    stopped = [f"{side} at {one['states']:,} states" for side, one in zip(SIDES, found, strict=True) if one["stopped"]]
    if not stopped:
        return ""
    why = f"the limit of {limit:,} states" if "limit" in {one["stopped"] for one in found} else "the memory"
    hidden = terms[0]["begins"] != terms[1]["begins"]
    so = "and what differs may be found in both beyond it" if hidden else "what is found is so, and there may be more"
    return f"not exhausted: {why} was reached, {', '.join(stopped)}; {so}"


# -------------------------------------------------------------------------------------------------------- behaviours


def _behaviours(pair: Pair, found: Answers, apart: tuple[Difference, Difference], teller: Teller) -> Iterator[Finding]:
    """A finding for each rule that has first differences, with the shortest story."""
    chosen = [[one for one in side.rules if one.first] for side in apart]
    new = [[teller.is_new(f"{kind}: {one.rule}") for one in some] for kind, some in zip(KINDS, chosen, strict=True)]
    wanted = [
        [[one.source, one.action] for one, is_new in zip(some, news, strict=True) if is_new]
        for some, news in zip(chosen, new, strict=True)
    ]
    told = pair.ask_each([{"ask": "stories", "steps": some, "claims": []} for some in wanted])
    for side in (1, 0):
        stories = iter(told[side]["steps"])
        for one, is_new in zip(chosen[side], new[side], strict=True):
            story = _story(next(stories)) if is_new else Story(_depth(found[side], one.source) + 1)
            yield _behaviour(KINDS[side], one, found[side]["actions"][one.action], story)


def _behaviour(kind: str, one: OneSided, action: Mapping[str, Any], story: Story) -> Finding:
    reason = f"{one.steps:,} steps, {one.first:,} of them from states that both reach"
    name = f"{kind}: {one.rule}"
    return Finding(name, kind, action["statement"], action["source"], Verdict.HOLDS, reason, story=story)


def is_behaviour(one: Finding) -> bool:
    """Whether a finding is of steps that only one revision takes."""
    return one.kind in KINDS


def told_of(one: Finding) -> str:
    """What such a finding says, in a line."""
    return f"{one.property}: {one.reason}" + (f"; the nearest after {steps_of(one.story)}" if one.story else "")


def _depth(side: Mapping[str, Any], state: int) -> int:
    """How many steps a state is away, by its number."""
    return bisect_right([*accumulate(side["levels"])], state)


def _story(told: Mapping[str, Any]) -> Story:
    steps = [
        Step(
            **{**one, "events": tuple(Event(**event) for event in one["events"])}
            | {name: tuple(one[name]) for name in ("logged", "changes")}
        )
        for one in told["steps"]
    ]
    return Story(told["length"], tuple(steps), told["initial"], None, tuple(told["partitions"]))


# ------------------------------------------------------------------------------------------------------------- claims


def _claims(
    pair: Pair, one: System, found: Answers, outcomes: tuple[Outcome, Outcome], teller: Teller
) -> Iterator[Finding]:
    """The claims that broke, or are new and broken, with their stories, and those that are broken no more."""
    before, after = (side["claims"] for side in found)
    broken = [name for name in outcomes[1].broken if name not in before or before[name]["is"] == "kept"]
    wanted = [name for name in broken if teller.is_new(f"broken: {name}")]
    told = pair.ask_each(
        [{"ask": "stories", "steps": [], "claims": names} for names in ([], wanted)]
    )[1]["claims"]  # fmt: skip
    for name in broken:
        story = _story(told[name]) if name in told else Story(outcomes[1].broken[name])
        expected = str(Verdict.VIOLATED) if name in one.broken else ""
        yield _claim(name, found[1], Verdict.VIOLATED, "newly broken", expected, story)
    for name, steps in outcomes[0].broken.items():
        if after.get(name, {}).get("is") == "kept":
            yield _claim(name, found[1], Verdict.HOLDS, f"no longer broken, before in {steps} steps")


def _claim(
    name: str, side: Mapping[str, Any], verdict: Verdict, reason: str, expected: str = "", story: Story | None = None
) -> Finding:
    statement, source = side["said"][name]
    return Finding(name, side["claims"][name]["kind"], statement, source, verdict, reason, expected, story)


# -------------------------------------------------------------------------------------------------------------- notes


def _notes(
    terms: Answers, found: Answers, outcomes: tuple[Outcome, Outcome], apart: tuple[Difference, Difference]
) -> Iterator[str]:
    """How large the system was and is, whose terms differ, what became of claims, and which steps only follow."""
    yield size_change(*outcomes)
    taken = [side["transitions"] for side in found]
    if taken[0] != taken[1]:
        yield f"transitions {taken[0]:,} -> {taken[1]:,}"
    for part in ("variables", "actions", "claims"):
        yield from changed_names(part, terms[0][part], terms[1][part])
    begins = [side["begins"] for side in terms]
    if other := [name for name in begins[0] if begins[1].get(name, begins[0][name]) != begins[0][name]]:
        told = ", ".join(f"{name} ({begins[0][name]} -> {begins[1][name]})" for name in other)
        yield f"left out of the comparison, since they begin otherwise: {told}"
    old, new = (side["claims"] for side in found)
    judged = {name for name, one in new.items() if _is_judged(one) and _is_judged(old.get(name, one))}
    yield from changed_claims(*outcomes, judged)
    for name in sorted(old.keys() & new.keys()):
        was, now = old[name]["is"], new[name]["is"]
        if {was, now} == {"shown", "not shown"}:
            yield f"{name}: {was} -> {now}"
    if not any(side.rules for side in apart):
        yield NO_OTHER + ("" if begins[0] == begins[1] else ", as far as the variables tell that both have")
    first = {one.rule for side in apart for one in side.rules if one.first}
    if follow := sorted({one.rule for side in apart for one in side.rules} - first):
        yield f"differ only behind such a step: {', '.join(follow)}"
    if any(side.states for side in apart):
        yield f"states that only one of them reaches: {apart[0].states:,} before, {apart[1].states:,} after"


def _is_judged(one: Mapping[str, Any]) -> bool:
    return one["is"] in ("kept", "broken")


def changed_names(part: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """What came, went, and differs of the variables, the actions or the claims of a system, a line each."""
    came, went, both = after.keys() - before.keys(), before.keys() - after.keys(), before.keys() & after.keys()
    for what, names in (
        ("new", came), ("gone", went), ("with other terms", {one for one in both if before[one] != after[one]})
    ):  # fmt: skip
        if names:
            yield f"{part} {what}: {', '.join(sorted(names))}"


def are_alike(terms: Answers, parts: Collection[str] = ("variables", "actions", "claims", "steps", "begins")) -> bool:
    """Whether a system has the same terms under both revisions."""
    return all(terms[0][part] == terms[1][part] for part in parts)
