"""The words that several verbs share: scope, variant, switches, properties, and how to print."""

import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from model_check.reports.wanted import FORMATS, WITH_POSSIBILITIES, Report, wanted
from model_check.verdicts.rendering import steps_in_lines
from model_check.verdicts.results import Story
from spec.errors import BadInput, EnvironmentFailure
from spec.expectations import Plan, plan, plans
from spec.language.rules import Property
from spec.properties import claim_named
from spec.variants import Switches, adjusted, marked_switches, switch

ScopeArgument: TypeAlias = Annotated[str, typer.Argument(metavar="SCOPE", help="A scope; see `kcheck show scopes`.")]
ScopesArgument: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="[SCOPE]...", help="Only these scopes, whether deep or not.")
]
VariantOption: TypeAlias = Annotated[
    str, typer.Option("--variant", metavar="NAME", help="AS_CODED, DOCUMENTED, FENCED or as shown: FENCED-FIX, say.")
]
WithOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--with", metavar="FIX", help="Switch a fix on, on top of the variant. Repeatable.")
]
WithoutOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--without", metavar="FIX", help="Switch a fix of the variant off. Repeatable.")
]
PropertyOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--property", metavar="NAME", help="Only this property, with its story. Repeatable.")
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, help="Begin no further level once so many states are known.")
]
MasterOption: TypeAlias = Annotated[
    str, typer.Option("--master", metavar="URL", help="Any Spark master: local[N], spark://..., yarn.")
]
VerboseOption: TypeAlias = Annotated[bool, typer.Option("--verbose", help="Name all, and tell what each step changes.")]


def report_option(formats: Iterable[str]) -> Any:
    """The option of a verb whose result can be written in these formats."""
    told = f"Write the result there: {', '.join(formats)}. Repeatable."
    return typer.Option("--report", metavar="FORMAT=FILE", help=told)


ReportOption: TypeAlias = Annotated[list[str] | None, report_option(FORMATS)]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


@dataclass(frozen=True)
class Output:
    """How a result is printed, and which reports are written of it; BadInput for reports that cannot be."""

    as_json: JsonOption = False
    report: ReportOption = None

    def __post_init__(self) -> None:
        _ = self.reports  # what is wrong with them is told before anything long begins

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """The reports, each with its file."""
        return wanted(self.report)

    def refuse_beside(self, option: str) -> None:
        """BadInput where a report is wanted beside an option that prints no result."""
        if self.report:
            raise BadInput(f"{option} prints no result, of which a report could be; leave --report out")

    @property
    def is_kept(self) -> bool:
        """Whether the result goes where all of it is wanted, its stories, too."""
        return self.as_json or bool(self.report)

    @property
    def tells_possibilities(self) -> bool:
        """Whether a report is wanted that tells of each step of a counterexample what else was possible."""
        return any(one.format in WITH_POSSIBILITIES for one in self.reports)


TimelineOption: TypeAlias = Annotated[
    bool, typer.Option("--timeline", help="Draw stories as lanes: ZooKeeper, controllers, brokers; 120 columns.")
]


@dataclass(frozen=True)
class Stories:
    """How stories are printed: in words, with what each step changes or without, or as lanes."""

    timeline: TimelineOption = False
    verbose: VerboseOption = False

    def lines(self, story: Story) -> Iterable[str]:
        """The lines of a story."""
        if self.timeline:
            from model_check.reports.terminal import lanes

            return lanes(story)
        return steps_in_lines(story, changes=self.verbose)


@dataclass(frozen=True)
class Variant:
    """Which switches are on: a variant, named as it is shown, with fixes switched on and off."""

    variant: VariantOption = "AS_CODED"
    on: WithOption = None
    off: WithoutOption = None

    @property
    def switches(self) -> Switches:
        """The switches; UnknownName lists the known ones, BadInput names one that is to be both on and off."""
        switches, added, taken = marked_switches(self.variant)
        return adjusted(switches, added | named(self.on), taken | named(self.off))


def chosen_plans(scopes: Sequence[str] | None, *, deep: bool) -> list[Plan]:
    """The plans of the scopes that are named; without any, of all scopes except deep ones, or of all."""
    if scopes:
        return [plan(name) for name in scopes]
    return [one for one in plans().values() if deep or not one.deep]


def others(chosen: Sequence[Plan]) -> list[Plan]:
    """The plans of all scopes that were not chosen."""
    return [one for one in plans().values() if one not in chosen]


def named(names: Iterable[str] | None) -> Switches:
    """Some switches by name; UnknownName lists the known ones."""
    return frozenset(switch(one) for one in names or ())


def folder_to_fill(path: Path | None) -> None:
    """Make a folder that will be written into after long work, so that it is not found out only then that it cannot be.

    BadInput if something else is there, EnvironmentFailure if it cannot be made or written.
    """
    if path is None:
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{path} is no folder; name another one") from error
    except OSError as error:
        reason = f"nothing can be written to {path}: {error.strerror}"
        raise EnvironmentFailure(reason, "name another folder") from error


def chosen_properties(
    names: Iterable[str] | None, present: Iterable[Property], *, leaving_out: Collection[str] = (), instead: str = ""
) -> list[str]:
    """The properties asked for, each of them known, present in the system, and of a kind that is not left out.

    `instead` says who judges the kinds left out, or how they are judged.
    """
    kinds = {one.name: one.kind for one in present}
    for name in names or ():
        claim_named(name)
        if name not in kinds:
            raise BadInput(f"{name} is not claimed in this scope, which lacks a part that it speaks of")
        if kinds[name] in leaving_out:
            raise BadInput(f"{name} is claimed as `{kinds[name]}`, which is not judged here; {instead}")
    return list(names or ())
