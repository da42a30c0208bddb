"""The conversation with a driven controller: it says a line, and is answered by one, until the script has ended.

    -> {"verb": "control", "id": "kcs-failover-0003", "given": {"broker": 1, "settings": {}, ...}}
    <- {"id": ..., "ask": {"op": "create", "path": "/controller", "data": "{...}", "ephemeral": true}}
    -> {"result": {}}                           or {"refused": "NodeExists"}
    <- {"id": ..., "send": {"to": 2, "request": {"name": "LeaderAndIsr", ...}}}
    -> {"result": {"number": 1}}
    <- {"id": ..., "wait": true}
    -> {"event": {"watch": "/brokers/ids", "type": "NodeChildrenChanged"}}
    ...
    <- {"id": ..., "wait": true}
    -> {"end": true}                            which has no answer

`FORMAT.md` tells implementers all of this.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from model_check.conformance.driving.acts import NAMES
from model_check.conformance.driving.world import Impossible, World
from model_check.conformance.protocol import Answer, parse_answer, parse_said
from model_check.conformance.vector import Object, Vector
from spec.errors import Where

LINES: Final = 20_000
"""What a controller says at most until the script has ended."""
END: Final = {"end": True}


def converse(vector: Vector, first: str, ask: Callable[[str], str], tell: Callable[[str], None]) -> Answer:
    """What comes of a conversation, whose `first` line of the controller's has come; MalformedInput at a wrong one.

    `ask` takes a line that is answered, and gives the controller's next one; `tell` takes the last, which is not.
    """
    world, line, lines = World(vector.given), first, 1
    while True:
        said = parse_said(line, vector.id)
        if "skip" in said or "error" in said:
            return parse_answer(line, vector.id)
        stopped: Object = {}
        try:
            answered = answer(world, said)
        except Impossible as reason:
            answered, stopped = None, {"stopped": str(reason)}
        if answered is None:
            tell(json.dumps(END))
            return Answer(outcome={**world.outcome(), **stopped})
        if lines == LINES:
            Where("the conversation").refuse(f"it has said {LINES} lines, and does not come to the end of the script")
        line, lines = ask(json.dumps(answered)), lines + 1


def answer(world: World, said: Object) -> Object | None:
    """The answer to what a controller says; None at the end."""
    where = Where("what it says")
    kinds = [key for key in KINDS if key in said]
    if len(kinds) != 1:
        where.refuse(f"expected one of {', '.join(KINDS)}, found {' and '.join(kinds) or 'none of them'}")
    return KINDS[kinds[0]](world, said[kinds[0]], where.key(kinds[0]))


def _ask(world: World, told: Any, where: Where) -> Object:
    return world.ask(_object(told, where), where)


def _send(world: World, told: Any, where: Where) -> Object:
    to, request = _object(told, where).get("to"), _object(told.get("request"), where.key("request"))
    if type(to) is not int:
        where.key("to").refuse("expected the id of a broker")
    if request.get("name") not in NAMES:
        where.key("request").key("name").refuse(f"expected one of {', '.join(NAMES)}")
    if not isinstance(request.get("partitions"), list):
        where.key("request").key("partitions").refuse("expected a list")
    if request["name"] == "StopReplica":
        if type(request.get("delete")) is not bool:
            where.key("request").key("delete").refuse("expected true or false")
        if not all(isinstance(one, str) for one in request["partitions"]):
            where.key("request").key("partitions").refuse("expected a list of names")
    return world.send(to, request)


def _reply(world: World, told: Any, where: Where) -> Object:
    return world.reply(_object(told, where))


def _log(world: World, told: Any, where: Where) -> Object:
    if not isinstance(told, str):
        where.refuse("expected a line, as a string")
    return world.log(told)


def _wait(world: World, told: Any, where: Where) -> Object | None:
    if told is not True:
        where.refuse("expected true")
    event = world.wait()
    return None if event is None else {"event": event}


KINDS: Final[dict[str, Callable[[World, Any, Where], Object | None]]] = {
    "ask": _ask, "send": _send, "reply": _reply, "log": _log, "wait": _wait,
}  # fmt: skip


def _object(told: Any, where: Where) -> Object:
    if not isinstance(told, dict):
        where.refuse("expected an object")
    return told
