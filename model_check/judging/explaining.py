"""The moves of a search for an explanation: from a state and a place in the recording to the next ones.

Each process runs on its own, and most of what it does leaves no trace. What it does unseen is done at once, since a
cluster is fast; a step that shows is done when what it shows comes next. So the search rarely has a choice. The choices
that it has are offered in the order of how likely they are: `likely` ones first, and after them those that only a slow
process or an unlucky moment explains (a read made well before the write that depends on it, an answer lost, a queue
dropped that was still in use).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from model_check.judging.deliveries import Certainty, Deliveries
from model_check.judging.explanations import candidates, leads_with_stale_version
from model_check.judging.likelihood import READS_BEFORE_WRITES, Likelihood
from model_check.judging.on_demand import called_for, failures
from model_check.judging.positions import BROKER, CONTROLLER, Actor, Explained, Move, Position, actors_of
from model_check.judging.spurious_callbacks import finds_nothing_new
from model_check.judging.taken_steps import Steps
from model_check.recordings import seen
from model_check.recordings.recording import Observed, Recording
from model_check.recordings.tracks import SKEW, STATE_CHANGES, Tracks
from model_check.stepping.enabled import Candidate, ControllerSteps, is_instead_of
from model_check.stepping.open_system import NoRoom, OpenSystem, open_system
from model_check.stepping.plain_state import PlainState, part
from spec.logs.controller_log.broker_changes import BrokerDifference, ShuttingDownBroker
from spec.logs.controller_log.failover import Resigned, SessionExpired
from spec.logs.state_change_lines import LeaderElectionStarted, ReplicaChanged
from spec.model import Model
from spec.protocol.broker_events.isr_notification import report_isr_changes_before, report_isr_changes_without
from spec.protocol.brokers.processes import crash, start_process
from spec.protocol.requests.connections import deliver_request
from spec.protocol.requests.late_copies import leave_late_copy
from spec.state.enumerations import Session
from spec.tables.replica_states import ReplicaState
from spec.variants import Switches, as_of

CACHES: Final = frozenset({"cached_leaderships"})
"""What only brokers of one release are judged by: of several, each has its own order in a failover."""


class Explainer:
    """The moves that a recording leaves to the specification; `states_fire` is as a scope's (spec/scopes.py)."""

    def __init__(self, recording: Recording, switches: Switches, states_fire: Sequence[int] = ()) -> None:
        cluster, release = recording.cluster, recording.release
        self.recording = recording
        self.cluster = cluster
        opened = open_system(
            len(cluster.broker_ids),
            cluster.assigned,
            cluster.topic_of,
            controller_epochs=recording.controller_epochs,
            switches=switches | (as_of(release) if release else frozenset()),
            parts=cluster.parts | (CACHES if release else frozenset()),
            requests=(*cluster.requests, *cluster.recreations, *cluster.additions),
        )
        configured = replace(
            opened.model.scope,
            deletes_topics=cluster.deletes_topics,
            unclean=cluster.unclean_by_default,
            states_fire=tuple(states_fire),
            edited=cluster.edited,
        )
        self.model: Model = replace(opened.model, scope=configured)
        self.system: OpenSystem = replace(
            opened, model=self.model, recreations=cluster.recreations, additions=cluster.additions
        )
        self.controllers = ControllerSteps(self.system)
        self.tracks = Tracks(recording)
        self.start = Position(self.system.initial, self.tracks.beginning)
        self.deliveries = Deliveries(self.system, self.tracks)
        self.steps = Steps(self.system, cluster, self.tracks, self.deliveries)
        self.deaths_are_inferred = not recording.tells_acts
        self.likelihood = Likelihood(self.tracks, self.deliveries, deaths_are_inferred=self.deaths_are_inferred)

    def progress(
        self, state: PlainState, may_act: Callable[[Candidate], bool] = lambda _: True
    ) -> Iterator[tuple[Explained, PlainState]]:
        """What is enabled in a state, faults aside, of those who may act, with the state after; empty without room.

        A broker that never had a process does not start one.
        """
        for rule, parameters in filter(may_act, self.controllers.progress(state)):
            if rule == start_process.name and parameters["b"] not in self.tracks.started:
                continue
            one = Explained(rule, parameters, (), ())
            try:
                found = self.system.step(state, rule, parameters)
            except NoRoom:
                yield one, {}
            else:
                if found is not None:
                    yield one, found.after

    def instead(self, at: Position) -> Iterator[str]:
        """What could come next at a position, faults aside: no step of a process that is stopped, or has broken off."""
        for one, after in self.progress(at.state, partial(self.steps.may_act, at)):
            yield one.action if after else f"{one.action}, for which the specification has no room"

    def settled(self, at: Position) -> Position:
        """Where a whole explanation comes to by steps that leave no line anywhere, as requests that tell nothing."""
        pairs = [(c, b) for c in self.model.controllers for b in self.model.brokers.ids]
        while True:
            waiting = [{"c": c, "b": b} for c, b in pairs if self.deliveries.may_be_unlogged(at, c, b)]
            possible = [*self.controllers.unseen(at.state), *((deliver_request.name, one) for one in waiting)]
            quiet = (one for one in possible if self.steps.says_nothing(at, one))
            to = next((to for _, to in self._tried(at, quiet, unlogged=True) if to.state != at.state), None)
            if to is None:
                return at
            at = to

    def moves(self, at: Position) -> Iterator[Move]:
        """Where the search can go from here, the likely moves first."""
        unlikely = []
        for move in self._in_order(at):
            if move.likely:
                yield move
            else:
                unlikely.append(move)
        yield from unlikely

    def blamed(self, at: Position) -> set[Actor]:
        """The processes to blame that nothing goes on: those of the next observation, and those that they wait for."""
        heads = [one for _, one in self.tracks.heads(at.place)]
        if not heads:
            return {(role, b) for role in (CONTROLLER, BROKER) for b in self.model.brokers.ids}
        blamed = actors_of(heads[0])
        match heads[0]:
            case seen.ReplicaStopped() | seen.StopReplicaRefused():  # of which controller, it does not say
                blamed = blamed | {(CONTROLLER, c) for c in self.model.controllers}
            case seen.ControllerSaid(line=BrokerDifference()):
                blamed = blamed | {(BROKER, b) for b in self.model.brokers.ids}
            case seen.ControllerSaid(line=ShuttingDownBroker(broker=broker)):
                blamed = blamed | {(BROKER, self.cluster.broker(broker))}
        for one in heads:
            due = one.time <= heads[0].time + SKEW
            if due and isinstance(one, seen.RequestHandled) and (BROKER, one.broker) in blamed:
                blamed = blamed | actors_of(one)
        return blamed

    def _in_order(self, at: Position) -> Iterator[Move]:
        yield from self._unseen(at)
        heads, is_settled = self.tracks.heads(at.place), False
        now = next((one.time for _, one in heads if not self._waits(one, at)), 0)
        for number, one in sorted(heads, key=lambda head: not self.likelihood.is_by_itself(head[1], at.place)):
            soon = one.time <= now + SKEW
            for move in chain(self._explaining(at, number, one), self._failing(at, one)):
                likely = move.likely and soon and not is_settled
                yield Move(move.to, likely)
                is_settled = is_settled or (likely and self.likelihood.is_by_itself(one, at.place))

    def _waits(self, one: Observed, at: Position) -> bool:
        """Whether an election was begun, as its line says, and its read waits: for a new session, say."""
        match one:
            case seen.ControllerSaid(controller=c, line=LeaderElectionStarted()):
                if list(Session)[part(at.state, "processes", c).get("session", 0)] is Session.EXPIRED:
                    return True
                reads = self._tried(at, (read for read in self.controllers.unseen(at.state) if read[1].get("c") == c))
                return any(self.likelihood.is_too_early(at, to) for _, to in reads)
            case _:
                return False

    def _unseen(self, at: Position) -> Iterator[Move]:
        """Hidden steps, up to one that can be taken at once; and what its process may do in its stead, or later."""
        first: Candidate | None = None
        slow = at.slow - self._who_is_due(at) if at.slow else at.slow
        for candidate in self.controllers.unseen(at.state):
            if candidate[1].get("c") in slow or (first is not None and not is_instead_of(candidate, first)):
                continue
            to = self.steps.taken(at, candidate)
            if to is not None:
                likely = self.likelihood.is_likely_at_once(at, to)
                yield Move(to, likely)
                if likely and first is None:
                    first = candidate
                    if "c" in candidate[1] and not (to.step and to.step.observations):
                        yield Move(self._later(at, candidate[1]["c"]), likely=False)

    def _who_is_due(self, at: Position) -> set[int]:
        """The controller whose observation comes next by the clocks."""
        heads = self.tracks.heads(at.place)
        return {b for role, b in actors_of(heads[0][1]) if role == CONTROLLER} if heads else set(self.model.controllers)

    @staticmethod
    def _later(at: Position, c: int) -> Position:
        """Nothing happens, but that a controller's thread takes its time."""
        return replace(at, before=at, step=Explained("", {"c": c}, (), ()), breaks_off=(), slow=at.slow | {c})

    def _explaining(self, at: Position, number: int, one: Observed) -> Iterator[Move]:
        """Moves that explain the next observation of a sequence, or are needed before anything can."""
        is_no_step = self._is_no_step(one, at)
        if is_no_step in {Certainty.YES, Certainty.LIKELY}:
            yield Move(self._without_step(at, number, one), likely=True)
        if is_no_step is Certainty.YES:
            return
        for candidate, to in self._tried(at, (*self._copies(one, at), *self._overdue(one, at)), unlogged=True):
            is_copy = candidate[0] == leave_late_copy.name
            yield Move(to, likely=not is_copy or self._has_a_copy(at, candidate[1]["b"], candidate[1]["p"]))
        shows_it = chain(candidates(self.model, self.controllers, one, at.state), self._noted_late(one, at))
        for candidate, to in self._tried(at, shows_it, number):
            yield Move(to, self.likelihood.is_likely(candidate, at, to, one))
        if is_no_step is Certainty.MAYBE:
            yield Move(self._without_step(at, number, one), likely=True)
        for _, to in self._tried(at, self._before(one, at), unlogged=True):
            yield Move(to, likely=not self.likelihood.is_too_early(at, to))

    def _tried(
        self, at: Position, every: Iterable[Candidate], number: int | None = None, *, unlogged: bool = False
    ) -> Iterator[tuple[Candidate, Position]]:
        """The actions that can be taken, each with the position after it."""
        taken = ((one, self.steps.taken(at, one, number, unlogged=unlogged)) for one in every)
        return ((one, to) for one, to in taken if to is not None)

    def _failing(self, at: Position, one: Observed) -> Iterator[Move]:
        """A failover that an exception has ended; likely only where it cannot go on as its controller's logs do."""
        for candidate, to in self._tried(at, failures(one)):
            own = (other for other in self.controllers.unseen(at.state) if other[1].get("c") == candidate[1]["c"])
            yield Move(to, likely=not any(self._tried(at, own)))

    def _copies(self, one: Observed, at: Position) -> Iterator[Candidate]:
        """A copy of a request stays behind before it is handled once more, late; or before its channel is removed."""
        match one:
            case seen.ControllerSaid(controller=c, line=BrokerDifference(dead=dead)):
                for b in map(self.cluster.broker, dead):
                    yield from self.deliveries.that_stay_behind(at, c, b)
            case seen.ControllerSaid(controller=c, line=SessionExpired() | Resigned()):
                yield from self.deliveries.that_outlive(at, c)
            case seen.ReplicaStopped(broker=b, partition=p, delete=True):
                yield from ((leave_late_copy.name, {"c": c, "b": b, "p": p}) for c in self.model.controllers)

    def _has_a_copy(self, at: Position, b: int, p: int) -> bool:
        """Whether a broker deletes a replica once more often than controllers yet begin to: a copy stayed behind."""
        stops = (one for one in self.tracks.handled(at.place, b) if isinstance(one, seen.ReplicaStopped))
        lines = (one.line for c in self.model.controllers for one in self.tracks.lines(at.place, c, STATE_CHANGES))
        begun = (
            line for line in lines if isinstance(line, ReplicaChanged) and line.target is ReplicaState.DELETION_STARTED
        )
        named = self.cluster.partitions[p], self.cluster.broker_ids[b - 1]
        times = sum((line.partition, line.replica) == named for line in begun)
        return sum(one.partition == p and one.delete for one in stops) > 1 + times

    def _overdue(self, one: Observed, at: Position) -> Iterator[Candidate]:
        """What leaves no line came before what has a later number, and before its broker heard of a newer controller.

        After that it would be refused.
        """
        if not isinstance(one, seen.RequestHandled):
            return
        if self.deliveries.skips_numbers(one, at):
            yield deliver_request.name, {"c": one.controller, "b": one.broker}
        if one.epoch > part(at.state, "brokers", one.broker).get("controller_epoch", 0):
            for c in self.model.controllers:
                if c != one.controller and self.deliveries.is_overdue(at, c, one.broker):
                    yield deliver_request.name, {"c": c, "b": one.broker}

    def _noted_late(self, one: Observed, at: Position) -> Iterator[Candidate]:
        """An announcement just before the leader notes a change, which it therefore announces the next time."""
        if isinstance(one, seen.NotificationCreated):
            known = part(at.state, "brokers", one.by, "partitions")
            for p in (p for p, partition in known.items() if partition.get("unreported")):
                late = report_isr_changes_before if p in one.partitions else report_isr_changes_without
                yield late.name, {"b": one.by, "p": p}

    def _before(self, one: Observed, at: Position) -> Iterator[Candidate]:
        """Steps without a trace of their own that come right before what was observed."""
        match one:
            case seen.StateWritten(by=c, partition=p):
                for candidate in self.controllers.unseen(at.state):
                    if candidate[0] in READS_BEFORE_WRITES and (candidate[1]["c"], candidate[1]["p"]) == (c, p):
                        yield candidate
            case seen.Handled(broker=b):
                senders: Sequence[int] = self.model.controllers  # who refuses a request has heard of another's
                if isinstance(one, seen.RequestHandled) and not one.refused:
                    senders = [one.controller]
                for c in senders:
                    if self.deliveries.may_be_unlogged(at, c, b):
                        yield deliver_request.name, {"c": c, "b": b}
            case seen.SessionEnded(by=b, survived=False) | seen.SessionBegan(by=b, first=True) if (
                self.deaths_are_inferred
            ):
                yield crash.name, {"b": b}
        leavers = self.tracks.leavers(at.place) if self.deaths_are_inferred else ()
        yield from called_for(self.model, self.cluster, one, at.state, leavers)

    def _is_no_step(self, one: Observed, at: Position) -> Certainty:
        """Whether what was observed changes nothing."""
        match one:
            case seen.ProcessPaused():
                return Certainty.YES
            case seen.StopReplicaRefused():
                return self.deliveries.is_of_nothing(one, at)
            case seen.WriteConflicted(of_leader=p) if leads_with_stale_version(self.model, one, at.state):
                return Certainty.MAYBE if p is None else Certainty.LIKELY
            case seen.ProcessKilled(broker=b) | seen.ProcessStopping(broker=b) if self._is_gone(b, at):
                return Certainty.MAYBE
            case seen.ControllerSaid(incarnation=life) if life == self.tracks.life(at.place, one.controller):
                is_new = not finds_nothing_new(self.system, self.cluster, one, at.state)
                return Certainty.NO if is_new else Certainty.MAYBE
            case _:
                return Certainty.NO

    def _is_gone(self, b: int, at: Position) -> bool:
        """Whether a process has ended by itself before a signal comes, as one does whose start-up has failed."""
        return not part(at.state, "processes", b).get("session") and self.tracks.is_silent(at.place, b)

    def _without_step(self, at: Position, number: int, one: Observed) -> Position:
        place, step = self.tracks.after(at.place, {number: 1}), Explained("", {}, (), (one,))
        stopped = at.stopped
        if isinstance(one, seen.ProcessPaused):
            runs = one.resumed or self._is_gone(one.broker, at)
            stopped = stopped - {one.broker} if runs else stopped | {one.broker}
        return replace(at, place=place, stopped=stopped, before=at, step=step, breaks_off=())
