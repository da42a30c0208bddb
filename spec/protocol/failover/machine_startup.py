"""Failover: the two state machines start, with states by what was read of brokers and leadership.

First replicas: those on live brokers go Online and are sent the cached leadership, all others are taken for
ReplicaDeletionIneligible, whatever their topics (D15). Then partitions: Online where the cached leader lives, Offline
where it does not, New where there is none; every New or Offline one is visited.

Kafka 0.10.2.2: `ReplicaStateMachine.startup`, `PartitionStateMachine.startup`. PROTOCOL.md section 6.
"""

from spec.language.rules import say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.failover import ActiveBrokers, CurrentTopics, ReadyToServe, TopicsToBeDeleted
from spec.logs.controller_log.state_machines import PartitionMachineStarted
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, is_there
from spec.protocol.controller.controller_batch import tell_all
from spec.protocol.elections.requested import run_pending_elections
from spec.protocol.junctions import Junction, proceed
from spec.protocol.leadership.partitions import begin_online, needs_visit
from spec.protocol.leadership.replicas import begin_removal, replicas_to_online, send_removals
from spec.protocol.leadership_cache import is_cached
from spec.state.cluster import State
from spec.state.enumerations import DeletionThread, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def start_state_machines(s: State, m: Model, c: int) -> None:
    """Failover 7 (end) to 10: the deletion manager is made, all brokers are sent all metadata, the machines start.

    Before 0.10.2.0 the metadata was sent at the end, as step 14, when brokers had been told to follow whom they did not
    know to be alive (D11).
    """
    controller = s.controllers[c]
    if not m.refuses_deletions:
        say(TopicsToBeDeleted, topics={t: controller.queued[t] for t in m.topics})
    say(ActiveBrokers, brokers=controller.live)
    say(CurrentTopics, topics={t: controller.topics[t] for t in m.topics})
    controller.deletion = DeletionThread.MANAGER_ONLY
    told = flag(True)
    if not m.reintroduces(Switch.METADATA_LAST):
        told = tell_all(s, m, c, in_failover=True)
    with when(told):
        _initialise_states(s, m, c)


def _initialise_states(s: State, m: Model, c: int) -> None:
    """The replica machine takes its start-up states, and replicas go Online; then the partition machine starts.

    Where that is fixed, the replica machine takes those on dead brokers Offline before.
    """
    controller = s.controllers[c]
    controller.started = True
    if not m.has("partitions"):
        machines_run(s, m, c)
        run_pending_elections(s, m, c)
        return
    for p in m.partitions:
        cached = controller.partitions[p]
        with when(both(controller.topics[m.topic_of(p)], is_there(s, m, c, p))):
            for r in m.assigned(p):
                with when(m.brokers.in_set(r, assigned_set(s, m, c, p))):
                    cached.replicas[r] = ReplicaState.DELETION_INELIGIBLE
                    with when(m.brokers.in_set(r, controller.live)):
                        cached.replicas[r] = ReplicaState.ONLINE
    replicas_to_online(s, m, c, controller.live)
    if not m.takes_the_dead_offline:
        start_partitions(s, m, c)
        return
    waiting = begin_removal(s, m, c, _on_dead_brokers(s, m, c))
    with when(waiting):
        controller.handler = Handler.STARTUP
    with when(~waiting):
        after_the_dead(s, m, c)


def _on_dead_brokers(s: State, m: Model, c: int) -> dict[int, Value]:
    """The replicas whose brokers are not registered, by partition."""
    return {p: m.brokers.difference(assigned_set(s, m, c, p), s.controllers[c].live) for p in m.partitions}


def after_the_dead(s: State, m: Model, c: int) -> None:
    """The replicas on dead brokers were taken Offline (a fix); the StopReplica requests to them go nowhere."""
    send_removals(s, m, c, _on_dead_brokers(s, m, c))
    start_partitions(s, m, c)


def start_partitions(s: State, m: Model, c: int) -> None:
    """PartitionStateMachine.startup: states by the cached leadership; every New or Offline partition is visited."""
    controller = s.controllers[c]
    for p in m.partitions:
        cached = controller.partitions[p]
        known = is_cached(cached)
        led = both(known, m.brokers.in_set(cached.leader, controller.live))
        state = choose(led, PartitionState.ONLINE, choose(known, PartitionState.OFFLINE, cached.state))
        with when(both(controller.topics[m.topic_of(p)], is_there(s, m, c, p))):
            cached.state = state
            with when(~known):
                cached.state = PartitionState.NEW
    begin_online(s, m, c, Handler.FAILOVER)
    with when(~either(*(needs_visit(s, m, c, p) for p in m.partitions))):
        proceed(Junction.VISITS_DONE, s, m, c, handler=Handler.FAILOVER)


def machines_run(s: State, m: Model, c: int) -> None:
    """Both machines have started, which is logged with the states of the partitions."""
    say(PartitionMachineStarted, states=_states(s, m, c))
    say(ReadyToServe, epoch=s.controllers[c].epoch)


def _states(s: State, m: Model, c: int) -> dict[int, tuple[Value, Value]]:
    """The machine's map: it keeps what has vanished since an earlier term that it was not stopped after."""
    states = {p: s.controllers[c].partitions[p].state for p in m.partitions}
    return {p: (flag(state != PartitionState.NON_EXISTENT), state) for p, state in states.items()}
