"""What is claimed of delayed operations: one answer from one thread, the right one, and nobody forgotten.

The compare-and-set alone makes the answer happen once; that is proved, for any number of updates. Where an operation
waits although its condition holds, where a completed one keeps its timer, and where one that was completed by its
condition is answered that it timed out, the code of 0.10.2 slips; each is claimed, and shown to be broken.

PROTOCOL.md section 11.
"""

from spec.language.rules import Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.state.purgatory import (
    PART,
    Answer,
    At,
    Purgatory,
    Winner,
    awaited,
    condition,
    is_about,
    named,
    threads,
    updaters,
)

COMPLETING = (At.CANCEL, At.ON_COMPLETE)
"""Where a thread is that has won and has not answered yet."""
PARTS = (PART,)
SOURCE = "PROTOCOL.md section 11"


# --------------------------------------------------------------------------------------------------------- exactly once


@claim("sometimes", source=SOURCE, parts=PARTS)
def two_threads_complete_one_operation(s: Purgatory, m: Model, o: int) -> Value:
    """A thread is about to set `completed` of an operation that another thread has just won."""
    late = either(*(is_about(s, m, x, o, At.COMPARE_AND_SET) for x in threads(m)))
    return both(late, either(*(is_about(s, m, x, o, *COMPLETING) for x in threads(m))))


@claim(
    "step", source=f"{SOURCE}; DelayedOperation", witness="two_threads_complete_one_operation", parts=PARTS,
    of={"complete"},
)  # fmt: skip
def an_operation_completes_once(before: Purgatory, after: Purgatory, m: Model, o: int) -> Value:
    """An operation's onComplete runs at most once, whoever completes it."""
    return ~flag(before.operations[o].told)


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_expires(s: Purgatory, m: Model, o: int) -> Value:
    """An operation's onExpiration has run."""
    return s.operations[o].expired


@claim(
    "step", source=f"{SOURCE}; DelayedOperation.run", witness="an_operation_expires", parts=PARTS,
    of={"run_on_expiration"},
)  # fmt: skip
def on_expiration_runs_once_after_expiry(before: Purgatory, after: Purgatory, m: Model, o: int) -> Value:
    """An operation's onExpiration runs at most once, after its onComplete, and only where expiry has won."""
    operation = before.operations[o]
    return both(~operation.expired, operation.told, operation.winner == Winner.EXPIRY)


# -------------------------------------------------------------------------------------------------------- right answers


@claim("sometimes", source=SOURCE, parts=PARTS)
def a_creation_that_failed_is_answered(s: Purgatory, m: Model, o: int) -> Facts:
    """A request is answered that named a topic which it could not create."""
    yield from (s.operations[o].answer[k] == Answer.REFUSED for k in named(m, o))


@claim(
    "always", source=f"{SOURCE}; DelayedCreateTopics.onComplete", witness="a_creation_that_failed_is_answered",
    parts=PARTS,
)  # fmt: skip
def an_error_is_kept(s: Purgatory, m: Model, o: int) -> Facts:
    """A topic whose creation failed is answered with that error, and no other topic is."""
    for k in named(m, o):
        answer = s.operations[o].answer[k]
        other = answer != Answer.REFUSED
        yield other if k in awaited(m, o) else either(answer == Answer.NONE, ~other)


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_is_completed_by_its_condition(s: Purgatory, m: Model, o: int) -> Value:
    """An operation whose condition held has been answered."""
    return both(s.operations[o].told, s.operations[o].winner == Winner.CONDITION)


@claim(
    "always", source=f"{SOURCE}; DelayedCreateTopics.onComplete", witness="an_operation_is_completed_by_its_condition",
    parts=PARTS,
)  # fmt: skip
def completed_operations_do_not_time_out(s: Purgatory, m: Model, o: int) -> Value:
    """An operation that its condition completed is not answered with a time-out."""
    operation = s.operations[o]
    late = either(*(operation.answer[k] == Answer.TIMED_OUT for k in named(m, o)))
    return ~both(operation.winner == Winner.CONDITION, late)


# -------------------------------------------------------------------------------------------------- nobody is forgotten


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_waits_at_rest(s: Purgatory, m: Model, o: int) -> Value:
    """An operation waits for its time-out while no update is being handled."""
    return _waits_at_rest(s, m, o)


def _waits_at_rest(s: Purgatory, m: Model, o: int) -> Value:
    operation = s.operations[o]
    quiet = both(s.threads[o].at == At.DONE, *(s.threads[w].at == At.IDLE for w in updaters(m)))
    return both(operation.armed, ~operation.completed, quiet)


@claim(
    "always", source=f"{SOURCE}; AdminManager.hasDelayedTopicOperations", witness="an_operation_waits_at_rest",
    parts=PARTS,
)  # fmt: skip
def satisfied_operations_do_not_wait(s: Purgatory, m: Model, o: int) -> Value:
    """When no update is being handled, no operation waits for its time-out although its condition holds."""
    return ~both(_waits_at_rest(s, m, o), condition(s, m, o))


@claim("sometimes", source=SOURCE, parts=PARTS)
def an_operation_is_completed_while_its_timer_is_armed(s: Purgatory, m: Model, o: int) -> Value:
    """An operation is completed whose entry is in a bucket."""
    return both(s.operations[o].completed, s.operations[o].armed)


@claim(
    "always", source=f"{SOURCE}; TimerTaskEntry.remove", witness="an_operation_is_completed_while_its_timer_is_armed",
    parts=PARTS,
)  # fmt: skip
def answered_operations_have_no_timer(s: Purgatory, m: Model, o: int) -> Value:
    """When the request's thread is back and the winner has answered, the timer is not armed any more."""
    operation, back = s.operations[o], s.threads[o].at == At.DONE
    return ~both(operation.told, back, operation.armed)


@claim("goal", source=SOURCE, parts=PARTS)
def every_request_is_answered(s: Purgatory, m: Model, o: int) -> Facts:
    """Every request has got its answer, of every topic that it named."""
    yield from (s.operations[o].answer[k] != Answer.NONE for k in named(m, o))
