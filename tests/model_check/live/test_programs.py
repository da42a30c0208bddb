"""What can run as a member, and how a word of the command line names it."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from model_check.live.command_program import PLACEHOLDERS, SILENT, Agreed, command, words_of
from model_check.live.kafka_jars import KafkaJars
from model_check.live.kafka_program import kafka, logging_of, settings_of
from model_check.live.live_setup import chosen_program
from model_check.live.programs import REAL_TIMES, Child, Launch, Program
from model_check.recordings.members import Role
from spec.errors import BadInput, EnvironmentFailure, UnknownName
from spec.formats.kafka_types import V0102, V082, V090, KafkaVersion


def launch(folder: Path, protocol: KafkaVersion = V0102) -> Launch:
    """Broker 3, on its first life."""
    return Launch(
        broker=3,
        incarnation=1,
        role=Role.BOTH,
        host="127.0.0.1",
        port=19092,
        zookeeper="127.0.0.1:2181",
        folder=folder / "broker-3",
        work=folder / "work",
        seed=0,
        times=REAL_TIMES,
        protocol=protocol,
    )


def run_to_its_end(program: Program, folder: Path) -> str:
    """What a command prints until it ends."""
    child = program.start(launch(folder))
    child.process.wait(10)
    child.end()
    return child.output()


def settings(release: str, folder: Path, protocol: KafkaVersion = V0102) -> dict[str, str]:
    """The settings of a broker of some release."""
    text = settings_of(launch(folder, protocol), KafkaJars(folder, release))
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_broker_of_kafka_listens_where_it_is_told_in_the_words_of_its_release(tmp_path: Path) -> None:
    old, new = settings("0.8.2.2", tmp_path, V082), settings("0.10.2.2", tmp_path)
    assert (old["host.name"], old["port"], "listeners" in old) == ("127.0.0.1", "19092", False)
    assert (new["listeners"], "port" in new) == ("PLAINTEXT://127.0.0.1:19092", False)
    assert new["broker.id"] == old["broker.id"] == "3"
    assert new["delete.topic.enable"] == "true"
    kept = replace(launch(tmp_path), deletes_topics=False)
    assert "delete.topic.enable=false\n" in settings_of(kept, KafkaJars(tmp_path, "0.10.2.2"))


@pytest.mark.parametrize(
    ("release", "protocol", "named"),
    [
        ("0.10.2.2", V0102, None),
        ("0.10.2.2", V090, "0.9.0.0"),
        ("0.10.2.2", V082, "0.8.2.0"),
        ("1.1.1", V0102, "0.10.2"),
        ("3.9.1", V0102, "0.10.2"),
    ],
)
def test_a_newer_broker_speaks_the_older_protocol(
    release: str, protocol: KafkaVersion, named: str | None, tmp_path: Path
) -> None:
    assert settings(release, tmp_path, protocol).get("inter.broker.protocol.version") == named


def test_every_log_of_kafka_is_appended_to_a_file_in_the_members_folder(tmp_path: Path) -> None:
    text = logging_of(launch(tmp_path))
    for name in ("server.log", "state-change.log", "controller.log"):
        assert f".File={(tmp_path / 'broker-3').resolve() / name}\n" in text
    assert text.count("[%d] %p %m (%c)%n") == 3


def test_a_command_is_told_who_it_is_and_where_things_are(tmp_path: Path) -> None:
    made = command("echo --id {id} --at {host}:{port} '{zookeeper} and' {folder}")
    assert run_to_its_end(made, tmp_path) == f"--id 3 --at 127.0.0.1:19092 127.0.0.1:2181 and {tmp_path / 'broker-3'}"


def test_a_command_is_up_once_it_says_so(tmp_path: Path) -> None:
    script = "import time; time.sleep(0.3); print('rea' + 'dy', flush=True); time.sleep(60)"
    child = command(f'{sys.executable} -c "{script}"', Agreed(up_when="ready")).start(launch(tmp_path))
    assert not child.has_started
    await_start(child)
    child.end()
    assert child.process.returncode == -9


def await_start(child: Child) -> None:
    """Until then a signal may meet what starts the command."""
    deadline = time.monotonic() + 10
    while not child.has_started:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("agreed", "exit_code"), [(Agreed(up_when="up"), -15), (Agreed(up_when="up", stop_with="INT"), -2)]
)
def test_a_command_is_stopped_with_the_signal_that_was_agreed(agreed: Agreed, exit_code: int, tmp_path: Path) -> None:
    child = command("sh -c 'echo up; exec sleep 60'", agreed).start(launch(tmp_path))
    await_start(child)
    child.tell_to_stop()
    assert child.process.wait(10) == exit_code
    assert not child.has_failed
    child.end()


def test_a_signal_that_stops_nobody_in_order_is_told() -> None:
    with pytest.raises(UnknownName, match="no stop signal is called 'KILL'"):
        command("sleep 60", Agreed(stop_with="KILL"))


def test_a_command_that_ends_by_itself_is_told_with_its_last_words(tmp_path: Path) -> None:
    child = command("sh -c 'echo first; echo I give up; exit 7'").start(launch(tmp_path))
    child.process.wait(10)
    assert child.has_failed
    with pytest.raises(EnvironmentFailure, match="broker 3 ended by itself with exit code 7: I give up"):
        raise child.failure()
    assert child.last_words() == ("what it printed last (output-1.txt):", "  first", "  I give up")
    assert (tmp_path / "broker-3" / "output-1.txt").read_text(encoding="utf-8") == "first\nI give up\n"
    child.end()


@pytest.mark.parametrize(("prints", "hint"), [("echo first; echo ready", "it printed 'ready' last"), ("true", SILENT)])
def test_a_command_that_does_not_say_what_was_agreed_is_told_what_it_says(
    prints: str, hint: str, tmp_path: Path
) -> None:
    child = command(f"sh -c '{prints}'", Agreed(up_when="READY")).start(launch(tmp_path))
    child.process.wait(10)
    assert not child.has_started
    assert (child.awaited, child.why_not_up()) == ("broker 3 has printed 'READY'", hint)
    child.end()


def test_what_a_command_has_started_ends_with_it(tmp_path: Path) -> None:
    child = command("sh -c 'sleep 77 & echo $!; wait'").start(launch(tmp_path))
    deadline = time.monotonic() + 10
    while not child.output():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    grandchild = Path("/proc") / child.output()
    assert grandchild.exists()
    child.end()
    while grandchild.exists() and "sleep" in (grandchild / "cmdline").read_text("utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("run {id} {name}", r"'run \{id\} \{name\}' has \{name\}, which is none of \{id\}, \{host\}, "),
        ("run {id:03}", r"'run \{id:03\}' has \{id:03\}, which is none of \{id\}, "),
        ("run {host!r:>9}", r"has \{host!r:>9\}, which is none of \{id\}, "),
        ("run {id", "is no command: expected '}' before end of string"),
        ("run 'it", "is no command: No closing quotation"),
    ],
)
def test_a_template_that_is_none_is_told(template: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        words_of(template, dict.fromkeys(PLACEHOLDERS, "1"))


@pytest.mark.parametrize("word", ["", "kafka_0.10.2.2", "no-such-program --id {id}"])
def test_a_word_that_names_nothing_is_told(word: str) -> None:
    with pytest.raises(BadInput, match="is neither `reference`, kafka:RELEASE nor a folder of jars, and as a command"):
        chosen_program(word)


def test_words_name_the_reference_releases_folders_and_commands(tmp_path: Path) -> None:
    assert (chosen_program("reference").runs, chosen_program("reference").release) == ("reference", V0102)
    (tmp_path / "kafka_2.12-1.1.1.jar").touch()
    mine = chosen_program(str(tmp_path))
    assert (mine.runs, mine.release, mine.protocol) == (f"kafka 1.1.1 from {tmp_path.name}", None, V0102)
    claims = chosen_program("sh -c true", Agreed(V090))
    assert (claims.runs, claims.release) == ("command sh -c true", V090)
    with pytest.raises(UnknownName, match="no release of Kafka is called '9'"):
        chosen_program("kafka:9")


@pytest.mark.parametrize("word", ["kafka:", ""])
def test_an_empty_word_is_not_the_current_folder(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kafka_2.12-1.1.1.jar").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"no release of Kafka is called ''|is neither `reference`"):
        chosen_program(word)
    with pytest.raises(UnknownName, match="no release of Kafka is called ''"):
        kafka("")
