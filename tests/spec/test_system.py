"""Systems are well formed: names are unique, sorts right, nothing is written that is no variable, nothing is dead."""

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest
import z3

import spec.protocol
from model_check.inventory import whole_protocol
from model_check.inventory.whole_protocol import WHOLE, WITH_OLDER_RULES
from spec.expectations import plans
from spec.language import rules as language
from spec.language.rules import Action, Rule, TransitionSystem, rules_of
from spec.language.rules import action as declared
from spec.language.views import Frame
from spec.model import BROUGHT, UNFIXED, Model
from spec.properties import claims
from spec.protocol.failover.steps import read_epoch
from spec.scopes import BUDGETS, PARTS, scope, scopes
from spec.system import MODULES, instances, is_in_scope, rules, system
from spec.variants import AS_CODED, FENCED, Switches
from tests.spec.on_demand import OnDemand

pytestmark = pytest.mark.xdist_group("whole protocol")

#: Between them they have every part and every budget, as the systems of the whole protocol have.
SYSTEMS = [("left_overs", AS_CODED), ("losses", FENCED), ("topics", AS_CODED), ("metadata", FENCED)]
SYSTEMS += [("early", AS_CODED), ("notifications", FENCED), ("resends", AS_CODED), ("purgatory", AS_CODED)]
SYSTEMS += [("reassignment", FENCED), ("preferred_election", FENCED), ("rebalance", AS_CODED)]
SYSTEMS += [("recreation", AS_CODED), ("shutdown", FENCED), ("foreign_recreation", FENCED), ("late_copies", FENCED)]
SYSTEMS += [("dead_replica", FENCED), ("cached_leaderships", AS_CODED), ("heard_expiry", AS_CODED)]
SYSTEMS += [("leaderless_election", AS_CODED), ("failed_removal", AS_CODED), ("addition", FENCED)]
SYSTEMS += [("unanswered_deletion", FENCED), ("stray_deletion", AS_CODED), ("slow_notes", AS_CODED)]
SYSTEMS += [("joint_shrinks", AS_CODED), ("stale_fetch", AS_CODED), ("failed_send", AS_CODED)]
SYSTEMS += [("torn_removal", AS_CODED), ("small", AS_CODED), ("lost_moves", AS_CODED)]
SYSTEMS += [
    ("remedied_move", AS_CODED),
    ("allowed_unclean", FENCED),
    ("torn_request", AS_CODED),
    ("early_topics", AS_CODED),
    ("notification_reads", AS_CODED),
    ("late_requests", FENCED),
    ("failed_deletion", FENCED),
    ("edited_move", AS_CODED),
]
#: Every day beside the whole protocol, which is as coded: some with every fix.
DAILY = {"dead_replica", "addition"}
OF_SCOPES = [pytest.param(*one, id=one[0], marks=[pytest.mark.slow] * (one[0] not in DAILY)) for one in SYSTEMS]
every_system = pytest.mark.parametrize(
    ("name", "switches"), [*(pytest.param(one.name, WITH_OLDER_RULES, id=one.name) for one in WHOLE), *OF_SCOPES]
)


@cache
def built(name: str, switches: Switches) -> TransitionSystem:
    """A system of the whole protocol, or of the manifest."""
    whole = {one.model.scope.name: one for one in whole_protocol._built()}
    return whole[name] if name in whole else system(scope(name), switches)


def test_the_collector_of_garbage_rests_only_while_a_system_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def shape_of_nothing(_m: Model) -> None:
        seen.append(gc.isenabled())
        raise LookupError

    monkeypatch.setattr("spec.said_before.shape", shape_of_nothing)
    with pytest.raises(LookupError):
        system(scope("tiny"))
    assert seen == [False]
    assert gc.isenabled()


def test_the_systems_looked_at_have_every_part_and_every_budget() -> None:
    for looked_at in (WHOLE, [scope(name) for name, _ in SYSTEMS]):
        assert {feature for one in looked_at for feature in one.features} - {"unclean"} == {*PARTS, *BUDGETS}


@every_system
@pytest.mark.takes("The whole protocol is made, once for all tests that look at it.")
def test_names_are_unique(name: str, switches: Switches) -> None:
    one = built(name, switches)
    for named in (one.variables, one.actions, one.properties):
        assert [word for word, times in Counter(each.name for each in named).items() if times > 1] == []


def free_variables(term: z3.ExprRef) -> Iterator[z3.ExprRef]:
    """The free constants of a term, each once; only they get a Python object, since those take the time of a walk."""
    context, seen, waiting = term.ctx_ref(), set[int](), [term.as_ast()]
    while waiting:
        current = waiting.pop()
        if current.value in seen:
            continue
        seen.add(current.value)
        arguments = range(z3.Z3_get_app_num_args(context, current))
        waiting += [z3.Z3_get_app_arg(context, current, number) for number in arguments]
        leaf = None if arguments else z3.ExprRef(current, term.ctx)
        if leaf is not None and leaf.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield leaf


def terms_of(action: Action) -> list[z3.ExprRef]:
    """Every term of an action."""
    seen = [value.term for event in action.events for value in event.fields.values()]
    return [action.guard, action.overflow, *action.updates.values(), *seen, *(one.condition for one in action.events)]


@every_system
def test_terms_have_the_right_sorts_and_speak_of_variables_only(name: str, switches: Switches) -> None:
    one = built(name, switches)
    sorts = {variable.name: variable.sort for variable in one.variables}
    conditions = [term for action in one.actions for term in (action.guard, action.overflow)]
    conditions += [term for each in one.properties for term in (each.term, *each.terms.values()) if term is not None]
    assert all(z3.is_bool(term) for term in conditions)
    for action in one.actions:
        assert {path: term.sort() for path, term in action.updates.items()}.items() <= sorts.items(), action.name
    everything = z3.And(*conditions, *(z3.K(z3.BoolSort(), term) == z3.K(z3.BoolSort(), term)
                                       for action in one.actions for term in terms_of(action)))  # fmt: skip
    found = {str(variable): variable.sort() for variable in free_variables(everything)}
    assert found.items() <= sorts.items()


@every_system
def test_every_variable_is_read_or_shown_and_starts_within_its_kind(name: str, switches: Switches) -> None:
    for variable in built(name, switches).variables:
        assert 0 <= variable.initial <= variable.kind.maximum
        assert variable.show(variable.initial)


@pytest.mark.parametrize(("name", "switches"), OF_SCOPES)
def test_no_action_is_impossible_for_want_of_logic(name: str, switches: Switches) -> None:
    assert [action.name for action in built(name, switches).actions if z3.is_false(action.guard)] == []


def test_every_rule_has_a_statement_and_a_source_and_a_name_of_its_own() -> None:
    known = list(rules())
    assert len({rule.name for rule in known}) == len(known)
    for rule in known:
        assert rule.statement.endswith("."), rule.name
        assert rule.source, rule.name
        assert rule.actor, rule.name
        assert rule.budget is None or rule.budget in BUDGETS, rule.name
        assert rule.parts <= {*PARTS, *BUDGETS, *UNFIXED, *BROUGHT}.union(*PARTS.values()), rule.name


def test_every_module_of_rules_has_some() -> None:
    assert all(rules_of(module) for module in MODULES)


def test_every_claim_has_a_statement_and_a_source() -> None:
    for one in claims():
        assert one.statement.endswith((".", ").")), one.name
        assert one.source, one.name


def test_every_safety_claim_has_a_witness_that_every_scope_with_the_claim_has() -> None:
    known = {one.name: one for one in claims()}
    assert len(known) == len(list(claims()))
    for one in known.values():
        if one.kind in {"always", "step"}:
            assert one.witness is not None, one.name
            assert known[one.witness].kind == "sometimes", one.name
            assert known[one.witness].parts <= one.parts | {"partitions"}, f"{one.name}: every part is about partitions"
        else:
            assert one.witness is None, one.name
    named = {one.witness for one in known.values()}
    assert {one.name for one in known.values() if one.kind == "sometimes"} - named == {
        "a_broker_leads_with_a_stale_version",  # it stands for itself: D6 begins there
        "a_rebalance_outlives_the_deletion_thread",  # likewise: D37 ends one thread of two
    }


@every_system
def test_a_step_claim_says_something_of_some_action(name: str, switches: Switches) -> None:
    one = built(name, switches)
    actions = {action.name for action in one.actions}
    silent = {each.name for each in one.properties if each.kind == "step" and not each.terms}
    assert silent <= {"controller_znode_is_its_owners", "no_failover_fails_on_left_overs"}, silent
    assert not silent or switches == FENCED, "only a fix makes a claim trivial"
    for each in one.properties:
        assert each.terms.keys() <= actions


def test_every_rule_fires_in_some_scope_of_the_manifest() -> None:
    fired = {
        rule.name
        for plan in plans().values()
        for one in plan.explorations
        for rule in rules()
        if is_in_scope(rule, Model(scopes()[plan.scope], one.switches)) and rule.name not in one.never_fired
    }
    assert {rule.name for rule in rules()} - fired == set()


def test_a_rule_that_never_fires_is_expected_to_only_where_it_is() -> None:
    for plan in plans().values():
        for one in plan.explorations:
            m = Model(scopes()[plan.scope], one.switches)
            there = {rule.name for rule in rules() if is_in_scope(rule, m) and list(instances(rule, m))}
            assert one.never_fired <= there, f"{plan.scope} {one.variant}"


def test_what_is_only_said_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left out while terms are built: an assignment in there would be known to whoever runs the rules only."""
    told, left = set[str](), Counter[str]()

    def watched(part: Callable[..., None]) -> Callable[..., None]:
        def run(*args: object, **named: object) -> None:
            (frame,) = language._frames
            before = left_behind(frame)
            part(*args, **named)
            left.update({part.__name__: before != left_behind(frame)})

        return run

    for module in [one for name, one in sys.modules.items() if name.startswith(f"{spec.protocol.__name__}.")]:
        for name, part in list(vars(module).items()):
            if getattr(part, "__code__", None) is LEFT_OUT:
                told.add(part.__name__)
                monkeypatch.setattr(module, name, watched(part.__wrapped__))
    system(scope("dead_replica"), FENCED)
    assert left == dict.fromkeys(told, 0)


LEFT_OUT = language.only_said(lambda: None).__code__


def left_behind(frame: Frame) -> object:
    """What a part of a rule has brought about, by what is there and what is not."""
    assigned, taken = ({name: id(one) for name, one in some.items()} for some in (frame.values, frame.taken))
    return assigned, taken, len(frame.guards), len(frame.fits), len(frame.events)


def test_proving_lifts_budgets_and_widths_from_the_same_text() -> None:
    bounded, proving = OnDemand(scope("proof")), OnDemand(scope("proof"), proving=True)
    assert [*bounded.names] == [*proving.names]
    assert not any(one.name.startswith("budget") for one in proving.variables)
    assert any(one.name.startswith("budget") for one in bounded.variables)
    epochs = {one.name: one.sort for one in proving.variables if one.kind.name == "epoch"}
    assert set(epochs.values()) == {z3.IntSort()}
    assert {one.name: one.initial for one in proving.variables}["zookeeper.epoch"] == 0


def test_unless_told_otherwise_it_is_kafkas_code() -> None:
    assert system(scope("bounce")).name == "bounce AS_CODED"


def unlisted(modules: Iterable[ModuleType]) -> list[str]:
    """The actions that modules declare and that no list of rules has, so that they are no part of any system."""
    listed = {id(rule) for rule in rules()}
    return [
        f"{module.__name__}.{name}"
        for module in modules
        for name, one in sorted(vars(module).items())
        if isinstance(one, Rule) and id(one) not in listed
    ]


def test_every_action_is_in_a_list_of_rules() -> None:
    modules = [import_module(one.name) for one in walk_packages(spec.protocol.__path__, "spec.protocol.")]
    assert set(MODULES) < set(modules)
    assert unlisted(modules) == []


def test_an_action_that_is_in_no_list_of_rules_is_found() -> None:
    @declared(actor="nobody", source="nowhere")
    def forgotten(s: object, m: object) -> None:
        """Do nothing."""

    module = ModuleType("spec.protocol.planted")
    module.forgotten = forgotten  # type: ignore[attr-defined]  # a module has any name
    module.read_epoch = read_epoch  # type: ignore[attr-defined]  # as above
    assert unlisted([module]) == ["spec.protocol.planted.forgotten"]


def test_a_replica_is_chosen_among_those_of_its_partition_and_all_else_among_all() -> None:
    m = Model(scope("topics"), AS_CODED)
    chosen = [tuple(one.values()) for one in m.choices(("c", "p", "r"))]
    assert chosen == [(c, p, r) for c in m.controllers for p in m.partitions for r in m.assigned(p)]
    assert [one["t"] for one in m.choices(("t",))] == list(m.topics)
    assert list(m.choices(())) == [{}]
