"""A broker process with a fault planted into the reference; the environment variable PLANTED_FAULT says which.

Run as `python -m tests.model_check.faulty_broker`, with the options of `reference.live.broker_process`. The product has
no such hook: the fault is put in from here, into the process's own copy of the classes.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from reference.brokers.broker import NO_LEADER_EPOCH, Broker
from reference.controller.effects import IncrementEpoch
from reference.leadership import leader_selection
from reference.leadership.effects import StateRead, StateWrite, WriteElectedLeader
from reference.leadership.leader_selectors import Election, elect_offline, elect_on_controlled_shutdown, elect_preferred
from reference.live.broker_process import main
from reference.procedures import Script
from reference.reassignment.effects import ReadWhetherCaughtUp
from reference.scripts import Found
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import PartitionLeadership

FAULT: Final = "PLANTED_FAULT"


def plant(name: str, selector: Callable[..., Election]) -> None:
    """Put another selector in the place of the one that is asked; AssertionError where none of that name is."""
    assert name in vars(leader_selection), f"{leader_selection.__name__} asks no {name}"
    vars(leader_selection)[name] = selector


def accept_equal_leader_epochs() -> None:
    """A broker obeys a LeaderAndIsr of the leader epoch that it has already."""
    decide = Broker._decide

    def decide_trustingly(self: Broker, state: PartitionLeadership, *given: Any) -> ErrorCode:
        partition = state.topic_partition
        known = self.partition(partition)
        if known.leadership.leader_epoch == state.leadership.leader_epoch:
            forgotten = replace(known.leadership, leader_epoch=NO_LEADER_EPOCH)
            self.partitions[partition] = replace(known, leadership=forgotten)
        return decide(self, state, *given)

    Broker._decide = decide_trustingly  # type: ignore[method-assign, assignment]


def keep_the_controller_epoch() -> None:
    """A new controller writes the epoch that it has read, not the next."""
    script = IncrementEpoch.script

    def write_the_old_epoch(self: IncrementEpoch) -> Script[int | None]:
        return script(replace(self, new_epoch=self.new_epoch - 1))

    IncrementEpoch.script = write_the_old_epoch  # type: ignore[method-assign]


def keep_the_leader_epoch() -> None:
    """A controller that elects a leader writes the leader epoch that it has read, not the next."""
    script = StateWrite.script

    def write_the_old_epoch(self: StateWrite) -> Script[int | None]:
        old = replace(self.leadership, leader_epoch=self.leadership.leader_epoch - 1)
        return script(replace(self, leadership=old) if isinstance(self, WriteElectedLeader) else self)

    StateWrite.script = write_the_old_epoch  # type: ignore[method-assign]


def elect_the_last() -> None:
    """A controller elects the last live member of the ISR, and leaves the dead ones in it."""

    def elect(assigned: Any, isr: Any, live: Any, *, unclean_enabled: bool) -> Election:
        right = elect_offline(assigned, isr, live, unclean_enabled=unclean_enabled)
        return replace(right, leader=right.isr[-1], isr=tuple(isr))

    plant("elect_offline", elect)


def trust_the_new_replicas() -> None:
    """A controller that reassigns takes every replica for caught up."""
    script = ReadWhetherCaughtUp.script

    def read_all_in_sync(self: StateRead) -> Script[Found]:
        found = yield from script(self)
        return None if found is None else replace(found, isr=(1, 2, 3))

    ReadWhetherCaughtUp.script = read_all_in_sync  # type: ignore[method-assign]


def keep_who_leaves_in_the_isr() -> None:
    """A controller that moves a leadership for a controlled shutdown leaves the ISR as it is."""

    def elect(assigned: Any, isr: Any, registered: Any, leaving: Any, *, by_isr: bool) -> Election:
        right = elect_on_controlled_shutdown(assigned, isr, registered, leaving, by_isr=by_isr)
        return replace(right, isr=tuple(isr))

    plant("elect_on_controlled_shutdown", elect)


def prefer_the_last() -> None:
    """A preferred election elects the last assigned replica."""

    def elect(assigned: Any, isr: Any, live: Any, *, cached_leader: int | None) -> Election:
        right = elect_preferred(assigned, isr, live, cached_leader=cached_leader)
        return replace(right, leader=assigned[-1])

    plant("elect_preferred", elect)


PLANT: Final[Mapping[str, Callable[[], None]]] = {
    one.__name__: one
    for one in (
        accept_equal_leader_epochs,
        keep_the_controller_epoch,
        keep_the_leader_epoch,
        elect_the_last,
        trust_the_new_replicas,
        keep_who_leaves_in_the_isr,
        prefer_the_last,
    )
}

if __name__ == "__main__":
    PLANT[os.environ[FAULT]]()
    main(sys.argv[1:])
