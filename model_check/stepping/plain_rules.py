"""The rules of the specification as plain Python: on a state of numbers they make no terms and enter no dead branch.

The text is the specification's own. Each module of `spec` that speaks the words of an action (`require`, `when`,
`observe` ...) is read once more, with one change to its syntax tree: `with when(condition):`, which in a system being
built only guards the assignments below it, becomes `if holds(condition):`. In a state of numbers every condition is
known, so both say the same, and the second does not run what does not apply. The words themselves are replaced by those
below: an unmet `require` ends the rule at once.

Nothing is written twice: change a rule, and this runs the changed rule. That both readings agree, on every edge and
every disabled action of whole scopes, is tested.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Final

from model_check.compiled_modules import kept_code
from spec.language import rules as language
from spec.language.rules import Rule, rules_of
from spec.language.terms import Value, flag
from spec.system import CONTINUATIONS, MODULES

MODELLING_LAYER = "spec.language."
LANGUAGE = f"{MODELLING_LAYER}rules"
HOLDS = "if this holds"
"""What `holds` is called in a rule that is read again: a name that no rule can have taken for something else."""


class NotEnabled(Exception):
    """A requirement of a rule does not hold in this state."""


@dataclass(frozen=True)
class Seen:
    """What an observer sees of a step: who did which kind of thing, with which fields (all of them known)."""

    role: str
    kind: str
    fields: Mapping[str, Value]

    def __str__(self) -> str:
        shown = [f"{name}={value.kind.show(value.raw)}" for name, value in self.fields.items()]
        return " ".join([self.role, self.kind, *shown])


@dataclass(frozen=True)
class Said:
    """A line that Kafka writes to its log at a step: its class, and its fields as the model has them.

    Lines of one `group`, which are next to each other, are written in any order; 0 is none. One that is said `perhaps`
    may be missing.
    """

    line: type
    fields: Mapping[str, Any]
    group: int = 0
    perhaps: bool = False


@dataclass
class Run:
    """What one run of a rule leaves behind, beside the state: what is seen and said, and whether it had room."""

    seen: list[Seen] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    group: int = 0
    groups: int = 0
    fits: bool = True


_runs: list[Run] = []


def run(rule: Rule, state: Any, model: object, parameters: Mapping[str, int]) -> Run:
    """Run a rule on a view of numbers; NotEnabled if a requirement does not hold."""
    leaves = Run()
    _runs.append(leaves)
    try:
        rule.function(state, model, **parameters)
    finally:
        _runs.pop()
    return leaves


# ------------------------------------------------------------------------------- the words of an action, once more


def holds(condition: object) -> bool:
    """Whether a condition, all of whose variables are known, holds."""
    return flag(condition).raw == 1


def require(*conditions: object) -> None:
    """Go on only where all of these hold."""
    for condition in conditions:
        if not flag(condition).raw:
            raise NotEnabled


def fits(condition: object) -> None:
    """Remember where there was no room; a later requirement may still say that the rule is not enabled at all."""
    if not flag(condition).raw:
        _runs[-1].fits = False


def successor(counter: Value) -> Value:
    """The counter plus one."""
    fits(counter.kind.unbounded or counter.raw < counter.kind.maximum)
    return counter.plus(1)


def observe(role: str, kind: str, **fields: Value | int) -> None:
    """An observer sees this now."""
    known = {name: value if isinstance(value, Value) else language.constant(value) for name, value in fields.items()}
    _runs[-1].seen.append(Seen(role, kind, known))


def say(line: type, *, perhaps: object = False, **fields: Any) -> None:
    """Kafka writes this line now."""
    leaves = _runs[-1]
    leaves.said.append(Said(line, fields, leaves.group, holds(perhaps)))


@contextmanager
def in_any_order() -> Iterator[None]:
    """What is said inside is one group, unless it is in another's inside."""
    leaves = _runs[-1]
    if leaves.group:
        yield
        return
    leaves.groups += 1
    leaves.group = leaves.groups
    yield
    leaves.group = 0


def reset(view: Any, *names: str) -> None:
    """Return a record (or the named fields of it) to its initial values."""
    view.forget(*names)


def take(row: str, condition: object) -> None:
    """Which row of a transition table it is, is asked of nobody here: Kafka's own log tells."""


WORDS = {word.__name__: word for word in (require, fits, successor, observe, say, in_any_order, reset, take)}
REPLACED = frozenset({*WORDS, "when"})


# --------------------------------------------------------------------------------------------- reading the modules


class _Branches(ast.NodeTransformer):
    """Makes `with when(condition):` an `if`."""

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(context_expr=ast.Call(func=ast.Name(id="when") as word) as call, optional_vars=None)]:
                word.id = HOLDS
                return ast.copy_location(ast.If(test=call, body=node.body, orelse=[]), node)
            case _:
                return node


class _Reader:
    """Modules read once more, by name; what they import is read once more where it speaks the words of an action."""

    def __init__(self) -> None:
        self.read: dict[str, ModuleType] = {}
        self.language = SimpleNamespace(**{**vars(language), **WORDS})
        self.builtins = {**vars(builtins), "__import__": self._import, HOLDS: holds}

    def _import(
        self,
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if name == LANGUAGE and fromlist:
            return self.language
        if fromlist and name.startswith("spec.") and _speaks(name):
            return self.module(name)
        return builtins.__import__(name, globals_, locals_, fromlist, level)

    def module(self, name: str) -> ModuleType:
        """A module, read once more."""
        if name not in self.read:
            module = ModuleType(name)
            module.__dict__["__builtins__"] = self.builtins
            self.read[name] = module
            exec(_code(name), module.__dict__)  # noqa: S102 - the specification's own text, with `if` for `with when`
        return self.read[name]


OWN_TEXT: Final = Path(__file__).read_bytes()


def _code(name: str) -> CodeType:
    """A module's code, with the change to its syntax tree."""
    path = str(import_module(name).__file__)
    text = Path(path).read_bytes()

    def changed() -> CodeType:
        code: CodeType = compile(_Branches().visit(ast.parse(text)), path, "exec")
        return code

    return kept_code(f"plain-{name}", b"\n".join((path.encode(), OWN_TEXT, text)), changed)


@cache
def _speaks(name: str) -> bool:
    """Whether a module has imported words of an action that are replaced here; where they are declared is none."""
    if name.startswith(MODELLING_LAYER):
        return False
    words = {id(getattr(language, word)) for word in REPLACED}
    return not words.isdisjoint(map(id, vars(import_module(name)).values()))


@cache
def plain_rules() -> Mapping[str, Rule]:
    """Every rule of the protocol by name, its function to be run on numbers."""
    reader = _Reader()
    reader.module(CONTINUATIONS.__name__)
    return {rule.name: rule for module in MODULES for rule in rules_of(reader.module(module.__name__))}
