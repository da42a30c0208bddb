"""A leader's changes of its ISR, on the version of the state znode that it has cached.

Nothing but an own success or an accepted LeaderAndIsr ever refreshes that version (D6).

Kafka 0.10.2.2: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `updateIsr`. PROTOCOL.md section 10.
"""

from dataclasses import replace

from reference.brokers.broker import Broker
from reference.leadership.effects import ExpandIsr, IsrWrite, ShrinkIsr
from reference.leadership.leader_selectors import without
from reference.procedures import Procedure
from spec.formats.kafka_types import TopicPartition
from spec.formats.scala_order import immutable_set_order


def maybe_shrink_isr(broker: Broker, partition: TopicPartition, *replicas: int) -> Procedure[bool]:
    """`maybeShrinkIsr`: take the followers that lag out of the ISR; say whether the znode now has it so."""
    known = broker.partition(partition).leadership
    return _update_isr(broker, ShrinkIsr, partition, replicas, without(known.isr, replicas))


def maybe_expand_isr(broker: Broker, partition: TopicPartition, replica: int) -> Procedure[bool]:
    """`maybeExpandIsr`: take a follower that has caught up into the ISR; say whether the znode now has it so."""
    known = broker.partition(partition).leadership
    return _update_isr(broker, ExpandIsr, partition, (replica,), immutable_set_order((*known.isr, replica)))


def _update_isr(
    broker: Broker, kind: type[IsrWrite], partition: TopicPartition, replicas: tuple[int, ...], isr: tuple[int, ...]
) -> Procedure[bool]:
    """`updateIsr`: on success remember ISR and version; otherwise change nothing, to try again some time later."""
    changed = replace(broker.partition(partition).leadership, isr=isr)
    write = kind(partition, changed, replicas, compares_content=broker.compares_content)
    version = yield from write
    if version is None:
        return False
    known = broker.partition(write.partition)
    leadership = replace(known.leadership, isr=write.leadership.isr, zk_version=version)
    broker.partitions[write.partition] = replace(known, leadership=leadership)
    broker.isr_changes |= {write.partition}
    return True
