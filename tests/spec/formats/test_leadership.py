"""The record of a leadership: what is decided on it, how it reads, and that others have its fields among theirs."""

from dataclasses import replace

from spec.formats.inner_records import Flattened
from spec.formats.leadership import NO_LEADERSHIP, NO_VERSION
from spec.formats.request_schemas import PartitionLeadership
from spec.formats.znodes import PartitionStatePayload, parse_payload
from spec.logs.logged_values import LeaderAndIsr, printed
from tests.leaderships import led

STATE = "/brokers/topics/t/partitions/0/state"
KNOWN = led(2, 5, (2, 3), 7, 4)


def test_a_decision_raises_the_leader_epoch_and_names_the_controllers_on_the_version_that_was_read() -> None:
    assert KNOWN.decided(3, (3,), 8) == led(3, 6, (3,), 8, 4)
    assert NO_LEADERSHIP.decided(1, (1, 2), 1) == led(1, 0, (1, 2), 1, NO_VERSION)


def test_it_reads_as_a_sentence_has_it() -> None:
    assert str(KNOWN) == "leader 2, leader epoch 5, ISR [2, 3]"


def test_what_lines_print_of_it_is_without_the_version() -> None:
    assert printed(KNOWN) == replace(KNOWN, zk_version=NO_VERSION)
    assert LeaderAndIsr.of(KNOWN) == LeaderAndIsr(2, 5, (2, 3))


def test_the_version_is_not_in_a_payload() -> None:
    data = PartitionStatePayload(leadership=KNOWN).encode()
    assert data == b'{"controller_epoch":7,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}'
    assert parse_payload(STATE, data) == PartitionStatePayload(leadership=printed(KNOWN))


def test_other_records_have_its_fields_among_theirs() -> None:
    told = PartitionLeadership("t", 0, KNOWN, (2, 3))
    flattened = Flattened(PartitionLeadership)
    names = ["topic", "partition", "controller_epoch", "leader", "leader_epoch", "isr", "zk_version", "replicas"]
    assert [one.name for one, _ in flattened.declared()] == names
    assert flattened.values(told) == {"topic": "t", "partition": 0, "replicas": (2, 3), **vars(KNOWN)}
    assert flattened.made(flattened.values(told)) == told
