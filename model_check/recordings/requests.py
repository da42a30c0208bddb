"""A broker's lines put together to the requests that they tell of.

A LeaderAndIsr prints a line for each partition as it arrives, and more as it is handled, under one lock, and may wait
long for an ISR write of one of its partitions. It counts as handled at once: its place in the log is that of its first
line under the lock, its time that of its last line. Most lines repeat what others say; they are held against those,
and what does not go together is a contradiction: a line said twice, or about another request, role or epoch, or before
what it follows; a transition that ends and did not begin, or never ends although the process goes on; a request that is
skipped. One that was only received, because the process ended before, is passed over. The lines of a StopReplica do not
say whose it is; each partition that it stops is an observation by itself, made when it has stopped. A broker that goes
on to something else amid a deletion has failed to remove the log (D72); where its log ends there, nobody knows.

What says again what its request has said is another one of that number: 0.8.2 sends again under the number that it has
(`RequestSendThread.doWork`), and a new channel counts from 0 again, if there may be one (`agreement.py`).

Kafka 0.10.2.2: `ReplicaManager.becomeLeaderOrFollower`, `MetadataCache`. PROTOCOL.md section 12.2.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from model_check.recordings.entries import head_of
from model_check.recordings.recording import Cluster, Contradiction
from model_check.recordings.seen import Handled, ReplicaStopped, RequestHandled, StopReplicaRefused
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs import leader_and_isr_lines as lines
from spec.logs.broker_change_lines import (
    BrokerLine,
    LeaderInfoCached,
    PartitionLine,
    PartitionUncached,
    ReplicaDoesNotExist,
    StopReplicaFinished,
    StopReplicaFromOldController,
    StopReplicaStarted,
    UpdateMetadataFromOldController,
)
from spec.logs.log_entries import LogEntry
from spec.logs.logged_values import PartitionInfo, Role

OF_UPDATE_METADATA: Final = (LeaderInfoCached, PartitionUncached, UpdateMetadataFromOldController)
REPEATED: Final = "repeats what another line of the same request says"

DONE, FAILED = frozenset({ErrorCode.NONE}), frozenset({ErrorCode.UNKNOWN})
DONE_OR_FAILED: Final = DONE | FAILED
"""What a StopReplica may be answered for a partition."""

NOT_HANDLED: Final = "a request that was received, and not handled before the process ended"
ROLES: Final = {"leader": Role.LEADER, "follower": Role.FOLLOWER, "unavailable": Role.FOLLOWER}
OUTCOMES: Final[Mapping[type[BrokerLine], str]] = {
    lines.LeaderEpochNotHigher: "ignored",
    lines.NotInAssignedReplicas: "unassigned",
    lines.LeaderUnavailable: "unavailable",
}
"""What became of a partition, by the line that tells it; of others, the transition that begins."""
OF_THE_DECISION: Final = (lines.BecomeFollowerUnchanged, lines.LeaderUnavailable)
"""Lines with the epoch in which the leadership was decided, not the request's."""

IN_ORDER: Final[tuple[set[tuple[type[BrokerLine], Role | None]], ...]] = (
    {(lines.LeaderEpochNotHigher, None), (lines.NotInAssignedReplicas, None)},
    {(lines.TransitionStarted, Role.LEADER)},
    {(lines.BecomeLeaderUnchanged, Role.LEADER), (lines.FetchersStopped, Role.LEADER)},
    {(lines.TransitionCompleted, Role.LEADER)},
    {(lines.TransitionStarted, Role.FOLLOWER)},
    {(lines.BecomeFollowerUnchanged, Role.FOLLOWER), (lines.LeaderUnavailable, Role.FOLLOWER)},
    {(lines.FetchersStopped, Role.FOLLOWER)},
    {(lines.LogsTruncated, Role.FOLLOWER)},
    {(lines.FetcherStarted, Role.FOLLOWER), (lines.FetcherNotStarted, Role.FOLLOWER)},
    {(lines.TransitionCompleted, Role.FOLLOWER)},
)
"""The lines of a LeaderAndIsr under the lock: each for all of its partitions before the next."""
PHASES: Final = {step: number for number, steps in enumerate(IN_ORDER) for step in steps}
OF_ONE_ROLE: Final = dict(step for steps in IN_ORDER for step in steps)
"""The role of a line that only one transition prints, and which so does not name it in a field."""

Key = tuple[str, int, int]
"""Kind, controller and correlation id: what the lines of one request share."""


@dataclass
class _Request:
    """The lines of one request so far: what it says, what became of it, and which lines each partition has had."""

    key: Key
    epoch: int
    life: int
    first: LogEntry
    states: dict[int, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    told: dict[int, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    replicas: dict[int, frozenset[int]] = field(default_factory=dict)
    outcomes: dict[int, str] = field(default_factory=dict)
    said: set[tuple[int, type[BrokerLine]]] = field(default_factory=set)
    refused: bool = False
    failed: bool = False
    handled: LogEntry | None = None
    last: LogEntry | None = None
    phase: int = 0

    def unfounded(self) -> Iterator[str]:
        """What it says without having said what must come before."""
        for p, line in self.said:
            if line is lines.TransitionCompleted and (p, lines.TransitionStarted) not in self.said:
                yield "completes a transition that it did not begin"

    def gaps(self) -> Iterator[str]:
        """What it must have said, had its process gone on, and did not."""
        if self.key[0] != "LeaderAndIsr" or self.refused or self.failed:
            return
        if self.outcomes.keys() != self.states.keys():
            yield "does not say what became of each partition that was received"
        for p, outcome in self.outcomes.items():
            if outcome in ROLES and (p, lines.TransitionCompleted) not in self.said:
                yield "begins a transition that it does not complete, and goes on"
            follows = outcome == "follower" and (p, lines.BecomeFollowerUnchanged) not in self.said
            if follows and (p, lines.LogsTruncated) not in self.said:
                yield "follows another leader without truncating its log"


@dataclass
class Requests:
    """The requests of one broker's log; `life` tells which process wrote at a time."""

    cluster: Cluster
    broker: int
    life: Callable[[int], int]
    pass_over: Callable[[str], None]
    arrived: dict[Key, list[_Request]] = field(default_factory=dict)
    received: list[_Request] = field(default_factory=list)
    handled: list[_Request] = field(default_factory=list)
    order: list[_Request | ReplicaStopped | StopReplicaRefused] = field(default_factory=list)
    stopping: dict[tuple[TopicPartition, bool], int] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)

    def add(self, entry: LogEntry, line: BrokerLine) -> None:
        """One line added to its request; a replica that stops may have to wait until it has stopped."""
        match line:
            case lines.LeaderAndIsrReceived():
                self._about_a_partition(entry, self._arriving(entry, line), line)
            case lines.LeaderAndIsrFromOldController() | UpdateMetadataFromOldController():
                self._refused(entry, self._handling(entry, line))
            case lines.BecomeLeaderError() | lines.BecomeFollowerError():
                self._handling(entry, line).failed = True
            case PartitionLine():
                self._about_a_partition(entry, self._handling(entry, line), line)
            case StopReplicaFromOldController(epoch=epoch):
                self._begin(entry, StopReplicaRefused(**self._head(entry), epoch=epoch))
            case StopReplicaStarted(partition=partition, delete=delete):
                p = self.cluster.partition(partition)
                codes = DONE_OR_FAILED if delete else DONE
                self._begin(entry, ReplicaStopped(**self._head(entry), partition=p, delete=delete, codes=codes))
                self.stopping[partition, delete] = len(self.order) - 1
            case ReplicaDoesNotExist() | StopReplicaFinished():
                self.pass_over(REPEATED)
                self._of_a_stop(entry, line)
            case _:
                self.pass_over(REPEATED)

    def _begin(self, entry: LogEntry, one: _Request | ReplicaStopped | StopReplicaRefused) -> None:
        """The next thing that the broker does; a deletion that it is amid has failed, unless that process has ended."""
        for stopping, number in list(self.stopping.items()):
            stop = self.order[number]
            if isinstance(stop, ReplicaStopped) and stop.delete and stop.incarnation == self._life(entry):
                self.order[number] = replace(stop, codes=FAILED)
                del self.stopping[stopping]
        self.order.append(one)

    def _of_a_stop(self, entry: LogEntry, line: ReplicaDoesNotExist | StopReplicaFinished) -> None:
        """What is said of a stop amid it, and where it ends."""
        number = self.stopping.get((line.partition, line.delete))
        if number is None:
            self._contradict(entry, "is about a stop that was not begun, or has ended")
        elif isinstance(line, StopReplicaFinished) and isinstance(one := self.order[number], ReplicaStopped):
            self.order[number] = replace(one, time=head_of(entry)["time"], codes=DONE)
            del self.stopping[line.partition, line.delete]

    def _about_a_partition(self, entry: LogEntry, request: _Request, line: PartitionLine) -> None:
        """What a request says of a partition, or what became of that; or a line that repeats what others say."""
        p = self._note(entry, request, line)
        match line:
            case lines.LeaderAndIsrReceived(state=info):
                request.replicas[p] = self._replicas(entry, p, info)
                request.states[p] = self.cluster.in_numbers(info.leadership)
            case LeaderInfoCached(info=info):
                self._replicas(entry, p, info)
                request.told[p] = self.cluster.in_numbers(info.leadership)
            case PartitionUncached():
                request.removed.add(p)
            case _ if outcome := _outcome(line):
                request.outcomes[p] = outcome
            case _:
                self.pass_over(REPEATED)

    def _head(self, entry: LogEntry) -> dict[str, Any]:
        return head_of(entry) | {"broker": self.broker, "incarnation": self._life(entry)}

    def observed(self) -> tuple[Handled, ...]:
        """What was handled, in order; what did not come to its end is a contradiction."""
        lasts = {request.life: request for request in self.handled}
        for request in self.handled:
            gaps = () if request is lasts[request.life] else request.gaps()
            for reason in (*request.unfounded(), *gaps):
                self._contradict(request.first, reason)
        for request in self.received:
            if request.handled is None:
                self.pass_over(NOT_HANDLED)
                later = (other for other in self.handled if other.first.line_number > request.first.line_number)
                if any((other.life, other.key[1]) == (request.life, request.key[1]) for other in later):
                    self._contradict(request.first, "was received and not handled, but a later one was")
        return tuple(self._observed(one) if isinstance(one, _Request) else one for one in self.order)

    def _arriving(self, entry: LogEntry, line: lines.LeaderAndIsrReceived) -> _Request:
        """The request whose partitions are being received: one that has not been handled yet, or a new one."""
        key = ("LeaderAndIsr", self.cluster.broker(line.controller), line.correlation_id)
        said = (self.cluster.partition(line.partition), type(line))
        for request in self._waiting(key, entry):
            if said not in request.said:
                return request
        request = _Request(key, line.epoch, self._life(entry), entry)
        self.arrived.setdefault(key, []).append(request)
        self.received.append(request)
        return request

    def _waiting(self, key: Key, entry: LogEntry) -> list[_Request]:
        """What the process has received under a number, and not handled yet."""
        life = self._life(entry)
        return [one for one in self.arrived.get(key, ()) if one.handled is None and one.life == life]

    def _life(self, entry: LogEntry) -> int:
        return self.life(head_of(entry)["time"])

    def _handling(self, entry: LogEntry, line: Any) -> _Request:
        """The request that a line under the lock tells of; it is handled from its first such line on."""
        kind = "UpdateMetadata" if isinstance(line, OF_UPDATE_METADATA) else "LeaderAndIsr"
        key = (kind, self.cluster.broker(line.controller), line.correlation_id)
        last = self.handled[-1] if self.handled else None
        is_its = last is not None and (last.key, last.life) == (key, self._life(entry))
        if last is not None and is_its and self._goes_on(entry, line, last):
            last.last = entry
            return last
        arrived = self._waiting(key, entry) or self.arrived.get(key, ())[-1:]
        request = arrived[0] if arrived else _Request(key, line.epoch, self._life(entry), entry)
        if request.handled is None:
            request.handled = request.last = entry
            self.handled.append(request)
            self._begin(entry, request)
        return request

    def _goes_on(self, entry: LogEntry, line: Any, last: _Request) -> bool:
        """Whether a line may be of the last request, and not of a later one that has its number.

        A LeaderAndIsr that was sent again waits until the last one is complete. An UpdateMetadata says nothing twice.
        """
        if last.key[0] == "LeaderAndIsr":
            return any(last.gaps()) or not self._waiting(last.key, entry)
        partition = getattr(line, "partition", None)
        said = partition is not None and (self.cluster.partition(partition), type(line)) in last.said
        return last.epoch == line.epoch and not (said or last.refused)

    # ------------------------------------------------------------------------------------- what must go together

    def _note(self, entry: LogEntry, request: _Request, line: PartitionLine) -> int:
        """Hold a line against what its request has said before; the partition that it is about."""
        p = self.cluster.partition(line.partition)
        if (p, type(line)) in request.said:
            self._contradict(entry, "says again what its request has said of this partition")
        request.said.add((p, type(line)))
        decided = isinstance(line, OF_THE_DECISION) and p in request.states
        epoch = request.states[p].controller_epoch if decided else request.epoch
        if line.epoch != epoch:
            self._contradict(entry, f"names epoch {line.epoch}, its request epoch {epoch}")
        role = getattr(line, "role", OF_ONE_ROLE.get(type(line)))
        if role is not None and p in request.outcomes and ROLES.get(request.outcomes[p]) is not role:
            self._contradict(entry, "is about another role than the transition that was begun")
        phase = PHASES.get((type(line), role), request.phase)
        if phase < request.phase:
            self._contradict(entry, "comes before a line that its request has written")
        request.phase = phase
        return p

    def _refused(self, entry: LogEntry, request: _Request) -> None:
        """A refusal; 0.8.2 prints that of a LeaderAndIsr for each partition."""
        if request.refused and len(request.states) < 2:
            self._contradict(entry, "refuses again what was refused")
        request.refused = True

    def _replicas(self, entry: LogEntry, p: int, info: PartitionInfo) -> frozenset[int]:
        """The assigned replicas, held against those that it has had; a request has them in no order."""
        replicas = frozenset(map(self.cluster.broker, info.replicas))
        if replicas not in self.cluster.assignments[p]:
            self._contradict(entry, "names other replicas than are assigned")
        return replicas

    def _contradict(self, entry: LogEntry, reason: str) -> None:
        self.contradictions.append(Contradiction(**head_of(entry), reason=reason))

    # --------------------------------------------------------------------------------------------------- values

    def _observed(self, request: _Request) -> RequestHandled:
        assert request.handled is not None and request.last is not None  # noqa: S101, PT018 - it was handled
        kind, controller, correlation_id = request.key
        head = head_of(request.handled)
        shown = f"{kind} {correlation_id} of controller {controller} epoch {request.epoch}"
        return RequestHandled(
            **head_of(request.last) | {"place": head["place"], "text": f"handled {shown}: {head['text']}"},
            broker=self.broker,
            incarnation=self.life(head["time"]),
            received=head_of(request.first)["time"],
            kind=kind,
            controller=controller,
            epoch=request.epoch,
            correlation_id=correlation_id,
            states=request.states,
            told=request.told,
            removed=frozenset(request.removed),
            replicas=request.replicas,
            outcomes=request.outcomes,
            refused=request.refused,
        )


def _outcome(line: PartitionLine) -> str:
    """What a line says became of its partition; nothing, if it only repeats."""
    if isinstance(line, lines.TransitionStarted):
        return "leader" if line.role is Role.LEADER else "follower"
    return OUTCOMES.get(type(line), "")
