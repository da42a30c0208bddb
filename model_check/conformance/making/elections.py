"""The leader selectors: an input for each way in which a selector comes to its answer, on up to three brokers.

Expected is what the specification's terms give (`spec/protocol/leadership/leader_selectors.py`), which are those that
the engines explore and prove. Of all inputs that come to their answer in the same way the first is asked whose lists
are not in ascending order, if there is one, so that nobody passes by sorting.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import DIALECTS, Dialect, Object
from spec.language.broker_lists import Brokers
from spec.language.terms import Value
from spec.protocol.leadership import leader_selectors as terms

BROKERS: Final = Brokers(3)
LISTS: Final = [list(one) for size in range(4) for one in permutations(BROKERS.ids, size)]
SETS: Final = [[b for b in BROKERS.ids if mask >> b - 1 & 1] for mask in range(8)]
BEFORE_0_10: Final[tuple[Dialect, ...]] = ("as-coded-0.8.2", "as-coded-0.9.0")
IMPOSSIBLE: Final[Object] = {"refused": "impossible"}


def election_cases() -> Iterator[Case]:
    """All selectors but the no-op, which nobody asks for."""
    for unclean in (False, True):
        yield from _of("offline", "OfflinePartitionLeaderSelector", _offline(unclean), unclean=unclean)
    yield from _of("reassigned", "ReassignedPartitionLeaderSelector", _reassigned)
    yield from _of("preferred", "PreferredReplicaPartitionLeaderSelector", _preferred)
    yield from _shutdowns()
    yield from _among_several()


Inputs = Iterator[tuple[Object, Object]]
"""What is given, and the outcome."""


def _offline(unclean: bool) -> Callable[[], Inputs]:
    def inputs() -> Inputs:
        for ar, isr, live in product(LISTS, LISTS, SETS):
            elected = terms.elect_offline(BROKERS, _list(ar), _list(isr), _set(live), unclean=unclean)
            yield {"assigned": ar, "isr": isr, "live": live}, _outcome(elected)

    return inputs


def _reassigned() -> Inputs:
    for rar, isr, live in product(LISTS, LISTS, SETS):
        elected = terms.elect_reassigned(BROKERS, _list(rar), _list(isr), _set(live))
        yield {"reassigned": rar, "isr": isr, "live": live}, _outcome(elected)


def _preferred() -> Inputs:
    """A partition that is led by nobody is cached as led by -1."""
    for ar, isr, live, leader in product(LISTS, LISTS, SETS, (-1, *BROKERS.ids)):
        cached = BROKERS.id_kind.constant(max(leader, 0))
        outcome = _outcome(terms.elect_preferred(BROKERS, _list(ar), _list(isr), _set(live), cached))
        if ar and ar[0] == leader:
            outcome = {"refused": "not needed"}
        yield {"assigned": ar, "isr": isr, "live": live, "cached_leader": leader}, outcome


def _shutdowns() -> Iterator[Case]:
    """Before 0.10.0.0 it was not asked whether the elected broker is registered (D66)."""
    source = "ControlledShutdownLeaderSelector"
    now, before = (dict(map(_hashed, _shutdown(by_isr)())) for by_isr in (False, True))
    same = {given for given in now if now[given][1] == before[given][1]}
    later: tuple[Dialect, ...] = tuple(one for one in DIALECTS if one not in BEFORE_0_10)
    for told, chosen, dialects in (
        (now, same, DIALECTS), (now, now.keys() - same, later), (before, before.keys() - same, BEFORE_0_10),
    ):  # fmt: skip
        yield from _of("controlled-shutdown", source, lambda told=told, chosen=chosen: (  # type: ignore[misc]
            told[one] for one in told if one in chosen
        ), dialects)  # fmt: skip


def _shutdown(by_isr: bool) -> Callable[[], Inputs]:
    def inputs() -> Inputs:
        for ar, isr, registered, leaving in product(LISTS, LISTS, SETS, SETS):
            if ar and set(leaving) <= set(registered):
                answer = terms.elect_controlled_shutdown(
                    BROKERS, _list(ar), _list(isr), _set(registered), _set(leaving), by_isr=by_isr
                )
                yield {"assigned": ar, "isr": isr, "registered": registered, "shutting_down": leaving}, _outcome(answer)

    return inputs


def _among_several() -> Iterator[Case]:
    """Elections with a choice, by the format page: the first of AR or RAR, whatever the order of ISR and ids.

    Unclean, the leader is alone in the ISR; before 0.10.0.0 a controlled shutdown takes the first of the ISR.
    """
    for ar, isr in (
        ([1, 2], [3]),
        ([2, 1], [3]),
        ([3, 1, 2], [3]),
        ([3, 2, 1], [3]),
        ([2, 3, 1], [2]),
        ([3, 1, 2], []),
    ):
        live = [one for one in BROKERS.ids if one not in isr]
        receivers = [one for one in ar if one in live]
        given = {"selector": "offline", "assigned": ar, "isr": isr, "live": live, "unclean": True}
        yield _choice(given, receivers[0], receivers[:1], receivers, "OfflinePartitionLeaderSelector")
    for rar, isr, live in (([2, 1], [1, 2], [1, 2]), ([3, 1, 2], [2, 3, 1], [1, 2, 3]), ([3, 2, 1], [1, 2, 3], [1, 2])):
        given = {"selector": "reassigned", "reassigned": rar, "isr": isr, "live": live}
        leader = next(one for one in rar if one in live)  # all are in the ISR
        yield _choice(given, leader, isr, rar, "ReassignedPartitionLeaderSelector")
    later: tuple[Dialect, ...] = tuple(one for one in DIALECTS if one not in BEFORE_0_10)
    for ar, isr in (([3, 2, 1], [1, 2, 3]), ([1, 3, 2], [2, 3, 1])):
        given = {"selector": "controlled-shutdown", "assigned": ar, "isr": isr, "registered": [1, 2, 3],
                 "shutting_down": ar[:1]}  # fmt: skip
        left = [one for one in isr if one != ar[0]]
        for leader, dialects in ((ar[1], later), (left[0], BEFORE_0_10)):
            yield _choice(given, leader, left, ar, "ControlledShutdownLeaderSelector", dialects)


def _choice(
    given: Object,
    leader: int,
    isr: list[int],
    receivers: list[int],
    source: str,
    dialects: Sequence[Dialect] = DIALECTS,
) -> Case:
    outcome = {"elected": {"leader": leader, "isr": sorted(isr), "receivers": sorted(receivers)}}
    title, tags = _title(given["selector"], given, outcome), ["selectors", given["selector"]]
    tags += ["unclean"] if given.get("unclean") else []
    return Case("elect", title, given, [outcome], ["PROTOCOL.md section 5", source], tags, dialects)


def _hashed(one: tuple[Object, Object]) -> tuple[str, tuple[Object, Object]]:
    return str(one[0]), one


def _of(
    selector: str, source: str, inputs: Callable[[], Inputs], dialects: Sequence[Dialect] = DIALECTS, **given: Any
) -> Iterator[Case]:
    """One case for each way to an answer."""
    ways: dict[object, tuple[Object, Object]] = {}
    for told, outcome in inputs():
        way = _way(told, outcome)
        if way not in ways or (_is_mixed(told) and not _is_mixed(ways[way][0])):
            ways[way] = told, outcome
    for told, outcome in ways.values():
        whole = {"selector": selector, **told, **given}
        yield Case(
            "elect", _title(selector, whole, outcome), whole, [outcome], ["PROTOCOL.md section 5", source],
            ["selectors", selector, *(["unclean"] if given.get("unclean") else [])], dialects,
        )  # fmt: skip


def _is_mixed(told: Object) -> bool:
    """Whether the lists of an input are in another order than they would be if sorted."""
    first, second = [one for key, one in told.items() if key in {"assigned", "reassigned", "isr"}]
    return first != sorted(first) and (len(second) < 2 or second != [one for one in first if one in second])


def _way(told: Object, outcome: Object) -> object:
    """In which way an input comes to its answer: where in the lists its parts are, not which they are."""
    replicas = told["assigned"] if "assigned" in told else told["reassigned"]
    alive = told["live"] if "live" in told else told["registered"]
    in_sync = told["isr"]
    elected = outcome.get("elected")
    leader = elected["leader"] if elected else None
    leaving = told.get("shutting_down", [])
    return (
        outcome.get("refused"),
        len(replicas) > 1,
        replicas.index(leader) if leader in replicas else None,
        len(elected["isr"]) < len(in_sync) if elected else None,
        leader == in_sync[0] if elected and in_sync else None,
        all(one in replicas for one in in_sync),
        bool(replicas) and replicas[0] in alive,
        bool(replicas) and replicas[0] in in_sync,
        any(one in alive for one in in_sync),
        any(one in leaving for one in in_sync),
    )


def _title(selector: str, given: Object, outcome: Object) -> str:
    of = f"AR {given['assigned']}" if "assigned" in given else f"RAR {given['reassigned']}"
    elected = outcome.get("elected")
    told = f"elects {elected['leader']}" if elected else f"elects nobody: {outcome['refused']}"
    return f"The {selector} selector, {of}, ISR {given['isr']}: {told}"


def _outcome(answer: terms.ElectionTerms) -> Object:
    """An answer that is known, sets in ascending order."""
    if not _raw(answer.possible):
        return IMPOSSIBLE
    isr, receivers = BROKERS.lists[_raw(answer.isr)], BROKERS.ids_in(_raw(answer.receivers))
    return {"elected": {"leader": _raw(answer.leader), "isr": sorted(isr), "receivers": sorted(receivers)}}


def _raw(value: Value) -> int:
    raw = value.raw
    if not isinstance(raw, int | bool):
        raise TypeError(f"{value} is not known")
    return int(raw)


def _list(one: Sequence[int]) -> Value:
    return BROKERS.list_kind.constant(tuple(one))


def _set(one: Sequence[int]) -> Value:
    return BROKERS.set_kind.constant(tuple(one))
