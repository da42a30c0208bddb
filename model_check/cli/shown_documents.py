"""The documents of `kcheck show --json`, made of the declarations that its texts are made of."""

from collections.abc import Iterable
from typing import Any, Final, Literal

from model_check.conformance import shown
from spec.expectations import plans
from spec.formats.kafka_types import KafkaVersion
from spec.formats.message_definitions import header_definition, message_name, request_definition, response_definition
from spec.formats.payload_schemas import payload_schema
from spec.formats.request_schemas import ApiKey, api_version, api_versions
from spec.formats.requests import BARE_HEADER, FULL_HEADER, HEADER, header_version
from spec.formats.znode_paths import KINDS
from spec.formats.znodes import PAYLOADS, EmptyPayload
from spec.language.rules import TransitionSystem
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_lines import Vocabulary
from spec.logs.request_log_lines import REQUEST_LOG
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.pairs import pairs as all_pairs
from spec.properties import claims
from spec.protocol.handler_diagrams import TITLE as HANDLERS_TITLE
from spec.protocol.handler_diagrams import dot_handlers, mermaid_handlers
from spec.protocol.handlers import HANDLERS, JUNCTIONS, READS
from spec.protocol.junctions import Then
from spec.scopes import scopes as all_scopes
from spec.state.enumerations import Handler
from spec.system import rules
from spec.tables import diagrams as drawn
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import S, Table, initial_state, transitions
from spec.variants import DOCUMENTATION, VARIANTS, Switch

TABLES: Final[dict[str, Table[Any]]] = {"partition": PARTITION_TRANSITIONS, "replica": REPLICA_TRANSITIONS}
LOGS: Final[dict[str, Vocabulary]] = {
    "state-change.log": STATE_CHANGE_LOG,
    "controller.log": CONTROLLER_LOG,
    "kafka-request.log": REQUEST_LOG,
}


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((text or "").split("\n\n", maxsplit=1)[0].split())


def tables() -> shown.Tables:
    """The transition tables."""
    return shown.Tables([_machine(name, table) for name, table in TABLES.items()])


def _machine(name: str, table: Table[S]) -> shown.Machine:
    states = [shown.State(str(one), one.code) for one in table]
    rows = [shown.Row(one.id, str(one.source), str(one.target), one.effect, one.citation) for one in transitions(table)]
    return shown.Machine(name, str(initial_state(table)), states, rows)


def handlers() -> shown.Handlers:
    """What follows what."""
    rows = [
        shown.HandlerRow(
            handler.name,
            None if handler is Handler.NONE else handler.value,
            {junction.name: _names(thens) for junction, thens in zip(JUNCTIONS, row, strict=True)},
        )
        for handler, row in HANDLERS.items()
    ]
    return shown.Handlers(rows, {junction.name: _names(thens) for junction, thens in READS.items()})


def _names(thens: Iterable[Then]) -> list[str]:
    return [then.run.__name__ for then in thens]


def diagrams(language: Literal["mermaid", "dot"]) -> shown.Diagrams:
    """All drawings in a language."""
    made = [
        shown.Diagram(
            title := f"states of a {name}", drawn.dot(table, title) if language == "dot" else drawn.mermaid(table)
        )
        for name, table in TABLES.items()
    ]
    made.append(shown.Diagram(HANDLERS_TITLE, dot_handlers() if language == "dot" else mermaid_handlers()))
    return shown.Diagrams(language, made)


def actions(scope: str | None, variant: str, built: TransitionSystem | None) -> shown.Actions:
    """The rules, or those of a system, each with its actions."""
    instances: dict[str, list[str]] = {}
    for one in built.actions if built is not None else ():
        instances.setdefault(one.rule, []).append(one.name)
    told = [
        shown.ShownAction(
            one.name, one.actor, first_paragraph(one.statement), one.source, one.budget, sorted(one.parts),
            instances.get(one.name),
        )
        for one in rules() if built is None or one.name in instances
    ]  # fmt: skip
    return shown.Actions(scope, variant, told)


def properties() -> shown.Properties:
    """The claims."""
    return shown.Properties([
        shown.ShownProperty(
            one.name, one.kind, first_paragraph(one.statement), one.source, one.witness, sorted(one.parts)
        )
        for one in sorted(claims(), key=lambda claim: claim.kind)
    ])  # fmt: skip


def scopes() -> shown.Scopes:
    """The scopes, with what the manifest expects of them."""
    told = []
    for name, plan in plans().items():
        scope = all_scopes()[name]
        explored = [
            shown.ShownExploration(one.variant, one.states, one.transitions, one.depth, one.digest, dict(one.violated))
            for one in plan.explorations
        ]
        assigned = [list(replicas) for replicas in scope.assigned]
        told.append(
            shown.ShownScope(
                name, scope.statement, plan.deep, scope.brokers, scope.controllers, assigned, sorted(scope.parts),
                dict(scope.budgets), explored,
            )
        )  # fmt: skip
    return shown.Scopes(told)


def pairs() -> shown.Pairs:
    """The pairs."""
    return shown.Pairs([
        shown.ShownPair(
            one.one, one.other, one.scope.scope if one.scope else None, one.scope.states if one.scope else None,
            None if one.scope else one.reason,
        )
        for one in all_pairs()
    ])  # fmt: skip


def lines(release: KafkaVersion) -> shown.Lines:
    """The lines of the logs, as a release writes them."""
    return shown.Lines(str(release), [shown.Log(file, _lines(log, release)) for file, log in LOGS.items()])


def _lines(log: Vocabulary, release: KafkaVersion) -> list[shown.ShownLine]:
    return [
        shown.ShownLine(
            one.__name__, first_paragraph(one.__doc__), one.level_at(release), one.templates[release].text
        )
        for one in log.kinds if release in one.templates
    ]  # fmt: skip


def znodes() -> shown.Znodes:
    """The znodes."""
    payloads = {kind: PAYLOADS.get(kind, EmptyPayload) for kind in KINDS}
    return shown.Znodes([
        shown.ShownZnode(
            str(kind), str(kind.mode), kind.meaning, first_paragraph(payload.__doc__), payload_schema(payload)
        )
        for kind, payload in payloads.items()
    ])  # fmt: skip


def requests() -> shown.Requests:
    """The requests and their answers."""
    header = header_definition(HEADER, (BARE_HEADER, FULL_HEADER), "RequestHeader")
    return shown.Requests(header, [
        shown.ShownRequest(
            message_name(key),
            {str(release): api_version(key, release) for release in KafkaVersion},
            [one for one in api_versions(key) if header_version(key, one) == BARE_HEADER],
            request_definition(key), response_definition(key),
        )
        for key in ApiKey
    ])  # fmt: skip


def variants() -> shown.Variants:
    """The variants and the switches."""
    named = [shown.ShownVariant(name, sorted(one.name for one in on)) for name, on in VARIANTS.items()]
    switches = [shown.ShownSwitch(one.name, one.value, one.reintroduces, DOCUMENTATION.get(one)) for one in Switch]
    return shown.Variants(named, switches)
