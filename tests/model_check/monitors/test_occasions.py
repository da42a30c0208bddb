"""How often that happened which a claim is there for, and that claims which hold without it are named."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpacked
from model_check.monitors.check import CLAIMS, check_history, read_history
from model_check.monitors.occasions import (
    BORN,
    DEPOSED,
    ELECTED,
    GOES,
    LEAVES,
    OCCASIONS,
    REPLACED,
    RETURNS,
    SHRINKS,
    Occasion,
)
from model_check.verdicts.results import Run
from tests.model_check.monitors import signature_stories
from tests.model_check.monitors.stories import Story, begun, deleted, failed_over, moved

EVERY = (DEPOSED, ELECTED, BORN, REPLACED, SHRINKS, LEAVES, GOES, RETURNS)


def told(run: Run) -> str:
    """What is told to have never happened."""
    return "\n".join(note for note in run.notes if note.startswith("it never happened that"))


def writes_as_a_zombie(story: Story) -> None:
    signature_stories.back(story)
    story.assign(11, 2, 3, 1)


def is_refused_as_a_zombie(story: Story) -> None:
    """Fenced off, as from 2.1.0 on."""
    signature_stories.back(story)
    story.refuse(11, -103)


def is_refused_as_a_leader(story: Story) -> None:
    """Which is an ISR of its own, for all that is known."""
    failed_over(story)
    story.refuse(2, -103)
    story.end(2)
    story.elect(3, 3)
    story.begin(12, 2)
    story.refuse(12, -103)


def tells_as_a_zombie(story: Story) -> None:
    failed_over(story)
    story.tell(3, 2, 0, (2, 3))


def comes_back(story: Story) -> None:
    story.end(3)
    signature_stories.returned(story, 3)


def another_leads(story: Story) -> None:
    story.state(1, 3, 1, (3, 2))


def shrinks(story: Story) -> None:
    story.state(2, 2, 0, (2,))


@pytest.mark.parametrize(
    ("tell", "occasions"),
    [
        (lambda _: None, {}),
        (failed_over, {ELECTED: 1}),
        (writes_as_a_zombie, {ELECTED: 1, DEPOSED: 1, RETURNS: 1}),
        (tells_as_a_zombie, {ELECTED: 1, DEPOSED: 1}),
        (is_refused_as_a_leader, {ELECTED: 2}),
        (is_refused_as_a_zombie, {ELECTED: 1, DEPOSED: 1, RETURNS: 1}),
        (comes_back, {RETURNS: 1}),
        (another_leads, {REPLACED: 1}),
        (shrinks, {SHRINKS: 1}),
        (moved, {REPLACED: 1, SHRINKS: 1, LEAVES: 1, GOES: 1}),
        (deleted, {SHRINKS: 1, GOES: 1}),
    ],
)
def test_each_counts_what_it_says(
    tell: Callable[[Story], None], occasions: dict[Occasion, int], tmp_path: Path
) -> None:
    story = begun()
    tell(story)
    story.rest()
    run = story.checked(tmp_path)
    history = read_history(tmp_path)
    assert {one: one.count(history) for one in EVERY} == dict.fromkeys(EVERY, 0) | {BORN: 1} | occasions
    for one in EVERY:
        assert (one.what in told(run)) == (one not in {BORN: 1, **occasions}) or all(
            finding.verdict != "HOLDS" for finding in run.findings if _occasion(finding.property) is one
        )


def _occasion(name: str) -> Occasion | None:
    return next((occasion for claim, occasion in OCCASIONS.items() if claim.name == name), None)


def test_a_real_run_has_as_many_returns_as_processes_were_started_again() -> None:
    """`actions.jsonl` tells of the starts, and at the end who still ran: one process had found its id taken."""
    with unpacked() as home:
        folder = home / "02-broker-kill-restart"
        acts = [json.loads(line) for line in (folder / "actions.jsonl").read_text().splitlines()]
        started = [one["broker"] for one in acts if one["action"] == "broker-start"]
        history, run = read_history(folder), check_history(folder)
    running = {one["broker"] for one in acts if one["action"] == "broker-kill-9 (end of recording)"}
    assert (len(started), set(started) - running) == (8, {3})
    assert RETURNS.count(history) == 8 - 3 - 1
    assert "a deposed controller acts, or tries to" in told(run)


def test_claims_that_have_an_occasion_are_claims() -> None:
    assert set(OCCASIONS) <= set(CLAIMS)
