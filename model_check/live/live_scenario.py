"""What is done to a live cluster: topics, kills and pauses, drawn from a seed.

Each kind of fault is a small play of its own, and the next begins when the cluster has got over the last; what they
leave to chance is drawn from the same seed. Times are those of the machine, so two runs of a seed do the same things,
and the cluster may still answer in different ways. A cluster gets to rest between two faults: announcements of ISR
changes wait while there is no controller, and the specification has room for so many of each broker's.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from model_check.live.live_admin import PATIENCE_SECONDS
from model_check.live.live_cluster import LiveCluster
from model_check.recordings.tracks import SKEW
from reference.elections.requested import ELECTIONS
from reference.scripts import CONTROLLER, REASSIGN_PARTITIONS
from spec.formats.kafka_types import TopicPartition

MOST_REPLICAS: Final = 3
MANY_PARTITIONS: Final = 4
"""So many that a controller is still at work when its first write has been seen."""
MORE_PARTITIONS: Final = 3
"""The same, of a topic that is there already, which may get as many again and again."""
MORE_TOPICS: Final = 3
"""How many topics are created while faults happen, at most."""
HANGS_SESSIONS: Final = 5
"""A broker that is not registered again after so many times the length of a session is not going to be."""
LIVES_ON, SLEEPS, SOON = 0.62, 0.55, 0.2
"""As shares of a session: for so much who falls silent keeps its own at least, as a member tells ZooKeeper of itself
thrice in one; for so much less it may be stopped; and so soon it is started, not to wait for longer than that."""
NOTICED_LAGS: Final = 1.6
"""A leader looks for followers that lag each half of the time for which they may."""

Ask = Callable[[], None] | None
"""A request of the admin's, or none where it cannot be made now."""
Way = Callable[[Ask, float], None]
"""How a request goes: what happens once it is made, or as it is carried out, within about so many seconds."""


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
        if self.topics < self.first_topics + MORE_TOPICS and self.random.random() < 1 / 2:
            self.create_topic()

    def the_controller(self) -> int:
        """The controller's id now."""
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

    def kill_and_rest(self, *brokers: int) -> None:
        """Kill brokers, and see what the cluster comes to without them, before they are started again."""
        for broker in brokers:
            self.cluster.kill(broker)
        self.perhaps_a_topic()
        for broker in brokers:
            self.await_session_end(broker)
        self.stay()

    def stay(self) -> None:
        """Rest, and let nothing be undone for so long that clocks can tell it from the rest."""
        self.cluster.rest()
        self.cluster.sleep(SKEW / 1000)

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
        whatever else is not ours and does not register again; a broker that was not registered need not.
        """
        admin = self.cluster.admin
        self.cluster.suspend(broker)
        was_registered = admin.is_registered(broker)
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

    def stop_at_work(self, ask: Ask, *, may_hang: bool = False) -> None:
        """Stop the controller as it begins to write what is asked for: what is left to write it writes as a zombie."""
        controller = self.the_controller()
        if ask is not None:
            session = self.cluster.admin.controllers_session()
            since = self.cluster.last_change_of(session)
            ask()
            self.cluster.see_change(session, since, self.session_seconds)
        self.suspend(controller, may_hang=may_hang)

    def stop(self) -> None:
        """Stop the controller at work on a topic of several partitions; once there are enough, on more of one.

        None are added while a topic is being reassigned, which the tool might undo (D39).
        """
        if self.topics < self.first_topics + MORE_TOPICS:
            self.stop_at_work(lambda: self.create_topic(MANY_PARTITIONS))
        else:
            self.add(lambda ask, _: self.stop_at_work(ask), MORE_PARTITIONS)

    def two_brokers(self) -> tuple[int, ...]:
        """The replicas of a partition that is added: two of the brokers, or the only one."""
        return tuple(self.random.sample(self.cluster.broker_ids, min(2, len(self.cluster.broker_ids))))

    def pause(self, broker: int) -> None:
        """Stop a broker for less than its session lasts."""
        self.cluster.suspend(broker)
        self.cluster.sleep(self.random.uniform(0.2, 0.6) * self.session_seconds)
        self.cluster.resume(broker)

    @contextmanager
    def lagging(self, broker: int) -> Iterator[None]:
        """A follower falls silent for longer than leaders wait, and they have seen it; one that cannot is stopped."""
        lag_ms = self.cluster.setup.times.lag_ms
        is_silent = self.cluster.falls_silent(broker, 2 * lag_ms)
        if not is_silent:
            self.cluster.suspend(broker)
        self.cluster.sleep(NOTICED_LAGS * lag_ms / 1000)
        yield
        if not is_silent:
            self.cluster.resume(broker)

    def lag(self, broker: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """A follower leaves the ISRs, and something happens before it is back in them."""
        with self.lagging(broker):
            meanwhile()
        self.cluster.sleep(2.5 * self.cluster.setup.times.lag_ms / 1000)

    def lag_and_kill(self) -> None:
        """Kill a leader of few replicas while one of them is out of the ISR; perhaps nobody is left in it."""
        followed = [
            (len(replicas), leader, follower)
            for topic in self.existing
            for partition, replicas in self.cluster.admin.assignment(topic).items()
            for leader in replicas
            if leader == self.cluster.admin.leader(TopicPartition(topic, partition))
            for follower in {*replicas} - {leader}
        ]
        if followed:
            fewest = min(followed)[0]
            _, leader, follower = self.random.choice([one for one in sorted(followed) if one[0] == fewest])
            with self.lagging(follower):
                self.cluster.kill(leader)
            self.await_session_end(leader)
            self.stay()

    def elsewhere(self, replicas: tuple[int, ...]) -> tuple[int, ...]:
        """As many brokers, of whom one is another if there is one; if all have it, they have it in another order."""
        others = [one for one in self.cluster.broker_ids if one not in replicas]
        kept = self.random.sample(replicas, len(replicas) - bool(others))
        wanted = self.random.sample([*kept, *self.random.sample(others, bool(others))], len(replicas))
        return tuple(wanted) if tuple(wanted) != replicas else (*replicas[1:], *replicas[:1])

    def reassign(self, way: Way) -> None:
        """Ask for a move of a topic, unless one is asked for (it may be stuck, D18), and let something happen."""
        ask: Ask = None
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            topic = self.random.choice(self.existing)
            wanted = {
                TopicPartition(topic, p): self.elsewhere(replicas)
                for p, replicas in self.cluster.admin.assignment(topic).items()
            }
            ask = partial(self.cluster.admin.reassign, wanted)
        way(ask, 0.3)

    def remedy(self) -> None:
        """Delete a request to reassign by hand, then /controller, as operators do where it is stuck."""
        self.cluster.admin.remove(REASSIGN_PARTITIONS)
        self.cluster.admin.remove(CONTROLLER)

    def add(self, way: Way, partitions: int = 1) -> None:
        """Add so many partitions to a topic, unless one is being reassigned, which the tool might undo (D39)."""
        ask: Ask = None
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            replicas = [self.two_brokers() for _ in range(partitions)]
            ask = partial(self.cluster.admin.add_partitions, self.random.choice(self.existing), replicas)
        way(ask, 0.05)

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

    def delete(self, way: Way) -> None:
        """Ask that a topic be deleted, unless one is stuck in a reassignment; let something happen on the way."""
        ask: Ask = None
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            topic = self.existing.pop(self.random.randrange(len(self.existing)))
            ask = partial(self.cluster.admin.delete_topic, topic)
        way(ask, 0.2)

    def delete_without(self) -> None:
        """Ask that a topic be deleted while a broker is down that has a replica, which has to wait for it."""
        if self.existing and not self.cluster.admin.is_there(REASSIGN_PARTITIONS):
            topic = self.existing.pop(self.random.randrange(len(self.existing)))
            self.kill(self.random.choice(self.cluster.admin.assignment(topic)[0]))
            self.cluster.admin.delete_topic(topic)
            self.stay()

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

    def elect(self, way: Way) -> None:
        """Unseat a first leader, ask for preferred replicas while it is down, and, let something happen, once it is up.

        Nothing is asked for while something is (D49).
        """
        ask: Ask = None
        if topic := self._unseat():
            ask = partial(self._ask_for_preferred, topic)
        way(ask, 0.05)

    def elect_lagging(self) -> None:
        """Ask for a preferred replica that lives, and is not in sync."""
        if topic := self._unseat():
            first = self.cluster.admin.assignment(topic)[0][0]
            self.lag(first, partial(self._ask_for_preferred, topic))

    def _unseat(self) -> str:
        """Kill the first replica of a topic, ask that it lead, and have it come back; the topic, if there is one."""
        if not self.existing or self.cluster.admin.is_there(ELECTIONS):
            return ""
        topic = self.random.choice(self.existing)
        first = self.cluster.admin.assignment(topic)[0][0]
        self.kill(first)
        self._ask_for_preferred(topic)
        self.settle()
        return "" if self.cluster.admin.is_there(ELECTIONS) else topic

    def _ask_for_preferred(self, topic: str) -> None:
        assignment = self.cluster.admin.assignment(topic)
        self.cluster.admin.elect_preferred([TopicPartition(topic, p) for p in assignment])

    def all_at_once(self) -> None:
        """Kill every broker but one, and start them again."""
        self.kill_and_rest(*self.random.sample(self.cluster.broker_ids, len(self.cluster.broker_ids) - 1))
