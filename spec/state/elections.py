"""What processes keep for preferred elections, the automatic rebalance and controlled shutdowns, part by part."""

import enum
from typing import Final

from spec.language.records import Choice, Field, Flag, Record, flags
from spec.language.terms import number
from spec.state.per_scope import BROKER, BROKER_SET, GIVEN, PARTITIONS, has, per_scope
from spec.variants import Switch


class Leaving(enum.Enum):
    """How far a process is on its way out, in a controlled shutdown."""

    NO = "it stays"
    ASKS = "it is to stop; it looks for the controller, or has no good answer"
    WAITS = "its request is with a controller"
    MAY_GO = "it was answered that it leads nothing any more"


class OnTheWayOut(Record, kept=has("shutdown")):
    """A process that is to stop. Kafka 0.10.2.2: `KafkaServer.controlledShutdown`. PROTOCOL.md section 7.2."""

    leaving = Choice(Leaving.NO, "How far it is.")
    asked = Field(BROKER, 0, "The controller that it has asked.")
    tries = Field(
        per_scope("number of tries", lambda m: number(m.scope.shutdown_tries, "tries")), 0, "How many tries are left.",
        kept=per_scope("the number of tries is known", lambda m: bool(m.scope.shutdown_tries)),
    )  # fmt: skip


ELECTS: Final = has("preferred_election")
"""There are requests for elections."""


class ElectionRequest(Record, kept=ELECTS):
    """The znode that asks for preferred elections. PROTOCOL.md sections 2 and 7.5."""

    elections = flags(PARTITIONS, "/admin/preferred_replica_election names the partition.")


class Elections(Record, kept=ELECTS):
    """Preferred elections. Kafka 0.10.2.2: `ControllerContext.partitionsUndergoingPreferredReplicaElection`."""

    electing = flags(PARTITIONS, "A preferred election of the partition is under way.")
    asked = flags(PARTITIONS, "The request at hand names the partition.")
    request_read = Flag("The request that stands in ZooKeeper is the very one that was read.")


class GivenElections(Record, kept=GIVEN & ELECTS):
    """The request that ZkClient has read for the listener on it, which waits for the controller lock."""

    given_elections = flags(PARTITIONS, "The partition is named by the request that the listener is given.")
    given_stands = Flag("The request that the listener is given still exists.")


class Shutdowns(Record, kept=has("shutdown")):
    """A controller's part in controlled shutdowns. Kafka 0.10.2.2: `KafkaController.shutdownBroker`."""

    shutting_down = Field(BROKER_SET, (), "The brokers that are shutting down, and may not lead.")
    shutdown_of = Field(BROKER, 0, "The broker whose request is being handled; -1: none.")
    to_move = flags(PARTITIONS, "The partition is still to be handled, for that request.")
    shutdown_fails = Flag(
        "An exception has ended the treatment.",
        kept=per_scope("an exception may end the treatment", lambda m: m.loses_topics or m.shutdowns_outlive_terms),
    )
    elects = Flag(
        "A listener has resigned and given the lock back, and is to take it again to elect.",
        kept=per_scope(
            "a shutdown may have the lock before the election",
            lambda m: m.shutdowns_outlive_terms and not m.reintroduces(Switch.RESIGN_UNDER_LOCK),
        ),
    )


class Rebalance(Record, kept=has("auto_rebalance")):
    """The automatic rebalance. Kafka 0.10.2.2: `KafkaController.checkAndTriggerPartitionRebalance`."""

    imbalanced = flags(PARTITIONS, "The rebalance thread has still to elect for the partition.")
