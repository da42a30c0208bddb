"""Damaged files at each door where one is handed in: each is read, or refused as bad input; nothing else, and soon.

What adapters say, vectors, znodes and requests have theirs in `conformance/test_fuzzed.py`, over 100,000 of them with
`--deep`; here are almost as many more.
"""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from model_check.cli import replay
from model_check.cli.streams import harmless
from model_check.cli.verbs import app
from model_check.monitors.arrivals import NAMES
from model_check.recordings.entries import Log
from model_check.recordings.reading import read
from model_check.reports.wanted import FORMATS, rendered
from model_check.traces.itf import ItfError, SavedTrace, load, to_itf
from model_check.verdicts.rendering import text
from model_check.verdicts.results import from_json, plain_document
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput
from spec.formats.kafka_types import KafkaVersion
from spec.formats.request_schemas import ApiKey
from spec.formats.requests import decode_request, decode_response, parse_request, print_request
from spec.formats.znode_paths import Path as ZnodePath
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_lines import Vocabulary
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.logs.wire_records import parse_record
from tests.damage import damaged, no_hang
from tests.model_check.cli.conftest import built, counted
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.test_fuzzed import many
from tests.model_check.documents import finding, run
from tests.model_check.unpacking import RECORDINGS, recording, unpacked

pytestmark = [RECORDINGS, pytest.mark.takes("It reads, and refuses, hundreds of files.")]

SHORT = "34-D55-config-lost"


@cache
def results() -> bytes:
    """A result with counts, comparisons and a story."""
    found = (finding("one", Verdict.VIOLATED, length=3), finding("two", Verdict.HOLDS))
    return plain_document("explore", run(*found)).to_json().encode()


@many(15_000)
def test_a_result_is_read_or_refused_and_what_is_read_can_be_told(count: int) -> None:
    random = Random(count)
    for _ in range(count):
        content = damaged(results(), random)
        with no_hang(content), suppress(BadInput):
            document = from_json(content.decode("utf-8", "surrogateescape"), "result.json")
            assert harmless(text(document)).encode("utf-8")
            for name in FORMATS:
                assert rendered(document, name).encode("utf-8")


@cache
def trace() -> bytes:
    """A trace that breaks a claim, as `kcheck explore --traces` saves it."""
    system, found = counted("pair")
    longest = max((one.trace for one in found.violations.values()), key=lambda one: len(one.steps))
    return json.dumps(to_itf(SavedTrace(longest, "pair AS_CODED", "a", "AS_CODED"), system), indent=1).encode()


@many(15_000)
def test_a_trace_is_replayed_or_refused(count: int, tmp_path: Path) -> None:
    random, file = Random(count), tmp_path / "trace.itf.json"
    for number in range(count):
        content = damaged(trace(), random)
        file.write_bytes(content)
        with no_hang(content), suppress(ItfError):
            saved = load(file)
            assert text(plain_document("replay", replay._replayed(saved, built("pair"), "pair", "AS_CODED")))
        if number % 100 == 0:  # with all that the verb does around it
            with no_hang(content):
                result = CliRunner().invoke(app, ["replay", str(file), "--scope", "tiny", "--variant", "AS_CODED"])
                assert result.exit_code in (1, 2), result.output


LOGS: dict[str, Vocabulary] = {"state-change.log": STATE_CHANGE_LOG, "controller.log": CONTROLLER_LOG}
RELEASES = tuple(KafkaVersion)


@many(30_000)
def test_a_log_is_read_or_refused(count: int, tmp_path: Path) -> None:
    """Some lines of it, from one place to another; any release may be said to have written them."""
    random = Random(count)
    files = [one for one in recording(SHORT).rglob("*.log") if one.name in LOGS]
    lines = {one: one.read_bytes().splitlines(keepends=True) for one in files}
    for _ in range(count):
        of = random.choice(files)
        start = random.randrange(len(lines[of]))
        content = damaged(b"".join(lines[of][start : start + random.randint(1, 12)]), random)
        file = tmp_path / of.name
        file.write_bytes(content)
        with no_hang(content), suppress(BadInput):
            log = Log(file, LOGS[of.name], random.choice(RELEASES), ahead=random.choice((0, 0, 10**15, -(10**15))))
            log.torn_ends(lambda _: 1)
            list(log.unread(log.release))
            list(log.lines())
            log.end()


KEYS = {name: key for key, name in NAMES.items()} | {"ControlledShutdown": ApiKey.CONTROLLED_SHUTDOWN}


def is_request(data: bytes) -> bool:
    """Whether bytes are a request; some vectors are of those that are none."""
    try:
        return bool(decode_request(data))
    except BadInput:
        return False


@many(30_000)
def test_an_answer_a_record_a_path_and_a_request_in_words_are_taken_or_refused(count: int) -> None:
    random = Random(count)
    answers = [one.given for one in VECTORS if one.verb == "decode_response"]
    paths = [one.given["path"] for one in VECTORS if one.verb == "read_znode"]
    asked = [bytes.fromhex(one.given["hex"]) for one in VECTORS if one.verb == "decode_request"]
    words = [print_request(*decode_request(one)) for one in asked if is_request(one)]
    record = b'{"ms": 1478253662003, "connection": "127.0.0.1:9092-127.0.0.1:40001", "received": "AAYAAQ=="}'
    for number in range(count):
        match number % 4:
            case 0:
                given = random.choice(answers)
                data = damaged(bytes.fromhex(given["hex"]), random)
                with no_hang((given, data)), suppress(BadInput):
                    decode_response(data, KEYS[given["name"]], given["version"])
            case 1:
                line = damaged(record, random).decode("utf-8", "surrogateescape")
                with no_hang(line), suppress(BadInput):
                    parse_record(line, "wire.jsonl:1")
            case 2:
                path = damaged(random.choice(paths).encode(), random).decode("utf-8", "surrogateescape")
                with no_hang(path), suppress(BadInput):
                    ZnodePath.parse(path)
            case _:
                line = damaged(random.choice(words).encode(), random).decode("utf-8", "surrogateescape")
                with no_hang(line), suppress(BadInput):
                    parse_request(line)


@many(5_000)
def test_a_recording_is_read_or_refused(count: int, tmp_path: Path) -> None:
    """One or two of its files are damaged, or are not there."""
    random, folder = Random(count), members(unpacked(SHORT, tmp_path))
    whole = {one: one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}
    for number in range(count):
        chosen = random.sample(sorted(whole), random.choice((1, 1, 1, 2)))
        what = {}
        for one in chosen:
            what[one.name] = content = damaged(whole[one], random)
            one.write_bytes(content)
        if random.random() < 0.05:
            chosen[-1].unlink()
        with no_hang(what), suppress(BadInput):
            read(folder)
        if number % 50 == 0:  # with all that is asked of it, and told
            with no_hang(what):
                result = CliRunner().invoke(app, ["judge", str(folder), "--budget", "200"])
                assert result.exit_code in (0, 1, 2, 3), result.output
        for one in chosen:
            one.unlink(missing_ok=True)
            one.write_bytes(whole[one])


def members(folder: Path) -> Path:
    """The recording, in which who took part is written down, too."""
    of_all = {one.name.partition("-")[2]: {"role": "both", "runs": "kafka 0.10.2.2", "release": "0.10.2"}
              for one in folder.glob("broker-*")}  # fmt: skip
    (folder / "members.json").write_text(json.dumps(of_all), "utf-8")
    return folder
