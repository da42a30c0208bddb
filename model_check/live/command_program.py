"""An implementation in any language as a member: a command, of which nothing is known but what leaves its process.

The command is a template, split into words as a shell would split it, and run without one:

    ./coordinator --id {id} --listen {host}:{port} --zookeeper {zookeeper} --logs {folder}

It is up once it has printed a text that was agreed, or, where none was, once it has run for a while. It is stopped in
order with a signal that was agreed, SIGTERM as a rule, and killed with SIGKILL.
"""

import shlex
import shutil
import signal
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from model_check.live.programs import REAL_TIMES, Child, Launch, Program
from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import KafkaVersion

PLACEHOLDERS: Final = ("id", "host", "port", "zookeeper", "folder")
UP_SECONDS: Final = 3.0
"""How long a command that does not say when it is up must have run to count as up."""

SILENT: Final = "it printed nothing; does it buffer its output where that is no terminal?"
LAST_LINES: Final = 20
"""So much of what a command has printed is reported where it ends by itself."""

STOP_SIGNALS: Final = {"TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP, "QUIT": signal.SIGQUIT}


@dataclass(frozen=True)
class Agreed:
    """What is agreed with a command: the line of Kafka that it claims, what it prints once up, its stop signal."""

    claims: KafkaVersion | None = None
    up_when: str = ""
    stop_with: str = "TERM"

    def __post_init__(self) -> None:
        if self.stop_with not in STOP_SIGNALS:
            raise UnknownName("stop signal", self.stop_with, STOP_SIGNALS)


NOTHING_SPECIAL: Final = Agreed()


class CommandChild(Child):
    """A process of a command."""

    def __init__(self, launch: Launch, template: str, agreed: Agreed) -> None:
        self._up_when = agreed.up_when
        self._since = time.monotonic()
        self.stop_signal = STOP_SIGNALS[agreed.stop_with]
        values = {
            "id": launch.broker,
            "host": launch.host,
            "port": launch.port,
            "zookeeper": launch.zookeeper,
            "folder": launch.folder.resolve(),
        }
        super().__init__(launch, words_of(template, values))

    @property
    def printed(self) -> Path:
        """What a stranger prints is kept with the recording."""
        return self.launch.folder / self.launch.output.name

    @property
    def awaited(self) -> str:
        """That it has printed what was agreed, or that it runs."""
        up = f"has printed {self._up_when!r}" if self._up_when else f"has run for {UP_SECONDS:g} s"
        return f"broker {self.launch.broker} {up}"

    def why_not_up(self) -> str:
        """What it printed instead."""
        said = self.output().splitlines()
        return f"it printed {said[-1]!r} last" if said else SILENT

    def last_words(self) -> tuple[str, ...]:
        """What it printed last, if that is more than the line that its failure tells."""
        said = self.output().splitlines()
        lines = (f"  {line}" for line in said[-LAST_LINES:])
        return (f"what it printed last ({self.printed.name}):", *lines) if len(said) > 1 else ()

    @property
    def has_started(self) -> bool:
        """Whether it has printed that it is up, or has run for long enough where it is not asked to."""
        if self._up_when:
            return self._up_when in self.output()
        return self.process.poll() is None and time.monotonic() - self._since > UP_SECONDS


def command(template: str, agreed: Agreed = NOTHING_SPECIAL) -> Program:
    """A command as a program; BadInput where it cannot be run."""
    words = words_of(template, dict.fromkeys(PLACEHOLDERS, "1"))
    if not words or shutil.which(words[0]) is None:
        what = f"there is no program {words[0]!r}" if words else "it is empty"
        known = "neither `reference`, kafka:RELEASE nor a folder of jars"
        raise BadInput(f"{template!r} is {known}, and as a command it cannot be run: {what}")
    start = partial(CommandChild, template=template, agreed=agreed)
    return Program(f"command {template}", agreed.claims, REAL_TIMES, start)


def words_of(template: str, values: Mapping[str, object]) -> list[str]:
    """The command with its placeholders filled in; BadInput names one that is not known, or has a format."""
    try:
        parts = shlex.split(template)
        fields = [one for part in parts for one in string.Formatter().parse(part)]
    except ValueError as error:
        raise BadInput(f"{template!r} is no command: {error}") from error
    named = {_placeholder(name, form, conversion) for _, name, form, conversion in fields if name is not None}
    if unknown := sorted(named - set(PLACEHOLDERS)):
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        raise BadInput(f"{template!r} has {{{unknown[0]}}}, which is none of {known}")
    return [part.format_map(values) for part in parts]


def _placeholder(name: str, form: str | None, conversion: str | None) -> str:
    """What stands between two braces."""
    return name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
