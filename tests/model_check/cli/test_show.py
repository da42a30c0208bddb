"""`kcheck show`: the specification as it stands, complete."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_check.cli.shown_state import state_lines
from model_check.reports.terminal import LEGEND, lanes
from model_check.verdicts.results import Comparison, plain_document
from model_check.verdicts.verdict import Verdict
from spec.formats.kafka_types import V082, KafkaVersion
from spec.formats.request_schemas import REQUESTS, RESPONSES, ApiKey, api_versions
from spec.formats.znode_paths import KINDS
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.pairs import OPERATIONS, pairs
from spec.properties import claims
from spec.system import rules
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import transitions
from spec.variants import DOCUMENTATION, VARIANTS, Switch
from tests.model_check.cli.conftest import Kcheck, built
from tests.model_check.documents import finding, run
from tests.model_check.reports.stories import ZOMBIE

ROWS = [row.id for row in transitions(PARTITION_TRANSITIONS)] + [row.id for row in transitions(REPLICA_TRANSITIONS)]


def test_the_tables_have_every_row(kcheck: Kcheck) -> None:
    shown = kcheck("show", "tables").stdout
    assert all(shown.count(f"| {row} |") == 2 for row in ROWS)  # once in the matrix, once in the list


@pytest.mark.parametrize("form", ["mermaid", "dot"])
def test_the_diagrams_have_every_row(kcheck: Kcheck, form: str) -> None:
    shown = kcheck("show", "diagrams", "--format", form).stdout
    assert all(row in shown for row in ROWS)


@pytest.mark.parametrize("version", KafkaVersion)
def test_the_lines_of_each_log_are_shown_as_their_version_writes_them(kcheck: Kcheck, version: KafkaVersion) -> None:
    shown = kcheck("show", "lines", "--version", str(version)).stdout
    for vocabulary in (STATE_CHANGE_LOG, CONTROLLER_LOG):
        for kind in vocabulary.kinds:
            template = kind.templates.get(version)
            assert (f"\n{kind.__name__}: " in shown) == (template is not None)
            assert template is None or f" {template.text}\n" in shown
    # NotConnected, which only 0.8.2 takes for an error.
    level = "ERROR" if version is V082 else "WARN"
    prefix = "[Controller-{controller:id}-to-broker-{broker:id}-send-thread], "
    assert f"    {level} {prefix}Controller {{controller:id}}'s connection to broker " in shown


def test_the_lines_of_an_unknown_version_are_refused(kcheck: Kcheck) -> None:
    result = kcheck("show", "lines", "--version", "0.8")
    assert result.exit_code == 2
    assert "no version of Kafka is called '0.8'; did you mean 0.8.2?" in result.stderr


def test_every_znode_is_shown_with_what_it_holds(kcheck: Kcheck) -> None:
    shown = kcheck("show", "znodes").stdout
    assert all(f"{kind}\n    {kind.mode}; {kind.meaning}\n" in shown for kind in KINDS)
    state = '{"controller_epoch": number 0.., "leader": number -1.., "version": 1, "leader_epoch": number 0.., "isr": '
    assert f"    {state}[number 0.., ...]}}\n" in shown
    assert all(shown.count(f'"version": {version}, "port": ') == 1 for version in (1, 2, 3)), "a broker's registration"
    assert shown.count('"rack"?: a string') == 2, "of versions 3 and 4, where it may be absent"


def test_every_request_is_shown_in_each_version_with_its_answer(kcheck: Kcheck) -> None:
    shown = kcheck("show", "requests").stdout
    for key in ApiKey:
        for version in api_versions(key):
            heading = f"{key.name} ({key:d}), version {version}, sent by "
            request, answer = shown.partition(heading)[2].splitlines()[1:3]
            assert all(f"{name}: " in request for name, _ in REQUESTS[key].members(version))
            assert all(f"{name}: " in answer for name, _ in RESPONSES[key].members(version))
    assert "STOP_REPLICA (5), version 0, sent by 0.8.2, 0.9.0, 0.10.0, 0.10.1, 0.10.2\n" in shown
    assert "partitions: array of {topic: the name of a topic, partition: int32}}" in shown


def test_every_rule_is_shown_with_its_source(kcheck: Kcheck) -> None:
    lines = kcheck("show", "actions").stdout.splitlines()
    for rule in rules():
        assert rule.name in lines
        assert any(line.strip().startswith(f"[{rule.source}") for line in lines)


def test_the_rules_of_a_scope_are_shown_with_their_number(kcheck: Kcheck) -> None:
    shown = kcheck("show", "actions", "solo").stdout
    for name, number in Counter(action.rule for action in built("solo").actions).items():
        assert f"{name} ({number} of them)" in shown
    assert "deliver_request" not in shown


def test_every_property_is_shown(kcheck: Kcheck) -> None:
    shown = kcheck("show", "properties").stdout.splitlines()
    assert all(f"{one.kind:<11} {one.name}" in shown for one in claims())


def test_every_scope_and_variant_is_shown(kcheck: Kcheck) -> None:
    scopes = kcheck("show", "scopes").stdout
    assert "solo (deep): One broker." in scopes
    assert "pair: Two brokers." in scopes
    variants = kcheck("show", "variants").stdout
    assert all(f"{name}: " in variants for name in VARIANTS)
    assert all(one.name in variants and one.value in variants for one in Switch)
    assert all(words in variants for words in DOCUMENTATION.values())


def test_the_results_of_all_scopes_are_a_table_from_the_manifest(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    broken = {
        "eventually_one_working_controller": 3,
        "recoverable_one_working_controller": 2,
        "epochs_never_go_back": 4,
    }
    given = {"states": 1234567, "transitions": 7654321, "depth": 9, "violated": broken}
    manifest["pair"]["expect"]["AS_CODED"] |= given
    manifest["solo"]["expect"]["AS_CODED"] |= {**given, "states": 12, "violated": {}}
    header, _, *rows = kcheck("show", "scopes", "--results").stdout.splitlines()
    assert header == "| scope | variant | states | transitions | depth | broken properties and goals |"
    assert rows == [
        "| solo | AS_CODED | 12 | 7,654,321 | 9 | none |",
        "| pair | AS_CODED | 1,234,567 | 7,654,321 | 9 | epochs_never_go_back, one_working_controller |",
    ]


def test_each_pair_is_shown_with_its_scope_or_why_it_has_none(kcheck: Kcheck) -> None:
    shown = kcheck("show", "pairs").stdout
    assert [line for line in shown.splitlines() if not line.startswith(" ")] == list(OPERATIONS)
    assert sum(line.startswith("    ") for line in shown.splitlines()) == len([*pairs()])
    assert shown.count(": none: ") == sum(pair.scope is None for pair in pairs())


def test_a_saved_result_is_shown_with_its_exit_code(kcheck: Kcheck, tmp_path: Path) -> None:
    document = plain_document("explore", run(finding("p", Verdict.VIOLATED, length=2), verdict=Verdict.VIOLATED))
    path = tmp_path / "result.json"
    path.write_text(document.to_json(), encoding="utf-8")
    result = kcheck("show", "results", str(path))
    assert result.exit_code == 1
    assert "broken by 2 steps" in result.stdout


@pytest.mark.parametrize("verb", ["defects", "explore", "verify"])
def test_the_stories_of_what_is_broken_in_a_saved_result_are_drawn_as_lanes(
    kcheck: Kcheck, tmp_path: Path, verb: str
) -> None:
    """Also of what is known to be broken, which the text of the result does not tell."""
    broken, kept = (replace(finding("p", one), story=ZOMBIE) for one in (Verdict.VIOLATED, Verdict.HOLDS))
    made = Comparison("p", "VIOLATED in 8 steps", "VIOLATED in 8 steps", Verdict.HOLDS, "VIOLATED")
    document = plain_document(verb, run(broken, comparisons=(made,)), run(replace(kept, property="q")))
    path = tmp_path / "result.json"
    path.write_text(document.to_json(), encoding="utf-8")
    plain, drawn = kcheck("show", "results", str(path)), kcheck("show", "results", str(path), "--timeline")
    assert (plain.exit_code, drawn.exit_code) == (0, 0)
    assert "\n".join(lanes(ZOMBIE)) in drawn.stdout
    assert [one.stdout.count(LEGEND) for one in (plain, drawn)] == [0, 1]


def test_a_damaged_result_is_refused(kcheck: Kcheck, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("[]", encoding="utf-8")
    result = kcheck("show", "results", str(path))
    assert result.exit_code == 2
    assert f"kcheck: {path}: not a document" in result.stderr


def test_the_state_is_shown_with_every_field_once(kcheck: Kcheck) -> None:
    shown = kcheck("show", "state").stdout
    assert max(map(len, shown.splitlines())) <= 100
    assert shown.count("\n    leader_epoch  ") == 3, "of a leadership, of a decision, and of a late copy"
    assert "    requested            broker list by partition = []; where: reassignment\n" in shown
    assert "\nReassigning\n    Reassignments. Kafka 0.10.2.2:" in shown
    assert "    Part of Controller.\n    Kept where: reassignment.\n" in shown


def test_of_a_scope_only_what_it_keeps_is_shown(kcheck: Kcheck) -> None:
    shown = kcheck("show", "state", "--scope", "pair").stdout
    variables = built("pair").variables
    assert shown.endswith(f"\n{len(variables)} variables in all\n")
    assert "\n    at         At = IDLE; 2 variables\n" in shown
    assert "requested" not in shown
    whole = [line for line in shown.partition("ZooKeeper\n")[0].splitlines() if " variable" in line]
    assert sum(int(line.split("; ")[1].split()[0]) for line in whole) == len(variables)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_state_is_wrapped_to_the_width(width: int) -> None:
    lines = list(state_lines(width))
    # What is longer is one word: a path, or a name of Kafka's.
    assert all(len(line) <= width or " " not in line.strip() for line in lines if not line.startswith("    "))
    assert all(len(line) <= width or " " not in line.strip() for line in lines)
