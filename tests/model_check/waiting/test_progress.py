"""Long work: Ctrl-C asks once and then insists, and what cannot fit is refused."""

import signal

import pytest

from model_check.verdicts.interrupts import raising
from model_check.waiting.progress import bar, interruptible, is_watched, refuse_what_cannot_fit
from spec.errors import EnvironmentFailure, LacksMemory


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_insists(one: signal.Signals) -> None:
    with interruptible() as stop:
        assert not stop()
        signal.raise_signal(one)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(one)


def test_afterwards_signals_do_what_they_did_before() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM])
def test_what_one_part_of_a_verb_is_asked_the_whole_verb_is(one: signal.Signals) -> None:
    with raising() as stop:
        with interruptible() as part:
            signal.raise_signal(one)
            assert part()
        assert stop()
        with interruptible() as later:
            assert later()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_part_within_a_part_asks_as_well() -> None:
    with interruptible() as stop:
        with interruptible() as part:
            signal.raise_signal(signal.SIGINT)
            assert part()
        assert stop()


def test_after_a_part_the_first_press_raises_again() -> None:
    with raising() as stop:
        with interruptible():
            pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert stop()


def test_what_fits_is_let_through_and_one_byte_more_is_not() -> None:
    refuse_what_cannot_fit("tiny", 1000, 1000)
    with pytest.raises(LacksMemory, match=r"tiny needs about 0\.0 MiB of memory, and 0\.0 MiB are free"):
        refuse_what_cannot_fit("tiny", 1001, 1000)
    with pytest.raises(EnvironmentFailure, match=r"ci needs about 1\.5 GiB of disk, and 700\.0 MiB are free") as caught:
        refuse_what_cannot_fit("ci", 3 << 29, 700 << 20, "disk")
    assert not isinstance(caught.value, LacksMemory), "a disk is not emptied by waiting"


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_bar_is_drawn_on_standard_error_for_who_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_seen: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("model_check.waiting.progress.is_watched", lambda: is_seen)
    with bar("tiny", 7) as report:
        report(3, "half of it")
    printed = capsys.readouterr()
    assert ("tiny: half of it" in printed.err, "3/7" in printed.err) == (is_seen, is_seen)
    assert (printed.out, bool(printed.err)) == ("", is_seen)


def test_nobody_watches_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.delenv("CI", raising=False)
    assert is_watched()
    monkeypatch.setenv("CI", "true")
    assert not is_watched()
