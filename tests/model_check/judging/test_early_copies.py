"""A log of a controller may end early, as one that was copied before the others."""

from collections.abc import Iterator
from typing import Any

import pytest

from model_check.judging.controller_step import Expected
from model_check.judging.plain_rules import Seen
from model_check.judging.reported import Reporting
from model_check.recordings.recorded_processes import ControllerSaid
from spec.kafka_types import TopicPartition
from spec.logs.controller_log.failover import BecomingController, Resigned
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.preferred_election import PreferredReplicaLeads
from spec.logs.log_lines import Line

PARTITION = TopicPartition("t", 0)
LEADS: Expected = (PreferredReplicaLeads, {"partition": PARTITION, "leader": 1})
BEGAN, LED = BecomingController(1), PreferredReplicaLeads(1, PARTITION, 1)


class Step(Reporting):
    """A step that must write these lines, and then in any order the results of an election."""

    def __init__(self, *expected: type[Line], results: tuple[Expected, ...] = (), fails: bool = False) -> None:
        nothing: Any = None
        seen = (Seen("controller 1", "fail preferred election", {}),) if fails else ()
        super().__init__(nothing, nothing, "", {}, {}, {}, seen)
        self.expected = expected
        self.results = results

    def _expected(self) -> Iterator[Expected]:
        return ((kind, {}) for kind in self.expected)


@pytest.mark.parametrize(
    ("step", "lines", "is_cut_short"),
    [
        (Step(BecomingController), [], True),
        (Step(BecomingController), [BEGAN], False),
        (Step(NotificationsFound), [], False),  # of DEBUG
        (Step(NotificationsFound, BecomingController), [NotificationsFound(1)], True),
        (Step(Resigned), [], False),  # that is not read at the end of a log
        (Step(Resigned, BecomingController), [Resigned(1)], True),
        (Step(BecomingController, results=(LEADS,)), [BEGAN], True),
        (Step(BecomingController, results=(LEADS,)), [BEGAN, LED], False),
        (Step(BecomingController, results=(LEADS,), fails=True), [BEGAN], False),
    ],
)
def test_a_step_is_cut_short_if_a_line_that_must_be_there_is_not(
    step: Step, lines: list[Line], is_cut_short: bool
) -> None:
    said = [ControllerSaid(place="", time=0, text="", controller=1, incarnation=1, line=line) for line in lines]
    assert step.is_cut_short(said) == is_cut_short
