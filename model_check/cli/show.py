"""`kcheck show`: the specification itself, for readers: tables, actions, properties, scopes, variants, formats."""

import enum
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from model_check.cli import options
from model_check.cli.console import line_width, print_document, say
from model_check.cli.failures import guarded
from model_check.cli.shown_state import state_lines
from model_check.verdicts.results import from_json
from spec.errors import BadInput, UnknownName
from spec.expectations import Plan, plans
from spec.formats.descriptions import described, payload_forms
from spec.formats.kafka_types import KafkaVersion
from spec.formats.request_schemas import REQUESTS, RESPONSES, ApiKey, api_version, api_versions
from spec.formats.requests import BARE_HEADER, FULL_HEADER, HEADER
from spec.formats.znode_paths import KINDS
from spec.formats.znodes import PAYLOADS, EmptyPayload
from spec.language.rules import Rule
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_lines import Vocabulary
from spec.logs.request_log_lines import REQUEST_LOG
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.model import Model
from spec.pairs import pairs as all_pairs
from spec.properties import claims
from spec.protocol.handler_diagrams import dot_handlers, markdown_handlers, mermaid_handlers
from spec.scopes import Scope
from spec.scopes import scope as scope_named
from spec.scopes import scopes as all_scopes
from spec.system import rules
from spec.system import system as system_of
from spec.tables import diagrams as drawn
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import Table
from spec.variants import DOCUMENTATION, VARIANTS, Switch

TABLES: dict[str, Table[Any]] = {"partition": PARTITION_TRANSITIONS, "replica": REPLICA_TRANSITIONS}

LOGS: dict[str, Vocabulary] = {
    "state-change.log": STATE_CHANGE_LOG,
    "controller.log": CONTROLLER_LOG,
    "kafka-request.log": REQUEST_LOG,
}

app = typer.Typer(help="Show the specification itself.", no_args_is_help=True, rich_markup_mode=None)


class Drawing(enum.StrEnum):
    """How a diagram is written."""

    MERMAID = "mermaid"
    DOT = "dot"


def tables() -> int:
    """The transition tables of partitions and replicas, as Markdown: who may follow whom, and what each row does."""
    for name, table in TABLES.items():
        say(f"## States of a {name}\n\n{drawn.markdown_matrix(table)}\n\n{drawn.markdown_rows(table)}\n\n")
    return 0


def handlers() -> int:
    """What the controller's handlers do next, as Markdown, once a step that several of them share is done."""
    say(markdown_handlers() + "\n")
    return 0


def diagrams(style: Annotated[Drawing, typer.Option("--format", help="What to draw for.")] = Drawing.MERMAID) -> int:
    """The transition tables, and what the handlers do next, as diagrams.

    For example:
      kcheck show diagrams
      kcheck show diagrams --format dot | dot -Tsvg -O
    """
    for name, table in TABLES.items():
        text = drawn.mermaid(table) if style is Drawing.MERMAID else drawn.dot(table, f"states of a {name}")
        say(text + "\n")
    say((mermaid_handlers() if style is Drawing.MERMAID else dot_handlers()) + "\n")
    return 0


def actions(
    scope: Annotated[str | None, typer.Argument(metavar="[SCOPE]", help="Only the rules of this scope.")] = None,
    *,
    variant: options.Variant,
) -> int:
    """The rules of the protocol: who acts, what he does, and where Kafka does it; of a scope, with their instances."""
    switches = variant.switches
    if scope is None:
        for rule in rules():
            _say_rule(rule, "")
        return 0
    built = system_of(scope_named(scope), switches)
    for rule in rules():
        instances = [one.name for one in built.actions if one.rule == rule.name]
        if instances:
            _say_rule(rule, f" ({len(instances)} of them)")
    say(f"{len(built.actions)} actions over {len(built.variables)} variables\n")
    return 0


def _say_rule(rule: Rule, suffix: str) -> None:
    budget = f", draws on the budget of {rule.budget}" if rule.budget else ""
    say(f"{rule.name}{suffix}\n    {_joined(rule.statement)}\n    [{rule.source}{budget}]\n")


def _joined(statement: str) -> str:
    return " ".join(statement.split("\n\n", maxsplit=1)[0].split())


def state(
    name: Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="Only what this scope keeps.")] = None,
    *,
    variant: options.Variant,
) -> int:
    """The state, record by record: each field with its kind, its initial value, where it is kept, and what it is.

    For example:
      kcheck show state
      kcheck show state --scope reassignment --variant FENCED
    """
    switches = variant.switches
    model = None if name is None else Model(scope_named(name), switches)
    for line in state_lines(line_width(), model):
        say(line + "\n")
    return 0


def properties() -> int:
    """What is claimed, in the words of an engineer, with its source and the witness of its premise."""
    for one in sorted(claims(), key=lambda claim: claim.kind):
        witness = f"; witness: {one.witness}" if one.witness else ""
        say(f"{one.kind:<11} {one.name}\n    {_joined(one.statement)}\n    [{one.source}{witness}]\n")
    return 0


def scopes(
    *,
    results: Annotated[
        bool, typer.Option("--results", help="Only what came of each exploration, as a Markdown table.")
    ] = False,
) -> int:
    """The scopes: how large the cluster is, what may go wrong, and which size and verdicts the manifest expects.

    For example:
      kcheck show scopes
      kcheck show scopes --results
    """
    if results:
        say(drawn.markdown_table(RESULTS, (row for one in plans().values() for row in _result_rows(one))) + "\n")
        return 0
    for name, plan in plans().items():
        say("\n".join(_scope_lines(all_scopes()[name], plan)) + "\n")
    return 0


def _scope_lines(scope: Scope, plan: Plan) -> Iterator[str]:
    yield f"{scope.name}{' (deep)' if plan.deep else ''}: {scope.statement}"
    assigned = f", assigned replicas {', '.join(map(str, map(list, scope.assigned)))}" if scope.assigned else ""
    yield f"    {scope.brokers} brokers, {scope.controllers} of them eligible{assigned}"
    yield f"    parts: {_listed(sorted(scope.parts))}; faults: {_listed([f'{n} {k}' for k, n in scope.budgets])}"
    for one in plan.explorations:
        broken = f", violated: {_listed(sorted(one.violated))}" if one.violated else ""
        yield f"    {one.variant}: {one.states:,} states, {one.transitions:,} transitions, depth {one.depth}{broken}"


def pairs() -> int:
    """What users do, beside what else they do and beside each fault: the cheapest scope with both, or why none has."""
    for one, together in groupby(all_pairs(), key=lambda pair: pair.one):
        say(f"{one}\n")
        for pair in together:
            found = pair.scope
            told = f"{found.scope}, {found.states:,} states" if found else f"none: {pair.reason}"
            say(f"    {pair.other}: {told}\n")
    return 0


RESULTS = ("scope", "variant", "states", "transitions", "depth", "broken properties and goals")


def _result_rows(plan: Plan) -> Iterator[Sequence[str]]:
    """A row for each exploration; of a goal that is broken as recoverable and as eventually, the name of the goal."""
    for one in plan.explorations:
        broken = {name.removeprefix("recoverable_").removeprefix("eventually_") for name in one.violated}
        counts = (f"{one.states:,}", f"{one.transitions:,}", str(one.depth))
        yield (plan.scope, one.variant, *counts, _listed(sorted(broken)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def lines(
    version: Annotated[str, typer.Option("--version", metavar="KAFKA", help="Which release writes them.")] = "0.10.2",
) -> int:
    """The lines of Kafka's logs, as templates with typed holes: one text prints them and reads them back.

    For example:
      kcheck show lines
      kcheck show lines --version 0.8.2
    """
    known = {str(one): one for one in KafkaVersion}
    if version not in known:
        raise UnknownName("version of Kafka", version, known)
    for name, vocabulary in LOGS.items():
        say(f"## {name}, Kafka {version}\n\n")
        for kind in vocabulary.kinds:
            if known[version] in kind.templates:
                text = kind.templates[known[version]].text
                say(f"{kind.__name__}: {_joined(kind.__doc__ or '')}\n    {kind.level_at(known[version])} {text}\n")
        say("\n")
    return 0


def znodes() -> int:
    """The znodes of the protocol: how each lives, and what it holds, with the types of its JSON (`?` may be absent)."""
    for kind in KINDS:
        payload = PAYLOADS.get(kind, EmptyPayload)
        say(f"{kind}\n    {kind.mode}; {kind.meaning}\n    {_joined(payload.__doc__ or '')}\n")
        for form in payload_forms(payload):
            say(f"    {form}\n")
    return 0


def requests() -> int:
    """The requests between controller and brokers with their answers, field by field as they travel, in each version.

    Before a request stands its header, before an answer the correlation id of its request, an int32.
    """
    for version, who in ((FULL_HEADER, "every request"), (BARE_HEADER, "ControlledShutdown 0")):
        say(f"header of {who}\n    {described(HEADER, version)}\n")
    for key in ApiKey:
        for version in api_versions(key):
            senders = _listed([str(one) for one in KafkaVersion if api_version(key, one) == version])
            say(f"{key.name} ({key:d}), version {version}, sent by {senders}\n")
            say(f"    request {described(REQUESTS[key], version)}\n    answer {described(RESPONSES[key], version)}\n")
    return 0


def variants() -> int:
    """The variants, and the fixes that can be switched on and off one by one."""
    for name, switches in VARIANTS.items():
        say(f"{name}: {_listed(sorted(one.name for one in switches))}\n")
    say("\n")
    for one in Switch:
        say(f"{one.name}\n    {one.value}\n")
        if one in DOCUMENTATION:
            say(f"    documented: {DOCUMENTATION[one]}\n")
    return 0


def results(file: Annotated[Path, typer.Argument(help="A document that --json printed.")]) -> int:
    """The text of a result that was saved as JSON; exits as the run that it tells of did."""
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read: {error}") from error
    return print_document(from_json(content, str(file)), as_json=False)


for verb in (
    tables, handlers, diagrams, actions, state, properties, scopes, pairs, lines, znodes, requests, variants, results,
):  # fmt: skip
    app.command(verb.__name__)(guarded(verb))
