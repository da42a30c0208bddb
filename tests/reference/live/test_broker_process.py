"""A broker as a process: it registers, obeys, and ends with its parent, with one line where something is wrong."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reference.live.outside import STARTED, Exit
from reference.live.zookeeper import LiveZookeeper
from reference.ports import free_port
from reference.zookeeper.api import Create, Delete, Exists, GetChildren, GetData, SetData
from reference.zookeeper.server import ZookeeperServer
from spec.formats.znodes import BrokerPayload, parse_payload

TIMEOUT = 30


@pytest.fixture(scope="module")
def server() -> Iterator[ZookeeperServer]:
    """A server of its own: brokers use Kafka's fixed paths."""
    with ZookeeperServer(tick_time_ms=100) as one:
        yield one


@pytest.fixture
def empty(server: ZookeeperServer) -> ZookeeperServer:
    """The same server, without anything that brokers have left there."""
    with LiveZookeeper(server.address) as admin:
        for path in ("/admin", "/brokers", "/config", "/controller", "/controller_epoch", "/isr_change_notification"):
            remove(admin, path)
    return server


def remove(admin: LiveZookeeper, path: str) -> None:
    """Delete a znode, and what is below it, if it is there."""
    if admin.execute(Exists(path)) is not None:
        for child in admin.execute(GetChildren(path)).names:
            remove(admin, f"{path}/{child}")
        admin.execute(Delete(path))


@contextmanager
def broker(
    zookeeper: str, folder: Path, broker_id: int = 1, port: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    options = {"broker": broker_id, "zookeeper": zookeeper, "port": port or free_port(), "folder": folder}
    command = [
        sys.executable,
        "-m",
        "reference.live.broker_process",
        *(f"--{name}={one}" for name, one in options.items()),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def complaint(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=TIMEOUT)[1].strip()


def test_it_registers_where_it_listens_and_ends_with_its_input(server: ZookeeperServer, tmp_path: Path) -> None:
    port = free_port()
    with broker(server.address, tmp_path, 1, port) as process, LiveZookeeper(server.address) as admin:
        assert said(process) == STARTED
        payload = parse_payload("/brokers/ids/1", admin.execute(GetData("/brokers/ids/1")).data)
        assert isinstance(payload, BrokerPayload)
        assert (payload.host, payload.port) == ("127.0.0.1", port)
        socket.create_connection(("127.0.0.1", port), 5).close()
        assert complaint(process) == ""  # which closes its input
        assert process.returncode == Exit.INPUT_ENDED
    log = (tmp_path / "server.log").read_text(encoding="utf-8")
    assert [line.split(" INFO ")[1].split(" server ")[0] for line in log.splitlines()] == [
        "starting (kafka.server.KafkaServer)", "Session establishment complete on",
    ]  # fmt: skip


def test_a_broker_that_is_told_to_stop_asks_the_controller_and_closes_its_session(
    empty: ZookeeperServer, tmp_path: Path
) -> None:
    """It is the controller itself, so it asks itself; that it is gone is seen at once, not when its session ends."""
    with broker(empty.address, tmp_path, 1) as process, LiveZookeeper(empty.address) as admin:
        assert said(process) == STARTED
        process.terminate()
        assert process.wait(TIMEOUT) == Exit.TOLD_TO_STOP
        assert admin.execute(Exists("/brokers/ids/1")) is None
        assert admin.execute(Exists("/controller")) is None
    requests = (tmp_path / "kafka-request.log").read_text(encoding="utf-8")
    assert (
        requests.count("Name: ControlledShutdownRequest; Version: 1; CorrelationId: 0;ClientId:Some(1); BrokerId: 1")
        == 2
    )
    log = (tmp_path / "controller.log").read_text(encoding="utf-8")
    words = ("Shutting down broker 1", "All shutting down brokers: 1", "Live brokers: ", "All leaders = ", "resigned")
    assert [word for line in log.splitlines()[-5:] for word in words if word in line] == list(words)


HEARD_ELSEWHERE = """
import signal, sys, threading, time
from reference.live.broker_process import main

class Process:
    def __init__(self, settings):
        pass

    def start(self):
        threading.Thread(target=self.be_told, daemon=True).start()

    def be_told(self):
        time.sleep(0.3)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        time.sleep(600)

    def stop(self):
        print("stopped", flush=True)

main(sys.argv[1:], Process)
"""


@pytest.mark.slow
def test_a_stop_is_heard_also_where_the_signal_does_not_interrupt_the_main_thread(tmp_path: Path) -> None:
    """A signal just before the main thread begins to wait does not interrupt it; neither does another thread's."""
    options = {"broker": 1, "zookeeper": "127.0.0.1:1", "port": 1, "folder": tmp_path}
    command = [sys.executable, "-c", HEARD_ELSEWHERE, *(f"--{name}={one}" for name, one in options.items())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert said(process) == STARTED
            assert process.wait(TIMEOUT) == Exit.TOLD_TO_STOP
            assert said(process) == "stopped"
        finally:
            process.kill()


@pytest.mark.slow
def test_an_id_that_is_taken_ends_the_start_up_and_the_session(server: ZookeeperServer, tmp_path: Path) -> None:
    with broker(server.address, tmp_path / "one", 2) as first:
        assert said(first) == STARTED
        with broker(server.address, tmp_path / "two", 2) as second:
            assert complaint(second) == "broker: broker 2 is registered by another session"
            assert second.returncode == Exit.REGISTERED
        with LiveZookeeper(server.address) as admin:
            assert admin.execute(Exists("/brokers/ids/2")) is not None


@pytest.mark.slow
def test_a_controller_znode_that_cannot_be_read_ends_a_start_but_no_running_broker(
    empty: ZookeeperServer, tmp_path: Path
) -> None:
    with LiveZookeeper(empty.address) as admin:
        admin.execute(Create("/controller", b"rubbish"))
        with broker(empty.address, tmp_path / "one", 6) as process:
            line = complaint(process)
        assert process.returncode == Exit.ENVIRONMENT
        assert line.startswith("broker: /controller: ")
        assert len(line.splitlines()) == 1
        admin.execute(Delete("/controller"))
        with broker(empty.address, tmp_path / "two", 7) as process:
            assert said(process) == STARTED
            admin.execute(SetData("/controller", b"rubbish"))
            time.sleep(0.5)
            admin.execute(Delete("/controller"))
            deadline = time.monotonic() + TIMEOUT
            while admin.execute(Exists("/controller")) is None:
                assert time.monotonic() < deadline, "it does not elect any more"
                time.sleep(0.05)
            assert process.poll() is None


@pytest.mark.slow
def test_what_others_write_neither_ends_a_broker_nor_its_stop(empty: ZookeeperServer, tmp_path: Path) -> None:
    """A child of /brokers/ids that is no id, and a /controller that cannot be read while the broker stops."""
    with LiveZookeeper(empty.address) as admin:
        with broker(empty.address, tmp_path, 8) as process:
            assert said(process) == STARTED
            admin.execute(Create("/brokers/ids/nobody", b"{}"))
            time.sleep(0.5)
            assert process.poll() is None
            admin.execute(SetData("/controller", b"rubbish"))
            process.terminate()
            assert process.wait(TIMEOUT) == Exit.TOLD_TO_STOP
        assert admin.execute(Exists("/brokers/ids/8")) is None
    last = (tmp_path / "server.log").read_text(encoding="utf-8").splitlines()[-1]
    assert " WARN /controller: not JSON: " in last
    assert last.endswith(" (kafka.utils.CoreUtils$)")
    assert "resigned" in (tmp_path / "controller.log").read_text(encoding="utf-8").splitlines()[-1]


@pytest.mark.slow
def test_a_port_that_is_taken_is_told_in_a_line(server: ZookeeperServer, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with broker(server.address, tmp_path, 3, taken.getsockname()[1]) as process:
            line = complaint(process)
        assert process.returncode == Exit.ENVIRONMENT
        assert line.startswith("broker: [Errno 98] Address already in use")
        assert len(line.splitlines()) == 1


@pytest.mark.slow
def test_no_zookeeper_is_told_in_a_line(tmp_path: Path) -> None:
    with broker(f"127.0.0.1:{free_port()}", tmp_path, 4) as process:
        line = complaint(process)
    assert process.returncode == Exit.ENVIRONMENT
    assert line.startswith("broker: no ZooKeeper answers on 127.0.0.1:")
    assert len(line.splitlines()) == 1


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-m", "reference.live.broker_process", *sys.argv[1:]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a stopped process with its parent")
def test_a_broker_that_is_stopped_dies_with_its_parent(server: ZookeeperServer, tmp_path: Path) -> None:
    options = {"broker": 5, "zookeeper": server.address, "port": free_port(), "folder": tmp_path}
    command = [sys.executable, "-c", PARENT, *(f"--{name}={one}" for name, one in options.items())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(said(parent))
        os.kill(child, signal.SIGSTOP)
        parent.kill()
    deadline = time.monotonic() + TIMEOUT
    while _state(child) not in ("", "Z"):
        assert time.monotonic() < deadline, "the broker outlives its parent"
        time.sleep(0.05)


def _state(pid: int) -> str:
    """What the kernel says of a process, nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][:1]
    except FileNotFoundError:
        return ""
