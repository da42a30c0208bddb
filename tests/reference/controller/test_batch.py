"""The request batch: what is sent to whom, in which order, and what an unsent batch does to the next call."""

from dataclasses import replace

import pytest

from reference.controller.batch import add_leader_and_isr, add_update_metadata, send_batch
from reference.controller.context import ControllerContext, Registration
from reference.controller.controller import Configuration, KafkaController
from reference.journal import Entry, Report, RequestSent, StateChange
from reference.procedures import DirtyBatch, LeftOverChannel
from reference.requests.connections import ControllerChannelManager
from reference.requests.texts import text_of
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import ApiKey, LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from spec.formats.requests import RequestHeader, decode_request, encode_request
from spec.formats.znodes import BrokerPayload
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.variants import AS_CODED, FENCED, Switches
from tests.leaderships import led

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def leadership(leader: int, epoch: int = 0) -> LeaderIsrAndControllerEpoch:
    return led(leader, epoch, (1, 2), 3, epoch)


def controller(*channels: int) -> tuple[KafkaController, list[Entry]]:
    """A controller of two registered brokers that has two partitions cached, with these channels."""
    journal: list[Entry] = []
    one = KafkaController(Configuration(1), journal.append)
    live = {b: Registration(BrokerPayload(4, f"h{b}", 9092, timestamp=0), b) for b in (1, 2)}
    manager = ControllerChannelManager.started(channels, one.metrics)
    one.context = ControllerContext(
        3, 2, live, frozenset("t"), {A: (1, 2), B: (2, 1)}, {A: leadership(1), B: leadership(2)}, manager
    )
    return one, journal


def kinds(one: KafkaController, broker: int) -> list[type]:
    return [type(queued.request) for queued in one.queue_to(broker)]


def test_the_order_is_leader_and_isr_then_metadata_then_stop_replica() -> None:
    one, _ = controller(1, 2)
    one.batch.add_stop_replica((2,), A, delete=False)
    add_leader_and_isr(one, one.batch, (2,), A, leadership(1))
    send_batch(one, one.batch)
    assert kinds(one, 2) == [LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest]
    assert kinds(one, 1) == [UpdateMetadataRequest]
    assert len({queued.batch for queued in one.queue_to(2)}) == 1


def test_the_last_word_about_a_partition_wins() -> None:
    one, _ = controller(1, 2)
    add_leader_and_isr(one, one.batch, (1, 2), A, leadership(1))
    add_leader_and_isr(one, one.batch, (1,), A, leadership(1, 1))
    send_batch(one, one.batch)
    said = {b: one.queue_to(b)[0].request for b in (1, 2)}
    told = {b: r.partition_states[0].leadership for b, r in said.items() if isinstance(r, LeaderAndIsrRequest)}
    epochs = {b: known.leader_epoch for b, known in told.items()}
    assert epochs == {1: 1, 2: 0}


def test_metadata_comes_from_the_cache_and_goes_to_every_registered_broker() -> None:
    one, _ = controller(1, 2)
    add_leader_and_isr(one, one.batch, (2,), A, leadership(1, 9))
    send_batch(one, one.batch)
    (told,) = [queued.request for queued in one.queue_to(1)]
    assert isinstance(told, UpdateMetadataRequest)
    assert [state.leadership.leader_epoch for state in told.partition_states] == [0]
    assert [live.id for live in told.live_brokers] == [1, 2]


@pytest.mark.parametrize("switches", [AS_CODED, FENCED])
def test_what_is_told_of_all_partitions_says_so_where_that_is_fixed(switches: Switches) -> None:
    """S10. The next batch is of what it names."""
    one, _ = controller(1, 2)
    one.configuration = replace(one.configuration, switches=switches)
    for named in (None, (A,)):
        add_update_metadata(one, one.batch, named)
        assert one.batch.fork().is_whole is one.batch.is_whole
        send_batch(one, one.batch)
    assert [queued.whole for queued in one.queue_to(1)] == [switches is FENCED, False]


def test_no_broker_gets_what_is_for_nobody() -> None:
    one, _ = controller(1, 2)
    add_leader_and_isr(one, one.batch, (-1,), A, leadership(-1))
    send_batch(one, one.batch)
    assert kinds(one, 1) == kinds(one, 2) == [UpdateMetadataRequest]


def test_a_request_without_a_channel_is_dropped() -> None:
    one, journal = controller(1)
    add_leader_and_isr(one, one.batch, (2,), A, leadership(1))
    send_batch(one, one.batch)
    sent = [(entry.broker, entry.queued) for entry in journal if isinstance(entry, RequestSent)]
    assert sent == [(2, False), (1, True), (2, False)]
    dropped = [
        text_of(entry.request.request) for entry in journal if isinstance(entry, RequestSent) and not entry.queued
    ]
    assert [str(entry.line) for entry in journal if isinstance(entry, Report)] == [
        f"[Channel manager on controller 1]: Not sending request {text} to broker 2, since it is offline."
        for text in dropped
    ]


@pytest.mark.parametrize("left", ["leader_and_isr", "stop_replica", "update_metadata"])
def test_a_batch_that_was_not_sent_fails_the_next_call(left: str) -> None:
    one, _ = controller(1, 2)
    one.batch.new_batch()
    match left:
        case "leader_and_isr":
            add_leader_and_isr(one, one.batch, (1,), A, leadership(1))
        case "stop_replica":
            one.batch.add_stop_replica((1,), A, delete=True)
        case _:
            add_update_metadata(one, one.batch, ())
    with pytest.raises(DirtyBatch, match="not sent"):
        one.batch.new_batch()
    send_batch(one, one.batch)
    one.batch.new_batch()


def test_the_requests_are_kafkas_bytes_and_the_lines_kafkas_lines() -> None:
    one, journal = controller(1, 2)
    add_leader_and_isr(one, one.batch, (1, 2), A, leadership(1))
    add_leader_and_isr(one, one.batch, (1, 2), B, leadership(2))
    send_batch(one, one.batch)
    for queued, (key, version) in zip(
        one.queue_to(1), ((ApiKey.LEADER_AND_ISR, 0), (ApiKey.UPDATE_METADATA, 3)), strict=True
    ):
        header = RequestHeader(key, version, 1, "1")
        assert decode_request(encode_request(header, queued.request)) == (header, queued.request)
    lines = [str(entry.line) for entry in journal if isinstance(entry, StateChange)]
    assert [str(STATE_CHANGE_LOG.parse(text)) for text in lines] == lines
    assert len(lines) == 2 * 2 + 2


def test_a_second_channel_to_a_broker_fails_and_leaves_the_earlier_ones_open() -> None:
    """D56: what was opened before the exception belongs to nobody."""
    metrics: set[int] = set()
    first = ControllerChannelManager.started((2,), metrics)
    with pytest.raises(LeftOverChannel, match="broker 2"):
        ControllerChannelManager.started((1, 2, 3), metrics)
    assert metrics == {1, 2}
    first.shutdown()
    assert metrics == {1}
    ControllerChannelManager.started((2, 3), metrics)
    with pytest.raises(LeftOverChannel, match="broker 1"):
        ControllerChannelManager.started((1,), metrics)
