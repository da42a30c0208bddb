"""The kinds of faults of a live run: what happens in each, and its play; which are done, and in what order.

A request of the admin's is a kind by itself, and one more with each fault that may come amid it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Final

from model_check.live.live_scenario import MORE_PARTITIONS, Ask, Scenario, Way
from model_check.live.live_setup import Setup
from reference.scripts import CONTROLLER
from spec.errors import BadInput, UnknownName

Play = Callable[[Scenario], None]


def _with(meanwhile: Play, scenario: Scenario) -> Way:
    """The request is made, and a little later something happens, wherever the controller is with it."""

    def way(ask: Ask, most_seconds: float) -> None:
        if ask is not None:
            ask()
            scenario.cluster.sleep(scenario.random.uniform(0.0, most_seconds))
        meanwhile(scenario)

    return way


def _stopped(scenario: Scenario, *, may_hang: bool = False) -> Way:
    """The request is made, and the controller stopped as it begins to carry it out."""
    return lambda ask, _: scenario.stop_at_work(ask, may_hang=may_hang)


ON_THE_WAY: Final[Mapping[str, tuple[str, Callable[[Scenario], Way]]]] = {
    "kill": ("another broker is killed on the way", partial(_with, lambda s: s.kill(s.another()))),
    "kill-controller": ("the controller is killed", partial(_with, lambda s: s.kill(s.the_controller()))),
    "stop-controller": ("the controller is stopped at work until its session is gone", _stopped),
}
"""What may happen while an admin's request is carried out."""


def _requests(kind: str, what: str, play: Callable[[Scenario, Way], None], *ways: str) -> dict[str, tuple[str, Play]]:
    """An admin's request by itself, and with each of these `ON_THE_WAY`."""

    def on(way: Callable[[Scenario], Way]) -> Play:
        return lambda scenario: play(scenario, way(scenario))

    kinds = {kind: (what, on(partial(_with, lambda _: None)))}
    return kinds | {f"{kind}-{one}": (f"the same, and {ON_THE_WAY[one][0]}", on(ON_THE_WAY[one][1])) for one in ways}


FAULTS: Final[Mapping[str, tuple[str, Play]]] = {
    "kill-broker": ("kill -9 of a broker that is not the controller, and a rest without it",
                    lambda s: s.kill_and_rest(s.another())),
    "kill-controller": ("kill -9 of the controller", lambda s: s.kill(s.the_controller())),
    "stop-controller": ("the controller is stopped until its session is gone, then goes on: a zombie",
                        Scenario.stop),
    "stop-broker": ("another broker is stopped until its session is gone", lambda s: s.suspend(s.another())),
    "pause": ("a broker is stopped for less than its session lasts",
              lambda s: s.pause(s.random.choice(s.cluster.broker_ids))),
    "lag": ("a follower falls silent: ISRs shrink, and expand again", lambda s: s.lag(s.another())),
    "lag-kill": ("the same, and its leader is killed: perhaps nobody is left who is in sync", Scenario.lag_and_kill),
    "early-restart": ("a broker is killed and registers as its old session ends; the controller may miss it (D12)",
                      lambda s: s.restart_early(s.another())),
    "kill-many": ("kill -9 of all brokers but one, and a rest without them", Scenario.all_at_once),
    **_requests("reassign", "a topic's partitions move to other brokers", Scenario.reassign, *ON_THE_WAY),
    "remove-controller": ("somebody deletes /controller by hand, whose owner lives on",
                          lambda s: s.cluster.admin.remove(CONTROLLER)),
    "reassign-remove-controller": ("a move, and somebody deletes its request and /controller by hand",
                                   lambda s: s.reassign(_with(Scenario.remedy, s))),
    "edit-assignment": ("somebody writes another AR into a topic's znode by hand, which nobody hears of (D73)",
                        Scenario.edit),
    **_requests("add", "a partition is added to a topic", Scenario.add, "kill", "kill-controller"),
    "add-stop-controller": ("the same of several, and the controller is stopped at work until its session is gone",
                            lambda s: s.add(_stopped(s), MORE_PARTITIONS)),
    **_requests("delete", "a topic is deleted", Scenario.delete, "kill", "kill-controller"),
    "delete-stop-controller": ("the same, and the controller is stopped, and killed if it waits for itself then (D50)",
                               lambda s: s.delete(_stopped(s, may_hang=True))),
    "delete-without": ("a topic is deleted while a broker is down that has a replica", Scenario.delete_without),
    "delete-undeletable": ("a topic is deleted, and a broker cannot remove its files, until one with it starts (D72)",
                           Scenario.delete_undeletable),
    "shutdown": ("a broker is told to stop, and has its leaderships moved first", lambda s: s.shut_down(s.another())),
    "shutdown-controller": ("the same, and it is the controller", lambda s: s.shut_down(s.the_controller())),
    "shutdown-kill-controller": ("the same of another, and the controller is killed on the way",
                                 lambda s: s.shut_down_without_controller(s.kill)),
    "shutdown-stop-controller": ("the same of another, and the controller is stopped until its session is gone",
                                 lambda s: s.shut_down_without_controller(s.suspend)),
    **_requests("elect", "a preferred replica is asked for while it is down, and when it is back", Scenario.elect,
                *ON_THE_WAY),
    "elect-lag": ("the same, and it is back, but not in sync", Scenario.elect_lagging),
}  # fmt: skip
"""The kinds of faults: what happens, and the play."""


def checked_kinds(kinds: Iterable[str], setup: Setup) -> tuple[str, ...]:
    """Kinds of faults by name; UnknownName lists the known ones, BadInput names one that the cluster cannot have."""
    kinds = tuple(kinds)
    for kind in kinds:
        if kind not in FAULTS:
            raise UnknownName("kind of fault", kind, FAULTS)
        if kind not in kinds_for(setup, FAULTS):
            raise BadInput(f"{kind} is a fault of the controller, which is the reference here, and not under test")
        if kind == "delete-undeletable" and not setup.broker.renames_logs:
            raise BadInput(f"{kind} needs brokers of Kafka 0.10.2: no other fails where the folder is gone")
    return kinds


UNUSUAL: Final = ("delete-undeletable", "edit-assignment")
USUAL: Final = tuple(kind for kind in FAULTS if kind not in UNUSUAL)
"""The kinds that are done where none is named; the `UNUSUAL` ones are done only where they are."""


def kinds_for(setup: Setup, kinds: Iterable[str] = USUAL) -> tuple[str, ...]:
    """The kinds of faults that a cluster can have; none is done to the controller where only brokers are under test."""
    return tuple(kind for kind in kinds if not (setup.spares_controllers and "controller" in kind))


FIRST: Final = (
    "kill-controller", "kill-many", "stop-controller", "early-restart", "lag-kill", "reassign",
    "reassign-stop-controller", "remove-controller", "add", "delete", "delete-without", "shutdown", "elect-lag",
)  # fmt: skip
"""The kinds after which a controller has had to do all that there is for it to do, once; others differ in the moment.

They fit into two minutes.
"""


def drawn(random: Random, kinds: Iterable[str]) -> Iterator[str]:
    """Faults without end: every kind once, the `FIRST` ones first, else in a random order, and again."""
    kinds = tuple(kinds)
    while True:
        yield from sorted(random.sample(kinds, len(kinds)), key=lambda kind: kind not in FIRST)
