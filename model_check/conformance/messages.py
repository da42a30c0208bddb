"""What runner and adapter say to each other, declared once: `messages.schema.json` is the JSON Schema of it.

`protocol.py` and `driving/` read what an adapter says, and refuse what is wrong with words of their own; a test holds
that they take nothing that the schema refuses, and write nothing that it does not know.
"""

import json
from typing import Any, Final, Literal, NotRequired, TypeAlias

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from model_check.conformance.vector import Dialect, Object, Verb

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

# -------------------------------------------------------------------------------------------------- to the adapter


class HelloQuestion(TypedDict):
    """The first question: what an adapter is."""

    verb: Literal["hello"]
    protocol: int


class Question(TypedDict):
    """What a vector asks; of `control` the beginning of a conversation."""

    verb: Verb
    id: str
    given: Object


class Reset(TypedDict):
    """Before a vector of this id, for an adapter that resets: forget everything; `Outcome` answers it."""

    verb: Literal["reset"]
    id: str


class Bye(TypedDict):
    """The end; it has no answer."""

    verb: Literal["bye"]


class Result(TypedDict):
    """What came of what a driven controller asked for, or sent."""

    result: Object | None


class Refused(TypedDict):
    """ZooKeeper's error."""

    refused: Literal[
        "NoNode", "NodeExists", "BadVersion", "NotEmpty", "NoChildrenForEphemerals", "SessionExpired", "ConnectionLoss"
    ]


class Watched(TypedDict):
    """A watch that has fired."""

    watch: str
    type: Literal["NodeCreated", "NodeDeleted", "NodeDataChanged", "NodeChildrenChanged"]


Answered = TypedDict("Answered", {"from": int, "number": int, "error": int, "partitions": dict[str, int]})


class Session(TypedDict):
    """What became of the controller's session."""

    session: Literal["expired", "goes on"]


class Answer(TypedDict):
    """A broker's answer to a StopReplica with delete."""

    answer: Answered


class Shutdown(TypedDict):
    """A broker asks for its controlled shutdown."""

    shutdown: int


class Rebalance(TypedDict):
    """It is time for the automatic rebalance to look."""

    rebalance: Literal[True]


class Event(TypedDict):
    """What a driven controller hears next."""

    event: Watched | Session | Answer | Shutdown | Rebalance


class End(TypedDict):
    """The script has ended; it has no answer."""

    end: Literal[True]


ToAdapter: TypeAlias = HelloQuestion | Question | Reset | Bye | Result | Refused | Event | End

# ------------------------------------------------------------------------------------------------ from the adapter


class Hello(TypedDict):
    """What an adapter is."""

    protocol: int
    name: str
    language: str
    dialect: Dialect
    verbs: list[Verb]
    without: NotRequired[list[str]]
    resets: NotRequired[bool]


class NoHello(TypedDict):
    """Why it cannot begin."""

    error: str


class Outcome(TypedDict):
    """What became of a question."""

    id: str
    outcome: Object


class Skip(TypedDict):
    """Why it is not asked."""

    id: str
    skip: str


class Error(TypedDict):
    """What failed."""

    id: str
    error: str


class Operation(TypedDict):
    """A ZooKeeper operation."""

    op: Literal["create", "set", "delete", "exists", "get", "children"]
    path: str
    data: NotRequired[str | None]
    ephemeral: NotRequired[bool]
    version: NotRequired[int]
    watch: NotRequired[bool]


class Ask(TypedDict):
    """A driven controller asks for an operation."""

    id: str
    ask: Operation


class Request(TypedDict):
    """A request in a vector's words; more keys stand in it."""

    name: Literal["LeaderAndIsr", "UpdateMetadata", "StopReplica"]
    partitions: list[Any]


class Sending(TypedDict):
    """A request, and the broker that it is for."""

    to: int
    request: Request


class Send(TypedDict):
    """A driven controller sends a request."""

    id: str
    send: Sending


class Reply(TypedDict):
    """A driven controller answers who asks for a controlled shutdown."""

    id: str
    reply: Object


class Log(TypedDict):
    """A driven controller logs a line."""

    id: str
    log: str


class Wait(TypedDict):
    """A driven controller has nothing to do."""

    id: str
    wait: Literal[True]


FromAdapter: TypeAlias = Hello | NoHello | Outcome | Skip | Error | Ask | Send | Reply | Log | Wait

# ------------------------------------------------------------------------------------------------------ the results


class Adapter(TypedDict):
    """The adapter that was asked."""

    name: str
    language: str
    dialect: Dialect
    verbs: list[Verb]
    without: list[str]
    resets: bool


class OfVector(TypedDict):
    """What became of a vector; `found` is the outcome that failed."""

    id: str
    hash: str
    outcome: Literal["pass", "fail", "expected failure", "skip", "error"]
    told: str
    found: Any


class Results(TypedDict):
    """What `kcheck conform --json` prints; `vectors` is how many there are."""

    shows: Literal["conformance"]
    version: Literal[1]
    verdict: Literal["HOLDS", "VIOLATED", "INCOMPLETE"]
    reason: str
    vectors: int
    adapter: Adapter
    counts: dict[str, int]
    results: list[OfVector]


def schema() -> str:
    """The JSON Schema of all three, as the file has it: one of them under its name in `$defs`."""
    every = TypeAdapter[tuple[ToAdapter, FromAdapter, Results]](tuple[ToAdapter, FromAdapter, Results]).json_schema()
    to_adapter, from_adapter, _ = every["prefixItems"]
    named = {"ToAdapter": to_adapter, "FromAdapter": from_adapter}
    return json.dumps({"$schema": DRAFT, "$defs": {**every["$defs"], **named}}, indent=2) + "\n"
