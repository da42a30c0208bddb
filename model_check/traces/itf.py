"""Traces as files, in the Informal Trace Format (ITF) of Apalache and Quint.

ITF is JSON that other tools read: a list of variables, a list of states, and `#meta` for whatever the writer wants to
say. See https://apalache-mc.org/docs/adr/015adr-trace.html. A flag is a JSON boolean, every other value the raw integer
of its kind (`{"#bigint": "..."}` beyond 2^53, where JSON readers begin to round). ITF has no steps, only states: so an
auxiliary variable `action` says which action led to each state, and `init` in the first. `#meta` names the system, its
digest and the variant, without which nobody could tell what the trace is a trace of, and the property that it shows
broken, out of reach or witnessed.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_check.traces.trace import State, Trace
from spec.language.rules import TransitionSystem
from spec.language.terms import FLAG

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION, INIT, META = "action", "init", "#meta"
ORIGIN = ("system", "digest", "variant", "property")
"""What `#meta` says of where a trace comes from."""
LARGEST_PLAIN = 2**53 - 1


class ItfError(Exception):
    """A file is not a trace in ITF; the message says where and why."""


@dataclass(frozen=True)
class SavedTrace:
    """A trace with what its file says of where it comes from; the texts are empty where the file says nothing.

    `property` is what it is a trace of.
    """

    trace: Trace
    system: str = ""
    digest: str = ""
    variant: str = ""
    property: str = ""


def to_itf(saved: SavedTrace, system: TransitionSystem) -> dict[str, Any]:
    """The document that ITF asks for."""
    flags = {variable.name for variable in system.variables if variable.kind is FLAG}
    names = [variable.name for variable in system.variables]
    return {
        META: {"format": "ITF", "format-description": FORMAT, **{name: getattr(saved, name) for name in ORIGIN}},
        "vars": [ACTION, *names],
        "states": [
            {
                META: {"index": index},
                ACTION: action or INIT,
                **{name: _written(state[name], flag=name in flags) for name in names},
            }
            for index, (action, state) in enumerate(saved.trace.steps)
        ],
    }


def _written(raw: int, *, flag: bool) -> object:
    if flag:
        return bool(raw)
    return raw if abs(raw) <= LARGEST_PLAIN else {"#bigint": str(raw)}


def save(path: Path, saved: SavedTrace, system: TransitionSystem) -> None:
    """Write a trace of a system to a file."""
    path.write_text(json.dumps(to_itf(saved, system), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> SavedTrace:
    """Read a trace from a file; ItfError names the file and what is wrong in it."""
    try:
        return from_itf(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ItfError(f"{path}: cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ItfError(f"{path}: not JSON: {error}") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise ItfError(f"{path}: cannot be read: {error}") from error
    except ItfError as error:
        raise ItfError(f"{path}: {error}") from error


def from_itf(document: Any) -> SavedTrace:
    """The trace that a document holds; ItfError says what is wrong with it."""
    _expect(isinstance(document, dict), "an ITF trace is a JSON object")
    variables, states = document.get("vars"), document.get("states")
    are_texts = isinstance(variables, list) and all(isinstance(one, str) for one in variables)
    _expect(are_texts, "`vars` is missing or is not a list of names")
    _expect(ACTION in variables, f"`vars` lacks `{ACTION}`, the variable that says which action led to a state")
    _expect(isinstance(states, list) and states, "`states` is missing or is not a list of one or more states")
    names = [name for name in variables if name != ACTION]
    steps = tuple(_step(index, state, names) for index, state in enumerate(states))
    meta = document.get(META, {})
    _expect(isinstance(meta, dict), f"`{META}` is not an object")
    origin = {key: str(meta.get(key, "")) for key in ORIGIN}
    return SavedTrace(Trace(steps), **origin)


def _step(index: int, state: Any, names: list[str]) -> tuple[str | None, State]:
    _expect(isinstance(state, dict), f"state {index} is not an object")
    action = state.get(ACTION)
    _expect(isinstance(action, str), f"state {index} does not say which `{ACTION}` led to it")
    _expect((action == INIT) == (index == 0), f"state {index} says `{ACTION}` {action}; only the first says {INIT}")
    missing = [name for name in names if name not in state]
    _expect(not missing, f"state {index} lacks {', '.join(missing)}")
    extra = [name for name in state if name not in {ACTION, META, *names}]
    _expect(not extra, f"state {index} has {', '.join(extra)}, which `vars` does not name")
    return action if index else None, {name: _read(index, name, state[name]) for name in names}


def _read(index: int, name: str, value: Any) -> int:
    if isinstance(value, dict) and set(value) == {"#bigint"} and isinstance(value["#bigint"], str):
        text = value["#bigint"]
        value = int(text) if text.removeprefix("-").isdecimal() else text
    _expect(isinstance(value, int), f"state {index}: {name} is neither an integer nor a boolean: {json.dumps(value)}")
    return int(value)


def _expect(holds: object, complaint: str) -> None:
    if not holds:
        raise ItfError(complaint)
