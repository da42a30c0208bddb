"""The two tables and the leader selectors, asked of the reference's state machines as a controller that runs has them.

One partition, or one replica, is taken from one state to another; nothing else stands in the way, so that the table
alone decides. An election is a partition that goes Online by a selector: what is written, and who is sent LeaderAndIsr.
"""

from typing import Any, Final

import reference
from model_check.conformance.reference_words import ELSE, PARTITION, has_failed, led, release, written
from model_check.conformance.vector import Object

TARGETS: Final[dict[str, Any]] = {"partition": PARTITION, "replica": (PARTITION, 1)}
WITHOUT_ZNODE: Final = ("NonExistentPartition", "NewPartition")
"""The states of a partition that has had no leader."""


def transition(given: Object, dialect: str) -> Object:
    """Whether a state machine takes a partition, or a replica, from one state to another."""
    machine, before, after = given["machine"], given["from"], given["to"]
    told: dict[str, Any] = {"broker": ELSE, "live": [1, 2, ELSE], "assignment": {PARTITION: [1, 2]}}
    if before not in WITHOUT_ZNODE:
        told["leadership"] = {PARTITION: {"leader": 2, "isr": [2, 1]}}
    states = {PARTITION: before} if machine == "partition" else {PARTITION: {"1": before}}
    module = reference.module(told | {f"{machine}_states": states, "release": release(dialect)})
    return {"permitted": not has_failed(module.transition(machine, [TARGETS[machine]], after))}


def elect(given: Object, dialect: str) -> Object:
    """A partition that was led goes Online by a selector, which elects, or says that it need not, or cannot."""
    selector = given["selector"]
    live = (
        given["live"]
        if selector != "controlled-shutdown"
        else [one for one in given["registered"] if one not in given["shutting_down"]]
    )
    rar = given["reassigned"] if selector == "reassigned" else []
    module = reference.module({
        "broker": ELSE, "live": [*live, ELSE], "shutting_down": given.get("shutting_down", []),
        "assignment": {PARTITION: given.get("assigned", rar)},
        "leadership": {PARTITION: {"leader": given.get("cached_leader", -1), "isr": given["isr"]}},
        "partition_states": {PARTITION: "OfflinePartition"}, "release": release(dialect),
        "settings": {"unclean.leader.election.enable": given.get("unclean", False)},
    })  # fmt: skip
    happened = module.transition("partition", [PARTITION], "OnlinePartition", selector, rar)
    state = written(happened)
    if state is None:
        return {"refused": "impossible" if has_failed(happened) else "not needed"}
    return {"elected": {"leader": state["leader"], "isr": sorted(state["isr"]), "receivers": led(happened)}}
