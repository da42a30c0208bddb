"""Preferred replica election: giving partitions back to the first of their assigned replicas.

The tool writes a request, `/admin/preferred_replica_election`, that names partitions; it cannot while one exists. The
controller's listener takes the named partitions, less those that it is at already, to OnlinePartition with the
preferred selector: the first of AR becomes leader if it lives and is in sync; where it leads already, by the cache,
there is nothing to do; otherwise the partition stays as it is. Then the request is deleted, whether or not anything was
elected. At a failover what the request names is read before the machines start, and run when they are up; there the
znode is deleted in any case.

Two slips of Kafka's are modelled. After the elections a line is logged for each partition, which looks up its
leadership; a partition that has none (New, or unknown) makes that raise before the request is deleted, so the request
and the running set keep all that it named (D49). And the failover's read looks up the same, which ends the failover
(D42). The running set is not emptied by a resignation (D13). The failover deletes the request that exists by then,
which need not be the one that it read.

Left out: that a delete whose answer is lost is done again, and may hit the next request.

Kafka 0.10.2.2: `PreferredReplicaElectionListener`, `KafkaController.onPreferredReplicaElection`,
`initializePreferredReplicaElection`, `removePartitionsFromPreferredReplicaElection`. PROTOCOL.md section 7.5.
"""

from collections.abc import Mapping

from spec.language.rules import action, in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.elections import (
    PreferredElectionDone,
    PreferredElectionFound,
    PreferredElectionResumed,
    PreferredElectionStarted,
    PreferredReplicaDoesNotLead,
    PreferredReplicaLeads,
)
from spec.logs.controller_log.topic_deletion import DeletionHalted
from spec.model import Model
from spec.protocol.context.assignment import is_there
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.controller.early_reads import content_for, given, is_as_read
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.resignation import controller_moved, elector_resigns
from spec.protocol.controller.threads import become_idle
from spec.protocol.deletion.queue import hold_back, resume_deletion
from spec.protocol.junctions import Junction, proceed
from spec.protocol.leadership.partitions import begin_visits, is_led_as_preferred, takes_operation
from spec.protocol.leadership_cache import assigned_replicas, is_cached, lacks_head
from spec.protocol.zookeeper import acts, is_fenced_off, notify, rearm_watch, take_head
from spec.state.cluster import State
from spec.state.enumerations import At, Callback, Handler
from spec.variants import Switch

SOURCE = "KafkaController.onPreferredReplicaElection 0.10.2.2"


def is_requested(s: State, m: Model) -> Value:
    """Whether a request exists; every request names a partition."""
    return either(*(s.zookeeper.elections[p] for p in m.partitions))


@action(
    actor="admin",
    source="PreferredReplicaLeaderElectionCommand 0.10.2.2",
    budget="elections",
    parts=("preferred_election",),
)
def request_election(s: State, m: Model, named: int) -> None:
    """The admin tool asks for a preferred election of some partitions, whether or not there are such."""
    require(~is_requested(s, m))
    for p in m.partitions:
        s.zookeeper.elections[p] = bool(named >> p & 1)
    observe("admin", "request election", named=named)
    notify(s, m, "elections")


@action(actor="admin", source="PROTOCOL.md D42", budget="withdrawals", parts=("preferred_election",))
def withdraw_election(s: State, m: Model) -> None:
    """Somebody deletes a request by hand, as those do to whom it stands in the way."""
    require(is_requested(s, m))
    observe("admin", "withdraw election request")
    forget_request(s, m)


@listener(Callback.ELECTIONS, source="PreferredReplicaElectionListener 0.10.2.2", parts=("preferred_election",))
def on_election_request(s: State, m: Model, c: int) -> None:
    """A request came or went: elect for the partitions that it names, less those with an election under way."""
    controller = s.controllers[c]
    require(controller.active)
    named, stands = content_for(s, m, c, "elections"), is_as_read(s, c, "elections")
    with when(~given(s, c)):
        rearm_watch(s, c, "elections")
    take_head(s, m, c)
    with when(either(*named.values())):
        controller.request_read = stands
        free = {p: ~either(controller.electing[p], is_queued(s, m, c, p)) for p in m.partitions}
        asked = {p: both(named[p], free[p]) for p in m.partitions}
        _begin(s, m, c, Handler.REQUESTED_ELECTION, asked)


def _begin(s: State, m: Model, c: int, handler: Handler, asked: Mapping[int, Value]) -> None:
    """The asked are under way; those of them for which that takes a ZooKeeper operation are visited.

    Meanwhile the deletion of their topics is held back; only at a failover may one of them be queued for it, which gets
    its leader all the same, unless that is fixed.
    """
    controller = s.controllers[c]
    say_begun(s, m, c, asked)
    visited = {}
    for p in m.partitions:
        controller.asked[p] = asked[p]
        controller.electing[p] = controller.electing[p] | asked[p]
        with when(asked[p]):
            hold_back(s, c, m.topic_of(p))
        visited[p] = both(asked[p], takes_operation(s, m, c, p))
        if m.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP):
            visited[p] = both(visited[p], ~is_queued(s, m, c, p))
    begin_visits(s, m, c, handler, visited)
    with when(~either(*visited.values())):
        _end_election(s, m, c, handler)


def say_begun(s: State, m: Model, c: int, asked: Mapping[int, Value]) -> None:
    """A preferred election begins; the topics of its partitions that are queued for deletion are held back."""
    say(PreferredElectionStarted, partitions=asked)
    halted = {t: either(*(both(asked[p], is_queued(s, m, c, p)) for p in m.partitions_of(t))) for t in m.topics}
    with when(either(*halted.values())):
        say(DeletionHalted, topics=halted)


def say_who_leads(s: State, m: Model, c: int, p: int, *, perhaps: object = False) -> None:
    """The line on a partition whose preferred election is over, if it has leadership."""
    cached = s.controllers[c].partitions[p]
    preferred = flag(cached.leader == m.brokers.first(assigned_replicas(s, m, c, p)))
    shown = both(is_cached(cached), ~lacks_head(s, m, c, p))
    with when(both(shown, preferred)):
        say(PreferredReplicaLeads, perhaps=perhaps, partition=p, leader=cached.leader)
    with when(both(shown, ~preferred)):
        say(PreferredReplicaDoesNotLead, perhaps=perhaps, partition=p, leader=cached.leader)


def end_requested_election(s: State, m: Model, c: int) -> None:
    """All that a request names are visited."""
    _end_election(s, m, c, Handler.REQUESTED_ELECTION)


def end_pending_election(s: State, m: Model, c: int) -> None:
    """All that was pending at a failover are visited."""
    _end_election(s, m, c, Handler.PENDING_ELECTION)


def _end_election(s: State, m: Model, c: int, handler: Handler) -> None:
    """All are visited: a line for each of them, then the request is to be deleted; unless that raises (D49, D61)."""
    controller = s.controllers[c]
    raises = either(*(both(controller.asked[p], lacks_head(s, m, c, p)) for p in m.partitions))
    if not m.fixes(Switch.ELECT_ONLY_THE_LED):
        raises |= either(*(both(controller.asked[p], ~is_cached(controller.partitions[p])) for p in m.partitions))
    controller.handler = Handler.NONE
    with in_any_order():
        for p in m.partitions:
            with when(controller.asked[p]):
                say_who_leads(s, m, c, p, perhaps=raises)
    with when(raises):
        observe(f"controller {c}", "fail requested election")
        if handler == Handler.PENDING_ELECTION:
            elector_resigns(s, m, c)
        else:
            become_idle(s, c)
    with when(~raises):
        for p in m.partitions:
            controller.electing[p] = both(controller.electing[p], ~controller.asked[p])
            with when(controller.asked[p]):
                resume_deletion(s, m, c, m.topic_of(p))
        controller.at = At.FINISH if handler == Handler.PENDING_ELECTION else At.DELETE_ELECTIONS
    reset(controller, "asked")


@controller_step(At.DELETE_ELECTIONS, source=SOURCE, parts=("preferred_election",))
def delete_election_request(s: State, m: Model, c: int) -> None:
    """Delete the request; the handler is done."""
    with when(remove_request(s, m, c)):
        become_idle(s, c)


def remove_request(s: State, m: Model, c: int) -> Value:
    """The request disappears, if there is one, and the controller is not fenced off, which is returned."""
    if not m.has("preferred_election"):
        return flag(True)
    fenced = both(is_requested(s, m), is_fenced_off(s, m, c))
    controller_moved(s, m, c, where=fenced)
    with when(~fenced):
        _delete_request(s, m, c)
    return ~fenced


def _delete_request(s: State, m: Model, c: int) -> None:
    """Nobody asks whether the request is the one that was read, unless that is fixed."""
    removable = is_requested(s, m)
    if m.fixes(Switch.KEEP_UNREAD_REQUESTS):
        removable = both(removable, s.controllers[c].request_read)
    with when(removable):
        observe(f"controller {c}", "delete election request")
        acts(s, m, c)
        forget_request(s, m)


def forget_request(s: State, m: Model) -> None:
    """/admin/preferred_replica_election disappears; no controller has read what will be there next."""
    for p in m.partitions:
        s.zookeeper.elections[p] = False
    for c in m.controllers:
        s.controllers[c].request_read = False
        reset(s.controllers[c], "given_stands")
    notify(s, m, "elections")


def load_pending_elections(s: State, m: Model, c: int) -> None:
    """Failover 7: what is requested is read next, where anything may be; that there is nothing is logged, too."""
    if m.has("preferred_election"):
        s.controllers[c].at = At.READ_ELECTIONS
    else:
        for kind in (PreferredElectionFound, PreferredElectionDone, PreferredElectionResumed):
            say(kind, partitions={})
        proceed(Junction.ELECTION_REQUEST_READ, s, m, c, handler=Handler.NONE)


@controller_step(
    At.READ_ELECTIONS,
    source="KafkaController.initializePreferredReplicaElection 0.10.2.2",
    parts=("preferred_election",),
)
def read_election_request(s: State, m: Model, c: int) -> None:
    """Failover 7 (end): read what is requested, less what is led by the preferred replica or unknown; then start up.

    A named partition without leadership raises, as does an empty AR: the failover is over (D42, D61).
    """
    controller = s.controllers[c]
    known = {p: both(controller.topics[m.topic_of(p)], is_there(s, m, c, p)) for p in m.partitions}
    named = {p: both(s.zookeeper.elections[p], known[p]) for p in m.partitions}
    raises = either(*(both(named[p], ~is_cached(controller.partitions[p])) for p in m.partitions))
    if m.fixes(Switch.ELECT_ONLY_THE_LED):
        named = {p: both(named[p], is_cached(controller.partitions[p])) for p in m.partitions}
        raises = flag(False)
    raises |= either(*(both(named[p], lacks_head(s, m, c, p)) for p in m.partitions))
    with when(is_requested(s, m)):
        controller.request_read = True
        rearm_watch(s, c, "elections")
    with when(raises):
        observe(f"controller {c}", "fail on a leaderless partition")
        elector_resigns(s, m, c)
    with when(~raises):
        preferred = {p: s.zookeeper.elections[p] for p in m.partitions}
        say(PreferredElectionFound, partitions=preferred)
        led = {p: is_led_as_preferred(s, m, c, p) for p in m.partitions}
        say(PreferredElectionDone, partitions={p: both(preferred[p], ~named[p] | led[p]) for p in m.partitions})
        for p in m.partitions:
            open_ = ~is_led_as_preferred(s, m, c, p)
            of_request = s.zookeeper.elections[p]
            controller.electing[p] = either(
                both(of_request, named[p], open_), both(controller.electing[p], ~of_request)
            )
        say(PreferredElectionResumed, partitions={p: controller.electing[p] for p in m.partitions})
        proceed(Junction.ELECTION_REQUEST_READ, s, m, c, handler=Handler.NONE)


def run_pending_elections(s: State, m: Model, c: int) -> None:
    """Failover 13: elect for all that is under way, of this request or left from an earlier term (D13), then clean up.

    It begins to also where that is nothing.
    """
    s.controllers[c].handler = Handler.NONE
    s.controllers[c].at = At.FINISH
    if not m.has("preferred_election"):
        say(PreferredElectionStarted, partitions={})
        return
    pending = {p: s.controllers[c].electing[p] for p in m.partitions}
    _begin(s, m, c, Handler.PENDING_ELECTION, pending)
