"""Slips in the bytes of answers, and in the lines of logs."""

from typing import Any

from model_check.conformance.vector import Object
from tests.model_check.conformance.slips import slips

REFUSED: Object = {"refused": True}

# ------------------------------------------------------------------------------------------------------------- answers


@slips("encode_response")
def leaves_the_correlation_id_out(_given: Object, outcome: Object) -> Object:
    return {"hex": outcome["hex"][8:]}


@slips("encode_response")
def writes_the_length_first(_given: Object, outcome: Object) -> Object:
    return {"hex": f"{len(outcome['hex']) // 2:08x}" + outcome["hex"]}


@slips("encode_response")
def writes_codes_of_32_bits(_given: Object, outcome: Object) -> Object:
    return {"hex": outcome["hex"][:8] + "0000" + outcome["hex"][8:]}


@slips("encode_response")
def writes_no_empty_list(given: Object, outcome: Object) -> Object:
    is_empty = any(value == [] for value in given["body"].values())
    return {"hex": outcome["hex"][:-8]} if is_empty else outcome


@slips("encode_response")
def writes_a_code_for_each_partition_that_remains(given: Object, outcome: Object) -> Object:
    return {"hex": outcome["hex"] + "0000" * len(given["body"].get("PartitionsRemaining", []))}


@slips("decode_response")
def reads_codes_without_their_sign(_given: Object, outcome: Object) -> Object:
    for one in (outcome.get("body", {}), *outcome.get("body", {}).get("Partitions", [])):
        if "ErrorCode" in one:
            one["ErrorCode"] %= 2**16
    return outcome


@slips("decode_response")
def reads_a_correlation_id_without_its_sign(_given: Object, outcome: Object) -> Object:
    return outcome | {"correlation_id": outcome["correlation_id"] % 2**32} if "body" in outcome else outcome


@slips("decode_response")
def takes_a_negative_count_for_none(given: Object, outcome: Object) -> Object:
    return {"correlation_id": 7, "body": {}} if given["hex"][12:20] == "fffffffe" else outcome


@slips("decode_response")
def takes_an_answer_that_is_cut_off(_given: Object, outcome: Object) -> Object:
    return {"correlation_id": 7, "body": {}} if outcome == REFUSED else outcome


@slips("decode_response")
def drops_the_partitions_of_an_error(_given: Object, outcome: Object) -> Object:
    body = outcome.get("body", {})
    return outcome | {"body": body | {"Partitions": []}} if body.get("Partitions") else outcome


# ---------------------------------------------------------------------------------------------------------------- lines


def said(outcome: Object, **changes: Any) -> Object:
    """A line that says something else, of what it says."""
    known = {name: value for name, value in changes.items() if name in outcome.get("fields", {})}
    return outcome | {"fields": outcome["fields"] | known} if known else outcome


@slips("read_line")
def takes_the_first_hyphen_of_a_partition(_given: Object, outcome: Object) -> Object:
    name = outcome.get("fields", {}).get("partition", "")
    return said(outcome, partition=name.split("-")[0] + "-0")


@slips("read_line")
def believes_that_offline_is_a_state(_given: Object, outcome: Object) -> Object:
    return outcome | {"kind": "PartitionLostLeader"} if outcome.get("kind") == "LeaderElected" else outcome


@slips("read_line")
def reads_lists_as_texts(_given: Object, outcome: Object) -> Object:
    return said(outcome, assigned_replicas="2,3")


@slips("read_line")
def reads_no_negative_leader(_given: Object, outcome: Object) -> Object:
    return said(outcome, leader=max(outcome.get("fields", {}).get("leader", 0), 0))


@slips("read_line")
def takes_what_is_almost_a_line(_given: Object, outcome: Object) -> Object:
    return {"kind": "LeaderElected"} if outcome == REFUSED else outcome


@slips("read_line")
def has_no_levels(_given: Object, outcome: Object) -> Object:
    return outcome | {"level": "INFO"} if "level" in outcome else outcome


@slips("write_line")
def writes_partitions_as_later_releases(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace("[orders,0]", "orders-0")}


@slips("write_line")
def says_state_in_every_line(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace("[orders,0] from Off", "[orders,0] state from Off")}


@slips("write_line")
def writes_all_at_one_level(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace(" ERROR ", " TRACE ")}


@slips("write_line")
def writes_no_name_of_a_set(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace("Set(", "(")}


@slips("write_line")
def writes_lists_with_blanks(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace("2,3", "2, 3")}


@slips("write_line")
def mends_the_parentheses_of_kafka(_given: Object, outcome: Object) -> Object:
    return {"entry": outcome["entry"].replace("replicas=[2, 3, 1])", "replicas=[2, 3, 1]))")}
