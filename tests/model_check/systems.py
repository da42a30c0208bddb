"""Four small systems whose numbers can be counted by hand, for every engine's tests.

Each says beside its counts why they are so; `EXPECTED` holds them once more, for tests that take all the systems.

`odometer(wheels, top)`: independent counters from 0 to `top`, each of which its own action adds one to.
    States: every reading, (top+1)^wheels. A wheel can turn in all readings but those where it shows `top`, so there
    are wheels*top*(top+1)^(wheels-1) transitions, and in the wheels*(top+1)^(wheels-1) other cases only the bound stops
    it: these are the overflows. Every turn adds one to the sum of the wheels, so level d holds the readings of sum d,
    and the depth is wheels*top.

`lamps(lamps, faults)`: lamps that are off until somebody lights them, and a budget of bulbs that blow.
    Any of the 2^lamps patterns goes with any number of spent faults (light one and blow it as often as there is
    budget, then light what the pattern asks): 2^lamps*(faults+1) states. A lamp is off in half of the patterns, on in
    the other half: lamps*2^(lamps-1) lightings for each of the faults+1 budgets, and as many blowings for each budget
    that is not spent. To see all lamps off with every fault spent takes two steps a fault; the farthest state has all
    lamps on and all faults spent, lamps+2*faults steps away.

`clerks()`: two clerks add one to a counter as the story of the lost update goes: read, then write what was read plus
    one. With I for idle, R0 and R1 for "has read 0, 1" and D for done, and the counter last:
        level 0: II0
        level 1: R0I0 IR0.0                  (2 transitions from level 0)
        level 2: R0R0.0 DI1 ID1              (4 from level 1: R0R0 is reached twice)
        level 3: DR0.1 R0D1 DR1.1 R1D1       (2 from R0R0, 1 from each of DI1 and ID1)
        level 4: DD1 DD2                     (1 from each of the four)
    12 states, 2+4+4+4 = 14 transitions. One state is the lost update (DD1), and two steps (those from DR0 and R0D)
    write the number that stands there already.

`jugs()`: a jug of 5 and one of 3 measures, a tap and a drain (as in the film). A jug that is neither full nor empty
    makes the other one full or empty, for pouring stops at either. So of the 6*4 contents, the 4*2 with both in
    between are out of reach: 16 states. All 6 actions are always enabled, if only to do nothing: 96 transitions. Four
    measures take 6 steps: fill the big one, pour (2,3), empty the small one, pour (0,2), fill the big one (5,2),
    pour (4,3).
"""

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from spec.language.rules import (
    Action,
    Leaf,
    Property,
    Rule,
    Shape,
    TransitionSystem,
    Value,
    View,
    action,
    both,
    choose,
    instantiate,
    leaves,
    observe,
    require,
    reset,
    successor,
    take,
)
from spec.language.terms import FLAG, enumeration, epoch, number

Parameters = Mapping[str, int]
StepClaim = Callable[[View, View], Value]


@dataclass(frozen=True)
class Counts:
    """What an exhaustive search must find; `failing` and `witnessed` are states (or steps) by property."""

    states: int
    transitions: int
    levels: tuple[int, ...]
    overflows: int = 0
    failing: Mapping[str, int] = field(default_factory=dict)
    witnessed: Mapping[str, int] = field(default_factory=dict)


def build(
    name: str,
    shape: Shape,
    rules: Sequence[tuple[Rule, Sequence[Parameters]]],
    claims: Sequence[Property],
    steps: Sequence[tuple[Property, StepClaim]] = (),
) -> TransitionSystem:
    """A system from a shape and rules with their parameters; a step claim is a function of before and after."""
    before = View(shape, None)
    made = [instantiate(rule, shape, None, chosen) for rule, choices in rules for chosen in choices]
    properties = list(claims)
    for claim, holds in steps:
        terms = {one.name: holds(before, after).term for one, after in made}
        terms = {one: term for one, term in terms.items() if not z3.is_true(term)}
        properties.append(Property(claim.name, claim.kind, claim.statement, claim.source, None, terms, claim.witness))
    return TransitionSystem(name, tuple(leaves(shape)), tuple(one for one, _ in made), tuple(properties))


def each(count: int, name: str) -> list[Parameters]:
    """The parameters 1..count under a name."""
    return [{name: one} for one in range(1, count + 1)]


# ------------------------------------------------------------------------------------------------------------ odometer


@action(actor="wheel {w}", source="by hand")
def turn(s: Any, _model: object, w: int) -> None:
    """A wheel shows one more than before."""
    take("TURNS", condition=True)
    take("LEAVES-ZERO", s.wheels[w] == 0)
    s.wheels[w] = successor(s.wheels[w])
    observe(f"wheel {w}", "turned", shows=s.wheels[w])


def odometer(wheels: int = 3, top: int = 4) -> TransitionSystem:
    """Wheels that only turn forward, up to the bound of the scope."""
    shape: Shape = {"wheels": {w: Leaf(epoch(top), 0) for w in range(1, wheels + 1)}}
    before: Any = View(shape, None)
    all_at_top = both(*[before.wheels[w] == top for w in range(1, wheels + 1)]).term
    claims = [
        Property("first_below_top", "always", "The first wheel never gets to the top.", "by hand",
                 (before.wheels[1] < top).term),
        Property("all_at_top", "sometimes", "All wheels show the top at once.", "by hand", all_at_top),
        Property("gets_to_top", "eventually", "All wheels end up at the top.", "by hand", all_at_top),
        Property("can_return", "recoverable", "The wheels can always be turned back to zero.", "by hand",
                 both(*[before.wheels[w] == 0 for w in range(1, wheels + 1)]).term),
    ]  # fmt: skip
    step = Property("never_back", "step", "No wheel turns back.", "by hand", witness="all_at_top")

    def never_back(old: Any, new: Any) -> Value:
        return both(*[old.wheels[w] <= new.wheels[w] for w in range(1, wheels + 1)])

    return build(f"odometer-{wheels}-{top}", shape, [(turn, each(wheels, "w"))], claims, [(step, never_back)])


def odometer_counts(wheels: int = 3, top: int = 4) -> Counts:
    """The counts that the module's first paragraph derives."""
    levels = [1]
    for _ in range(wheels):
        levels = [sum(levels[max(0, total - top) : total + 1]) for total in range(len(levels) + top)]
    others = (top + 1) ** (wheels - 1)
    return Counts(
        states=(top + 1) ** wheels,
        transitions=wheels * top * others,
        levels=tuple(levels),
        overflows=wheels * others,
        failing={"first_below_top": others},
        witnessed={"all_at_top": 1},
    )


# --------------------------------------------------------------------------------------------------------------- lamps


@action(actor="caretaker", source="by hand")
def light(s: Any, _model: object, lamp: int) -> None:
    """The caretaker lights a lamp that is off."""
    require(~s.on[lamp])
    s.on[lamp] = True


@action(actor="bulb {lamp}", source="by hand", budget="faults")
def blow(s: Any, _model: object, lamp: int) -> None:
    """The bulb of a burning lamp blows, and somebody puts in a new one."""
    require(s.on[lamp])
    s.on[lamp] = False


def lamps(count: int = 3, faults: int = 2) -> TransitionSystem:
    """Lamps that are lit one by one, with a budget of faults."""
    shape: Shape = {
        "on": {lamp: Leaf(FLAG, False) for lamp in range(1, count + 1)},
        "budget": {"faults": Leaf(number(faults, "budget"), faults)},
    }
    before: Any = View(shape, None)
    all_on = both(*[before.on[lamp] for lamp in range(1, count + 1)])
    claims = [
        Property("budget_kept", "always", "The budget is not overdrawn.", "by hand",
                 (before.budget.faults <= faults).term),
        Property("all_on_after_faults", "sometimes", "All lamps burn though every fault happened.", "by hand",
                 (all_on & (before.budget.faults == 0)).term),
        Property("relit", "recoverable", "Without further faults, all lamps can burn.", "by hand", all_on.term),
        Property("all_lit", "eventually", "Without further faults, all lamps will burn.", "by hand", all_on.term),
    ]  # fmt: skip
    step = Property("stays_on", "step", "A lamp that burns goes on burning.", "by hand", witness="all_on_after_faults")

    def stays_on(old: Any, new: Any) -> Value:
        return both(*[old.on[lamp].implies(new.on[lamp]) for lamp in range(1, count + 1)])

    rules = [(light, each(count, "lamp")), (blow, each(count, "lamp"))]
    return build(f"lamps-{count}-{faults}", shape, rules, claims, [(step, stays_on)])


def lamps_counts(count: int = 3, faults: int = 2) -> Counts:
    """The counts that the module's second paragraph derives.

    A state's level is the lamps that burn plus twice the faults spent.
    """
    levels = [0] * (count + 2 * faults + 1)
    for spent in range(faults + 1):
        for burning in range(count + 1):
            levels[burning + 2 * spent] += math.comb(count, burning)
    half = count * 2 ** (count - 1)
    return Counts(
        states=2**count * (faults + 1),
        transitions=half * (faults + 1) + half * faults,
        levels=tuple(levels),
        failing={"stays_on": half * faults},
        witnessed={"all_on_after_faults": 1},
    )


# -------------------------------------------------------------------------------------------------------------- clerks


class At(enum.Enum):
    """How far a clerk is."""

    IDLE = "idle"
    READ = "has read"
    DONE = "done"


@action(actor="clerk {c}", source="by hand")
def read(s: Any, _model: object, c: int) -> None:
    """The clerk reads the counter."""
    clerk = s.clerks[c]
    require(clerk.at == At.IDLE)
    clerk.at = At.READ
    clerk.seen = s.counter


@action(actor="clerk {c}", source="by hand")
def write(s: Any, _model: object, c: int) -> None:
    """The clerk writes what was read, plus one."""
    clerk = s.clerks[c]
    require(clerk.at == At.READ)
    s.counter = successor(clerk.seen)
    observe(f"clerk {c}", "wrote", counter=s.counter)
    clerk.at = At.DONE
    reset(clerk, "seen")


def clerks() -> TransitionSystem:
    """Two clerks and the lost update."""
    clerk: Shape = {"at": Leaf(enumeration(At), At.IDLE), "seen": Leaf(epoch(2), 0)}
    shape: Shape = {"clerks": {1: clerk, 2: clerk}, "counter": Leaf(epoch(2), 0)}
    before: Any = View(shape, None)
    all_done = both(*[before.clerks[c].at == At.DONE for c in (1, 2)])
    claims = [
        Property("no_lost_update", "always", "When both are done, the counter says two.", "by hand",
                 all_done.implies(before.counter == 2).term),
        Property("counted", "sometimes", "Both are done and the counter says two.", "by hand",
                 (all_done & (before.counter == 2)).term),
        Property("both_read_nothing", "sometimes", "Both are done and the counter says nothing.", "by hand",
                 (all_done & (before.counter == 0)).term),
        Property("all_done", "eventually", "Both get done.", "by hand", all_done.term),
        Property("can_be_right", "recoverable", "The counter can always get to two.", "by hand",
                 (before.counter == 2).term),
    ]  # fmt: skip
    step = Property("last_write_counts", "step", "The step that gets both done changes the counter.", "by hand",
                    witness="counted")  # fmt: skip

    def last_write_counts(old: Any, new: Any) -> Value:
        done = both(*[new.clerks[c].at == At.DONE for c in (1, 2)])
        return done.implies(old.counter != new.counter)

    rules = [(read, each(2, "c")), (write, each(2, "c"))]
    return build("clerks", shape, rules, claims, [(step, last_write_counts)])


CLERKS_COUNTS = Counts(
    states=12,
    transitions=14,
    levels=(1, 2, 3, 4, 2),
    failing={"no_lost_update": 1, "last_write_counts": 2},
    witnessed={"counted": 1},
)


# ---------------------------------------------------------------------------------------------------------------- jugs

SIZES = {"big": 5, "small": 3}
JUG = number(max(SIZES.values()), "measures")


def _jug_actions(name: str, other: str) -> tuple[Rule, Rule, Rule]:
    @action(actor=f"{name} jug", source="by hand")
    def fill(s: Any, _model: object) -> None:
        """The jug is filled at the tap."""
        s[name] = SIZES[name]

    @action(actor=f"{name} jug", source="by hand")
    def empty(s: Any, _model: object) -> None:
        """The jug is emptied into the drain."""
        s[name] = 0

    @action(actor=f"{name} jug", source="by hand")
    def pour(s: Any, _model: object) -> None:
        """The jug is poured into the other, until one is empty or the other is full."""
        room = Value(JUG, JUG.literal(SIZES[other]) - s[other].term)
        poured = choose(s[name] < room, s[name], room)
        s[name] = Value(JUG, s[name].term - poured.term)
        s[other] = Value(JUG, s[other].term + poured.term)

    return fill, empty, pour


def jugs() -> TransitionSystem:
    """A jug of five, a jug of three, and the wish for four measures."""
    shape: Shape = {name: Leaf(JUG, 0) for name in SIZES}
    before: Any = View(shape, None)
    claims = [
        Property("never_four", "always", "There are never four measures in the big jug.", "by hand",
                 (before.big != 4).term),
        Property("both_full", "sometimes", "Both jugs are full.", "by hand",
                 ((before.big == 5) & (before.small == 3)).term),
        Property("dry", "recoverable", "Both jugs can always be emptied.", "by hand",
                 ((before.big == 0) & (before.small == 0)).term),
    ]  # fmt: skip
    rules = [*_jug_actions("big", "small"), *_jug_actions("small", "big")]
    return _named_apart(build("jugs", shape, [(rule, [{}]) for rule in rules], claims))


def _named_apart(system: TransitionSystem) -> TransitionSystem:
    """Two rules of one name, for the two jugs, become actions of two names."""

    def renamed(one: Action) -> Action:
        return Action(**{**vars(one), "name": f"{one.rule}({one.actor.split()[0]})"})

    return TransitionSystem(system.name, system.variables, tuple(map(renamed, system.actions)), system.properties)


# Level by level, as (big, small); each level is what the six actions add to the one before.
#   0: 00 | 1: 50 03 | 2: 53 23 30 | 3: 20 33 | 4: 02 51 | 5: 52 01 | 6: 43 10 | 7: 40 13
# With (0,3): to the big one gives 30, filling gives 33, pouring 51, emptying 01, then 10, 13, and so on.
JUGS_COUNTS = Counts(
    states=16, transitions=96, levels=(1, 2, 3, 2, 2, 2, 2, 2), failing={"never_four": 2}, witnessed={"both_full": 1}
)

EXPECTED: Mapping[str, tuple[TransitionSystem, Counts]] = {
    one.name: (one, counts)
    for one, counts in [
        (odometer(), odometer_counts()),
        (odometer(1, 1), odometer_counts(1, 1)),
        (lamps(), lamps_counts()),
        (clerks(), CLERKS_COUNTS),
        (jugs(), JUGS_COUNTS),
    ]
}
