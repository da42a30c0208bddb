"""The folder of a campaign: what is whole stays, what is not goes, and nobody else works there."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_check.campaigns.campaign_folder import opened
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput, MalformedInput
from tests.model_check.campaigns.stand_in_runs import judged_run, plan


def test_results_and_recordings_stay_and_what_is_under_way_goes(tmp_path: Path) -> None:
    with opened(tmp_path / "c", plan()) as folder:
        (folder.under_way / "seed-7").mkdir()
        (folder.under_way / "seed-8").mkdir()
        folder.keep("seed-7", folder.under_way / "seed-7")
        folder.write("seed-7", (judged_run("seed-7"),))
    assert sorted(one.name for one in (tmp_path / "c").iterdir()) == ["campaign.json", "seed-7", "seed-7.json"]
    with opened(tmp_path / "c", plan(runs=9)) as folder:
        assert [folder.is_done(one) for one in ("seed-7", "seed-8")] == [True, False]
        result = folder.result("seed-7")
        assert result is not None
        assert result.runs == (judged_run("seed-7"),)


def test_what_failed_is_done_only_with_a_recording(tmp_path: Path) -> None:
    failed = Run("live", "seed-7", "AS_CODED", Verdict.ERROR, "no controller")
    with opened(tmp_path, plan()) as folder:
        folder.write("seed-7", (failed,))
        assert not folder.is_done("seed-7")
        (folder.under_way / "r").mkdir()
        folder.keep("seed-7", folder.under_way / "r")
        assert folder.is_done("seed-7")


def test_a_recording_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    with opened(tmp_path, plan()) as folder:
        for name in ("one", "two"):
            (folder.under_way / "r").mkdir()
            (folder.under_way / "r" / name).touch()
            folder.keep("seed-7", folder.under_way / "r")
    assert [one.name for one in (tmp_path / "seed-7").iterdir()] == ["two"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "under-way-1/seed-7").mkdir(parents=True)
    with opened(tmp_path, plan()) as folder:
        assert [one.name for one in tmp_path.glob("under-way-*")] == [folder.under_way.name]


@pytest.mark.slow
def test_a_killed_process_leaves_only_what_is_finished(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from model_check.campaigns.campaign_folder import opened\n"
        "from tests.model_check.campaigns.stand_in_runs import judged_run, plan\n"
        "with opened(Path(sys.argv[1]), plan()) as folder:\n"
        "    folder.write('seed-7', (judged_run('seed-7'),))\n"
        "    (folder.under_way / 'seed-8').mkdir()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    deadline = time.monotonic() + 10
    while list(tmp_path.glob("under-way-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["campaign.json", "seed-7.json"]


def test_a_folder_is_refused_that_is_in_use_or_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").touch()
    with (
        pytest.raises(BadInput, match="exists already, and is no campaign's folder"),
        opened(tmp_path / "mine", plan()),
    ):
        pass
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with opened(tmp_path / "c", plan()):
        with pytest.raises(BadInput, match="another campaign is at work there"), opened(tmp_path / "c", plan()):
            pass
        assert len(list((tmp_path / "c").glob("under-way-*"))) == 1
    other = r"is the folder of `kcheck campaign .* --faults 4 --seed 7`; name another one with --save"
    with pytest.raises(BadInput, match=other), opened(tmp_path / "c", plan(faults=5)):
        pass


def test_a_result_that_is_no_text_is_refused_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(json.dumps({"command": plan().command}), encoding="utf-8")
    (tmp_path / "seed-7.json").write_bytes(b"\xff\xfe")
    with opened(tmp_path, plan()) as folder, pytest.raises(MalformedInput, match=r"seed-7\.json: not text in UTF-8"):
        folder.is_done("seed-7")


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps("command")])
def test_a_damaged_campaign_is_refused_by_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "campaign.json").write_text(text, encoding="utf-8")
    with pytest.raises(MalformedInput, match=r"campaign\.json: does not tell the command"), opened(tmp_path, plan()):
        pass
