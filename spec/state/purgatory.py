"""The state of a purgatory: the metadata cache, the watch lists, the operations, and where each thread is.

Threads are numbered: first those that handle requests, each with the number of its request and operation; then those
that handle UpdateMetadata; the last is the timer's executor. Topics and partitions are numbered, too, the partitions
over all topics.

spec/protocol/delayed_operations.py says what the threads do.
"""

import enum
from collections.abc import Iterable, Mapping

from spec.language.records import Choice, Each, Field, Flag, PerScope, Record, flags
from spec.language.terms import Kind, Value, both, choose, either, enumeration, epoch, flag, number
from spec.model import Model
from spec.state.per_scope import FAULTS, LEFT, PROVING, per_index, per_scope

PART = "delayed_operations"


class At(enum.Enum):
    """What a thread does next."""

    IDLE = "nothing: it waits for an update, or for a task"
    FIRST_TRY = "tryCompleteElseWatch: see whether the operation can be completed at once"
    WATCH = "tryCompleteElseWatch: put the operation on the list of the next key, unless it is completed"
    SECOND_TRY = "tryCompleteElseWatch: try once more, for an update may have come between"
    CHECK = "tryCompleteElseWatch: see whether somebody else completed it"
    NEW_ENTRY = "SystemTimer.add: make a timer entry, by which the operation can be cancelled"
    LOOK_AT_ENTRY = "TimingWheel.add: see whether the entry is cancelled already"
    INSERT = "TimerTaskList.add: put the entry in a bucket"
    RECHECK = "tryCompleteElseWatch: cancel the entry if somebody completed the operation meanwhile"
    COUNT_DELAYED = "an update: see whether any timer is armed"
    WALK = "checkAndComplete: try what is on the topic's list"
    COMPARE_AND_SET = "forceComplete: set `completed`, if it is not set"
    CANCEL = "forceComplete: cancel the timer"
    ON_COMPLETE = "forceComplete: answer"
    ON_EXPIRATION = "run: the expiry won, and onExpiration runs"
    DONE = "the request's thread is back"


class Winner(enum.Enum):
    """The event that set `completed`."""

    NOBODY = "pending"
    CONDITION = "a thread that had found the condition to hold"
    EXPIRY = "the timer's executor"


class Answer(enum.Enum):
    """What a request is answered of one of its topics."""

    NONE = "not answered yet"
    CREATED = "0: every partition has a leader"
    TIMED_OUT = "7: a partition is not in the cache, or has no leader there"
    REFUSED = "the error of the creation itself, such as 36 (the topic exists)"


HOLDING = (At.COMPARE_AND_SET, At.CANCEL, At.ON_COMPLETE)
"""Where a thread that tries an operation is inside of the operation's monitor."""


# ------------------------------------------------------------------------------------------------ what there is to race


def requests(m: Model) -> range:
    """The requests; each has an operation and a thread of the same number."""
    return range(len(m.purgatory.requests))


def updaters(m: Model) -> range:
    """The threads that handle UpdateMetadata, numbered behind the requests'."""
    return range(len(requests(m)), len(requests(m)) + m.purgatory.updaters)


def executor(m: Model) -> int:
    """The timer's one executor thread: the last."""
    return updaters(m).stop


def threads(m: Model) -> range:
    """All threads that may complete an operation."""
    return range(executor(m) + 1)


def topics(m: Model) -> range:
    """The topics, which are the keys that operations are watched under."""
    return range(len(m.purgatory.partitions))


def partitions(m: Model) -> range:
    """The partitions, numbered over all topics."""
    return range(sum(m.purgatory.partitions))


def partitions_of(m: Model, k: int) -> range:
    """The partitions of a topic."""
    first = sum(m.purgatory.partitions[:k])
    return range(first, first + m.purgatory.partitions[k])


def named(m: Model, o: int) -> tuple[int, ...]:
    """The topics that a request names: the keys, in order. What could not be created is a key, too."""
    return m.purgatory.requests[o]


def awaited(m: Model, o: int) -> tuple[int, ...]:
    """The topics that a request created, and waits for."""
    return tuple(k for k in named(m, o) if k not in m.purgatory.refused[o])


def count_kind(m: Model) -> Kind:
    """A number of operations, as the purgatory guesses it."""
    return epoch(len(requests(m)) + m.purgatory.purge_interval, unbounded=m.proving)


# ------------------------------------------------------------------------------------------------------ the variables


def _place(m: Model, x: int) -> Kind:
    return number(len(named(m, x)) if x in requests(m) else 1, "place")


REQUESTS: PerScope[Iterable[int]] = per_scope("request", requests)
TOPICS: PerScope[Iterable[int]] = per_scope("topic", topics)
KEYS: PerScope[Iterable[int]] = per_index("topic that it names", named)
PLACE: PerScope[Kind] = per_index("place", _place)
OPERATION: PerScope[Kind] = per_scope("operation", lambda m: number(len(requests(m)) - 1, "operation"))
TOPIC: PerScope[Kind] = per_scope("topic", lambda m: number(len(topics(m)) - 1, "topic"))
OF_A_REQUEST: PerScope[bool] = per_index("of a request", lambda m, x: x in requests(m))
OF_AN_UPDATE: PerScope[bool] = per_index("of an update", lambda m, x: x in updaters(m))
FIRST: PerScope[At] = per_index(
    "FIRST_TRY of a request, else IDLE", lambda m, x: At.FIRST_TRY if x in requests(m) else At.IDLE
)


class Operation(Record):
    """A delayed operation: `DelayedCreateTopics` of a CreateTopics request."""

    completed = Flag("The operation's `completed` is set.")
    entry = Flag("There is a reference to its timer entry, by which that can be cancelled.")
    armed = Flag("The timer entry is in a bucket.")
    due = Flag("The executor has been given the entry.")
    told = Flag("History: onComplete has run.")
    expired = Flag("History: onExpiration has run.")
    winner = Choice(Winner.NOBODY, "The event that set `completed`.")
    answer = Each(KEYS, Choice(Answer.NONE), "What the request is answered of the topic.")


class Thread(Record):
    """A thread that may complete an operation: a request's, one that handles an update, or the timer's executor."""

    at = Field(enumeration(At), FIRST, "What it does next.")
    place = Field(PLACE, 0, "Where a request's thread is in its list of keys.", kept=OF_A_REQUEST)
    operation = Field(OPERATION, 0, "The operation that it is at.", kept=~OF_A_REQUEST)
    topic = Field(TOPIC, 0, "The topic of the list in which an updater is.", kept=OF_AN_UPDATE)
    todo = flags(REQUESTS, "The updater has still to try the operation.", kept=OF_AN_UPDATE)


class Purgatory(Record):
    """The state of a purgatory: the metadata cache, the lists, the operations and the threads."""

    led = flags(per_scope("partition", partitions), "The partition has a leader in the metadata cache.")
    watching = Each(
        TOPICS, flags(per_index("request that names it", lambda m, k: [o for o in requests(m) if k in named(m, o)])),
        "The operation is on the list of the topic.",
    )  # fmt: skip
    operations = Each(REQUESTS, Operation, "The operations, one a request.")
    estimated = Field(per_scope("count", count_kind), 0, "The purgatory's own guess of how many operations it has.")
    purging = flags(TOPICS, "The reaper has still to go through the list of the topic.")
    threads = Each(per_scope("thread", threads), Thread, "The threads.")
    budget = Each(FAULTS, LEFT, "How often it may still happen.", kept=~PROVING)


def domains(m: Model) -> Mapping[str, Iterable[int]]:
    """The values of the parameters: operation, key, partition, thread, updater, and whether there is a leader."""
    return {
        "o": requests(m), "k": topics(m), "p": partitions(m), "x": threads(m), "w": updaters(m), "led": (0, 1),
    }  # fmt: skip


def makes_sense(parameters: Mapping[str, int], m: Model) -> bool:
    """A request's thread has its own operation only; an operation is only watched under the topics it names."""
    o, k, x = parameters.get("o"), parameters.get("k"), parameters.get("x")
    if o is None:
        return True
    return (k is None or k in named(m, o)) and (x is None or x == o or x not in requests(m))


def is_led(s: Purgatory, m: Model, k: int) -> Value:
    """Whether every partition of a topic is in the metadata cache with a leader."""
    return both(*(s.led[p] for p in partitions_of(m, k)))


def condition(s: Purgatory, m: Model, o: int) -> Value:
    """What an operation waits for: every partition of every topic that its request created has a leader."""
    return both(*(is_led(s, m, k) for k in awaited(m, o)))


def is_about(s: Purgatory, m: Model, x: int, o: int, *places: At) -> Value:
    """Whether a thread is in one of some places, with this operation."""
    thread = s.threads[x]
    there = either(*(thread.at == place for place in places))
    if x in requests(m):
        return there if x == o else flag(False)
    return both(there, thread.operation == o)


def delayed(s: Purgatory, m: Model) -> Value:
    """How many timers are armed."""
    total = count_kind(m).constant(0)
    for o in requests(m):
        total = choose(s.operations[o].armed, total.plus(1), total)
    return total
