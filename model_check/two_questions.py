"""The two questions that are asked of a recording, each answered by a run of its own.

    Does what was seen break a claim?             asked of anybody, without a search (`model_check/monitors`)
    Is it a behaviour of the specification?       searched for, where it claims to be 0.8.2 to 0.10.2 (`judging`)

A member that claims to be a release is excused the defects that it is known to have: that they show is reported, and is
no violation. To others nothing is excused, and the second question is not asked.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from model_check.judging.judge import Progress, judge
from model_check.judging.judgement_report import run_of
from model_check.judging.not_asked import unsearched
from model_check.judging.why_not import with_choices
from model_check.monitors.check import MONITORED, UNREADABLE, check_history
from model_check.recordings.logs import ERA
from model_check.recordings.members import members_of
from model_check.recordings.reading import read
from model_check.recordings.recording import Recording
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import NOT_ALL_ASKED, Verdict
from spec.defects import rows_of
from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import KafkaVersion
from spec.properties import claims
from spec.variants import AS_CODED, Switches, show_switches


@dataclass(frozen=True)
class Question:
    """What is to be asked: by which switches, on which properties (all, if none), how long, and how it is printed.

    Logs are of the `release`, if the recording does not say otherwise; without one, they tell it. The cluster is the
    one below the `chroot`, empty for the root; without one, that is found by what is there. With `possibilities` the
    result says what else could have happened at the steps that matter.
    """

    switches: Switches = AS_CODED
    release: KafkaVersion | None = None
    chroot: str | None = None
    chosen: Collection[str] = ()
    budget: int | None = None
    whole_story: bool = False
    possibilities: bool = False
    progress: Progress = lambda _done, _what, _of: None
    stop: Callable[[], bool] = lambda: False


def claims_run(folder: Path, asked: Question, recording: Recording | None) -> Run:
    """What becomes of the claims; `recording` is None where somebody claims to be of no documented release."""
    releases = recording.releases.values() if recording else ()
    excused = frozenset(row.id for one in releases if one for row in rows_of(one, asked.switches))
    known = recording if asked.release is None else None  # else the claims go by the release that the logs tell
    made = check_history(folder, excused=excused, known=known, chosen=asked.chosen, chroot=asked.chroot)
    if recording is not None:
        return replace(made, variant=show_switches(asked.switches))
    strangers = ", ".join(map(str, strangers_of(folder)))
    note = f"not searched for a behaviour of the specification: broker {strangers} claims no release of {ERA}"
    unseen = {one.partition(" (")[0]: one for one in unsearched()}
    left = [one for name, one in unseen.items() if name not in MONITORED and (not asked.chosen or name in asked.chosen)]
    if asked.chosen and left and made.verdict is Verdict.HOLDS:
        made = replace(made, verdict=Verdict.INCOMPLETE, reason=NOT_ALL_ASKED)
    return replace(made, not_asked=(*made.not_asked, *left), notes=(*made.notes, note))


def unreadable_run(folder: Path, asked: Question, why: BadInput) -> Run:
    """What is said where a recording cannot be read, since a member has written what nobody can; else BadInput.

    Then it is the member that is wrong, and not the recording. Nothing is excused, and nothing is searched.
    """
    try:
        made = check_history(folder, chosen=asked.chosen, chroot=asked.chroot)
    except BadInput:
        raise why from None
    if not any(one.property == UNREADABLE and one.verdict is Verdict.VIOLATED for one in made.findings):
        raise why
    note = f"not searched for a behaviour of the specification: {why}"
    return replace(made, variant=show_switches(asked.switches), notes=(*made.notes, note))


def search_run(recording: Recording, asked: Question, budget: int | None = None) -> Run:
    """Whether some behaviour of the specification explains a recording."""
    judged = judge(recording, asked.switches, budget=asked.budget or budget, progress=asked.progress, stop=asked.stop)
    variant = show_switches(asked.switches)
    run = run_of(recording, judged, variant, chosen=asked.chosen, whole_story=asked.whole_story)
    return with_choices(run, recording, judged) if asked.possibilities else run


def readable(folder: Path, asked: Question) -> Recording | None:
    """The recording, if all who took part claim a documented release; BadInput where it is not one."""
    if strangers_of(folder):
        return None
    recording = read(folder, asked.release, asked.chroot)
    return recording if recording.claims_era else None


def strangers_of(folder: Path) -> tuple[int, ...]:
    """The members that claim no documented release."""
    members = members_of(folder) or {}
    return tuple(broker for broker, one in sorted(members.items()) if one.release is None)


def property_named(name: str) -> str:
    """The name of a claim that one of the questions asks; UnknownName lists those that there are."""
    known = dict.fromkeys([*(one.name for one in claims()), *sorted(MONITORED)])
    if name not in known:
        raise UnknownName("property", name, known, listed_by="kcheck show properties")
    return name


def is_monitored(chosen: Collection[str]) -> bool:
    """Whether some of the chosen properties, or of all if none is, needs no search."""
    return not chosen or not MONITORED.isdisjoint(chosen)


def is_searched(chosen: Collection[str]) -> bool:
    """Whether a search asks some of the chosen properties, or of all if none is."""
    return not chosen or any(one.name in chosen for one in claims())
