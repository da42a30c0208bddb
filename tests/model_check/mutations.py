"""Small lies: changes of a single fact in a recording, after which no cluster can have written it.

A mutation picks a line and a fact in it. Left out are changes that leave a recording possible, or nearly so, because
nothing else tells of the fact: the order of lines between processes; where a line stands, and whether it does, on a
request to who does not run; the answer to an UpdateMetadata that succeeded, its correlation id, and which partitions
one of them names; that an answer came at all, and that one without partitions refuses (it may be that to a stop of
nothing, which leaves no line); and the last words of a process.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from model_check.recordings.tracks import SKEW

T = TypeVar("T")

ZOOKEEPER = "zookeeper.jsonl"
LOGS = "broker-*/state-change.log"
Lie = Callable[[Path, Random], str]
"""Tells one lie in a folder, and gives it in words."""


class NothingToTell(Exception):
    """A recording has nothing that a lie could be about."""


def _one(rng: Random, some: Sequence[T]) -> T:
    """One of some, at random."""
    if not some:
        raise NothingToTell
    return rng.choice(some)


def _state(record: Mapping[str, Any]) -> bool:
    return str(record.get("path", "")).endswith("/state") and "data" in record


def _lie_about_a_state(folder: Path, rng: Random) -> str:
    """Another leader, leader_epoch, controller_epoch or ISR in a state znode."""
    file = folder / ZOOKEEPER
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    at = _one(rng, [number for number, line in enumerate(lines) if _state(line)])
    state, old = json.loads(lines[at]["data"]), lines[at]["data"]
    field = _one(rng, ["leader", "leader_epoch", "controller_epoch", "isr"])
    if field == "isr":
        state["isr"] = state["isr"][::-1] if len(state["isr"]) > 1 else [*state["isr"], sum(state["isr"]) % 3 + 1]
    elif field == "leader":
        state["leader"] = state["leader"] % 3 + 1 if state["leader"] > 0 else 1
    else:
        state[field] += 1
    lines[at]["data"] = json.dumps(state)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"{ZOOKEEPER}:{at + 1}: {old} -> {lines[at]['data']}"


def _lie_about_an_epoch(folder: Path, rng: Random) -> str:
    """Another epoch in /controller_epoch."""
    file = folder / ZOOKEEPER
    found = list(re.finditer(r'"path": "/controller_epoch", "data": "(\d+)"', file.read_text(encoding="utf-8")))
    one = _one(rng, found)
    return _rewritten(file, one, 1, str(int(one[1]) + 6))


def _lie_about_a_session(folder: Path, rng: Random) -> str:
    """A state znode, or a notification, written by another broker's session."""
    sessions = list(json.loads((folder / "sessions.json").read_text(encoding="utf-8")))
    file = folder / ZOOKEEPER
    text = file.read_text(encoding="utf-8")
    found = list(
        re.finditer(r'"session": "(\w+)", "cxid": \d+, "type": "(?:setData|create)", "path": "[^"]*state"', text)
    )
    one = _one(rng, found)
    return _rewritten(file, one, 1, _one(rng, [other for other in sessions if other != one[1]]))


NUMBERS = (
    r"LeaderEpoch:(\d+)", r"ControllerEpoch:(\d+)", r"\(Leader:(\d+)", r"leaderEpoch=(\d+)", r"zkVersion=(\d+)",
    r"leader=(\d+)", r"controllerEpoch=(\d+)", r"elected leader (\d+)", r"with leader (\d+)", r"of replica (\d+)",
    r"Controller \d+ epoch (\d+) (?:changed|elected|sending|started)",
    r"handling LeaderAndIsr request correlationId (\d+)",
    r"completed LeaderAndIsr request correlationId \d+ from controller (\d+)", r"partition=\d+,error_code=(11)",
)  # fmt: skip


def _lie_about_a_number(folder: Path, rng: Random) -> str:
    """Another epoch, version, leader, replica or identity in a line."""
    file = _one(rng, sorted(folder.glob(LOGS)))
    text = file.read_text(encoding="utf-8")
    patterns = [pattern for pattern in NUMBERS if re.search(pattern, text)]
    one = _one(rng, list(re.finditer(_one(rng, patterns), text)))
    return _rewritten(file, one, 1, "0" if one[1] == "11" else str(int(one[1]) % 3 + 1))


WORDS = {
    "become-leader": "become-follower", "become-follower transition": "become-leader transition",
    "from NonExistentReplica": "from OfflineReplica", "from OfflinePartition to OnlinePartition": "from NewPartition to"
    " OnlinePartition", "from OnlineReplica to OfflineReplica": "from NewReplica to OfflineReplica",
    "from NewPartition": "from OfflinePartition",
}  # fmt: skip


def _lie_about_a_word(folder: Path, rng: Random) -> str:
    """Another role, or another state that something comes from."""
    file = _one(rng, sorted(folder.glob(LOGS)))
    text = file.read_text(encoding="utf-8")
    word = _one(rng, [word for word in WORDS if word in text])
    return _rewritten(file, _one(rng, list(re.finditer(f"({re.escape(word)})", text))), 1, WORDS[word])


TOLD_ONCE = re.compile(
    r"elected leader|changed (?:partition|state of replica)|LeaderAndIsr request|error_code=11|truncated logs"
)


SPEAKER = re.compile(r"^\[(\S+ \S+)\] \w+ (Controller \d+ epoch \d+|Broker \d+)")


def _leave_out_a_line(folder: Path, rng: Random) -> str:
    """A line that is not there; in truth, too, an answer may be missing, what is sent to nobody who runs, and the last
    words before a process was killed.
    """
    file, lines, at = _a_line(
        folder,
        rng,
        lambda lines: "received response" not in lines[0] and _speaks_on(lines) and _is_heard(folder, lines[0]),
    )
    left_out = lines.pop(at)
    file.write_text("".join(lines), encoding="utf-8")
    return f"{file.parent.name}:{at + 1}: without {left_out.strip()}"


def _speaks_on(lines: list[str]) -> bool:
    """Whether the same role has more to say later than the judge allows for clocks that differ."""
    said = [one for one in map(SPEAKER.match, lines) if one]
    times = [datetime.fromisoformat(one[1].replace(",", ".")) for one in said if one[2] == said[0][2]]
    return times[-1] - times[0] > timedelta(milliseconds=SKEW)


def _is_heard(folder: Path, line: str) -> bool:
    """Whether a request, if this says that one is sent, may reach its broker: that says something within a second."""
    sent = re.search(RECEIVERS[0], line)
    if sent is None:
        return True
    log = (folder / f"broker-{sent[1]}" / "state-change.log").read_text(encoding="utf-8")
    times = [datetime.fromisoformat(one[1].replace(",", ".")) for one in map(SPEAKER.match, log.splitlines()) if one]
    begun = SPEAKER.match(line)
    assert begun
    since = datetime.fromisoformat(begun[1].replace(",", "."))
    return any(since <= one <= since + timedelta(seconds=1) for one in times)


def _say_a_line_twice(folder: Path, rng: Random) -> str:
    """A line that is there twice; what is received twice, and handled once, may wait when its process is killed."""
    file, lines, at = _a_line(folder, rng, lambda lines: "received LeaderAndIsr" not in lines[0] or _comes_more(lines))
    file.write_text("".join([*lines[: at + 1], *lines[at:]]), encoding="utf-8")
    return f"{file.parent.name}:{at + 1}: twice {lines[at].strip()}"


def _comes_more(lines: list[str]) -> bool:
    """Whether another request of the controller that a line names is handled before its process can be another."""
    received, time = NUMBER.search(lines[0]), _time(lines[0])
    assert received
    handled = ((one, _time(line)) for line in lines if "received" not in line and (one := NUMBER.search(line)))
    return any(one[2] == received[2] and one[1] != received[1] and then < time + SKEW for one, then in handled)


def _a_line(
    folder: Path, rng: Random, may_be: Callable[[list[str]], bool] = lambda _: True
) -> tuple[Path, list[str], int]:
    """A line that is written once, if it and what follows may be asked for."""
    file = _one(rng, sorted(folder.glob(LOGS)))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    once = [at for at, line in enumerate(lines) if TOLD_ONCE.search(line)]
    return file, lines, _one(rng, [at for at in once if may_be(lines[at:])])


RECEIVERS = (
    r"sending become-\w+ LeaderAndIsr request \(.*?\) to broker (\d+)",
    r"sending UpdateMetadata request \(.*?\) to brokers Set\([\d, ]*?(\d+)\)",
)  # fmt: skip


def _lie_about_a_receiver(folder: Path, rng: Random) -> str:
    """A request that is sent to another broker."""
    file = _one(rng, [log for log in sorted(folder.glob(LOGS)) if re.search(RECEIVERS[0], log.read_text("utf-8"))])
    text = file.read_text(encoding="utf-8")
    patterns = [pattern for pattern in RECEIVERS if re.search(pattern, text)]
    one = _one(rng, list(re.finditer(_one(rng, patterns), text)))
    return _rewritten(file, one, 1, str(int(one[1]) % 3 + 1))


VERB = re.compile(
    r"^\[(\S+ \S+)\] (?P<said>\w+ (?P<speaker>Controller \d+ epoch \d+|Broker \d+) "
    r"(?P<verb>elected|changed \w+|sending|received LeaderAndIsr|handling|truncated|completed|ignoring) .*)$"
)
NUMBER = re.compile(r"correlation ?[iI]d (\d+) from controller (\d+) epoch (\d+)")


def _swap_two_lines(folder: Path, rng: Random) -> str:
    """Two neighbours of one thread, which say different kinds of things, in the other order; the times stay."""
    file = _one(rng, sorted(folder.glob(LOGS)))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    pairs = [at for at in range(1, len(lines)) if _are_in_order(lines[at - 1], lines[at])]
    at = _one(rng, [at for at in pairs if _is_heard(folder, lines[at - 1]) and _is_heard(folder, lines[at])])
    before, after = VERB.match(lines[at - 1]), VERB.match(lines[at])
    assert before
    assert after
    swapped = (_said_instead(lines[at - 1], before, after), _said_instead(lines[at], after, before))
    file.write_text("".join([*lines[: at - 1], *swapped, *lines[at + 1 :]]), encoding="utf-8")
    return f"{file.parent.name}:{at}: {after['said']} | before | {before['said']}"


def _are_in_order(line: str, following: str) -> bool:
    """Whether two lines are of one thread, and of different kinds: of one kind, their order is that of a hash."""
    one, other = VERB.match(line), VERB.match(following)
    if not one or not other or one["speaker"] != other["speaker"] or one["verb"] == other["verb"]:
        return False
    return [found[0] for found in NUMBER.finditer(line)] == [found[0] for found in NUMBER.finditer(following)]


def _said_instead(line: str, one: re.Match[str], other: re.Match[str]) -> str:
    return line.replace(one["said"], other["said"])


def _give_a_number_twice(folder: Path, rng: Random) -> str:
    """The correlation id of the LeaderAndIsr before, in the same channel."""
    zookeeper = (folder / ZOOKEEPER).read_text(encoding="utf-8")
    registered = re.findall(r'"time": (\d+).*"type": "create", "path": "/brokers/ids/(\d+)"', zookeeper)
    file = _one(rng, sorted(folder.glob(LOGS)))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    numbers: dict[tuple[str, ...], list[int]] = {}
    for at, line in enumerate(lines):
        if one := NUMBER.search(line):
            numbers.setdefault(one.groups(), []).append(at)
    pairs = [
        (old, new)
        for old, new in pairwise(numbers)
        if old[1:] == new[1:] and int(old[0]) < int(new[0]) and numbers[old][-1] < numbers[new][0]
        and not any(
            broker == file.parent.name.removeprefix("broker-")
            and _time(lines[numbers[old][0]]) - SKEW < int(time) < _time(lines[numbers[new][-1]]) + SKEW
            for time, broker in registered
        )
    ]  # fmt: skip
    old, new = _one(rng, pairs)
    for at in numbers[new]:
        lines[at] = re.sub(r"(correlation ?[iI]d) \d+ from", rf"\1 {old[0]} from", lines[at])
    file.write_text("".join(lines), encoding="utf-8")
    return f"{file.parent.name}:{numbers[new][0] + 1}: number {old[0]} in the place of {new[0]}, of controller {new[1]}"


def _time(line: str) -> int:
    """The time of a line, in milliseconds."""
    return round(datetime.fromisoformat(line[1:24].replace(",", ".") + "+00:00").timestamp() * 1000)


def _rewritten(file: Path, one: re.Match[str], group: int, new: str) -> str:
    text = one.string
    file.write_text(text[: one.start(group)] + new + text[one.end(group) :], encoding="utf-8")
    line = text.count("\n", 0, one.start()) + 1
    return f"{file.parent.name}/{file.name}:{line}: {one[0]} with {new} in the place of {one[group]}"


LIES: tuple[Lie, ...] = (
    _lie_about_a_state, _lie_about_an_epoch, _lie_about_a_session, _lie_about_a_number, _lie_about_a_word,
    _leave_out_a_line, _say_a_line_twice, _lie_about_a_receiver, _swap_two_lines, _give_a_number_twice,
)  # fmt: skip
