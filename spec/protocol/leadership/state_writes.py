"""A controller's conditional write of a state znode: decided on what was read, done if the version is still that.

Every write of the controller raises the leader epoch by one, also one that leaves the leader as it is, and names the
controller's epoch. When it fails on its version, the znode is read once more: content that is just what was to be
written counts as done, with the data version that is there. That is for a write whose answer was lost, and which the
client repeats; but it holds for any, also where another controller with the same epoch has written the same. Otherwise
the decision is forgotten, and the next round reads the znode and decides afresh. The writer decides which brokers are
sent it.

Kafka 0.10.2.2: `ReplicationUtils.updateLeaderAndIsr`, `checkLeaderAndIsrZkData` (KAFKA-1382). PROTOCOL.md sections 2
and 3.
"""

from spec.language.rules import observe, require, reset, successor, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.requests.batch import FIELDS, see_conflict
from spec.protocol.zookeeper import acts, exists, is_fenced_off, state_changed
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.variants import Switch


def decide(s: State, c: int, p: int, *, leader: Value, isr: Value, at: At) -> None:
    """What the controller is to write next, on the version that it has just read; `at` is where it does so."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    controller.partition = p
    controller.read_version = znode.version
    controller.decided.leader_epoch = znode.leader_epoch
    controller.decided.leader = leader
    controller.decided.isr = isr
    controller.at = at


def write_decision(s: State, m: Model, c: int, p: int) -> tuple[Value, Value]:
    """The write; whether it counts as done, and whether all is to be done again. Neither: the write was fenced off."""
    fenced, unchanged = is_fenced_off(s, m, c), _is_unchanged(s, c, p)
    done = either(unchanged, _is_as_decided(s, m, c, p))
    with when(~fenced & unchanged):
        _write(s, m, c, p)
    with when(~fenced & ~unchanged & exists(s.zookeeper.state[p])):
        see_conflict(f"controller {c}", p)
    controller_moved(s, m, c, where=fenced)
    return ~fenced & done, ~fenced & ~done


def write_decision_unanswered(s: State, m: Model, c: int, p: int) -> None:
    """The write is applied, but the connection is lost before the answer; the client will write again."""
    require(~is_fenced_off(s, m, c), _is_unchanged(s, c, p))
    _write(s, m, c, p)


def forget_decision(s: State, c: int, at: At) -> None:
    """The decision is carried out, or of no use any more; `at` is what comes next."""
    reset(s.controllers[c], "partition", "read_version", "decided")
    s.controllers[c].at = at


def cache_state(s: State, c: int, p: int) -> None:
    """The cache takes over what the state znode says."""
    for name in FIELDS:
        s.controllers[c].partitions[p][name] = s.zookeeper.state[p][name]


def cache_decision(s: State, c: int, p: int) -> None:
    """The cache takes over what was to be written, with the version of a write that failed."""
    controller = s.controllers[c]
    cached, decided = controller.partitions[p], controller.decided
    cached.leader = decided.leader
    cached.leader_epoch = successor(decided.leader_epoch)
    cached.isr = decided.isr
    cached.version = -1
    cached.controller_epoch = controller.epoch


def _is_unchanged(s: State, c: int, p: int) -> Value:
    """Whether the state znode has the version that was read."""
    return flag(s.zookeeper.state[p].version == s.controllers[c].read_version)


def _is_as_decided(s: State, m: Model, c: int, p: int) -> Value:
    """Whether the znode says just what this controller is to write; before 0.8.2.0 nobody asked (D31)."""
    if m.reintroduces(Switch.COMPARE_NO_CONTENT):
        return flag(False)
    znode, controller = s.zookeeper.state[p], s.controllers[c]
    decided = controller.decided
    next_epoch = both(znode.leader_epoch > decided.leader_epoch, znode.leader_epoch.plus(-1) == decided.leader_epoch)
    same = both(znode.leader == decided.leader, znode.isr == decided.isr)
    return both(next_epoch, znode.controller_epoch == controller.epoch, same)


def _write(s: State, m: Model, c: int, p: int) -> None:
    znode, controller = s.zookeeper.state[p], s.controllers[c]
    znode.leader = controller.decided.leader
    znode.isr = controller.decided.isr
    znode.leader_epoch = successor(znode.leader_epoch)
    znode.version = successor(znode.version)
    znode.controller_epoch = controller.epoch
    acts(s, m, c)
    state_changed(s, m, p)
    observe(f"controller {c}", "write state", partition=p, **{name: znode[name] for name in FIELDS})
