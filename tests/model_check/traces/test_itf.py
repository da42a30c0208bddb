"""ITF files: they come back as they went, follow the format, and what is not one is refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from model_check.traces.itf import ItfError, SavedTrace, from_itf, load, save, to_itf
from model_check.traces.trace import Trace
from spec.language.rules import Leaf, TransitionSystem
from spec.language.terms import epoch
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, build, clerks, lamps


def lost_update() -> Trace:
    return explore_plainly(clerks()).violations["no_lost_update"].trace


def document() -> dict[str, Any]:
    return to_itf(SavedTrace(lost_update(), digest="d1", variant="as_coded"), clerks())


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_a_trace_comes_back_as_it_was_saved(system: TransitionSystem, tmp_path: Path) -> None:
    for name, finding in explore_plainly(system).violations.items():
        path = tmp_path / f"{name}.itf.json"
        save(path, SavedTrace(finding.trace, system.name, "abc", "documented"), system)
        saved = load(path)
        assert saved.trace == finding.trace
        assert (saved.system, saved.digest, saved.variant) == (system.name, "abc", "documented")


def test_the_document_has_the_parts_that_the_format_asks_for() -> None:
    written = document()
    assert written["#meta"]["format"] == "ITF"
    assert set(written["vars"]) == {"action", *(variable.name for variable in clerks().variables)}
    assert [state["#meta"]["index"] for state in written["states"]] == [0, 1, 2, 3, 4]
    assert all(set(state) == {"#meta", *written["vars"]} for state in written["states"])


def test_the_action_stands_in_the_state_that_it_led_to() -> None:
    actions = [state["action"] for state in document()["states"]]
    assert actions == ["init", "read(c=1)", "read(c=2)", "write(c=1)", "write(c=2)"]


def test_flags_are_json_booleans_and_read_back_as_numbers() -> None:
    trace = explore_plainly(lamps()).violations["stays_on"].trace
    written = to_itf(SavedTrace(trace), lamps())
    assert written["states"][1]["on[1]"] is True
    value = from_itf(json.loads(json.dumps(written))).trace.steps[1][1]["on[1]"]
    assert value == 1
    assert not isinstance(value, bool)


def test_large_numbers_are_written_so_that_no_reader_rounds_them() -> None:
    system = build(
        "large", {"zxid": Leaf(epoch(2**64 - 1), 2**53 + 1), "small": Leaf(epoch(2**53 - 1), 2**53 - 1)}, [], []
    )
    trace = Trace(((None, {variable.name: variable.initial for variable in system.variables}),))
    written = to_itf(SavedTrace(trace), system)
    assert written["states"][0]["zxid"] == {"#bigint": "9007199254740993"}
    assert written["states"][0]["small"] == 9007199254740991
    assert from_itf(written).trace == trace


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda it: it.pop("vars"), "`vars` is missing"),
        (lambda it: it["vars"].remove("action"), "`vars` lacks `action`"),
        (lambda it: it.update(states=[]), "`states` is missing"),
        (lambda it: it["states"].insert(2, 7), "state 2 is not an object"),
        (lambda it: it["states"][2].pop("counter"), "state 2 lacks counter"),
        (lambda it: it["states"][2].update(owner=1), "state 2 has owner, which `vars` does not name"),
        (lambda it: it["states"][2].update(counter="1"), 'state 2: counter is neither an integer nor a boolean: "1"'),
        (lambda it: it["states"][2].update(counter=1.5), "state 2: counter is neither"),
        (lambda it: it["states"][2].update(counter={"#bigint": "1e3"}), "state 2: counter is neither"),
        (lambda it: it["states"][2].pop("action"), "state 2 does not say which `action` led to it"),
        (lambda it: it["states"][2].update(action="init"), "only the first says init"),
        (lambda it: it["states"][0].update(action="read(c=1)"), "only the first says init"),
        (lambda it: it.update({"#meta": 3}), "`#meta` is not an object"),
    ],
)
def test_what_is_not_a_trace_is_refused_with_its_place(spoil: Any, complaint: str, tmp_path: Path) -> None:
    spoilt = document()
    spoil(spoilt)
    path = tmp_path / "spoilt.itf.json"
    path.write_text(json.dumps(spoilt), encoding="utf-8")
    with pytest.raises(ItfError) as caught:
        load(path)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_json_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with pytest.raises(ItfError, match="cannot be read: No such file"):
        load(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ItfError, match="not JSON"):
        load(path)
    for number in ("1" * 5000, json.dumps({"#bigint": "1" * 5000})):
        path.write_text(
            f'{{"vars": ["action", "x"], "states": [{{"action": "init", "x": {number}}}]}}', encoding="utf-8"
        )
        with pytest.raises(ItfError, match="cannot be read: Exceeds the limit"):
            load(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ItfError, match="an ITF trace is a JSON object"):
        load(path)


def test_a_trace_of_apalache_without_our_notes_is_read() -> None:
    states = [{"action": "init", "x": 0}, {"action": "step", "x": {"#bigint": "-3"}}]
    saved = from_itf({"vars": ["x", "action"], "states": states})
    assert saved.trace == Trace(((None, {"x": 0}), ("step", {"x": -3})))
    assert saved.system == ""
