"""The words that `live` and `campaign` share: what runs as controller and as broker, and what is done to the cluster.

`Asked` has them as values. It makes the task of a seed of them, and says them as a command line does, so that whoever
reads a report can run the same again.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Final

import typer

from model_check.cli import options
from model_check.live.command_program import STOP_SIGNALS, Agreed
from model_check.live.fault_kinds import FAULTS, checked_kinds, kinds_for
from model_check.live.kafka_program import kafka
from model_check.live.live_run import Task
from model_check.live.live_setup import Setup, chosen_program, names_command
from model_check.live.reference_program import REFERENCE
from model_check.recordings.members import RELEASES
from spec.errors import BadInput, UnknownName

KINDS: Final = "; ".join(f"{name}: {said}" for name, (said, _) in FAULTS.items())
PROGRAMS: Final = (
    "`reference`, kafka:RELEASE, a folder of Kafka's jars, or a command with {id} {host} {port} {zookeeper} {folder}"
)

BROKERS, CONTROLLERS, TOPICS, STOP_WITH = 3, 2, 2, "TERM"
"""What there is of each unless something else is asked for; of controllers, where they are under test, and told apart.
"""


@dataclass(frozen=True)
class Asked:
    """What was asked for: the members, the topics, the kinds of faults, and the fixes of the reference."""

    kafka: Annotated[
        str | None, typer.Option("--kafka", metavar="RELEASE|DIR", help="Real Kafka as every controller and broker.")
    ] = None
    controller: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help=f"What controls, and holds no replicas: {PROGRAMS}.")
    ] = None
    brokers: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="What holds the replicas, chosen apart from the controller.")
    ] = None
    broker_count: Annotated[int, typer.Option(min=1, max=20, help="How many members hold replicas.")] = BROKERS
    controller_count: Annotated[
        int | None, typer.Option(min=1, max=9, help="How many only control, if chosen apart (default: 2 under test).")
    ] = None
    release: Annotated[
        str | None, typer.Option(help="The release line as which a command behaves, and logs: 0.8.2 to 0.10.2.")
    ] = None
    up_when: Annotated[str, typer.Option(metavar="TEXT", help="What a command prints once it is up.")] = ""
    stop_with: Annotated[
        str, typer.Option(metavar="SIGNAL", help=f"What has a command stop in order: {', '.join(STOP_SIGNALS)}.")
    ] = STOP_WITH
    topics: Annotated[int, typer.Option(min=0, max=9, help="Topics at first; more come with faults.")] = TOPICS
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Only this kind of fault. Repeatable. The kinds are: {KINDS}."),
    ] = None
    variant: options.VariantOption = "AS_CODED"
    on: options.WithOption = None
    off: options.WithoutOption = None
    keep_topics: Annotated[
        bool, typer.Option("--keep-topics", help="Topics are not deleted on request: delete.topic.enable=false.")
    ] = False

    def task(
        self,
        seed: int,
        faults: int | None = None,
        minutes: float | None = None,
        plays: tuple[int, ...] | None = None,
        port: int | None = None,
    ) -> Task:
        """What to run for a seed; without a number of faults, each kind once. BadInput, UnknownName."""
        if plays is not None and (faults is not None or minutes is not None):
            raise BadInput("--play names the faults; --faults and --minutes count them")
        switches = options.Variant(self.variant, self.on, self.off).switches
        deletes = not self.keep_topics
        setup = Setup(self.broker_count, seed, port=port, switches=switches, deletes_topics=deletes, **self._members)
        kinds = checked_kinds(self.only or kinds_for(setup), setup)
        count = len(kinds) if faults is None else faults
        return Task(setup, self.topics, count, kinds, None if minutes is None else 60 * minutes, plays)

    @cached_property
    def _members(self) -> dict[str, Any]:
        """What runs as controller and as broker, as a `Setup` takes it; BadInput where options do not go together."""
        if self.release is not None and self.release not in RELEASES:
            raise UnknownName("release line", self.release, RELEASES)
        apart = [one for one in (self.controller, self.brokers) if one is not None]
        if self.kafka is not None and apart:
            raise BadInput("--kafka chooses every controller and broker; leave out --controller and --brokers")
        if self.controller_count is not None and not apart:
            raise BadInput("--controller-count counts members that only control; it needs --controller or --brokers")
        agreed = [_option(one) for one in AGREED if getattr(self, one) != getattr(Asked, one)]
        if agreed and not any(map(names_command, apart)):
            raise BadInput(f"{', '.join(agreed)}: agreed with a command, and none is to run")
        if self.kafka is not None:
            return {"broker": kafka(self.kafka)}
        if not apart:
            return {}
        controller, broker = (REFERENCE if one is None else one for one in (self.controller, self.brokers))
        choose = partial(chosen_program, agreed=Agreed(RELEASES.get(self.release or ""), self.up_when, self.stop_with))
        is_alone = self.controller is None or (names_command(self.controller) and "{id}" not in self.controller)
        usual = 1 if is_alone else CONTROLLERS
        count = usual if self.controller_count is None else self.controller_count
        return {"controller": choose(controller), "broker": choose(broker), "controllers": count}

    @property
    def words(self) -> str:
        """What was asked for, as the command line says it; what is as usual is not said."""
        return shlex.join(self._words())

    def _words(self) -> Iterator[str]:
        usual = Asked()
        for name, value in vars(usual).items():
            given = getattr(self, name)
            if given is True:
                yield _option(name)
            elif given not in (value, []):
                for one in given if isinstance(given, list) else (given,):
                    yield from (_option(name), str(one))


AGREED: Final = ("release", "up_when", "stop_with")
"""What is agreed with a command, and with nobody else."""
OPTION: Final = {"on": "with", "off": "without"}
"""Options that are called otherwise than their values."""


def _option(value: str) -> str:
    """The option that gives a value of `Asked`."""
    return f"--{OPTION.get(value, value.replace('_', '-'))}"
