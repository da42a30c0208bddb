"""Lemmas about controllers: whose epoch an epoch is, and what a broker has that is not controller.

As coded, little can be said: a broker that is not controller may be active, with the channels and the epoch of a term
that failed, or even with an epoch that it only read (D4). Where giving up /controller cleans up, being active means to
be in office, and where an epoch that was lost is also abandoned, being in office means to be alone in one's epoch.
A lemma that needs such fixes is None for a variant without them.
"""

from collections.abc import Iterable
from itertools import combinations

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.zookeeper import epoch_is_as_read
from spec.state.cluster import State, epochs_acted_in
from spec.state.controller import Controller
from spec.state.enumerations import At, Session
from spec.state.zookeeper import ZooKeeper
from spec.variants import Switch

#: A resignation leaves nothing behind.
CLEAN = (Switch.RESIGN_CLEANS_UP,)
#: Nor does a controller keep anything of a topic that is gone.
FORGETTING = (*CLEAN, Switch.FORGET_THE_VANISHED)
#: A failover up to the opening of the channels.
IN_FAILOVER = (
    At.READ_EPOCH, At.INCREMENT_EPOCH, At.CREATE_EPOCH, At.SUBSCRIBE, At.READ_BROKERS, At.READ_TOPICS, At.READ_STATES,
)  # fmt: skip
#: Where nobody is controller yet, or any more.
BEFORE_CHANNELS = (
    At.ELECT_READ, At.ELECT_CREATE, At.ELECT_CREATE_AGAIN, At.ELECT_SESSION_LOST, At.ELECT_REREAD, *IN_FAILOVER,
    At.RESIGN_DELETE,
)  # fmt: skip
#: Where a handler changes states and sends, which the failover does after the channels are open.
CHANGING_STATES = (
    At.ONLINE_READ, At.ONLINE_WRITE, At.REMOVE_READ, At.REMOVE_WRITE, At.FINISH, At.NEW_REPLICA_READ,
    At.NOTIFIED_READ, At.NOTIFIED_DELETE, At.READ_REASSIGNMENTS, At.REASSIGN_NEXT, At.REASSIGN_READ, At.WRITE_UNION,
    At.BUMP_READ, At.BUMP_WRITE, At.START_READ, At.MOVE_READ, At.MOVE_WRITE, At.WRITE_TARGET, At.COMPLETE_READ,
    At.COMPLETE_WRITE, At.REFUSE_READ, At.REFUSE_WRITE, At.READ_ELECTIONS, At.DELETE_ELECTIONS,
)  # fmt: skip
#: A failover with channels open, and no state machine up.
BEFORE_MACHINES = (At.READ_REASSIGNMENTS, At.READ_ELECTIONS)
#: Bringing a partition online.
ELECTING = (At.ONLINE_READ, At.ONLINE_WRITE)
#: Taking a replica Offline, out of the ISR.
REMOVING = (At.REMOVE_READ, At.REMOVE_WRITE)
#: A failover, in its epoch, before it has read which topics there are.
BEFORE_TOPICS = (At.SUBSCRIBE, At.READ_BROKERS, At.READ_TOPICS)
#: A failover between the increment of the epoch and the opening of the channels.
WITH_AN_EPOCH = (*BEFORE_TOPICS, At.READ_STATES)


@lemma(source="PROTOCOL.md section 6")
def no_epoch_is_ahead_of_zookeepers(s: State, m: Model, c: int) -> Value:
    """No controller is in an epoch beyond the one in ZooKeeper."""
    return s.controllers[c].epoch <= s.zookeeper.epoch


@lemma(source="PROTOCOL.md section 2", where=lambda m: m.keeps(ZooKeeper.epoch_version))
def no_epoch_version_is_ahead_of_zookeepers(s: State, m: Model, c: int) -> Value:
    """No controller goes by a data version of /controller_epoch that has not been yet."""
    return s.controllers[c].epoch_version <= s.zookeeper.epoch_version


@lemma(source="KafkaController.incrementControllerEpoch 0.10.2.2", where=lambda m: m.keeps(ZooKeeper.epoch_version))
def the_epoch_read_is_the_versions(s: State, m: Model, c: int) -> Value:
    """While the data version is the one read, the epoch is too; or it is the first, and what was read was nothing."""
    controller, epoch = s.controllers[c], s.zookeeper.epoch
    about_to_write = both(controller.at == At.INCREMENT_EPOCH, epoch_is_as_read(s, m, c))
    return about_to_write.implies(either(controller.epoch == epoch, both(controller.epoch == 0, epoch == 1)))


@lemma(source="PROTOCOL.md section 2")
def a_process_that_is_not_running_remembers_nothing(s: State, m: Model, c: int) -> Value:
    """A process that is not running is not active, in no controller epoch, and at no place in its code."""
    controller, ended = s.controllers[c], flag(s.processes[c].session == Session.NONE)
    blank = both(controller.at == At.IDLE, ~controller.active, ~controller.acted, controller.epoch == 0)
    return ended.implies(blank)


@lemma(source="PROTOCOL.md section 6")
def only_active_controllers_change_states(s: State, m: Model, c: int) -> Value:
    """Whoever is in the middle of a state change is an active controller."""
    return s.controllers[c].active | ~is_at(s.controllers[c], CHANGING_STATES)


@lemma(source="PROTOCOL.md D4 fixed", fixed=CLEAN)
def a_failover_starts_from_nothing(s: State, m: Model, c: int) -> Value:
    """From the election until the channels are opened nobody is active: no earlier term has left anything behind."""
    return ~s.controllers[c].active | ~is_at(s.controllers[c], BEFORE_CHANNELS)


@lemma(source="PROTOCOL.md D56 fixed", fixed=CLEAN)
def only_the_active_have_channels(s: State, m: Model, c: int) -> Facts:
    """Without being active nobody has acted or has a channel, and no channel is left without an owner."""
    controller = s.controllers[c]
    yield m.brokers.is_empty(controller.stranded)
    yield controller.active | both(~controller.acted, m.brokers.is_empty(controller.channels))


@lemma(source="PROTOCOL.md D56", where=lambda m: not m.fixes(Switch.RESIGN_CLEANS_UP))
def no_left_over_channel_is_a_present_one(s: State, m: Model, c: int) -> Value:
    """No controller has a channel of its own to a broker to which it has one without an owner."""
    return m.brokers.disjoint(s.controllers[c].channels, s.controllers[c].stranded)


@lemma(source="PROTOCOL.md D4 fixed", fixed=CLEAN)
def active_controllers_know_themselves_as_controller(s: State, m: Model, c: int) -> Value:
    """Whoever is active, or in a failover, knows itself as the controller."""
    controller = s.controllers[c]
    return either(controller.active, is_at(controller, IN_FAILOVER)).implies(controller.leader_id == c)


def has_one_epoch_a_term(m: Model) -> bool:
    """Whether terms are different: an epoch that was lost is abandoned and leaves nothing behind, nor is it the first.

    The first epoch may be written twice where it is not written with the election.
    """
    own = m.fixes(Switch.RESIGN_ON_EPOCH_CONFLICT) and not m.keeps(ZooKeeper.epoch_version)
    return (own or m.fixes(Switch.ATOMIC_ELECTION)) and m.fixes(Switch.RESIGN_CLEANS_UP)


def is_in_office(s: State, c: int) -> Value:
    """Whether a controller has an epoch that its term wrote to ZooKeeper: from the increment to the resignation."""
    controller = s.controllers[c]
    return either(controller.active, *(controller.at == at for at in WITH_AN_EPOCH))


def is_at(controller: Controller, places: Iterable[At]) -> Value:
    """Whether a controller is at one of some places in its code."""
    return either(*(controller.at == at for at in places))


def is_current(s: State, c: int) -> Value:
    """Whether a controller is in office, and /controller_epoch is still the epoch of its term."""
    return both(is_in_office(s, c), s.controllers[c].epoch == s.zookeeper.epoch)


def only_the_current_writes(m: Model) -> bool:
    """Whether no write of an earlier term goes through, and no term finds anything that an earlier one has left."""
    return has_one_epoch_a_term(m) and m.fixes(Switch.FENCED_WRITES) and m.fixes(Switch.CLEAR_CONTEXT)


@lemma(source="PROTOCOL.md D1 fixed", where=has_one_epoch_a_term)
def an_epoch_has_one_owner(s: State, m: Model) -> Facts:
    """No two terms that are in office, on whatever brokers, have the same epoch."""
    for a, b in combinations(m.controllers, 2):
        yield ~both(is_in_office(s, a), is_in_office(s, b), s.controllers[a].epoch == s.controllers[b].epoch)


@lemma(source="PROTOCOL.md D1 fixed", where=has_one_epoch_a_term)
def an_epoch_acted_in_is_its_owners(s: State, m: Model) -> Facts:
    """An epoch that was acted in has been in ZooKeeper; whoever is in office in it is the one that has acted."""
    for epoch, acted in _history(s, m):
        yield acted.implies(epoch <= s.zookeeper.epoch)
        for c in m.controllers:
            controller = s.controllers[c]
            yield both(acted, is_in_office(s, c), controller.epoch == epoch).implies(controller.acted)


@lemma(
    source="ZKCheckedEphemeral 0.10.2.2; PROTOCOL.md D1 fixed", where=has_one_epoch_a_term,
    fixed=(Switch.ATOMIC_ELECTION,),
)  # fmt: skip
def an_election_unanswered_has_an_epoch_of_its_own(s: State, m: Model, c: int) -> Facts:
    """While a broker has yet to find that it did create /controller, nobody is in office or has acted in its epoch."""
    zookeeper = s.zookeeper
    used = [(s.controllers[d].epoch, is_in_office(s, d)) for d in m.controllers] + _history(s, m)
    own = both(zookeeper.controller == c, ~zookeeper.controller_orphaned)
    at = s.controllers[c].at
    unanswered = both(own, either(at == At.ELECT_CREATE, at == At.ELECT_CREATE_AGAIN))
    yield from (~both(unanswered, is_used, epoch == zookeeper.epoch) for epoch, is_used in used)


def _history(s: State, m: Model) -> list[tuple[Value, Value]]:
    """Epochs, and whether some term has acted in each: one arbitrary epoch when proving, otherwise all."""
    if m.proving:
        return [(s.history.watched, s.history["acted"])]
    return [(m.controller_epoch.constant(epoch), s.history.acted[epoch]) for epoch in epochs_acted_in(m)]
