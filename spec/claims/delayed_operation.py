"""What is claimed of delayed operations: one answer from one thread, the right one, and nobody forgotten.

The compare-and-set alone makes the answer happen once; that is proved, for any number of updates. Where an operation
waits although its condition holds, where a completed one keeps its timer, and where one that was completed by its
condition is answered that it timed out, the code of 0.10.2 slips; each is claimed, and shown to be broken.

PROTOCOL.md section 11.
"""

from collections.abc import Callable
from itertools import combinations

from spec.claims.goals import both_claims
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, choose, either, flag
from spec.model import Model
from spec.state.purgatory import (
    PART,
    Answer,
    At,
    Purgatory,
    Winner,
    awaited,
    condition,
    executor,
    is_about,
    named,
    requests,
    threads,
    updaters,
)
from spec.variants import Switch

COMPLETING = (At.CANCEL, At.ON_COMPLETE)
"""Where a thread is that has won and has not answered yet."""
PARTS = (PART,)
SOURCE = "PROTOCOL.md section 11"
PURGATORY = "DelayedOperationPurgatory.tryCompleteElseWatch 0.10.2.2"


def is_completing(s: Purgatory, m: Model, o: int) -> Value:
    """Whether some thread has won the operation and has not answered yet."""
    return either(*(is_about(s, m, x, o, *COMPLETING) for x in threads(m)))


def _each(s: Purgatory, m: Model, fact: Callable[[Purgatory, Model, int], Value]) -> Value:
    """A fact of every operation."""
    return both(*(fact(s, m, o) for o in requests(m)))


# --------------------------------------------------------------------------------------------------------- exactly once


@claim("sometimes", source=SOURCE, parts=PARTS)
def two_threads_complete_one_operation(s: Purgatory, m: Model) -> Value:
    """A thread is about to set `completed` of an operation that another thread has just won."""
    facts = []
    for o in requests(m):
        late = either(*(is_about(s, m, x, o, At.COMPARE_AND_SET) for x in threads(m)))
        facts.append(both(late, is_completing(s, m, o)))
    return either(*facts)


@claim("step", source=f"{SOURCE}; DelayedOperation", witness="two_threads_complete_one_operation", parts=PARTS)
def an_operation_completes_once(before: Purgatory, after: Purgatory, m: Model, action: Action) -> Value | None:
    """An operation's onComplete runs at most once, whoever completes it."""
    if action.rule != "complete":
        return None
    return ~flag(before.operations[action.parameters["o"]].told)


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_expires(s: Purgatory, m: Model) -> Value:
    """An operation's onExpiration has run."""
    return either(*(s.operations[o].expired for o in requests(m)))


@claim("step", source=f"{SOURCE}; DelayedOperation.run", witness="an_operation_expires", parts=PARTS)
def on_expiration_runs_once_after_expiry(before: Purgatory, after: Purgatory, m: Model, action: Action) -> Value | None:
    """An operation's onExpiration runs at most once, after its onComplete, and only where expiry has won."""
    if action.rule != "run_on_expiration":
        return None
    operation = before.operations[action.parameters["o"]]
    return both(~operation.expired, operation.told, operation.winner == Winner.EXPIRY)


# -------------------------------------------------------------------------------------------------------- right answers


@claim("sometimes", source=SOURCE, parts=PARTS)
def a_creation_that_failed_is_answered(s: Purgatory, m: Model) -> Value:
    """A request is answered that named a topic which it could not create."""
    return either(*(s.operations[o].answer[k] == Answer.REFUSED for o in requests(m) for k in named(m, o)))


@claim(
    "always", source=f"{SOURCE}; DelayedCreateTopics.onComplete", witness="a_creation_that_failed_is_answered",
    parts=PARTS,
)  # fmt: skip
def an_error_is_kept(s: Purgatory, m: Model) -> Facts:
    """A topic whose creation failed is answered with that error, and no other topic is."""
    for o in requests(m):
        for k in named(m, o):
            answer = s.operations[o].answer[k]
            other = answer != Answer.REFUSED
            yield other if k in awaited(m, o) else either(answer == Answer.NONE, ~other)


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_is_completed_by_its_condition(s: Purgatory, m: Model) -> Value:
    """An operation whose condition held has been answered."""
    operations = [s.operations[o] for o in requests(m)]
    return either(*(both(one.told, one.winner == Winner.CONDITION) for one in operations))


@claim(
    "always", source=f"{SOURCE}; DelayedCreateTopics.onComplete",
    witness="an_operation_is_completed_by_its_condition", parts=PARTS,
)  # fmt: skip
def completed_operations_do_not_time_out(s: Purgatory, m: Model) -> Facts:
    """An operation that its condition completed is not answered with a time-out."""
    for o in requests(m):
        operation = s.operations[o]
        late = either(*(operation.answer[k] == Answer.TIMED_OUT for k in named(m, o)))
        yield ~both(operation.winner == Winner.CONDITION, late)


# -------------------------------------------------------------------------------------------------- nobody is forgotten


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_waits_at_rest(s: Purgatory, m: Model) -> Value:
    """An operation waits for its time-out while no update is being handled."""
    return either(*(_waits_at_rest(s, m, o) for o in requests(m)))


def _waits_at_rest(s: Purgatory, m: Model, o: int) -> Value:
    operation = s.operations[o]
    quiet = both(s.threads[o].at == At.DONE, *(s.threads[w].at == At.IDLE for w in updaters(m)))
    return both(operation.armed, ~operation.completed, quiet)


@claim(
    "always", source=f"{SOURCE}; AdminManager.hasDelayedTopicOperations", witness="an_operation_waits_at_rest",
    parts=PARTS,
)  # fmt: skip
def satisfied_operations_do_not_wait(s: Purgatory, m: Model) -> Value:
    """When no update is being handled, no operation waits for its time-out although its condition holds."""
    return both(*(~both(_waits_at_rest(s, m, o), condition(s, m, o)) for o in requests(m)))


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_is_completed_while_its_timer_is_armed(s: Purgatory, m: Model) -> Value:
    """An operation is completed whose entry is in a bucket."""
    return either(*(both(s.operations[o].completed, s.operations[o].armed) for o in requests(m)))


@claim(
    "always", source=f"{SOURCE}; TimerTaskEntry.remove",
    witness="an_operation_is_completed_while_its_timer_is_armed", parts=PARTS,
)  # fmt: skip
def answered_operations_have_no_timer(s: Purgatory, m: Model) -> Facts:
    """When the request's thread is back and the winner has answered, the timer is not armed any more."""
    for o in requests(m):
        operation, back = s.operations[o], s.threads[o].at == At.DONE
        yield ~both(operation.told, back, operation.armed)


def every_request_is_answered(s: Purgatory, m: Model) -> Value:
    """Every request has got its answer, of every topic that it named."""
    answers = [s.operations[o].answer[k] for o in requests(m) for k in named(m, o)]
    return both(*(answer != Answer.NONE for answer in answers))


CLAIMS = (
    two_threads_complete_one_operation, an_operation_completes_once, an_operation_expires,
    on_expiration_runs_once_after_expiry, a_creation_that_failed_is_answered, an_error_is_kept,
    an_operation_is_completed_by_its_condition, completed_operations_do_not_time_out,
    an_operation_waits_at_rest, satisfied_operations_do_not_wait, an_operation_is_completed_while_its_timer_is_armed,
    answered_operations_have_no_timer, *both_claims(every_request_is_answered, SOURCE, PARTS),
)  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- lemmas


@claim("always", source=f"{SOURCE}; AtomicBoolean.compareAndSet", parts=PARTS)
def one_thread_wins(s: Purgatory, m: Model) -> Facts:
    """At most one thread has won an operation and not answered yet; `completed` is set, and nobody has answered."""
    for o in requests(m):
        at_work = {x: is_about(s, m, x, o, *COMPLETING) for x in threads(m)}
        yield from (~both(at_work[a], at_work[b]) for a, b in combinations(threads(m), 2))
        yield either(*at_work.values()).implies(both(s.operations[o].completed, ~s.operations[o].told))


@claim("always", source=SOURCE, parts=PARTS)
def answered_operations_were_completed(s: Purgatory, m: Model) -> Value:
    """Only of what is completed onComplete has run, and only what is completed has a winner."""

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation = s.operations[o]
        has_winner = operation.winner != Winner.NOBODY
        return both(operation.told.implies(operation.completed), operation.completed == has_winner)

    return _each(s, m, fact)


@claim("always", source="DelayedOperation.run 0.10.2.2", parts=PARTS)
def the_executor_wins_by_expiry(s: Purgatory, m: Model) -> Value:
    """What the executor has won, expiry has won; onExpiration follows onComplete; before the winner nothing ran."""

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation, x = s.operations[o], executor(m)
        by_expiry = both(operation.winner == Winner.EXPIRY, ~operation.expired)
        return both(
            is_about(s, m, x, o, *COMPLETING, At.ON_EXPIRATION).implies(by_expiry),
            is_about(s, m, x, o, At.ON_EXPIRATION).implies(operation.told),
            operation.expired.implies(both(operation.told, operation.winner == Winner.EXPIRY)),
        )

    return _each(s, m, fact)


@claim("always", source=f"{SOURCE}, fixed", parts=PARTS)
def a_completed_operation_loses_its_entry(s: Purgatory, m: Model) -> Value | None:
    """An armed entry can be cancelled, and that of a completed operation is about to be."""
    if not m.fixes(Switch.INSERT_UNDER_MONITOR):
        return None
    arming = (At.INSERT, At.SECOND_TRY, At.COMPARE_AND_SET, At.RECHECK)

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation = s.operations[o]
        cancelling = either(*(is_about(s, m, x, o, At.CANCEL) for x in threads(m)))
        on_its_way = either(cancelling, *(s.threads[o].at == at for at in arming))
        return both(
            operation.armed.implies(operation.entry),
            both(operation.completed, operation.entry).implies(on_its_way),
        )

    return _each(s, m, fact)


@claim("always", source=PURGATORY, parts=PARTS)
def operations_are_private_before_they_are_watched(s: Purgatory, m: Model) -> Value:
    """Up to its first try, and if its request is answered at once, an operation is on no list, timer or thread."""

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation, others = s.operations[o], [x for x in threads(m) if x != o]
        busy = [is_about(s, m, x, o, At.COMPARE_AND_SET, *COMPLETING, At.ON_EXPIRATION) for x in others]
        todo = [s.threads[w].todo[o] for w in updaters(m)]
        on_lists = [s.watching[k][o] for k in named(m, o)]
        known = either(operation.completed, operation.entry, operation.armed, operation.due, *busy, *todo, *on_lists)
        answered = either(*(operation.answer[k] != Answer.NONE for k in named(m, o)))
        at_once, at = both(answered, ~operation.told), s.threads[o].at
        return both(~both(either(at == At.FIRST_TRY, at_once), known), at_once.implies(at == At.DONE))

    return _each(s, m, fact)


@claim("always", source=PURGATORY, parts=PARTS)
def pending_operations_are_watched(s: Purgatory, m: Model) -> Value:
    """A pending operation is on the lists that its thread has passed; behind them on all, or it was never watched."""

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation, thread, keys = s.operations[o], s.threads[o], named(m, o)
        passed = both(*(either(thread.place <= i, s.watching[k][o]) for i, k in enumerate(keys)))
        at_once = both(thread.at == At.DONE, ~operation.armed, ~operation.entry, ~operation.due)
        first = either(thread.at == At.FIRST_TRY, thread.at == At.COMPARE_AND_SET)
        here = choose(thread.at == At.WATCH, passed, either(first, at_once, _is_watched(s, m, o)))
        return both(either(operation.completed, here), either(thread.at == At.WATCH, thread.place == 0))

    return _each(s, m, fact)


def _is_watched(s: Purgatory, m: Model, o: int) -> Value:
    return both(*(s.watching[k][o] for k in named(m, o)))


@claim("always", source=f"{SOURCE}, fixed", parts=PARTS)
def satisfied_operations_are_being_tried(s: Purgatory, m: Model) -> Value | None:
    """To a pending operation with an armed timer whose condition holds, its own thread or an updater comes."""
    if not m.fixes(Switch.ARM_BEFORE_SECOND_TRY):
        return None
    own = (At.FIRST_TRY, At.WATCH, At.NEW_ENTRY, At.LOOK_AT_ENTRY, At.INSERT, At.SECOND_TRY, At.COMPARE_AND_SET)

    def fact(s: Purgatory, m: Model, o: int) -> Value:
        operation, at = s.operations[o], s.threads[o].at
        comes = either(*(at == place for place in own), *(_comes_to(s, m, w, o) for w in updaters(m)))
        waits = both(operation.armed, ~operation.completed)
        watched = either(_is_watched(s, m, o), at == At.FIRST_TRY, at == At.WATCH)
        return both(waits.implies(watched), both(waits, condition(s, m, o)).implies(comes))

    return _each(s, m, fact)


def _comes_to(s: Purgatory, m: Model, w: int, o: int) -> Value:
    """Whether an updater will try the operation before it rests."""
    thread = s.threads[w]
    named_by = either(*(thread.topic == k for k in named(m, o)))
    return either(
        both(thread.at == At.COUNT_DELAYED, named_by),
        both(thread.at == At.WALK, thread.todo[o]),
        both(thread.at == At.COMPARE_AND_SET, either(thread.operation == o, thread.todo[o])),
        both(either(*(thread.at == at for at in COMPLETING)), thread.todo[o]),
    )


LEMMAS = (
    one_thread_wins, answered_operations_were_completed, the_executor_wins_by_expiry,
    operations_are_private_before_they_are_watched, pending_operations_are_watched,
    a_completed_operation_loses_its_entry,
    satisfied_operations_are_being_tried,
)  # fmt: skip
