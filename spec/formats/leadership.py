"""The leadership of a partition: what its state znode, a controller's cache, a request, a broker and a log say of it.

It is declared once. What says more holds it beside the rest: a request has the assigned replicas, a payload the version
of its form. The annotations tell how each field stands in JSON and on the wire; the data version has no type in JSON,
for it is the znode's and not in its payload. In the specification's state its counterpart is
`spec.state.zookeeper.Leadership`.

Kafka 0.10.2.2: `LeaderIsrAndControllerEpoch` (kafka.controller) with its `LeaderAndIsr` (kafka.api).
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

from spec.formats.kafka_types import NO_LEADER, BrokerIds, Epoch, Leader
from spec.formats.wire import INT32

NO_VERSION: Final = -1
"""The data version where none is known: of a payload by itself, and in lines that do not print it.

Of the lines these are those about UpdateMetadata, and up to 0.9.0 all.
"""


@dataclass(frozen=True, kw_only=True)
class LeaderIsrAndControllerEpoch:
    """The leader, its leader epoch, the ISR, and the controller that decided so.

    `zk_version` is the data version of the state znode that says so; `controller_epoch` is that of the last decision.
    """

    controller_epoch: Epoch
    leader: Leader
    leader_epoch: Epoch
    isr: BrokerIds
    zk_version: Annotated[int, INT32] = NO_VERSION

    def decided(self, leader: int, isr: tuple[int, ...], controller_epoch: int) -> Self:
        """What a controller decides in its epoch: every decision raises the leader epoch by one."""
        return replace(
            self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1, controller_epoch=controller_epoch
        )

    def __str__(self) -> str:
        return f"leader {self.leader}, leader epoch {self.leader_epoch}, ISR {list(self.isr)}"


NO_LEADERSHIP: Final = LeaderIsrAndControllerEpoch(controller_epoch=0, leader=NO_LEADER, leader_epoch=-1, isr=())
"""What is known of a partition at first, as by a broker that has accepted no LeaderAndIsr of it yet."""
