"""ZooKeeper operations as JSON: what a driven controller asks for, and what it is given."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from model_check.conformance.vector import Object
from reference.zookeeper.api import (
    ANY_VERSION,
    AnyOperation,
    Create,
    CreateMode,
    Delete,
    Exists,
    GetChildren,
    GetData,
    SetData,
    Stat,
)
from spec.errors import Where

WRITES: Final = {Create: "create", SetData: "set", Delete: "delete"}
"""The operations that change something, by their names in a script."""


def operation_of(call: Object, where: Where) -> AnyOperation:
    """The operation that a call asks for; MalformedInput names the key that is wrong."""
    path = call.get("path")
    if not isinstance(path, str):
        where.key("path").refuse("expected a path as a string")
    data, version, watch = call.get("data"), call.get("version", ANY_VERSION), call.get("watch", False)
    if data is not None and not isinstance(data, str):
        where.key("data").refuse("expected a string, or null")
    if type(version) is not int or type(watch) is not bool:
        where.refuse("expected a number as version, and true or false as watch")
    try:
        payload = None if data is None else data.encode()
    except UnicodeEncodeError:
        where.key("data").refuse("expected a text; half a surrogate pair is no character of UTF-8")
    mode = CreateMode.EPHEMERAL if call.get("ephemeral") else CreateMode.PERSISTENT
    makers: Mapping[object, Callable[[], AnyOperation]] = {
        "create": lambda: Create(path, payload, mode), "set": lambda: SetData(path, payload, version),
        "delete": lambda: Delete(path, version), "exists": lambda: Exists(path, watch),
        "get": lambda: GetData(path, watch), "children": lambda: GetChildren(path, watch),
    }  # fmt: skip
    make = makers.get(call.get("op")) if isinstance(call.get("op"), str) else None
    if make is None:
        where.key("op").refuse(f"expected one of {', '.join(str(one) for one in makers)}")
    try:
        return make()
    except ValueError as error:
        where.key("path").refuse(str(error))


def result_of(operation: AnyOperation, answer: Any, session: int) -> Any:
    """What an operation gave, as JSON; `own` where it is an ephemeral znode of this session."""

    def told(stat: Stat) -> Object:
        return {"version": stat.version, "czxid": stat.czxid, "own": stat.ephemeral_owner == session}

    match operation:
        case SetData():
            return told(answer)
        case Exists():
            return None if answer is None else told(answer)
        case GetData():
            return {"data": None if answer.data is None else answer.data.decode()} | told(answer.stat)
        case GetChildren():
            return {"children": [*answer.names]} | told(answer.stat)
        case _:
            return {}
