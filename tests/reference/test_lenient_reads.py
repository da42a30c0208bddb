"""What the readers of znodes make of what nobody of the era writes: as Kafka 0.10.2.2, each in its own way.

`Json.parseFull` gives None for what is no JSON, which most readers take for nothing, and raises where a number is none
or the znode has no data; whoever then looks for a key that is not there, or is of another type, raises, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from reference.broker_events.isr_notification import DeleteNotification, OnIsrChange, ReadNotification, ReadNotified
from reference.controller.effects import ElectRead, ReadBrokers
from reference.elections.requested import ELECTIONS, ReadElectionRequest
from reference.journal import Report
from reference.leadership.effects import CreateState, ReadForElection
from reference.memory.start import initial_cluster
from reference.memory.zookeeper import MemoryZookeeper
from reference.procedures import Effect
from reference.reassignment.effects import ReadReassignments
from reference.scripts import CONTROLLER, ISR_CHANGES, REASSIGN_PARTITIONS, broker_path, state_path, topic_path
from reference.threads import on_callback
from reference.topics.creation import ReadTopics
from reference.zookeeper.api import NodeData, NodeExists, OperationRefused, SetData, Stat
from spec.errors import MalformedInput, NotJson
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.isr_notification import NotificationUnreadable
from spec.scopes import scope
from spec.state.enumerations import Callback
from tests.leaderships import led
from tests.reference.hands import TP, Hand, working, znode

PARTITION = TopicPartition("a", 0)
NO_JSON = (b"", b"null", b"rubbish", b'{"version":1', b"7 ")
RAISES = (None, b"[]", b'{"version":1,"partitions":7}', b'{"version":1,"partitions":[],"x":0.5}')
"""No data, no object, a key that is missing or of another type, and a number that is no Int."""


@dataclass(frozen=True)
class Reader:
    """A znode, how it is read, and what of the result tells what was found; `nothing`: what no JSON gives, if it does
    not raise.
    """

    path: str
    effect: Effect[Any]
    nothing: object = NotJson

    def read(self, data: bytes | None) -> Any:
        """What the effect gives where the znode holds this."""
        cluster = initial_cluster(scope("tiny"))
        if self.path in cluster.zookeeper.tree:
            cluster.zookeeper.execute(cluster.admin_session, SetData(self.path, data))
        else:
            cluster.create_as_admin(self.path, data)
        return told(carried_out(self.effect, cluster.zookeeper, cluster.admin_session))


def carried_out(effect: Effect[Any], zookeeper: MemoryZookeeper, session: int) -> Any:
    """Run a script; the memory cluster would keep a topic's znode that has no data from it."""
    script = effect.script()
    give, value = script.send, None
    while True:
        try:
            operation: Any = give(value)
        except StopIteration as end:
            return end.value
        try:
            give, value = script.send, zookeeper.execute(session, operation)
        except OperationRefused as refusal:
            give, value = script.throw, refusal


def told(result: Any) -> object:
    """The assignments, partitions or leadership in a result."""
    for name in ("assignments", "wanted"):
        if hasattr(result, name):
            return getattr(result, name)
    return result


TOPIC, STATE = topic_path("a"), state_path(PARTITION)
READERS: Mapping[str, Reader] = {
    "a state znode": Reader(STATE, ReadForElection(PARTITION, frozenset()), None),
    "the topics": Reader(TOPIC, ReadTopics(), {"a": {}}),
    "reassignments": Reader(REASSIGN_PARTITIONS, ReadReassignments(), {}),
    "an election": Reader(ELECTIONS, ReadElectionRequest()),
    "registrations": Reader(broker_path(2), ReadBrokers()),
    "the controller": Reader(CONTROLLER, ElectRead()),
}
each = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@each
@pytest.mark.parametrize("data", NO_JSON)
def test_what_is_no_json_is_nothing_to_most_readers(reader: Reader, data: bytes) -> None:
    """An election request then raises AdminOperationException, a registration and /controller KafkaException."""
    if reader.nothing is NotJson:
        with pytest.raises(NotJson):
            reader.read(data)
    else:
        assert reader.read(data) == reader.nothing


@each
@pytest.mark.parametrize("data", RAISES)
def test_what_lacks_what_a_reader_needs_raises(reader: Reader, data: bytes | None) -> None:
    with pytest.raises(MalformedInput) as refusal:
        reader.read(data)
    assert not isinstance(refusal.value, NotJson)


def test_a_state_znode_may_name_a_broker_twice_in_the_isr() -> None:
    """A list of integers to `ReplicationUtils.parseLeaderAndIsr`; a partition whose AR is [2,2] has such an ISR."""
    data = b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":0,"isr":[2,2]}'
    assert READERS["a state znode"].read(data).isr == (2, 2)


def test_an_election_that_names_a_partition_twice_raises() -> None:
    """`parsePreferredReplicaElectionData`: AdminOperationException since 0.8.2.0 (KAFKA-1653)."""
    once = b'{"topic":"a","partition":0}'
    reader = READERS["an election"]
    assert reader.read(b'{"partitions":[%b]}' % once).partitions == {PARTITION}
    with pytest.raises(MalformedInput, match="names one of them twice"):
        reader.read(b'{"partitions":[%b,%b]}' % (once, once))


@pytest.mark.parametrize(("data", "raised"), [(b"rubbish", NodeExists), (b'{"leader":2}', MalformedInput)])
def test_a_create_that_finds_a_znode_which_says_nothing_raises(data: bytes, raised: type[Exception]) -> None:
    """Kafka reads it for the line that tells so, and looks into what it read (`None.get`)."""
    with pytest.raises(raised):
        Reader(STATE, CreateState(PARTITION, frozenset(), led(1, 0, (1,), 1))).read(data)


def notification(data: bytes | None) -> NodeData:
    return NodeData(data, Stat(1, 1, 1, 0, 0, 0, 0, 0))


FIRST, SECOND = f"{ISR_CHANGES}/isr_change_0000000001", f"{ISR_CHANGES}/isr_change_0000000002"
NAMING = notification(b'{"version":2,"partitions":[{"topic":"t","partition":0,"leader":1}]}')


def test_a_notification_that_is_no_json_names_nothing_and_goes_with_the_others() -> None:
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, Callback.ISR_CHANGES))
    hand.expect(OnIsrChange, frozenset({FIRST, SECOND}))
    hand.expect(ReadNotification, notification(b"rubbish"), path=FIRST)
    hand.expect(ReadNotification, NAMING, path=SECOND)
    hand.expect(ReadNotified, znode(1, (1, 2), version=1), partition=TP)
    hand.expect(DeleteNotification, None, path=FIRST)
    hand.expect(DeleteNotification, None, path=SECOND)
    assert hand.ended
    assert one.context.partition_leadership_info[TP].isr == (1, 2)
    lines = [entry.line for entry in journal if isinstance(entry, Report)]
    assert NotificationUnreadable(data="rubbish", path=FIRST, controller=1) in lines


@pytest.mark.parametrize("broken", [notification(b"{}"), notification(None)])
def test_a_notification_that_raises_has_all_of_them_deleted(broken: NodeData) -> None:
    one, _ = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, Callback.ISR_CHANGES))
    hand.expect(OnIsrChange, frozenset({FIRST, SECOND}))
    hand.expect(ReadNotification, broken, path=FIRST)
    hand.expect(DeleteNotification, None, path=FIRST)
    hand.expect(DeleteNotification, None, path=SECOND)
    assert hand.ended


def test_a_state_znode_that_cannot_be_read_has_its_notification_deleted() -> None:
    one, _ = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, Callback.ISR_CHANGES))
    hand.expect(OnIsrChange, frozenset({SECOND}))
    hand.expect(ReadNotification, NAMING, path=SECOND)
    hand.fail(ReadNotified, MalformedInput(STATE, "isr", "missing"))
    hand.expect(DeleteNotification, None, path=SECOND)
    assert hand.ended
