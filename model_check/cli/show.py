"""`kcheck show`: the specification itself, for readers: tables, actions, properties, scopes, variants, formats.

With `--json` each verb tells the same as a document of `model_check/conformance/shown.py`.
"""

import enum
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli import shown_documents as documents
from model_check.cli.console import line_width, print_document, say
from model_check.cli.failures import guarded
from model_check.cli.shown_state import state_document, state_lines
from model_check.conformance import shown
from model_check.verdicts.results import FORMAT, VERSION, Document, from_json
from model_check.verdicts.told_stories import broken_in
from spec.errors import BadInput, UnknownName
from spec.expectations import Plan, plans
from spec.formats.descriptions import described, payload_forms
from spec.formats.kafka_types import KafkaVersion
from spec.formats.request_schemas import REQUESTS, RESPONSES, ApiKey, api_version, api_versions
from spec.formats.requests import BARE_HEADER, FULL_HEADER, HEADER
from spec.formats.znode_paths import KINDS
from spec.formats.znodes import PAYLOADS, EmptyPayload
from spec.language.rules import Rule
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
from spec.variants import DOCUMENTATION, VARIANTS, Switch, show_switches

app = typer.Typer(help="Show the specification itself.", no_args_is_help=True, rich_markup_mode=None)


class Drawing(enum.StrEnum):
    """How a diagram is written."""

    MERMAID = "mermaid"
    DOT = "dot"


def tables(*, as_json: options.JsonOption = False) -> int:
    """The transition tables of partitions and replicas, as Markdown: which state follows which, what each row does."""
    if as_json:
        return _say_json(documents.tables())
    for name, table in documents.TABLES.items():
        say(f"## States of a {name}\n\n{drawn.markdown_matrix(table)}\n\n{drawn.markdown_rows(table)}\n\n")
    return 0


def handlers(*, as_json: options.JsonOption = False) -> int:
    """What the controller's handlers do next, as Markdown, once a step that several of them share is done."""
    if as_json:
        return _say_json(documents.handlers())
    say(markdown_handlers() + "\n")
    return 0


def diagrams(
    style: Annotated[Drawing, typer.Option("--format", help="What to draw for.")] = Drawing.MERMAID,
    *,
    as_json: options.JsonOption = False,
) -> int:
    """The transition tables, and what the handlers do next, as diagrams.

    For example:
      kcheck show diagrams
      kcheck show diagrams --format dot | dot -Tsvg -O
    """
    if as_json:
        return _say_json(documents.diagrams("mermaid" if style is Drawing.MERMAID else "dot"))
    for name, table in documents.TABLES.items():
        text = drawn.mermaid(table) if style is Drawing.MERMAID else drawn.dot(table, f"states of a {name}")
        say(text + "\n")
    say((mermaid_handlers() if style is Drawing.MERMAID else dot_handlers()) + "\n")
    return 0


def actions(
    scope: Annotated[str | None, typer.Argument(metavar="[SCOPE]", help="Only the rules of this scope.")] = None,
    *,
    variant: options.Variant,
    as_json: options.JsonOption = False,
) -> int:
    """The rules of the protocol: the actor, what it does, and where Kafka does it; of a scope, with their instances."""
    switches = variant.switches
    if as_json:
        of_scope = None if scope is None else system_of(scope_named(scope), switches)
        return _say_json(documents.actions(scope, show_switches(switches), of_scope))
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
    say(f"{rule.name}{suffix}\n    {documents.first_paragraph(rule.statement)}\n    [{rule.source}{budget}]\n")


def state(
    name: Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="Only what this scope keeps.")] = None,
    *,
    variant: options.Variant,
    as_json: options.JsonOption = False,
) -> int:
    """The state, record by record: each field with its kind, its initial value, where it is kept, and what it is.

    For example:
      kcheck show state
      kcheck show state --scope reassignment --variant FENCED
    """
    switches = variant.switches
    model = None if name is None else Model(scope_named(name), switches)
    if as_json:
        return _say_json(state_document(name, model))
    for line in state_lines(line_width(), model):
        say(line + "\n")
    return 0


def properties(*, as_json: options.JsonOption = False) -> int:
    """What is claimed, in the words of an engineer, with its source and the witness of its premise."""
    if as_json:
        return _say_json(documents.properties())
    for one in sorted(claims(), key=lambda claim: claim.kind):
        witness = f"; witness: {one.witness}" if one.witness else ""
        say(f"{one.kind:<11} {one.name}\n    {documents.first_paragraph(one.statement)}\n    [{one.source}{witness}]\n")
    return 0


def scopes(
    *,
    results: Annotated[
        bool, typer.Option("--results", help="Only what came of each exploration, as a Markdown table.")
    ] = False,
    as_json: options.JsonOption = False,
) -> int:
    """The scopes: how large the cluster is, what may go wrong, and which size and verdicts the manifest expects.

    For example:
      kcheck show scopes
      kcheck show scopes --results
    """
    if as_json:
        return _say_json(documents.scopes())
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


def pairs(*, as_json: options.JsonOption = False) -> int:
    """What users do, beside what else they do and beside each fault: the cheapest scope with both, or why none has."""
    if as_json:
        return _say_json(documents.pairs())
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
    *,
    as_json: options.JsonOption = False,
) -> int:
    """The lines of Kafka's logs, as templates with typed holes: one text prints them and reads them back.

    For example:
      kcheck show lines
      kcheck show lines --version 0.8.2
    """
    known = {str(one): one for one in KafkaVersion}
    if version not in known:
        raise UnknownName("version of Kafka", version, known)
    if as_json:
        return _say_json(documents.lines(known[version]))
    for name, vocabulary in documents.LOGS.items():
        say(f"## {name}, Kafka {version}\n\n")
        for kind in vocabulary.kinds:
            if known[version] in kind.templates:
                text = kind.templates[known[version]].text
                words = documents.first_paragraph(kind.__doc__)
                say(f"{kind.__name__}: {words}\n    {kind.level_at(known[version])} {text}\n")
        say("\n")
    return 0


def znodes(*, as_json: options.JsonOption = False) -> int:
    """The znodes of the protocol: how each lives, and what it holds, with the types of its JSON (`?` may be absent)."""
    if as_json:
        return _say_json(documents.znodes())
    for kind in KINDS:
        payload = PAYLOADS.get(kind, EmptyPayload)
        say(f"{kind}\n    {kind.mode}; {kind.meaning}\n    {documents.first_paragraph(payload.__doc__ or '')}\n")
        for form in payload_forms(payload):
            say(f"    {form}\n")
    return 0


def requests(*, as_json: options.JsonOption = False) -> int:
    """The requests between controller and brokers with their answers, field by field as they travel, in each version.

    A request begins with its header, an answer with the correlation id of its request, an int32.
    """
    if as_json:
        return _say_json(documents.requests())
    for version, who in ((FULL_HEADER, "every request"), (BARE_HEADER, "ControlledShutdown 0")):
        say(f"header of {who}\n    {described(HEADER, version)}\n")
    for key in ApiKey:
        for version in api_versions(key):
            senders = _listed([str(one) for one in KafkaVersion if api_version(key, one) == version])
            say(f"{key.name} ({key:d}), version {version}, sent by {senders}\n")
            say(f"    request {described(REQUESTS[key], version)}\n    answer {described(RESPONSES[key], version)}\n")
    return 0


def variants(*, as_json: options.JsonOption = False) -> int:
    """The variants, and the fixes that can be switched on and off one by one."""
    if as_json:
        return _say_json(documents.variants())
    for name, switches in VARIANTS.items():
        say(f"{name}: {_listed(sorted(one.name for one in switches))}\n")
    say("\n")
    for one in Switch:
        say(f"{one.name}\n    {one.value}\n")
        if one in DOCUMENTATION:
            say(f"    documented: {DOCUMENTATION[one]}\n")
    return 0


def schema(
    *,
    of_results: Annotated[
        bool, typer.Option("--results", help="That of the results which other verbs print with --json.")
    ] = False,
) -> int:
    """The JSON Schema of what these verbs print with --json."""
    from pydantic import TypeAdapter

    title = "What kcheck found" if of_results else "What kcheck show tells"
    adapter: TypeAdapter[object] = TypeAdapter(Document if of_results else shown.Shown)
    made = adapter.json_schema(mode="serialization")
    if of_results:
        first = {"format": {"const": FORMAT}, "version": {"const": VERSION}, "exit_code": {"type": "integer"}}
        made["properties"], made["required"] = first | made["properties"], [*first, *made["required"]]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    say(json.dumps(head | made, indent=2) + "\n")
    return 0


def _say_json(document: shown.Shown) -> int:
    say(shown.to_json(document) + "\n")
    return 0


def results(
    file: Annotated[Path, typer.Argument(help="A document that --json printed.")],
    *,
    timeline: options.TimelineOption = False,
    output: options.Output,
) -> int:
    """The text of a result that was saved as JSON, or a report of it; exits as the run that it tells of did.

    With --timeline the stories of all that is broken are drawn.

    For example:
      kcheck defects D2 --json > d2.json
      kcheck show results d2.json --timeline
      kcheck show results d2.json --report html=d2.html
    """
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read: {error}") from error
    document = from_json(content, str(file))
    if not timeline:
        return print_document(document, output)
    broken = [one.property for _, one, _ in broken_in(document)]
    return print_document(document, output, stories=broken, steps=options.Stories(timeline=True).lines)


for verb in (
    tables, handlers, diagrams, actions, state, properties, scopes, pairs, lines, znodes, requests, variants, schema,
    results,
):  # fmt: skip
    app.command(verb.__name__)(guarded(verb))
