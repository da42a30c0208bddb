"""Walks through the specification, in which the world waits until the controller has nothing more to do.

A stage is a state in which broker 1's controller waits and has nothing more to hear. From there something happens, and
the controller acts until it waits again: a turn. Specification and reference take every step together
(`model_check.refinement.lockstep`), so whatever stands in a turn is what the specification says, and where it leaves an
order open, each order is walked. What the world may do is what it may do in the specification: a step of a broker, of
ZooKeeper, of an admin tool, of another broker's controller, which goes on until that one waits, too. Something may also
come right before a write, the answer to one may be lost, and a broker may fail to delete a replica.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypeAlias

from model_check.conformance.driving.acts import Act, Wrote, turn
from model_check.conformance.driving.log_lines import plain
from model_check.conformance.making import who_acts
from model_check.conformance.making.occasions import TAKEN, Occasions, Seen, branches_shown, troubles_shown
from model_check.conformance.making.told_steps import acts_of, items_of
from model_check.conformance.vector import Object
from model_check.refinement.lockstep import Pair, Sides
from model_check.terms.python_code import Raw
from reference.journal import Entry
from reference.memory.choices import Choice
from reference.memory.cluster import carried
from spec.formats.request_schemas import LeaderAndIsrRequest, Request, StopReplicaRequest, UpdateMetadataRequest
from spec.model import Model

MOST: Final = 24
"""Orders of a turn, at most, and twice as many ways to them; a turn of more is left out."""
NAMES: Final[dict[type[Request], str]] = {
    LeaderAndIsrRequest: "LeaderAndIsr", UpdateMetadataRequest: "UpdateMetadata", StopReplicaRequest: "StopReplica",
}  # fmt: skip
LOST: Final = "_unanswered"
Logs: TypeAlias = tuple[tuple[str, str], ...]
"""Lines, each with its kind."""
NEW_SESSION: Final = f"renew_session(b={who_acts.DRIVEN})"
FAILED_CREATE: Final = f"elect_create_without_session(c={who_acts.DRIVEN})"


@dataclass(frozen=True)
class Coming:
    """What is to come in a turn, once.

    `before` a write of this kind and path, steps of the world; where there are none, the answer to that write is lost.
    Or a broker fails to delete: `deletion` has its id. Behind that may come what is to come `then`.
    """

    before: tuple[str, str] = ("", "")
    steps: tuple[str, ...] = ()
    deletion: int = 0
    then: "Coming | None" = None


@dataclass(frozen=True)
class Turn:
    """What happens, and what the controller may do then, in every order that is legal.

    It begins with what happens `first`. `steps` are those of one order, and `taken` its own among them with the table
    rows that they took; `writes` are its writes, each with the action that made it and with what else the world might
    have done right before. `logs` are the lines that it writes, each once, in each order where they differ, and
    `says` their kinds, each with the action that says it; of the kinds `unsure` the specification does not know all.
    `seen` is what that order shows besides (`occasions.py`).
    """

    first: tuple[str, ...]
    items: tuple[Object, ...]
    orders: tuple[list[Object], ...]
    steps: tuple[str, ...]
    taken: tuple[str, ...]
    writes: tuple[tuple[Wrote, str, tuple[str, ...]], ...]
    coming: Coming | None = None
    logs: tuple[Logs, ...] = ((),)
    says: frozenset[tuple[str, str]] = frozenset()
    unsure: frozenset[str] = frozenset()
    seen: frozenset[Seen] = frozenset()


@dataclass(frozen=True)
class _Way:
    """A way through a turn, as far as it has come."""

    pair: Pair
    items: tuple[Object, ...] = ()
    acts: tuple[Act, ...] = ()
    steps: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    writes: tuple[tuple[Wrote, str, tuple[str, ...]], ...] = ()
    coming: Coming | None = None
    logs: Logs = ()
    says: frozenset[tuple[str, str]] = frozenset()
    unsure: frozenset[str] = frozenset()
    seen: frozenset[Seen] = frozenset()
    entries: tuple[Entry, ...] = ()


class TooManyOrders(Exception):
    """A turn has more orders than a vector can name."""


class Walker:
    """Takes steps of a scope on both sides."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self._occasions = Occasions(sides.machine)
        self.compared = [NAMES[kind] for kind in carried(Model(sides.scope, sides.switches))]
        """The requests that the scope has, by name."""

    def choices(self, pair: Pair, steps: Sequence[str] = ()) -> dict[str, tuple[Choice, Raw]]:
        """What may happen next, on both sides, and what comes of it."""
        enabled = self.sides.enabled(pair.raw)
        possible = self.sides.possible(pair, enabled, steps)
        return {name: (one, enabled[name]) for name, one in possible.items() if name in enabled}

    def turn(self, pair: Pair, first: Sequence[str], coming: Coming | None = None) -> tuple[Turn, list[Pair]] | None:
        """What follows some steps of the world's, and where it ends.

        None where what is to come does not come, or the controller is stuck; TooManyOrders where there are too many.
        """
        way = self._happens(_Way(pair), first)
        return None if way is None else self._settled(tuple(first), replace(way, coming=coming), coming)

    # ------------------------------------------------------------------------------------------------------ the world

    def _happens(self, way: _Way, steps: Sequence[str]) -> _Way | None:
        """Take steps of the world's, behind each of them what other controllers do; None where one is not possible."""
        for name in steps:
            possible = self.choices(way.pair, way.steps)
            if name not in possible:
                return None
            way = self._others(self._step(way, *possible[name]))
        return way

    def _others(self, way: _Way) -> _Way:
        """Have other brokers' controllers go on until they wait."""
        if self.sides.scope.controllers == 1:
            return way
        while True:
            possible = self.choices(way.pair, way.steps)
            following = next((one for one in possible.values() if who_acts.is_of_others(one[0])), None)
            if following is None:
                return way
            way = self._step(way, *following)

    def _step(self, way: _Way, choice: Choice, after: Raw) -> _Way:
        """A way with one more step."""
        before, steps = way.pair, (*way.steps, choice.name)
        way = self._logged(way, choice)
        reached = self.sides.take(before.fork(), choice, after, steps)
        changes = [
            one.change for one in reached.cluster.zookeeper.transactions[len(before.cluster.zookeeper.transactions) :]
        ]
        seen = self._occasions.by(choice.name, before.raw, reached.raw)
        if not who_acts.is_own(choice):
            way = replace(way, seen=way.seen.union(one for one in seen if one[0] != TAKEN))
            items = items_of(choice, changes, reached.cluster)
            return replace(way, pair=reached, items=(*way.items, *items), steps=steps)
        way = replace(way, seen=way.seen | seen, entries=(*way.entries, *reached.cluster.entries))
        acts = acts_of(changes, reached.cluster.entries)
        taken = (choice.rule, *who_acts.rows(before.cluster, reached.cluster))
        return replace(way, pair=reached, acts=(*way.acts, *acts), steps=steps, taken=(*way.taken, *taken))

    def _logged(self, way: _Way, choice: Choice) -> _Way:
        """A way with the lines that the driven controller writes at a step."""
        if dict(choice.parameters).get("c") != who_acts.DRIVEN:
            return way
        logs, says, unsure = set(way.logs), set(way.says), set(way.unsure)
        for due in chain(*self.sides.lines.due(choice, way.pair.raw).lines.values()):
            line, kind = None if due.perhaps else due.line(who_acts.DRIVEN), due.kind.__name__
            says.add((kind, choice.rule))
            if line is None:
                unsure.add(kind)
            else:
                logs.add((plain(line), kind))
        return replace(way, logs=tuple(sorted(logs)), says=frozenset(says), unsure=frozenset(unsure))

    # ------------------------------------------------------------------------------------------------------ one turn

    def _settled(self, names: tuple[str, ...], begun: _Way, coming: Coming | None) -> tuple[Turn, list[Pair]] | None:
        ended: list[_Way] = []
        seen = set[tuple[Raw, str, Logs]]()
        waiting = [begun]
        while waiting:
            following = self._following(waiting.pop(), ended)
            for one in following:
                key = (one.pair.raw, json.dumps(self._told(one.acts)), one.logs)
                if key not in seen:
                    seen.add(key)
                    waiting.append(one)
            if len(ended) + len(waiting) > 2 * MOST:
                raise TooManyOrders
        first = ended[0]
        orders = {json.dumps(told): told for told in (self._told(one.acts) for one in ended)}
        if len(orders) > MOST:
            raise TooManyOrders
        if any(one.coming is not None or one.items != first.items for one in ended):
            return None
        if any(who_acts.is_amid_work(one.pair.cluster) for one in ended):
            return None
        ends = {one.pair.raw: one.pair for one in ended}
        every = tuple(orders[one] for one in sorted(orders))
        logs = tuple(sorted({one.logs for one in ended}))
        unsure = frozenset[str]().union(*(one.unsure for one in ended))
        shown = first.seen.union(troubles_shown(first.entries), branches_shown(first.entries))
        found = Turn(
            names, first.items, every, first.steps, first.taken, first.writes, coming, logs, first.says, unsure, shown
        )
        return found, [*ends.values()]

    def _told(self, acts: Iterable[Act]) -> list[Object]:
        return turn(acts, self.compared)

    def _following(self, way: _Way, ended: list[_Way]) -> list[_Way]:
        """The ways on: several where the order is open; one that is at its end goes to `ended`."""
        possible = self.choices(way.pair, way.steps)
        own = who_acts.next_choices(way.pair.cluster, [one for one, _ in possible.values()])
        if not own:
            ended.append(way)
            return []
        ways = []
        for choice in own:
            if (came := self._failed_deletion(way, choice, possible)) is not None:
                return [came]
            after = self._step(way, *possible[choice.name])
            fresh = [act for act in after.acts[len(way.acts) :] if isinstance(act, Wrote)]
            if (came := self._came(way, choice, fresh, possible)) is not None:
                return [came]
            world = tuple(name for name, (one, _) in possible.items() if who_acts.may_interrupt(one, way.pair.cluster))
            ways.append(replace(after, writes=(*after.writes, *((one, choice.rule, world) for one in fresh))))
        return ways

    def _came(
        self, way: _Way, choice: Choice, fresh: Sequence[Wrote], possible: Mapping[str, tuple[Choice, Raw]]
    ) -> _Way | None:
        """What is to come before one of these writes, or instead of its answer, comes; None if it does not yet."""
        coming = way.coming
        if coming is None or coming.deletion or not fresh:
            return None
        due = fresh[0] if coming.steps else fresh[-1]  # a step may write parents first; its answer is that to the last
        kind, path = coming.before
        if (due.kind, due.path) != coming.before:
            return None
        unarmed = replace(way, items=(), coming=coming.then)
        if coming.steps:
            after = self._happens(unarmed, coming.steps)
            if after is not None and choice.rule == "elect_create":
                after = self._without_session(after)
            item: Object | None = None if after is None else {"before": {kind: path}, "do": [*after.items]}
        else:
            lost = choice.name.replace("(", f"{LOST}(", 1)
            after = self._step(unarmed, *possible[lost]) if lost in possible else None
            item = {"lose": {kind: path}}
        if after is None or item is None or not item.get("do", True):
            return None
        return replace(after, items=(item, *way.items))

    def _without_session(self, way: _Way) -> _Way | None:
        """Where its session has ended, /controller is not created, and not once more under the next one."""
        possible = self.choices(way.pair, way.steps)
        if FAILED_CREATE not in possible:
            return way
        return self._happens(self._step(way, *possible[FAILED_CREATE]), [NEW_SESSION])

    def _failed_deletion(self, way: _Way, choice: Choice, possible: Mapping[str, tuple[Choice, Raw]]) -> _Way | None:
        if way.coming is None or not way.coming.deletion or choice.rule != "deliver_deletion":
            return None
        if dict(choice.parameters)["b"] != way.coming.deletion:
            return None
        failing = choice.name.replace("deliver_deletion(", "deliver_failing_deletion(")
        if failing not in possible:
            return None
        after = self._step(replace(way, items=(), coming=way.coming.then), *possible[failing])
        return replace(after, items=({"fail_deletion": way.coming.deletion}, *way.items))
