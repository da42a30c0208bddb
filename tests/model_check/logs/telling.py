"""Logs made up for tests, line by line, and what is judged of them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from model_check.logs.judging import judge_logs
from model_check.verdicts.results import Finding, Run
from model_check.verdicts.verdict import Verdict

BEGIN = datetime(2016, 9, 21, 13, 5, tzinfo=UTC)
CHANGES, REPORTS, SERVER = "state-change.log", "controller.log", "server.log"
LOGGERS = {
    CHANGES: "state.change.logger",
    REPORTS: "kafka.controller.KafkaController",
    SERVER: "kafka.server.KafkaServer",
}

ACTS = "Controller {} epoch {} changed state of replica 1 for partition [t,0] from OnlineReplica to OnlineReplica"


def stamped(message: str, seconds: float, logger: str = LOGGERS[CHANGES], level: str = "TRACE") -> str:
    """A line of a log, so many seconds after the beginning."""
    time = BEGIN + timedelta(seconds=seconds)
    return f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}] {level} {message} ({logger})\n"


def log(name: str, messages: Iterable[str], *, since: float = 0, step: float = 1) -> str:
    """The text of a log: its messages, some seconds apart; what is a whole line stays as it is."""
    return "".join(
        one if one.endswith("\n") else stamped(one, since + step * number, LOGGERS[name])
        for number, one in enumerate(messages)
    )


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def judged(folder: Path, **files: str) -> Run:
    """The one run that comes of files: `changes`, `reports` and `server` are those of a single broker's folder."""
    names = {"changes": CHANGES, "reports": REPORTS, "server": SERVER}
    (run,) = judge_logs([written(folder, {names.get(name, name): text for name, text in files.items()})])
    return run


def broken(run: Run) -> list[Finding]:
    """The findings that are violated."""
    return [one for one in run.findings if one.verdict is Verdict.VIOLATED]


def told(run: Run, claim: str) -> Iterator[str]:
    """The breaks of a claim, as they are told."""
    notes = iter(run.notes)
    if any(one.startswith(f"{claim}: ") for one in notes):
        for one in notes:
            if not one.startswith("  "):
                return
            yield one.strip()


def breaks(run: Run) -> dict[str, list[str]]:
    """The claims that are broken, each with where: the file's name and the line."""
    found = {one.property: list(told(run, one.property)) for one in broken(run)}
    return {claim: [":".join(one.split(":")[:2]).rpartition("/")[2] for one in some] for claim, some in found.items()}


def starting(broker: int, seconds: float = -10) -> str:
    """The line with which a broker's process begins its controller.log."""
    return stamped(f"[Controller {broker}]: Controller starting up", seconds, LOGGERS[REPORTS], "INFO")


def election(controller: int, epoch: int, partition: str = "[t,0]", leader: int = 1) -> list[str]:
    """What a controller says of a preferred election."""
    who = f"Controller {controller} epoch {epoch}"
    return [
        f"{who} started leader election for partition {partition}",
        f"{who} elected leader {leader} for Offline partition {partition}",
        f"{who} changed partition {partition} from OnlinePartition to OnlinePartition with leader {leader}",
    ]


def obedience(
    broker: int, controller: int, epoch: int, leader_epoch: int, request: int = 1, partition: str = "t"
) -> list[str]:
    """What a broker says of a LeaderAndIsr that it obeys."""
    context = f"from controller {controller} epoch {epoch}"
    state = f"(Leader:1,ISR:1,2,LeaderEpoch:{leader_epoch},ControllerEpoch:{epoch})"
    info = f"(LeaderAndIsrInfo:{state},ReplicationFactor:2),AllReplicas:1,2)"
    received = f"Broker {broker} received LeaderAndIsr request {info} correlation id {request} {context}"
    handling = f"Broker {broker} handling LeaderAndIsr request correlationId {request} {context} starting the"
    return [
        f"{received} for partition [{partition},0]",
        f"{handling} become-follower transition for partition {partition}-0",
    ]
