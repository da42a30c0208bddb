"""A story by hand in which all that is drawn occurs, and what is to be drawn of it.

A broker pauses, another becomes controller and raises the epoch, and the first one goes on: it writes, is refused where
its version is old, and sends what a fence refuses.
"""

from model_check.verdicts.possibilities import Possibilities, Standing
from model_check.verdicts.results import Because, Event, Step, Story

STATE = {"partition": "0", "leader": "1", "leader_epoch": "1", "isr": "[1]", "version": "1", "controller_epoch": "1"}
INITIAL = {
    "processes[1].session": "LIVE", "processes[2].session": "LIVE", "controllers[1].active": "yes",
    "controllers[1].epoch": "1", "controllers[2].active": "no", "controllers[2].epoch": "0",
}  # fmt: skip


def _step(
    number: int, actor: str, action: str, *events: Event, changes: tuple[str, ...] = (), budget: str = ""
) -> Step:
    return Step(number, action, actor, f"Step {number}.", "by hand", events, (), changes, budget)


ZOMBIE = Story(
    8,
    (
        _step(
            1, "zookeeper", "expire_session(b=1)", Event("zookeeper", "end session", {"process": "1"}),
            changes=("processes[1].session: LIVE -> EXPIRED",), budget="expiries",
        ),
        _step(2, "controller 2", "elect_create(c=2)", Event("controller 2", "create /controller", {"controller": "2"})),
        _step(
            3, "controller 2", "increment_epoch(c=2)", Event("controller 2", "write /controller_epoch", {"epoch": "2"}),
            changes=("controllers[2].epoch: 0 -> 2",),
        ),
        _step(
            4, "controller 2", "write_leader(c=2)",
            Event("controller 2", "queue LeaderAndIsr", {"broker": "3", **STATE}),
            changes=("controllers[2].active: no -> yes",),
        ),
        _step(5, "broker 3", "deliver_request(c=2, b=3)", Event("broker 3", "become leader", STATE)),
        _step(
            6, "controller 1", "write_removal(c=1)", Event("controller 1", "fail to write state", {"partition": "0"}),
            Event("controller 1", "queue LeaderAndIsr", {"broker": "3", **STATE}),
            Event("controller 1", "queue UpdateMetadata", {"broker": "3"}),
        ),
        _step(7, "broker 3", "deliver_request(c=1, b=3)", Event("broker 3", "refuse LeaderAndIsr", {"epoch": "1"})),
        _step(
            8, "broker 1", "crash(b=1)", Event("broker 1", "crash"),
            changes=("processes[1].session: EXPIRED -> NONE", "controllers[1].active: yes -> no"), budget="crashes",
        ),
    ),
    INITIAL,
)  # fmt: skip

INSTEAD = Possibilities(
    2, 8, {"crash": "A <process> dies."}, ("broker 1's session (EXPIRED) is not <LIVE>", "the epoch (2) is not 1"),
    (
        Standing("crash(b=1)", "broker 1", (2,), (0,)),
        Standing("crash(b=2)", "broker 2", (2, 4, 7), (0, 2, 1)),
        Standing("read(c=1)", "controller 1", (2, 8), (1, 0)),
    ),
)  # fmt: skip
"""What else was possible at steps of the story, but for its first: a broker may die at steps 2 and 3, say."""

WHY = Because("broker 1", ("its <epoch> (1) is < 2", "it writes: yes"))
"""Why some story breaks something, in words that must not be taken for HTML."""
