"""Damaged logs at the door: whatever is in them, they are judged or refused as bad input, and soon."""

import gzip
import tarfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from model_check.cli.streams import harmless
from model_check.cli.verbs import app
from model_check.logs.judging import judge_logs
from model_check.reports.wanted import FORMATS, rendered
from model_check.verdicts.rendering import text
from model_check.verdicts.results import from_json, plain_document
from spec.errors import BadInput
from tests.damage import damaged, no_hang
from tests.model_check.conformance.test_fuzzed import many
from tests.model_check.logs.edits import edited

DATA = Path(__file__).parents[2] / "data"
ARCHIVES = ("kafka-public-logs.tar.xz", "kafka-campaign-woken.tar.xz")
"""What people committed, and recordings of which each broker has a server.log, too."""
NAMES = ("state-change.log", "controller.log", "server.log")
MOST_LINES = 40


@cache
def logs() -> dict[str, list[bytes]]:
    """The lines of real logs of all three kinds."""
    found = dict[str, list[bytes]]()
    for name in ARCHIVES:
        with tarfile.open(DATA / name) as opened:
            for member in opened:
                if (stream := opened.extractfile(member)) and ".log" in member.name:
                    found[member.name] = stream.read().splitlines(keepends=True)
    return found


def some(random: Random) -> dict[str, list[bytes]]:
    """A few lines of some logs, each under a name of Kafka's, in a folder of one of two brokers."""
    found = dict[str, list[bytes]]()
    for of in random.sample(sorted(logs()), random.randint(1, 3)):
        start = random.randrange(len(logs()[of]))
        kind = next((one for one in NAMES if one in of), NAMES[0])
        lines = logs()[of][start : start + random.randint(1, MOST_LINES)]
        found[f"broker-{random.randint(1, 2)}/{kind}{random.choice(('', '', '.1', '.2016-09-21-13'))}"] = lines
    return found


def test_all_three_kinds_are_among_them() -> None:
    assert all(any(kind in name for name in logs()) for kind in NAMES)


@pytest.mark.takes("It judges, or refuses, a hundred logs.")
@many(10_000)
def test_a_log_is_judged_or_refused(count: int, tmp_path: Path) -> None:
    random = Random(count)
    for number in range(count):
        folder, contents = tmp_path / "x", dict[str, bytes]()
        for name, lines in edited(some(random), random).items():
            content = damaged(b"".join(lines), random) if random.random() < 0.9 else b"".join(lines)
            if random.random() < 0.1:
                content = gzip.compress(content, 1)
                content = damaged(content, random) if random.random() < 0.5 else content
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            contents[name] = content
        with no_hang(contents), suppress(BadInput):
            document = plain_document("logs", *judge_logs([folder], whole=True))
            assert harmless(text(document)).encode("utf-8")
            assert from_json(document.to_json(), "logs") == document
            if number % 10 == 0:
                assert all(rendered(document, one).encode("utf-8") for one in FORMATS)
        if number % 100 == 0:  # with all that the verb does around it
            with no_hang(contents):
                result = CliRunner().invoke(app, ["logs", str(folder)])
                assert result.exit_code in (0, 1, 2, 3), result.output
        for name in contents:
            (folder / name).unlink()
