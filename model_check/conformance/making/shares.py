"""What scripts show of the specification, as shares of what there is, each with what is missing."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from model_check.conformance.making import beyond, logged
from model_check.conformance.making.controlled import Made, chosen, kept
from model_check.conformance.making.occasions import (
    BRANCH,
    BRANCHES,
    BROKEN,
    OCCASION,
    TAKEN,
    TROUBLE,
    tells_of_trouble,
)
from model_check.conformance.making.stages import Shown
from model_check.conformance.making.who_acts import CONTROLLER, LOOKS
from spec.defects import DEFECTS
from spec.formats.kafka_types import V0102
from spec.language.rules import GOALS
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.model import BROUGHT
from spec.properties import claims
from spec.scopes import APART
from spec.system import rules
from spec.tables.taken_rows import ROWS
from spec.variants import AS_CODED

WORDS: Final = {
    "action": "actions", "then": "pairs of actions", "row": "rows of the tables", "comes of": "kinds of turns",
    "order": "orders that are left open", "amid": "interruptions",
}  # fmt: skip
"""What scripts show that has no end of its own."""
OWN: Final = frozenset(
    one.name
    for one in rules()
    if one.actor == CONTROLLER and one.budget is None and one.parts.isdisjoint(BROUGHT) and one.name != LOOKS
)
"""The actions of a controller of 0.10.2 as it is coded: others are of older releases, or come with a fix."""
LOST: Final = frozenset(one.name for one in rules() if one.actor == CONTROLLER and one.name.endswith("_unanswered"))


def claimed() -> tuple[frozenset[str], frozenset[str]]:
    """The occasions of the claims that speak of a controller of 0.10.2, and the claims that its defects break."""
    of_it = [one for one in claims() if one.parts.isdisjoint({*APART, *BROUGHT})]
    occasions = frozenset(one.name for one in of_it if one.kind == "sometimes")
    always = frozenset(one.name for one in of_it if one.kind not in {*GOALS, "sometimes"})
    return occasions, always & frozenset(one.breaks for one in DEFECTS if one.base == AS_CODED)


def troubles() -> frozenset[str]:
    """The lines of a controller of 0.10.2 that warn, or tell of an error."""
    of_changes = [one for one in STATE_CHANGE_LOG.kinds if issubclass(one, ControllerLine)]
    written = [one for one in (*CONTROLLER_LOG.kinds, *of_changes) if V0102 in one.templates]
    return frozenset(one.__name__ for one in written if tells_of_trouble(one))


def there_is() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each kind of what is shown, in words, and what there is of it."""
    occasions, breakable = claimed()
    yield TAKEN, "rows of the tables", frozenset(ROWS)
    yield BRANCH, "branches of the selectors", frozenset(map(" ".join, BRANCHES))
    yield OCCASION, "occasions of claims", occasions
    yield BROKEN, "claims that defects break", breakable
    yield TROUBLE, "lines that warn or tell of an error", troubles()


def told_of(made: Mapping[str, Made]) -> Iterator[str]:
    """What the vectors show of the specification, a line each, and why they do not show what is missing."""
    cases = [made[name].done[number][1] for name, numbers in chosen(made).items() for number in numbers]
    shown = Shown().union(*cases)
    counts = Counter(one[0] for one in shown)
    told = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items())
    yield f"{len(cases)} of {sum(one.walked for one in made.values())} scripts show all of {told}"
    for words, there, named in _compared(shown):
        yield share(words, there, named)
    yield _logged(made)
    yield from beyond.told(_missing(shown))


def amiss(made: Mapping[str, Made]) -> list[str]:
    """What is not shown and has no reason, and what is shown and has one."""
    return [*beyond.amiss(_missing(Shown().union(*(shows for one in made.values() for _, shows in one.done))))]


def _compared(shown: Shown) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """What there is and what is shown, by words."""
    actions = frozenset(one[1] for one in shown if one[0] == "action")
    yield "actions of a controller", OWN, actions
    yield "lost answers", LOST, actions
    for kind, words, there in there_is():
        yield words, there, frozenset(" ".join(one[1:]) for one in shown if one[0] == kind)


def _missing(shown: Shown) -> frozenset[str]:
    """All that is not shown, by name."""
    return frozenset(name for _, there, named in _compared(shown) for name in there - named)


def _logged(made: Mapping[str, Made]) -> str:
    said = Shown().union(*(shows for one in made.values() for _, shows in one.logged))
    lines = frozenset((one[1], one[2]) for one in said if one[0] == logged.LINE)
    kinds = frozenset(kind for kind, _ in lines)
    scripts = kept(made)[logged.GROUP]
    return f"{len(scripts)} scripts of lines show all of {len(kinds)} kinds of lines, and {len(lines)} by their action"


def share(words: str, there: frozenset[str], shown: frozenset[str]) -> str:
    """How many of what there is are shown, and which are not."""
    return f"{len(there & shown)} of {len(there)} {words}; without {', '.join(sorted(there - shown)) or 'none'}"
