"""Words for scripts that somebody writes by hand: what happens, as items of a turn (`driving/world.py`).

Broker 1 is the one whose controller is driven. `OTHER` is a broker that only ever holds `/controller`, as another
controller does. Each word gives a list of items, so a turn of several is their sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from model_check.conformance.vector import Object
from reference.scripts import CONTROLLER, CONTROLLER_EPOCH, DELETE_TOPICS, ISR_CHANGES, REASSIGN_PARTITIONS
from spec.formats import znode_paths as paths

Items = list[Object]
OTHER: Final = 9
ELECTIONS: Final = str(paths.PREFERRED_REPLICA_ELECTION.path())


@dataclass(frozen=True)
class ByHand:
    """A script with its title, where it comes from, and its turns.

    Of its turns the last is compared, and the last but `compared` less one, where the title speaks of several.
    """

    title: str
    refs: Sequence[str]
    turns: Sequence[Items]
    settings: Object = field(default_factory=dict)
    compared: int = 1


# ---------------------------------------------------------------------------------------------------------- brokers


def starts(*brokers: int) -> Items:
    """Brokers run, and register."""
    return [item for one in brokers for item in ({"up": one}, {"register": one})]


def registers(broker: int) -> Items:
    """A broker registers under its session."""
    return [{"register": broker}]


def hangs(broker: int) -> Items:
    """A broker's process answers nothing any more; its session lives."""
    return [{"down": broker}]


def answers(broker: int) -> Items:
    """It answers what it owes."""
    return [{"up": broker}]


def ends(broker: int) -> Items:
    """A broker's session ends."""
    return [{"end_session": broker}]


def renews(broker: int) -> Items:
    """A broker has a new session."""
    return [{"renew_session": broker}]


def away(*meanwhile: Items) -> Items:
    """The session of broker 1 ends, something happens, and it has a new session."""
    return [*ends(1), *(item for one in meanwhile for item in one), *renews(1)]


def shuts_down(broker: int) -> Items:
    """A broker asks for its controlled shutdown."""
    return [{"shutdown": broker}]


def cannot_delete(broker: int) -> Items:
    """A broker cannot delete the next replica that it is told to."""
    return [{"fail_deletion": broker}]


LOOKS: Final[Items] = [{"rebalance": True}]
"""It is time for the automatic rebalance to look."""

# ----------------------------------------------------------------------------------------------------------- znodes


def creates(path: str, data: Any, **owner: int) -> Items:
    """Somebody creates a znode; it goes with the session of its `owner`, if it has one."""
    return [{"create": path, "data": data, **owner}]


def writes(path: str, data: Any) -> Items:
    """Somebody writes a znode."""
    return [{"set": path, "data": data}]


def deletes(*paths: str) -> Items:
    """Somebody deletes znodes."""
    return [{"delete": one} for one in paths]


def topic_path(topic: str) -> str:
    """The znode of a topic."""
    return str(paths.BROKER_TOPIC.path(topic=topic))


def state_path(name: str) -> str:
    """The state znode of a partition, which is named as `a-0`."""
    topic, _, partition = name.rpartition("-")
    return str(paths.STATE.path(topic=topic, partition=int(partition)))


def _assigned(*assigned: Sequence[Any]) -> Object:
    return {"version": 1, "partitions": {str(number): [*one] for number, one in enumerate(assigned)}}


def topic(name: str, *assigned: Sequence[int], **config: str) -> Items:
    """A topic is created, with the AR of each of its partitions; dots of a configuration's keys are underscores."""
    own = {key.replace("_", "."): value for key, value in config.items()}
    return [*creates(str(paths.TOPIC_CONFIG.path(topic=name)), {"version": 1, "config": own}),
            *creates(topic_path(name), _assigned(*assigned))]  # fmt: skip


def assigns(name: str, *assigned: Sequence[int]) -> Items:
    """Somebody writes AR of a topic's partitions into its znode."""
    return writes(topic_path(name), _assigned(*assigned))


def vanishes(name: str) -> Items:
    """Somebody removes a topic of one partition, and its state znode."""
    state = state_path(f"{name}-0")
    return deletes(state, state.removesuffix("/state"), f"{topic_path(name)}/partitions", topic_path(name))


def says(leader: int, leader_epoch: int, isr: Sequence[int], controller_epoch: int = 1) -> Object:
    """What a state znode holds."""
    return {"version": 1, "leader": leader, "leader_epoch": leader_epoch, "controller_epoch": controller_epoch,
            "isr": [*isr]}  # fmt: skip


def leads(name: str, leader: int, leader_epoch: int, isr: Sequence[int], controller_epoch: int = 1) -> Items:
    """A leader writes its ISR into the state znode of its partition."""
    return writes(state_path(name), says(leader, leader_epoch, isr, controller_epoch))


def reports(*names: str) -> Items:
    """A leader reports that it has changed the ISR of some partitions."""
    return creates(f"{ISR_CHANGES}/isr_change_0000000000", {"version": 1, "partitions": _partitions(names)})


def _partitions(names: Sequence[str]) -> list[Object]:
    parts = (one.rpartition("-") for one in names)
    return [{"topic": name, "partition": int(number)} for name, _, number in parts]


def asks_to_move(**moves: Sequence[Any]) -> Items:
    """Somebody asks for partitions to be moved to other replicas (RAR); `a_0` is partition 0 of topic a."""
    named = _partitions([one.replace("_", "-") for one in moves])
    wanted = [{**one, "replicas": [*to]} for one, to in zip(named, moves.values(), strict=True)]
    return creates(REASSIGN_PARTITIONS, {"version": 1, "partitions": wanted})


def asks_to_elect(*names: str) -> Items:
    """Somebody asks for the preferred replicas of some partitions to lead."""
    return creates(ELECTIONS, {"version": 1, "partitions": _partitions(names)})


def asks_to_delete(*topics: str) -> Items:
    """Somebody asks for topics to be deleted."""
    return [item for one in topics for item in creates(f"{DELETE_TOPICS}/{one}", "")]


# ----------------------------------------------------------------------------------------------- in the midst of it


def before(kind: str, path: str, *happens: Items) -> Items:
    """Something happens right before the next write of this kind and path."""
    return [{"before": {kind: path}, "do": [item for one in happens for item in one]}]


def loses(kind: str, path: str) -> Items:
    """The answer to the next write of this kind and path is lost."""
    return [{"lose": {kind: path}}]


# ------------------------------------------------------------------------------------------------ another controller


def is_elected(controller_epoch: int | None = None) -> Items:
    """Another controller is elected, and, if it says so, acts in this epoch."""
    named = creates(CONTROLLER, {"version": 1, "brokerid": OTHER, "timestamp": "0"}, owner=OTHER)
    return named + (writes(CONTROLLER_EPOCH, controller_epoch) if controller_epoch is not None else [])


def takes_over(controller_epoch: int) -> Items:
    """`/controller` goes, and another controller is elected before this one hears of it."""
    return deletes(CONTROLLER) + is_elected(controller_epoch)


def wins_after(tries: int, *happens: Items) -> Items:
    """Another controller is elected once this one has been so many times; `happens` comes right before the last."""
    done = before("create", CONTROLLER, is_elected())
    for left in range(tries):
        done = before("create", CONTROLLER, *(happens if not left else ()), done)
    return done
