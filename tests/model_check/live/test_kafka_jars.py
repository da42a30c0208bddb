"""Releases of Kafka are fetched once, checked against their sums, and put into the cache whole or not at all."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_check.kernel.cache import cache_folder
from model_check.live import kafka_jars
from model_check.live.fetch_kafka import main
from model_check.live.kafka_jars import is_cached, jars_in, jars_of_release, kafka_cache, release_line, releases
from spec.errors import BadInput, EnvironmentFailure, UnknownName
from spec.formats.kafka_types import V0102, V082

JARS = {"org.example:one:1.0": b"the first jar", "org.example:two:2.1": b"the second jar"}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in JARS.items()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and one release that is known, of two small jars."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kafka_jars, "releases", lambda: {"0.10.2.9": SUMS})
    return tmp_path / "cache/kafka"


def java(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for java, which gets Ivy's arguments."""
    folder.mkdir()
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def delivering(jars: dict[str, bytes]) -> str:
    """A script that leaves these jars where Ivy is told to leave them: the last argument names the pattern."""
    copies = "\n".join(
        f"printf '%s' '{text.decode()}' > \"$to/{'-'.join(name.split(':'))}.jar\"" for name, text in jars.items()
    )
    return f'for last; do :; done\nto="${{last%/*}}"\nmkdir -p "$to"\n{copies}'


def test_a_release_is_fetched_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java(tmp_path / "bin", delivering(JARS), monkeypatch)
    assert not is_cached("0.10.2.9")
    jars = jars_of_release("0.10.2.9")
    assert (jars.folder, jars.line) == (cache / "0.10.2.9", V0102)
    assert {one.name: one.read_bytes() for one in jars.folder.iterdir()} == {
        "org.example-one-1.0.jar": b"the first jar",
        "org.example-two-2.1.jar": b"the second jar",
    }
    (tmp_path / "bin/java").write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")  # it is not asked again
    assert jars_of_release("0.10.2.9") == jars
    assert [one.name for one in cache.iterdir()] == ["0.10.2.9"]


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "echo 'Server access error: unknown host repo'; exit 1",
            "cannot be fetched: Server access error: unknown host",
        ),
        (
            delivering({**JARS, "org.example:one:1.0": b"another"}),
            "org.example-one-1.0.jar came otherwise than its SHA",
        ),
        (delivering({"org.example:one:1.0": JARS["org.example:one:1.0"]}), "org.example-two-2.1.jar came otherwise"),
        (delivering({**JARS, "org.example:three:3": b"more"}), "org.example-three-3.jar came otherwise than its SHA"),
    ],
)
def test_what_cannot_be_had_leaves_nothing(
    script: str, complaint: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(EnvironmentFailure, match=complaint):
        jars_of_release("0.10.2.9")
    assert list(cache.iterdir()) == []


def test_a_jar_that_was_changed_in_the_cache_does_not_run(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    java(tmp_path / "bin", delivering(JARS), monkeypatch)
    jars_of_release("0.10.2.9")
    with (cache / "0.10.2.9/org.example-two-2.1.jar").open("ab") as jar:
        jar.write(b"!")
    assert main(["0.10.2.9"]) == 4
    assert capsys.readouterr().err == (
        f"kafka: Kafka 0.10.2.9: org.example-two-2.1.jar in {cache / '0.10.2.9'} is not the jar that its SHA-256 sum"
        " names; remove that folder; it is fetched anew\n"
    )


def test_without_java_nothing_is_fetched(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EnvironmentFailure, match="no 'java' on the PATH"):
        jars_of_release("0.10.2.9")
    assert list(cache.iterdir()) == []


FETCHING = """
from model_check.live import kafka_jars
kafka_jars.releases = lambda: {"0.10.2.9": {"org.example:one:1.0": "00"}}
kafka_jars.jars_of_release("0.10.2.9")
"""


def test_who_is_killed_while_fetching_leaves_neither_process_nor_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java(tmp_path / "bin", 'sleep 79 & echo $! > "$0.started"; mv "$0.started" "$0.pid"; wait', monkeypatch)
    deadline = time.monotonic() + 60
    with subprocess.Popen([sys.executable, "-c", FETCHING]) as process:
        while not (tmp_path / "bin/java.pid").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
    ivys = Path("/proc", (tmp_path / "bin/java.pid").read_text("utf-8").strip(), "cmdline")
    try:
        while any(cache.iterdir()) or (ivys.exists() and "sleep" in ivys.read_text("utf-8")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        if ivys.exists():
            os.kill(int(ivys.parent.name), 9)


def test_an_empty_name_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/users")
    assert (kafka_cache(), cache_folder()) == (Path("/users/kcheck/kafka"), Path(".kcheck"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentFailure, match=r"cannot be kept in .*; name another folder with KCHECK_CACHE"):
        jars_of_release("0.10.2.2")


def test_an_unknown_release_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownName, match=r"no release of Kafka is called '0\.10\.2\.3'; did you mean 0\.10\.2\.2\?"):
        jars_of_release("0.10.2.3")
    assert main(["4.0.0"]) == 2
    assert "(known: 0.8.2.2, 0.9.0.1, " in capsys.readouterr().err


def test_every_release_names_kafka_itself_and_whole_sums() -> None:
    assert list(releases()) == ["0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.1.1", "0.10.2.2", "1.1.1", "2.8.2", "3.9.1"]
    for release, sums in releases().items():
        assert sum(one.startswith("org.apache.kafka:kafka_") and one.endswith(f":{release}") for one in sums) == 1
        assert all(len(one.split(":")) == 3 for one in sums)
        assert all(len(bytes.fromhex(digest)) == 32 for digest in sums.values())


def test_a_folder_of_jars_tells_its_release(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no kafka_\*\.jar: name a folder of jars, such as a distribution's libs/"):
        jars_in(tmp_path)
    (tmp_path / "kafka_2.11-0.10.2.3-SNAPSHOT.jar").touch()
    (tmp_path / "kafka-clients-0.10.2.3-SNAPSHOT.jar").touch()
    assert jars_in(tmp_path).release == "0.10.2.3"


@pytest.mark.parametrize("suffix", ["sources", "javadoc", "scaladoc", "test", "tests", "test-sources"])
def test_what_a_build_leaves_beside_kafka_is_not_kafka(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"kafka_2.11-0.10.2.2-{suffix}.jar").touch()
    with pytest.raises(BadInput, match=r"has no kafka_\*\.jar"):
        jars_in(tmp_path)
    (tmp_path / "kafka_2.11-0.10.2.2-cp1-SNAPSHOT.jar").touch()
    assert jars_in(tmp_path).release == "0.10.2.2"


def test_a_folder_with_two_kafkas_is_refused(tmp_path: Path) -> None:
    for name in ("kafka_2.11-0.10.2.2.jar", "kafka_2.12-1.1.1.jar"):
        (tmp_path / name).touch()
    with pytest.raises(BadInput, match=r"has kafka_2\.11-0\.10\.2\.2\.jar and kafka_2\.12-1\.1\.1\.jar: leave the one"):
        jars_in(tmp_path)


def test_release_lines_are_those_that_are_documented() -> None:
    assert [release_line(one) for one in ("0.8.2.2", "0.8.20.1", "0.10.2.2", "0.11.0.0", "1.1.1")] == [
        V082, None, V0102, None, None,
    ]  # fmt: skip
