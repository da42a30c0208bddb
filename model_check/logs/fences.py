"""Brokers' fences, as their lines show them: no older controller epoch is obeyed, no leader epoch that is not higher.

What a broker knows it knows in one life. So an obedience to an older epoch is wrong where its logs tell that it was not
started in between; and where it obeys the newer one again at once, whatever they tell. Otherwise it is noted.

A leader epoch that is not higher is what a broker obeys whenever it starts, or has stopped the replica; and the lines
that say so may be missing. So it is wrong only where nothing is missing between the two requests: they have one
correlation id, or there is a line of each request between them. For a controller counts them for each broker, and
begins anew for one that comes back.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from model_check.logs.answers import HIGHER, KNOWN, OLDER, REFUSED, Answers
from model_check.logs.facts import Accepted, Arrived, Forgotten, Received, Refused, Run
from model_check.logs.lives import TOO_FAST, Lives, ms
from model_check.logs.terms import BLIP

MOST_REQUESTS: Final = 64
"""Requests of a broker that are remembered until they are handled; those that were refused never are."""
NO_EPOCH: Final = -1


class Obeyed(NamedTuple):
    """The epoch that a broker obeys, when it did so last, and the place of that."""

    epoch: int
    controller: int
    time: int
    place: str


class Stored(NamedTuple):
    """The leader epoch that a broker has stored of a partition: since when, its place, in which sequence."""

    epoch: int
    time: int
    place: str
    sequence: int


@dataclass
class Broker:
    """What one broker knows."""

    obeyed: Obeyed | None = None
    fell: tuple[Obeyed, Run, str] | None = None
    """What it obeyed before an older epoch, and the first line of that, while nobody can tell whether it lived on."""
    requests: OrderedDict[tuple[int, int, int], dict[str, int]] = field(default_factory=OrderedDict)
    stored: dict[str, Stored] = field(default_factory=dict)
    latest: tuple[int, int, int] | None = None
    """The last request that arrived, by controller, epoch and correlation id."""
    sequence: int = 0
    """How many sequences of requests there have been, each without a gap."""

    def hears(self, request: tuple[int, int, int]) -> None:
        """A request arrives: it is the last one, or the next, or some may be missing.

        One of a lower correlation id is of a controller that counts anew, and no longer sends what it has sent before.
        """
        before, self.latest = self.latest, request
        if request != before and any(one[:2] == request[:2] and one[2] > request[2] for one in self.requests):
            self.requests.clear()
        if before is None or request[:2] != before[:2] or request[2] - before[2] not in {0, 1}:
            self.sequence += 1


@dataclass
class Refusals:
    """How often something was refused, and where that is seen first."""

    place: str
    times: int = 0


@dataclass
class Fences:
    """The brokers of a stream, and what is asked of them."""

    lives: Lives
    answers: Answers
    brokers: dict[int, Broker] = field(default_factory=dict)
    refusals: dict[tuple[int, str, int, bool], Refusals] = field(default_factory=dict)
    """What was refused: by which broker, which epoch, of which controller, and whether it was as high as known."""

    def _of(self, broker: int) -> Broker:
        return self.brokers.setdefault(broker, Broker())

    def obeys(self, run: Run, first: str, last: str) -> None:
        """A broker has obeyed a controller in its epoch."""
        broker = self._of(run.who)
        before, begun = broker.obeyed, ms(run.first_time)
        self.answers.holds(OLDER, run.lines)
        if before is not None and run.epoch < before.epoch:
            self._obeys_older(run, broker, before, first)
        else:
            self._ask_who_came_back(run, broker, begun)
        broker.obeyed = Obeyed(run.epoch, run.controller, ms(run.last_time), last)

    def _obeys_older(self, run: Run, broker: Broker, before: Obeyed, first: str) -> None:
        lived_on = self.lives.is_one(run.who, before.time, ms(run.first_time))
        if lived_on:
            self._break(run, before, first)
        elif lived_on is None:
            broker.fell = before, run, first

    def _ask_who_came_back(self, run: Run, broker: Broker, begun: int) -> None:
        """Whether the newer epoch is obeyed again at once, so that its broker did not start in between."""
        if broker.fell is None:
            return
        before, older, place = broker.fell
        if run.epoch == older.epoch:
            return
        broker.fell = None
        if run.epoch == before.epoch and abs(begun - before.time) <= BLIP:
            self._break(older, before, place)
        else:
            self.answers.note(
                f"broker {run.who} obeyed an older epoch than before; no log tells whether it was started in between"
            )

    def _break(self, run: Run, before: Obeyed, place: str) -> None:
        text = (
            f"broker {run.who} obeyed controller {run.controller} in epoch {run.epoch}, although it had obeyed"
            f" controller {before.controller} in epoch {before.epoch} ({before.place})"
        )
        self.answers.breaks_it(OLDER, place, run.first_time, text, times=0)

    def arrives(self, one: Arrived) -> None:
        """An UpdateMetadata has arrived."""
        self._of(one.broker).hears(one.request)

    def receives(self, one: Received) -> None:
        """A partition of a request has arrived."""
        broker = self._of(one.broker)
        broker.hears(one.request)
        requests = broker.requests
        if one.request not in requests:
            while len(requests) >= MOST_REQUESTS:
                requests.popitem(last=False)
            requests[one.request] = {}
        requests[one.request][one.partition] = one.leader_epoch

    def accepts(self, one: Accepted, place: str) -> None:
        """A partition of a request has passed the fences."""
        broker = self._of(one.broker)
        epoch = broker.requests.get(one.request, {}).pop(one.partition, NO_EPOCH)
        if epoch == NO_EPOCH:
            broker.stored.pop(one.partition, None)
            return
        now, before = ms(one.time), broker.stored.get(one.partition)
        lived_on = before is not None and self.lives.is_one(one.broker, before.time, now)
        if before is None or epoch > before.epoch:
            self.answers.holds(HIGHER)
        elif lived_on:
            self._stores_no_higher(one, epoch, before, place, is_sure=before.sequence == broker.sequence)
        broker.stored[one.partition] = Stored(epoch, now, place, broker.sequence)

    def _stores_no_higher(self, one: Accepted, epoch: int, before: Stored, place: str, *, is_sure: bool) -> None:
        if not is_sure and abs(ms(one.time) - before.time) > TOO_FAST:
            self.answers.note(
                f"broker {one.broker} obeyed a leader epoch that is not higher than before; lines may be missing in"
                " between, of a start or of a replica that was stopped"
            )
            return
        text = (
            f"broker {one.broker} obeyed leader epoch {epoch} of {one.partition} from controller {one.request[0]},"
            f" although it had stored {before.epoch} ({before.place})"
        )
        self.answers.breaks_it(HIGHER, place, one.time, text)

    def forgets(self, one: Forgotten) -> None:
        """What was stored may be gone, or was not stored."""
        stored = self._of(one.broker).stored
        if one.partition is None:
            stored.clear()
        else:
            stored.pop(one.partition, None)

    def refuses(self, one: Refused, place: str) -> None:
        """A broker has refused a request, or a partition of it."""
        claim = REFUSED if one.of == "controller" else KNOWN
        is_rightly = one.epoch < one.known if one.of == "controller" else one.epoch <= one.known
        if is_rightly:
            self.answers.holds(claim)
        else:
            text = f"broker {one.broker} refused {one.of} epoch {one.epoch}, and knew {one.known}"
            self.answers.breaks_it(claim, place, one.time, text)
        key = (one.broker, one.of, one.controller, one.epoch == one.known)
        self.refusals.setdefault(key, Refusals(place)).times += 1
