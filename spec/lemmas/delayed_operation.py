"""Lemmas about delayed operations: which thread has won, what is watched, and which threads come to try.

PROTOCOL.md section 11.
"""

from itertools import combinations

from spec.claims.delayed_operation import COMPLETING, PARTS, SOURCE
from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, choose, either
from spec.model import Model
from spec.state.purgatory import Answer, At, Purgatory, Winner, condition, executor, is_about, named, threads, updaters
from spec.variants import Switch

PURGATORY = "DelayedOperationPurgatory.tryCompleteElseWatch 0.10.2.2"


@lemma(source=f"{SOURCE}; AtomicBoolean.compareAndSet", parts=PARTS)
def one_thread_wins(s: Purgatory, m: Model, o: int) -> Facts:
    """At most one thread has won an operation and not answered yet; `completed` is set, and nobody has answered."""
    at_work = {x: is_about(s, m, x, o, *COMPLETING) for x in threads(m)}
    yield from (~both(at_work[a], at_work[b]) for a, b in combinations(threads(m), 2))
    yield either(*at_work.values()).implies(both(s.operations[o].completed, ~s.operations[o].told))


@lemma(source=SOURCE, parts=PARTS)
def answered_operations_were_completed(s: Purgatory, m: Model, o: int) -> Value:
    """Only of what is completed onComplete has run, and only what is completed has a winner."""
    operation = s.operations[o]
    has_winner = operation.winner != Winner.NOBODY
    return both(operation.told.implies(operation.completed), operation.completed == has_winner)


@lemma(source="DelayedOperation.run 0.10.2.2", parts=PARTS)
def the_executor_wins_by_expiry(s: Purgatory, m: Model, o: int) -> Value:
    """What the executor has won, expiry has won; onExpiration follows onComplete; before the winner nothing ran."""
    operation, x = s.operations[o], executor(m)
    by_expiry = both(operation.winner == Winner.EXPIRY, ~operation.expired)
    return both(
        is_about(s, m, x, o, *COMPLETING, At.ON_EXPIRATION).implies(by_expiry),
        is_about(s, m, x, o, At.ON_EXPIRATION).implies(operation.told),
        operation.expired.implies(both(operation.told, operation.winner == Winner.EXPIRY)),
    )


@lemma(source=PURGATORY, parts=PARTS)
def operations_are_private_before_they_are_watched(s: Purgatory, m: Model, o: int) -> Value:
    """Up to its first try, and if its request is answered at once, an operation is on no list, timer or thread."""
    operation, others = s.operations[o], [x for x in threads(m) if x != o]
    busy = [is_about(s, m, x, o, At.COMPARE_AND_SET, *COMPLETING, At.ON_EXPIRATION) for x in others]
    todo = [s.threads[w].todo[o] for w in updaters(m)]
    on_lists = [s.watching[k][o] for k in named(m, o)]
    known = either(operation.completed, operation.entry, operation.armed, operation.due, *busy, *todo, *on_lists)
    answered = either(*(operation.answer[k] != Answer.NONE for k in named(m, o)))
    at_once, at = both(answered, ~operation.told), s.threads[o].at
    return both(~both(either(at == At.FIRST_TRY, at_once), known), at_once.implies(at == At.DONE))


@lemma(source=PURGATORY, parts=PARTS)
def pending_operations_are_watched(s: Purgatory, m: Model, o: int) -> Value:
    """A pending operation is on the lists that its thread has passed; behind them on all, or it was never watched."""
    operation, thread, keys = s.operations[o], s.threads[o], named(m, o)
    passed = both(*(either(thread.place <= i, s.watching[k][o]) for i, k in enumerate(keys)))
    at_once = both(thread.at == At.DONE, ~operation.armed, ~operation.entry, ~operation.due)
    first = either(thread.at == At.FIRST_TRY, thread.at == At.COMPARE_AND_SET)
    here = choose(thread.at == At.WATCH, passed, either(first, at_once, _is_watched(s, m, o)))
    return both(either(operation.completed, here), either(thread.at == At.WATCH, thread.place == 0))


def _is_watched(s: Purgatory, m: Model, o: int) -> Value:
    return both(*(s.watching[k][o] for k in named(m, o)))


@lemma(source=f"{SOURCE}, fixed", parts=PARTS, fixed=(Switch.INSERT_UNDER_MONITOR,))
def a_completed_operation_loses_its_entry(s: Purgatory, m: Model, o: int) -> Value:
    """An armed entry can be cancelled, and that of a completed operation is about to be."""
    arming = (At.INSERT, At.SECOND_TRY, At.COMPARE_AND_SET, At.RECHECK)
    operation = s.operations[o]
    cancelling = either(*(is_about(s, m, x, o, At.CANCEL) for x in threads(m)))
    on_its_way = either(cancelling, *(s.threads[o].at == at for at in arming))
    return both(
        operation.armed.implies(operation.entry), both(operation.completed, operation.entry).implies(on_its_way)
    )


@lemma(source=f"{SOURCE}, fixed", parts=PARTS, fixed=(Switch.ARM_BEFORE_SECOND_TRY,))
def satisfied_operations_are_being_tried(s: Purgatory, m: Model, o: int) -> Value:
    """To a pending operation with an armed timer whose condition holds, its own thread or an updater comes."""
    own = (At.FIRST_TRY, At.WATCH, At.NEW_ENTRY, At.LOOK_AT_ENTRY, At.INSERT, At.SECOND_TRY, At.COMPARE_AND_SET)
    operation, at = s.operations[o], s.threads[o].at
    comes = either(*(at == place for place in own), *(_comes_to(s, m, w, o) for w in updaters(m)))
    waits = both(operation.armed, ~operation.completed)
    watched = either(_is_watched(s, m, o), at == At.FIRST_TRY, at == At.WATCH)
    return both(waits.implies(watched), both(waits, condition(s, m, o)).implies(comes))


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
