"""Scripts of which the lines are compared that a driven controller logs in the last turn.

A line is expected where the specification says that it is written, and knows all of it; in a turn in which it does not
know all of one, lines of that kind are not compared. Scripts are chosen so that each action says each of its lines,
each theme what it may, and each row of a table is taken; and that of what nothing is said of one is there, too.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from model_check.conformance.driving.log_lines import KINDS, LISTENERS
from model_check.conformance.making.cases import Case
from model_check.conformance.making.stages import Script, Shown
from model_check.conformance.making.unheard import UNHEARD
from model_check.conformance.making.walks import NEW_SESSION
from model_check.conformance.making.who_acts import DRIVEN, LOOKS
from model_check.conformance.vector import Object

GROUP: Final = "log"
LINE: Final = "line"
"""A line, and the action that says it, as a kind of what is shown."""
ELECTED: Final = "elect_create"
BEGIN: Final = (f"{LOOKS}(", "request_shutdown(")
"""What has a controller begin its work, whether it has a session or not."""
ENDS: Final = f"expire_session(b={DRIVEN}"


def shows(name: str, script: Script) -> Shown:
    """What the last turn of a script of a theme shows.

    Nothing where its first lines stand in a turn before, or no walk is behind it.
    """
    last = script.turns[-1]
    if _goes_on(script) or any(kind == UNHEARD for kind, *_ in script.shows):
        return Shown()
    said = _says(script)
    found: set[tuple[str, ...]] = {(LINE, kind, rule) for kind, rule in said}
    found |= {("said in", kind, name) for kind, _ in said}
    found |= {("row", one) for one in last.taken if ": " in one}
    if not said:
        found.add(("nothing said", *(one.partition("(")[0] for one in last.first)))
    return frozenset(found)


def _says(script: Script) -> frozenset[tuple[str, str]]:
    """The lines of the last turn, and which action says them, of those that are compared."""
    unsure = _unsure(script)
    return frozenset((kind, rule) for kind, rule in script.turns[-1].says if kind in KINDS and kind not in unsure)


def _unsure(script: Script) -> frozenset[str]:
    """The kinds of which it is open whether they are said in the last turn.

    Where a controller is elected, its listeners may be called by what happened before, and find nothing.
    """
    last = script.turns[-1]
    return last.unsure | LISTENERS if ELECTED in last.taken else last.unsure


def _goes_on(script: Script) -> bool:
    """Whether the last turn goes on with what was begun while there was no session."""
    last = script.turns[-1]
    if NEW_SESSION not in last.first:
        return False
    ended = max(place for place, one in enumerate(script.turns) if any(name.startswith(ENDS) for name in one.first))
    return any(name.startswith(BEGIN) for one in script.turns[ended:-1] for name in one.first)


def kinds_of(scripts: Iterable[Script]) -> frozenset[str]:
    """The kinds of lines that some scripts say."""
    return frozenset(kind for script in scripts for kind, _ in _says(script))


def log_case(case: Case, script: Script, kinds: Iterable[str]) -> Case:
    """The case that asks for the lines of a script's last turn, among those of some kinds.

    Where that may be none, what is done is asked for, too, for a controller that only waits logs nothing.
    """
    last, number = script.turns[-1], str(len(script.turns) - 1)
    compared = sorted({*kinds} - _unsure(script))
    orders = sorted({tuple(line for line, kind in one if kind in compared) for one in last.logs})
    lines: list[Object] = [{"lines": {number: [*one]}} for one in orders]
    return replace(
        case,
        title=f"{case.title}; what is logged then",
        given={**case.given, "lines": compared},
        then=[one | done for one in lines for done in case.then] if () in orders else lines,
        tags=[*case.tags, GROUP],
    )
