"""Where topics are not deleted, who has resigned tells of them as before (D71, D8): both sides, led step by step.

What is expected is what Kafka 0.9.0.1 to 0.10.1.1 do: `TopicDeletionManager.shutdown` empties nothing where
`isDeleteTopicEnabled` is false, and only a failover makes a new manager.
"""

from dataclasses import replace

from reference.memory.scheduler import choices
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.scopes import scope
from spec.state.enumerations import Callback
from spec.variants import Switch
from tests.model_check.side_by_side import SideBySide

LONE = scope("resigned_notification")
BOUNDS = replace(
    LONE, deletes_topics=False, assigned=((1, 2), (1, 2)), topic_of=(0, 1), parts=LONE.parts | {"deletion", "metadata"},
    callback_capacity=16, connection_capacity=12,
)  # fmt: skip
"""Two topics, of which the second is asked to be deleted."""

OLDER = frozenset({Switch.RUN_WHEN_NOT_ACTIVE, Switch.LEAVE_REFUSED_DELETIONS})
DOOMED = [f"controllers[{c}].doomed[1]" for c in (1, 2)]


def drain(both: SideBySide, of: str) -> None:
    """Whatever this broker can do, but for skipping a callback."""
    while left := [one.name for one in choices(both.cluster) if of in one.name and not one.name.startswith("skip")]:
        both.do(left[0])


def skip_to(both: SideBySide, name: str, c: int) -> None:
    """Take the callback with this name; those before it are skipped."""
    skips = [f"skip_callback(c={c}, callback={number})" for number in range(len(Callback))]
    while not both.can(name):
        both.do(next(one for one in skips if both.can(one)))
    both.do(name)


def resigned() -> SideBySide:
    """Controller 2 found the request in its failover; it resigns, and hears of a notification of the first topic."""
    both = SideBySide(BOUNDS, OLDER, deletions=1, expiries=2)
    both.do("request_deletion(t=1)", "expire_session(b=1, lost=0)", "on_controller_change(c=2)")
    drain(both, "(c=2")
    assert [both[one] for one in DOOMED] == ["no", "yes"]
    both.do("renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)", "register_broker(b=1)")
    drain(both, "(c=2")
    both.do("expand_isr(b=2, p=0, r=1)", "report_isr_changes(b=2)", "expire_session(b=2, lost=1)")
    skip_to(both, "on_controller_change(c=1)", 1)
    both.do("elect_read(c=1)", "elect_create(c=1)", "renew_session(b=2)", "on_new_session(c=2)", "elect_read(c=2)")
    both.do("register_broker(b=2)")
    skip_to(both, "on_isr_change(c=2)", 2)
    return both


def test_who_has_resigned_tells_that_what_stays_is_removed() -> None:
    both = resigned()
    assert [both[one] for one in DOOMED] == ["no", "yes"]
    step = both.spec.step(both.state, "read_notified", {"c": 2, "p": 0})
    assert step is not None
    lines = [one.fields for one in step.said if one.line is UpdateMetadataSending]
    removed = {one["partition"] for one in lines if one.get("leadership", {}).get("leader") == LEADER_DURING_DELETE}
    assert removed == {1}
    assert both.do("read_notified(c=2, p=0)") == ["fail to send"]
