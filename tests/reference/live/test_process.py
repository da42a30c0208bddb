"""A broker process that is not started: what its threads do with what is raised in them."""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference.live.process import LiveProcess, Settings
from reference.zookeeper.api import NoNode
from spec.errors import MalformedInput
from spec.state.enumerations import Callback


@pytest.fixture
def process(tmp_path: Path) -> Iterator[LiveProcess]:
    process = LiveProcess(Settings(1, "127.0.0.1:1", 0, tmp_path))
    with process.server._listening:
        yield process


def test_a_registration_that_fails_later_ends_its_callback_only(
    process: LiveProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it meets; `ZkEventThread` logs what a listener raises, and goes on."""
    tried: queue.SimpleQueue[str] = queue.SimpleQueue()

    def register() -> bool:
        tried.put("again")
        raise NoNode("/brokers/ids")

    monkeypatch.setattr(process, "_register", register)
    process.zookeeper.callbacks.put(Callback.REGISTRATION)
    process.zookeeper.callbacks.put(Callback.REGISTRATION)
    threading.Thread(target=process._run_callbacks, daemon=True).start()
    assert [tried.get(timeout=10) for _ in range(2)] == ["again", "again"]


def test_what_cannot_be_read_while_it_stops_is_swallowed_and_told(
    process: LiveProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def depart(*_: object) -> bool:
        raise MalformedInput("/controller", "", "not JSON")

    monkeypatch.setattr("reference.live.process.depart", depart)
    monkeypatch.setattr(process.fetcher, "stop", lambda: done.append("fetcher"))
    monkeypatch.setattr(process.zookeeper, "stop", lambda: done.append("session"))
    process.stop()
    assert done == ["fetcher", "session"]
    assert (
        (tmp_path / "server.log")
        .read_text(encoding="utf-8")
        .endswith("] WARN /controller: not JSON (kafka.utils.CoreUtils$)\n")
    )
