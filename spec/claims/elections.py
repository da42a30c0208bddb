"""What is claimed of preferred replica elections: whom they elect, and that every request is answered."""

from spec.language.rules import claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.elections.requested import is_requested
from spec.protocol.leadership.partitions import elects_preferred
from spec.protocol.leadership_cache import assigned_replicas
from spec.state.cluster import State
from spec.state.enumerations import At

PARTS = ("preferred_election",)


@claim("sometimes", source="PROTOCOL.md section 7.5", parts=PARTS)
def a_preferred_replica_takes_over(s: State, m: Model, c: int) -> Value:
    """A controller is about to make the preferred replica of some partition its leader."""
    return both(s.controllers[c].at == At.ONLINE_WRITE, elects_preferred(s.controllers[c]))


@claim(
    "step", source="PROTOCOL.md sections 5 and 7.5", witness="a_preferred_replica_takes_over", parts=PARTS,
    of={"write_elected_leader", "write_elected_leader_unanswered"},
)  # fmt: skip
def preferred_elections_elect_the_first_in_sync(before: State, after: State, m: Model, c: int, p: int) -> Value:
    """A preferred election makes only the first assigned replica leader, only where it was in sync, and keeps the ISR.

    A New partition that is named is initialised, which is no election.
    """
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    preferred = m.brokers.first(assigned_replicas(before, m, c, p))
    as_promised = both(new.leader == preferred, m.brokers.contains(old.isr, preferred), new.isr == old.isr)
    return either(~elects_preferred(before.controllers[c]), old.version == new.version, as_promised)


@claim("sometimes", source="PROTOCOL.md section 7.5", parts=PARTS)
def a_request_stands(s: State, m: Model) -> Value:
    """A preferred election has been asked for."""
    return is_requested(s, m)


@claim("step", source="PROTOCOL.md section 7.5", witness="a_request_stands", parts=PARTS)
def election_requests_are_read_before_they_are_deleted(before: State, after: State, m: Model, c: int) -> Value:
    """A request for a preferred election is deleted only by a controller that has read it."""
    deleted = both(is_requested(before, m), ~is_requested(after, m))
    return either(~deleted, before.controllers[c].request_read)


@claim("sometimes", source="PROTOCOL.md section 6", parts=PARTS)
def a_failover_reads_a_request(s: State, m: Model) -> Value:
    """A failover is about to read a request that exists."""
    reading = either(*(s.controllers[c].at == At.READ_ELECTIONS for c in m.controllers))
    return both(is_requested(s, m), reading)


@claim(
    "step", source="PROTOCOL.md D42", witness="a_failover_reads_a_request", parts=PARTS, of={"read_election_request"}
)
def no_failover_fails_on_a_request(before: State, after: State, m: Model, c: int) -> Value:
    """No failover is ended by what a request for a preferred election names."""
    return flag(after.controllers[c].at != At.RESIGN_DELETE)


@claim("sometimes", source="PROTOCOL.md D13", parts=PARTS)
def an_election_is_under_way(s: State, m: Model, c: int, p: int) -> Value:
    """A controller counts a partition among those with a preferred election under way."""
    return s.controllers[c].electing[p]


@claim(
    "step", source="PROTOCOL.md D13, KAFKA-5310", witness="an_election_is_under_way", parts=PARTS,
    of={"read_election_request"},
)  # fmt: skip
def no_election_of_an_earlier_term_is_resumed(before: State, after: State, m: Model, c: int, *, p: int) -> Value:
    """A failover counts only those elections as under way that the request it has read names."""
    return before.zookeeper.elections[p] | ~after.controllers[c].electing[p]


@claim("goal", source="PROTOCOL.md D49", parts=PARTS)
def elections_come_to_an_end(s: State, m: Model) -> Value:
    """No request for a preferred election exists, and no active controller has one under way."""
    controllers = [s.controllers[c] for c in m.controllers]
    under_way = (both(one.active, either(*(one.electing[p] for p in m.partitions))) for one in controllers)
    return ~either(is_requested(s, m), *under_way)
