"""What a step writes to a log: in its order, but for what a hash orders, or what may be missing."""

from dataclasses import replace
from typing import Any

import pytest

from model_check.judging.writing import Writing, as_written
from model_check.recordings.seen import ControllerSaid
from model_check.stepping.said_lines import Expected
from spec.formats.kafka_types import V0101, V0102, V082, V090, KafkaVersion, TopicPartition
from spec.logs.controller_log.elections import PreferredReplicaLeads
from spec.logs.controller_log.failover import BecomingController, EpochIncremented, Resigned, SessionExpired
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.reassignment import ReassignmentRequested
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import LeaderElectionStarted
from tests.leaderships import led

T = [TopicPartition("t", p) for p in range(3)]
BEGAN, EXPIRED, FOUND = BecomingController(1), SessionExpired(1), NotificationsFound(1)
LED = [PreferredReplicaLeads(1, partition, 1) for partition in T]


def said(line: Line, *details: type[Line]) -> ControllerSaid:
    return ControllerSaid(place="", time=0, text="", controller=1, incarnation=1, line=line, details=frozenset(details))


def lines(*found: Line) -> list[ControllerSaid]:
    return [said(one) for one in found]


def expected(line: Line, group: int = 0, *, perhaps: bool = False, **fields: Any) -> Expected:
    """A line of that class; of its fields these are known."""
    return Expected(type(line), lambda: fields, group, perhaps)


def leads(p: int, *, perhaps: bool = False) -> Expected:
    return expected(LED[p], 1, perhaps=perhaps, partition=T[p])


def test_lines_come_in_the_order_of_the_step_and_those_behind_are_not_its_own() -> None:
    step = Writing([expected(BEGAN), expected(EXPIRED)])
    assert step.taken(lines(BEGAN, EXPIRED, BEGAN)) == 2
    assert step.taken(lines(EXPIRED, BEGAN)) is None
    assert step.taken(lines(BEGAN, BEGAN)) is None
    assert Writing([]).taken(lines(BEGAN)) == 0


def test_a_line_whose_field_differs_is_another() -> None:
    step = Writing([expected(EpochIncremented(1, 3), epoch=3)])
    assert step.taken(lines(EpochIncremented(1, 3))) == 1
    assert step.taken(lines(EpochIncremented(1, 4))) is None


def test_the_lines_of_a_group_come_in_any_order_but_before_what_follows() -> None:
    step = Writing([leads(0), leads(1), expected(BEGAN)])
    for order in ([0, 1], [1, 0]):
        assert step.taken(lines(*(LED[p] for p in order), BEGAN)) == 3
    assert step.taken(lines(LED[0], BEGAN, LED[1])) is None
    assert step.taken(lines(LED[0], LED[0], LED[1], BEGAN)) is None


def test_what_is_there_perhaps_comes_anywhere_or_not_at_all() -> None:
    step = Writing([expected(BEGAN), expected(EXPIRED), expected(LED[2], perhaps=True)])
    for order in ([LED[2], BEGAN, EXPIRED], [BEGAN, LED[2], EXPIRED], [BEGAN, EXPIRED, LED[2]]):
        assert step.taken(lines(*order)) == 3
    assert step.taken(lines(BEGAN, EXPIRED)) == 2
    assert step.taken(lines(BEGAN, LED[2], LED[2], EXPIRED)) is None


def test_where_a_log_ends_the_rest_may_be_missing() -> None:
    step = Writing([expected(BEGAN), expected(EXPIRED)])
    assert step.taken(lines(BEGAN)) == 1
    assert step.taken([]) == 0


def test_a_line_of_debug_is_missed_where_its_process_writes_such_lines() -> None:
    """A callback of ISR changes begins with one; another line comes next."""
    step = Writing([expected(FOUND)])
    other = ReassignmentRequested(controller=1, data="")
    assert step.taken([said(FOUND, NotificationsFound)]) == 1
    assert step.taken([said(other, ReassignmentRequested)]) == 0
    assert step.taken([said(other, NotificationsFound)]) is None


def test_a_line_of_state_change_log_is_never_off() -> None:
    """Its lines are of TRACE; a cluster that does not write that has no such log."""
    started = LeaderElectionStarted(1, 1, T[0])
    assert Writing([expected(started)]).taken(lines(BEGAN)) is None


@pytest.mark.parametrize(
    ("step", "found", "is_cut_short"),
    [
        ([BEGAN], [], True),
        ([BEGAN], [BEGAN], False),
        ([FOUND], [], False),  # of DEBUG
        ([FOUND, BEGAN], [FOUND], True),
        ([Resigned(1)], [], False),  # that is not read at the end of a log
        ([Resigned(1), BEGAN], [Resigned(1)], True),
    ],
)
def test_a_step_is_cut_short_if_a_line_that_must_be_there_is_not(
    step: list[Line], found: list[Line], is_cut_short: bool
) -> None:
    assert Writing([expected(one) for one in step]).is_cut_short(lines(*found)) == is_cut_short


def test_results_that_an_exception_may_have_stopped_are_not_missed() -> None:
    assert Writing([expected(BEGAN), leads(0)]).is_cut_short(lines(BEGAN))
    assert not Writing([expected(BEGAN), leads(0)]).is_cut_short(lines(BEGAN, LED[0]))
    assert not Writing([expected(BEGAN), leads(0, perhaps=True)]).is_cut_short(lines(BEGAN))


def test_a_step_must_say_what_it_does_not_say_perhaps() -> None:
    assert Writing([expected(BEGAN)]).must_say
    assert not Writing([leads(0, perhaps=True)]).must_say


TOLD = [UpdateMetadataSending(1, 1, led(1, 0, (1, 2), 1), (b,), T[0], version=V0101) for b in (1, 2, 3)]
"""The lines of an UpdateMetadata, one a broker."""


def told(**fields: Any) -> Expected:
    return expected(TOLD[0], 1, partition=T[0], **fields)


@pytest.mark.parametrize("release", [V082, V0101])
def test_up_to_0_10_1_each_broker_that_is_told_has_a_line_of_its_own(release: KafkaVersion) -> None:
    """In the order of a hash. Who is told next begins the next step, however soon that comes."""
    step = Writing(list(as_written([told(brokers=frozenset({1, 3}))], release, (1, 2, 3))))
    assert step.taken(lines(TOLD[2], TOLD[0], TOLD[1], TOLD[0])) == 2
    assert step.taken(lines(TOLD[0], TOLD[1], TOLD[2])) is None
    assert step.taken(lines(TOLD[0], TOLD[0])) is None


def test_who_is_told_may_be_open() -> None:
    step = Writing(list(as_written([replace(told(), perhaps=True)], V0101, (1, 2))))
    assert [step.taken(lines(*TOLD[:n])) for n in range(4)] == [0, 1, 2, 2]


def test_since_0_10_2_one_line_names_all() -> None:
    one = told(brokers=frozenset({1, 3}))
    assert list(as_written([one], V0102, (1, 2, 3))) == [one]


def test_a_release_does_not_write_what_it_has_no_line_for() -> None:
    steps = [expected(EXPIRED), expected(Resigned(1))]
    assert Writing(list(as_written(steps, V082, (1,)))).taken(lines(EXPIRED, BEGAN)) == 1
    assert Writing(list(as_written(steps, V090, (1,)))).taken(lines(EXPIRED, BEGAN)) is None
    assert Writing(list(as_written(steps, V090, (1,)))).taken(lines(EXPIRED, Resigned(1))) == 2
