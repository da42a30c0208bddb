"""The folder of a campaign: what it is of, the result of each run, and the recordings that are kept.

    campaign.json            the command that decides the runs; another one is refused here
    seed-7.json              the result of a run, a document of `model_check.verdicts.results`
    seed-7/                  its recording, if it does not hold, or all are kept
    seed-7-shrunk.json, seed-7-shrunk/    the same of the smallest run that shows what seed-7 did
    under-way-123/           what process 123 is recording, or has judged: it goes with that process

A file or a recording comes into the folder by a rename, when it is whole. So whoever is killed leaves only what is
finished, and the same command goes on from there. One process at a time works in the folder.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from model_check.campaigns.plan import Plan
from model_check.live.janitor import short_lived
from model_check.verdicts.results import Document, Run, from_json, plain_document
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput, MalformedInput

CAMPAIGN: Final = "campaign.json"
UNDER_WAY: Final = "under-way-"
SHRUNK: Final = "-shrunk"


class CampaignFolder:
    """The folder, while a process works in it."""

    def __init__(self, path: Path, under_way: Path) -> None:
        self.path = path
        self.under_way = under_way

    def recording(self, name: str) -> Path:
        """Where the recording of a run is, if it is kept."""
        return self.path / name

    def has_result(self, name: str) -> bool:
        """Whether the result of a run is there."""
        return self._file(name).exists()

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def result(self, name: str) -> Document | None:
        """The result of a run, if it is there; MalformedInput names the file."""
        file = self._file(name)
        if not file.exists():
            return None
        try:
            return from_json(file.read_text(encoding="utf-8"), str(file))
        except UnicodeDecodeError as error:
            raise MalformedInput(str(file), "", f"not text in UTF-8 ({error})") from error

    def is_done(self, name: str) -> bool:
        """Whether a run needs not be made (again): there is a result, and of what failed a recording."""
        result = self.result(name)
        return result is not None and (result.verdict is not Verdict.ERROR or self.recording(name).exists())

    def keep(self, name: str, recording: Path) -> None:
        """Keep a recording that is whole, instead of an earlier one of that name."""
        shutil.rmtree(self.recording(name), ignore_errors=True)
        recording.rename(self.recording(name))

    def write(self, name: str, runs: tuple[Run, ...]) -> None:
        """Put the result of a run in place."""
        _write_whole(self._file(name), plain_document("live", *runs).to_json() + "\n", self.under_way)


@contextmanager
def opened(path: Path, plan: Plan) -> Iterator[CampaignFolder]:
    """A new campaign's folder, or that of a campaign to go on with; BadInput if it is neither, or in use."""
    path.mkdir(parents=True, exist_ok=True)
    with _alone(path):
        if not (path / CAMPAIGN).exists() and not all(one.name.startswith(UNDER_WAY) for one in path.iterdir()):
            raise BadInput(f"{path} exists already, and is no campaign's folder; name another one with --save")
        for stale in path.glob(f"{UNDER_WAY}*"):
            shutil.rmtree(stale, ignore_errors=True)
        under_way = path / f"{UNDER_WAY}{os.getpid()}"
        with short_lived(under_way):
            under_way.mkdir()
            try:
                _agree(path / CAMPAIGN, plan, under_way)
                yield CampaignFolder(path, under_way)
            finally:
                shutil.rmtree(under_way, ignore_errors=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the folder, so that nobody else works in it; the lock ends with this process, in whatever way."""
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise BadInput(f"{path}: another campaign is at work there; wait for it, or name another folder") from error
    finally:
        os.close(folder)


def _agree(file: Path, plan: Plan, under_way: Path) -> None:
    """Write down what the campaign is of, or see that it is the same."""
    if not file.exists():
        _write_whole(file, json.dumps({"command": plan.command}, indent=1) + "\n", under_way)
        return
    try:
        command = json.loads(file.read_text(encoding="utf-8"))["command"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedInput(str(file), "", f"does not tell the command of a campaign ({error})") from error
    if command != plan.command:
        raise BadInput(f"{file.parent} is the folder of `{command}`; name another one with --save")


def _write_whole(file: Path, text: str, under_way: Path) -> None:
    new = under_way / file.name
    new.write_text(text, encoding="utf-8")
    new.replace(file)
