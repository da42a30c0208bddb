"""The controller's own batch: an exception leaves it dirty, and ends whatever begins the next one.

The controller object has a batch of its own beside those of its state machines, as long as its process lives. In it go
UpdateMetadata, of all partitions (broker changes, failover) or of some (ISR change notification, step 12 of a
reassignment, the start of a deletion), the LeaderAndIsr of steps 2 and 7 of a reassignment, and the StopReplica of a
controlled shutdown. A partition that is to be sent, and has leadership but no AR
(spec/protocol/topics/removal_by_hand.py), makes UpdateMetadata raise in the middle, with its receivers in the batch
already. So does any of a topic that is queued for deletion, for whatever partitions it is made: these are always in it.

The next one to begin a batch finds it dirty. A send of UpdateMetadata, and that StopReplica, clear it, have the elector
resign, and raise; before 0.9.0.0 they only raised (D28). Steps 2 and 7 begin theirs outside of what is caught, before
they read anything: they raise, and the batch stays as it is. The exception abandons the rest of a broker change (D51),
and ends the run of a reassignment, the deletion thread, or a controlled shutdown, whose answer is an error then; but
ISR change notifications that were read are deleted all the same.

A controlled shutdown may still run when its term has ended, and so may, before 0.10.2.0, the handling of ISR change
notifications and reassignments (D8). There are no channels then, so a send raises, with the same consequence: the
elector resigns, and deletes a successor's /controller.

A failover that finds it so has the elector resign twice: elect() catches what is raised, and has it resign for that,
too. The second time /controller may be a successor's (D3).

The batches of the state machines stay clean, except where a send fails (spec/protocol/controller/failed_sends.py):
there an exception ends one transition, before its state is set, and what is in the batch by then is sent. Thrown after
the write of step 2 or 7, it ends the run and leaves the batch dirty.

Kafka 0.10.2.2: `KafkaController.sendUpdateMetadataRequest`, `updateLeaderEpochAndSendRequest`, `shutdownBroker`,
`ControllerBrokerRequestBatch.newBatch`, `ZookeeperLeaderElector.elect`. PROTOCOL.md section 9.
"""

from collections.abc import Mapping
from dataclasses import replace

from spec.language.rules import observe, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.model import Model
from spec.protocol.controller.resignation import elector_resigns
from spec.protocol.controller.threads import leave_handler
from spec.protocol.leadership_cache import lacks_assignment
from spec.protocol.requests.batch import Batch, goes_out, known_partitions, removal, send, tells_removal
from spec.protocol.state_change_log import log
from spec.state.cluster import State
from spec.variants import Switch

#: What tells which handler it is that raises; kept while its elector resigns.
MARKS = ("handler", "reassigning", "taken", "gone")


def is_dirty(s: State, c: int) -> Value:
    """Whether an exception has left something in the controller's own batch."""
    return flag(s.controllers[c].dirty)


def begin_batch(s: State, m: Model, c: int, *, in_failover: bool = False) -> Value:
    """newBatch, where what it raises is caught: whether the batch is clean. If not, the handler is at its end."""
    dirty = is_dirty(s, c)
    with when(dirty):
        observe(f"controller {c}", "find its batch dirty")
        if not m.reintroduces(Switch.KEEP_DIRTY_BATCH):
            s.controllers[c].dirty = False
            _resign(s, m, c)
            s.controllers[c].resigns_again = in_failover
        elif in_failover:
            elector_resigns(s, m, c)
        else:
            leave_handler(s, m, c)
    return ~dirty


def _resign(s: State, m: Model, c: int) -> None:
    """The elector resigns; what goes on after it is found again by its marks."""
    controller = s.controllers[c]
    kept = {name: controller[name] for name in MARKS}
    due = {p: controller.due[p] for p in m.partitions}
    elector_resigns(s, m, c)
    for name, value in kept.items():
        controller[name] = value
    for p, wanted in due.items():
        controller.due[p] = wanted


def send_stop_replica(s: State, m: Model, c: int, stopped: Mapping[int, Value]) -> Value:
    """StopReplica without delete to these brokers, by partition: whether it went out. If not, the handler ends."""
    sent = _can_send(s, m, c, begin_batch(s, m, c))
    with when(sent):
        send(s, m, c, Batch(stopped=stopped))
    return sent


def _can_send(s: State, m: Model, c: int, ready: Value) -> Value:
    """Whether a batch that is ready goes out: without channels that raises, and is taken for a broken controller."""
    if not m.sends_after_terms:
        return ready
    sends = flag(s.controllers[c].active)
    with when(ready & ~sends):
        observe(f"controller {c}", "fail to send")
        if not m.reintroduces(Switch.KEEP_DIRTY_BATCH):
            _resign(s, m, c)
        else:
            s.controllers[c].dirty = True
            leave_handler(s, m, c)
    return ready & sends


def tell_all(s: State, m: Model, c: int, *, in_failover: bool = False, receivers: Value | None = None) -> Value:
    """UpdateMetadata of all partitions; where that is fixed it says so, and what it does not name is removed (S10)."""
    batch = Batch(metadata=known_partitions(s, m, c), whole=m.tells_all, receivers=receivers)
    return tell(s, m, c, batch, in_failover=in_failover)


def tell(s: State, m: Model, c: int, batch: Batch, *, in_failover: bool = False) -> Value:
    """Send UpdateMetadata as a batch says, be it of no partition: whether that was no failure.

    If it was, the handler is at its end.
    """
    batch, partitions = replace(batch, everybody=True), batch.metadata
    told = begin_batch(s, m, c, in_failover=in_failover)
    if m.loses_topics:
        raises = either(*(_cannot_tell(s, m, c, p, partitions) for p in m.partitions))
        if m.sends_after_terms:
            raises = raises & s.controllers[c].active
        with when(told & raises):
            observe(f"controller {c}", "fail to add UpdateMetadata")
            s.controllers[c].dirty = ~m.brokers.is_empty(s.controllers[c].live)
            leave_handler(s, m, c)
        told = told & ~raises
    if m.sends_after_terms:
        _log_unsent(s, m, c, told & ~s.controllers[c].active, partitions)
    something = goes_out(s, m, c, batch) if m.tells_only_the_known else flag(True)
    sent = _can_send(s, m, c, told & something)
    with when(sent):
        send(s, m, c, batch)
    return sent | (told & ~something)


def _log_unsent(s: State, m: Model, c: int, unsent: Value, partitions: Mapping[int, Value]) -> None:
    """Kafka logs UpdateMetadata before it finds no channels; the context that a resignation left names receivers."""
    for p in m.partitions:
        named = partitions.get(p, flag(False))
        if m.refusals_outlive_terms:
            removed = tells_removal(s, m, c, p)
            with when(unsent & removed):
                log(s, c, UpdateMetadataSending, perhaps=True, partition=p, leadership=removal(s, c, p))
            named = named & ~removed
        with when(unsent & named):
            log(s, c, UpdateMetadataSending, perhaps=True, partition=p)


def _cannot_tell(s: State, m: Model, c: int, p: int, partitions: Mapping[int, Value]) -> Value:
    """Whether a partition that is to be sent has leadership in the cache, and no AR.

    A resigned controller does not count: in Kafka AR stays cached (D13), which here is mostly emptied.
    """
    named = either(partitions.get(p, flag(False)), s.controllers[c].doomed[p])
    return both(named, lacks_assignment(s, m, c, p))
