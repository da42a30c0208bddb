"""Ports that nobody listens on; those that are to be kept are none that the system hands out."""

import socket
from pathlib import Path
from random import SystemRandom

import pytest

from reference import ports
from reference.ports import FIRST_EPHEMERAL, FIRST_KEPT, HOST, first_ephemeral, free_port, is_listening, kept_ports


def test_kept_ports_are_distinct_free_and_below_what_the_system_hands_out() -> None:
    chosen = kept_ports(9)
    assert len(set(chosen)) == 9
    assert all(FIRST_KEPT <= port < first_ephemeral() for port in chosen)
    for port in chosen:
        assert not is_listening(port)
        with socket.socket() as broker:
            broker.bind((HOST, port))


def test_a_port_that_is_taken_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two ports one is taken: the other is chosen, and two are not to be had."""
    with socket.socket() as taken:
        (first,) = kept_ports(1)
        taken.bind((HOST, first))
        taken.listen()
        assert is_listening(first)
        monkeypatch.setattr(SystemRandom, "randrange", lambda *_: first)
        with pytest.raises(OSError, match=f"no 1 free ports from {FIRST_KEPT} to "):
            kept_ports(1)


@pytest.mark.parametrize(
    ("text", "first"),
    [("1024\t65535\n", 1024), ("", FIRST_EPHEMERAL), ("x y", FIRST_EPHEMERAL), (None, FIRST_EPHEMERAL)],
)
def test_where_the_system_does_not_say_it_is_linuxs_default(
    text: str | None, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "range").write_text(text, encoding="ascii")
    monkeypatch.setattr(ports, "EPHEMERAL", tmp_path / "range")
    assert first_ephemeral() == first
    assert len(kept_ports(2)) == 2


def test_a_free_port_can_be_had() -> None:
    with socket.socket() as server:
        server.bind((HOST, free_port()))
