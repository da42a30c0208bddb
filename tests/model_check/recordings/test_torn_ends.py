"""What a process wrote last that was killed may be torn; that is cut off and told, and any other torn line refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_check.recordings.entries import Log
from model_check.recordings.reading import read
from model_check.recordings.sessions import sessions_by_log
from spec.errors import BadInput
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from tests.files import written_anew
from tests.model_check.unpacking import RECORDINGS, changed, recorded, recording, replaced, unpacked

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"
TORN = "the torn end of what a process wrote that was killed"
LOGS = {"state-change.log": STATE_CHANGE_LOG, "controller.log": CONTROLLER_LOG}


def kinds(name: str) -> Iterator[str]:
    """An entry of each kind of line in the logs of this name, with its stack trace."""
    known = set[type]()
    for log in sorted(recording(NAME).glob(f"broker-*/{name}")):
        for entry in read_entries(log.read_text(encoding="utf-8").splitlines(keepends=True), name):
            assert isinstance(entry, LogEntry)
            kind = type(LOGS[name].parse(entry.message))
            if kind not in known:
                known.add(kind)
                yield f"{entry}\n"


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LOGS)
def test_a_log_may_be_cut_at_any_byte(name: str, every: int, tmp_path: Path) -> None:
    """Whatever is left of its last entry, what stands before is read, and nothing else is seen in the rest."""
    whole, file = list(kinds(name)), tmp_path / name
    assert len(whole) > 15
    for entry in whole:
        content, lines = f"{whole[0]}{entry}".encode(), set[int]()
        head = content.index(b"\n", len(whole[0]))
        for length in {*range(len(whole[0]), len(content), every), head - 1, head, len(content) - 1}:
            written_anew(file, content[:length])
            log = Log(file, LOGS[name])
            read_so_far, torn = [line for _, line in log.lines()], log.torn_ends(lambda _: 1)
            lines.add(len(read_so_far))
            assert len(read_so_far) == (1 if length < head else 2)
            assert len(torn) == 1 or length in {len(whole[0]), head, head + 1} or length > head
        assert lines == {1, 2}


@pytest.mark.parametrize(
    ("file", "every"),
    [
        ("actions.jsonl", 9),
        pytest.param("actions.jsonl", 3, marks=pytest.mark.slow),
        *(
            pytest.param(one, 3, marks=pytest.mark.slow)
            for one in ("broker-1/state-change.log", "broker-2/controller.log")
        ),
        ("broker-1/state-change.log", 40),
    ],
)
def test_a_recording_is_read_wherever_a_log_is_cut(file: str, every: int, tmp_path: Path) -> None:
    """At each line's end, and at one place within it, each time further on."""
    folder = unpacked(NAME, tmp_path)
    lines = (folder / file).read_bytes().splitlines(keepends=True)
    for number in range(0, len(lines), every):
        whole, within = b"".join(lines[:number]), 1 + 7 * number % (len(lines[number]) - 1)
        for content in (whole, whole + lines[number][:within]):
            written_anew(folder / file, content)
            assert read(folder).torn_ends in {(), (f"{file}:{number + 1}",)}


def killed(folder: Path, log: str, *, at: str, keep: int) -> tuple[str, ...]:
    """Cut the entry that stands before the one with a text after so many characters; the torn ends that are read."""

    def change(text: str) -> str:
        start = text.rindex("\n", 0, text.index(at)) + 1
        before = text.rindex("\n", 0, start - 1) + 1
        return text[: before + keep] + text[start:]

    return read(changed(NAME, folder, log, change)).torn_ends


@pytest.mark.parametrize("keep", [1, 20, 40, 100])
def test_the_next_process_goes_on_where_one_was_killed(keep: int, tmp_path: Path) -> None:
    reports = Log(recording(NAME) / "broker-1/controller.log", CONTROLLER_LOG)
    (_, (again, _)) = reports.lines("Controller starting")
    torn = killed(tmp_path, "broker-1/controller.log", at=str(again)[:24], keep=keep)
    assert torn == (f"broker-1/controller.log:{again.line_number - 1}",)
    found = read(tmp_path / NAME)
    assert found.passed_over[f"controller.log: {TORN}"] == 1
    assert found.tracks["controller.log 1"][-1].text == recorded(NAME).tracks["controller.log 1"][-1].text


def test_the_first_line_of_the_next_process_in_state_change_log(tmp_path: Path) -> None:
    reports = Log(recording(NAME) / "broker-1/controller.log", CONTROLLER_LOG)
    (_, (again, _)) = reports.lines("Controller starting")
    log = Log(recording(NAME) / "broker-1/state-change.log", STATE_CHANGE_LOG)
    first = next(entry for entry, _ in log.lines() if entry.time > again.time)
    torn = killed(tmp_path, "broker-1/state-change.log", at=str(first)[:60], keep=60)
    assert torn == (f"broker-1/state-change.log:{first.line_number - 1}",)
    assert read(tmp_path / NAME).passed_over[f"state-change.log: {TORN}"] == 1


def test_a_line_that_is_torn_while_a_process_goes_on_is_refused(tmp_path: Path) -> None:
    """Broker 2 is never killed."""
    with pytest.raises(BadInput, match=r"^broker-2/state-change.log:\d+: has the beginning of another entry in it"):
        killed(tmp_path, "broker-2/state-change.log", at="elected leader 2 for Offline", keep=60)


def test_a_line_that_lost_its_logger_but_not_its_end_is_refused(tmp_path: Path) -> None:
    """No process that is killed writes the end of a line, and not what comes before."""
    log = "broker-1/state-change.log"
    text = (recording(NAME) / log).read_text(encoding="utf-8")
    last = text.rstrip().rindex("\n") + 1
    copy = changed(NAME, tmp_path, log, lambda whole: whole[: last + 60] + "\n")
    with pytest.raises(BadInput, match=r"state-change.log:\d+: does not end with its logger"):
        read(copy)


def test_two_whole_entries_in_one_line_are_refused_while_a_process_goes_on(tmp_path: Path) -> None:
    joined = replaced("(state.change.logger)\n", "(state.change.logger)")
    with pytest.raises(BadInput, match=r"broker-2/state-change.log:1: has the beginning of another entry in it"):
        read(changed(NAME, tmp_path, "broker-2/state-change.log", joined))


@pytest.mark.parametrize("server", ["", "[Kafka Server 4], "])
def test_a_start_is_told_by_server_log_as_each_release_prints_it(server: str, tmp_path: Path) -> None:
    """0.9.0 on, and 0.8.2."""
    log = tmp_path / "broker-4/server.log"
    log.parent.mkdir()
    session = "INFO Session establishment complete on server a/1:2, sessionid = 0x{}, negotiated timeout = 4000 (x)\n"
    start = f"INFO {server}starting (kafka.server.KafkaServer)\n"
    log.write_text(start + session.format(1) + session.format(2) + start + session.format(3), encoding="utf-8")
    assert {name: one.incarnation for name, one in sessions_by_log(tmp_path).items()} == {1: 1, 2: 1, 3: 2}


@pytest.mark.parametrize("client", ["sessionid = ", "session id = "])
def test_a_session_whose_id_may_be_torn_is_not_told_by_server_log(client: str, tmp_path: Path) -> None:
    """ZooKeeper's client of 3.4, and of 3.6 on."""
    told = f"INFO Session establishment complete on server a/1:2, {client}0x10000470, negotiated timeout = 4000 (x)\n"
    log = tmp_path / "broker-4/server.log"
    log.parent.mkdir()
    for length in range(len(told)):
        written_anew(log, told[:length].encode())
        assert sessions_by_log(tmp_path).keys() == ({0x10000470} if "0x10000470," in told[:length] else set())
