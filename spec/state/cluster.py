"""The state of the whole: ZooKeeper's tree, the processes, what each controller and each broker remembers, the wires.

Every field says which real thing it stands for (`kcheck show state` prints them). What was dropped on purpose:

* a watch's event is put on its process's callback queue at the moment of the change; an expiry may lose the tail of the
  queue that had not reached the client;
* the logs that brokers replicate: being in sync is a matter of the ISR only, and a leader shrinks it at will;
* a pause needs no variable, since the scheduler need not choose a process.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from spec.language.records import Each, Field, Flag, Nested, Record, Shape, flags, shape_of
from spec.language.terms import Value
from spec.model import Model
from spec.state.brokers import Broker, LateCopy, Process, Slot
from spec.state.controller import Controller
from spec.state.per_scope import (
    BROKER_LIST,
    BROKERS,
    CONTROLLER_EPOCH,
    CONTROLLERS,
    FAULTS,
    LEFT,
    PARTITIONS,
    PROVING,
    SEVERAL_TOPICS,
    STOPPED_REPLICAS,
    TOPIC_NUMBER,
    TOPICS,
    budget,
    has,
    per_index,
    per_scope,
)
from spec.state.purgatory import PART, Purgatory
from spec.state.zookeeper import ZooKeeper


class Tool(Record):
    """An admin's tool that adds partitions to a topic: it reads the assignment, and later writes it with more."""

    topic = Field(TOPIC_NUMBER, 0, "The topic to which it adds.", kept=SEVERAL_TOPICS)
    adds = Flag("It is between its read and its write.")
    assigned = Each(PARTITIONS, Field(BROKER_LIST, ()), "AR of the topic's partitions, as it was read.")


def epochs_acted_in(m: Model) -> range:
    """The controller epochs that a term may act in; 0 is that of a term that read no epoch and lost the first."""
    return range(0 if m.keeps(ZooKeeper.epoch_version) else 1, m.scope.controller_epochs + 1)


def _epochs(m: Model) -> Iterable[int] | None:
    return None if m.proving else epochs_acted_in(m)


class History(Record):
    """What no process knows: in which epochs some term has acted, and how deletions and reassignments began."""

    watched = Field(
        CONTROLLER_EPOCH, 0, "An arbitrary epoch: what a proof finds of it holds of every epoch.", kept=PROVING
    )
    acted = Each(per_scope("epoch", _epochs), Flag(), "Some term has acted in the epoch; proving: in that one.")
    asked = flags(
        TOPICS, "Somebody has asked to delete this topic, not one before it that had its name.",
        kept=has("remembered_requests"),
    )  # fmt: skip
    original = Each(
        PARTITIONS, Field(BROKER_LIST, ()), "AR in ZooKeeper when the present reassignment was asked for.",
        kept=has("reassignment"),
    )  # fmt: skip
    target = Each(
        PARTITIONS, Field(BROKER_LIST, ()), "RAR as asked for then, also when somebody has removed the request.",
        kept=has("reassignment") & budget("move_withdrawals"),
    )  # fmt: skip
    caught_up = flags(PARTITIONS, "The ISR has had all of RAR since then.", kept=has("reassignment"))


def target(s: "State", m: Model, p: int) -> Value:
    """RAR as asked for, of the reassignment whose beginning and progress the history tells; () if there is none."""
    return s.history.target[p] if m.keeps(History.target) else s.zookeeper.requested[p]


class State(Record):
    """The state of the protocol."""

    zookeeper = Nested(ZooKeeper, "What is in ZooKeeper.")
    processes = Each(BROKERS, Process, "The broker processes.")
    controllers = Each(CONTROLLERS, Controller, "The controller modules of the brokers that may become controller.")
    history = Nested(History, "What has happened, which only claims ask.")
    brokers = Each(BROKERS, Broker, "What the brokers remember of their partitions.", kept=has("partitions"))
    logs = Each(
        BROKERS,
        flags(per_index("partition that it may have", lambda m, b: [p for p in m.partitions if b in m.assigned(p)])),
        "The broker has a log of the partition on its disk, which outlives the process.", kept=STOPPED_REPLICAS,
    )  # fmt: skip
    late = Each(
        CONTROLLERS, Each(BROKERS, Each(PARTITIONS, LateCopy)),
        "What stayed behind on the old connections from a controller to a broker.", kept=budget("late_copies"),
    )  # fmt: skip
    late_requests = Each(
        CONTROLLERS, Each(BROKERS, Slot),
        "The request that was in flight as an old connection from a controller to a broker broke.",
        kept=budget("late_requests"),
    )  # fmt: skip
    connections = Each(
        CONTROLLERS, Each(BROKERS, Each(per_scope("slot", lambda m: m.slots), Slot)),
        "The queue of batches from a controller to a broker, head first.", kept=has("connections"),
    )  # fmt: skip
    tool = Nested(Tool, "A tool that adds partitions.", kept=has("addition"))
    budget = Each(FAULTS, LEFT, "How often the fault may still happen.", kept=~PROVING)


ROOTS: Final = (State, Purgatory)
"""The records that a whole state may be: the protocol's, and that of delayed operations, which are a system apart."""


def root_of(m: Model) -> type[Record]:
    """The record that the whole state of a model is."""
    return Purgatory if m.has(PART) else State


def shape(m: Model) -> Mapping[str, Shape]:
    """The tree of variables of a model."""
    return shape_of(root_of(m), m)
