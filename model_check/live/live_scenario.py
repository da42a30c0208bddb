"""What is done to a live cluster: topics, kills and pauses, drawn from a seed.

Each kind of fault is a small play of its own, and the next begins when the cluster has got over the last; what they
leave to chance is drawn from the same seed. Times are those of the machine, so two runs of a seed do the same things,
and the cluster may still answer in different ways. A cluster gets to rest between two faults: announcements of ISR
changes wait while there is no controller, and the specification has room for so many of each broker's.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from model_check.live.live_admin import PATIENCE_SECONDS
from model_check.live.live_cluster import LiveCluster
from model_check.live.live_setup import Setup
from reference.elections.requested import ELECTIONS
from reference.scripts import CONTROLLER, REASSIGN_PARTITIONS, topic_path
from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import TopicPartition

MOST_REPLICAS: Final = 3
MANY_PARTITIONS: Final = 4
"""So many that a controller is still at work when its first write has been seen."""
MORE_TOPICS: Final = 3
"""How many topics are created while faults happen, at most."""
HANGS_SESSIONS: Final = 5
"""A broker that is not registered again after so many times the length of a session is not going to be."""
LIVES_ON, SLEEPS, SOON = 0.62, 0.55, 0.2
"""As shares of a session: for so much who falls silent keeps its own at least, as a member tells ZooKeeper of itself
thrice in one; for so much less it may be stopped; and so soon it is started, not to wait for longer than that."""
NOTICED_LAGS: Final = 1.6
"""A leader looks for followers that lag each half of the time for which they may."""


@dataclass
class Scenario:
    """The plays, and what they share: the cluster, chance, and how many topics there are."""

    cluster: LiveCluster
    random: Random
    first_topics: int
    topics: int = 0
    existing: list[str] = field(default_factory=list)

    @property
    def session_seconds(self) -> float:
        """How long a session outlives its process."""
        return self.cluster.setup.times.session_timeout_ms / 1000

    def begin(self) -> None:
        """Start every broker, the first one first, and create the first topics; what comes of that is seen at rest."""
        first, *others = self.cluster.member_ids
        self.cluster.ensure_running(first)
        self.await_controller()
        for member in others:
            self.cluster.start(member)
        self.settle()
        for _ in range(self.first_topics):
            self.create_topic()
        self.cluster.rest()

    def settle(self) -> None:
        """Have every broker up, and somebody the controller, and everything said that is to be said."""
        for member in self.cluster.member_ids:
            self.cluster.ensure_running(member)
        self.await_controller()
        self.cluster.rest()

    def await_controller(self) -> None:
        """Wait until somebody is controller; where nobody comes to be, the claims are asked of that."""
        if not self.cluster.comes(lambda: self.cluster.admin.controller() is not None, PATIENCE_SECONDS):
            self.cluster.rest()
            self.cluster.gives_up("there is a controller", PATIENCE_SECONDS)

    def a_moment(self) -> None:
        """Wait, shorter or longer."""
        self.cluster.sleep(self.random.uniform(0.1, 0.8))

    def create_topic(self, partitions: int = 0) -> None:
        """So many partitions, or one or two, on brokers that may or may not live."""
        self.topics += 1
        count = min(len(self.cluster.broker_ids), MOST_REPLICAS)
        assignment = {
            p: tuple(self.random.sample(self.cluster.broker_ids, self.random.randint(min(2, count), count)))
            for p in range(partitions or self.random.randint(1, 2))
        }
        self.existing.append(f"topic-{self.topics}")
        self.cluster.admin.create_topic(self.existing[-1], assignment)

    def perhaps_a_topic(self) -> None:
        """Now and then a topic is created in the middle of a fault."""
        if self.topics < self.first_topics + MORE_TOPICS and self.random.random() < 1 / 3:
            self.create_topic()

    def the_controller(self) -> int:
        """Who is controller now."""
        self.await_controller()
        return self.cluster.admin.controller() or self.cluster.broker_ids[0]

    def another(self) -> int:
        """A broker that is not the controller, if there is one."""
        controller = self.the_controller()
        return self.random.choice([one for one in self.cluster.broker_ids if one != controller] or [controller])

    # -------------------------------------------------------------------------------------------------------- the plays

    def kill(self, broker: int) -> None:
        """Kill a broker; start it again once ZooKeeper has given it up."""
        self.cluster.kill(broker)
        self.perhaps_a_topic()
        self.await_session_end(broker)
        self.a_moment()

    def await_session_end(self, broker: int) -> None:
        """Wait until ZooKeeper has given a broker up."""
        what = f"the session of broker {broker} ends"
        self.cluster.wait_until(what, lambda: not self.cluster.admin.is_present(broker))

    def restart_early(self, broker: int) -> None:
        """Kill a broker, and start it again while its old session lives; the controller may see no change (D12).

        The new process is stopped when it has a session, before it registers, and goes on when the old session has
        ended. The controller is stopped while that ends and the other registers, for less than its own session lasts.
        """
        controller, cluster, session = self.the_controller(), self.cluster, self.session_seconds
        begun = cluster.last_session_begun()
        cluster.kill(broker)
        lives_until = time.monotonic() + LIVES_ON * session
        cluster.sleep(SOON * session)
        cluster.start(broker)
        waits = sleeps = False
        while cluster.admin.is_present(broker):
            cluster.sleep(0)
            if not waits and cluster.last_session_begun() != begun:
                cluster.suspend(broker)
                waits = True
            if not sleeps and broker != controller and time.monotonic() > lives_until:
                cluster.suspend(controller)
                sleeps = True
        if waits:
            cluster.resume(broker)
        if sleeps:
            goes_on = lives_until + SLEEPS * session
            cluster.comes(cluster.children[broker].has_started_or_ended, goes_on - time.monotonic())
            cluster.resume(controller)

    def suspend(self, broker: int, *, may_hang: bool = False) -> None:
        """Stop a broker until its session is gone, then let it go on: it does not know.

        A controller that deletes a topic may come to wait for itself as it resigns (D50): then it is killed. So is
        whatever else is not ours and does not register again; who was not registered need not.
        """
        admin = self.cluster.admin
        was_registered = admin.is_registered(broker)
        self.cluster.suspend(broker)
        self.perhaps_a_topic()
        self.await_session_end(broker)
        self.a_moment()
        self.cluster.resume(broker)
        if self.cluster.setup.is_all_ours and not may_hang:
            self.cluster.wait_until(f"broker {broker} is registered again", lambda: admin.is_registered(broker))
        elif was_registered and not self.cluster.comes(
            lambda: admin.is_registered(broker), HANGS_SESSIONS * self.session_seconds
        ):
            self.cluster.kill(broker)

    def stop_at_work(self) -> None:
        """Stop the controller as it begins to write: what is left to write it writes as a zombie.

        It is given a topic of several partitions or, where there are enough topics, one more partition of a topic,
        unless one is being reassigned, which the tool might undo (D39).
        """
        controller, admin = self.the_controller(), self.cluster.admin
        if self.topics < self.first_topics + MORE_TOPICS:
            self.create_topic(MANY_PARTITIONS)
            admin.see(f"{topic_path(self.existing[-1])}/partitions", self.session_seconds)
        elif self.existing and not admin.is_there(REASSIGN_PARTITIONS):
            topic = self.random.choice(self.existing)
            added = admin.add_partition(topic, self.two_brokers())
            admin.see(f"{topic_path(topic)}/partitions/{added}", self.session_seconds)
        self.suspend(controller)

    def two_brokers(self) -> tuple[int, ...]:
        """The replicas of a partition that is added: two of the brokers, or the only one."""
        return tuple(self.random.sample(self.cluster.broker_ids, min(2, len(self.cluster.broker_ids))))

    def pause(self, broker: int) -> None:
        """Stop a broker for less than its session lasts."""
        self.cluster.suspend(broker)
        self.cluster.sleep(self.random.uniform(0.2, 0.6) * self.session_seconds)
        self.cluster.resume(broker)

    def lag(self, broker: int) -> None:
        """A follower falls silent for longer than leaders wait; one that cannot is stopped for as long."""
        lag_ms = self.cluster.setup.times.lag_ms
        if not self.cluster.falls_silent(broker, 2 * lag_ms):
            self.cluster.suspend(broker)
            self.cluster.sleep(NOTICED_LAGS * lag_ms / 1000)
            self.cluster.resume(broker)
        self.cluster.sleep(2.5 * lag_ms / 1000)

    def elsewhere(self, replicas: tuple[int, ...]) -> tuple[int, ...]:
        """As many brokers, of whom one is another if there is one; if all have it, they have it in another order."""
        others = [one for one in self.cluster.broker_ids if one not in replicas]
        kept = self.random.sample(replicas, len(replicas) - bool(others))
        wanted = self.random.sample([*kept, *self.random.sample(others, bool(others))], len(replicas))
        return tuple(wanted) if tuple(wanted) != replicas else (*replicas[1:], *replicas[:1])

    def reassign(self, meanwhile: "Play") -> None:
        """Ask for a move of a topic, unless one is asked for (it may be stuck, D18), and let something happen."""
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            topic = self.random.choice(self.existing)
            wanted = {
                TopicPartition(topic, p): self.elsewhere(replicas)
                for p, replicas in self.cluster.admin.assignment(topic).items()
            }
            self.cluster.admin.reassign(wanted)
            self.cluster.sleep(self.random.uniform(0.0, 0.3))
        meanwhile(self)

    def remedy(self) -> None:
        """Delete a request to reassign by hand, then /controller, as operators do where it is stuck."""
        self.cluster.admin.remove(REASSIGN_PARTITIONS)
        self.cluster.admin.remove(CONTROLLER)

    def add(self, meanwhile: "Play") -> None:
        """Add a partition to a topic, unless one is being reassigned, which the tool might undo (D39)."""
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            brokers = self.two_brokers()
            self.cluster.admin.add_partition(self.random.choice(self.existing), brokers)
            self.cluster.sleep(self.random.uniform(0.0, 0.05))
        meanwhile(self)

    def edit(self) -> None:
        """Add or take away a replica by hand, if one can be and nothing moves; the controller hears nothing."""
        admin, random = self.cluster.admin, self.random
        if self.existing and not admin.is_there(REASSIGN_PARTITIONS):
            topic = random.choice(self.existing)
            partition, replicas = random.choice([*admin.assignment(topic).items()])
            others = [one for one in self.cluster.broker_ids if one not in replicas]
            fewer = [tuple(one for one in replicas if one != gone) for gone in replicas if len(replicas) > 1]
            if choices := [*((*replicas, one) for one in others), *fewer]:
                admin.edit_assignment(topic, partition, random.choice(choices))
        self.a_moment()

    def delete(self, meanwhile: "Play") -> None:
        """Ask that a topic be deleted, unless one is stuck in a reassignment; let something happen on the way."""
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            self.cluster.admin.delete_topic(self.existing.pop(self.random.randrange(len(self.existing))))
            self.cluster.sleep(self.random.uniform(0.0, 0.2))
        meanwhile(self)

    def delete_undeletable(self) -> None:
        """Ask that a topic be deleted while one broker cannot remove its files, then restart one that has a replica."""
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            topic = self.existing.pop(self.random.randrange(len(self.existing)))
            partition, replicas = self.random.choice([*self.cluster.admin.assignment(topic).items()])
            with self.cluster.log_elsewhere(self.random.choice(replicas), TopicPartition(topic, partition)):
                self.cluster.admin.delete_topic(topic)
                self.cluster.rest()
            self.kill(self.random.choice(replicas))

    def shut_down(self, broker: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Tell a broker to stop in order, and let something happen while it asks the controller."""
        self.cluster.tell_to_stop(broker)
        meanwhile()
        self.cluster.await_exit(broker)
        self.a_moment()

    def shut_down_without_controller(self, fault: Callable[[int], None]) -> None:
        """Tell another broker to stop, and have a fault take the controller away, sooner or later."""
        controller, broker = self.the_controller(), self.another()

        def strike() -> None:
            self.cluster.sleep(self.random.uniform(0.0, 0.05))
            fault(controller)

        self.shut_down(broker, strike if broker != controller else lambda: None)

    def elect(self, meanwhile: "Play") -> None:
        """Unseat a first leader, ask for preferred replicas unless that is asked (D49), and let something happen."""
        if self.existing and not self.cluster.admin.is_there(ELECTIONS):
            topic = self.random.choice(self.existing)
            assignment = self.cluster.admin.assignment(topic)
            self.kill(assignment[0][0])
            self.settle()
            self.cluster.admin.elect_preferred(TopicPartition(topic, p) for p in assignment)
            self.cluster.sleep(self.random.uniform(0.0, 0.05))
        meanwhile(self)

    def all_at_once(self) -> None:
        """Kill every broker but one, and start them again."""
        for broker in self.random.sample(self.cluster.broker_ids, len(self.cluster.broker_ids) - 1):
            self.cluster.kill(broker)
        self.a_moment()


Play = Callable[[Scenario], None]

ON_THE_WAY: Final[Mapping[str, tuple[str, Play]]] = {
    "kill": ("another broker is killed on the way", lambda s: s.kill(s.another())),
    "kill-controller": ("the controller is killed", lambda s: s.kill(s.the_controller())),
    "stop-controller": ("the controller is stopped until its session is gone", lambda s: s.suspend(s.the_controller())),
}
"""What may happen while an admin's request is carried out."""


def _requests(kind: str, what: str, play: Callable[..., None], *ways: str) -> dict[str, tuple[str, Play]]:
    """An admin's request by itself, and with each of these `ON_THE_WAY`."""
    kinds: dict[str, tuple[str, Play]] = {kind: (what, partial(play, meanwhile=lambda _: None))}
    for way in ways:
        words, fault = ON_THE_WAY[way]
        kinds[f"{kind}-{way}"] = f"the same, and {words}", partial(play, meanwhile=fault)
    return kinds


FAULTS: Final[Mapping[str, tuple[str, Play]]] = {
    "kill-broker": ("kill -9 of a broker that is not the controller", lambda s: s.kill(s.another())),
    "kill-controller": ("kill -9 of the controller", lambda s: s.kill(s.the_controller())),
    "stop-controller": ("the controller is stopped until its session is gone, then goes on: a zombie",
                        Scenario.stop_at_work),
    "stop-broker": ("another broker is stopped until its session is gone", lambda s: s.suspend(s.another())),
    "pause": ("a broker is stopped for less than its session lasts",
              lambda s: s.pause(s.random.choice(s.cluster.broker_ids))),
    "lag": ("a follower falls silent: ISRs shrink, and expand again", lambda s: s.lag(s.another())),
    "early-restart": ("a broker is killed and registers as its old session ends; the controller may miss it (D12)",
                      lambda s: s.restart_early(s.another())),
    "kill-many": ("kill -9 of all brokers but one", Scenario.all_at_once),
    **_requests("reassign", "a topic's partitions move to other brokers", Scenario.reassign, *ON_THE_WAY),
    "remove-controller": ("somebody deletes /controller by hand, whose owner lives on",
                          lambda s: s.cluster.admin.remove(CONTROLLER)),
    "reassign-remove-controller": ("a move, and somebody deletes its request and /controller by hand",
                                   partial(Scenario.reassign, meanwhile=Scenario.remedy)),
    "edit-assignment": ("somebody writes another AR into a topic's znode by hand, which nobody hears of (D73)",
                        Scenario.edit),
    **_requests("add", "a partition is added to a topic", Scenario.add, *ON_THE_WAY),
    **_requests("delete", "a topic is deleted", Scenario.delete, "kill", "kill-controller"),
    "delete-stop-controller": ("the same, and the controller is stopped, and killed if it waits for itself then (D50)",
                               lambda s: s.delete(lambda _: s.suspend(s.the_controller(), may_hang=True))),
    "delete-undeletable": ("the same, and a broker cannot remove its files, until one with a replica starts (D72)",
                           Scenario.delete_undeletable),
    "shutdown": ("a broker is told to stop, and has its leaderships moved first", lambda s: s.shut_down(s.another())),
    "shutdown-controller": ("the same, and it is the controller", lambda s: s.shut_down(s.the_controller())),
    "shutdown-kill-controller": ("the same of another, and the controller is killed on the way",
                                 lambda s: s.shut_down_without_controller(s.kill)),
    "shutdown-stop-controller": ("the same of another, and the controller is stopped until its session is gone",
                                 lambda s: s.shut_down_without_controller(s.suspend)),
    **_requests("elect", "a preferred replica comes back, and is elected on request", Scenario.elect, *ON_THE_WAY),
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


def drawn(random: Random, kinds: Iterable[str]) -> Iterator[str]:
    """Faults without end: every kind once, in a random order, and again."""
    kinds = tuple(kinds)
    while True:
        yield from random.sample(kinds, len(kinds))
