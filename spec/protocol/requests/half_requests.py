"""A LeaderAndIsr that an exception ends half way: some of its partitions are carried out, and nobody makes up for it.

A broker makes itself the leader of those that it is to lead, then the follower of the others, one after the other; only
then it fetches from their leaders. Whoever is hosted for the first time needs a log, and the topic's configuration from
ZooKeeper: what is raised there, or behind the last follower, ends the request. By then the controller epoch is adopted.
A partition that was reached keeps what it was sent: as a follower of another leader it does not fetch, and will not
before yet another one leads. One that was not reached keeps what it knew, its leader epoch included; if it was to lead,
it has stopped to fetch. The answer is an error of each partition, which the era's controller does not look at (D64). A
partition stores its epoch behind the creation of its replica, so whoever sends the same again is obeyed.

Left out: an error of the disk that ends the process (`KafkaStorageException`), which is a crash; that a follower that
was reached fetches from its old leader still; and that a replica whose log is there cannot raise, though it has stored
no leader epoch (D11).

Kafka 0.10.2.2: `ReplicaManager.makeLeaders`, `makeFollowers`, `Partition.getOrCreateReplica`; `KafkaApis.handle`.
PROTOCOL.md section 10.
"""

from spec.language.rules import action, observe, require, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.requests.connections import answer_head, close_older, execute_head, is_due
from spec.protocol.requests.handling import accepts, host, knows_alive, store
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.variants import Switch


@action(
    actor="broker {b}",
    source="ReplicaManager.becomeLeaderOrFollower 0.10.2.2",
    budget="half_requests",
    parts=("connections",),
)
def deliver_request_in_half(s: State, m: Model, c: int, b: int, done: int) -> None:
    """A broker carries a LeaderAndIsr out for some partitions (a bit for each) before an exception ends it.

    Where that is fixed it takes them back, and begins anew.
    """
    head = s.connections[c][b][0]
    require(is_due(s, m, c, b), head.stage == Stage.LEADER_AND_ISR, head.epoch >= s.brokers[b].controller_epoch)
    require(_ends_here(s, m, b, head, done))
    if m.fixes(Switch.TRY_REQUESTS_AGAIN):
        execute_head(s, m, c, b)
    else:
        close_older(s, m, c, b)
        _carry_out(s, m, b, head, done)
        observe(f"broker {b}", "fail LeaderAndIsr", controller=c, epoch=head.epoch)
    answer_head(s, m, c, b)


def _ends_here(s: State, m: Model, b: int, head: Slot, done: int) -> Value:
    """Whether an exception may come when just these are done: at another that is new here, or behind all followers."""
    known, told = s.brokers[b].partitions, head.partitions
    accepted = {p: accepts(s, m, b, p, told[p]) if b in m.assigned(p) else flag(False) for p in m.partitions}
    leads = {p: both(accepted[p], told[p].leader == b) for p in m.partitions}
    follows = {p: accepted[p] & ~leads[p] for p in m.partitions}
    reached = [p for p in m.partitions if done >> p & 1]
    left = [p for p in m.partitions if p not in reached]
    new = {p: flag(known[p].leader_epoch == -1) for p in left}
    at_leader = either(*(leads[p] & new[p] for p in left)) & ~either(*(follows[p] for p in reached))
    led = ~either(*(leads[p] for p in left))
    at_follower = led & either(*(follows[p] & new[p] for p in left))
    moved = (both(follows[p], knows_alive(s, m, b, told[p]), told[p].leader != known[p].leader) for p in reached)
    behind = both(~either(*(accepted[p] for p in left)), either(*moved))
    return both(*(accepted[p] for p in reached), either(at_leader, at_follower, behind))


def _carry_out(s: State, m: Model, b: int, head: Slot, done: int) -> None:
    """What is left: the reached are stored, and fetch from nobody new; those that were to lead no longer fetch."""
    s.brokers[b].controller_epoch = head.epoch
    for p in m.partitions:
        if b not in m.assigned(p):
            continue
        known, told = s.brokers[b].partitions[p], head.partitions[p]
        accepted, leads = accepts(s, m, b, p, told), flag(told.leader == b)
        if done >> p & 1:
            stored = leads | knows_alive(s, m, b, told)
            with when(both(stored, told.leader != known.leader)):
                known.idle = ~leads
            with when(stored):
                store(m, known, told, leads)
            host(s, b, p)
        else:
            with when(accepted & leads):
                known.idle = both(known.leader != 0, known.leader != b)
