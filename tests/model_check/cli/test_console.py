"""What is printed: the same text with rich and without it, and colour only where a terminal may want it."""

import pytest

from model_check.cli.colours import say_in_colour
from model_check.cli.console import say, say_table

TEXT = f"kcheck explore: HOLDS; [1, 2] :smile: [bold]no markup[/bold]\n\n  {'a long line ' * 30}\n  é ∪ “VIOLATED”"
ROWS = [("run", "verdict"), ("seed 1", "HOLDS")]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal, and nothing said about one."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def test_a_pipe_is_given_the_text_that_rich_would_give_it(capsys: pytest.CaptureFixture[str]) -> None:
    say(TEXT)
    plain = capsys.readouterr().out
    say_in_colour(TEXT)
    assert plain == capsys.readouterr().out == TEXT


@pytest.mark.parametrize(
    ("name", "value", "is_coloured"),
    [
        ("FORCE_COLOR", "1", True),
        ("FORCE_COLOR", "", False),
        ("TTY_COMPATIBLE", "1", True),
        ("TTY_COMPATIBLE", "0", False),
    ],
)
def test_what_the_environment_says_of_terminals_is_heard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, *, is_coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, value)
    say("HOLDS\n")
    assert ("\x1b" in capsys.readouterr().out) == is_coloured
    say_table(ROWS)
    drawn = capsys.readouterr().out
    assert ("━" in drawn) == is_coloured
    assert (drawn == "  run     verdict\n  seed 1  HOLDS\n") != is_coloured
