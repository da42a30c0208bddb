"""Broker changes: what the controller does when brokers appear in or disappear from /brokers/ids.

The listener swaps its cached set first and changes the channels, then handles the new brokers, then the dead ones. One
catch is around all of it, so an exception on the way leaves the rest unhandled for ever (D51). A broker that left and
came back between two reads is not noticed (D12); where broker epochs are on, it is taken for dead first, and then for
new, and the handling of a broker's shutdown ends with its death. Before 0.9.0.0 a start is sent to the new brokers
alone, and a death that took no leader to none (D60). Before 0.10.0.0 the new and the dead, and the live, were read one
after the other (D24). What an earlier exception left in the controller's own batch has it resign in the middle of this
(D53).

Kafka 0.10.2.2: `ReplicaStateMachine.BrokerChangeListener`, `KafkaController.onBrokerStartup`, `onBrokerFailure`.
PROTOCOL.md section 7.1.
"""

from collections.abc import Mapping

from reference.controller.context import Activity, Registration
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.controller.effects import JoinThread, OnBrokerChange, ReadBrokerData
from reference.deletion.queue import fail_deletion, resume_deletion
from reference.journal import Milestone
from reference.leadership import partitions as partition_leadership
from reference.leadership import replicas as replica_transitions
from reference.procedures import THROWABLE, LeftOverChannel, Procedure
from reference.reassignment.requests import begin_again, reassignments_concerning
from spec.logs.controller_log import broker_changes as lines
from spec.state.enumerations import Handler
from spec.tables.partition_states import PartitionState
from spec.variants import Switch


def on_broker_change(controller: KafkaController, given: frozenset[str] | None = None) -> Procedure[None]:
    """Take over who is registered, then handle the new and the dead."""
    current = yield from OnBrokerChange(given)
    controller.report(lines.BrokersChanged, brokers=tuple(sorted(current, key=str)))
    if not controller.replica_machine.has_started:
        return
    listed, cached = frozenset(current), controller.context.live_brokers
    if controller.reintroduces(Switch.READ_BROKERS_TWICE):
        current = yield from ReadBrokerData(listed)
    returned = _returned(controller, cached, current)
    new, dead = listed - cached.keys(), frozenset(cached.keys() - listed | returned.keys())
    controller.reach(Milestone.BROKER_CHANGE, listed=listed, new=new, dead=dead)
    live = frozenset(current)
    if controller.reintroduces(Switch.READ_BROKERS_TWICE):
        live -= controller.context.shutting_down_broker_ids
    told = {name: tuple(sorted(brokers)) for name, brokers in {"new": new, "dead": dead, "live": live}.items()}
    controller.report(lines.BrokerDifference, **told)
    try:
        controller.context.live_brokers = {**current, **{one: cached[one] for one in returned}}
        yield from _change_channels(controller, new & current.keys(), dead)
        controller.context.live_brokers = {one: current[one] for one in current.keys() - returned.keys()}
        epochs = tuple((one, registration.broker_epoch) for one, registration in returned.items())
        controller.is_about(dead=dead, returned=epochs)
        if new:
            yield from on_broker_startup(controller, new)
        if dead:
            yield from on_broker_failure(controller, dead)
        if returned:
            yield from _on_broker_return(controller, returned)
    except LeftOverChannel:
        controller.reach(Milestone.LEFT_OVER_CHANNELS)
        controller.report(lines.BrokerChangeError)
    except THROWABLE:
        controller.report(lines.BrokerChangeError)
    finally:
        controller.activity = Activity()


def _returned(
    controller: KafkaController, cached: Mapping[int, Registration], current: Mapping[int, Registration]
) -> Mapping[int, Registration]:
    """Where broker epochs are on: brokers that have registered anew since the last read, as they are registered now."""
    if not controller.fixes(Switch.BROKER_EPOCHS):
        return {}
    both = cached.keys() & current.keys()
    return {one: current[one] for one in sorted(both) if cached[one].broker_epoch != current[one].broker_epoch}


def _change_channels(controller: KafkaController, new: frozenset[int], dead: frozenset[int]) -> Procedure[None]:
    """Open channels to the new and close those to the dead, which never ends if a sender waits for the lock (D50)."""
    manager = controller.context.controller_channel_manager
    if manager is None:
        return
    controller.open_channels(manager, sorted(new))
    if manager.is_calling_back(dead) and not controller.fixes(Switch.CALLBACK_WITHOUT_LOCK):
        yield from JoinThread()
    for broker_id in sorted(dead):
        manager.remove_broker(broker_id)


def _on_broker_return(controller: KafkaController, returned: Mapping[int, Registration]) -> Procedure[None]:
    """Brokers that were handled as dead are back: they are handled as new."""
    controller.is_about(dead=frozenset(), lost_leader=False, returned=())
    context = controller.context
    context.live_brokers = {**context.live_brokers, **returned}
    if context.controller_channel_manager is not None:
        controller.open_channels(context.controller_channel_manager, returned)
    yield from on_broker_startup(controller, frozenset(returned))


def on_broker_startup(controller: KafkaController, new: frozenset[int]) -> Procedure[None]:
    """Send all metadata to all brokers, bring the replicas on the new brokers online, then every partition that waits.

    What is being reassigned to one of these brokers is begun with again. Before 0.9.0.0 only they are sent it (D60).
    """
    controller.report(lines.BrokerStartup, brokers=tuple(sorted(new)))
    only_the_new = new if controller.reintroduces(Switch.TELL_ONLY_THE_NEW) else None
    yield from send_update_metadata(controller, brokers=only_the_new)
    concerned = reassignments_concerning(controller, new)
    resumed = controller.deleting.queued & {tp.topic for tp, _ in controller.context.replicas_on(new)}
    controller.is_about(due=tuple(sorted(concerned.items())), resuming=resumed)
    replica_transitions.set_online_on(controller, new)
    yield from partition_leadership.trigger_online_partition_state_change(controller, Handler.BROKER_STARTUP)
    yield from begin_again(controller, concerned)
    resume_deletion(controller, resumed)
    controller.is_about(resuming=frozenset())


def on_broker_failure(controller: KafkaController, dead: frozenset[int]) -> Procedure[None]:
    """Elect for the partitions that the dead led, and remove the dead from every ISR, unless their topics are to go."""
    controller.report(lines.BrokerFailure, brokers=tuple(sorted(dead)))
    gone = dead & controller.context.shutting_down_broker_ids
    controller.context.shutting_down_broker_ids -= gone
    controller.report(lines.ShutDownBrokersGone, brokers=tuple(sorted(gone)))
    treated = controller.shutdown
    if treated is not None and treated.broker in dead and controller.fixes(Switch.BROKER_EPOCHS):
        controller.shutdown = None
    queued, cached = controller.deleting.queued, controller.context.partition_leadership_info.items()
    without_leader = [tp for tp, known in cached if known.leader in dead and tp.topic not in queued]
    partition_leadership.lose_leaders(controller, without_leader, PartitionState.OFFLINE)
    controller.is_about(lost_leader=bool(without_leader))
    yield from partition_leadership.trigger_online_partition_state_change(controller, Handler.BROKER_FAILURE)
    replicas = controller.context.replicas_on(dead)
    yield from replica_transitions.set_offline(controller, [key for key in replicas if key[0].topic not in queued])
    fail_deletion(controller, replicas)
    if not without_leader and not controller.reintroduces(Switch.TELL_ONLY_THE_NEW):
        yield from send_update_metadata(controller)
