"""Controllers that are wrong: what an implementer may forget or mix up, as what becomes of what the reference says."""

import re
from collections.abc import Callable
from typing import Any

from model_check.conformance.vector import Object

Exchange = Callable[[Object], Object]
Wrong = Callable[[Exchange], Exchange]
WRONG: dict[str, Wrong] = {}
"""By name: an exchange that stands between a controller and the world."""
NOTHING: Object = {"result": {"number": 0}}


def wrong(made: Wrong) -> Wrong:
    """Declare a wrong controller."""
    WRONG[made.__name__.replace("_", " ")] = made
    return made


def _asks(said: Object, op: str, path: str = "") -> bool:
    asked = said.get("ask", {})
    return bool(asked.get("op") == op and path in asked["path"])


def _sends(said: Object, name: str) -> bool:
    return bool(said.get("send", {}).get("request", {}).get("name") == name)


def _says(change: Callable[[Object], Object | None]) -> Wrong:
    """Says something else; None: says nothing, and takes it as done."""

    def made(exchange: Exchange) -> Exchange:
        def say(said: Object) -> Object:
            changed = change(said)
            return NOTHING if changed is None else exchange(changed)

        return say

    return made


def _changed(said: Object, kind: str, **what: Any) -> Object:
    return {**said, kind: {**said[kind], **what}}


def _hears_nothing_of(kind: str) -> Wrong:
    """Waits on, whenever it is told of an event of this kind."""

    def made(exchange: Exchange) -> Exchange:
        def hear(said: Object) -> Object:
            heard = exchange(said)
            while kind in heard.get("event", {}):
                heard = exchange(said)
            return heard

        return hear

    return made


@wrong
def writes_without_a_condition(exchange: Exchange) -> Exchange:
    return _says(lambda said: _changed(said, "ask", version=-1) if _asks(said, "set") else said)(exchange)


@wrong
def raises_no_controller_epoch(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        if _asks(said, "set", "/controller_epoch"):
            return _changed(said, "ask", data=str(int(said["ask"]["data"]) - 1))
        return said

    return _says(change)(exchange)


@wrong
def creates_the_controller_znode_for_ever(exchange: Exchange) -> Exchange:
    return _says(lambda said: _changed(said, "ask", ephemeral=False) if _asks(said, "create", "/controller") else said)(
        exchange
    )


@wrong
def is_deaf_to_brokers(exchange: Exchange) -> Exchange:
    return _says(lambda said: _changed(said, "ask", watch=False) if _asks(said, "children", "/brokers/ids") else said)(
        exchange
    )


@wrong
def is_deaf_to_the_controller_znode(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        is_read = _asks(said, "get", "/controller") or _asks(said, "exists", "/controller")
        return _changed(said, "ask", watch=False) if is_read and said["ask"]["path"] == "/controller" else said

    return _says(change)(exchange)


@wrong
def is_deaf_to_topics(exchange: Exchange) -> Exchange:
    return _says(
        lambda said: _changed(said, "ask", watch=False) if _asks(said, "children", "/brokers/topics") else said
    )(exchange)


@wrong
def sends_no_metadata(exchange: Exchange) -> Exchange:
    return _says(lambda said: None if _sends(said, "UpdateMetadata") else said)(exchange)


@wrong
def stops_no_replica(exchange: Exchange) -> Exchange:
    return _says(lambda said: None if _sends(said, "StopReplica") else said)(exchange)


@wrong
def tells_followers_nothing(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object | None:
        if not _sends(said, "LeaderAndIsr"):
            return said
        to, request = said["send"]["to"], said["send"]["request"]
        led = [one for one in request["partitions"] if one["leader"] == to]
        return _changed(said, "send", request={**request, "partitions": led}) if led else None

    return _says(change)(exchange)


@wrong
def loses_the_delete_flag(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        if _sends(said, "StopReplica"):
            return _changed(said, "send", request={**said["send"]["request"], "delete": False})
        return said

    return _says(change)(exchange)


@wrong
def sends_leader_epochs_that_are_one_behind(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        if not _sends(said, "LeaderAndIsr"):
            return said
        request = said["send"]["request"]
        late = [{**one, "leader_epoch": one["leader_epoch"] - 1} for one in request["partitions"]]
        return _changed(said, "send", request={**request, "partitions": late})

    return _says(change)(exchange)


@wrong
def sends_the_assignment_as_the_isr(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        if not _sends(said, "LeaderAndIsr"):
            return said
        request = said["send"]["request"]
        whole = [{**one, "isr": one["replicas"]} for one in request["partitions"]]
        return _changed(said, "send", request={**request, "partitions": whole})

    return _says(change)(exchange)


@wrong
def keeps_what_is_asked_for(exchange: Exchange) -> Exchange:
    return _says(lambda said: None if _asks(said, "delete", "/admin/") else said)(exchange)


@wrong
def keeps_the_configuration_of_a_deleted_topic(exchange: Exchange) -> Exchange:
    return _says(lambda said: None if _asks(said, "delete", "/config/topics") else said)(exchange)


@wrong
def turns_the_order_of_replicas_round(exchange: Exchange) -> Exchange:
    def change(said: Object) -> Object:
        if _asks(said, "set", "/brokers/topics/a") and not _asks(said, "set", "/state"):
            turned = said["ask"]["data"].replace("[2,3,1]", "[1,2,3]")
            return _changed(said, "ask", data=turned)
        return said

    return _says(change)(exchange)


@wrong
def answers_that_a_broker_leads_nothing_any_more(exchange: Exchange) -> Exchange:
    return _says(lambda said: _changed(said, "reply", remaining=[]) if "reply" in said else said)(exchange)


@wrong
def takes_every_answer_for_good(exchange: Exchange) -> Exchange:
    def hear(said: Object) -> Object:
        heard = exchange(said)
        if "answer" in heard.get("event", {}):
            answer = heard["event"]["answer"]
            return {"event": {"answer": {**answer, "partitions": dict.fromkeys(answer["partitions"], 0)}}}
        return heard

    return hear


@wrong
def takes_no_answer(exchange: Exchange) -> Exchange:
    return _hears_nothing_of("answer")(exchange)


@wrong
def does_not_hear_of_the_end_of_its_session(exchange: Exchange) -> Exchange:
    return _hears_nothing_of("session")(exchange)


@wrong
def looks_at_no_imbalance(exchange: Exchange) -> Exchange:
    return _hears_nothing_of("rebalance")(exchange)


@wrong
def takes_a_lost_answer_for_done(exchange: Exchange) -> Exchange:
    def hear(said: Object) -> Object:
        heard = exchange(said)
        if heard.get("refused") != "ConnectionLoss":
            return heard
        return {"result": {"version": said["ask"].get("version", 0) + 1}}

    return hear


@wrong
def goes_on_where_the_controller_znode_exists(exchange: Exchange) -> Exchange:
    def hear(said: Object) -> Object:
        heard = exchange(said)
        is_taken = _asks(said, "create", "/controller") and heard.get("refused") == "NodeExists"
        return {"result": {}} if is_taken and said["ask"]["path"] == "/controller" else heard

    return hear


@wrong
def sends_before_it_writes(exchange: Exchange) -> Exchange:
    """A state znode's write is held until something is sent, and taken as done before."""
    held: list[Object] = []

    def hear(said: Object) -> Object:
        if _asks(said, "set", "/state"):
            held.append(said)
            return {"result": {"version": said["ask"]["version"] + 1}}
        heard = exchange(said)
        if "send" not in said:
            while held:
                exchange(held.pop(0))
        return heard

    return hear


@wrong
def logs_the_epoch_before(exchange: Exchange) -> Exchange:
    return _logs(lambda line: re.sub(r"epoch (\d+)", lambda epoch: f"epoch {int(epoch[1]) - 1}", line))(exchange)


@wrong
def logs_no_failed_change(exchange: Exchange) -> Exchange:
    return _says(lambda said: None if said.get("log", "").endswith(" failed") else said)(exchange)


@wrong
def logs_states_the_wrong_way_round(exchange: Exchange) -> Exchange:
    return _logs(lambda line: re.sub(r"from (\w+) to (\w+)", r"from \2 to \1", line))(exchange)


def _logs(change: Callable[[str], str]) -> Wrong:
    """Logs other lines."""
    return _says(lambda said: {**said, "log": change(said["log"])} if "log" in said else said)
