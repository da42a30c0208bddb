"""Vectors: cases as data, one JSON object a line, that any implementation can be asked.

`FORMAT.md` tells implementers all of this. A vector asks one thing (`verb`, `given`) and has the outcomes that are
legal (`then`). It compares only what it names: of an outcome's object, the keys that `then` has; of a list, each of its
elements. The files stand in `vectors/`; `manifest.json` has their digests, so that none is lost unnoticed.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeGuard, get_args

from spec.errors import MalformedInput, Where
from spec.formats.kafka_types import KafkaVersion

FOLDER: Final = Path(__file__).parent / "vectors"
MANIFEST: Final = "manifest.json"
VERSION: Final = "0.6.0"
"""Of the vectors: the first number rises when one that passed may fail, the second when some are added."""

Dialect: TypeAlias = Literal[
    "documented", "as-coded-0.8.2", "as-coded-0.9.0", "as-coded-0.10.0", "as-coded-0.10.1", "as-coded-0.10.2"
]
DIALECTS: Final[tuple[Dialect, ...]] = (
    "documented", "as-coded-0.8.2", "as-coded-0.9.0", "as-coded-0.10.0", "as-coded-0.10.1", "as-coded-0.10.2",
)  # fmt: skip
"""What the documentation says, and what each release line does."""


def since(release: KafkaVersion) -> tuple[Dialect, ...]:
    """The dialects of a release line and all later ones, and what is documented."""
    return DIALECTS[:1] + tuple(one for one, of in zip(DIALECTS[1:], KafkaVersion, strict=True) if of >= release)


Verb: TypeAlias = Literal[
    "transition", "elect", "create_partition", "remove_replica", "reassign", "find_imbalance", "write_state",
    "send_batch", "fence", "read_znode", "decode_request", "encode_request", "handle_state_changes",
    "handle_isr_changes", "change_isr", "shut_down", "fail_broker", "delay", "encode_response", "decode_response",
    "read_line", "write_line", "control",
]  # fmt: skip
Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Vector:
    """A case. `id` never changes and is never used again; `hash` is of all that decides whether it passes.

    `refs` say where it comes from: a row of a table, a section of PROTOCOL.md, a class of Kafka's, a run. `tags` name
    what it is about. It holds for the `dialects`.
    """

    id: str
    title: str
    refs: list[str]
    tags: list[str]
    dialects: list[Dialect]
    verb: Verb
    given: Object
    then: list[Object]
    hash: str

    @property
    def group(self) -> str:
        """The file that it is in: `kcs-elect-0007` is in elect.jsonl."""
        return self.id.split("-")[1]

    def to_line(self) -> str:
        """The vector as a line of its file."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True)
class Manifest:
    """Of each file the number of vectors, their ids and its SHA-256; and the ids that are used no more."""

    version: str
    files: dict[str, dict[str, Any]]
    retired: list[str]


def content_hash(verb: str, given: Object, then: list[Object], dialects: Iterable[str]) -> str:
    """The hash of a vector: the first 16 digits of the SHA-256 of what decides, as JSON with sorted keys, no blanks."""
    content = {"dialects": sorted(dialects), "given": given, "then": then, "verb": verb}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_vectors(folder: Path = FOLDER) -> list[Vector]:
    """All vectors of a folder, file by file; MalformedInput names the file and line, or what its manifest misses."""
    manifest = read_manifest(folder)
    vectors = [one for name in manifest.files for one in _read_file(folder, name, manifest.files[name])]
    seen = set[str]()
    for one in vectors:
        if one.id in seen:
            raise MalformedInput(one.id, "", "there are two vectors of this id")
        seen.add(one.id)
    return vectors


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder."""
    path = folder / MANIFEST
    try:
        given = json.loads(path.read_text("utf-8"))
        files: dict[str, Any] = {**given["files"]}
        retired: list[Any] = [*given["retired"]]
        manifest = Manifest(str(given["version"]), files, retired)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedInput(str(path), "", f"is no manifest of vectors: {error}") from error
    where = Where(str(path))
    for name, of in files.items():
        if not FILE.fullmatch(name) or not isinstance(of, dict):
            where.key("files").key(name).refuse("expected a file such as elect.jsonl, and an object")
    for number, one in enumerate(retired):
        if not isinstance(one, str) or not ID.fullmatch(one):
            where.key("retired").item(number).refuse(f"expected kcs-GROUP-NUMBER, found {_shown(one)}")
    return manifest


def _read_file(folder: Path, name: str, expected: Mapping[str, Any]) -> Iterator[Vector]:
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MalformedInput(str(path), "", f"cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != expected.get("sha256"):
        raise MalformedInput(str(path), "", f"is not as {MANIFEST} says; fetch both again, or make both anew")
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
        yield parse_vector(line, f"{path}:{number}")


def parse_vector(line: str, place: str) -> Vector:
    """The vector that a line is; MalformedInput names the key that is wrong."""
    where = Where(place)
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        where.refuse(f"not JSON: {error}")
    if not isinstance(given, dict):
        where.refuse("expected an object")
    _refuse_malformed(given, where)
    vector = Vector(**{name: given[name] for name in KINDS})
    try:
        is_right = vector.hash == content_hash(vector.verb, vector.given, vector.then, vector.dialects)
    except (UnicodeEncodeError, RecursionError) as error:
        where.refuse(f"cannot be hashed: {error}")
    if not is_right:
        where.key("hash").refuse("is not that of its content")
    return vector


def _refuse_malformed(given: Object, where: Where) -> None:
    """Refuse keys that lack, or hold something else than they should."""
    for name, kind in KINDS.items():
        if not isinstance(given.get(name), kind):
            where.key(name).refuse("missing" if name not in given else f"expected {NAMES[kind]}")
    for name, kind in INNER.items():
        for number, value in enumerate(given[name]):
            if not isinstance(value, kind):
                where.key(name).item(number).refuse(f"expected {NAMES[kind]}")
    _refuse_other("id", given["id"], where, is_known=bool(ID.fullmatch(given["id"])), expected="kcs-GROUP-NUMBER")
    _refuse_other("verb", given["verb"], where, is_known=given["verb"] in get_args(Verb), expected=get_args(Verb))
    for one in given["dialects"]:
        _refuse_other("dialects", one, where, is_known=one in DIALECTS, expected=DIALECTS)


def _refuse_other(key: str, value: str, where: Where, *, is_known: bool, expected: str | tuple[str, ...]) -> None:
    if not is_known:
        words = expected if isinstance(expected, str) else f"one of {', '.join(expected)}"
        where.key(key).refuse(f"expected {words}, found {_shown(value)}")


ID: Final = re.compile(r"kcs-[a-z]+-[0-9]{4,}")
FILE: Final = re.compile(r"[a-z]+\.jsonl")
INNER: Final[dict[str, type]] = {"refs": str, "tags": str, "dialects": str, "then": dict}
"""What the lists of a vector hold."""
KINDS: Final[dict[str, type]] = {
    "id": str, "title": str, "refs": list, "tags": list, "dialects": list, "verb": str, "given": dict, "then": list,
    "hash": str,
}  # fmt: skip
NAMES: Final[dict[type, str]] = {str: "a string", list: "a list", dict: "an object"}


def is_legal(vector: Vector, outcome: object) -> bool:
    """Whether an outcome is one of those that a vector allows."""
    return any(difference(then, outcome) is None for then in vector.then)


def difference(expected: object, found: object) -> str | None:
    """The first place where an outcome is not as expected, and how; None if it is, in all that is named."""
    return next(_differences(expected, found, ""), None)


def first_difference(vector: Vector, outcome: object) -> str:
    """Where an outcome that is not legal first differs: of several that are, from the one that it is like most."""
    told = min((list(_differences(then, outcome, "")) for then in vector.then), key=len)
    several = f"none of {len(vector.then)} legal outcomes; of the one that is most like it, "
    return f"{several if len(vector.then) > 1 else ''}{told[0]}"


def _differences(expected: object, found: object, place: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from _differences(value, found.get(key, ABSENT), f"{place}.{key}" if place else key)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif _are_texts(expected) and _are_texts(found):  # lines of logs, say
        missing, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        at = place or "the outcome"
        yield from (f"{at}: expected {_shown(one, 240)}, which is not there" for one in missing.elements())
        yield from (f"{at}: found {_shown(one, 240)}, which is not expected" for one in more.elements())
    elif type(expected) is not type(found) or expected != found:
        what = "nothing" if found is ABSENT else _shown(found)
        yield f"{place or 'the outcome'}: expected {_shown(expected)}, found {what}"


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


ABSENT: Final = object()
"""What is compared where a key is missing."""


def _shown(value: object, most: int = 80) -> str:
    text = json.dumps(value)
    return text if len(text) <= most else text[: most - 3] + "..."
