"""Logs put together: which files are one cluster's, and what only several of them tell.

Files are one cluster's if they are in one folder under Kafka's names, or are of the same days and name the same
topics. A log that names no topic goes with those beside it. So logs of two clusters, or of two times of one, may be put
together: where one broker writes two of them, only those are held against each other that are in one folder. Nor is
anything where the two have no controller and epoch in common.

Terms of several brokers' logs are put together by epoch. Clocks say which came first only as far as they can be
compared (`clocks.py`).
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product
from pathlib import Path
from typing import Final

from model_check.logs.answers import AT_ONCE, FORWARD, LATEST, ONE_TERM, Answers
from model_check.logs.clocks import Clocks, Host
from model_check.logs.lives import ms
from model_check.logs.one_stream import Judged
from model_check.logs.printing import printable
from model_check.logs.terms import PAUSE, Successors, Term

BOTH: Final = 2
"""Comparisons of clocks that are needed: one before, and one since."""
DAY: Final = 86_400_000
"""Logs that are further apart are of no one cluster, as far as they tell; clocks of time zones are less apart."""


def clusters_of(logs: Sequence[Judged]) -> list[list[Judged]]:
    """The logs of each cluster, in the order of the logs."""
    root = list(range(len(logs)))

    def found(number: int) -> int:
        while root[number] != number:
            number = root[number]
        return number

    for one, other in combinations(range(len(logs)), 2):
        if _belong(logs[one], logs[other]):
            root[max(found(one), found(other))] = min(found(one), found(other))
    together: dict[int, list[Judged]] = {}
    for number, log in enumerate(logs):
        together.setdefault(found(number), []).append(log)
    return list(together.values())


def _belong(one: Judged, other: Judged) -> bool:
    if one.stream.folder == other.stream.folder and one.stream.is_standard and other.stream.is_standard:
        return True
    if not _are_near(one, other):
        return False
    if one.topics and other.topics:
        return not one.topics.isdisjoint(other.topics)
    return bool({one.stream.folder, one.stream.folder.parent} & {other.stream.folder}) or (
        one.stream.folder.parent == other.stream.folder.parent and one.stream.is_standard and other.stream.is_standard
    )


def _are_near(one: Judged, other: Judged) -> bool:
    return bool(one.first_time and other.first_time) and _apart(one, other) <= DAY


def _apart(one: Judged, other: Judged) -> int:
    """Milliseconds from the end of the earlier log to the begin of the later one; less than 0 if they overlap."""
    return max(ms(one.first_time), ms(other.first_time)) - min(ms(one.last_time), ms(other.last_time))


@dataclass(frozen=True)
class Cluster:
    """The logs of a cluster, what came of all questions, and the terms of its controllers, by epoch."""

    logs: tuple[Judged, ...]
    answers: Answers
    terms: tuple[Term, ...]
    is_wiped: bool


def put_together(logs: Sequence[Judged]) -> Cluster:
    """A cluster of its logs."""
    answers = Answers()
    for log in logs:
        answers.add(log.answers)
    is_wiped = any(log.terms.ensemble for log in logs)
    hosts = defaultdict[Path, Host](Host)
    for log in logs:
        host = hosts[_place(log)]
        host.set_back = max(host.set_back, log.set_back)
        for key, term in log.terms.all.items():
            host.terms[key] = _joined([*filter(None, [host.terms.get(key)]), term])
    _ask_of_leaps(logs, answers)
    if not is_wiped:
        for group in _comparable(hosts, logs, answers):
            clocks = Clocks(group)
            _ask_of_epochs(group, clocks, answers)
            _ask_who_is_late(group, clocks, answers)
    elif len(hosts) > 1:
        answers.note("an ensemble was set up anew, so epochs of several logs were not held against each other")
    return Cluster(tuple(logs), answers, tuple(_table(hosts.values())), is_wiped)


def _place(log: Judged) -> Path:
    """Where a broker's logs are together, or a log by itself."""
    return log.stream.folder if log.stream.is_standard else log.stream.files[0].path


def _comparable(hosts: Mapping[Path, Host], logs: Sequence[Judged], answers: Answers) -> list[list[Host]]:
    """The hosts in groups, those together that are of one cluster at one time, so that no broker writes two of them."""
    writers: dict[Path, set[int]] = defaultdict(set)
    for log in logs:
        writers[_place(log)] |= log.writers
    groups = [list(hosts)]
    if twice := _writer_of_two(groups[0], writers):
        answers.note(f"{twice}, as if they were of several clusters: those of one folder were held against each other")
        groups = [[one for one in hosts if one.parent == parent] for parent in sorted({one.parent for one in hosts})]
    return [
        group
        for places in groups
        if not _writer_of_two(places, writers)
        for group in _connected([hosts[place] for place in places])
    ]


def _writer_of_two(places: Sequence[Path], writers: Mapping[Path, set[int]]) -> str:
    """A broker that writes the logs of two places; empty if none does."""
    for one, other in combinations(places, 2):
        for broker in sorted(writers[one] & writers[other]):
            first, second = (printable(f"{place.parent.name}/{place.name}") for place in (one, other))
            return f"broker {broker} writes logs in {first} and in {second}"
    return ""


def _connected(hosts: Sequence[Host]) -> list[list[Host]]:
    """The hosts in groups, those together that know of one controller in one epoch; at least two in each."""
    groups: list[list[Host]] = []
    for host in hosts:
        its = [group for group in groups if any(host.terms.keys() & other.terms.keys() for other in group)]
        groups = [group for group in groups if group not in its] + [[*chain(*its), host]]
    return [group for group in groups if len(group) > 1]


def _joined(terms: Sequence[Term]) -> Term:
    """One term that several logs tell of; those of its controller itself before those of brokers that obeyed it."""
    told = [one for one in terms if one.is_told] or list(terms)
    first, last = min(told, key=lambda one: one.first_time), max(told, key=lambda one: one.last_time)
    decided = max(told, key=lambda one: one.decided_time)
    return replace(
        first,
        last=last.last,
        last_time=last.last_time,
        lines=sum(one.lines for one in told),
        decisions=sum(one.decisions for one in told),
        decided=decided.decided,
        decided_time=decided.decided_time,
        raised=next((one.raised for one in told if one.raised), ""),
        resigned=next((one.resigned for one in told if one.resigned), ""),
        is_zombie=any(one.is_zombie for one in told),
        is_doubtful=any(one.is_doubtful for one in told),
    )


def _table(hosts: Iterable[Host]) -> list[Term]:
    together: dict[tuple[int, int, int], list[Term]] = defaultdict(list)
    for host in hosts:
        for key, term in host.terms.items():
            together[key].append(term)
    joined = map(_joined, together.values())
    return sorted(joined, key=lambda one: (one.ensemble, one.epoch, one.first_time))


def _ask_of_leaps(logs: Sequence[Judged], answers: Answers) -> None:
    """Whether a controller raised the epoch by more than one, or lowered it.

    It did not where a log has epochs in between, or the epoch was written since as often as it is higher.
    """
    epochs = sorted({term.epoch for log in logs for term in log.terms.all.values()})
    versions = {(epoch, epoch - version) for log in logs for epoch, version in log.terms.versions.items()}
    for one in chain.from_iterable(log.terms.leaps for log in logs):
        read = one.read.epoch
        text = f"controller {one.controller} had read epoch {read}, and has raised it to {one.raised}"
        is_between = bisect_right(epochs, read) < bisect_left(epochs, one.raised)
        ahead = read - one.read.version
        if is_between or any(epoch >= one.raised > read and since == ahead for epoch, since in versions):
            answers.note(f"{one.place}: {text}; somebody raised it in between, so lines are missing")
        else:
            answers.breaks_it(FORWARD, one.place, one.time, text)


def _ask_of_epochs(hosts: Sequence[Host], clocks: Clocks, answers: Answers) -> None:
    """Whether two controllers have one epoch, as logs of several brokers tell it."""
    by_epoch: dict[int, dict[int, list[tuple[int, Term]]]] = defaultdict(lambda: defaultdict(list))
    for number, host in enumerate(hosts):
        for term in host.terms.values():
            by_epoch[term.epoch][term.controller].append((number, term))
    for epoch, by_controller in sorted(by_epoch.items()):
        told = sorted(by_controller.values(), key=lambda some: _joined([one for _, one in some]).first_time)
        for before, after in pairwise(told):
            returns = any(known.returned for _, known in (*before, *after))
            are_at_once = any(
                _are_at_once(one, other, clocks.ahead(a, b, epoch - 1, epoch + 1), returns=returns)
                for (a, one), (b, other) in product(before, after)
            )
            first, second = (_joined([one for _, one in some]) for some in (before, after))
            _shares(epoch, first, second, answers, are_at_once=are_at_once)
        if len(told) == 1:
            answers.holds(ONE_TERM)


def _are_at_once(before: Term, after: Term, ahead: Sequence[int], *, returns: bool) -> bool:
    """Whether a controller still acts when another one has begun: by their clocks, and if these cannot be compared
    before and since, only where a broker has obeyed one, the other, and the one again.
    """
    if not (before.is_told and after.is_told and after.lines):
        return False
    late = ms(before.last_time) - ms(after.first_time)
    return late > max(0, *ahead) if len(ahead) == BOTH else late > 0 and returns


def _shares(epoch: int, before: Term, after: Term, answers: Answers, *, are_at_once: bool) -> None:
    """Two controllers have an epoch; the first one may be that of two ensembles, unless they act at once."""
    is_far = ms(after.first_time) - ms(before.first_time) > PAUSE
    if is_far or ((epoch == 1 or before.is_doubtful or after.is_doubtful) and not are_at_once):
        answers.note(f"two controllers have epoch {epoch}, as when ZooKeeper is set up anew")
        return
    text = (
        f"controller {after.controller} has epoch {epoch}, which is controller {before.controller}'s ({before.first})"
    )
    answers.breaks_it(ONE_TERM, after.first, after.first_time, text, "D1", f"{after.controller} in {epoch}")
    what = (
        f"controller {after.controller} acts in epoch {epoch} at the same time as controller {before.controller}, by"
        f" their clocks ({before.first} to {before.last})"
    )
    if are_at_once:
        about = f"{after.controller} in {epoch}"
        answers.breaks_it(AT_ONCE, after.first, after.first_time, what, "D1-at-once", about)
    elif after.lines and after.first_time < before.last_time:
        answers.note(f"{after.first}: {what}, which are not known to be set alike")


def _ask_who_is_late(hosts: Sequence[Host], clocks: Clocks, answers: Answers) -> None:
    """Whether a controller decides after another has had a later epoch, where clocks can be compared."""
    after = [Successors(term for term in host.terms.values() if term.is_told) for host in hosts]
    for (a, one), b in product(enumerate(hosts), range(len(hosts))):
        for term in one.terms.values() if a != b else ():
            successor = after[b].of(term)
            if successor is None or not term.decided_time or term.is_zombie or term.is_doubtful:
                continue
            late = ms(term.decided_time) - ms(successor.first_time)
            if late > 0:
                _decides_late(term, successor, late, clocks.ahead(a, b, term.epoch, successor.epoch + 1), answers)


def _decides_late(term: Term, successor: Term, late: int, ahead: Sequence[int], answers: Answers) -> None:
    what = (
        f"controller {term.controller} begins here, in epoch {term.epoch}, to write a state, {late:,} ms after"
        f" controller {successor.controller} has had epoch {successor.epoch} ({successor.first})"
    )
    if len(ahead) < BOTH:
        answers.note(f"{term.decided}: {what}, by clocks that are not compared by something before and something since")
    elif late > PAUSE:
        answers.note(f"{term.decided}: {what}, as when ZooKeeper is set up anew")
    elif late > max(ahead):
        text = f"{what}; its clock is at most {max(0, *ahead):,} ms ahead, before and since"
        about = f"{term.controller} in {term.epoch}"
        answers.breaks_it(LATEST, term.decided, term.decided_time, text, "D2", about, times=0)
