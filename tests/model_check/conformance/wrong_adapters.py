"""The reference's adapter with one slip: `python -m tests.model_check.conformance.wrong_adapters NAME`.

Each is one that an implementer may make; the vectors alone are to find it.
"""

import sys
from collections.abc import Callable
from typing import Any

from model_check.conformance import reference_adapter
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.vector import Object

Slip = Callable[[Object, Object], Object]
"""What becomes of an outcome, by what was given."""
SLIPS: dict[str, tuple[str, Slip]] = {}
"""By name, the verb, and what becomes of each of its outcomes."""
IMPOSSIBLE, REFUSED = {"refused": "impossible"}, {"refused": True}


def slips(verb: str, selector: str | None = None) -> Callable[[Slip], Slip]:
    """Declare a slip of a verb, of one selector only if that is named."""

    def declare(slip: Slip) -> Slip:
        def only(given: Object, outcome: Object) -> Object:
            return slip(given, outcome) if selector in {None, given.get("selector")} else outcome

        SLIPS[slip.__name__.replace("_", " ")] = verb, only
        return slip

    return declare


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
    return reference_adapter._transition(given | {"from": given["to"], "to": given["from"]})


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


# ---------------------------------------------------------------------------------------------------------- the fences


def epochs(given: Object, of: str) -> tuple[int, int]:
    """An epoch as it is known, and as the request has it; of a partition -1 if it has none."""
    body = given["request"]["body"]
    (told,) = body.get("PartitionStates", [{"LeaderEpoch": -1}])
    return given["knows"][of], body["ControllerEpoch"] if of == "controller_epoch" else told["LeaderEpoch"]


def obeyed(given: Object, **changes: int) -> Object:
    """A request that is obeyed, with what is known then."""
    known = given["knows"] | {"controller_epoch": given["request"]["body"]["ControllerEpoch"]}
    return {"fenced": False, "knows": known | changes}


@slips("fence")
def obeys_an_older_controller(given: Object, outcome: Object) -> Object:
    known, told = epochs(given, "controller_epoch")
    return obeyed(given) if given["request"]["name"] == "StopReplica" and told < known else outcome


@slips("fence")
def refuses_the_controller_that_it_knows(given: Object, outcome: Object) -> Object:
    known, told = epochs(given, "controller_epoch")
    return {"fenced": True, "knows": given["knows"]} if told == known else outcome


@slips("fence")
def does_not_note_a_new_controller(given: Object, outcome: Object) -> Object:
    return outcome | {"knows": outcome["knows"] | {"controller_epoch": given["knows"]["controller_epoch"]}}


@slips("fence")
def notes_the_controller_only_if_it_obeys(given: Object, outcome: Object) -> Object:
    return outcome | {"knows": given["knows"]} if outcome["fenced"] else outcome


@slips("fence")
def notes_an_older_controller(given: Object, outcome: Object) -> Object:
    return outcome | {"knows": outcome["knows"] | {"controller_epoch": epochs(given, "controller_epoch")[1]}}


@slips("fence")
def takes_the_leader_epoch_that_it_knows(given: Object, outcome: Object) -> Object:
    (known, told), (of, by) = epochs(given, "leader_epoch"), epochs(given, "controller_epoch")
    is_one = given["request"]["name"] == "LeaderAndIsr" and known == told and by >= of
    return obeyed(given) if is_one else outcome


@slips("fence")
def takes_any_leader_epoch_of_a_new_controller(given: Object, outcome: Object) -> Object:
    (_, told), (of, by) = epochs(given, "leader_epoch"), epochs(given, "controller_epoch")
    return obeyed(given, leader_epoch=told) if given["request"]["name"] == "LeaderAndIsr" and by > of else outcome


@slips("fence")
def takes_the_next_leader_epoch_only(given: Object, outcome: Object) -> Object:
    known, told = epochs(given, "leader_epoch")
    is_one = given["request"]["name"] == "LeaderAndIsr" and told > known + 1 and not outcome["fenced"]
    return {"fenced": True, "knows": outcome["knows"] | {"leader_epoch": known}} if is_one else outcome


@slips("fence")
def remembers_the_leader_epoch_of_what_it_deletes(given: Object, outcome: Object) -> Object:
    deletes = given["request"]["body"].get("DeletePartitions")
    kept = {"leader_epoch": given["knows"]["leader_epoch"]}
    return outcome | {"knows": outcome["knows"] | kept} if deletes else outcome


@slips("fence")
def forgets_what_it_only_stops(given: Object, outcome: Object) -> Object:
    stops = given["request"]["name"] == "StopReplica" and not outcome["fenced"]
    return outcome | {"knows": outcome["knows"] | {"leader_epoch": -1}} if stops else outcome


@slips("fence")
def compares_the_leader_epochs_of_metadata(given: Object, outcome: Object) -> Object:
    known, told = epochs(given, "cached_leader_epoch")
    is_older = given["request"]["name"] == "UpdateMetadata" and told < known and not outcome["fenced"]
    return outcome | {"knows": outcome["knows"] | {"cached_leader_epoch": known}} if is_older else outcome


@slips("fence")
def leads_by_what_metadata_says(given: Object, outcome: Object) -> Object:
    told = outcome["knows"]["cached_leader_epoch"]
    is_one = given["request"]["name"] == "UpdateMetadata" and not outcome["fenced"]
    return outcome | {"knows": outcome["knows"] | {"leader_epoch": told}} if is_one else outcome


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
