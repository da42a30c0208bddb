"""Slips in the functions of a controller: first leaders, removals, reassignments, imbalances, writes and batches."""

import json
from typing import Any

from model_check.conformance.vector import Object
from tests.model_check.conformance.slips import slips

# ----------------------------------------------------------------------------------------------------- the first leader


def created(outcome: Object, **changes: Any) -> Object:
    """The state with something else in it, if one is created."""
    return outcome | {"created": outcome["created"] | changes} if "created" in outcome else outcome


@slips("create_partition")
def has_the_dead_in_the_first_isr(given: Object, outcome: Object) -> Object:
    return created(outcome, isr=given["assigned"])


@slips("create_partition")
def begins_with_leader_epoch_1(_given: Object, outcome: Object) -> Object:
    return created(outcome, leader_epoch=1)


@slips("create_partition")
def has_the_first_of_all_lead(given: Object, outcome: Object) -> Object:
    return created(outcome, leader=given["assigned"][0])


@slips("create_partition")
def sorts_the_first_isr(_given: Object, outcome: Object) -> Object:
    return created(outcome, isr=sorted(outcome["created"]["isr"])) if "created" in outcome else outcome


@slips("create_partition")
def forgets_its_controller_epoch(_given: Object, outcome: Object) -> Object:
    return created(outcome, controller_epoch=0)


# ---------------------------------------------------------------------------------------------------------- a removal


def written(outcome: Object, **changes: Any) -> Object:
    """What is written, and cached, with something else in it, if anything is."""
    if not outcome.get("written"):
        return outcome
    return outcome | {name: outcome[name] | changes for name in ("written", "cached")}


@slips("remove_replica")
def leaves_the_leader_that_goes(given: Object, outcome: Object) -> Object:
    return written(outcome, leader=given["state"]["leader"]) if given["state"] else outcome


@slips("remove_replica")
def empties_the_isr_always(given: Object, outcome: Object) -> Object:
    if not given["state"]:
        return outcome
    return written(outcome, isr=[one for one in given["state"]["isr"] if one != given["replica"]])


@slips("remove_replica")
def raises_no_leader_epoch(given: Object, outcome: Object) -> Object:
    return written(outcome, leader_epoch=given["state"]["leader_epoch"]) if given["state"] else outcome


@slips("remove_replica")
def removes_from_what_a_newer_controller_wrote(given: Object, outcome: Object) -> Object:
    state = given["state"]
    if "refused" not in outcome or not state:
        return outcome
    new = state | {"leader_epoch": state["leader_epoch"] + 1, "controller_epoch": given["controller_epoch"]}
    return {"written": new, "cached": new, "receivers": []}


@slips("remove_replica")
def writes_what_does_not_change(_given: Object, outcome: Object) -> Object:
    return outcome | {"written": outcome["cached"]} if "cached" in outcome else outcome


@slips("remove_replica")
def caches_the_epoch_that_it_found(given: Object, outcome: Object) -> Object:
    return outcome | {"cached": given["state"]} if outcome.get("written", 1) is None else outcome


@slips("remove_replica")
def tells_the_leader_only(given: Object, outcome: Object) -> Object:
    if "receivers" not in outcome:
        return outcome
    return outcome | {"receivers": [one for one in outcome["receivers"] if one == given["state"]["leader"]]}


# ----------------------------------------------------------------------------------------------------- a reassignment


def move(outcome: Object, *, waits: bool, **changes: Any) -> Object:
    """One that waits, or does not, with something else in it."""
    return outcome | changes if outcome.get("waits") is waits else outcome


@slips("reassign")
def has_the_old_replicas_first(given: Object, outcome: Object) -> Object:
    union = [*dict.fromkeys((*given["assigned"], *given["reassigned"]))]
    return move(outcome, waits=True, assigned=union)


@slips("reassign")
def starts_all_of_rar(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=True, started=sorted(given["reassigned"]))


@slips("reassign")
def raises_nothing_before_it_waits(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=True, leader_epoch=given["leader_epoch"])


@slips("reassign")
def raises_once_for_all_that_go(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=False, leader_epoch=given["leader_epoch"] + 1)


@slips("reassign")
def leaves_the_union(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=False, assigned=[*dict.fromkeys((*given["reassigned"], *given["assigned"]))])


@slips("reassign")
def sorts_rar(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=False, assigned=sorted(given["reassigned"]))


@slips("reassign")
def deletes_nothing(_given: Object, outcome: Object) -> Object:
    return move(outcome, waits=False, deleted=[])


@slips("reassign")
def has_the_first_of_rar_lead(given: Object, outcome: Object) -> Object:
    return move(outcome, waits=False, leader=given["reassigned"][0])


@slips("reassign")
def takes_a_permutation_for_no_move(given: Object, outcome: Object) -> Object:
    return {"refused": True} if {*given["assigned"]} == {*given["reassigned"]} else outcome


# ------------------------------------------------------------------------------------------------------- an imbalance


@slips("find_imbalance")
def elects_at_the_limit(given: Object, outcome: Object) -> Object:
    lost, own = (
        [
            name
            for name, one in given["partitions"].items()
            if one["assigned"][0] == 1 and (not only_lost or one["leader"] not in {None, 1})
        ]
        for only_lost in (True, False)
    )
    is_there = lost and 100 * len(lost) == given["percentage"] * len(own)
    return {"elect": sorted({*outcome["elect"], *lost})} if is_there else outcome


@slips("find_imbalance")
def elects_for_the_dead(given: Object, outcome: Object) -> Object:
    gone = [name for name, one in given["partitions"].items() if one["assigned"][0] not in given["live"]]
    return {"elect": sorted({*outcome["elect"], *gone})}


@slips("find_imbalance")
def elects_while_others_move(given: Object, outcome: Object) -> Object:
    is_busy = given["reassigning"] or given["electing"]
    lost = [name for name, one in given["partitions"].items() if one["leader"] != one["assigned"][0]]
    return {"elect": sorted({*lost} - {*given["reassigning"], *given["electing"]})} if is_busy else outcome


@slips("find_imbalance")
def elects_for_topics_that_go(given: Object, outcome: Object) -> Object:
    doomed = [name for name in given["partitions"] if name.rsplit("-", 1)[0] in given["deleting"]]
    return {"elect": sorted({*outcome["elect"], *doomed})}


# ------------------------------------------------------------------------------------------------ a conditional write


@slips("write_state")
def compares_the_text(given: Object, outcome: Object) -> Object:
    own = {"controller_epoch": 3, "leader": 2, "version": 1, "leader_epoch": 7, "isr": [2, 1]}
    is_same = given["znode"] and given["znode"]["data"] == json.dumps(own, separators=(",", ":"))
    is_stale = given["znode"] and given["expected_version"] not in {-1, given["znode"]["version"]}
    return {"written": False, "version": -1} if is_stale and not is_same else outcome


@slips("write_state")
def compares_nothing(given: Object, outcome: Object) -> Object:
    is_stale = given["znode"] and given["expected_version"] not in {-1, given["znode"]["version"]}
    return {"written": False, "version": -1} if is_stale else outcome


@slips("write_state")
def writes_on_any_version(given: Object, outcome: Object) -> Object:
    return {"written": True, "version": given["znode"]["version"] + 1} if given["znode"] else outcome


@slips("write_state")
def gives_the_version_that_it_expected(given: Object, outcome: Object) -> Object:
    return outcome | {"version": given["expected_version"] + 1} if outcome["written"] else outcome


@slips("write_state")
def does_not_look_at_the_order_of_the_isr(given: Object, outcome: Object) -> Object:
    try:
        found = json.loads(given["znode"]["data"])
        is_same = all(
            sorted(found[name]) == sorted(value) if name == "isr" else found[name] == value
            for name, value in given["state"].items()
        )
    except (TypeError, ValueError, KeyError):
        return outcome
    return {"written": True, "version": given["znode"]["version"]} if is_same and not outcome["written"] else outcome


# ------------------------------------------------------------------------------------------------------------ a batch


def each(outcome: Object, change: Any) -> Object:
    """All brokers' requests, changed."""
    return {"requests": [one | {"sent": change(one["sent"])} for one in outcome["requests"]]}


def every(outcome: Object, name: str, change: Any) -> Object:
    """All requests of a name, changed."""
    return each(outcome, lambda sent: [change(one) if one["name"] == name else one for one in sent])


@slips("send_batch")
def tells_metadata_first(_given: Object, outcome: Object) -> Object:
    return each(outcome, lambda sent: sorted(sent, key=lambda one: one["name"] != "UpdateMetadata"))


@slips("send_batch")
def stops_before_it_tells(_given: Object, outcome: Object) -> Object:
    return each(outcome, lambda sent: sorted(sent, key=lambda one: one["name"] != "StopReplica"))


@slips("send_batch")
def loses_the_delete_flag(_given: Object, outcome: Object) -> Object:
    return every(outcome, "StopReplica", lambda one: one | {"delete": False})


@slips("send_batch")
def sends_no_empty_stop_replica(_given: Object, outcome: Object) -> Object:
    return each(outcome, lambda sent: [one for one in sent if one["name"] != "StopReplica" or one["partitions"]])


@slips("send_batch")
def tells_nobody_of_what_is_deleted(_given: Object, outcome: Object) -> Object:
    def without(one: Object) -> Object:
        return one | {"partitions": [state for state in one["partitions"] if state["leader"] != -2]}

    return every(outcome, "UpdateMetadata", without)


@slips("send_batch")
def tells_all_that_it_knows(given: Object, outcome: Object) -> Object:
    known = [name for name, one in given["partitions"].items() if one["leadership"] is not None]

    def with_all(one: Object) -> Object:
        told = {state["partition"]: state for state in one["partitions"]}
        return one | {"partitions": [told.get(name, {"partition": name}) for name in sorted(known)]}

    return every(outcome, "UpdateMetadata", with_all)


@slips("send_batch")
def sends_to_everybody(given: Object, outcome: Object) -> Object:
    (first, *_) = outcome["requests"] or [{"sent": []}]
    registered = sorted({*given["live"], *given["shutting_down"]})
    there = {one["to"]: one for one in outcome["requests"]}
    return {"requests": [there.get(broker, first | {"to": broker}) for broker in registered]}


@slips("send_batch")
def leaves_out_who_shuts_down(given: Object, outcome: Object) -> Object:
    return {"requests": [one for one in outcome["requests"] if one["to"] not in given["shutting_down"]]}


@slips("send_batch")
def tells_its_own_controller_epoch(given: Object, outcome: Object) -> Object:
    def own(one: Object) -> Object:
        return one | {
            "partitions": [each | {"controller_epoch": given["controller_epoch"]} for each in one["partitions"]]
        }

    return every(outcome, "LeaderAndIsr", own)


@slips("send_batch")
def lists_leaders_that_are_gone(_given: Object, outcome: Object) -> Object:
    def all_of(one: Object) -> Object:
        return one | {"live_leaders": sorted({state["leader"] for state in one["partitions"]} - {-1})}

    return every(outcome, "LeaderAndIsr", all_of)


@slips("send_batch")
def cuts_topics_at_their_first_hyphen(_given: Object, outcome: Object) -> Object:
    def cut(one: Object) -> Object:
        return one | {"partitions": [state for state in one["partitions"] if state["partition"].count("-") == 1]}

    return every(outcome, "UpdateMetadata", cut)
