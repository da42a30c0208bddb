"""Scripts for a driven controller, theme by theme: each a scope, whose stages are walked, and a cover of its turns.

What is expected is what the specification says, in every order that it leaves open (`walks.py`); of a script's turns
the last is compared, which is what it is for: what the controller does in it, or what it logs (`logged.py`). A theme
is made without the others, so Spark's workers make them side by side, and it is the same however many they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from model_check.conformance.driving.acts import read
from model_check.conformance.making import logged
from model_check.conformance.making.cases import Case
from model_check.conformance.making.happening_words import earlier_words, title
from model_check.conformance.making.rounds import VERSIONS, asked, comes_by, new_to
from model_check.conformance.making.stages import TOGETHER, Script, Shown, cover, scripts
from model_check.conformance.making.themes import THEMES
from model_check.conformance.making.unheard import unheard
from model_check.conformance.making.walks import Walker
from model_check.conformance.making.who_acts import DRIVEN
from model_check.conformance.vector import Dialect, Object
from model_check.refinement.lockstep import Sides
from spec.system import rules

VERB: Final = "control"
DIALECT: Final[Dialect] = "as-coded-0.10.2"
SETTINGS: Final = {
    "auto.leader.rebalance.enable": False, "delete.topic.enable": True, "unclean.leader.election.enable": False,
}  # fmt: skip
"""Kafka's settings in every theme, unless it has others: 0.10.2 has the opposite of each as its default."""
TOPICS: Final = ("/brokers/topics/", "/config/topics/")


Cases: TypeAlias = tuple[tuple[Case, Shown], ...]
"""Cases, each with what it shows."""


@dataclass(frozen=True)
class Made:
    """The cases of a theme, and how many scripts were walked.

    `done` are those of what the controller does, `until` how many of them there were with each version of the vectors;
    `logged` are those of what it logs.
    """

    done: Cases
    until: Mapping[str, int]
    logged: Cases
    walked: int


def walked(name: str) -> tuple[Walker, list[Script]]:
    """Every script of a theme."""
    theme = THEMES[name]
    scope = theme.scope(name)
    walker = Walker(Sides(scope))
    bare = starting(scope.brokers)
    together = TOGETHER | theme.together
    found = list(scripts(walker, bare, theme.turns, together, faulty_start=theme.faulty_start))
    if theme.begun:
        found += scripts(walker, [*bare, *((step,) for step in theme.begun)], theme.turns, together)
    return walker, [*unheard(found)] if theme.unheard else found


def starting(brokers: int) -> list[tuple[str, ...]]:
    """One broker after the other starts and registers; the controller that is driven is there first."""
    own = [(f"start_process(b={DRIVEN})",), (f"register_broker(b={DRIVEN})",)]
    return own + [(f"start_process(b={b})", f"register_broker(b={b})") for b in range(DRIVEN + 1, brokers + 1)]


def make(name: str) -> Made:
    """The cases of a theme: a cover of what its scripts show, version by version."""
    walker, found = walked(name)
    done: Cases = ()
    until: dict[str, int] = {}
    for version in VERSIONS:
        earlier, known = {case.hash for case, _ in done}, Shown().union(*(shows for _, shows in done))
        looked_for = [asked(one.shows, version) for one in found] if comes_by(THEMES[name].since, version) else []
        fresh = [(case_of(name, walker, found[place]), found[place].shows) for place in cover(looked_for, known)]
        told = ((case, new_to(shows, version) if case.hash in earlier else shows) for case, shows in fresh)
        done = _merged([*done, *told])
        until[version] = len(done)
    return Made(done, until, _logged(name, walker, found), len(found))


def _logged(name: str, walker: Walker, found: Sequence[Script]) -> Cases:
    """The cases of the lines that scripts log, of which each shows something more."""
    kinds, shows = logged.kinds_of(found), [logged.shows(name, one) for one in found]
    chosen = [(found[place], shows[place]) for place in cover(shows)]
    return _merged((logged.log_case(case_of(name, walker, one), one, kinds), shown) for one, shown in chosen)


def _merged(cases: Iterable[tuple[Case, Shown]]) -> Cases:
    """Cases, each once: some scripts differ in what nobody sees."""
    found: dict[str, tuple[Case, Shown]] = {}
    for case, shows in cases:
        first, before = found.get(case.hash, (case, Shown()))
        found[case.hash] = first, before | shows
    return tuple(found.values())


def chosen(made: Mapping[str, Made]) -> dict[str, list[int]]:
    """The cases that cover what all themes show together, by their numbers; where two show the same, the first.

    What a version shows its next one need not, so the cases of an earlier version stay as they are.
    """
    found: dict[str, list[int]] = {name: [] for name in made}
    known = Shown()
    for version in VERSIONS:
        places = [(name, number) for name, one in made.items() for number in range(one.until[version])]
        for place in cover([asked(made[name].done[number][1], version) for name, number in places], known):
            found[places[place][0]].append(places[place][1])
        known = known.union(*(made[name].done[number][1] for name, numbers in found.items() for number in numbers))
    return found


def kept(made: Mapping[str, Made]) -> dict[str, list[Case]]:
    """The cases of all themes, as they become vectors."""
    done = {name: [made[name].done[number][0] for number in numbers] for name, numbers in chosen(made).items()}
    logs = _merged(chain(*(one.logged for one in made.values())))
    return {**done, logged.GROUP: [logs[place][0] for place in cover([shows for _, shows in logs])]}


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
    """A script's items, turn by turn; the topics that exist from the start come before everything."""
    tree = walker.sides.initial().cluster.zookeeper.tree
    standing = [{"create": path, "data": read(tree[path].data)} for path in tree if path.startswith(TOPICS)]
    return [[*(standing if not number else ()), *turn.items] for number, turn in enumerate(script.turns)]
