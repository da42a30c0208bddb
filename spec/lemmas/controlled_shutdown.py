"""Lemmas about controlled shutdowns: which controller handles one, and what it then knows of leaders.

Where writes are fenced only the current controller changes who leads, so its cache names the leader, unless an answer
was lost. As coded a zombie moves leaders behind the back of the controller that handles a shutdown (D2, D5). The lemma
about leaders is None there.
"""

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import BEFORE_TOPICS, ELECTING, REMOVING, is_at, is_current, only_the_current_writes
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import At, Handler, Session

PARTS = ("shutdown",)


@lemma(source="KafkaController.shutdownBroker 0.10.2.2", parts=PARTS)
def only_active_controllers_handle_shutdowns(s: State, m: Model, c: int) -> Value:
    """Only an active controller handles a shutdown; where that outlives the term, one whose process runs."""
    alive = s.processes[c].session != Session.NONE if m.shutdowns_outlive_terms else s.controllers[c].active
    return either(alive, s.controllers[c].shutdown_of == 0)


@lemma(source="KafkaController.shutdownBroker 0.10.2.2", parts=PARTS)
def a_shutdown_is_treated_apart(s: State, m: Model, c: int) -> Facts:
    """The lock is held for the treatment of one broker, or for the handling of the dead, and not for both.

    While one is handled the controller elects, or removes, or resigns since it cannot send. Where a follower is taken
    out of the ISR, it is the broker that shuts down, and does not lead that partition in the cache; it may lead those
    that are to be moved next.
    """
    controller = s.controllers[c]
    treats, dead = flag(controller.handler == Handler.SHUTDOWN), ~m.brokers.is_empty(controller.dead)
    electing, removing = is_at(controller, ELECTING), is_at(controller, REMOVING)
    working = either(electing, removing)
    if m.shutdowns_outlive_terms:
        working = either(working, controller.at == At.RESIGN_DELETE)
    broker_change = either(*(controller.handler == one for one in (Handler.BROKER_STARTUP, Handler.BROKER_FAILURE)))
    yield flag(controller.handler == Handler.BROKER_FAILURE).implies(dead)
    yield dead.implies(either(both(electing, broker_change), removing))
    yield treats.implies(both(working, controller.shutdown_of != 0, ~dead))
    yield both(removing, ~treats).implies(dead)
    writes = both(treats, controller.at == At.REMOVE_WRITE)
    yield writes.implies(controller.replica == controller.shutdown_of)
    removes = both(treats, removing)
    for p in m.partitions:
        cached = controller.partitions[p]
        others = [both(m.brokers.in_set(r, cached.visiting), controller.shutdown_of != r) for r in m.brokers.ids]
        treated = either(~m.brokers.is_empty(cached.visiting), both(writes, controller.partition == p))
        follows = treated.implies(cached.leader != controller.shutdown_of)
        yield removes.implies(both(~either(*others), follows))


@lemma(
    source="PROTOCOL.md section 6; D2 fixed", parts=PARTS,
    where=lambda m: only_the_current_writes(m) and not m.scope.budget("losses"),
)  # fmt: skip
def current_controllers_know_the_topics(s: State, m: Model) -> Facts:
    """Every topic is there; a current controller that has read which there are knows each, and what epochs it read."""
    yield from (s.zookeeper.topics[t] for t in m.topics)
    for c in m.controllers:
        controller = s.controllers[c]
        knows = both(is_current(s, c), ~is_at(controller, BEFORE_TOPICS))
        yield from (knows.implies(controller.topics[t]) for t in m.topics)
        for p in m.partitions:
            cached, to_be_read = controller.partitions[p], flag(controller.at == At.READ_STATES)
            known = flag(cached.leader_epoch == s.zookeeper.state[p].leader_epoch)
            yield knows.implies(either(known, both(to_be_read, cached.todo)))
