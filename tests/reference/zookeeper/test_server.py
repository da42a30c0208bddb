"""A real server from pyspark's jars: it starts, stops, dies with its parent, and says in one line what it lacks."""

import errno
import importlib.machinery
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reference.live.zookeeper import LiveZookeeper
from reference.ports import free_port
from reference.zookeeper import server as server_module
from reference.zookeeper.api import Create, Exists
from reference.zookeeper.log import read_transaction_log
from reference.zookeeper.server import (
    JARS,
    DiskFull,
    JarsMissing,
    JavaMissing,
    PortTaken,
    ZookeeperServer,
    ZookeeperServerError,
)
from reference.zookeeper.transactions import SessionCreated

pytestmark = pytest.mark.xdist_group("zookeeper")


def is_listening(port: int | None) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port or 0)) == 0


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def watch_until_it_ends(server: ZookeeperServer) -> None:
    for _ in range(1000):
        server.check_running()
        time.sleep(0.01)


def fake_java(folder: Path, script: str) -> str:
    """A program that does what a shell script says, instead of a Java runtime."""
    java = folder / "fake-java"
    java.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    java.chmod(0o755)
    return str(java)


def refusal_of(server: ZookeeperServer) -> ZookeeperServerError:
    with pytest.raises(ZookeeperServerError) as refusal, server:
        pytest.fail("it started")
    assert "\n" not in str(refusal.value)
    return refusal.value


@pytest.mark.slow
def test_data_in_a_given_folder_outlive_the_server(tmp_path: Path) -> None:
    """Every day `test_log.py` starts one twice in the same folder."""
    with ZookeeperServer(tmp_path / "data") as server:
        with LiveZookeeper(server.address) as client:
            client.execute(Create("/kept", b"x"))
        first_port = server.port
    assert not is_listening(first_port)
    server.stop()  # once more does no harm
    with ZookeeperServer(tmp_path / "data", port=free_port()) as again, LiveZookeeper(again.address) as client:
        assert client.execute(Exists("/kept")) is not None


@pytest.mark.slow
def test_a_session_gets_the_timeout_that_it_asks_for_within_the_bounds(tmp_path: Path) -> None:
    with ZookeeperServer(tmp_path, tick_time_ms=100, max_session_timeout_ms=900) as server:
        for asked in (50, 500, 5000):
            with LiveZookeeper(server.address, session_timeout_ms=asked):
                pass
    changes = [transaction.change for transaction in read_transaction_log(tmp_path)]
    given = [change.timeout_ms for change in changes if isinstance(change, SessionCreated)]
    assert list(dict.fromkeys(given)) == [200, 500, 900], "on a slow machine the shortest may end, and be made again"


@pytest.mark.slow
def test_a_server_that_is_killed_is_missed_and_its_temporary_folder_goes() -> None:
    with ZookeeperServer() as server:
        folder = server.data_dir
        server.check_running()
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not is_listening(server.port))
        with pytest.raises(ZookeeperServerError, match="ended with status 137"):
            watch_until_it_ends(server)
        assert (folder / "version-2").is_dir()
    assert not folder.exists()
    with pytest.raises(ZookeeperServerError, match="has no data folder"):
        _ = server.data_dir


def test_the_server_and_its_folder_go_when_the_parent_is_killed() -> None:
    script = """
from reference.zookeeper.server import ZookeeperServer
with ZookeeperServer() as server:
    print(server.port, server.data_dir, flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        port, folder = parent.stdout.readline().split()
        assert is_listening(int(port))
        assert Path(folder).exists()
        parent.kill()
        wait_until(lambda: not is_listening(int(port)) and not Path(folder).exists())


# -------------------------------------------------------------------------------------------------------- what it lacks


def test_no_java() -> None:
    refusal = refusal_of(ZookeeperServer(java="no-such-java"))
    assert isinstance(refusal, JavaMissing)
    assert str(refusal) == "no 'no-such-java' on the PATH: install a Java runtime, 11 or newer"


def test_no_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = importlib.machinery.ModuleSpec("pyspark", None, origin=str(tmp_path / "__init__.py"))
    for found, problem in ((None, "the pyspark package"), (package, "no zookeeper-[0-9]*, zookeeper-jute-*")):
        monkeypatch.setattr(importlib.util, "find_spec", lambda _name, found=found: found)
        refusal = refusal_of(ZookeeperServer())
        assert isinstance(refusal, JarsMissing)
        assert str(refusal).startswith(problem)


def test_a_jar_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else Java would start without it, and fail, or log nothing."""
    package = importlib.machinery.ModuleSpec("pyspark", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: package)
    (tmp_path / "jars").mkdir()
    for name in JARS:
        if name != "slf4j-api-*":
            (tmp_path / "jars" / f"{name.replace('[0-9]*', '3.9').replace('*', '3.9')}.jar").touch()
    assert str(refusal_of(ZookeeperServer())).startswith(f"no slf4j-api-* in {tmp_path / 'jars'}: install pyspark")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refusal = refusal_of(ZookeeperServer(port=port))
        assert isinstance(refusal, PortTaken)
        assert str(refusal) == f"port {port} of 127.0.0.1 is taken: stop what listens there, or choose another port"
    # Taken by another in the last moment: a given port is reported, a free one is looked for three times.
    count = tmp_path / "count"
    java = fake_java(tmp_path, f"echo started >>{count}; echo 'java.net.BindException: Address already in use'; exit 1")
    assert isinstance(refusal_of(ZookeeperServer(port=free_port(), java=java)), PortTaken)
    assert count.read_text(encoding="utf-8").count("started") == 1
    assert isinstance(refusal_of(ZookeeperServer(java=java)), PortTaken)
    assert count.read_text(encoding="utf-8").count("started") == 4


def test_a_disk_that_is_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = fake_java(tmp_path, "echo 'java.io.IOException: No space left on device'; echo '\tat somewhere'; exit 10")
    refusal = refusal_of(ZookeeperServer(tmp_path / "data", java=java))
    assert isinstance(refusal, DiskFull)
    assert f"on the device of {tmp_path / 'data'}: free some" in str(refusal)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert isinstance(refusal_of(ZookeeperServer(tmp_path / "data")), DiskFull)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    refusal = refusal_of(ZookeeperServer(tmp_path / "file" / "data"))
    assert str(refusal) == f"cannot write to {tmp_path / 'file' / 'data'}: Not a directory"


def test_a_server_that_ends_gives_its_last_words(tmp_path: Path) -> None:
    java = fake_java(tmp_path, "echo 'Invalid config, exiting abnormally: FooException: bar'; echo 'usage'; exit 2")
    refusal = refusal_of(ZookeeperServer(java=java))
    assert str(refusal) == (
        "the ZooKeeper server ended with status 2: Invalid config, exiting abnormally: FooException: bar"
    )


def test_a_server_that_does_not_answer_in_time(tmp_path: Path) -> None:
    server = ZookeeperServer(java=fake_java(tmp_path, "exec sleep 60"))
    try:
        with pytest.raises(ZookeeperServerError, match=r"did not answer on 127.0.0.1:\d+ within 0.2 s$"):
            server.start(timeout_seconds=0.2)
    finally:
        server.stop()


def test_a_server_that_was_not_started() -> None:
    with pytest.raises(ZookeeperServerError, match="has not been started"):
        ZookeeperServer().check_running()


def test_who_does_not_stop_in_time_is_killed_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_STOP_SECONDS", 0.1)
    deaf = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, start_new_session=True)
    server = ZookeeperServer()
    server._process = deaf
    server.stop()
    assert deaf.returncode == -signal.SIGKILL, "nothing of it is left, not even as a zombie"
