"""actions.jsonl: acts with their fields, a torn end, and what is none."""

from pathlib import Path

import pytest

from model_check.recordings.actions import Act, ActionLog, read_actions
from spec.errors import MalformedInput

KILL = '{"ms": 1, "action": "broker-kill-9", "broker": 2, "time": "for people"}\n'
KILLED = Act("actions.jsonl:1", 1, "broker-kill-9", broker=2, text=KILL.strip())


def read_text(folder: Path, content: str) -> ActionLog | None:
    (folder / "actions.jsonl").write_text(content, encoding="utf-8")
    return read_actions(folder)


def test_without_the_file_nobody_knows_what_was_done(tmp_path: Path) -> None:
    assert read_actions(tmp_path) is None


def test_acts_have_the_fields_that_they_are_given(tmp_path: Path) -> None:
    rest = '{"ms": 2, "action": "at-rest", "zxid": "0x2f"}'
    note = '{"ms": 3, "action": "note", "number": 4, "kind": "lag"}'
    read = read_text(tmp_path, f"{KILL}{rest}\n{note}\n")
    assert read == ActionLog(
        (
            KILLED,
            Act("actions.jsonl:2", 2, "at-rest", zxid=0x2F, text=rest),
            Act("actions.jsonl:3", 3, "note", number=4, kind="lag", text=note),
        )
    )


def test_only_the_last_line_may_be_torn(tmp_path: Path) -> None:
    assert read_text(tmp_path, KILL + KILL[:9]) == ActionLog((KILLED,), is_torn=True)
    with pytest.raises(MalformedInput, match=r"actions\.jsonl:1: "):
        read_text(tmp_path, KILL[:9] + KILL)


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        "",
        "[" * 100_000,
        '{"action": "end"}',
        '{"ms": 1}',
        '{"ms": 1e999, "action": "end"}',
        '{"ms": 1.5, "action": "end"}',
        '{"ms": "1", "action": "end"}',
        '{"ms": 1, "action": 5}',
        '{"ms": 1, "action": "broker-kill-9"}',
        '{"ms": 1, "action": "broker-kill-9", "broker": "1"}',
        '{"ms": 1, "action": "broker-kill-9", "broker": true}',
        '{"ms": 1, "action": "at-rest", "zxid": 5}',
        '{"ms": 1, "action": "at-rest", "zxid": "zz"}',
        '{"ms": 1, "action": "at-rest", "zxid": "-0x5"}',
    ],
)
def test_what_is_no_act_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedInput, match=r"actions\.jsonl:2: is not an act with a time and its fields \("):
        read_text(tmp_path, f"{KILL}{line}\n")
