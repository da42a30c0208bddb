"""Reading a recording: a folder in which a cluster's ZooKeeper transactions and logs were saved.

    zookeeper.jsonl             every transaction, in zxid order (reference/zookeeper/recording.py)      required
    broker-N/state-change.log   of every broker, at level TRACE, all its lives in one file               required
    members.json                the members, their roles, and the release that each claims
    sessions.json               which session was whose; without it, sessions are known by what they own
    broker-N/server.log         shows it, too, if sessions.json is not there; whether unclean leader election is on; and
                                which failed writes were a leader's
    broker-N/controller.log     what its controller read, and when
    actions.jsonl               what was done to the cluster, and when; without it, deaths are inferred

Every line is one of three things: an observation, which an explanation must account for; an act of the environment; or
a line that is passed over, for a reason that is in the tables (`writes.py`, `changes.py`, `lines.py`,
`reports.py`). Anything else is refused, with its file and line. Other files (zkclient.log ...) are not read.
"""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import inf
from pathlib import Path

from model_check.recordings.actions import ACTIONS, ActionLog, read_actions, read_acts
from model_check.recordings.agreement import disagreements
from model_check.recordings.changes import Changes
from model_check.recordings.cluster import cluster_of
from model_check.recordings.failed_isr_writes import with_their_leaders
from model_check.recordings.logs import BrokerLogs, read_logs, releases_of
from model_check.recordings.members import MEMBERS, members_of
from model_check.recordings.parts import parts_shown
from model_check.recordings.recording import Cluster, Observed, Recording, up_to
from model_check.recordings.seen import EpochWritten
from model_check.recordings.sessions import SESSIONS, Session, broker_of, in_use, sessions_by_ownership, sessions_of
from model_check.recordings.tracks import SKEW
from model_check.recordings.transactions import ZOOKEEPER, read_transactions
from spec.errors import BadInput
from spec.formats.kafka_types import KafkaVersion

STATE_CHANGE = "broker-*/state-change.log"
ROLLED = ("broker-*/state-change.log.[0-9]*", "broker-*/controller.log.[0-9]*")
FILES = (ZOOKEEPER, MEMBERS, SESSIONS, ACTIONS, "broker-*/*.log")


def read(folder: Path, release: KafkaVersion | None = None, chroot: str | None = None) -> Recording:
    """The recording in a folder; BadInput or MalformedInput names the file and line that is wrong.

    Its logs are read as those of the release that is given, except of members that say another; if none is given, they
    tell it themselves. So it is with the chroot of the cluster.
    """
    _refuse_files(folder)
    transactions = read_transactions(folder, chroot)
    sessions = in_use(sessions_of(folder, transactions), transactions)
    cluster = cluster_of(folder, transactions, sessions)
    passed_over: Counter[str] = Counter()
    changes, cut = Changes(cluster, sessions, passed_over).read(transactions)
    until = cut.time if cut else inf
    actions = read_actions(folder)
    acts = list(read_acts(actions or ActionLog(()), cluster, passed_over))
    members = members_of(folder)
    strangers = {broker for broker, one in (members or {}).items() if one.release is None}
    files = _logs(folder, cluster, strangers)
    _refuse_without_logs(folder, files.keys() | strangers, sessions_by_ownership(transactions).values())
    written = {broker: BrokerLogs.of(file) for broker, file in files.items()}
    releases = releases_of(written, members, release)
    logs = {broker: one.as_of(of_it) for broker, one in written.items() if (of_it := releases[broker])}
    told = read_logs(logs, cluster, changes, acts, passed_over, until)
    changes = with_their_leaders(changes, transactions, sessions, cluster, folder, told.ahead)
    tracks: dict[str, tuple[Observed, ...]] = {"zookeeper": tuple(changes), "environment": tuple(acts), **told.tracks}
    found = (*told.contradictions, *disagreements(cluster, tracks, told.answers, releases))
    # So close to where a recording is cut, half of what goes together may lack.
    contradictions = [one for one in found if one.time < until - SKEW]
    epochs = [one.epoch for one in changes if isinstance(one, EpochWritten)]
    return Recording(
        folder=folder,
        cluster=replace(cluster, parts=cluster.parts | parts_shown(tracks, cluster)),
        tracks=up_to(tracks, until),
        passed_over=passed_over,
        controller_epochs=max(epochs, default=1) + 1,
        cut=cut,
        tells_acts=actions is not None,
        contradictions=tuple(sorted(contradictions, key=lambda one: one.time)),
        log_ends=told.ends,
        torn_ends=tuple(told.torn_ends),
        releases=releases,
    )


def _refuse_files(folder: Path) -> None:
    for one in (one for pattern in FILES for one in sorted(folder.glob(pattern)) if not one.is_file()):
        raise BadInput(f"{one} is no file; what a recording has of that name must be one")
    read_in_order = ROLLED if (folder / SESSIONS).exists() else (*ROLLED, "broker-*/server.log.[0-9]*")
    for one in (one for pattern in read_in_order for one in sorted(folder.glob(pattern))):
        raise BadInput(f"{one} was rolled over; put the pieces of that log together, in their order, in one file")


def _logs(folder: Path, cluster: Cluster, strangers: AbstractSet[int]) -> dict[int, Path]:
    """The state-change.log of each broker that has one, except those whose logs nobody knows."""
    every = {broker_of(log): log for log in sorted(folder.glob(STATE_CHANGE))}
    found = {broker: log for broker, log in every.items() if broker not in strangers}
    if not found and not strangers:
        raise BadInput(f"{folder} is no recording: it has no {STATE_CHANGE}")
    for broker, log in found.items():
        if broker not in cluster.broker_ids:
            raise BadInput(f"{log}: broker {broker} has no session in {ZOOKEEPER}")
    return found


def _refuse_without_logs(folder: Path, excused: AbstractSet[int], sessions: Iterable[Session]) -> None:
    """A broker that registered or was elected has a log, even an empty one; another may have died before it had one."""
    for broker in sorted({one.broker for one in sessions} - excused):
        log = folder / STATE_CHANGE.replace("*", str(broker))
        raise BadInput(f"{log} is missing: broker {broker} has sessions in {ZOOKEEPER}, and its log is required")
