"""A cluster's logs as a run of a result document: each claim with what became of it, and what else is worth knowing.

A claim that was asked nothing is named as not asked. A run of which nothing was read, or of which nothing could be
asked, is INCOMPLETE; and so is one of whose lines most are of no form that is known.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from model_check.logs.answers import CLAIMS, MOST, Answers
from model_check.logs.clusters import Cluster
from model_check.logs.files import LeftOut
from model_check.logs.heads import FOREIGN, TORN
from model_check.logs.lives import ms
from model_check.logs.questions import question
from model_check.logs.reading import OTHER, QUIET, READ, UNKNOWN
from model_check.logs.story import story_of
from model_check.logs.terms import Successors, Term
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import CLAIMS as ENGINE
from model_check.verdicts.results import Finding, Run
from model_check.verdicts.verdict import NONE_ASKED, Verdict

SHOWN: Final = 5
"""Breaks of one claim that are reported in full."""
MOST_TERMS: Final = 30
"""Terms in a table that is printed; a document that is kept has all."""
NOTHING_OF_IT: Final = "no line tells of it"
NOTHING_READ: Final = "no line of a controller or a broker was read"
MOSTLY_UNKNOWN: Final = "most lines are of no form that is known"


def run_of(cluster: Cluster, name: str, *, whole: bool, left_out: Sequence[LeftOut] = (), interrupted: str = "") -> Run:
    """What a cluster's logs tell; `whole` where nothing may be shortened."""
    answers = cluster.answers
    findings = tuple(_finding(claim, answers) for claim in CLAIMS if answers.asked[claim] > 0)
    is_broken = bool(answers.broken.total())
    reason = interrupted or ("" if is_broken else _unsure(cluster, findings))
    return Run(
        engine=ENGINE,
        scope=name,
        variant="",
        verdict=Verdict.VIOLATED if is_broken else Verdict.INCOMPLETE if reason else Verdict.HOLDS,
        reason=reason,
        findings=findings,
        story=story_of(cluster) if whole else None,
        not_asked=tuple(f"{claim} ({NOTHING_OF_IT})" for claim in CLAIMS if answers.asked[claim] <= 0),
        notes=(
            *_breaks(answers, whole=whole),
            *_what_was_read(cluster, left_out),
            *_terms(cluster, whole=whole),
            *_failed_elections(cluster, whole=whole),
            *_refusals(cluster, whole=whole),
            *_refused_moves(cluster),
            *(f"{text}{f' ({times:,} times)' if times > 1 else ''}" for text, times in answers.notes.items()),
        ),
    )


def _unsure(cluster: Cluster, findings: Sequence[Finding]) -> str:
    """Why what holds says too little."""
    known, odd = (
        sum(log.counts[kind] for log in cluster.logs for kind in kinds)
        for kinds in ((READ, QUIET), (UNKNOWN, TORN, FOREIGN))
    )
    if not known:
        return NOTHING_READ
    if odd > known:
        return MOSTLY_UNKNOWN
    return "" if findings else NONE_ASKED


def _finding(claim: str, answers: Answers) -> Finding:
    asked, broken, said = answers.asked[claim], answers.broken[claim], question(claim)
    reason = "asked once" if asked == 1 else f"asked {asked:,} times"
    if broken:
        breaks = answers.breaks[claim]
        rows = ", ".join(sorted({one.row for one in breaks if one.row}))
        reason = f"broken {broken:,} of {asked:,} times, first at {breaks[0].place}{f'; as in {rows}' if rows else ''}"
    verdict = Verdict.VIOLATED if broken else Verdict.HOLDS
    return Finding(claim, said.kind, said.statement, said.source, verdict, reason)


def _breaks(answers: Answers, *, whole: bool) -> Iterator[str]:
    """The breaks of each claim, under its sentence."""
    for claim in CLAIMS:
        breaks = answers.breaks.get(claim, [])
        if not breaks:
            continue
        yield f"{claim}: {question(claim).statement}"
        shown = breaks[: MOST if whole else SHOWN]
        for one in shown:
            yield f"  {one.place}: {one.text}" + (f" (as in the known defect {one.row})" if one.row else "")
        if answers.broken[claim] > len(shown):
            yield f"  and {answers.broken[claim] - len(shown):,} more"


def _what_was_read(cluster: Cluster, left_out: Sequence[LeftOut]) -> Iterator[str]:
    """How many lines of which kind there are, and some of those that are odd."""
    files = sum(len(log.stream.files) for log in cluster.logs)
    totals = {kind: sum(log.counts[kind] for log in cluster.logs) for kind in (READ, QUIET, OTHER)}
    told = ", ".join(f"{count:,} {kind}" for kind, count in totals.items() if count)
    yield f"{counted(files, 'file')}: {told or 'no line of Kafka'}"
    for kind in (UNKNOWN, TORN, FOREIGN):
        count = sum(log.counts[kind] for log in cluster.logs)
        if count:
            yield f"{counted(count, 'line')} {'are' if count > 1 else 'is'} {kind}:"
            samples = [sample for log in cluster.logs for sample in log.samples.get(kind, [])]
            yield from (f"  {sample}" for sample in samples[:3])
    for told, some in (
        ("not read", [str(one) for one in left_out if one.why]),
        ("no logs in question, and not read", [one.name for one in left_out if not one.why]),
    ):
        if some:
            yield f"{told}: {', '.join(some[:6])}{f', and {len(some) - 6:,} more' if len(some) > 6 else ''}"


def _terms(cluster: Cluster, *, whole: bool) -> Iterator[str]:
    """The terms of the controllers as a table."""
    terms = cluster.terms if whole else cluster.terms[-MOST_TERMS:]
    if not terms:
        return
    hidden = len(cluster.terms) - len(terms)
    yield "terms of controllers" + (
        f", the last {len(terms)} of {len(cluster.terms)} (--json has all)" if hidden else ""
    )
    rows: list[Sequence[str]] = [("epoch", "controller", "from", "to", "lines", "decisions", "end")]
    after = Successors(cluster.terms)
    rows += [_row(one, after.of(one)) for one in terms]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if cluster.is_wiped:
        yield "  epochs begin anew in between: ZooKeeper was set up anew, or lines are missing"


def _row(term: Term, successor: Term | None) -> Sequence[str]:
    late = 0 if successor is None else ms(term.last_time) - ms(successor.first_time)
    end = "resigned" if term.resigned else ""
    if late > 0:
        end = f"{end}{', ' if end else ''}{late:,} ms after the next began"
    if not term.is_told:
        end = "known from brokers only"
    return (
        str(term.epoch), str(term.controller), term.first_time, term.last_time,
        f"{term.lines:,}", f"{term.decisions:,}", end,
    )  # fmt: skip


def _failed_elections(cluster: Cluster, *, whole: bool) -> Iterator[str]:
    """Why elections failed, and which partitions were left without a leader."""
    found = [one for log in cluster.logs for one in log.partitions.failures.values()]
    if not found:
        return
    yield f"{counted(sum(one.times for one in found), 'election')} failed:"
    found.sort(key=lambda one: -one.times)
    for one in found if whole else found[:SHOWN]:
        yield f"  {one.times:,} times, from {one.first} to {one.last}: {one.example}"
    left = sorted({partition for log in cluster.logs for partition in log.partitions.leaderless})
    if left:
        names = ", ".join(left[:6]) + (", .." if len(left) > 6 else "")
        yield f"  and nothing was elected since for {counted(len(left), 'partition')}: {names}"


def _refusals(cluster: Cluster, *, whole: bool) -> Iterator[str]:
    """What fences refused: an older epoch shows that somebody was late, an equal one is normal after a failover."""
    found = [(key, told) for log in cluster.logs for key, told in log.fences.refusals.items()]
    equal = [(broker, told) for (broker, _, _, is_equal), told in found if is_equal]
    if equal:
        brokers = ", ".join(map(str, sorted({broker for broker, _ in equal})))
        times = sum(told.times for _, told in equal)
        told = f"{times:,}, by broker {brokers}; first at {equal[0][1].place}"
        yield f"equal leader epochs refused, as after a failover: {told}"
    older = [(key, told) for key, told in found if not key[3]]
    for (broker, of, controller, _), one in older if whole else older[: 2 * SHOWN]:
        whose = f" of controller {controller}" if controller >= 0 else ""
        yield f"older {of} epochs{whose} refused by broker {broker}: {one.times:,}, first at {one.place}"
    if not whole and len(older) > 2 * SHOWN:
        yield f"  and of {len(older) - 2 * SHOWN:,} more (--json has all)"


def _refused_moves(cluster: Cluster) -> Iterator[str]:
    """Transitions that the state machines refused, as they must: there is no row, or what it does failed."""
    moves = {
        move: sum(log.refused_moves[move] for log in cluster.logs) for log in cluster.logs for move in log.refused_moves
    }
    yield from (f"state machines did not go from {move}: {times:,} times" for move, times in sorted(moves.items()))
