"""What a line says that a question is asked of, whichever release printed it.

Facts are small, for there are millions of them: a worker reads them, and whoever folds a stream sees them in order.
Transitions that a table has are only counted where they are read.
"""

from typing import NamedTuple


class Run(NamedTuple):
    """Lines of one role in one epoch, as far as nobody names another epoch, with the first and the last of them.

    `role` is "controller" (it wrote them) or "broker" (it obeyed that controller), `who` the process; `creates` says
    that the first line is of nothing that was there before. It stands among the facts where its first line does.
    """

    role: str
    who: int
    controller: int
    epoch: int
    first: int
    first_time: str
    last: int
    last_time: str
    lines: int
    creates: bool


class Begun(NamedTuple):
    """A controller is about to write a partition's state znode: it has not done so yet."""

    number: int
    time: str
    controller: int
    epoch: int
    partition: str


class Illegal(NamedTuple):
    """A transition that its table does not have."""

    number: int
    time: str
    controller: int
    epoch: int
    subject: str
    source: str
    target: str


class Election(NamedTuple):
    """A partition has come online, so its state znode is written; or it did not, and then why."""

    number: int
    time: str
    controller: int
    epoch: int
    partition: str
    cause: str


class Arrived(NamedTuple):
    """An UpdateMetadata, by controller, epoch and correlation id; however many partitions it has."""

    broker: int
    request: tuple[int, int, int]


class Received(NamedTuple):
    """A partition of a LeaderAndIsr, before any check; the leader epoch is -1 where it is not printed."""

    broker: int
    request: tuple[int, int, int]
    partition: str
    leader_epoch: int


class Accepted(NamedTuple):
    """A partition of a LeaderAndIsr has passed all fences."""

    number: int
    time: str
    broker: int
    request: tuple[int, int, int]
    partition: str


class Forgotten(NamedTuple):
    """What a broker has stored of a partition may be gone or not be what it accepted: None stands for all of them."""

    broker: int
    partition: str | None


class Refused(NamedTuple):
    """A request, or a partition of one, that a broker refused for an epoch: the one given, and the one known."""

    number: int
    time: str
    broker: int
    controller: int
    of: str
    epoch: int
    known: int


class EpochRead(NamedTuple):
    """A new controller has read the epoch that was there, and how often its znode was written."""

    number: int
    time: str
    controller: int
    epoch: int
    version: int


class EpochRaised(NamedTuple):
    """A controller says that it has raised the epoch."""

    number: int
    time: str
    controller: int
    epoch: int


class Resigned(NamedTuple):
    """A controller has given its office up."""

    number: int
    time: str
    controller: int


class Stale(NamedTuple):
    """A leader could not write its ISR: its zkVersion is not the znode's."""

    number: int
    time: str
    broker: int
    partition: str
    version: int


Fact = (
    Run | Begun | Illegal | Election | Arrived | Received | Accepted | Forgotten | Refused
    | EpochRead | EpochRaised | Resigned | Stale
)  # fmt: skip
