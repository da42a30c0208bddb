"""A leader changes its ISR: `maybeShrinkIsr` and `maybeExpandIsr`, several in a row.

Expected is what PROTOCOL.md section 10 says: the leader writes itself, its own leader epoch, the controller epoch that
it was sent, and the new ISR, on the version that it knows. Once that is done it knows the new ISR and version; else it
knows what it knew, and tries again on the same version. What is there is compared as section 2 has it.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import DIALECTS, Dialect, Object, since
from spec.formats.kafka_types import V090

LEADER: Final = 2
KNOWS: Final[Object] = {"leader_epoch": 4, "isr": [2, 1, 3], "controller_epoch": 3, "zk_version": 6}
SOURCES: Final = ["PROTOCOL.md section 10", "Partition.updateIsr", "ReplicationUtils.updateLeaderAndIsr"]
SHRINKS, EXPANDS = {"shrink": [3]}, {"expand": 4}


def _state(isr: Sequence[int] = KNOWS["isr"], **changes: Any) -> Object:
    known = {name: KNOWS[name] for name in ("leader_epoch", "controller_epoch")}
    return {"leader": LEADER, **known, "isr": [*isr], **changes}


def _text(state: Object) -> str:
    return json.dumps({"version": 1, **state}, separators=(",", ":"))


def isr_cases() -> Iterator[Case]:
    """Changes on the present version, on others, where the same content is there or something else; then several."""
    for words, change in (
        ("one lags", SHRINKS), ("two lag", {"shrink": [1, 3]}), ("the first of the others lags", {"shrink": [1]}),
        ("nobody lags", {"shrink": []}), ("one has caught up", EXPANDS), ("one in sync has caught up", {"expand": 3}),
        ("one that is not assigned has caught up", {"expand": 5}),
    ):  # fmt: skip
        yield _case(f"{words}", [change])
    yield _case("one lags that is not assigned any more", [{"shrink": [9]}], isr=[2, 9, 1])
    yield _case("one has caught up with a leader that is alone", [{"expand": 3}], isr=[2])
    for words, state in (
        ("another leader", _state(leader=1)), ("a newer leader epoch", _state(leader_epoch=5)),
        ("what it knows itself", _state()), ("another ISR", _state([2])),
        ("a newer controller", _state(controller_epoch=4)), ("the new ISR in another order", _state([1, 2])),
        ("the new ISR, in a newer leader epoch", _state([2, 1], leader_epoch=5)),
    ):  # fmt: skip
        yield _case(f"one lags, where {words} stands at a newer version", [SHRINKS], znode=_text(state), at=7)
    yield _case("one lags, where another leader stands at the known version", [SHRINKS], znode=_text(_state(leader=1)))
    same = _state([2, 1])
    for words, text in (
        ("", _text(same)), (", spelled otherwise", json.dumps({"rack": "r", **same}, indent=1)),
    ):  # fmt: skip
        for at in (5, 9):
            yield _case(f"one lags, where the new ISR stands already at {at}{words}", [SHRINKS], znode=text, at=at)
    yield _case(
        "one has caught up, where the new ISR stands already", [EXPANDS], znode=_text(_state([2, 1, 3, 4])), at=7
    )
    for change in (SHRINKS, EXPANDS):
        what = "lags" if change is SHRINKS else "has caught up"
        yield _case(f"one {what}, and there is no znode", [change], znode=None)
        yield _case(f"one {what}, and what stands there cannot be read", [change], znode="{", at=7)
        yield _case(f"one {what}, where another stands, and the known version is -1", [change], zk_version=-1,
                    znode=_text(_state(leader=1, leader_epoch=9)), at=7)  # fmt: skip
    yield _case("one lags, and what stands there cannot be read, at the known version", [SHRINKS], znode="{")
    yield _case("one lags, and comes back", [SHRINKS, {"expand": 3}])
    yield _case("one has caught up, then two lag", [EXPANDS, {"shrink": [1, 3]}])
    yield _case("one lags twice, on an old version", [SHRINKS, SHRINKS], znode=_text(_state(leader_epoch=5)), at=7)
    yield _case(
        "one lags, another has caught up, on an old version", [SHRINKS, EXPANDS], znode=_text(_state([2])), at=8
    )
    yield _case("the same stands at the first, and something else at the second", [SHRINKS, EXPANDS],
                znode=_text(same), at=9)  # fmt: skip
    for words, more in (
        ("", {}),
        (", on an old version", {"at": 7}),
        (", and it is so already", {"znode": _text(same), "at": 7}),
    ):
        yield _case(f"one lags{words}: is it announced", [SHRINKS], dialects=since(V090), announces=True, **more)
    yield _case("nobody lags: is it announced", [{"shrink": []}], dialects=since(V090), announces=True)


def _case(
    words: str, changes: Sequence[Object], *, znode: Any = ..., at: int = KNOWS["zk_version"],
    dialects: Sequence[Dialect] = DIALECTS, announces: bool = False, **knows: Any,
) -> Case:  # fmt: skip
    known = {**KNOWS, **knows}
    text = _text(_state(known["isr"])) if znode is ... else znode
    stands = None if text is None else {"data": text, "version": at}
    given: Object = {
        "broker": LEADER, "partition": "t-0", "assigned": [1, 2, 3, 4], "knows": known, "znode": stands,
        "changes": [*changes],
    }  # fmt: skip
    outcome = _outcome(given)
    if announces:
        outcome["announces"] = any(one["done"] for one in outcome["writes"])
    return Case(
        "change_isr", f"A leader's ISR: {words}", given, [outcome], SOURCES, ["isr", "conditional-writes"], dialects
    )


def _outcome(given: Object) -> Object:
    known, stands = given["knows"], given["znode"]
    writes: list[Object] = []
    for change in given["changes"]:
        isr = _changed(known["isr"], change, given["assigned"])
        if isr is None:
            writes.append({"state": None, "on_version": None, "done": False})
            continue
        state = _state(isr)
        is_at = stands is not None and known["zk_version"] in {-1, stands["version"]}
        is_same = stands is not None and stands["data"] != "{" and _says(stands["data"]) == state
        if is_at:
            stands = {"data": _text(state), "version": stands["version"] + 1}
        writes.append({"state": state, "on_version": known["zk_version"], "done": is_at or is_same})
        if is_at or is_same:
            known = known | {"isr": isr, "zk_version": stands["version"]}
    knows = {"isr": known["isr"], "zk_version": known["zk_version"]}
    return {"writes": writes, "knows": knows, "version": None if stands is None else stands["version"]}


def _changed(isr: Sequence[int], change: Object, assigned: Sequence[int]) -> list[int] | None:
    """The new ISR, if there is anything to write."""
    if "shrink" in change:
        return [one for one in isr if one not in change["shrink"]] if change["shrink"] else None
    is_new = change["expand"] in assigned and change["expand"] not in isr
    return [*isr, change["expand"]] if is_new else None


def _says(text: str) -> Object:
    told = json.loads(text)
    return {name: told[name] for name in ("leader", "leader_epoch", "controller_epoch", "isr")}
