"""Damage to a file as a whole, as disks, editors, merges and enemies do it; always the same for a seed.

`tests/mutations.py` damages JSON values; here a file is bytes, of which some lines may be JSON.
"""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

from tests.mutations import mutated, places

PATIENCE_SECONDS = 60
"""So long may one input take, on a machine that does other things, too; what hangs takes longer than any."""

DEEP = b"[" * 20_000
SPLICED: tuple[bytes, ...] = (
    b"", b"\0", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J\x1b]0;owned\x07", "\u202e\u2028\u0085".encode(),
    b"\r", b"\n\n",
    b"<script>alert(1)</script>", b"]]>&xxe;<!--", b"'\"`$(reboot)", b"../../../../etc/passwd", b"%s%n{0.__class__}",
    b"NaN", b"-Infinity", b"1e999", b"-0", b"1" * 5000, b"9" * 30, b"-9223372036854775809", b"\\ud800",
    b"\\u0000", b"null",
    b"{}", b"[]", DEEP, b'{"a":' * 5_000, b"x" * 20_000, "٣".encode(), "²".encode(),
)  # fmt: skip

RAW: tuple[bytes, ...] = (
    DEEP + b"]" * len(DEEP), b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b"1" * 5000,
    b"-" + b"9" * 400, b"NaN", b"-Infinity", b"1e999", b"-0.0", b'"\\ud800"', b'"\\u0000\\u001b[2J"',
    b'{"a": 1, "a": 2}',
    b'"' + b"x" * 20_000 + b'"', b'" 1"', b'"1_0"',
    '"\u0663"'.encode(), b'"9999999999999999999"',
)  # fmt: skip
"""Values as JSON has them."""
MARK = "the mark of a value that is replaced"


def damaged(content: bytes, random: Random) -> bytes:
    """A file with one to three things done to it."""
    for _ in range(random.randint(1, 3)):
        content = random.choice(ACTS)(content, random)
    return content


def _flipped(content: bytes, random: Random) -> bytes:
    """Some bits are others."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 8) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(content: bytes, random: Random) -> bytes:
    """It ends too soon, or begins too late."""
    at = random.randrange(len(content) + 1)
    return content[:at] if random.random() < 0.7 else content[at:]


def _spliced(content: bytes, random: Random) -> bytes:
    """Something stands in the place of a part, or between two."""
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.choice((0, 0, 1, 5, 40)))
    return content[:start] + random.choice(SPLICED) + content[end:]


def _moved(content: bytes, random: Random) -> bytes:
    """A line is lost, comes twice, or stands elsewhere."""
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    line, act = lines.pop(random.randrange(len(lines))), random.randrange(3)
    for _ in range(act):
        lines.insert(random.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _changed_json(content: bytes, random: Random) -> bytes:
    """A value in it is another: in one of its lines, or in the document that it is."""
    lines = content.splitlines(keepends=True)
    for at in random.sample(range(len(lines)), min(3, len(lines))):
        if (value := _json(lines[at])) is not None:
            return b"".join((*lines[:at], json.dumps(mutated(value, random)).encode() + b"\n", *lines[at + 1 :]))
    value = _json(content)
    return content if value is None else json.dumps(mutated(value, random)).encode()


def _raw_value(content: bytes, random: Random) -> bytes:
    """A value in it is one that JSON can say, and Python does not like to read: in a line of it, or in all of it."""
    lines = content.splitlines(keepends=True)
    at = random.randrange(len(lines)) if lines else 0
    for start, end in ((0, len(lines)), (at, at + 1)):
        if (value := _json(b"".join(lines[start:end]))) is not None:
            return b"".join((*lines[:start], _with(random.choice(RAW), value, random), b"\n", *lines[end:]))
    return content


def _with(raw: bytes, value: Any, random: Random) -> bytes:
    """A JSON value as text, with this in the place of one within it."""
    path = random.choice([*places(value)])
    if not path:
        return raw
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = MARK
    return json.dumps(value).encode().replace(json.dumps(MARK).encode(), raw)


def _doubled_key(content: bytes, random: Random) -> bytes:
    """A member of an object stands twice, or under another's key."""
    lines = content.split(b'"')
    if len(lines) < 6:
        return content
    one, other = random.sample(range(1, len(lines), 2), 2)
    lines[one] = lines[other]
    return b'"'.join(lines)


def _number(content: bytes, random: Random) -> bytes:
    """A number is another: at the edge of a type, or beyond all."""
    places = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        return content
    start = end = random.choice(places)
    while end < len(content) and chr(content[end]).isdigit():
        end += 1
    new = random.choice((-1, 0, 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**30, -(2**63)))
    return content[:start] + str(new).encode() + content[end:]


ACTS: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flipped, _cut, _spliced, _moved, _changed_json, _raw_value, _raw_value, _doubled_key, _number, _number,
)  # fmt: skip


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@contextmanager
def no_hang(what: object) -> Iterator[None]:
    """What is within ends, or fails; with an error that is not foreseen, it fails, too, and tells what it was given."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
    try:
        yield
    except (Exception, Hangs) as mistake:
        raise AssertionError(f"{type(mistake).__name__}: {mistake!s:.300} of {what!r:.2000}") from mistake
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Hangs(BaseException):
    """It takes too long."""
