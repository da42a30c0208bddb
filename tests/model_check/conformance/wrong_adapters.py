"""The reference's adapter with one slip: `python -m tests.model_check.conformance.wrong_adapters NAME`.

Each is one that an implementer may make; the vectors alone are to find it.
"""

import sys
from typing import Any

from model_check.conformance import reference_adapter, reference_tables
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.vector import Object
from tests.model_check.conformance import broker_slips, byte_slips, call_slips, fence_slips, function_slips  # noqa: F401 - they declare some
from tests.model_check.conformance.slips import SLIPS, slips

__all__ = ["SLIPS"]

IMPOSSIBLE, REFUSED = {"refused": "impossible"}, {"refused": True}


def elected(outcome: Object, **changes: Any) -> Object:
    """An election with something else in it, if it is one."""
    known = {name: value for name, value in changes.items() if value is not None}
    return {"elected": outcome["elected"] | known} if "elected" in outcome else outcome


def head(replicas: list[int], keep: list[int]) -> int | None:
    """The first of a list that is among others."""
    return next((one for one in replicas if one in keep), None)


def data(given: Object) -> str:
    """What a znode holds, as a text."""
    return given["data"] or ""


# ---------------------------------------------------------------------------------------------------------- the tables


@slips("transition")
def permits_everything(_given: Object, _outcome: Object) -> Object:
    return {"permitted": True}


@slips("transition")
def permits_nothing(_given: Object, _outcome: Object) -> Object:
    return {"permitted": False}


@slips("transition")
def turns_arrows_round(given: Object, _outcome: Object) -> Object:
    return reference_tables.transition(given | {"from": given["to"], "to": given["from"]}, "as-coded-0.10.2")


@slips("transition")
def does_not_let_a_partition_stay_online(given: Object, outcome: Object) -> Object:
    return {"permitted": False} if given["from"] == given["to"] == "OnlinePartition" else outcome


@slips("transition")
def lets_any_replica_become_another(given: Object, outcome: Object) -> Object:
    return outcome if given["machine"] == "partition" else {"permitted": given["from"] != given["to"]}


@slips("transition")
def says_it_as_a_number(_given: Object, outcome: Object) -> Object:
    return {"permitted": int(outcome["permitted"])}


# ------------------------------------------------------------------------------------------------------- the selectors


@slips("elect", "offline")
def elects_the_first_of_the_isr(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["isr"], given["live"]))


@slips("elect", "offline")
def elects_the_smallest_id(given: Object, outcome: Object) -> Object:
    fit = {*given["isr"]} & {*given["live"]} & {*given["assigned"]}
    return elected(outcome, leader=min(fit, default=None))


@slips("elect", "offline")
def elects_who_is_dead(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["assigned"], given["isr"]))


@slips("elect", "offline")
def keeps_the_dead_in_the_isr(given: Object, outcome: Object) -> Object:
    return elected(outcome, isr=sorted(given["isr"]))


@slips("elect", "offline")
def is_never_unclean(given: Object, outcome: Object) -> Object:
    return outcome if {*given["isr"]} & {*given["live"]} else IMPOSSIBLE


@slips("elect", "offline")
def is_always_unclean(given: Object, outcome: Object) -> Object:
    leader = head(given["assigned"], given["live"])
    receivers = sorted({*given["assigned"]} & {*given["live"]})
    unclean = {"elected": {"leader": leader, "isr": [leader], "receivers": receivers}}
    return outcome if "elected" in outcome or leader is None else unclean


@slips("elect", "offline")
def keeps_the_isr_in_an_unclean_election(given: Object, outcome: Object) -> Object:
    return outcome if {*given["isr"]} & {*given["live"]} else elected(outcome, isr=sorted(given["isr"]))


@slips("elect", "offline")
def tells_the_dead_too(given: Object, outcome: Object) -> Object:
    return elected(outcome, receivers=sorted(given["assigned"]))


@slips("elect")
def tells_the_isr_only(_given: Object, outcome: Object) -> Object:
    return elected(outcome, receivers=outcome.get("elected", {}).get("isr"))


@slips("elect", "reassigned")
def takes_the_dead_out_as_it_reassigns(given: Object, outcome: Object) -> Object:
    return elected(outcome, isr=sorted({*given["isr"]} & {*given["live"]}))


@slips("elect", "reassigned")
def tells_only_who_lives_as_it_reassigns(given: Object, outcome: Object) -> Object:
    return elected(outcome, receivers=sorted({*given["reassigned"]} & {*given["live"]}))


@slips("elect", "reassigned")
def reassigns_to_who_is_not_in_sync(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["reassigned"], given["live"]))


@slips("elect", "preferred")
def does_not_say_that_it_need_not(_given: Object, outcome: Object) -> Object:
    return IMPOSSIBLE if outcome.get("refused") == "not needed" else outcome


@slips("elect", "preferred")
def prefers_who_is_not_in_sync(given: Object, outcome: Object) -> Object:
    told = {"leader": head(given["assigned"][:1], given["live"]), "isr": sorted(given["isr"])}
    is_fit = outcome == IMPOSSIBLE and told["leader"] is not None
    return {"elected": told | {"receivers": sorted(given["assigned"])}} if is_fit else outcome


@slips("elect", "preferred")
def prefers_who_is_dead(given: Object, outcome: Object) -> Object:
    told = {"leader": head(given["assigned"][:1], given["isr"]), "isr": sorted(given["isr"])}
    is_fit = outcome == IMPOSSIBLE and told["leader"] is not None
    return {"elected": told | {"receivers": sorted(given["assigned"])}} if is_fit else outcome


@slips("elect", "preferred")
def prefers_the_last(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["assigned"][::-1], given["assigned"]))


@slips("elect", "controlled-shutdown")
def keeps_who_leaves_in_the_isr(given: Object, outcome: Object) -> Object:
    return elected(outcome, isr=sorted(given["isr"]))


@slips("elect", "controlled-shutdown")
def elects_who_leaves(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["assigned"], given["isr"]))


@slips("elect", "controlled-shutdown")
def elects_who_is_not_registered(given: Object, outcome: Object) -> Object:
    return elected(outcome, leader=head(given["assigned"], outcome.get("elected", {}).get("isr", [])))


@slips("elect", "controlled-shutdown")
def does_not_tell_who_leaves(given: Object, outcome: Object) -> Object:
    receivers = outcome.get("elected", {}).get("receivers", [])
    return elected(outcome, receivers=sorted({*receivers} - {*given["shutting_down"]}))


# ---------------------------------------------------------------------------------------------------------- the znodes


@slips("read_znode")
def refuses_unknown_keys(given: Object, outcome: Object) -> Object:
    return REFUSED if "later" in data(given) else outcome


@slips("read_znode")
def takes_the_first_of_two_keys(given: Object, outcome: Object) -> Object:
    return {"value": outcome["value"] | {"leader": 1}} if data(given).count('"leader":') > 1 else outcome


@slips("read_znode")
def refuses_a_bare_id(given: Object, outcome: Object) -> Object:
    return REFUSED if data(given) == "3" else outcome


@slips("read_znode")
def takes_a_text_for_a_number(given: Object, outcome: Object) -> Object:
    return {"value": {}} if '"leader":"2"' in data(given) else outcome


@slips("read_znode")
def takes_true_for_a_number(given: Object, outcome: Object) -> Object:
    return {"value": {}} if "true" in data(given) else outcome


@slips("read_znode")
def takes_a_torn_payload(given: Object, outcome: Object) -> Object:
    return {"value": {}} if data(given).endswith("vers") else outcome


@slips("read_znode")
def takes_more_than_32_bits(given: Object, outcome: Object) -> Object:
    return {"value": {}} if "2147483648" in data(given) else outcome


@slips("read_znode")
def refuses_an_empty_move(given: Object, outcome: Object) -> Object:
    return REFUSED if '"replicas":[]' in data(given) else outcome


@slips("read_znode")
def takes_no_data_for_an_empty_object(given: Object, outcome: Object) -> Object:
    return {"value": {}} if given["data"] is None else outcome


@slips("read_znode")
def sorts_replicas(given: Object, outcome: Object) -> Object:
    if given["path"] != "/brokers/topics/t" or "value" not in outcome:
        return outcome
    return {"value": {"partitions": {p: sorted(some) for p, some in outcome["value"]["partitions"].items()}}}


# -------------------------------------------------------------------------------------------------------- the requests


@slips("encode_request")
def encodes_from_the_end(_given: Object, outcome: Object) -> Object:
    return {"hex": bytes.fromhex(outcome["hex"])[::-1].hex()}


@slips("encode_request")
def leaves_the_client_id_out(given: Object, outcome: Object) -> Object:
    length = 4 + 2 * len(given["header"].get("ClientId", "").encode())
    return {"hex": outcome["hex"][:16] + outcome["hex"][16 + length :]}


@slips("encode_request")
def writes_a_null_text_as_an_empty_one(_given: Object, outcome: Object) -> Object:
    return {"hex": outcome["hex"].replace("ffff", "0000")}


@slips("decode_request")
def loses_the_delete_flag(_given: Object, outcome: Object) -> Object:
    lost = {"DeletePartitions": False} if "DeletePartitions" in outcome.get("body", {}) else {}
    return outcome | {"body": outcome["body"] | lost} if "body" in outcome else outcome


@slips("decode_request")
def swaps_two_fields(_given: Object, outcome: Object) -> Object:
    body = outcome.get("body", {})
    swapped = {"ControllerId": body.get("ControllerEpoch"), "ControllerEpoch": body.get("ControllerId")}
    return outcome | {"body": body | swapped} if "ControllerId" in body else outcome


@slips("decode_request")
def reads_a_leader_without_its_sign(_given: Object, outcome: Object) -> Object:
    for one in outcome.get("body", {}).get("PartitionStates", []):
        one["Leader"] %= 2**32
    return outcome


@slips("decode_request")
def takes_what_is_left_over(given: Object, outcome: Object) -> Object:
    return {"name": "LeaderAndIsr"} if outcome == REFUSED and given["hex"].endswith("00") else outcome


@slips("decode_request")
def takes_what_is_cut_off(given: Object, outcome: Object) -> Object:
    return {"name": "StopReplica"} if outcome == REFUSED and len(given["hex"]) < 60 else outcome


class Wrong(Adapter):
    """The adapter with a slip."""

    def __init__(self, dialect: str) -> None:
        super().__init__(dialect)
        verb, slip = SLIPS[sys.argv[1]]
        right = self.verbs[verb]
        self.verbs[verb] = lambda given: slip(given, right(given))


if __name__ == "__main__":
    reference_adapter.Adapter = Wrong  # type: ignore[misc]
    reference_adapter.main([])
