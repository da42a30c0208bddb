"""Slips at the broker: a leader's changes of its ISR, and operations that wait."""

from typing import Any

from model_check.conformance.vector import Object
from tests.model_check.conformance.slips import slips

# ----------------------------------------------------------------------------------------------------------- the ISR


def written(outcome: Object, change: Any) -> Object:
    """What is written of each change, with something else in it."""
    return outcome | {"writes": [one | change(one) for one in outcome["writes"]]}


@slips("change_isr")
def knows_the_new_isr_before_it_is_written(_given: Object, outcome: Object) -> Object:
    tried = [one["state"]["isr"] for one in outcome["writes"] if one["state"]]
    return outcome | {"knows": outcome["knows"] | {"isr": tried[-1]}} if tried else outcome


@slips("change_isr")
def reads_the_version_anew_where_it_fails(_given: Object, outcome: Object) -> Object:
    failed = any(one["state"] and not one["done"] for one in outcome["writes"])
    return outcome | {"knows": outcome["knows"] | {"zk_version": outcome["version"]}} if failed else outcome


@slips("change_isr")
def writes_on_any_version_always(_given: Object, outcome: Object) -> Object:
    return written(outcome, lambda one: {"on_version": None if one["on_version"] is None else -1})


@slips("change_isr")
def raises_the_leader_epoch(_given: Object, outcome: Object) -> Object:
    def raised(one: Object) -> Object:
        state = one["state"]
        return {"state": state and state | {"leader_epoch": state["leader_epoch"] + 1}}

    return written(outcome, raised)


@slips("change_isr")
def sorts_the_isr_as_it_writes(_given: Object, outcome: Object) -> Object:
    return written(outcome, lambda one: {"state": one["state"] and one["state"] | {"isr": sorted(one["state"]["isr"])}})


@slips("change_isr")
def writes_what_does_not_change_the_isr(given: Object, outcome: Object) -> Object:
    known = {"leader": given["broker"], **given["knows"]}
    version = known.pop("zk_version")
    idle = {"state": known, "on_version": version, "done": True}
    return outcome | {"writes": [idle if one["state"] is None else one for one in outcome["writes"]]}


@slips("change_isr")
def fails_where_the_same_stands(given: Object, outcome: Object) -> Object:
    stands = given["znode"]
    is_old = stands and given["knows"]["zk_version"] not in {-1, stands["version"]}
    return written(outcome, lambda _: {"done": False}) if is_old else outcome


@slips("change_isr")
def counts_on_from_its_own_version(given: Object, outcome: Object) -> Object:
    done = sum(one["done"] for one in outcome["writes"])
    return outcome | {"knows": outcome["knows"] | {"zk_version": given["knows"]["zk_version"] + done}}


@slips("change_isr")
def announces_what_it_has_tried(_given: Object, outcome: Object) -> Object:
    return outcome | {"announces": any(one["state"] for one in outcome["writes"])}


@slips("change_isr")
def announces_nothing(_given: Object, outcome: Object) -> Object:
    return outcome | {"announces": False}


# ------------------------------------------------------------------------------------------------------- the purgatory


def did(given: Object, outcome: Object, do: str, result: Any) -> Object:
    """The results of each step of a kind, changed."""
    steps = zip(given["steps"], outcome["results"], strict=True)
    return outcome | {"results": [result(one, came) if one["do"] == do else came for one, came in steps]}


@slips("delay")
def counts_what_it_walks_over(given: Object, outcome: Object) -> Object:
    return did(given, outcome, "check", lambda _, came: max(came, 1))


@slips("delay")
def completes_again_by_force(given: Object, outcome: Object) -> Object:
    return did(given, outcome, "complete", lambda _step, _came: True)


@slips("delay")
def watches_what_is_complete(given: Object, outcome: Object) -> Object:
    return did(given, outcome, "watch", lambda _step, _came: False)


@slips("delay")
def counts_an_operation_once(_given: Object, outcome: Object) -> Object:
    pending = sum(one == "pending" for one in outcome["operations"].values())
    return outcome | {"watched": min(outcome["watched"], pending)}


@slips("delay")
def never_expires(given: Object, outcome: Object) -> Object:
    states = {name: "pending" if one == "expired" else one for name, one in outcome["operations"].items()}
    return did(given, outcome | {"operations": states}, "advance", lambda _step, _came: [])


@slips("delay")
def completes_as_soon_as_the_condition_holds(given: Object, outcome: Object) -> Object:
    held = {one["operation"] for one in given["steps"] if one["do"] == "set" and one["holds"]}
    return outcome | {"operations": outcome["operations"] | dict.fromkeys(held, "completed")}


@slips("delay")
def leaves_timers_armed(_given: Object, outcome: Object) -> Object:
    return outcome | {"delayed": outcome["watched"]}


@slips("delay")
def calls_what_expired_completed(_given: Object, outcome: Object) -> Object:
    return outcome | {"operations": dict.fromkeys(outcome["operations"], "completed")}


@slips("delay")
def purges_every_time(given: Object, outcome: Object) -> Object:
    return outcome | {"watched": 0} if given["steps"][-1]["do"] == "advance" else outcome
