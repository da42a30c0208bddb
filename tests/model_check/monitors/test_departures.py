"""Brokers that are told to stop: what they still lead as they go, and when nobody need have taken it over."""

from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import Story, begun, breaks

CLAIM = "who_stops_in_order_leads_nothing"
TOLD = "broker-sigterm (controlled shutdown)"
CLOCKS = 3000
"""Milliseconds after which no clock's being off explains anything."""


def nothing(_: Story) -> None:
    """Nothing happens."""


def handed_over(story: Story) -> None:
    """The controller gives /controller up, and another is elected."""
    story.delete(1, "/controller")
    story.elect(3, 2)


def departed(meanwhile: Callable[[Story], object] = nothing, before: Callable[[Story], object] = nothing) -> Story:
    """Broker 2, which leads, is told to stop, and goes."""
    story = begun()
    before(story)
    story.ms += CLOCKS
    story.act(TOLD, 2)
    meanwhile(story)
    story.end(2)
    story.act("broker-exited", 2)
    story.ms += CLOCKS
    return story


def test_who_goes_while_another_could_lead_is_told(tmp_path: Path) -> None:
    story = departed()
    place = f"zookeeper.jsonl:{len(story.transactions)}"
    text = f"{place}: broker 2 was told to stop, and went while [t,0] had leader 2, leader epoch 0, ISR [2, 3]"
    assert breaks(story.checked(tmp_path), CLAIM) == [f"{text}, and 3 could lead"]


def test_who_leads_nothing_any_more_may_go(tmp_path: Path) -> None:
    run = departed(lambda story: story.state(1, 3, 1, (3,))).checked(tmp_path)
    assert {one.property: one.verdict for one in run.findings}[CLAIM] is Verdict.HOLDS


@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [
        pytest.param(lambda story: story.state(2, 2, 0, (2,)), nothing, id="alone-in-sync"),
        pytest.param(nothing, lambda story: story.act("broker-kill-9", 1), id="controller-killed"),
        pytest.param(nothing, lambda story: story.act("broker-sigstop", 1), id="controller-paused"),
        pytest.param(nothing, handed_over, id="another-is-controller"),
        pytest.param(nothing, lambda story: story.act("broker-kill-9", 3), id="other-replica-killed"),
        pytest.param(nothing, lambda story: story.act(TOLD, 3), id="other-replica-told-to-stop"),
        pytest.param(nothing, lambda story: story.act("broker-kill-9", 2), id="killed-itself"),
        pytest.param(lambda story: story.delete(1, "/brokers/ids/1"), nothing, id="controller-not-registered"),
        pytest.param(nothing, lambda story: story.create(99, "/admin/delete_topics/t"), id="topic-doomed"),
        pytest.param(nothing, lambda story: story.move(3), id="topic-moved"),
    ],
)  # fmt: skip
def test_where_nobody_could_have_led_nothing_is_asked(
    before: Callable[[Story], object], meanwhile: Callable[[Story], object], tmp_path: Path
) -> None:
    run = departed(meanwhile, before).checked(tmp_path)
    assert CLAIM not in {one.property for one in run.findings}
