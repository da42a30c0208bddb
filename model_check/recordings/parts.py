"""Which parts of the protocol a recording shows beyond what its znodes tell: what its logs and its acts say.

A part that is in costs time in every step of an explanation, so only those are that are needed.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from model_check.recordings import seen
from model_check.recordings.recording import Cluster, Observed, SequencesByName
from model_check.recordings.tracks import REPORTS, SKEW
from spec.logs.controller_log.broker_changes import ShuttingDownBroker
from spec.logs.controller_log.elections import ImbalanceRatio, PreferredElectionResumed
from spec.logs.controller_log.failover import TopicsToBeDeleted
from spec.logs.controller_log.topics import TopicDifference
from spec.logs.state_change_lines import PartitionBecameOnline
from spec.protocol.admin_requests import ADMIN_REQUESTS
from spec.tables.partition_states import PartitionState


def parts_shown(sequences: SequencesByName, cluster: Cluster) -> frozenset[str]:
    """The parts that the sequences show, beside those whose znodes are written.

    A failover that an exception ends may have opened its channels before (D4); what it does next is to read the
    requests for elections, and for deletions. So these parts are in where it may have ended there, though nobody asks.
    A controller that elects a leader where there is one, although nobody has asked for it, rebalances, even if no log
    of it says so. A topic that is new to a controller, and has no partitions by then, is one of whose znode it will
    hear: that has AR.
    """
    everything = [one for sequence in sequences.values() for one in sequence]
    shown = frozenset(_shown(everything)) | frozenset(_broken_off(sequences))
    told = {b for b, name in enumerate(cluster.broker_ids, start=1) if f"{REPORTS} {name}" in sequences}
    told = told if shown | cluster.parts else set()
    elects = (one for one in everything if isinstance(one, seen.ControllerSaid) and one.controller not in told)
    anew = [
        one.time
        for one in elects
        if isinstance(one.line, PartitionBecameOnline) and one.line.source is PartitionState.ONLINE
    ]
    asked = list(_asked(everything, max(anew, default=0)))
    if "shutdown" not in shown and any(not any(time in span for span in asked) for time in anew):
        return shown | {"auto_rebalance"}
    return shown


def _shown(everything: Iterable[Observed]) -> Iterator[str]:
    for one in everything:
        match one:
            case seen.ProcessStopping() | seen.SessionEnded(by_client=True, had_registration=True):
                yield "shutdown"
            case seen.ControllerSaid(line=ShuttingDownBroker()):
                yield "shutdown"
            case seen.ControllerSaid(line=ImbalanceRatio()):
                yield "auto_rebalance"
            case seen.ControllerSaid(line=TopicDifference(new=new, assignment=assignment)):
                if not {*new} <= {partition.topic for partition, _ in assignment}:
                    yield "addition"
            case seen.ControllerDeleted(by=by) if by:
                yield "preferred_election"


def _broken_off(sequences: SequencesByName) -> Iterator[str]:
    """Where a failover has read the request for elections, and never tells which topics are to be deleted."""
    for sequence in sequences.values():
        told = (type(one.line) for one in sequence if isinstance(one, seen.ControllerSaid))
        ends = [kind for kind in told if kind in {PreferredElectionResumed, TopicsToBeDeleted}]
        if (PreferredElectionResumed, PreferredElectionResumed) in pairwise((*ends, PreferredElectionResumed)):
            yield "deletion"


def _asked(everything: Iterable[Observed], last: int) -> Iterator[range]:
    """The times in which there is a request that moves leaders, as far as clocks may tell it."""
    begun = None
    for one in everything:
        match one:
            case seen.RequestMade() if _moves_leaders(one):
                begun = one.time - SKEW if begun is None else begun
            case seen.AssignmentWritten(by=by) if by:  # what is reassigned without a request moves, too (D13)
                yield range(one.time - SKEW, one.time + SKEW)
            case seen.RequestWritten() if begun is not None and _moves_leaders(one) and not any(one.says.values()):
                yield range(begun, one.time + SKEW)
                begun = None
    if begun is not None:
        yield range(begun, last + 1)


def _moves_leaders(one: seen.RequestChanged) -> bool:
    return ADMIN_REQUESTS[one.part].moves_leaders
