"""What steps 2 and 7 of a reassignment share: the leader epoch is raised in the state znode, and sent.

Kafka 0.10.2.2: `KafkaController.updateLeaderEpochAndSendRequest`. PROTOCOL.md section 8.
"""

from spec.language.rules import say, when
from spec.language.terms import Value, both
from spec.logs.controller_log.reassignment import LeaderEpochUpdating
from spec.logs.controller_request_lines import ReassignmentSent
from spec.model import Model
from spec.protocol.context.deletion_marks import adding_raises
from spec.protocol.controller.controller_batch import is_dirty
from spec.protocol.leadership.state_writes import cache_state
from spec.protocol.leadership_cache import assigned_replicas, is_cached, leadership
from spec.protocol.reassignment.requests import end_run
from spec.protocol.requests.batch import Batch, send
from spec.protocol.state_change_log import log
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.variants import Switch


def begin_bump(s: State, m: Model, c: int, p: int) -> None:
    """Steps 2 and 7 begin a batch first: one that is dirty stays so, and ends the run (D53)."""
    dirty = is_dirty(s, c)
    with when(~dirty):
        say(LeaderEpochUpdating, partition=p)
    with when(dirty):
        end_run(s, m, c, p)


def is_usable(s: State, c: int, p: int) -> Value:
    """Whether there is a state znode, and not a newer controller's."""
    znode = s.zookeeper.state[p]
    return both(exists(znode), znode.controller_epoch <= s.controllers[c].epoch)


def tell_bumped(s: State, m: Model, c: int, p: int, receivers: Value) -> Value:
    """What was written is sent, but not cached (D18, KAFKA-9212); whether that was possible.

    If not, what was added stays in the controller's own batch, and the run ends (D53).
    """
    if m.fixes(Switch.CACHE_BUMPED_EPOCH):
        cache_state(s, c, p)
    raises = adding_raises(s, m, c)
    with when(raises):
        s.controllers[c].dirty = True
        end_run(s, m, c, p)
    with when(~raises):
        _tell(s, m, c, p, receivers)
        sent = {"leadership": leadership(s.zookeeper.state[p]), "assigned_replicas": assigned_replicas(s, m, c, p)}
        log(s, c, ReassignmentSent, partition=p, **sent)
    return ~raises


def _tell(s: State, m: Model, c: int, p: int, receivers: Value) -> None:
    """LeaderAndIsr says what the state znode does, UpdateMetadata what is cached."""
    cached, znode = s.controllers[c].partitions[p], s.zookeeper.state[p]
    content = {(p, b): znode for b in m.assigned(p)}
    known, about = {p: is_cached(cached)}, {p: True}
    send(s, m, c, Batch(ordered={p: receivers}, metadata=known, everybody=True, about=about, content=content))
