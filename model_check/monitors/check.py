"""A recording checked: each claim that can be asked of it is, and what came of it is a run of a result document.

    run = check_history(Path("recording"), excused=frozenset({"D1"}))

A break that is the signature of a known defect names its row. A member whose rows are excused has the defect by the
release that it claims to be: then the break is reported, and is no violation. What could not be asked is named with the
reason.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final

from model_check.monitors import (
    caches,
    controllers,
    deletion,
    departures,
    fences,
    isr_changes,
    leadership,
    named_brokers,
    reassignment,
    requests,
    rest,
)
from model_check.monitors.acts import admin_sessions, read_acts
from model_check.monitors.arrivals import Arrivals
from model_check.monitors.claims import Break, Monitored, monitored_in
from model_check.monitors.controllers import decides
from model_check.monitors.history import History
from model_check.monitors.logged_arrivals import received_by_log
from model_check.monitors.occasions import OCCASIONS
from model_check.monitors.wire_arrivals import received_frames
from model_check.monitors.wire_clocks import by_zookeepers_clock
from model_check.monitors.writes import history_of
from model_check.recordings.cluster import deletes_topics, is_unclean_by_default
from model_check.recordings.members import Member, members_of
from model_check.recordings.reading import read
from model_check.recordings.recording import Recording
from model_check.recordings.sessions import SESSIONS, Session, sessions_of
from model_check.recordings.transactions import read_log
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Finding, Run, is_break
from model_check.verdicts.verdict import NONE_ASKED, NOT_ALL_ASKED, Verdict
from reference.zookeeper.transactions import hex_of
from spec.errors import BadInput
from spec.formats import znode_paths as paths

ENGINE: Final = "claims"
NOTHING_OF_IT: Final = "nothing of it happened"
"""Why a claim is not asked of a recording that has all it takes."""
IN_CHARGE: Final = rest.eventually_one_working_controller.name
"""The claim that is asked at every moment of rest."""
UNREADABLE: Final = leadership.znodes_can_be_read.name
"""The claim that a writer of what nobody can read breaks."""
NOTHING_AT_REST: Final = "at no moment of rest was anything asked"
"""Why claims that hold say too little of a cluster that was to come to rest."""
SHOWN: Final = 5
"""Breaks of one claim that are reported in full."""
AREAS: Final = (
    controllers, leadership, departures, reassignment, deletion, requests, named_brokers, fences, caches, rest,
    isr_changes,
)  # fmt: skip
CAUSES: Final = (leadership.znodes_can_be_read, requests.requests_can_be_read)
"""A process that cannot read something does not act on it, and breaks other claims: so these are reported first."""
CLAIMS: Final[tuple[Monitored, ...]] = (
    *CAUSES,
    *(claim for area in AREAS for claim in monitored_in(area) if claim not in CAUSES),
)

MONITORED: Final = frozenset(one.name for one in CLAIMS)
"""The names of the claims that need no search."""


def check_history(
    folder: Path,
    *,
    excused: frozenset[str] = frozenset(),
    known: Recording | None = None,
    chosen: Collection[str] = (),
    chroot: str | None = None,
) -> Run:
    """What became of the claims in a recording, of all or of the chosen ones; BadInput names what is no recording.

    What is `known` of it has been read already, for the search. Without a `chroot`, it is found by what is there.
    """
    started = perf_counter()
    history = read_history(folder, known, chroot)
    read_at = perf_counter()
    run = run_of(history, folder.name, excused, chosen)
    return replace(run, seconds={"reading": read_at - started, "asking": perf_counter() - read_at})


def read_history(folder: Path, known: Recording | None = None, chroot: str | None = None) -> History:
    """A recording as claims see it, with what is known of it already."""
    transactions, chroot = read_log(folder, chroot)
    sessions = sessions_of(folder, transactions)
    members = members_of(folder) or {}
    history = history_of(transactions, sessions, admin_sessions(folder))
    arrivals = arrivals_of(folder, sessions, members, known, chroot)
    by_broker = {
        broker: one if one.starts is None else by_zookeepers_clock(one, broker, history, transactions, sessions)
        for broker, one in arrivals.by_broker.items()
    }
    arrivals = replace(arrivals, by_broker=by_broker)
    moves = sorted([*(one.time_ms for one in transactions), *(one.ms for one in arrivals.all())])
    return replace(
        history,
        arrivals=arrivals,
        acts=read_acts(folder, moves),
        unclean_by_default=is_unclean_by_default(folder),
        deletes_topics=deletes_topics(folder),
        chroot=chroot,
        are_sessions_told=(folder / SESSIONS).exists(),
        no_candidates=frozenset(broker for broker, one in members.items() if not one.role.controls),
        controllers=frozenset(broker for broker, one in members.items() if not one.role.holds_replicas),
    )


def arrivals_of(
    folder: Path, sessions: Mapping[int, Session], members: Mapping[int, Member], known: Recording | None, chroot: str
) -> Arrivals:
    """What arrived at brokers: what they wrote down of the wire, or what their logs tell."""
    documented = {broker for broker, one in members.items() if one.release is not None}
    frames = received_frames(folder)
    received = {broker: replace(one, is_documented=broker in documented) for broker, one in frames.items()}
    seen = {one.broker for one in sessions.values()}
    hosts = {one for one in seen if one not in members or members[one].role.holds_replicas}
    others = sorted(hosts - received.keys())
    reason = "no broker wrote down what arrived at it"
    if others:
        try:
            received |= received_by_log(known or read(folder, chroot=chroot), others)
        except BadInput as error:
            reason = f"{reason}, and the logs do not tell: {error}"
    return Arrivals(received, reason)


def run_of(history: History, name: str, excused: frozenset[str], chosen: Collection[str] = ()) -> Run:
    """Claims asked of a history; INCOMPLETE where none is broken, and what holds says too little."""
    findings: list[Finding] = []
    notes: list[str] = []
    not_asked: list[str] = []
    for claim in (one for one in CLAIMS if not chosen or one.name in chosen):
        missing = claim.missing(history)
        answers = [] if missing else list(claim.ask(history))
        if not answers:
            not_asked.append(f"{claim.name} ({missing.what if missing else NOTHING_OF_IT})")
            continue
        breaks = [one for one in answers if one is not None]
        findings.append(_finding(claim, len(answers), breaks, excused, history))
        notes += _told(claim, breaks)
    is_broken = any(map(is_break, findings))
    unsure = (unknown_of(history) or (NOT_ALL_ASKED if chosen and not_asked else "")) if findings else NONE_ASKED
    reason = "" if is_broken else unsure
    return Run(
        engine=ENGINE,
        scope=name,
        variant="",
        verdict=Verdict.VIOLATED if is_broken else Verdict.INCOMPLETE if reason else Verdict.HOLDS,
        reason=reason,
        findings=tuple(findings),
        not_asked=tuple(not_asked),
        notes=(*notes, *_without_occasion(findings, history), *(() if chosen else _remarks(history))),
    )


def unknown_of(history: History) -> str:
    """Why nothing can be concluded from the claims that were asked, and hold; nothing, if it can.

    Whatever a cluster does, somebody registers or is elected; whatever decides about partitions is a controller; and
    where moments of rest were written down, it can be asked at one of them at least whether somebody is in charge.
    """
    if not history.of_kind(paths.BROKER, paths.CONTROLLER):
        return f"no broker registers and none is elected in it; {_passed_over(history) or 'it has no such znode'}"
    if not history.are_sessions_told and (strange := _strange(history)):
        return strange
    is_asked = any(True for _ in rest.eventually_one_working_controller.ask(history))
    return _nothing_at_rest(history) if history.acts.is_told and not is_asked else ""


def _strange(history: History) -> str:
    """A session that decides about partitions, and is of no known member."""
    for one in history.writes:
        if not one.author.is_members and decides(one):
            wrote = f"it wrote {one.name}, as only a controller does ({one.place}), and counts as an admin's"
            return f"session {hex_of(one.author.session)} is nobody's that is known: {wrote}"
    return ""


def _nothing_at_rest(history: History) -> str:
    """Why nothing could be asked at any moment of rest."""
    if history.epochs_end < len(history.writes):
        return f"{NOTHING_AT_REST}: /controller_epoch was changed by hand"
    return f"{NOTHING_AT_REST}: {history.acts.reason or 'at each a broker that was down was still registered'}"


def _passed_over(history: History) -> str:
    unknown = {one.name for one in history.writes if one.path is None}
    told = f"passed over are znodes of other parts than the controller's protocol: {len(unknown):,}"
    return told if unknown else ""


def _without_occasion(findings: Iterable[Finding], history: History) -> Iterator[str]:
    """What never happened, with the claims that hold, and are there for it."""
    held = {one.property for one in findings if one.verdict is Verdict.HOLDS}
    empty: dict[str, list[str]] = {}
    for claim, occasion in OCCASIONS.items():
        if claim.name in held and not occasion.count(history):
            empty.setdefault(occasion.what, []).append(claim.name)
    yield from (
        f"it never happened that {what}, for which these are: {', '.join(names)}" for what, names in empty.items()
    )


def _finding(
    claim: Monitored, asked: int, breaks: Sequence[Break], excused: frozenset[str], history: History
) -> Finding:
    is_known = bool(breaks) and all(one.row in excused for one in breaks)
    rows = ", ".join(sorted({one.row for one in breaks if one.row}))
    once, as_in = asked == 1, f"; as in {rows}" if rows else ""
    reason = "asked once" if once else f"asked {asked:,} times"
    if claim in OCCASIONS:
        reason = f"{reason}; {counted(OCCASIONS[claim].count(history), 'occasion')}: {OCCASIONS[claim].what}"
    if breaks:
        told = "broken the only time it was asked" if once else f"broken {len(breaks):,} of {asked:,} times"
        reason = f"{told}, first at {breaks[0].place}{as_in}"
    return Finding(
        property=claim.name,
        kind=claim.kind,
        statement=claim.statement,
        source=claim.source,
        verdict=Verdict.VIOLATED if breaks else Verdict.HOLDS,
        reason=reason,
        expected=str(Verdict.VIOLATED if is_known else Verdict.HOLDS) if breaks else "",
    )


def _told(claim: Monitored, breaks: Sequence[Break]) -> Iterator[str]:
    """The breaks of a claim, under its sentence."""
    if breaks:
        yield f"{claim.name}: {claim.statement}"
        yield from (f"  {one}" for one in breaks[:SHOWN])
    if len(breaks) > SHOWN:
        yield f"  and {len(breaks) - SHOWN:,} more"


def _remarks(history: History) -> Iterator[str]:
    """What is missing for some claims, and what was passed over."""
    yield from dict.fromkeys(str(one) for one in (claim.missing(history) for claim in CLAIMS) if one is not None)
    if history.chroot:
        yield f"the cluster is below {history.chroot}, which was taken off all paths"
    if told := _passed_over(history):
        yield told
    if history.epochs_end < len(history.writes):
        place = history.writes[history.epochs_end].place
        yield f"/controller_epoch was changed by hand ({place}): from there on nothing is asked that goes by epochs"
    if history.are_sessions_told and (strange := _strange(history)):
        yield strange
    for broker, one in sorted(history.arrivals.by_broker.items()):
        if one.unreadable:
            yield f"broker {broker}: not all that arrived could be read ({one.unreadable})"
        if one.ahead:
            off = f"{abs(one.ahead):,} ms {'ahead of' if one.ahead > 0 else 'behind'} ZooKeeper's"
            yield f"broker {broker}: its clock is {off}, which was taken off"
        if one.torn_ends:
            places = ", ".join(one.torn_ends)
            yield f"broker {broker}: what a killed process wrote last was torn, and cut off, at {places}"
