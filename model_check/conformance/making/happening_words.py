"""What happens, in an engineer's words, for the title of a script."""

import re
from typing import Final

from model_check.conformance.making.walks import Coming, Turn
from spec.scopes import TOPICS, Scope

WORDS: Final = {
    "start_process": "broker {b} starts",
    "start_process_early": "broker {b} starts while its earlier session lives",
    "register_broker": "broker {b} registers",
    "fail_registration": "broker {b} cannot register",
    "close_failed_startup": "broker {b} gives up",
    "crash": "broker {b} is killed",
    "end_orphaned_session": "the session of broker {b} ends",
    "expire_session": "the session of broker {b} expires",
    "renew_session": "broker {b} has a new session",
    "shrink_isr": "broker {b} takes {r} out of the ISR of {p}",
    "expand_isr": "broker {b} takes {r} into the ISR of {p}",
    "rewrite_isr": "broker {b} writes the ISR of {p} again",
    "report_isr_changes": "broker {b} reports ISR changes",
    "remove_controller": "somebody deletes /controller",
    "write_controller": "somebody creates /controller, which names broker {b} again",
    "create_topic": "topic {t} is created",
    "read_for_addition": "a tool reads topic {t}",
    "write_addition": "partitions are added to topic {t}",
    "edit_assignment": "somebody writes another assignment",
    "request_deletion": "somebody asks for topic {t} to be deleted",
    "request_stray_deletion": "somebody asks for topic {t}, which is not there, to be deleted",
    "request_reassignment": "somebody asks for the move to {k}",
    "withdraw_reassignment": "somebody deletes the request for moves",
    "request_election": "somebody asks for preferred elections",
    "withdraw_election": "somebody deletes the request for elections",
    "stop_broker": "broker {b} is told to stop",
    "request_shutdown": "broker {b} asks for its controlled shutdown",
    "lose_shutdown_request": "broker {b} gets no answer",
    "leave_cluster": "broker {b} leaves",
    "check_imbalance": "the automatic rebalance looks",
}
STEP: Final = re.compile(r"(\w+)=(-?\d+)")


def step_words(name: str, scope: Scope) -> str:
    """What a step of the world's is."""
    rule, _, told = name.partition("(")
    given = {key: int(value) for key, value in STEP.findall(told)}
    partitions = [f"{one.topic}-{one.partition}" for one in scope.partition_names]
    values: dict[str, object] = {**given}
    if "p" in given:
        values["p"] = partitions[given["p"]]
    if "t" in given:
        values["t"] = TOPICS[given["t"]]
    if "k" in given:
        moves = zip(partitions, scope.requests[given["k"]], strict=True)
        values["k"] = " and ".join(f"{[one for one in to if one]} of {tp}" for tp, to in moves)
    return WORDS[rule].format(**values)


def words_of(turn: Turn, scope: Scope) -> str:
    """What begins a turn; nothing where another controller's step does."""
    return ", ".join(step_words(one, scope) for one in turn.first if one.partition("(")[0] in WORDS)


def title(turn: Turn, scope: Scope, earlier: list[str]) -> str:
    """What a script is for: what happens last, after what has happened before, and what comes amid that."""
    told, coming = words_of(turn, scope), turn.coming
    if earlier:
        told = f"{'; '.join(earlier)}; then {told}"
    while coming is not None:
        told += f"; {_coming_words(coming, scope)}"
        coming = coming.then
    return told[:1].upper() + told[1:]


def _coming_words(coming: Coming, scope: Scope) -> str:
    """What comes in the midst of a turn."""
    write = " of ".join(coming.before)
    if coming.deletion:
        return f"broker {coming.deletion} cannot delete a replica"
    if coming.steps:
        return f"right before the {write}: {_amid(coming, scope)}"
    return f"the answer to the {write} is lost"


def earlier_words(turn: Turn, scope: Scope) -> str:
    """What happened in an earlier turn."""
    coming = turn.coming
    if coming is None:
        return words_of(turn, scope)
    told = _amid(coming, scope) or ("a replica cannot be deleted" if coming.deletion else "an answer is lost")
    return f"{words_of(turn, scope)} (amid that {told})"


def _amid(coming: Coming, scope: Scope) -> str:
    return ", ".join(step_words(one, scope) for one in coming.steps if one.partition("(")[0] in WORDS)
