"""What is claimed of ISR change notification: which controller handles the notifications, and that they arrive."""

from spec.claims.goals import works
from spec.language.rules import Facts, claim
from spec.language.terms import Value, both
from spec.model import Model
from spec.protocol.leadership_cache import is_cached
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.enumerations import At

PARTS = ("notifications",)


@claim("sometimes", source="PROTOCOL.md section 7.7", parts=PARTS)
def a_notification_is_handled(s: State, m: Model, c: int) -> Value:
    """A controller is about to delete a notification that it has handled."""
    return s.controllers[c].at == At.NOTIFIED_DELETE


@claim(
    "step", source="PROTOCOL.md D8, KAFKA-4447", witness="a_notification_is_handled", parts=PARTS,
    of={"delete_notification"},
)  # fmt: skip
def only_the_active_handle_notifications(before: State, after: State, m: Model, c: int) -> Value:
    """No notification is deleted by a broker that is not an active controller: it can send nobody what that names."""
    return before.controllers[c].active


@claim("goal", source="PROTOCOL.md section 7.7", parts=PARTS)
def isr_changes_are_known(s: State, m: Model, p: int) -> Facts:
    """No ISR change is left to be announced, and each ISR in the working controller's cache is ZooKeeper's.

    A notification may be left: a failover reads all state znodes, and lists notifications with the next one only.
    """
    yield from (~s.brokers[b].partitions[p].unreported for b in m.assigned(p))
    znode = s.zookeeper.state[p]
    for c in m.controllers:
        cached = s.controllers[c].partitions[p]
        known = both(works(s, c), exists(znode), is_cached(cached))
        yield known.implies(cached.isr == znode.isr)
