"""What the runner and an adapter say to each other: one JSON object a line, a question and its answer.

    -> {"verb": "hello", "protocol": 1}
    <- {"protocol": 1, "name": "mine", "language": "Go", "dialect": "as-coded-0.10.2", "verbs": ["transition", "elect"]}
    -> {"verb": "elect", "id": "kcs-elect-0007", "given": {...}}
    <- {"id": "kcs-elect-0007", "outcome": {"elected": {"leader": 2, "isr": [2, 3], "receivers": [1, 2, 3]}}}
    -> {"verb": "bye"}

An adapter that says in its hello that it `resets` is asked before each vector, too, to forget what it was asked before:

    -> {"verb": "reset", "id": "kcs-elect-0008"}
    <- {"id": "kcs-elect-0008", "outcome": {}}

Keys that are not known are passed over. `FORMAT.md` tells implementers all of this.
"""

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, NoReturn, get_args

from model_check.conformance.vector import DIALECTS, Dialect, Vector, Verb
from spec.errors import Where

PROTOCOL: Final = 1
VERBS: Final[tuple[str, ...]] = get_args(Verb)
DEEPEST: Final = 100
"""Objects and lists within each other that a line has at most; what the suite does with them needs a stack."""
UNTOLD: Final = ("script", "compared")
"""What a driven controller is not given: what will happen, and what of its acts is compared."""


@dataclass(frozen=True)
class Hello:
    """What an adapter is: what it implements, in which dialect, which verbs it knows, and what it is `without`.

    `resets` says that it takes a reset.
    """

    name: str
    language: str
    dialect: Dialect
    verbs: frozenset[str]
    without: frozenset[str] = frozenset()
    resets: bool = False


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
    """The question that a vector asks; of a script nothing is given beforehand."""
    given = {key: value for key, value in vector.given.items() if vector.verb != "control" or key not in UNTOLD}
    return json.dumps({"verb": vector.verb, "id": vector.id, "given": given}, ensure_ascii=False)


def reset_line(vector: Vector) -> str:
    """That everything is to be forgotten before a vector is asked."""
    return json.dumps({"verb": "reset", "id": vector.id})


def bye_line() -> str:
    """The last question, which has no answer."""
    return json.dumps({"verb": "bye"})


def parse_hello(line: str) -> Hello:
    """What an adapter says that it is; MalformedInput names the key that is wrong."""
    where = Where("its hello")
    told = _object(line, where)
    if reason := told.get("error") or told.get("skip"):
        where.refuse(f"it says {shown(reason)}")
    if told.get("protocol") != PROTOCOL:
        where.key("protocol").refuse(f"expected {PROTOCOL}, found {shown(told.get('protocol'))}")
    for key in ("name", "language"):
        if not isinstance(told.get(key), str) or not told[key]:
            where.key(key).refuse("expected a string")
    dialect = told.get("dialect")
    if dialect not in DIALECTS:
        where.key("dialect").refuse(f"expected one of {', '.join(DIALECTS)}, found {shown(dialect)}")
    verbs, without = (
        _names(told.get("verbs"), where.key("verbs")),
        _names(told.get("without", []), where.key("without")),
    )
    if unknown := [one for one in verbs if one not in VERBS]:
        where.key("verbs").refuse(f"{shown(unknown[0])} is no verb of protocol {PROTOCOL}: {', '.join(VERBS)}")
    resets = told.get("resets", False)
    if not isinstance(resets, bool):
        where.key("resets").refuse(f"expected true or false, found {shown(resets)}")
    name, language = printable(told["name"]), printable(told["language"])
    return Hello(name, language, dialect, frozenset(verbs), frozenset(without), resets)


def _names(told: Any, where: Where) -> list[str]:
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        where.refuse("expected a list of strings")
    return told


def parse_said(line: str, asked: str) -> dict[str, Any]:
    """A line of an adapter's that is about the vector of this id; MalformedInput says what it should have been."""
    where = Where("its answer")
    told = _object(line, where)
    if told.get("id") != asked:
        where.key("id").refuse(f"expected {shown(asked)}, which was asked, found {shown(told.get('id'))}")
    return told


def parse_answer(line: str, asked: str) -> Answer:
    """What an adapter answers to a vector of this id; MalformedInput says what it should have been."""
    where = Where("its answer")
    told = parse_said(line, asked)
    kinds = [key for key in ("outcome", "skip", "error") if key in told]
    if len(kinds) != 1:
        where.refuse(f"expected an outcome, a skip or an error, found {' and '.join(kinds) or 'none of them'}")
    if kinds == ["outcome"]:
        if not isinstance(told["outcome"], dict):
            where.key("outcome").refuse(f"expected an object, found {shown(told['outcome'])}")
        return Answer(outcome=told["outcome"])
    reason = told[kinds[0]]
    if not isinstance(reason, str) or not reason.strip():
        where.key(kinds[0]).refuse(f"expected the reason as a string, found {shown(reason)}")
    return Answer(skip=printable(reason)) if kinds == ["skip"] else Answer(error=printable(reason))


def printable(text: str) -> str:
    """A text of an adapter's, without what would change the screen."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def shown(value: object) -> str:
    """A value in a message, as JSON in ASCII and not too long."""
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def read_json(text: str) -> Any:
    """A text as JSON; ValueError if it is no JSON, has a number that JSON cannot write, or nests more than DEEPEST."""

    def no_number(found: str) -> NoReturn:
        raise ValueError(f"{found} is no number of JSON")

    def finite(found: str) -> float:
        return number if isfinite(number := float(found)) else no_number(found)

    try:
        value = json.loads(text, parse_constant=no_number, parse_float=finite)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    if _is_deep(value):
        raise ValueError(TOO_DEEP)
    return value


TOO_DEEP: Final = f"more than {DEEPEST} objects and lists stand within each other"


def _is_deep(value: Any) -> bool:
    """Whether it nests more than DEEPEST; by levels, so that it needs no stack itself."""
    level = [value]
    for _ in range(DEEPEST + 1):
        held = [one for one in level if isinstance(one, dict | list)]
        if not held:
            return False
        level = [inner for one in held for inner in (one.values() if isinstance(one, dict) else one)]
    return True


def _object(line: str, where: Where) -> dict[str, Any]:
    try:
        told = read_json(line)
    except ValueError as error:
        where.refuse(f"{shown(line)} is not JSON, or more than can be read: {error}")
    if not isinstance(told, dict):
        where.refuse(f"expected an object, found {shown(told)}")
    return told
