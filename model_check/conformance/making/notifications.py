"""What a controller makes of the notifications of ISR changes: `IsrChangeNotificationListener`.

Expected is what PROTOCOL.md sections 2, 7.7 and 9 say: all notifications are read, then all state znodes that they
name; the cache takes these, UpdateMetadata of what was named goes to all registered brokers, and all notifications that
were listed are deleted. Whatever raises on the way ends the rest of it, except the deletion.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Dialect, Object, since
from spec.formats.kafka_types import V0102, V090

SOURCES: Final = ["PROTOCOL.md section 7.7", "KafkaController.IsrChangeNotificationListener"]
LATEST, ALL = since(V0102), since(V090)
EARLIER: Final[tuple[Dialect, ...]] = tuple(one for one in ALL if one not in LATEST)
CACHED: Final[Object] = {"leader": 1, "leader_epoch": 4, "isr": [1, 2, 3], "controller_epoch": 2, "zk_version": 6}
FIELDS: Final = ("controller_epoch", "leader", "leader_epoch", "isr")
DOOMED: Final = -2
"""The leader by which brokers are sent that a partition is gone."""


class Raised(Exception):
    """The listener ends with an exception."""


def _znode(version: int = 7, **changes: Any) -> Object:
    state = {"version": 1, **{name: CACHED[name] for name in FIELDS}, "isr": [1, 3], **changes}
    return {"data": json.dumps(state, separators=(",", ":")), "version": version}


def _placed(cached: Object | None = CACHED, znode: Any = ..., assigned: Sequence[int] | None = (1, 2, 3)) -> Object:
    stands = _znode() if znode is ... else znode
    return {"assigned": None if assigned is None else [*assigned], "leadership": cached, "znode": stands}


def _names(*partitions: str, **more: Any) -> str:
    """A notification of partitions, as a leader writes it."""
    named = [dict(zip(("topic", "partition"), _split(one), strict=True)) for one in partitions]
    return json.dumps({"version": 1, "partitions": named, **more}, separators=(",", ":"))


def _split(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


TWO: Final = {"a-0": _placed(), "b-0": _placed(znode=_znode(9, leader=2, isr=[2]))}
UNREADABLE: Final = {
    "a list": "[1]", "no partitions": '{"version":1}', "partitions that are no list": '{"version":1,"partitions":{}}',
    "an entry without its topic": '{"version":1,"partitions":[{"partition":0}]}',
    "an entry whose number is a text": '{"version":1,"partitions":[{"topic":"a","partition":"0"}]}',
    "an entry whose topic is a number": '{"version":1,"partitions":[{"topic":1,"partition":0}]}',
    "an entry that is no object": '{"version":1,"partitions":["a-0"]}',
}  # fmt: skip
"""What raises."""
NOTHING: Final = {"no JSON": '{"version":1,', "an empty text": "", "no partition": _names()}
"""What names nothing."""


def notification_cases() -> Iterator[Case]:
    """What is named, how the notifications are torn, and what stands in the state znodes."""
    yield _case("none", [], TWO)
    yield _case("one, of one partition", [_names("a-0")], TWO)
    yield _case("one, of two partitions", [_names("a-0", "b-0")], TWO)
    yield _case("two, of one each", [_names("a-0"), _names("b-0")], TWO)
    yield _case("two of the same", [_names("a-0"), _names("a-0")], TWO)
    yield _case("one that names a partition twice", [_names("a-0", "a-0")], TWO)
    yield _case("one of another version, with a key that nobody knows", [_names("b-0", version=2, rack="r")], TWO)
    for words, text in NOTHING.items():
        yield _case(f"one with {words}", [text], TWO)
        yield _case(f"one with {words}, and a good one", [text, _names("b-0")], TWO)
    for words, text in UNREADABLE.items():
        yield _case(f"one with {words}, and a good one", [_names("b-0"), text], TWO)
    for words, partition in (
        ("whose state is as cached", _placed(znode=_znode(6, isr=[1, 2, 3]))),
        ("whose state is older than the cache has it", _placed(znode=_znode(3, leader_epoch=2, isr=[3, 1]))),
        ("whose state is of a newer controller", _placed(znode=_znode(8, controller_epoch=9))),
        ("whose state has no leader", _placed(znode=_znode(8, leader=-1, isr=[3]))),
        ("whose state znode is gone", _placed(znode=None)),
        ("whose state znode has no JSON", _placed(znode={"data": "{", "version": 3})),
        ("whose state has keys that nobody knows", _placed(znode=_znode(8, rack="r"))),
        ("that has no leadership yet", _placed(cached=None)),
    ):
        yield _case(f"one of a partition {words}", [_names("a-0", "b-0")], {**TWO, "a-0": partition})
    state = {name: CACHED[name] for name in FIELDS}
    for key, name in product(("leader", "isr"), TWO):
        torn = {"data": json.dumps({field: one for field, one in state.items() if field != key}), "version": 7}
        yield _case(f"one of two partitions; the state of {name} has no {key}", [_names(*TWO)],
                    {**TWO, name: _placed(znode=torn)})  # fmt: skip
    unknown = {**TWO, "gone-0": _placed(None, None, None)}
    for words, names in (("", ["gone-0"]), (", and of one that is known", ["gone-0", "b-0"])):
        for dialects in (LATEST, EARLIER):
            yield _case(f"one of a partition that nobody knows{words}", [_names(*names)], unknown, dialects)
    left = {**TWO, "gone-0": _placed(None, _znode(), None)}
    yield _case("one of a partition without AR whose state znode stands", [_names("b-0", "gone-0")], left)
    none = {**TWO, "new-0": _placed(None, None)}
    for dialects in (LATEST, EARLIER):
        yield _case("one of a partition without leadership", [_names("new-0")], none, dialects)
    yield _case("one while brokers shut down, or are gone", [_names("a-0")], TWO, live=[1], shutting_down=[3])
    yield _case("one of a topic that is queued for deletion", [_names("a-0")], TWO, deleting=["a"])
    yield _case("one while another topic is queued for deletion", [_names("b-0")], TWO, deleting=["a"])
    hyphens = {"a-b-10": _placed(), "a-0": _placed()}
    yield _case("one of a topic with a hyphen", [_names("a-b-10")], hyphens)


def _case(
    words: str, notifications: Sequence[str], partitions: Mapping[str, Object], dialects: Sequence[Dialect] = ALL,
    **changes: Any,
) -> Case:  # fmt: skip
    given: Object = {
        "controller_epoch": 5, "live": [1, 2, 3], "shutting_down": [], "deleting": [], **changes,
        "notifications": {f"isr_change_{number:010}": text for number, text in enumerate(notifications, 8)},
        "partitions": {**partitions},
    }  # fmt: skip
    cached = {name: one["leadership"] for name, one in partitions.items()}
    try:
        cached, told = _handled(given, cached, dialects)
    except Raised as error:
        cached, told = error.args[0], None
    outcome = {"cached": cached, "update_metadata": told, "removed": sorted(given["notifications"])}
    return Case(
        "handle_isr_changes", f"Notifications of ISR changes: {words}", given, [outcome], SOURCES, ["isr"], dialects
    )  # fmt: skip


def _handled(given: Object, cached: Object, dialects: Sequence[Dialect]) -> tuple[Object, Object | None]:
    """The cache then, and what brokers are sent; Raised has the cache."""
    if {*given["notifications"].values()} & {*UNREADABLE.values()}:
        raise Raised(cached)
    texts = [one for one in given["notifications"].values() if one not in {*NOTHING.values()}]
    named = {f"{one['topic']}-{one['partition']}" for text in texts for one in json.loads(text)["partitions"]}
    if not named:
        return cached, None
    found = {name: _read(given["partitions"][name]["znode"], cached) for name in named}
    cached = cached | {name: one for name, one in found.items() if one is not None}
    if any(cached[name] and given["partitions"][name]["assigned"] is None for name in named):
        raise Raised(cached)
    return cached, _told(given, cached, named, dialects)


def _read(znode: Object | None, cached: Object) -> Object | None:
    if znode is None or znode["data"] == "{":
        return None
    state = json.loads(znode["data"])
    if not {*FIELDS} <= {*state}:
        raise Raised(cached)
    return {name: state[name] for name in FIELDS} | {"zk_version": znode["version"]}


def _told(given: Object, cached: Object, named: set[str], dialects: Sequence[Dialect]) -> Object | None:
    doomed = {name for name in cached if _split(name)[0] in given["deleting"] and cached[name]}
    led = {name for name in named - doomed if cached[name]}
    if named - doomed and not led | doomed and dialects != LATEST:
        return None  # KAFKA-4415
    leaders = {name: cached[name]["leader"] for name in led} | dict.fromkeys(doomed, DOOMED)
    told = [{"partition": name, "leader": leaders[name]} for name in sorted(leaders)]
    return {"to": sorted([*given["live"], *given["shutting_down"]]), "partitions": told}
