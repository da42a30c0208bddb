"""The program that a word of the command line names: `reference`, `kafka:0.10.2.2`, a folder of jars, or a command."""

from pathlib import Path
from typing import Final

from model_check.live.command_program import NOTHING_SPECIAL, Agreed, command
from model_check.live.kafka_program import kafka
from model_check.live.programs import Program
from model_check.live.reference_program import REFERENCE, reference

KAFKA: Final = "kafka:"


def chosen_program(word: str, agreed: Agreed = NOTHING_SPECIAL) -> Program:
    """The program, a release fetched if need be, `agreed` for a command; BadInput, UnknownName, EnvironmentFailure."""
    if names_command(word):
        return command(word, agreed)
    return reference() if word == REFERENCE else kafka(word.removeprefix(KAFKA))


def names_command(word: str) -> bool:
    """Whether a word names a command, as whatever names nothing else does."""
    return not (word == REFERENCE or word.startswith(KAFKA) or (word and Path(word).is_dir()))
