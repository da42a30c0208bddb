"""What the runner and an adapter say to each other: one JSON object a line, a question and its answer.

    -> {"verb": "hello", "protocol": 1}
    <- {"protocol": 1, "name": "mine", "language": "Go", "dialect": "as-coded-0.10.2", "verbs": ["transition", "elect"]}
    -> {"verb": "elect", "id": "kcs-elect-0007", "given": {...}}
    <- {"outcome": {"elected": {"leader": 2, "isr": [2, 3], "receivers": [1, 2, 3]}}}
    -> {"verb": "bye"}

Keys that are not known are passed over. `FORMAT.md` tells implementers all of this.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, get_args

from model_check.conformance.vector import DIALECTS, Dialect, Vector, Verb
from spec.errors import MalformedInput, Where

PROTOCOL: Final = 1
VERBS: Final[tuple[str, ...]] = get_args(Verb)


@dataclass(frozen=True)
class Hello:
    """Who an adapter is: what it implements, in which dialect, and which verbs it knows."""

    name: str
    language: str
    dialect: Dialect
    verbs: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """What came: an outcome, or why there is none."""

    outcome: Any = None
    skip: str | None = None
    error: str | None = None


def hello_line() -> str:
    """The first question."""
    return json.dumps({"verb": "hello", "protocol": PROTOCOL})


def question_line(vector: Vector) -> str:
    """The question that a vector asks."""
    return json.dumps({"verb": vector.verb, "id": vector.id, "given": vector.given}, ensure_ascii=False)


def bye_line() -> str:
    """The last question, which has no answer."""
    return json.dumps({"verb": "bye"})


def parse_hello(line: str) -> Hello:
    """Who an adapter says that it is; MalformedInput names the key that is wrong."""
    where = Where("the adapter's hello")
    told = _object(line, where)
    if told.get("protocol") != PROTOCOL:
        where.key("protocol").refuse(f"expected {PROTOCOL}, found {json.dumps(told.get('protocol'))}")
    for key in ("name", "language"):
        if not isinstance(told.get(key), str) or not told[key]:
            where.key(key).refuse("expected a string")
    dialect, verbs = told.get("dialect"), told.get("verbs")
    if dialect not in DIALECTS:
        where.key("dialect").refuse(f"expected one of {', '.join(DIALECTS)}, found {json.dumps(dialect)}")
    if not isinstance(verbs, list) or not all(isinstance(one, str) for one in verbs):
        where.key("verbs").refuse("expected a list of strings")
    return Hello(told["name"], told["language"], dialect, frozenset(verbs))


def parse_answer(line: str) -> Answer:
    """What an adapter answers; MalformedInput says what it should have been."""
    where = Where("the adapter's answer")
    told = _object(line, where)
    if isinstance(told.get("skip"), str):
        return Answer(skip=told["skip"])
    if isinstance(told.get("error"), str):
        return Answer(error=told["error"])
    if not isinstance(told.get("outcome"), dict):
        where.refuse("expected an object with an outcome, a skip or an error")
    return Answer(outcome=told["outcome"])


def _object(line: str, where: Where) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedInput(where.source, "", f"not JSON: {error}") from error
    if not isinstance(told, dict):
        where.refuse("expected an object")
    return told
