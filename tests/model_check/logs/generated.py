"""Large logs: the reference in random runs with faults, one behind the other, as of one cluster that lives for weeks.

A run is that of a cluster of three brokers with every fix, so that nothing is broken in it. Each run begins with a new
start of all brokers, and its epochs go on from those of the run before; as runs take long to make, some are used again.
A fault is planted as what one line says instead, in the runs that are given, and known by file and line.

    python -m tests.model_check.logs.generated FOLDER MEGABYTES      writes them, and says what is planted
"""

import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from reference.memory.choices import Choice
from spec.logs.controller_log.failover import ControllerStarting
from spec.variants import FENCED
from tests.model_check.stand_ins import Play, a_scope

BROKERS: Final = 3
STEPS: Final = 4_000
SEEDS: Final = 6
EPOCHS: Final = re.compile(
    r"(?<=(?<!leader) epoch )\d+|(?<=ControllerEpoch:)\d+|(?<=controllerEpoch=)\d+|(?<=epoch to )\d+"
    r"|(?<=controller epoch is )\d+"
)
"""Controller epochs in lines; leader epochs are others."""
SENT_BY: Final = re.compile(r" sent by controller (\d+) epoch (\d+)")
LOGS: Final = ("controller.log", "state-change.log")

Log = tuple[int, str]
Planted = tuple[str, str]
"""A claim, and the file and line by which it is broken."""


class Logged(Play):
    """A play whose processes say, too, that they start, as real ones do."""

    def _take(self, choice: Choice) -> None:
        if choice.name.startswith("start_process("):
            b = dict(choice.parameters)["b"]
            self._write(b, "controller.log", ControllerStarting(controller=b))
        super()._take(choice)


@cache
def made(seed: int, steps: int) -> tuple[dict[Log, tuple[str, ...]], int]:
    """The lines of each log of a random run, and the highest epoch in them."""
    choose = random.Random(seed)
    play = Logged(a_scope(BROKERS, ((1, 2, 3), (2, 3, 1), (3, 1, 2), (2, 1, 3)), topic_of=(0, 0, 1, 2)), FENCED)
    play.start(topics=3)
    for _ in range(steps):
        possible = list(play.possible().values())
        faults = [one for one in possible if one.is_fault and not one.name.startswith("create_topic")]
        going = [one for one in possible if not one.is_fault]
        chosen = faults if faults and (not going or choose.random() < 0.02) else going
        if not chosen:
            break
        play.do(choose.choice(chosen).name)
    names = [(b, name) for b in range(1, BROKERS + 1) for name in LOGS]
    logs = {log: tuple(f"{entry}\n" for entry in play.logs.get(log, ())) for log in names}
    epochs = [int(one) for lines in logs.values() for line in lines for one in EPOCHS.findall(line)]
    return logs, max(epochs)


def shifted(lines: Sequence[str], day: int, epochs: int) -> list[str]:
    """The lines of a run as they are so many days later, when so many epochs have been."""
    date = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)).date().isoformat()
    text = EPOCHS.sub(lambda one: str(int(one[0]) + epochs), "".join(lines))
    return [f"[{date}{line[11:]}" for line in text.splitlines(keepends=True)]


def first_of(lines: Sequence[str], pattern: str, *, after: int = 0) -> tuple[int, re.Match[str]]:
    """The first line from one on that has a pattern."""
    found = ((number, re.search(pattern, line)) for number, line in enumerate(lines) if number >= after)
    return next((number, one) for number, one in found if one)


Lines = dict[Log, list[str]]
Fault = Callable[[Lines], tuple[str, Log, int]]
"""It changes a run, and says which claims that breaks, in which log, and at which of the run's lines."""


def no_such_row(logs: Lines) -> tuple[str, Log, int]:
    """A replica goes where no row leads."""
    log = max(logs, key=lambda one: "".join(logs[one]).count(" changed state of replica "))
    at, _ = first_of(logs[log], " changed state of replica ")
    logs[log][at] = re.sub(r"from \w+ to \w+", "from NewReplica to ReplicaDeletionSuccessful", logs[log][at])
    return "transitions_are_rows", log, at


def epoch_back(logs: Lines) -> tuple[str, Log, int]:
    """A controller prints an older epoch amid the lines of its own."""
    for log, lines in logs.items():
        for at in range(2, len(lines) - 2):
            who = [re.search(r"TRACE (Controller \d+ epoch (\d+)) changed", line) for line in lines[at - 1 : at + 2]]
            if all(who) and len({one[1] for one in who if one}) == 1 and who[1]:
                older = int(who[1][2]) - 1
                lines[at] = lines[at].replace(f"epoch {who[1][2]} changed", f"epoch {older} changed")
                return "epochs_never_go_back", log, at
    raise LookupError("no controller writes three lines")


def failed_increment(logs: Lines) -> tuple[str, Log, int]:
    """A controller goes on with the epoch that it has read (D1)."""
    for log, lines in logs.items():
        if any(" is ready to serve as the new controller " in line for line in lines):
            at, found = first_of(lines, r"is ready to serve as the new controller with epoch (\d+)")
            who, logger = f"{lines[at][:26]}INFO [Controller {log[0]}]: ", "(kafka.controller.KafkaController)\n"
            lines[at:at] = [
                f"{who}Initialized controller epoch to {found[1]} and zk version 1 {logger}",
                f"{who}Controller {log[0]} incremented epoch to {found[1]} {logger}",
            ]
            return "one_term_acts_in_an_epoch", log, at + 1
    raise LookupError("there is no controller")


def obeyed_twice(logs: Lines) -> tuple[str, Log, int]:
    """A broker obeys a leader epoch once more, right away."""
    log = (2, "state-change.log")
    pattern = r"handling LeaderAndIsr request correlationId (\d+) (from .* epoch \d+) .* for partition (\S+) "
    at, found = first_of(logs[log], pattern)
    topic, _, number = found[3].rpartition("-")
    request = f"correlation id {found[1]} {found[2]}"
    named = rf"received LeaderAndIsr request .* {request} for partition \[{topic},{number}\]"
    received, _ = first_of(logs[log], named)
    logs[log][at + 1 : at + 1] = [logs[log][received], logs[log][at]]
    return "brokers_accept_only_higher_leader_epochs", log, at + 2


def older_obeyed(logs: Lines) -> tuple[str, Log, int]:
    """A broker obeys an older controller than it has obeyed before, in one life."""
    log = (3, "state-change.log")
    at, found = first_of(logs[log], r"cached leader info .* sent by controller (\d+) epoch (\d+)")
    old = logs[log][at].replace(f"epoch {found[2]} with", f"epoch {int(found[2]) - 1} with")
    logs[log].insert(at + 1, old)
    return "brokers_obey_no_older_epoch", log, at + 1


def zombie(logs: Lines) -> tuple[str, Log, int]:
    """A controller begins to write a state after its own broker has obeyed another, of a later epoch."""
    for (b, name), lines in logs.items():
        own = 0
        for at, line in enumerate(lines if name == "state-change.log" else ()):
            acts, later = re.search(rf" Controller {b} epoch (\d+) ", line), re.search(SENT_BY, line)
            own = int(acts[1]) if acts else own
            if own and later and int(later[2]) > own and int(later[1]) != b:
                who, logger = f"{line[:26]}TRACE Controller {b} epoch {own}", "(state.change.logger)\n"
                online = "from OnlinePartition to OnlinePartition with leader 1"
                begins = f"{who} started leader election for partition [a,0] {logger}"
                lines[at + 1 : at + 1] = [begins, f"{who} changed partition [a,0] {online} {logger}"]
                return "only_the_latest_term_writes", (b, name), at + 1
    raise LookupError("no controller has a successor that its broker obeys")


def another_controller(logs: Lines) -> tuple[str, Log, int]:
    """A broker acts in the epoch of the controller that it obeys."""
    log = (3, "state-change.log")
    at, found = first_of(logs[log], r"cached leader info .* sent by controller [12] epoch (\d+)")
    line = f"TRACE Controller 3 epoch {found[1]} changed state of replica 1 for partition [a,0] from OnlineReplica to"
    logs[log].insert(at + 1, f"{logs[log][at][:26]}{line} OnlineReplica (state.change.logger)\n")
    return "one_term_acts_in_an_epoch one_controller_acts_in_an_epoch", log, at + 1


FAULTS: Final[Sequence[Fault]] = (
    no_such_row, epoch_back, failed_increment, obeyed_twice, older_obeyed, zombie, another_controller,
)  # fmt: skip


@dataclass
class Grown:
    """Logs in a folder, what is planted in them, and how many elections fail in them."""

    folder: Path
    planted: set[Planted] = field(default_factory=set)
    failed_elections: int = 0
    size: int = 0
    lines: dict[Log, int] = field(default_factory=dict)


def grow(folder: Path, size: int, faults: Sequence[Fault] = FAULTS, seeds: int = SEEDS, steps: int = STEPS) -> Grown:
    """Logs of at least so many bytes, with each fault planted in a run of its own; in other runs nothing is broken."""
    grown = Grown(folder)
    waiting = list(faults)
    day = epochs = 0
    while grown.size < size or waiting:
        lines, highest = made(day % seeds, steps)
        run: Lines = {log: shifted(some, day, epochs) for log, some in lines.items()}
        if day % 2 and waiting:
            claim, (b, name), at = waiting.pop()(run)
            place = f"{folder.name}/broker-{b}/{name}:{grown.lines.get((b, name), 0) + at + 1}"
            grown.planted |= {(one, place) for one in claim.split()}
        _append(grown, run)
        day, epochs = day + 1, epochs + highest
    return grown


def _append(grown: Grown, run: Lines) -> None:
    for (b, name), lines in run.items():
        file = grown.folder / f"broker-{b}" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(lines)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(text)
        grown.size += len(text)
        grown.lines[b, name] = grown.lines.get((b, name), 0) + len(lines)
        grown.failed_elections += len(re.findall(r"state change for partition .* to OnlinePartition failed", text))


if __name__ == "__main__":
    made_up = grow(Path(sys.argv[1]), int(sys.argv[2]) << 20)
    counted = f"{made_up.size:,} bytes, {sum(made_up.lines.values()):,} lines"
    planted = [" ".join(one) for one in sorted(made_up.planted)]
    sys.stdout.write("\n".join([counted, f"{made_up.failed_elections:,} elections fail", *planted, ""]))
