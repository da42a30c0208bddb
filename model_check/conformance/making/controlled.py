"""Scripts for a driven controller, theme by theme: each a scope, whose stages are walked, and a cover of its turns.

What is expected is what the specification says, in every order that it leaves open (`walks.py`); of a script's turns
the last is compared, which is what it is for. A theme is made without the others, so Spark's workers make them side by
side, and it is the same however many they are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model_check.conformance.driving.acts import read
from model_check.conformance.making.cases import Case
from model_check.conformance.making.happening_words import last_words, words_of
from model_check.conformance.making.stages import Script, Shown, cover, scripts
from model_check.conformance.making.walks import Walker
from model_check.conformance.making.who_acts import CONTROLLER, DRIVEN, LOOKS
from model_check.conformance.vector import Dialect, Object
from model_check.refinement.lockstep import Sides
from spec.scopes import Scope
from spec.system import rules
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import S, Table, find

VERB: Final = "control"
DIALECT: Final[Dialect] = "as-coded-0.10.2"
PARTS: Final = frozenset({"partitions", "connections", "metadata"})
PLENTY: Final = 15
SETTINGS: Final = {
    "auto.leader.rebalance.enable": False, "delete.topic.enable": True, "unclean.leader.election.enable": False,
}  # fmt: skip
"""Kafka's settings in every theme, unless it has others: 0.10.2 has the opposite of each as its default."""
TOPICS: Final = ("/brokers/topics/", "/config/topics/")
IN_SYNC: Final = ("expand_isr(b=1, p=0, r=2)", "expand_isr(b=2, p=1, r=3)")
"""Both partitions have both of their replicas in the ISR."""
LED_BY_ANOTHER: Final = (
    *IN_SYNC, "expire_session(b=2, lost=0)", "renew_session(b=2)", "register_broker(b=2)", "expand_isr(b=3, p=1, r=2)",
)  # fmt: skip
"""Then the preferred replica of the second has lost the leadership, and is in sync again."""


@dataclass(frozen=True)
class Theme:
    """A group of vectors: what its scope has, Kafka's settings, and how many turns are walked.

    They are walked from where all brokers have registered, and again from where what is `begun` has happened, too.
    """

    about: str
    section: str
    assigned: tuple[tuple[int, ...], ...] = ((1, 2), (2, 3))
    parts: frozenset[str] = frozenset()
    budgets: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    brokers: int = 3
    controllers: int = 1
    begun: tuple[str, ...] = ()
    turns: int = 300

    def scope(self, name: str) -> Scope:
        """Its scope, in which nothing runs at first."""
        return Scope(
            name, self.about, self.brokers, self.controllers, assigned=self.assigned, parts=PARTS | self.parts,
            budgets=tuple(self.budgets.items()), callback_capacity=PLENTY, connection_capacity=PLENTY,
            controller_epochs=PLENTY, versions=PLENTY, cold=True, **{"topics_stand": True, **self.more},
        )  # fmt: skip


THEMES: Final[Mapping[str, Theme]] = {
    "broker": Theme(
        "Brokers come and go, and leaders change ISRs.", "7.1",
        budgets={"crashes": 2, "expiries": 1, "shrinks": 1, "losses": 2}, begun=IN_SYNC,
    ),
    "unclean": Theme(
        "Who is not in sync may be elected.", "5", budgets={"crashes": 2, "shrinks": 1, "losses": 1},
        more={"unclean": True}, settings={"unclean.leader.election.enable": True}, begun=IN_SYNC,
    ),
    "failover": Theme(
        "Controllers are elected, deposed, and elected again, beside another.", "6", ((1, 2), (2,)),
        budgets={"expiries": 2, "controller_removals": 1, "losses": 2, "crashes": 1}, brokers=2, controllers=2,
    ),
    "topic": Theme(
        "Topics are created.", "7.3", parts=frozenset({"creation"}),
        budgets={"creations": 2, "crashes": 1, "losses": 1}, more={"topic_of": (0, 1), "topics_stand": False},
    ),
    "addition": Theme(
        "Partitions are added to a topic, and somebody edits an assignment by hand.", "7.3",
        parts=frozenset({"creation", "addition"}), budgets={"additions": 1, "crashes": 1, "edits": 1},
        more={"added": (1,), "edited": (((2, 3), ()),)},
    ),
    "deletion": Theme(
        "Topics are deleted.", "7.4", ((1, 2), (2,)), frozenset({"creation", "deletion"}),
        {"deletions": 2, "crashes": 1, "failed_deletions": 1, "deletion_losses": 1, "stray_deletions": 1},
        {"topic_of": (0, 1)}, brokers=2, begun=IN_SYNC[:1],
    ),
    "move": Theme(
        "Partitions are reassigned.", "8", ((1, 2),), frozenset({"reassignment"}),
        {"reassignments": 2, "crashes": 1, "shrinks": 1, "move_losses": 1, "move_withdrawals": 1},
        {"requests": (((2, 3),), ((3,),), ((2, 1),))}, begun=IN_SYNC[:1],
    ),
    "preferred": Theme(
        "Preferred replicas are elected on request.", "7.5", parts=frozenset({"preferred_election"}),
        budgets={"elections": 2, "crashes": 1, "withdrawals": 1, "expiries": 2}, begun=LED_BY_ANOTHER,
    ),
    "rebalance": Theme(
        "The automatic rebalance gives partitions back.", "7.6", parts=frozenset({"auto_rebalance"}),
        budgets={"crashes": 1, "expiries": 2}, settings={"auto.leader.rebalance.enable": True}, begun=LED_BY_ANOTHER,
    ),
    "departure": Theme(
        "Brokers ask for their controlled shutdown.", "7.2", parts=frozenset({"shutdown"}),
        budgets={"shutdowns": 2, "crashes": 1}, begun=IN_SYNC,
    ),
    "report": Theme(
        "Leaders report that they have changed ISRs.", "7.7", parts=frozenset({"notifications"}),
        budgets={"shrinks": 2, "crashes": 1}, begun=IN_SYNC,
    ),
    "busy": Theme(
        "A topic is deleted while its partition moves.", "8", ((1, 2),), frozenset({"reassignment", "deletion"}),
        {"reassignments": 1, "deletions": 1, "crashes": 1}, {"requests": (((2, 3),),)}, turns=200,
    ),
}  # fmt: skip
"""By group."""


WORDS: Final = {
    "action": "actions", "then": "pairs of actions", "row": "rows of the tables", "comes of": "kinds of turns",
    "order": "orders that are left open", "interrupted": "interruptions",
}  # fmt: skip
"""What scripts show."""


@dataclass(frozen=True)
class Made:
    """The cases of a theme, what each of them shows, and how many scripts were walked."""

    cases: tuple[Case, ...]
    shows: tuple[Shown, ...]
    walked: int


def walked(name: str) -> tuple[Walker, list[Script]]:
    """Every script of a theme."""
    theme = THEMES[name]
    scope = theme.scope(name)
    walker = Walker(Sides(scope))
    bare = starting(scope.brokers)
    found = list(scripts(walker, bare, theme.turns))
    if theme.begun:
        found += scripts(walker, [*bare, *((step,) for step in theme.begun)], theme.turns)
    return walker, found


def starting(brokers: int) -> list[tuple[str, ...]]:
    """One broker after the other starts and registers; the controller that is driven is there first."""
    own = [(f"start_process(b={DRIVEN})",), (f"register_broker(b={DRIVEN})",)]
    return own + [(f"start_process(b={b})", f"register_broker(b={b})") for b in range(DRIVEN + 1, brokers + 1)]


def make(name: str) -> Made:
    """The cases of a theme: a cover of what its scripts show."""
    walker, found = walked(name)
    chosen = [found[place] for place in cover([one.shows for one in found])]
    return Made(tuple(case_of(name, walker, one) for one in chosen), tuple(one.shows for one in chosen), len(found))


def kept(made: Mapping[str, Made]) -> dict[str, list[Case]]:
    """The cases of all themes that are a cover of what they show together; where two show the same, the first."""
    places = [(name, number) for name, one in made.items() for number in range(len(one.cases))]
    chosen = cover([made[name].shows[number] for name, number in places])
    found: dict[str, dict[str, Case]] = {name: {} for name in made}
    for name, number in (places[place] for place in chosen):
        case = made[name].cases[number]
        found[name].setdefault(case.hash, case)  # some steps differ in what nobody sees
    return {name: [*some.values()] for name, some in found.items()}


def case_of(name: str, walker: Walker, script: Script) -> Case:
    """A case that a script is."""
    theme, last = THEMES[name], script.turns[-1]
    scope = walker.sides.scope
    begun = scope.brokers + 1
    given = {
        "broker": DRIVEN,
        "settings": {**SETTINGS, **theme.settings},
        "compared": walker.compared,
        "script": script_of(walker, script),
    }
    number = str(len(script.turns) - 1)
    then: list[Object] = [{"turns": {number: [without_time(act) for act in one]}} for one in last.orders]
    earlier = [words for turn in script.turns[begun:-1] if (words := words_of(turn, scope))]
    title = last_words(last, scope, earlier)
    sources = dict.fromkeys(SOURCES[one] for one in last.taken if one in SOURCES)
    tags = [VERB, *(["zombie"] if scope.controllers > 1 else []), *(["fault"] if last.coming is not None else [])]
    return Case(VERB, title, given, then, [f"PROTOCOL.md section {theme.section}", *[*sources][:4]], tags, [DIALECT])


def without_time(act: Object) -> Object:
    """What is done, without the time at which it is: the controller's clock is its own."""
    data = act.get("data")
    if not isinstance(data, dict):
        return act
    return {**act, "data": {key: value for key, value in data.items() if key != "timestamp"}}


SOURCES: Final = {rule.name: rule.source for rule in rules() if rule.actor.startswith("controller")}


def script_of(walker: Walker, script: Script) -> list[list[Object]]:
    """A script's items, turn by turn; the topics that stand from the start come before everything."""
    tree = walker.sides.initial().cluster.zookeeper.tree
    standing = [{"create": path, "data": read(tree[path].data)} for path in tree if path.startswith(TOPICS)]
    return [[*(standing if not number else ()), *turn.items] for number, turn in enumerate(script.turns)]


def told_of(made: Mapping[str, Made]) -> Iterator[str]:
    """What is shown of the specification, as shares of what there is, a line each."""
    shown = frozenset[tuple[str, ...]]().union(*(shows for one in made.values() for shows in one.shows))
    counts = Counter(one[0] for one in shown)
    walked = sum(one.walked for one in made.values())
    told = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items())
    yield f"{sum(len(one) for one in kept(made).values())} of {walked} scripts show all of {told}"
    own = {one.name for one in rules() if one.actor == CONTROLLER and one.budget is None} - {LOOKS}
    taken = {one[1] for one in shown if one[0] == "action"}
    yield f"{len(taken & own)} of {len(own)} actions of a controller; without {', '.join(sorted(own - taken))}"
    lost = {one.name for one in rules() if one.name.endswith("_unanswered") and one.actor == CONTROLLER}
    yield f"{len(taken & lost)} of {len(lost)} lost answers; without {', '.join(sorted(lost - taken)) or 'none'}"
    rows = {one[1] for one in shown if one[0] == "row"} & ROWS
    yield f"{len(rows)} of {len(ROWS)} rows of the tables; without {', '.join(sorted(ROWS - rows)) or 'none'}"


def _rows(kind: str, table: Table[S]) -> Iterator[str]:
    for before in table:
        for after in table:
            if before is not after and find(table, before, after) is not None:
                yield f"{kind}: {before} to {after}"


ROWS: Final = frozenset({*_rows("partition", PARTITION_TRANSITIONS), *_rows("replica", REPLICA_TRANSITIONS)})
"""The rows of the transition tables that lead from one state to another."""
