"""Delayed operations: a purgatory in which CreateTopics requests wait for leaders, and the threads that race there.

A broker that creates topics answers when every partition of them has a leader in its metadata cache, or when the
request's time is up. Until then the operation is on the watch list of every topic that the request names. Three kinds
of threads meet in it: the one that handles the request (it tries, watches each key, tries again, arms the timer), those
that handle UpdateMetadata (they try what is watched under the topics that the update names), and the timer's executor.
Whoever sets the operation's flag `completed` answers, and nobody else.

An operation is *pending*, then completed *by its condition* or *by expiry*. A step is one access to what threads share:
a look at the cache, the compare-and-set, a list, the timer. The purgatory is a small system of its own: a scope with it
has nothing else of the protocol, and elections reach it as updates of the cache.

What was left out on purpose: time (an armed entry may come due at any moment) and the wheels' levels; that the cache is
read partition by partition; that an update looks at the timer and at a list one after the other; operations that are
put on a list while somebody walks it (the walk goes on over those that it found, for the second try sees what the walk
came for); the map from keys to lists, which only saves empty lists; and that the reaper counts what is armed, and sets
the estimate, in two steps.

Kafka 0.10.2.2: `DelayedOperation`, `DelayedOperationPurgatory`, `DelayedCreateTopics`, `SystemTimer`, `TimerTask`,
`AdminManager.createTopics`, `KafkaApis.handleUpdateMetadataRequest`. PROTOCOL.md section 11.
"""

from spec.language.rules import action, observe, require, successor, when
from spec.language.terms import Value, both, choose, either, enumeration
from spec.model import Model
from spec.state.purgatory import (
    HOLDING,
    PART,
    Answer,
    At,
    Purgatory,
    Winner,
    awaited,
    condition,
    delayed,
    executor,
    is_about,
    is_led,
    named,
    partitions_of,
    requests,
    threads,
    topics,
    updaters,
)
from spec.variants import Switch

PURGATORY = "DelayedOperationPurgatory.tryCompleteElseWatch 0.10.2.2"
UPDATE = "KafkaApis.handleUpdateMetadataRequest 0.10.2.2"
TIMER = "SystemTimer 0.10.2.2"


def _may_try(s: Purgatory, m: Model, o: int) -> Value:
    """Whether nobody is in the operation's monitor; the executor completes without entering it."""
    return ~either(*(is_about(s, m, x, o, *HOLDING) for x in threads(m) if x != executor(m)))


# ------------------------------------------------------------------------------------------------- the request's thread


@action(actor="request {o}", source="AdminManager.createTopics 0.10.2.2", parts=(PART,))
def answer_at_once(s: Purgatory, m: Model, o: int) -> None:
    """With a time-out of 0 or less, or where nothing was created, there is no operation: answer without a look."""
    require(s.threads[o].at == At.FIRST_TRY)
    for k in named(m, o):
        _answer(s, o, k, Answer.TIMED_OUT if k in awaited(m, o) else Answer.REFUSED)
    s.threads[o].at = At.DONE


@action(actor="request {o}", source=PURGATORY, parts=(PART,))
def try_request(s: Purgatory, m: Model, o: int) -> None:
    """Try the operation: if its condition holds, complete it; else watch it, or go on to the timer."""
    thread = s.threads[o]
    require(bool(awaited(m, o)), either(thread.at == At.FIRST_TRY, thread.at == At.SECOND_TRY), _may_try(s, m, o))
    holds = condition(s, m, o)
    again = choose(thread.at == At.FIRST_TRY, enumeration(At).constant(At.WATCH), _after_second_try(m))
    thread.at = choose(holds, enumeration(At).constant(At.COMPARE_AND_SET), again)


def _after_second_try(m: Model) -> Value:
    """The timer is armed after the second try, or, fixed, before it."""
    return enumeration(At).constant(At.RECHECK if m.fixes(Switch.ARM_BEFORE_SECOND_TRY) else At.CHECK)


@action(actor="request {o}", source=PURGATORY, parts=(PART,))
def watch(s: Purgatory, m: Model, o: int, k: int) -> None:
    """Put the operation on the list of the next key; or stop, if somebody has completed it already."""
    thread, operation, place = s.threads[o], s.operations[o], named(m, o).index(k)
    require(thread.at == At.WATCH, thread.place == place)
    with when(operation.completed):
        thread.at, thread.place = At.DONE, 0
    with when(~operation.completed):
        s.watching[k][o] = True
        if place == 0:
            s.estimated = successor(s.estimated)
        thread.place = place + 1
        if place + 1 == len(named(m, o)):
            thread.at = At.NEW_ENTRY if m.fixes(Switch.ARM_BEFORE_SECOND_TRY) else At.SECOND_TRY
            thread.place = 0


@action(actor="request {o}", source=PURGATORY, parts=(PART, "late_arming"))
def check_completed(s: Purgatory, m: Model, o: int) -> None:
    """Go on to the timer, unless somebody else has completed the operation."""
    require(s.threads[o].at == At.CHECK)
    completed = s.operations[o].completed
    s.threads[o].at = choose(completed, enumeration(At).constant(At.DONE), At.NEW_ENTRY)


@action(actor="request {o}", source="TimerTask.setTimerTaskEntry 0.10.2.2", parts=(PART,))
def make_entry(s: Purgatory, m: Model, o: int) -> None:
    """Make a timer entry for the operation; from now on it can be cancelled."""
    require(s.threads[o].at == At.NEW_ENTRY)
    s.operations[o].entry = True
    s.threads[o].at = At.INSERT if m.fixes(Switch.INSERT_UNDER_MONITOR) else At.LOOK_AT_ENTRY


@action(actor="request {o}", source="TimingWheel.add 0.10.2.2", parts=(PART, "unguarded_insertion"))
def look_at_entry(s: Purgatory, m: Model, o: int) -> None:
    """See whether the entry is cancelled; if so it is not put in a bucket."""
    require(s.threads[o].at == At.LOOK_AT_ENTRY)
    entry = s.operations[o].entry
    s.threads[o].at = choose(entry, enumeration(At).constant(At.INSERT), _after_insertion(m))


@action(actor="request {o}", source="TimerTaskList.add 0.10.2.2", parts=(PART,))
def insert_entry(s: Purgatory, m: Model, o: int) -> None:
    """Put the entry in a bucket: the timer is armed. A cancel since it was looked at found it in none."""
    operation = s.operations[o]
    require(s.threads[o].at == At.INSERT)
    operation.armed = operation.entry if m.fixes(Switch.INSERT_UNDER_MONITOR) else True
    s.threads[o].at = _after_insertion(m)


def _after_insertion(m: Model) -> Value:
    return enumeration(At).constant(At.SECOND_TRY if m.fixes(Switch.ARM_BEFORE_SECOND_TRY) else At.RECHECK)


@action(actor="request {o}", source=PURGATORY, parts=(PART,))
def recheck(s: Purgatory, m: Model, o: int) -> None:
    """Cancel the timer if the operation was completed while it was being armed; the request's thread is done."""
    require(s.threads[o].at == At.RECHECK)
    with when(s.operations[o].completed):
        _cancel(s, o)
    s.threads[o].at = At.DONE


# ------------------------------------------------------------------------------------------------------- forceComplete


@action(actor="thread {x}", source="DelayedOperation.forceComplete 0.10.2.2", parts=(PART,))
def compare_and_set(s: Purgatory, m: Model, x: int, o: int) -> None:
    """Set `completed` if it is not set: one thread wins, all others go on as if the condition did not hold."""
    thread, operation = s.threads[x], s.operations[o]
    require(is_about(s, m, x, o, At.COMPARE_AND_SET))
    won = ~operation.completed
    with when(won):
        operation.winner = Winner.EXPIRY if x == executor(m) else Winner.CONDITION
        thread.at = At.CANCEL
    with when(~won):
        _go_on(s, m, x, o, _after_second_try(m))
    operation.completed = True


@action(actor="thread {x}", source="DelayedOperation.forceComplete, TimerTask.cancel 0.10.2.2", parts=(PART,))
def cancel_timer(s: Purgatory, m: Model, x: int, o: int) -> None:
    """The winner cancels the timer, if there is an entry."""
    require(is_about(s, m, x, o, At.CANCEL))
    _cancel(s, o)
    s.threads[x].at = At.ON_COMPLETE


@action(actor="thread {x}", source="DelayedCreateTopics.onComplete 0.10.2.2", parts=(PART,))
def complete(s: Purgatory, m: Model, x: int, o: int) -> None:
    """The winner answers, by another look at the cache; a walk then takes the operation off its list."""
    operation, thread = s.operations[o], s.threads[x]
    require(is_about(s, m, x, o, At.ON_COMPLETE))
    operation.told = True
    for k in named(m, o):
        led = is_led(s, m, k)
        if m.fixes(Switch.ANSWER_AS_FOUND):
            led = either(led, operation.winner == Winner.CONDITION)
        answer = choose(led, enumeration(Answer).constant(Answer.CREATED), Answer.TIMED_OUT)
        _answer(s, o, k, answer if k in awaited(m, o) else Answer.REFUSED)
    if x in updaters(m):
        for k in named(m, o):
            with when(thread.topic == k):
                s.watching[k][o] = False
    if x == executor(m):
        thread.at = At.ON_EXPIRATION
    else:
        _go_on(s, m, x, o, enumeration(At).constant(At.DONE))


def _go_on(s: Purgatory, m: Model, x: int, o: int, request_goes_to: Value) -> None:
    """Where a thread goes when forceComplete returns: a walk to its next operation, the executor to its next task."""
    thread = s.threads[x]
    if x in requests(m):
        thread.at = request_goes_to
        return
    thread.operation = 0
    thread.at = At.IDLE if x == executor(m) else At.WALK
    if x in updaters(m):
        thread.todo[o] = False


def _cancel(s: Purgatory, o: int) -> None:
    """Take the entry out of its bucket, if there is an entry, and forget it."""
    operation = s.operations[o]
    operation.armed = both(operation.armed, ~operation.entry)
    operation.entry = False


def _answer(s: Purgatory, o: int, k: int, answer: Value | Answer) -> None:
    s.operations[o].answer[k] = answer
    observe(f"request {o}", "answer", topic=k, error=s.operations[o].answer[k])


# ------------------------------------------------------------------------------------ updates, the timer and the reaper


@action(actor="thread {w}", source=UPDATE, budget="updates", parts=(PART,))
def update_metadata(s: Purgatory, m: Model, w: int, p: int, led: int) -> None:
    """UpdateMetadata names a partition, which has a leader now, or has lost it: the cache takes it over."""
    thread = s.threads[w]
    require(thread.at == At.IDLE)
    s.led[p] = bool(led)
    thread.topic = next(k for k in topics(m) if p in partitions_of(m, k))
    thread.at = At.COUNT_DELAYED


@action(actor="thread {w}", source=f"{UPDATE}; AdminManager.hasDelayedTopicOperations", parts=(PART,))
def count_delayed(s: Purgatory, m: Model, w: int) -> None:
    """If no timer is armed there is nothing to try; else walk the list of the topic, as it is now."""
    thread = s.threads[w]
    require(thread.at == At.COUNT_DELAYED)
    some = either(*(s.operations[o].armed for o in requests(m)))
    for k in topics(m):
        for o in requests(m):
            if k in named(m, o):
                with when(both(some, thread.topic == k)):
                    thread.todo[o] = s.watching[k][o]
    thread.at = choose(some, enumeration(At).constant(At.WALK), At.IDLE)
    thread.topic = choose(some, thread.topic, 0)


@action(actor="thread {w}", source="DelayedOperationPurgatory.Watchers.tryCompleteWatched 0.10.2.2", parts=(PART,))
def visit(s: Purgatory, m: Model, w: int, o: int) -> None:
    """Take a completed operation off the list; try another: if its condition holds, complete it, else leave it."""
    thread, completed = s.threads[w], s.operations[o].completed
    require(thread.at == At.WALK, thread.todo[o], completed | _may_try(s, m, o))
    holds = both(~completed, condition(s, m, o))
    for k in named(m, o):
        with when(both(completed, thread.topic == k)):
            s.watching[k][o] = False
    thread.todo[o] = holds
    with when(holds):
        thread.operation = o
        thread.at = At.COMPARE_AND_SET


@action(actor="thread {w}", source="DelayedOperationPurgatory.Watchers.tryCompleteWatched 0.10.2.2", parts=(PART,))
def end_walk(s: Purgatory, m: Model, w: int) -> None:
    """The walk is over, and with it the update."""
    thread = s.threads[w]
    require(thread.at == At.WALK, ~either(*(thread.todo[o] for o in requests(m))))
    thread.at, thread.topic = At.IDLE, 0


@action(actor="reaper", source=f"{TIMER}.advanceClock", parts=(PART,))
def expire(s: Purgatory, m: Model, o: int) -> None:
    """The time is up: the entry leaves its bucket, and goes to the executor unless it is cancelled."""
    operation = s.operations[o]
    require(operation.armed)
    operation.armed = False
    operation.due = operation.entry


@action(actor="executor", source=f"{TIMER}: taskExecutor", parts=(PART,))
def run_task(s: Purgatory, m: Model, o: int) -> None:
    """The executor takes the next task: it completes the operation, whatever the condition says."""
    thread = s.threads[executor(m)]
    require(thread.at == At.IDLE, s.operations[o].due)
    s.operations[o].due = False
    thread.operation = o
    thread.at = At.COMPARE_AND_SET


@action(actor="executor", source="DelayedOperation.run 0.10.2.2", parts=(PART,))
def run_on_expiration(s: Purgatory, m: Model, o: int) -> None:
    """The expiry won and has answered: onExpiration, which for created topics does nothing."""
    require(is_about(s, m, executor(m), o, At.ON_EXPIRATION))
    s.operations[o].expired = True
    s.threads[executor(m)].at, s.threads[executor(m)].operation = At.IDLE, 0


@action(actor="reaper", source="DelayedOperationPurgatory.advanceClock 0.10.2.2", parts=(PART,))
def begin_purge(s: Purgatory, m: Model) -> None:
    """More operations are guessed to be here than timers are armed, by more than the interval: go through all lists."""
    waiting = delayed(s, m)
    require(~either(*(s.purging[k] for k in topics(m))), s.estimated > waiting.plus(m.purgatory.purge_interval))
    s.estimated = waiting
    for k in topics(m):
        s.purging[k] = either(*(s.watching[k][o] for o in requests(m) if k in named(m, o)))


@action(actor="reaper", source="DelayedOperationPurgatory.Watchers.purgeCompleted 0.10.2.2", parts=(PART,))
def purge(s: Purgatory, m: Model, k: int) -> None:
    """Take the completed operations off a list."""
    require(s.purging[k])
    for o in requests(m):
        if k in named(m, o):
            s.watching[k][o] = both(s.watching[k][o], ~s.operations[o].completed)
    s.purging[k] = False
