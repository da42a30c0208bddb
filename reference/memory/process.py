"""A broker process in memory: its session, ZkClient's event queue, its controller module and its broker.

A generator cannot be copied. So a procedure under way keeps the controller's memory as it was when it began, and what
was sent or thrown into it since. The first fork takes the generator, and goes on with it; the process that it is a fork
of stays to be read, and another fork of it begins the procedure again where it began, and repeats that.

One procedure runs to its end before the next callback is taken. What ZkClient reads for that while another thread has
the controller lock is kept until then.
"""

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias

from reference.broker_events.controlled_shutdown import Departure
from reference.brokers.broker import Broker
from reference.controller.controller import KafkaController
from reference.forking import Notes, shallow_copy
from reference.journal import Journal, nowhere
from reference.leadership.effects import IsrWrite
from reference.procedures import Effect, OneOf, Procedure
from reference.scripts import CONTROLLER
from reference.threads import Event, Given, subscribed
from spec.formats.kafka_types import TopicPartition
from spec.state.enumerations import Callback

OWN: Final = (Callback.SESSION, Callback.REGISTRATION)
"""The handlers of a new session, which the client queues by itself: the controller's, then the broker's."""

Answer: TypeAlias = tuple[int, Any]
"""What a procedure was sent: the index of the effect that was carried out, and what that gave or Raised."""
Act: TypeAlias = Callable[[KafkaController], None]
"""What another thread did to the controller meanwhile."""


class Repeated(enum.Enum):
    """Whether a create that is bound to one session is to be carried out again, because its answer was lost."""

    NO = "it is not"
    UNDER_ITS_SESSION = "it is"
    WITHOUT_ITS_SESSION = "it is, but can only fail, since the session is no more"


class Running:
    """A procedure under way, and what it waits for (None: it has ended); `listens` where ZkClient's thread runs it.

    `unanswered` is the index of the effect whose answer was lost, where only a part of it is done again.
    """

    def __init__(
        self, begin: Callable[[KafkaController], Procedure[None]], controller: KafkaController, *, listens: bool = False
    ) -> None:
        self.listens = listens
        self._begin = begin
        self._start = controller.fork()
        self._answers: tuple[Answer | Act, ...] = ()
        self.begin_anew(controller)
        self.create = Repeated.NO
        self.unanswered: int | None = None

    def begin_anew(self, controller: KafkaController) -> None:
        """Run the procedure, on this controller, as far as the answers go that were given so far, with all acts between
        them.
        """
        self.procedure: Procedure[None] | None = self._begin(controller)
        self.pending: OneOf | None = next(self.procedure, None)
        for one in self._answers:
            if callable(one):
                one(controller)
            else:
                self._tell(one)

    def note(self, act: Act) -> None:
        """Keep what another thread has done to the controller at this point."""
        self._answers = (*self._answers, act)

    def resume(self, index: int, came: object) -> None:
        """Tell the procedure which effect was carried out, and what that gave or Raised; it runs up to its next one."""
        self._answers = (*self._answers, (index, came))
        self.create, self.unanswered = Repeated.NO, None
        self._tell((index, came))

    def _tell(self, answer: Answer) -> None:
        if self.procedure is None:
            raise RuntimeError("another fork of this process has its procedure")
        try:
            self.pending = self.procedure.send(answer)
        except StopIteration:
            self.pending = None

    @property
    def options(self) -> tuple[Effect[Any], ...]:
        """The effects of which one is to be carried out next."""
        return () if self.pending is None else self.pending.effects

    @property
    def choices(self) -> dict[int, Effect[Any]]:
        """The same by index; alone what is repeated of an effect whose answer was lost."""
        if self.unanswered is not None:
            return {self.unanswered: self.options[self.unanswered].repeated}
        return dict(enumerate(self.options))

    def paused(self) -> "Running":
        """All that is known of it, without the procedure itself."""
        twin = shallow_copy(self)
        twin.procedure = None
        return twin

    def forked(self) -> "tuple[KafkaController, Running]":
        """The same procedure once more, on a controller of its own, as far as this one has come."""
        controller = self._start.fork()
        controller.journal = nowhere
        twin = shallow_copy(self)
        twin.begin_anew(controller)
        if twin.pending != self.pending:
            raise RuntimeError(f"a repeated procedure asks for {twin.pending}, not for {self.pending}")
        return controller, twin


@dataclass
class MemoryProcess:
    """A broker process, running or not.

    `session` is that of its client, live or not; `orphan` one that outlived an earlier incarnation. `starting` is true
    until the start-up has registered the broker, `electing` while its own election holds the lock; it `gives_up` when
    it finds its id taken, and is on its way out; its `departure` is that of a process that is told to stop.
    `allowed` are the topics that were allowed unclean election, of which it has yet to hear (a fix).
    The listener of the first of its `events` is `given` what was read before it had the lock, unless that is None.
    `isr_writes` are ISR writes whose answer was lost. `notes` are what readers keep of this state of the process.
    """

    broker_id: int
    controller: KafkaController | None
    broker: Broker
    session: int | None = None
    orphan: int | None = None
    starting: bool = False
    electing: bool = False
    gives_up: bool = False
    departure: Departure | None = None
    events: list[Event] = field(default_factory=list)
    allowed: frozenset[str] = frozenset()
    given: Given | None = None
    running: Running | None = None
    isr_writes: dict[TopicPartition, IsrWrite] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes, compare=False, repr=False)

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self.session is not None

    @property
    def own_controller(self) -> KafkaController:
        """The controller module, of a process that has one."""
        if self.controller is None:
            raise RuntimeError(f"process {self.broker_id} is not eligible")
        return self.controller

    def act(self, act: Act) -> None:
        """Have another thread than the one that runs a procedure do something to the controller."""
        act(self.own_controller)
        if self.running is not None:
            self.running.note(act)

    @property
    def next_effect(self) -> Effect[Any] | None:
        """The effect that the handler waits for; any of them, if it may be one of several."""
        return None if self.running is None else next(iter(self.running.choices.values()))

    @property
    def losable(self) -> int:
        """How many events at the end of the queue may not have reached the client: those behind its own handlers, and
        behind what has been read for.
        """
        own = [place for place, event in enumerate(self.events) if event in OWN]
        own += [] if self.given is None else [0]
        return len(self.events) - 1 - max(own, default=-1)

    def listens_to(self, path: str) -> bool:
        """Whether a listener of this process is subscribed to a path."""
        return self.controller is not None and (path == CONTROLLER or path in self.controller.listeners)

    def subscribed(self) -> Iterator[Event]:
        """The callbacks of all listeners, as an expiry queues them."""
        if self.controller is not None:
            yield from subscribed(self.controller)

    def fork(self, journal: Journal, *, goes_on: bool = False) -> Self:
        """A copy that goes its own way and writes to another journal.

        A procedure cannot be copied. The copy gets it if its handler `goes_on`; a caller that needs it later runs it
        anew.
        """
        twin = shallow_copy(self)
        twin.events, twin.isr_writes, twin.notes = list(self.events), dict(self.isr_writes), Notes()
        twin.broker = self.broker.fork()
        if self.controller is not None:
            twin.controller = self.controller.fork()
            if self.running is not None:
                twin.running = self.running.paused()
                if goes_on and self.running.procedure is not None:
                    self.controller, twin.controller = twin.controller, self.controller
                    self.running, twin.running = twin.running, self.running
                elif goes_on:
                    twin.go_on()
            twin.own_controller.journal = journal
        twin.broker.journal = journal
        return twin

    def go_on(self) -> None:
        """Have the procedure of the handler that runs, which another fork of this process may have."""
        if self.running is None or self.running.procedure is not None:
            return
        original = self.own_controller
        self.controller, self.running = self.running.forked()
        self.controller.journal = original.journal
        _copy_queues(original, self.controller)


def _copy_queues(original: KafkaController, repeated: KafkaController) -> None:
    """A repeated procedure has filled its queues again; what is really in them now is in the original's."""
    theirs, ours = original.context.controller_channel_manager, repeated.context.controller_channel_manager
    if theirs is not None and ours is not None:
        ours.queues = {broker_id: queue.fork() for broker_id, queue in theirs.queues.items()}
    repeated.abandoned = {broker_id: queue.fork() for broker_id, queue in original.abandoned.items()}
