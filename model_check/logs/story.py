"""A cluster's logs as a story: which controller had which epoch when, which brokers obeyed, which resigned, and where a
claim is broken.

It is made for reports, which draw a lane for each controller and broker. Its steps are in the order of their times, as
the logs have them, so between brokers no more than their clocks tell. Of a long one the last steps are kept.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from model_check.logs.answers import ONE_TERM
from model_check.logs.clusters import Cluster
from model_check.logs.terms import Term
from model_check.verdicts.results import Event, Step, Story

MOST: Final = 1_000
"""Steps that are kept."""
WHO: Final = re.compile(r"(controller|broker) \d+")


class Moment(NamedTuple):
    """What happens: when, in which log and line, the actor and its act, and which claim that breaks."""

    time: str
    place: str
    who: str
    what: str
    changes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    breaks: tuple[str, ...] = ()


def story_of(cluster: Cluster) -> Story:
    """The story of a cluster's logs; the action of a step is its time, and the source its file and line."""
    moments = sorted([*_terms(cluster), *_obedience(cluster), *_breaks(cluster)], key=lambda one: one.time)
    steps = tuple(_step(number, one) for number, one in enumerate(moments, 1))
    return Story(len(steps), steps[-MOST:])


def _step(number: int, one: Moment) -> Step:
    return Step(number, one.time, one.who, one.what, one.place, one.events, changes=one.changes, breaks=one.breaks)


def _terms(cluster: Cluster) -> Iterator[Moment]:
    """Each term from its first line to its last, or until its controller resigns."""
    failed = {one.place for one in cluster.answers.breaks.get(ONE_TERM, ())}
    for one in cluster.terms:
        who, variable = f"controller {one.controller}", f"controllers[{one.controller}]"
        begins = (f"{variable}.active: no -> yes", f"{variable}.epoch: ? -> {one.epoch}")
        yield Moment(one.first_time, one.first, who, _begin(one), begins, _raise(who, one, failed))
        end = f"resigns, in epoch {one.epoch}" if one.resigned else f"is named in epoch {one.epoch} for the last time"
        yield Moment(one.last_time, one.last, who, end, (f"{variable}.active: yes -> no",))


def _begin(term: Term) -> str:
    return f"has epoch {term.epoch}" + ("" if term.is_told else ", as brokers say that obey it")


def _raise(who: str, term: Term, failed: Collection[str]) -> tuple[Event, ...]:
    """What its controller did to the epoch; one that goes on in the epoch that it has read has failed."""
    what = "fail to write /controller_epoch" if term.raised in failed else "write /controller_epoch"
    return (Event(who, what, {"epoch": str(term.epoch)}),) if term.raised else ()


def _obedience(cluster: Cluster) -> Iterator[Moment]:
    """When a broker first obeys somebody else's epoch, in a log that it alone writes."""
    for log in cluster.logs:
        brokers = [*log.fences.brokers]
        for term in log.terms.all.values() if len(brokers) == 1 else ():
            if not term.is_told:
                what = f"obeys controller {term.controller} in epoch {term.epoch}"
                yield Moment(term.first_time, term.first, f"broker {brokers[0]}", what)


def _breaks(cluster: Cluster) -> Iterator[Moment]:
    for claim, breaks in cluster.answers.breaks.items():
        for one in breaks:
            who = WHO.match(one.text)
            what = one.text[who.end() :].strip() if who else one.text
            row = f"; as in the known defect {one.row}" if one.row else ""
            yield Moment(one.time, one.place, who[0] if who else "logs", f"{what}{row}", breaks=(claim,))
