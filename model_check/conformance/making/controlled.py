"""Scripts for a driven controller, theme by theme: each a scope, whose stages are walked, and a cover of its turns.

What is expected is what the specification says, in every order that it leaves open (`walks.py`); of a script's turns
the last is compared, which is what it is for: what the controller does in it, or what it logs (`logged.py`). A theme
is made without the others, so Spark's workers make them side by side, and it is the same however many they are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias, TypeVar

from model_check.conformance.driving.acts import read
from model_check.conformance.making import logged
from model_check.conformance.making.cases import Case
from model_check.conformance.making.happening_words import earlier_words, title
from model_check.conformance.making.stages import Script, Shown, cover, scripts
from model_check.conformance.making.themes import THEMES
from model_check.conformance.making.walks import Walker
from model_check.conformance.making.who_acts import CONTROLLER, DRIVEN, LOOKS
from model_check.conformance.vector import Dialect, Object
from model_check.refinement.lockstep import Sides
from spec.system import rules
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import S, Table, find

VERB: Final = "control"
DIALECT: Final[Dialect] = "as-coded-0.10.2"
SETTINGS: Final = {
    "auto.leader.rebalance.enable": False, "delete.topic.enable": True, "unclean.leader.election.enable": False,
}  # fmt: skip
"""Kafka's settings in every theme, unless it has others: 0.10.2 has the opposite of each as its default."""
TOPICS: Final = ("/brokers/topics/", "/config/topics/")
WORDS: Final = {
    "action": "actions", "then": "pairs of actions", "row": "rows of the tables", "comes of": "kinds of turns",
    "order": "orders that are left open", "amid": "interruptions",
}  # fmt: skip
"""What scripts show."""


Cases: TypeAlias = tuple[tuple[Case, Shown], ...]
"""Cases, each with what it shows."""
T = TypeVar("T")


@dataclass(frozen=True)
class Made:
    """The cases of a theme, by what is compared, with what each of them shows; and how many scripts were walked."""

    done: Cases
    logged: Cases
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
    kinds = logged.kinds_of(found)
    done = _covering([(one, one.shows) for one in found])
    logs = _covering([(one, logged.shows(name, one)) for one in found])
    return Made(
        _merged((case_of(name, walker, one), shows) for one, shows in done),
        _merged((logged.log_case(case_of(name, walker, one), one, kinds), shows) for one, shows in logs),
        len(found),
    )


def _covering(shown: Sequence[tuple[T, Shown]]) -> list[tuple[T, Shown]]:
    """Those of some that are a cover of what all of them show."""
    return [shown[place] for place in cover([shows for _, shows in shown])]


def _merged(cases: Iterable[tuple[Case, Shown]]) -> Cases:
    """Cases, each once: some scripts differ in what nobody sees."""
    found: dict[str, tuple[Case, Shown]] = {}
    for case, shows in cases:
        first, before = found.get(case.hash, (case, Shown()))
        found[case.hash] = first, before | shows
    return tuple(found.values())


def kept(made: Mapping[str, Made]) -> dict[str, list[Case]]:
    """The cases of all themes that are a cover of what they show together; where two show the same, the first."""
    done = _covering([((name, case), shows) for name, one in made.items() for case, shows in one.done])
    logs = _covering(_merged(chain(*(one.logged for one in made.values()))))
    themes = {name: [case for (theme, case), _ in done if theme == name] for name in made}
    return {**themes, logged.GROUP: [case for case, _ in logs]}


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
    then: list[Object] = [{"turns": {str(len(script.turns) - 1): one}} for one in last.orders]
    earlier = [words for turn in script.turns[begun:-1] if (words := earlier_words(turn, scope))]
    sources = dict.fromkeys(SOURCES[one] for one in last.taken if one in SOURCES)
    tags = [VERB, *(["zombie"] if scope.controllers > 1 else []), *(["fault"] if last.coming is not None else [])]
    return Case(VERB, title(last, scope, earlier), given, then, [theme.section, *[*sources][:4]], tags, [DIALECT])


SOURCES: Final = {rule.name: rule.source for rule in rules() if rule.actor.startswith("controller")}


def script_of(walker: Walker, script: Script) -> list[list[Object]]:
    """A script's items, turn by turn; the topics that stand from the start come before everything."""
    tree = walker.sides.initial().cluster.zookeeper.tree
    standing = [{"create": path, "data": read(tree[path].data)} for path in tree if path.startswith(TOPICS)]
    return [[*(standing if not number else ()), *turn.items] for number, turn in enumerate(script.turns)]


def told_of(made: Mapping[str, Made]) -> Iterator[str]:
    """What is shown of the specification, as shares of what there is, a line each."""
    shown = Shown().union(*(shows for one in made.values() for _, shows in one.done))
    counts = Counter(one[0] for one in shown)
    walked = sum(one.walked for one in made.values())
    told = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items())
    cases = kept(made)
    logs = cases.pop(logged.GROUP)
    yield f"{sum(map(len, cases.values()))} of {walked} scripts show all of {told}"
    said = Shown().union(*(shows for one in made.values() for _, shows in one.logged))
    lines = [(one[1], one[2]) for one in said if one[0] == "line"]
    yield f"{len(logs)} show all of {len({kind for kind, _ in lines})} kinds of lines, {len(lines)} by the action too"
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
