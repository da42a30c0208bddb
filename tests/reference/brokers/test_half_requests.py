"""What a broker keeps of a LeaderAndIsr that an exception ends half way (D64)."""

from dataclasses import replace

import pytest

from reference.brokers.broker import Partition
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import PartitionsResponse
from tests.leaderships import led
from tests.reference.brokers.test_broker import AR, TP, broker, leader_and_isr, state, texts

OTHER = TopicPartition("t", 1)
TO_LEAD, TO_FOLLOW = state(1, 0), replace(state(2, 0), partition=1)


@pytest.mark.parametrize("reached", [frozenset[TopicPartition](), frozenset({TP}), frozenset({TP, OTHER})])
def test_what_is_reached_is_stored_and_all_are_answered_with_an_error(reached: frozenset[TopicPartition]) -> None:
    one, journal = broker(1)
    answer = one.handle(leader_and_isr(2, TO_LEAD, TO_FOLLOW), 5, reaches=reached)
    assert isinstance(answer, PartitionsResponse)
    assert {part.error_code for part in answer.partitions} == {ErrorCode.UNKNOWN}
    assert one.controller_epoch == 2, "which is adopted before"
    epochs = {tp: one.partition(tp).leadership.leader_epoch for tp in (TP, OTHER)}
    assert epochs == {tp: 0 if tp in reached else -1 for tp in (TP, OTHER)}
    assert one.partition(OTHER).is_idle == (OTHER in reached), "it fetches from nobody"
    assert one.logs == reached
    assert [text for text in texts(journal) if "Error on broker 1" in text] != []
    again = one.handle(leader_and_isr(2, TO_LEAD, TO_FOLLOW), 6)
    assert isinstance(again, PartitionsResponse)
    stale = [ErrorCode.STALE_CONTROLLER_EPOCH if tp in reached else ErrorCode.NONE for tp in (TP, OTHER)]
    assert [part.error_code for part in again.partitions] == stale, "who is told the same again obeys"
    assert one.partition(OTHER).is_idle == (OTHER in reached)


def test_a_follower_that_is_to_lead_and_is_not_reached_has_stopped_to_fetch() -> None:
    """The fetchers of all of them are stopped first."""
    one, _ = broker(1, Partition(led(2, 0, (), 1, 3), AR))
    one.handle(leader_and_isr(1, state(1, 1)), 5, reaches=frozenset())
    assert one.partition(TP) == Partition(led(2, 0, (), 1, 3), AR, is_idle=True)


def test_no_line_says_that_a_fetcher_was_stopped_or_a_transition_completed() -> None:
    one, journal = broker(1)
    one.handle(leader_and_isr(1, TO_LEAD, TO_FOLLOW), 5, reaches=frozenset())
    told = [text.partition(" controller 9")[0].split("Broker 1 ")[-1] for text in texts(journal)]
    assert all("received" in text or "handling" in text or "Error on" in text for text in told)
