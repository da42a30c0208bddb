"""What is told of a cluster by what was done to it: who was stopped, and when."""

import json
from pathlib import Path

import pytest

from model_check.monitors.acts import read_acts
from model_check.recordings.actions import ACTIONS


@pytest.mark.parametrize(
    ("acts", "stopped"),
    [
        (("broker-sigstop 1", "broker-sigcont 1"), {(0, 10), (10, 10), (15, 16), (20, 90), (0, 90)}),
        (("broker-sigstop 1", "broker-kill-9 1", "broker-sigcont 1"), {(0, 10), (10, 10), (15, 16), (20, 90), (0, 90)}),
        (("broker-sigstop 1",), {(0, 10), (10, 10), (15, 16), (20, 90), (21, 90), (0, 90)}),
        (("broker-sigstop 2", "broker-sigcont 2"), set()),
        (("broker-kill-9 1", "broker-start 1"), set()),
    ],
)
def test_who_is_stopped_is_so_until_it_goes_on_or_ends(
    acts: tuple[str, ...], stopped: set[tuple[int, int]], tmp_path: Path
) -> None:
    """The acts are 10 ms apart, the first one at 10."""
    done = [
        {"ms": 10 * number, "action": one.split()[0], "broker": int(one.split()[1])}
        for number, one in enumerate(acts, start=1)
    ]
    (tmp_path / ACTIONS).write_text("".join(f"{json.dumps(one)}\n" for one in done), encoding="utf-8")
    found = read_acts(tmp_path, [])
    times = [(0, 9), (0, 10), (10, 10), (15, 16), (20, 90), (21, 90), (0, 90)]
    assert {one for one in times if found.is_stopped(1, *one)} == stopped
