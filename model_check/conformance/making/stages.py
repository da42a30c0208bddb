"""The turns of a scope, from one stage to the next, and a cover of them: few scripts in which everything happens once.

The stages are searched breadth first, each reached by a shortest script. A turn is worth a vector for what it shows: an
action of the specification taken behind another, a row of a transition table, what happens and what comes of it, a
fault right before a write of some action, a lost answer. Those scripts are chosen that show most, until all is shown.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Final

from model_check.conformance.driving.acts import NAMES
from model_check.conformance.making import who_acts
from model_check.conformance.making.walks import NEW_SESSION, Coming, TooManyOrders, Turn, Walker
from model_check.conformance.making.who_acts import DRIVEN
from model_check.conformance.vector import Object
from model_check.refinement.lockstep import Pair
from spec.state.enumerations import Callback

Shown = frozenset[tuple[str, ...]]
REGISTERS: Final = f"register_broker(b={DRIVEN})"
OFTEN: Final = 3
"""How often the same is tried, at different stages: a step before writes of an action, two steps at a time."""
TOGETHER: Final = frozenset({
    "end_orphaned_session", "register_broker", "expire_session", "create_topic", "request_deletion", "expand_isr",
    "shrink_isr", "report_isr_changes", "request_reassignment", "request_election", "write_addition",
})  # fmt: skip
"""What may happen twice at a time, before the controller hears of it."""


@dataclass(frozen=True)
class Script:
    """Turns one behind the other, of which the last is what it is for."""

    turns: tuple[Turn, ...]
    shows: Shown


@dataclass(frozen=True)
class _Stage:
    pair: Pair
    turns: tuple[Turn, ...]


def scripts(
    walker: Walker,
    starting: Sequence[Sequence[str]],
    turns: int,
    together: frozenset[str] = TOGETHER,
    *,
    faulty_start: bool = False,
) -> Iterator[Script]:
    """Every script of so many turns beyond the starting ones, whose last turn is a new one, nearest first.

    What may happen `together` does so in twos; with a `faulty_start` something may come amid the starting turns, too.
    """
    pair, begun = walker.sides.initial(), list[Turn]()
    for steps in starting:
        found = walker.turn(pair, steps)
        assert found is not None  # noqa: S101 - nothing is to come
        if faulty_start:
            yield from _disturbed(walker, pair, begun, found[0])
        begun.append(found[0])
        pair = found[1][0]
        if who_acts.has_session(pair.cluster):
            yield Script(tuple(begun), shown(found[0]))
    waiting, known = deque([_Stage(pair, tuple(begun))]), {pair.raw}
    tried: dict[tuple[str, str], int] = {}
    left = turns
    while waiting and left > 0:
        stage = waiting.popleft()
        for turn, ends in _following(walker, stage, tried, together):
            left -= 1
            if all(who_acts.has_session(end.cluster) for end in ends):
                yield Script((*stage.turns, turn), shown(turn))
            if len(ends) == 1 and ends[0].raw not in known and not (turn.coming and awaits_registration(ends[0])):
                known.add(ends[0].raw)
                waiting.append(_Stage(ends[0], (*stage.turns, turn)))


def _following(
    walker: Walker, stage: _Stage, tried: dict[tuple[str, str], int], together: frozenset[str]
) -> Iterator[tuple[Turn, Sequence[Pair]]]:
    """The turns from a stage, plain ones first."""
    plain = []
    awaits = awaits_registration(stage.pair)
    for choice in who_acts.happening([one for one, _ in walker.choices(stage.pair).values()], stage.pair.cluster):
        if awaits and choice.name != REGISTERS:
            continue
        if (found := _turn(walker, stage.pair, (choice.name,), None)) is not None:
            plain.append((choice, found[0]))
            yield found
    tries: list[tuple[tuple[str, ...], Coming | None, tuple[str, str]]] = []
    for choice, turn in plain:
        tries += [((choice.name,), coming, about) for coming, about in _to_come(turn)]
    in_twos = [choice for choice, _ in plain if choice.rule in together]
    tries += [((a.name, b.name), None, (a.rule, b.rule)) for a, b in permutations(in_twos, 2)]
    for names, coming, about in tries:
        if tried.get(about, 0) < OFTEN:
            tried[about] = tried.get(about, 0) + 1
            if (found := _turn(walker, stage.pair, names, coming)) is not None:
                yield found


def _disturbed(walker: Walker, pair: Pair, begun: Sequence[Turn], plain: Turn) -> Iterator[Script]:
    """A turn once more, with something in the midst of it, and something else behind that, which is of another znode:
    what is to come before a write also comes before one that is tried in vain.
    """
    for first, _ in _to_come(plain):
        disturbed = _turn(walker, pair, plain.first, first)
        if disturbed is None:
            continue
        others = [one for one, _ in _to_come(disturbed[0]) if one.before[1] != first.before[1]]
        for coming in (first, *(replace(first, then=second) for second in others)):
            found = _turn(walker, pair, plain.first, coming)
            if found is not None and all(who_acts.has_session(end.cluster) for end in found[1]):
                yield Script((*begun, found[0]), shown(found[0]))


def awaits_registration(pair: Pair) -> bool:
    """Whether the broker of the controller is to be registered anew, behind which ZkClient calls all listeners.

    In which order it calls them is its own affair, so no more than one of them is to have something to do then.
    """
    return Callback.REGISTRATION in pair.cluster.processes[DRIVEN].events


def _turn(walker: Walker, pair: Pair, names: Sequence[str], coming: Coming | None) -> tuple[Turn, list[Pair]] | None:
    try:
        return walker.turn(pair, names, coming)
    except TooManyOrders:
        return None


def _to_come(turn: Turn) -> Iterator[tuple[Coming, tuple[str, str]]]:
    """What may come in the midst of a turn, and what about that is of interest."""
    seen = set[tuple[str, str]]()
    for wrote, rule, world in turn.writes:
        if (wrote.kind, wrote.path) in seen:
            continue
        seen.add((wrote.kind, wrote.path))
        for name in world:
            if not name.startswith("expire_session(b=1,"):
                yield Coming((wrote.kind, wrote.path), (name,)), (rule, name.partition("(")[0])
            elif rule == "elect_create":  # which is not done again
                yield Coming((wrote.kind, wrote.path), (name,)), (rule, "its session ends")
            elif NEW_SESSION not in turn.first:  # one expiry at a time
                yield Coming((wrote.kind, wrote.path), (name, NEW_SESSION)), (rule, "another session")
        yield Coming((wrote.kind, wrote.path)), (rule, "lost")
    deleting = (one.split("b=")[1].split(",")[0] for one in turn.steps if one.startswith("deliver_deletion("))
    for broker in sorted({*deleting}):
        yield Coming(deletion=int(broker)), ("deletion", "fails")


def shown(turn: Turn) -> Shown:
    """What a turn shows."""
    rules = [one for one in turn.taken if ": " not in one]
    found: set[tuple[str, ...]] = {("action", one) for one in rules} | {("then", *pair) for pair in pairwise(rules)}
    found |= {("row", one) for one in turn.taken if ": " in one}
    begun = " ".join(one.partition("(")[0] for one in turn.first)
    found.add(("comes of", begun, *(shape(one) for one in turn.orders[0])))
    if len(turn.orders) > 1:
        found.add(("order", begun))
    if turn.coming is not None:
        about = next((rule for wrote, rule, _ in turn.writes if (wrote.kind, wrote.path) == turn.coming.before), "")
        come = turn.coming.steps[0].partition("(")[0] if turn.coming.steps else "lost or failed"
        found.add(("amid", come, about or str(turn.coming.before[0])))
    return frozenset(found) | turn.seen


def shape(told: Object) -> str:
    """What kind of thing is done: which znode is written and how, what is sent to how many."""
    if "sent" in told:
        return "sent " + " ".join(f"{name} {len(sent)}" for name in NAMES if (sent := told["sent"].get(name)))
    if "reply" in told:
        return f"reply {told['reply']['error']} {len(told['reply']['remaining'])}"
    kind = next(iter(told))
    parts, data = told[kind].strip("/").split("/"), told.get("data")
    state = f" {data['leader']} of {len(data['isr'])}" if isinstance(data, dict) and "isr" in data else ""
    return f"{kind} {'/'.join(parts[:2])} {len(parts)}{state}"


def cover(shows: Sequence[Shown], known: Shown = frozenset()) -> list[int]:
    """A cover of what some scripts show, without what is known, by their places: again and again one that shows most
    that none has shown yet, the first of such.
    """
    left = frozenset[tuple[str, ...]]().union(*shows) - known
    chosen: list[int] = []
    while left:
        best = max(range(len(shows)), key=lambda place: (len(shows[place] & left), -place))
        chosen.append(best)
        left -= shows[best]
    return sorted(chosen)
