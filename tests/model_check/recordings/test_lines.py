"""Lines of an UpdateMetadata, one for each broker, become one for all; batches stay apart."""

import pytest

from model_check.recordings.lines import AT_ONCE, for_all_brokers
from model_check.recordings.processes import ControllerSaid
from spec.formats.kafka_types import V0101, V0102, V082, KafkaVersion, TopicPartition
from spec.logs.controller_request_lines import LeaderAndIsrSending, UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.logs.logged_values import Role
from tests.leaderships import led

LED = led(1, 0, (1, 2), 1)


def said(line: Line, incarnation: int = 1, time: int = 1) -> ControllerSaid:
    return ControllerSaid(place="f:1", time=time, text=str(line), controller=1, incarnation=incarnation, line=line)


def told(
    broker: int,
    partition: int,
    *,
    epoch: int = 1,
    version: KafkaVersion = V0101,
    incarnation: int = 1,
    number: int = 7,
    time: int = 1,
) -> ControllerSaid:
    correlation_id = number if version is V082 else None
    name = TopicPartition("t", partition)
    line = UpdateMetadataSending(1, epoch, LED, (broker,), name, correlation_id, version=version)
    return said(line, incarnation, time)


def shown(*lines: ControllerSaid) -> list[str]:
    """What comes out of them, as 0.10.2 prints it."""
    return [str(getattr(one, "line")).rpartition("to brokers ")[2] for one in for_all_brokers(lines)]  # noqa: B009


@pytest.mark.parametrize("version", [V082, V0101])
def test_a_batch_is_told_broker_by_broker(version: KafkaVersion) -> None:
    lines = [told(broker, partition, version=version) for broker in (2, 1, 3) for partition in (0, 1)]
    assert shown(*lines) == ["Set(2, 1, 3) for partition t-0", "Set(2, 1, 3) for partition t-1"]


def test_who_is_told_again_after_another_is_told_by_the_next_batch() -> None:
    """The same of one partition, something else of another."""
    again = [told(2, 0), told(1, 0), told(2, 0), told(1, 0)]
    assert shown(*again) == ["Set(2, 1) for partition t-0"] * 2
    another = [told(2, 0), told(1, 0), told(2, 1), told(1, 1)]
    assert shown(*another) == ["Set(2, 1) for partition t-0", "Set(2, 1) for partition t-1"]


def test_who_alone_is_told_the_same_twice_is_told_by_two_batches() -> None:
    assert shown(told(2, 0), told(2, 0)) == ["Set(2) for partition t-0"] * 2


def test_a_batch_ends_with_its_term_and_with_its_process() -> None:
    assert shown(told(1, 0), told(2, 0, epoch=2)) == ["Set(1) for partition t-0", "Set(2) for partition t-0"]
    assert shown(told(1, 0), told(2, 0, incarnation=2)) == ["Set(1) for partition t-0", "Set(2) for partition t-0"]


def test_a_batch_has_one_number_and_is_printed_at_once() -> None:
    """A failover tells who lives by then, and a broker change the next one: two batches, though no line is between."""
    apart = ["Set(2) for partition t-0", "Set(1) for partition t-0"]
    assert shown(told(2, 0, version=V082), told(1, 0, version=V082, number=8)) == apart
    assert shown(told(2, 0), told(1, 0, time=1 + AT_ONCE)) == ["Set(2, 1) for partition t-0"]
    assert shown(told(2, 0), told(1, 0, time=2 + AT_ONCE)) == apart


def test_other_lines_end_a_batch_and_stay_as_they_are() -> None:
    other = said(LeaderAndIsrSending(1, 1, Role.LEADER, LED, 1, TopicPartition("t", 0)))
    lines = [told(1, 0), other, told(2, 0)]
    found = list(for_all_brokers(lines))
    assert found[1] is other
    assert len(found) == 3


def test_lines_of_0_10_2_stay_as_they_are() -> None:
    line = said(UpdateMetadataSending(1, 1, LED, (1, 2), TopicPartition("t", 0), version=V0102))
    assert list(for_all_brokers([line, line])) == [line, line]
