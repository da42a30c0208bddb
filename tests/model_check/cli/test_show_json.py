"""`kcheck show --json`: documents that are as the published schema says, and have all that the texts have."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import model_check.conformance
from spec.expectations import plans
from spec.formats.kafka_types import KafkaVersion
from spec.formats.request_schemas import ApiKey
from spec.formats.znode_paths import KINDS
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.properties import claims
from spec.system import rules
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import transitions
from spec.variants import VARIANTS, Switch
from tests.model_check.cli.conftest import Kcheck

PUBLISHED = Path(model_check.conformance.__path__[0]) / "show.schema.json"
SCHEMA = json.loads(PUBLISHED.read_text("utf-8"))
VERBS = (
    "tables", "handlers", "diagrams", "diagrams --format dot", "actions", "actions solo", "state", "state --scope solo",
    "properties", "scopes", "pairs", "lines", "lines --version 0.8.2", "znodes", "requests", "variants",
)  # fmt: skip


def shown(kcheck: Kcheck, line: str) -> dict[str, Any]:
    """The document that a verb prints."""
    result = kcheck("show", *line.split(), "--json")
    assert result.exit_code == 0
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_the_schema_is_published_as_it_is(kcheck: Kcheck) -> None:
    """If not: `kcheck show schema > model_check/conformance/show.schema.json`."""
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(kcheck("show", "schema").stdout) == SCHEMA


@pytest.mark.parametrize("line", VERBS)
def test_a_document_is_as_the_schema_says(kcheck: Kcheck, line: str) -> None:
    document = shown(kcheck, line)
    assert [*document][:2] == ["shows", "version"]
    assert (document["shows"], document["version"]) == (line.split(maxsplit=1)[0], 1)
    validator = Draft202012Validator(SCHEMA)
    validator.validate(document)
    for key in document:
        if key not in {"shows", "version"}:
            assert not validator.is_valid({name: value for name, value in document.items() if name != key}), key
            assert not all(validator.is_valid({**document, key: one}) for one in (7, {"no": 7})), key


def test_every_verb_that_shows_something_has_a_document(kcheck: Kcheck) -> None:
    listed = re.findall(r"^  (\w+)  ", kcheck("show", "--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert {line.split()[0] for line in VERBS} == {*listed} - {"schema", "results"}


def names(entries: list[dict[str, Any]], key: str = "name") -> list[str]:
    return [one[key] for one in entries]


def test_documents_are_complete(kcheck: Kcheck) -> None:
    machines = shown(kcheck, "tables")["machines"]
    assert [names(one["rows"], "id") for one in machines] == [
        [row.id for row in transitions(PARTITION_TRANSITIONS)], [row.id for row in transitions(REPLICA_TRANSITIONS)],
    ]  # fmt: skip
    assert names(shown(kcheck, "actions")["actions"]) == [one.name for one in rules()]
    assert {*names(shown(kcheck, "properties")["properties"])} == {one.name for one in claims()}
    assert names(shown(kcheck, "scopes")["scopes"]) == [*plans()]
    assert names(shown(kcheck, "znodes")["znodes"], "path") == [str(one) for one in KINDS]
    assert len(shown(kcheck, "requests")["requests"]) == len(ApiKey)
    variants = shown(kcheck, "variants")
    assert names(variants["variants"]) == [*VARIANTS]
    assert names(variants["switches"]) == [one.name for one in Switch]


@pytest.mark.parametrize("version", KafkaVersion)
def test_lines_are_those_of_a_release(kcheck: Kcheck, version: KafkaVersion) -> None:
    document = shown(kcheck, f"lines --version {version}")
    (of_controllers,) = (one["lines"] for one in document["logs"] if one["file"] == "controller.log")
    assert names(of_controllers) == [one.__name__ for one in CONTROLLER_LOG.kinds if version in one.templates]


def test_what_a_scope_has_is_counted_as_in_the_text(kcheck: Kcheck) -> None:
    instances = [name for one in shown(kcheck, "actions solo")["actions"] for name in one["instances"]]
    variables = shown(kcheck, "state --scope solo")["variables"]
    assert f"{len(instances)} actions over {variables} variables" in kcheck("show", "actions", "solo").stdout


def test_a_bad_name_is_refused_as_it_is_without(kcheck: Kcheck) -> None:
    for line in ("lines --version 0.8", "actions tinny", "state --scope tinny"):
        result = kcheck("show", *line.split(), "--json")
        assert (result.exit_code, result.stdout) == (2, "")
