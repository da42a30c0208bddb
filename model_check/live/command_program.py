"""An implementation in any language as a member: a command, of which nothing is known but what leaves its process.

The command is a template, split into words as a shell would split it, and run without one:

    ./coordinator --id {id} --listen {host}:{port} --zookeeper {zookeeper} --logs {folder}

It is up once it has printed a text that was agreed, or, where none was, once it has run for a while. It is stopped with
SIGTERM, and killed with SIGKILL.
"""

from __future__ import annotations

import shlex
import shutil
import string
import time
from collections.abc import Mapping
from functools import partial
from typing import Final

from model_check.live.launching import Launch
from model_check.live.live_child import Child
from model_check.live.programs import REAL_TIMES, Program
from spec.errors import BadInput
from spec.kafka_types import KafkaVersion

PLACEHOLDERS: Final = ("id", "host", "port", "zookeeper", "folder")
UP_SECONDS: Final = 3.0
"""How long a command that does not say when it is up must have run to count as up."""


class CommandChild(Child):
    """A process of a command."""

    def __init__(self, launch: Launch, template: str, up_when: str) -> None:
        self._up_when = up_when
        self._since = time.monotonic()
        values = {
            "id": launch.broker,
            "host": launch.host,
            "port": launch.port,
            "zookeeper": launch.zookeeper,
            "folder": launch.folder.resolve(),
        }
        super().__init__(launch, words_of(template, values))

    @property
    def has_started(self) -> bool:
        """Whether it has printed that it is up, or has run for long enough where it is not asked to."""
        if self._up_when:
            return self._up_when in self.output()
        return self.process.poll() is None and time.monotonic() - self._since > UP_SECONDS


def command(template: str, *, claims: KafkaVersion | None = None, up_when: str = "") -> Program:
    """A command as a program; BadInput where it cannot be run.

    `claims` is the release line of Kafka whose behaviour it claims, if it does; `up_when` what it prints once it is up.
    """
    words = words_of(template, dict.fromkeys(PLACEHOLDERS, "1"))
    if not words or shutil.which(words[0]) is None:
        what = f"there is no program {words[0]!r}" if words else "it is empty"
        known = "neither `reference`, kafka:RELEASE nor a folder of jars"
        raise BadInput(f"{template!r} is {known}, and as a command it cannot be run: {what}")
    return Program(f"command {template}", claims, REAL_TIMES, partial(CommandChild, template=template, up_when=up_when))


def words_of(template: str, values: Mapping[str, object]) -> list[str]:
    """The command with its placeholders filled in; BadInput names one that is not known."""
    try:
        parts = shlex.split(template)
        named = {name for part in parts for _, name, _, _ in string.Formatter().parse(part) if name is not None}
    except ValueError as error:
        raise BadInput(f"{template!r} is no command: {error}") from error
    if unknown := sorted(named - set(PLACEHOLDERS)):
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        raise BadInput(f"{template!r} has {{{unknown[0]}}}, which is none of {known}")
    return [part.format_map(values) for part in parts]
