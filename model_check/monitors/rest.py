"""Claims that somebody is in charge once the cluster has come to rest: of the cluster, and of each partition.

Kafka: `KafkaController`, 0.10.2.2. PROTOCOL.md sections 6 and 7.
"""

from __future__ import annotations

from model_check.monitors.claims import Break
from model_check.monitors.moments import Moment, Shown, at_rest, shown
from model_check.monitors.signatures import row_of_dead_leader, row_of_unborn, row_of_unraised


@at_rest()
def eventually_one_working_controller(at: Moment) -> Shown:
    """Asked while a broker is up that may be elected: one is in office, and has raised the epoch since."""
    history = at.history
    office = history.office(at.number)
    if office.owner is None:
        up = sorted(broker for broker in history.brokers if at.may_stand(broker))
        text = f"nobody is controller, and broker {shown(up)} runs"
        yield "office", Break(at.rest.place, text) if up else None
    elif at.controller is not None:
        won, raised = history.writes[office.since].place, history.has_raised(office)
        text = f"{office.owner} has had /controller since {won}, and has not raised /controller_epoch"
        is_its = raised and office.raised_by is not None and office.raised_by.broker in {office.owner.broker, None}
        yield "epoch", None if is_its else Break(at.rest.place, text, row_of_unraised(at))


@at_rest()
def eventually_partitions_are_led(at: Moment) -> Shown:
    """Asked of partitions with a replica that is up, while a controller is."""
    for partition, replicas, state in at.partitions():
        if at.controller is not None and any(map(at.is_up, replicas)):
            text = f"{partition} has no state znode, although broker {shown(filter(at.is_up, replicas))} runs"
            is_led = state is not None
            yield str(partition), None if is_led else Break(at.rest.place, text, row_of_unborn(at, partition))


@at_rest()
def eventually_leaders_can_lead(at: Moment) -> Shown:
    """Asked of partitions with an assigned replica in sync that is up, while a controller is: so is their leader."""
    for partition, replicas, state in at.partitions():
        in_sync = [one for one in (state.isr if state else ()) if at.is_up(one) and one in replicas]
        if state is not None and in_sync and at.controller is not None:
            text = f"{partition} has {state}, and broker {shown(in_sync)} runs"
            is_led = at.is_up(state.leader)
            yield str(partition), None if is_led else Break(at.rest.place, text, row_of_dead_leader(at, partition))
