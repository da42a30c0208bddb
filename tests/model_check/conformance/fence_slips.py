"""Slips in a broker's fences."""

from model_check.conformance.vector import Object
from tests.model_check.conformance.slips import slips


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
