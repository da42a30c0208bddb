"""What is claimed where a session ends and its process lives on: what the next controller tells is what the znodes say.

The deposed controller may be in the middle of a write, and finish it when its successor has read the state znode (D5,
KAFKA-3083). Then the successor's cache is not what ZooKeeper holds, and brokers are sent the older leadership.

A term may also tell less than it has written itself: the cache stays behind where a reassignment raises the leader
epoch (D18), where the answer to a create is lost (D54), where a topic is removed by hand. That is no soft failure, and
is claimed elsewhere. So the claim speaks of what a term of an earlier epoch wrote last, and of requests of the latest
epoch; an ISR change by the leader keeps the epoch that it was sent. Requests of earlier epochs are stale themselves.

Only some scopes ask (the part `soft_failures`, which brings no variable and no action).
"""

from spec.language.rules import Facts, claim
from spec.language.terms import Value, both
from spec.model import Model
from spec.state.brokers import Stage
from spec.state.cluster import State

PARTS = ("connections", "soft_failures")


@claim("sometimes", source="PROTOCOL.md D5", parts=PARTS)
def a_new_term_sends_what_an_earlier_one_wrote(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """A LeaderAndIsr of the latest controller epoch waits for a broker, and an earlier term wrote that state znode."""
    return both(_is_ordered_next(s, c, r, p), _is_an_earlier_terms(s, c, r, p))


def _is_ordered_next(s: State, c: int, b: int, p: int) -> Value:
    """Whether the next request to a broker is a LeaderAndIsr, and about a partition."""
    head = s.connections[c][b][0]
    return both(head.stage == Stage.LEADER_AND_ISR, head.partitions[p].ordered)


def _is_an_earlier_terms(s: State, c: int, b: int, p: int) -> Value:
    """Whether the next request of the latest epoch is about a state znode that a term of an earlier one wrote last."""
    epoch = s.connections[c][b][0].epoch
    return both(epoch == s.zookeeper.epoch, s.zookeeper.state[p].controller_epoch < epoch)


@claim(
    "step", source="PROTOCOL.md D5, KAFKA-3083", witness="a_new_term_sends_what_an_earlier_one_wrote", parts=PARTS,
    of={"deliver_request", "deliver_request_unanswered"},
)  # fmt: skip
def new_terms_send_the_latest_leadership(before: State, after: State, m: Model, c: int, b: int, *, p: int) -> Facts:
    """No request of the latest controller epoch brings a broker an older leadership than an earlier one wrote last."""
    if b in m.assigned(p):
        told, znode = before.connections[c][b][0].partitions[p], before.zookeeper.state[p]
        older = both(_is_ordered_next(before, c, b, p), told.leader_epoch < znode.leader_epoch)
        yield ~both(older, _is_an_earlier_terms(before, c, b, p))
