"""The members of a recording, and their roles: `members.json`, which whoever made the recording may write.

    {"1": {"role": "controller", "runs": "kafka 1.1.1", "release": null},
     "2": {"role": "broker", "runs": "reference", "release": "0.10.2"}}

`release` is the release line whose behaviour a member claims and whose log lines it prints; null, if it is not one of
the documented controller's: then nothing is asked of its logs, and it need not have any. A broker that has a session
and is not named (none is, where there is no file) is a member of both roles, and its logs tell its release.
"""

import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model_check.recordings.sessions import is_broker_id
from spec.errors import MalformedInput
from spec.formats.kafka_types import KafkaVersion

MEMBERS: Final = "members.json"
RELEASES: Final[Mapping[str, KafkaVersion]] = {str(one): one for one in KafkaVersion}


class Role(enum.StrEnum):
    """What a member does: a controller holds no replicas, a broker never stands for election."""

    CONTROLLER = "controller"
    BROKER = "broker"
    BOTH = "both"

    @property
    def controls(self) -> bool:
        """Whether it stands for election."""
        return self is not Role.BROKER

    @property
    def holds_replicas(self) -> bool:
        """Whether replicas are assigned to it."""
        return self is not Role.CONTROLLER


@dataclass(frozen=True)
class Member:
    """A broker id's role, what runs as it (`reference`, `kafka 0.10.2.2`, a command), and the release it claims."""

    role: Role
    runs: str
    release: KafkaVersion | None


def members_of(folder: Path) -> Mapping[int, Member] | None:
    """The members by broker id, if the recording tells them; MalformedInput names the file."""
    file = folder / MEMBERS
    if not file.exists():
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_named_once)
        return {_id(broker): _member(one) for broker, one in content.items()}
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"is not an object of members by broker id, each with role, runs and release ({error})"
        raise MalformedInput(str(file), "", reason) from error


def print_members(members: Mapping[int, Member]) -> str:
    """The text of the file."""
    content = {broker: vars(one) | {"release": one.release and str(one.release)} for broker, one in members.items()}
    return json.dumps(content, indent=1) + "\n"


def _named_once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; ValueError if a name stands in it twice, of which json would take the last."""
    content = dict(fields)
    if len(content) < len(fields):
        raise ValueError("a name stands in it twice")
    return content


def _id(text: str) -> int:
    if not is_broker_id(text):
        raise ValueError(f"{text!r} is no broker id")
    return int(text)


def _member(given: Any) -> Member:
    release = given["release"]
    return Member(Role(given["role"]), str(given["runs"]), None if release is None else RELEASES[release])
