"""The reference as an adapter: `python -m model_check.conformance.reference_adapter [--dialect as-coded-0.9.0]`.

It reads questions from standard input and answers each on standard output, a line for a line (`protocol.py`). It asks
the reference's own code, and the formats that the reference shares with the specification.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from model_check.conformance.protocol import PROTOCOL
from model_check.conformance.reference_driven import control
from model_check.conformance.reference_functions import FUNCTIONS, release_of
from model_check.conformance.vector import DIALECTS, Object
from reference.brokers.broker import NO_LEADER_EPOCH, Broker, Partition
from reference.controller.machines import check_transition
from reference.leadership import leader_selectors as selectors
from spec.errors import BadInput, IllegalTransition, MalformedInput, Where
from spec.formats.error_codes import ErrorCode
from spec.formats.json_requests import request_from_hex, request_from_json, request_to_hex, request_to_json
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import NO_LEADERSHIP
from spec.formats.znodes import EmptyPayload, parse_payload
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

BY_ISR: Final = ("as-coded-0.8.2", "as-coded-0.9.0")
"""The dialects whose selector of a controlled shutdown does not ask who is registered (D66)."""
REFUSED: Final[Object] = {"refused": True}


def main(arguments: Iterable[str] | None = None) -> None:
    """Answer until the runner says bye, or its output ends."""
    parser = argparse.ArgumentParser(description="The reference as an adapter of the conformance suite.")
    parser.add_argument("--dialect", choices=DIALECTS, default="as-coded-0.10.2")
    adapter = Adapter(parser.parse_args(arguments if arguments is None else list(arguments)).dialect)
    for line in sys.stdin:
        try:
            question = json.loads(line)
        except (ValueError, RecursionError) as error:
            question = {"verb": f"question that is JSON: {error}"}
        if isinstance(question, dict) and question.get("verb") == "bye":
            return
        if isinstance(question, dict) and question.get("verb") == "control":
            adapter.control(question, _say, lambda: json.loads(sys.stdin.readline()))
        else:
            _say(adapter.answer(question))


def _say(told: Object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


class Adapter:
    """Answers questions in a dialect."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.verbs: dict[str, Callable[[Object], Object]] = {
            "transition": _transition,
            "elect": self._elect,
            "fence": _fence,
            "read_znode": _read_znode,
            "encode_request": _encode_request,
            "decode_request": _decode_request,
            **{verb: partial(ask, dialect=dialect) for verb, ask in FUNCTIONS.items()},
        }

    def answer(self, question: Object) -> Object:
        """The answer to a question, whatever it is; what is wrong with it is told as an error."""
        if not isinstance(question, dict):
            return {"id": None, "error": "expected an object with verb, id and given"}
        verb, name = question.get("verb"), question.get("id")
        if verb == "hello":
            return {
                "protocol": PROTOCOL, "name": "reference", "language": "Python", "dialect": self.dialect,
                "verbs": [*self.verbs, "control"],
            }  # fmt: skip
        if not isinstance(verb, str) or verb not in self.verbs:
            return {"id": name, "skip": f"the reference has no {verb}"}
        try:
            return {"id": name, "outcome": self.verbs[verb](question["given"])}
        except BadInput as error:
            return {"id": name, "error": str(error)}
        except Exception as error:  # noqa: BLE001 - what is given is not as the format page says
            return {"id": name, "error": f"what is given cannot be asked: {type(error).__name__}: {error}"}

    def control(self, question: Object, say: Callable[[Object], None], hear: Callable[[], Object]) -> None:
        """Have a controller say what it does, and hear what comes of it, until the script has ended."""
        name = question.get("id")

        def exchange(told: Object) -> Object:
            say({"id": name, **told})
            return hear()

        try:
            control(question["given"], release_of(self.dialect), exchange)
        except BadInput as error:
            say({"id": name, "error": str(error)})
        except Exception as error:  # noqa: BLE001 - what is given is not as the format page says
            say({"id": name, "error": f"what is given cannot be driven: {type(error).__name__}: {error}"})

    def _elect(self, given: Object) -> Object:
        try:
            elected = self._election(given)
        except selectors.ElectionNotNeeded:
            return {"refused": "not needed"}
        except selectors.ElectionRefused:
            return {"refused": "impossible"}
        told = {"leader": elected.leader, "isr": sorted(elected.isr), "receivers": sorted(elected.receivers)}
        return {"elected": told}

    def _election(self, given: Object) -> selectors.Election:
        isr = given["isr"]
        match given["selector"]:
            case "offline":
                return selectors.elect_offline(given["assigned"], isr, given["live"], unclean_enabled=given["unclean"])
            case "reassigned":
                return selectors.elect_reassigned(given["reassigned"], isr, given["live"])
            case "preferred":
                leader = given["cached_leader"]
                return selectors.elect_preferred(given["assigned"], isr, given["live"], cached_leader=leader)
            case "controlled-shutdown":
                return selectors.elect_on_controlled_shutdown(
                    given["assigned"], isr, given["registered"], given["shutting_down"],
                    by_isr=self.dialect in BY_ISR,
                )  # fmt: skip
            case other:
                raise ValueError(f"no selector is called {other}")


def _transition(given: Object) -> Object:
    state: Any = PartitionState if given["machine"] == "partition" else ReplicaState
    try:
        check_transition(given["machine"], "a vector's", state(given["from"]), state(given["to"]))
    except IllegalTransition:
        return {"permitted": False}
    return {"permitted": True}


def _fence(given: Object) -> Object:
    header, request = request_from_json(given["request"], Where("request"))
    (partition,) = (TopicPartition(one["Topic"], one["Partition"]) for one in _told_of(given["request"]["body"]))
    knows = given["knows"]
    broker = Broker(given["broker"], controller_epoch=knows["controller_epoch"])
    if knows["leader_epoch"] != NO_LEADER_EPOCH:
        leadership = replace(NO_LEADERSHIP, leader=given["broker"], leader_epoch=knows["leader_epoch"])
        broker.partitions[partition] = Partition(leadership)
    if knows["cached_leader_epoch"] != NO_LEADER_EPOCH:
        broker.cached_epochs[partition] = knows["cached_leader_epoch"]
    answer = broker.handle(request, header.correlation_id)
    codes = {getattr(one, "error_code") for one in (answer, *getattr(answer, "partitions", ()))}  # noqa: B009
    return {
        "fenced": ErrorCode.STALE_CONTROLLER_EPOCH in codes,
        "knows": {
            "controller_epoch": broker.controller_epoch,
            "leader_epoch": broker.partition(partition).leadership.leader_epoch,
            "cached_leader_epoch": broker.cached_epochs.get(partition, NO_LEADER_EPOCH),
        },
    }


def _told_of(body: Object) -> list[Object]:
    """What a request says of each partition that it names."""
    told: list[Object] = body["Partitions"] if "Partitions" in body else body["PartitionStates"]
    return told


def _read_znode(given: Object) -> Object:
    try:
        payload = parse_payload(given["path"], given["data"])
    except MalformedInput:
        return REFUSED
    if isinstance(payload, EmptyPayload):
        return {"value": None}
    told: Any = json.loads(str(payload))
    return {"value": {"brokerid": told} if given["path"] == "/controller" and isinstance(told, int) else told}


def _encode_request(given: Object) -> Object:
    return {"hex": request_to_hex(*request_from_json(given, Where("given")))}


def _decode_request(given: Object) -> Object:
    try:
        return request_to_json(*request_from_hex(given["hex"]))
    except MalformedInput:
        return REFUSED


if __name__ == "__main__":
    main()
