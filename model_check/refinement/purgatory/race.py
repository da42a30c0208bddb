"""The reference's purgatory under a scheduler: every piece that can run, by the name of the specification's step.

The reference's code runs in pieces, from one access to what threads share to the next; in threads it just runs, here
somebody chooses whose next piece it is. Where a real thread takes the first of several (the next on a list), all can be
chosen, for the specification leaves that open.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from reference.purgatory.delayed_topics import (
    NO_LEADER,
    Answers,
    Creation,
    DelayedCreateTopics,
    MetadataCache,
    create_topics,
    handle_update_metadata,
    wait_for_leaders,
)
from reference.purgatory.operations import Pieces, Point
from reference.purgatory.purgatory import Purgatory, Timer
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.model import Model
from spec.protocol.delayed_operations import (
    cancel_timer,
    check_completed,
    compare_and_set,
    complete,
    insert_entry,
    look_at_entry,
    make_entry,
    recheck,
    try_request,
)
from spec.state.purgatory import (
    Answer,
    At,
    Winner,
    executor,
    named,
    partitions,
    partitions_of,
    requests,
    topics,
    updaters,
)

EXISTS = 36
"""The error of a creation that failed."""
ANSWERS = {ErrorCode.NONE: Answer.CREATED, ErrorCode.REQUEST_TIMED_OUT: Answer.TIMED_OUT, EXISTS: Answer.REFUSED}
STEPS = {
    At.CHECK: check_completed.name, At.NEW_ENTRY: make_entry.name, At.LOOK_AT_ENTRY: look_at_entry.name,
    At.INSERT: insert_entry.name, At.RECHECK: recheck.name, At.FIRST_TRY: try_request.name,
    At.SECOND_TRY: try_request.name,
}  # fmt: skip
COMPLETING = {At.COMPARE_AND_SET: compare_and_set.name, At.CANCEL: cancel_timer.name, At.ON_COMPLETE: complete.name}
Choices = dict[str, Callable[[], None]]


class Thread:
    """A thread under the scheduler: the code that it runs, where it is, and what was left of its list there."""

    def __init__(self) -> None:
        self.pieces: Pieces[Any] | None = None
        self.point: Point | None = None
        self.options: tuple[Any, ...] = ()

    def begin(self, pieces: Pieces[Any]) -> None:
        """Run some code up to its first point."""
        self.pieces = pieces
        self.go_on()

    def go_on(self, choice: Any = None) -> None:
        """Run the next piece."""
        if self.pieces is None:
            raise RuntimeError("the thread runs nothing")
        try:
            self.point = self.pieces.send(choice)
            if self.point.at is At.WALK:
                self.options = tuple(self.point.options)
        except StopIteration:
            self.pieces, self.point, self.options = None, None, ()

    @property
    def at(self) -> At:
        """The place in its code; IDLE where it runs none."""
        return At.IDLE if self.point is None else self.point.at


class Race:
    """The reference in its initial state, with a scheduler in place of threads."""

    def __init__(self, m: Model) -> None:
        self.m = m
        self.cache = MetadataCache()
        self.purgatory = Purgatory(Timer(m.switches), purge_interval=m.purgatory.purge_interval, fixes=m.switches)
        self.answers: dict[int, Answers] = {}
        self.operations: dict[int, DelayedCreateTopics] = {}
        self.threads = {x: Thread() for x in range(executor(m) + 1)}
        self.reaper = Thread()
        self.due: list[DelayedCreateTopics] = []
        self.updates = m.scope.budget("updates")
        self.named_by = dict.fromkeys(updaters(m), 0)

    # ------------------------------------------------------------------------------------------------- what can happen

    def choices(self) -> Choices:
        """Every piece that can run, by the name of the specification's step."""
        of_threads = (*map(self._of_request, requests(self.m)), *map(self._of_updater, updaters(self.m)))
        return dict(chain(*of_threads, self._of_timer(), self._of_reaper()))

    def _of_request(self, o: int) -> Iterator[tuple[str, Callable[[], None]]]:
        thread = self.threads[o]
        if o not in self.operations and o not in self.answers:
            yield f"answer_at_once(o={o})", partial(self._create, o, 0)
            if len(self.m.purgatory.refused[o]) < len(named(self.m, o)):
                yield f"try_request(o={o})", partial(self._create, o, 60)
        elif thread.point is not None:
            yield from self._at_point(o, thread)

    def _at_point(self, x: int, thread: Thread) -> Iterator[tuple[str, Callable[[], None]]]:
        point = thread.point
        if point is None or (point.monitor is not None and point.monitor.locked()):
            return
        if point.at is At.WATCH:
            yield f"watch(o={x}, k={int(point.subject)})", thread.go_on
        elif point.at in COMPLETING:
            yield f"{COMPLETING[point.at]}(x={x}, o={self._number(point.subject)})", thread.go_on
        elif point.at in STEPS:
            yield f"{STEPS[point.at]}(o={x})", thread.go_on

    def _of_updater(self, w: int) -> Iterator[tuple[str, Callable[[], None]]]:
        thread = self.threads[w]
        if thread.point is None:
            for p in partitions(self.m) if self.updates else ():
                for led in (0, 1):
                    yield f"update_metadata(w={w}, p={p}, led={led})", partial(self._update, w, p, led)
        elif thread.at is At.COUNT_DELAYED:
            yield f"count_delayed(w={w})", thread.go_on
        elif thread.at is At.WALK and thread.options:
            for one in thread.options:
                if one.completed or not one.monitor.locked():
                    yield f"visit(w={w}, o={self._number(one)})", partial(thread.go_on, one)
        elif thread.at is At.WALK:
            yield f"end_walk(w={w})", thread.go_on
        else:
            yield from self._at_point(w, thread)

    def _of_timer(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for o, one in self.operations.items():
            if self.purgatory.timer.is_armed(one):
                yield f"expire(o={o})", partial(self._expire, one)
        x = executor(self.m)
        thread = self.threads[x]
        if thread.point is None:
            for one in self.due:
                yield f"run_task(o={self._number(one)})", partial(self._run_task, thread, one)
        elif thread.at is At.ON_EXPIRATION:
            yield f"run_on_expiration(o={self._number(thread.point.subject)})", thread.go_on
        else:
            yield from self._at_point(x, thread)

    def _of_reaper(self) -> Iterator[tuple[str, Callable[[], None]]]:
        if self.reaper.point is None:
            if self.purgatory.estimated - self.purgatory.delayed > self.purgatory.purge_interval:
                yield "begin_purge()", lambda: self.reaper.begin(self.purgatory.purge())
        else:
            for key in self.reaper.options:
                yield f"purge(k={int(key)})", partial(self.reaper.go_on, key)

    # ------------------------------------------------------------------------------------------------------- the steps

    def _create(self, o: int, timeout: float) -> None:
        refused, sizes = self.m.purgatory.refused[o], self.m.purgatory.partitions
        creations = [Creation(str(k), sizes[k], EXISTS if k in refused else 0) for k in named(self.m, o)]
        respond = partial(self.answers.__setitem__, o)
        operation = create_topics(self.cache, creations, timeout, respond, self.m.switches)
        if operation is not None:
            self.operations[o] = operation
            self.threads[o].begin(wait_for_leaders(self.purgatory, operation))
            self.threads[o].go_on()

    def _update(self, w: int, p: int, led: int) -> None:
        self.updates -= 1
        partition, thread = self._partition(p), self.threads[w]
        self.named_by[w] = int(partition.topic)
        thread.begin(handle_update_metadata(self.purgatory, self.cache, {partition: 1 if led else NO_LEADER}))
        thread.go_on()

    def _expire(self, one: DelayedCreateTopics) -> None:
        self.purgatory.timer.expire(one)
        while not self.purgatory.timer.tasks.empty():
            self.due.append(self.purgatory.timer.tasks.get_nowait())  # type: ignore[arg-type]

    def _run_task(self, thread: Thread, one: DelayedCreateTopics) -> None:
        self.due.remove(one)
        thread.begin(one.run())

    # ------------------------------------------------------------------------------------------------------- the state

    def _number(self, one: DelayedCreateTopics) -> int:
        return next(o for o, known in self.operations.items() if known is one)

    def _partition(self, p: int) -> TopicPartition:
        k = next(k for k in topics(self.m) if p in partitions_of(self.m, k))
        return TopicPartition(str(k), p - partitions_of(self.m, k).start)

    def state(self) -> dict[str, object]:
        """The specification's variables, as the reference has them."""
        found: dict[str, object] = {"estimated": self.purgatory.estimated, "budget.updates": self.updates}
        for p in partitions(self.m):
            found[f"led[{p}]"] = self.cache.has_leader(self._partition(p))
        for k in topics(self.m):
            listed = self.purgatory.found(str(k))
            found[f"purging[{k}]"] = str(k) in self.reaper.options
            for o in requests(self.m):
                if k in named(self.m, o):
                    found[f"watching[{k}][{o}]"] = self.operations.get(o) in listed
        for o in requests(self.m):
            found.update(self._operation(o))
        for x, thread in self.threads.items():
            found.update({f"threads[{x}].{name}": value for name, value in self._thread(x, thread).items()})
        return found

    def _operation(self, o: int) -> Iterator[tuple[str, object]]:
        one, path = self.operations.get(o), f"operations[{o}]"
        yield f"{path}.completed", one is not None and bool(one.completed)
        yield f"{path}.entry", one is not None and one.entry is not None
        yield f"{path}.armed", one is not None and self.purgatory.timer.is_armed(one)
        yield f"{path}.due", one in self.due
        yield f"{path}.told", 0 if one is None else one.told
        yield f"{path}.expired", 0 if one is None else one.expirations
        by_condition = None if one is None else one.is_by_condition
        winners = {None: Winner.NOBODY, True: Winner.CONDITION, False: Winner.EXPIRY}
        yield f"{path}.winner", winners[by_condition]
        for k in named(self.m, o):
            answer = self.answers.get(o, {}).get(str(k))
            yield f"{path}.answer[{k}]", Answer.NONE if answer is None else ANSWERS[answer]

    def _thread(self, x: int, thread: Thread) -> dict[str, object]:
        point = thread.point
        if x in requests(self.m):
            place = named(self.m, x).index(int(point.subject)) if point is not None and point.at is At.WATCH else 0
            begun = x in self.operations or x in self.answers
            return {"at": thread.at if point is not None else At.DONE if begun else At.FIRST_TRY, "place": place}
        about = point.subject if point is not None and point.at in {*COMPLETING, At.ON_EXPIRATION} else None
        found: dict[str, object] = {"at": thread.at, "operation": 0 if about is None else self._number(about)}
        if x in updaters(self.m):
            found["topic"] = 0 if point is None else self.named_by[x]
            left = [self._number(one) for one in thread.options]
            found |= {f"todo[{o}]": o in left for o in requests(self.m)}
        return found
