"""Expectations: what the manifest says that each scope must give, by variant and engine.

A count that may drift is no gate, so the manifest holds exact numbers, written down by a person who looked at them:

    [scope.tiny.verify]              # how `kcheck verify` handles the scope; every line may be left out
    deep = false                     # true: only with --deep
    goals = true                     # false: keep no graph, say nothing of `recoverable` and `eventually`
    replayed = false                 # true: every edge of its first variant is compared with the reference, every day
    simulated = false                # true: with --deep, random runs of it are

    [scope.tiny.expect.AS_CODED]     # exhaustive exploration; the key is a variant, "AS_CODED+SWITCH", FENCED-SWITCH
    states = 12556
    transitions = 40236
    depth = 29
    digest = "4019-..."
    violated = { property = 12 }     # the length of the shortest trace
    incomplete = { property = "why" }
    unwitnessed = ["property"]       # a `sometimes` that this scope has no state for
    never_fired = ["rule"]           # a rule that is enabled nowhere
    bounds_hit = ["rule"]            # a rule that somewhere only a bound of the scope stops
    rows = { P-NEW-ONLINE = 5 }      # where given: every row of the tables that is taken, and its first depth

    [scope.tiny.prove.AS_CODED]      # induction, for all `always` and `step` properties
    violated = ["property"]          # not to be proved: the exploration of some scope shows it broken, or a test's run
    shown = { property = "where" }   # where it is shown, if no exploration of this variant breaks it
    incomplete = { property = "why" }    # what induction leaves open,
    bounded = { property = 25 }          # and up to how many steps it is known to hold (looked at with --deep)

Everything that is not named HOLDS; `[scope.NAME.matrix]` is described in spec/matrix_plans.py. Names are checked when a
scope's plan is read, so a renamed property cannot leave an expectation behind that nobody looks at.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from typing import Any

from spec.defects import UNFOUND, rows_of
from spec.errors import BadInput, UnknownName, Where
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.manifest import SOURCE, manifest
from spec.matrix_plans import MatrixPlan, read_matrix
from spec.properties import claim_named
from spec.system import rules
from spec.tables.taken_rows import ROWS
from spec.variants import FENCED, Switches, show_switches, switches_named


@dataclass(frozen=True)
class Expectation:
    """What exploring a scope under a variant must give; lengths of shortest traces in `violated`."""

    scope: str
    variant: str
    states: int
    transitions: int
    depth: int
    digest: str
    violated: Mapping[str, int]
    incomplete: Mapping[str, str]
    unwitnessed: frozenset[str]
    never_fired: frozenset[str]
    bounds_hit: frozenset[str]
    rows: Mapping[str, int] | None = None
    """The rows of the transition tables that are taken, with first depths; None where nobody asks."""

    @property
    def switches(self) -> Switches:
        """The variant as switches."""
        return switches_named(self.variant)


@dataclass(frozen=True)
class ProofExpectation:
    """What proving the properties of a scope under a variant must give: HOLDS for all that are not named."""

    scope: str
    variant: str
    violated: frozenset[str]
    incomplete: Mapping[str, str]
    bounded: Mapping[str, int]
    shown: Mapping[str, str] = field(default_factory=dict)
    """Where that of `violated` is shown broken which no exploration of this variant breaks."""

    @property
    def switches(self) -> Switches:
        """The variant as switches."""
        return switches_named(self.variant)


USUALLY = {"deep": False, "goals": True, "replayed": False, "simulated": False}
"""The flags of a scope's table `verify`, as they are where it does not say."""


@dataclass(frozen=True)
class Plan:
    """How a scope is verified, as the flags of its table `verify` say, and what must come of it."""

    scope: str
    deep: bool
    goals: bool
    replayed: bool
    simulated: bool
    explorations: tuple[Expectation, ...]
    proofs: tuple[ProofExpectation, ...]
    matrix: MatrixPlan | None = None

    def exploration(self, variant: str) -> Expectation | None:
        """What is expected of exploring the scope under a variant, if anything is."""
        return next((one for one in self.explorations if one.variant == variant), None)


def plans(given: Mapping[str, Any] | None = None) -> Mapping[str, Plan]:
    """The plan of every scope by name; MalformedInput or UnknownName say what is wrong in the manifest."""
    entries = (manifest() if given is None else given)["scope"]
    return {name: _plan(name, entry) for name, entry in entries.items()}


GOAL = "recoverable_"
"""How the names of goals begin that can be reached from everywhere."""


def known_to_break(variant: str, release: KafkaVersion | None) -> frozenset[str]:
    """What some scope violates under a variant, or only a real run has shown.

    And what an older release's defects break, and goals of which a scope shows only with a fix that they are lost.
    """
    switches, explored = switches_named(variant), (one for plan in plans().values() for one in plan.explorations)
    violated = (name for one in explored if one.variant == variant for name in one.violated)
    rows = rows_of(release or V0102, switches)
    elsewhere = [one.breaks for one in rows if one.base - FENCED or (one.base and one.breaks.startswith(GOAL))]
    unreached = (name.replace(GOAL, "eventually_") for name in elsewhere)  # what a recording shows of a goal
    shown = (one.breaks for one in UNFOUND if one.breaks and not one.fix <= switches)
    return frozenset((*violated, *unreached, *shown))


def plan(scope: str) -> Plan:
    """The plan of a scope; UnknownName lists the known ones, MalformedInput says what is wrong in this one."""
    known = manifest()["scope"]
    if scope not in known:
        raise UnknownName("scope", scope, known, listed_by="kcheck show scopes")
    return _plan(scope, known[scope])


def _plan(name: str, entry: Mapping[str, Any]) -> Plan:
    where = Where(SOURCE, f"scope.{name}")
    _only(entry, ("bounds", "verify", "expect", "prove", "matrix"), where)
    verify, expect, prove = (_table(entry, key, where) for key in ("verify", "expect", "prove"))
    matrix = read_matrix(entry["matrix"], where.key("matrix")) if "matrix" in entry else None
    for key in matrix.expected if matrix else ():
        _variant(key, where.key("matrix").key("expect").key(key))
    _only(verify, list(USUALLY), where.key("verify"))
    flags = {
        flag: _typed(verify.get(flag, usual), bool, where.key("verify").key(flag)) for flag, usual in USUALLY.items()
    }
    return Plan(
        name,
        **flags,
        explorations=tuple(_expectation(name, key, table, where.key("expect")) for key, table in expect.items()),
        proofs=tuple(_proof(name, key, table, where.key("prove")) for key, table in prove.items()),
        matrix=matrix,
    )


def _expectation(scope: str, variant: str, entry: Mapping[str, Any], where: Where) -> Expectation:
    where = where.key(variant)
    _only(entry, [one.name for one in fields(Expectation)][2:], where)
    return Expectation(
        scope,
        _variant(variant, where),
        states=_typed(entry.get("states"), int, where.key("states")),
        transitions=_typed(entry.get("transitions"), int, where.key("transitions")),
        depth=_typed(entry.get("depth"), int, where.key("depth")),
        digest=_typed(entry.get("digest"), str, where.key("digest")),
        violated=_properties(_table(entry, "violated", where), int, where.key("violated")),
        incomplete=_properties(_table(entry, "incomplete", where), str, where.key("incomplete")),
        unwitnessed=frozenset(_properties(_listed(entry, "unwitnessed", where), None, where.key("unwitnessed"))),
        never_fired=_rules(_listed(entry, "never_fired", where), where.key("never_fired")),
        bounds_hit=_rules(_listed(entry, "bounds_hit", where), where.key("bounds_hit")),
        rows=_rows(_table(entry, "rows", where), where.key("rows")) if "rows" in entry else None,
    )


def _proof(scope: str, variant: str, entry: Mapping[str, Any], where: Where) -> ProofExpectation:
    where = where.key(variant)
    _only(entry, ("violated", "incomplete", "bounded", "shown"), where)
    incomplete = _properties(_table(entry, "incomplete", where), str, where.key("incomplete"))
    bounded = _properties(_table(entry, "bounded", where), int, where.key("bounded"))
    for name in bounded.keys() ^ incomplete.keys():
        where.refuse(f"{name} is in only one of incomplete and bounded: what is left open has a reason and a depth")
    violated = frozenset(_properties(_listed(entry, "violated", where), None, where.key("violated")))
    shown = _properties(_table(entry, "shown", where), str, where.key("shown"))
    for name in shown.keys() - violated:
        where.refuse(f"{name} is shown to be broken, but not among the violated")
    return ProofExpectation(scope, _variant(variant, where), violated, incomplete, bounded, shown)


def _variant(text: str, where: Where) -> str:
    """A key under which a run is found: the text by which its switches are shown."""
    _named(partial(switches_named, text), where)
    if text != (shown := show_switches(switches_named(text))):
        where.refuse(f"is written {shown}")
    return text


def _properties(given: Any, value: type | None, where: Where) -> dict[str, Any]:
    """Properties by name, each name known and each value of the type; a list has no values."""
    named = dict.fromkeys(given) if value is None else dict(given)
    for name, one in named.items():
        _named(partial(claim_named, name), where)
        if value is not None:
            _typed(one, value, where.key(name))
    return named


def _rules(given: Iterable[str], where: Where) -> frozenset[str]:
    for name in given:
        if name not in _rule_names():
            where.refuse(str(UnknownName("rule", name, sorted(_rule_names()))))
    return frozenset(given)


@cache
def _rule_names() -> frozenset[str]:
    return frozenset(rule.name for rule in rules())


def _rows(given: Mapping[str, Any], where: Where) -> dict[str, int]:
    for name, depth in given.items():
        if name not in ROWS:
            where.refuse(str(UnknownName("row", name, sorted(ROWS))))
        _typed(depth, int, where.key(name))
    return dict(given)


def _named(look_up: Callable[[], object], where: Where) -> None:
    try:
        look_up()
    except BadInput as error:
        where.refuse(str(error))


def _table(entry: Mapping[str, Any], key: str, where: Where) -> Mapping[str, Any]:
    given = entry.get(key, {})
    if not isinstance(given, Mapping):
        where.key(key).refuse("is not a table")
    return given


def _listed(entry: Mapping[str, Any], key: str, where: Where) -> list[str]:
    given = entry.get(key, [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        where.key(key).refuse("is not a list of names")
    return given


def _only(given: Mapping[str, Any], known: Sequence[str], where: Where) -> None:
    if not isinstance(given, Mapping):
        where.refuse("is not a table")
    for key in given:
        if key not in known:
            where.key(key).refuse(f"is not one of {', '.join(known)}")


def _typed(given: Any, kind: type, where: Where) -> Any:
    if given is None:
        where.refuse("is missing")
    if not isinstance(given, kind) or (kind is int and isinstance(given, bool)):
        where.refuse(f"is not of type {kind.__name__}")
    return given
