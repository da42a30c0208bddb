"""What `kcheck show` tells, as documents: JSON that a program of any language reads.

Each document is a dataclass here, printed as one JSON object: `shows` says what it is, and `version` rises when a key
goes or changes its meaning, not when one is added. `kcheck show schema` prints the JSON Schema (draft 2020-12) of all
of them, which is derived from these classes; it is published beside this file, as `show.schema.json`.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

FIRST: Literal[1] = 1


@dataclass(frozen=True)
class State:
    """A state, by its name in Kafka's logs and the byte that Kafka gives it."""

    name: str
    code: int


@dataclass(frozen=True)
class Row:
    """A row of a transition table: a move that is permitted. One without a row is refused, logged, and does nothing."""

    id: str
    from_state: str
    to_state: str
    effect: str
    source: str


@dataclass(frozen=True)
class Machine:
    """The state machine of partitions, or of replicas."""

    name: str
    initial: str
    states: list[State]
    rows: list[Row]


@dataclass(frozen=True)
class Tables:
    """The transition tables."""

    machines: list[Machine]
    shows: Literal["tables"] = "tables"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class HandlerRow:
    """What a handler does next, by where a step that several handlers share is done: the first that there is."""

    handler: str
    in_kafka: str | None
    then: dict[str, list[str]]


@dataclass(frozen=True)
class Handlers:
    """What the controller's handlers do next; `reads` is what a failover does behind each of its reads."""

    handlers: list[HandlerRow]
    reads: dict[str, list[str]]
    shows: Literal["handlers"] = "handlers"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class Diagram:
    """A drawing, as text in its language."""

    title: str
    text: str


@dataclass(frozen=True)
class Diagrams:
    """The transition tables, and what the handlers do next, as drawings."""

    format: Literal["mermaid", "dot"]
    diagrams: list[Diagram]
    shows: Literal["diagrams"] = "diagrams"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownAction:
    """A rule of the protocol; `instances` are its actions in a scope, if one is asked for."""

    name: str
    actor: str
    statement: str
    source: str
    budget: str | None
    parts: list[str]
    instances: list[str] | None


@dataclass(frozen=True)
class Actions:
    """The rules of the protocol, or of a scope under a variant."""

    scope: str | None
    variant: str
    actions: list[ShownAction]
    shows: Literal["actions"] = "actions"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownField:
    """A field of a record: its kind, by what there are several, its initial value, and where it is kept."""

    name: str
    holds: str
    meaning: str


@dataclass(frozen=True)
class ShownRecord:
    """A record of the state, at the places where it is, and the records of which it is a part."""

    name: str
    meaning: str
    stands_at: list[str]
    part_of: list[str]
    kept_where: str | None
    fields: list[ShownField]


@dataclass(frozen=True)
class StateRecords:
    """The state, record by record: all of it, or what a scope keeps, and then how many variables that makes."""

    scope: str | None
    variables: int | None
    records: list[ShownRecord]
    shows: Literal["state"] = "state"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownProperty:
    """What is claimed, and the witness of its premise."""

    name: str
    kind: str
    statement: str
    source: str
    witness: str | None
    parts: list[str]


@dataclass(frozen=True)
class Properties:
    """All claims."""

    properties: list[ShownProperty]
    shows: Literal["properties"] = "properties"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownExploration:
    """What is expected of exploring a scope under a variant; `violated` has the depth of each claim that is broken."""

    variant: str
    states: int
    transitions: int
    depth: int
    digest: str
    violated: dict[str, int]


@dataclass(frozen=True)
class ShownScope:
    """How large a cluster is, what may go wrong how often, and what is expected."""

    name: str
    statement: str
    deep: bool
    brokers: int
    controllers: int
    assigned: list[list[int]]
    parts: list[str]
    budgets: dict[str, int]
    explorations: list[ShownExploration]


@dataclass(frozen=True)
class Scopes:
    """All scopes."""

    scopes: list[ShownScope]
    shows: Literal["scopes"] = "scopes"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownPair:
    """Two things that may come together, and the cheapest scope that has both; or the reason why none has."""

    one: str
    other: str
    scope: str | None
    states: int | None
    reason: str | None


@dataclass(frozen=True)
class Pairs:
    """What users do, beside what else they do and beside each kind of fault."""

    pairs: list[ShownPair]
    shows: Literal["pairs"] = "pairs"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownLine:
    """A line of a log, as a template with typed holes."""

    name: str
    meaning: str
    level: str
    template: str


@dataclass(frozen=True)
class Log:
    """The lines of one of Kafka's logs."""

    file: str
    lines: list[ShownLine]


@dataclass(frozen=True)
class Lines:
    """The lines of Kafka's logs, as a release writes them."""

    kafka: str
    logs: list[Log]
    shows: Literal["lines"] = "lines"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownZnode:
    """A kind of znode: how it lives, and the JSON Schema of what it holds; of a znode without data that of null."""

    path: str
    mode: str
    meaning: str
    payload: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Znodes:
    """The znodes of the protocol."""

    znodes: list[ShownZnode]
    shows: Literal["znodes"] = "znodes"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownRequest:
    """A request and its answer, as Kafka's message definitions, and which version each release sends.

    `bare_header` are the versions before which the header has no client id.
    """

    name: str
    sent_by: dict[str, int]
    bare_header: list[int]
    request: dict[str, Any]
    response: dict[str, Any]


@dataclass(frozen=True)
class Requests:
    """The requests between controller and brokers; each begins with a header, an answer with a correlation id."""

    header: dict[str, Any]
    requests: list[ShownRequest]
    shows: Literal["requests"] = "requests"
    version: Literal[1] = FIRST


@dataclass(frozen=True)
class ShownVariant:
    """A variant: the switches that are on."""

    name: str
    switches: list[str]


@dataclass(frozen=True)
class ShownSwitch:
    """A fix, or what an older release did, that can be switched on and off; `documented` says what is written of it."""

    name: str
    meaning: str
    reintroduces: bool
    documented: str | None


@dataclass(frozen=True)
class Variants:
    """The variants, and the switches."""

    variants: list[ShownVariant]
    switches: list[ShownSwitch]
    shows: Literal["variants"] = "variants"
    version: Literal[1] = FIRST


Shown: TypeAlias = (
    Tables | Handlers | Diagrams | Actions | StateRecords | Properties | Scopes | Pairs | Lines | Znodes | Requests
    | Variants
)  # fmt: skip


def to_json(document: Shown) -> str:
    """A document as JSON, what it is first."""
    told = asdict(document)
    head = {name: told.pop(name) for name in ("shows", "version")}
    return json.dumps(head | told, indent=2, ensure_ascii=False)
