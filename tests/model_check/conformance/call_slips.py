"""Slips in whole calls of a controller: several keys at once, notifications, a broker that leaves, or is gone."""

from typing import Any

from model_check.conformance.vector import Object
from tests.model_check.conformance.slips import slips

NOTHING: Object = {"written": [], "leader_and_isr": [], "stop_replica": []}


def without(outcome: Object, name: str, is_gone: Any) -> Object:
    """An outcome without some elements of a list."""
    return outcome | {name: [one for one in outcome[name] if not is_gone(one)]} if name in outcome else outcome


def each(outcome: Object, name: str, change: Any) -> Object:
    """Each element of a list, changed."""
    return outcome | {name: [one | change(one) for one in outcome[name]]} if name in outcome else outcome


# ----------------------------------------------------------------------------------------------- several keys at once


@slips("handle_state_changes")
def lets_one_failure_stop_all(given: Object, outcome: Object) -> Object:
    states = {key: given["states"].get(key, one) for key, one in outcome["states"].items()}
    return outcome | {"states": states, **NOTHING} if outcome["failed"] else outcome


@slips("handle_state_changes")
def sends_nothing_if_one_has_failed(_given: Object, outcome: Object) -> Object:
    return outcome | {"leader_and_isr": []} if outcome["failed"] else outcome


@slips("handle_state_changes")
def moves_what_the_table_refuses(given: Object, outcome: Object) -> Object:
    return outcome | {"states": outcome["states"] | dict.fromkeys(outcome["failed"], given["target"]), "failed": []}


@slips("handle_state_changes")
def does_not_tell_what_has_failed(_given: Object, outcome: Object) -> Object:
    return outcome | {"failed": []}


@slips("handle_state_changes")
def moves_all_that_it_knows(given: Object, outcome: Object) -> Object:
    return outcome | {"states": dict.fromkeys(outcome["states"], given["target"])} if not given["keys"] else outcome


@slips("handle_state_changes")
def knows_whoever_is_named(_given: Object, outcome: Object) -> Object:
    return outcome | {"failed": [key for key in outcome["failed"] if not key.startswith("gone")]}


@slips("handle_state_changes")
def takes_not_needed_for_a_failure(given: Object, outcome: Object) -> Object:
    if given["selector"] != "preferred":
        return outcome
    written = {one["partition"] for one in outcome["written"]}
    return outcome | {"failed": sorted({*given["keys"]} - written)}


@slips("handle_state_changes")
def writes_nothing_for_the_no_op_selector(given: Object, outcome: Object) -> Object:
    return outcome | {"written": []} if given["selector"] == "no-op" else outcome


@slips("handle_state_changes")
def raises_the_leader_epoch_of_the_no_op_selector(given: Object, outcome: Object) -> Object:
    raised = each(outcome, "written", lambda one: {"leader_epoch": one["leader_epoch"] + 1})
    return raised if given["selector"] == "no-op" else outcome


@slips("handle_state_changes")
def raises_once_for_two_of_one_partition(given: Object, outcome: Object) -> Object:
    if given["machine"] == "partition":
        return outcome
    return each(outcome, "written", lambda _: {"leader_epoch": 5})


@slips("handle_state_changes")
def stops_only_what_leaves_the_isr(_given: Object, outcome: Object) -> Object:
    changed = {one["partition"] for one in outcome["written"]}
    return without(outcome, "stop_replica", lambda one: not one["delete"] and one["partition"] not in changed)


@slips("handle_state_changes")
def keeps_the_states_of_what_has_no_leadership(given: Object, outcome: Object) -> Object:
    if given["target"] != "OnlineReplica":
        return outcome
    led = {one["partition"] for one in outcome["leader_and_isr"]}
    stays = {key: given["states"][key] for key in given["keys"] if key.split("/")[0] not in led}
    return outcome | {"states": outcome["states"] | stays}


@slips("handle_state_changes")
def does_not_delete(_given: Object, outcome: Object) -> Object:
    return each(outcome, "stop_replica", lambda _: {"delete": False})


@slips("handle_state_changes")
def keeps_ar_of_what_ceases_to_exist(given: Object, outcome: Object) -> Object:
    return outcome | {"assigned": {name: one["assigned"] for name, one in given["partitions"].items()}}


@slips("handle_state_changes")
def tells_of_what_is_deleted(given: Object, outcome: Object) -> Object:
    if not given["deleting"] or given["target"] != "OfflineReplica":
        return outcome
    told = [{"partition": name, "to": [2, 3]} for name in given["partitions"]]
    return outcome | {"leader_and_isr": told}


# ------------------------------------------------------------------------------------------------------- notifications


@slips("handle_isr_changes")
def keeps_what_cannot_be_read(given: Object, outcome: Object) -> Object:
    good = [name for name, text in given["notifications"].items() if text.startswith('{"version":1,"partitions":[{')]
    return outcome | {"removed": good}


@slips("handle_isr_changes")
def removes_nothing_where_it_raises(given: Object, outcome: Object) -> Object:
    raises = outcome["update_metadata"] is None and any('"topic"' in one for one in given["notifications"].values())
    return outcome | {"removed": []} if raises else outcome


@slips("handle_isr_changes")
def takes_only_what_is_newer(given: Object, outcome: Object) -> Object:
    known = {name: one["leadership"] for name, one in given["partitions"].items()}

    def newer(name: str, found: Any) -> Any:
        is_older = known[name] and found and found["zk_version"] < known[name]["zk_version"]
        return known[name] if is_older else found

    return outcome | {"cached": {name: newer(name, found) for name, found in outcome["cached"].items()}}


@slips("handle_isr_changes")
def forgets_whose_znode_is_gone(given: Object, outcome: Object) -> Object:
    gone = [name for name, one in given["partitions"].items() if one["znode"] is None]
    return outcome | {"cached": outcome["cached"] | dict.fromkeys(gone)}


@slips("handle_isr_changes")
def caches_one_by_one(given: Object, outcome: Object) -> Object:
    if outcome["update_metadata"] is not None or "a-0" not in outcome["cached"]:
        return outcome
    seen = {"leader": 1, "leader_epoch": 4, "isr": [1, 3], "controller_epoch": 2, "zk_version": 7}
    is_torn = any(one["znode"] and '"leader"' not in one["znode"]["data"] for one in given["partitions"].values())
    return outcome | {"cached": outcome["cached"] | {"a-0": seen}} if is_torn else outcome


@slips("handle_isr_changes")
def tells_who_is_alive_only(given: Object, outcome: Object) -> Object:
    told = outcome["update_metadata"]
    return outcome | {"update_metadata": told | {"to": sorted(given["live"])}} if told else outcome


@slips("handle_isr_changes")
def tells_everything(_given: Object, outcome: Object) -> Object:
    told, cached = outcome["update_metadata"], outcome["cached"]
    known = [{"partition": name, "leader": one["leader"]} for name, one in sorted(cached.items()) if one]
    return outcome | {"update_metadata": told | {"partitions": known}} if told else outcome


@slips("handle_isr_changes")
def leads_what_is_deleted(given: Object, outcome: Object) -> Object:
    told = outcome["update_metadata"]
    if not told or not given["deleting"]:
        return outcome
    return outcome | {"update_metadata": each(told, "partitions", lambda _: {"leader": 1})}


@slips("handle_isr_changes")
def tells_nobody_of_nothing(_given: Object, outcome: Object) -> Object:
    told = outcome["update_metadata"]
    return outcome | {"update_metadata": None} if told and not told["partitions"] else outcome


# ------------------------------------------------------------------------------------------------ a controlled shutdown


@slips("shut_down")
def reports_what_has_one_replica(given: Object, outcome: Object) -> Object:
    alone = [name for name, one in given["partitions"].items() if one["assigned"] == [given["broker"]]]
    return outcome | {"remaining": sorted({*outcome["remaining"], *alone})} if "remaining" in outcome else outcome


@slips("shut_down")
def says_that_nothing_remains(_given: Object, outcome: Object) -> Object:
    return outcome | {"remaining": []} if "remaining" in outcome else outcome


@slips("shut_down")
def does_not_stop_followers(_given: Object, outcome: Object) -> Object:
    return outcome | {"stop_replica": []} if "stop_replica" in outcome else outcome


@slips("shut_down")
def stops_what_it_has_led(given: Object, outcome: Object) -> Object:
    if "written" not in outcome:
        return outcome
    led = [
        name for name, one in given["partitions"].items() if (one["leadership"] or {}).get("leader") == given["broker"]
    ]
    stopped = [{"partition": name, "delete": False, "to": [given["broker"]]} for name in led]
    return outcome | {"stop_replica": [*outcome["stop_replica"], *stopped]}


@slips("shut_down")
def spares_what_is_deleted(given: Object, outcome: Object) -> Object:
    return without(outcome, "written", lambda one: one["partition"][:1] in given["deleting"])


@slips("shut_down")
def leaves_followers_in_the_isr(given: Object, outcome: Object) -> Object:
    return without(
        outcome, "written", lambda one: one["leader"] == given["partitions"][one["partition"]]["znode"]["leader"]
    )


@slips("shut_down")
def does_not_tell_the_broker_that_leaves(given: Object, outcome: Object) -> Object:
    return each(outcome, "leader_and_isr", lambda one: {"to": [b for b in one["to"] if b != given["broker"]]})


@slips("shut_down")
def takes_whoever_asks(_given: Object, outcome: Object) -> Object:
    return {"error_code": 0, "remaining": [], **NOTHING} if outcome["error_code"] else outcome


# ---------------------------------------------------------------------------------------------------------- a failure


@slips("fail_broker")
def elects_only_what_the_dead_led(given: Object, outcome: Object) -> Object:
    waiting = {name for name, one in given["partition_states"].items() if one != "OnlinePartition"}
    states = {name: given["partition_states"][name] for name in waiting}
    return without(outcome, "written", lambda one: one["partition"] in waiting) | {
        "partition_states": outcome["partition_states"] | states
    }


@slips("fail_broker")
def leaves_followers_that_die_in_the_isr(given: Object, outcome: Object) -> Object:
    states = given["partition_states"]

    def followed(one: Object) -> bool:
        known = given["partitions"][one["partition"]]["leadership"]
        return states[one["partition"]] == "OnlinePartition" and known["leader"] not in given["dead"]

    return without(outcome, "written", followed)


@slips("fail_broker")
def empties_the_isr(given: Object, outcome: Object) -> Object:
    return each(outcome, "written", lambda one: {"isr": [b for b in one["isr"] if b not in given["dead"]]})


@slips("fail_broker")
def keeps_replicas_online(_given: Object, outcome: Object) -> Object:
    return outcome | {"replica_states": dict.fromkeys(outcome["replica_states"], "OnlineReplica")}


@slips("fail_broker")
def takes_all_replicas_offline(_given: Object, outcome: Object) -> Object:
    return outcome | {"replica_states": dict.fromkeys(outcome["replica_states"], "OfflineReplica")}


@slips("fail_broker")
def tells_nobody_where_nobody_led(_given: Object, outcome: Object) -> Object:
    return outcome | {"update_metadata": [one["partition"] for one in outcome["leader_and_isr"]]}


@slips("fail_broker")
def is_silent_where_nothing_changes(_given: Object, outcome: Object) -> Object:
    changed = {one["partition"] for one in outcome["written"]}
    return without(outcome, "leader_and_isr", lambda one: one["partition"] not in changed)


@slips("fail_broker")
def elects_for_topics_that_are_deleted(given: Object, outcome: Object) -> Object:
    doomed = {name: "OfflinePartition" for name in given["partitions"] if name[:1] in given["deleting"]}
    return outcome | {"partition_states": outcome["partition_states"] | doomed}


@slips("fail_broker")
def waits_for_what_the_dead_should_delete(given: Object, outcome: Object) -> Object:
    return outcome | {"replica_states": outcome["replica_states"] | given["replica_states"]}
