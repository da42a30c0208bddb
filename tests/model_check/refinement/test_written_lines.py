"""What the reference writes to its logs is held against what the rules say: each line, once, with what they know."""

from functools import cache
from typing import Any

import pytest

from model_check.refinement.lockstep import Sides
from model_check.refinement.simulate import first_disagreement
from reference.controller.controller import KafkaController
from reference.journal import Report
from spec.formats.kafka_types import KafkaVersion
from spec.logs.controller_log.broker_changes import BrokerDifference
from spec.logs.controller_log.failover import ReadyToServe
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.log_lines import Line
from spec.scopes import scope
from spec.variants import AS_CODED, as_of
from tests.model_check.side_by_side import SideBySide

STEPS: dict[type[Line], tuple[str, tuple[str, ...]]] = {
    BrokerDifference: ("bounce", ("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")),
    ReadyToServe: (
        "left_overs",
        (
            "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)",
            "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)",
        ),
    ),
    NotificationsFound: (
        "notifications", ("shrink_isr(b=1, p=0, r=2)", "report_isr_changes(b=1)", "on_isr_change(c=1)"),
    ),
}  # fmt: skip
"""The scope and steps of which the last writes the line."""
NOBODY = "[BrokerChangeListener on Controller 1]: Newly added brokers: , deleted brokers: , all live brokers: 1"


@cache
def sides(name: str) -> Sides:
    return Sides(scope(name))


def reasons(kind: type[Line]) -> tuple[str, ...]:
    name, steps = STEPS[kind]
    found = first_disagreement(sides(name), steps)
    if found is None:
        return ()
    assert found.steps == steps
    return found.reasons


def reporting(patch: pytest.MonkeyPatch, kind: type[Line], times: int = 1, **values: Any) -> None:
    """The reference writes a line so many times, with these values."""
    report = KafkaController.report

    def report_instead(self: KafkaController, line: Any, **own: Any) -> None:
        for _ in range(times if line is kind else 1):
            report(self, line, **own | (values if line is kind else {}))

    patch.setattr(KafkaController, "report", report_instead)


@pytest.mark.parametrize("kind", STEPS)
def test_a_line_is_written_once(kind: type[Line], monkeypatch: pytest.MonkeyPatch) -> None:
    assert reasons(kind) == ()
    with monkeypatch.context() as patch:
        reporting(patch, kind, 0)
        assert reasons(kind)[0].startswith(f"the specification writes: {kind.__name__}")
    with monkeypatch.context() as patch:
        reporting(patch, kind, 2)
        assert any(one.startswith("the reference writes: [") for one in reasons(kind))


def test_before_0_10_the_brokers_that_live_are_told_less_those_that_have_gone_or_are_going() -> None:
    """`liveBrokerIds` of what the second read has found; since 0.10.0.0 whoever was read lives, also who is leaving."""
    for switches, live in ((AS_CODED, "1,2"), (as_of(KafkaVersion.V090), "1")):
        both = SideBySide(scope("shutdown"), switches, shutdowns=1, expiries=1)
        both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
        both.do("expire_session(b=2, lost=0)", "renew_session(b=2)", "on_new_session(c=2)", "elect_read(c=2)")
        both.do("register_broker(b=2)")
        both.do("on_broker_change(c=1)")
        if switches:
            both.do("read_broker_data(c=1)")
        lines = [one.line for one in both.cluster.entries if isinstance(one, Report)]
        (told,) = (str(line) for line in lines if isinstance(line, BrokerDifference))
        assert told.endswith(f"Newly added brokers: , deleted brokers: , all live brokers: {live}")


def test_a_line_has_what_the_rule_knows_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reporting(monkeypatch, BrokerDifference, dead=())
    says, writes = reasons(BrokerDifference)
    assert says.startswith("the specification writes: BrokerDifference {'new': frozenset(), 'dead': frozenset({2})")
    assert writes == f"the reference writes: {NOBODY}"
