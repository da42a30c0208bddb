"""Planted faults: each engine is given something that is wrong, and what it says of that is compared.

An engine that looks at nothing finds nothing, and all holds. So a verification of everything plants a fault for each
of them: a step of the specification that forgets one of its updates, or a recording in which one value was changed. One
that is not seen is an ERROR, whatever else holds. Random runs compare as the refinement does; enumeration by Spark's
workers and crash matrices have violations to find that the manifest expects. A live run has a fault of its own, in what
it has just recorded (`live_checks.py`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from model_check.inventory.system_facts import SystemKey
from model_check.judging.shipped_recordings import archives_of, unpacked
from model_check.recordings.transactions import ZOOKEEPER
from model_check.reuse.reusable import Reusable
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, alone
from spec.language.rules import TransitionSystem
from spec.scopes import scope
from spec.variants import AS_CODED

ENGINE: Final = "planted fault"
COST: Final = 1_000_000
"""It takes about as long as exploring so many states."""

NOT_SEEN: Final = "not seen"
VIOLATES: Final = "{} is VIOLATED, and the run"
GOES_BACK: Final = "leader_epoch_never_goes_back"
PATIENCE_S: Final = 60.0
"""Seconds for a question that takes a fraction of one, however busy the machine is."""
CHANGED: Final = "broker-1/state-change.log:164"
"""The line of the log that is changed: nothing explains it."""
RECORDING: Final = "02-broker-kill-restart"
"""Of the recordings that come along, the one that is changed."""
ENOUGH: Final = 5
"""A search visits so many positions for four observations; unchanged, the recording is explained by fewer."""


class Forgotten(NamedTuple):
    """An update that an action of a system forgets."""

    action: str
    variable: str


NOT_COMPLETED: Final = Forgotten("compare_and_set(x=2, o=0)", "operations[0].completed")
"""A thread that wins an operation does not write so, and another wins it, too."""
NO_EPOCH: Final = Forgotten("deliver_request(c=1, b=2)", "brokers[2].controller_epoch")
"""A broker does not adopt the controller epoch of a request."""
COMPLETES_ONCE: Final = "an_operation_completes_once"
TWICE: Final = f"{COMPLETES_ONCE} {Verdict.VIOLATED} in 22 steps"
EACH_ELECTION: Final = "each_election_raises_the_epoch_by_one"


def planted(system: TransitionSystem, fault: Forgotten) -> TransitionSystem:
    """The system with an action that forgets an update; KeyError if it has none to forget."""
    actions = {one.name: one for one in system.actions}
    action = actions[fault.action]
    updates = dict(action.updates)
    del updates[fault.variable]
    return replace(system, actions=tuple({**actions, fault.action: replace(action, updates=updates)}.values()))


def explored(*, tables: bool) -> str:
    """What the explorer says of operations that complete twice: by tables, or by compiled code."""
    from model_check.explicit_state.explorer import explore

    system = planted(SystemKey("purgatory_alone", AS_CODED).built(), NOT_COMPLETED)
    trace = explore(system, likely=int(tables)).violated.get(COMPLETES_ONCE)
    return NOT_SEEN if trace is None else f"{COMPLETES_ONCE} {Verdict.VIOLATED} in {len(trace.steps)} steps"


def proved() -> str:
    """What a proof says of operations that complete twice."""
    from model_check.proofs import induction
    from spec.lemmas import lemmas_of

    system = planted(SystemKey("purgatory", AS_CODED, proving=True).built(), NOT_COMPLETED)
    claim = system.property_named(COMPLETES_ONCE)
    report = induction.prove(system, [claim], lemmas_of(system.model), timeout_s=PATIENCE_S, explain=False)
    found = report.properties[COMPLETES_ONCE]
    return NOT_SEEN if found.verdict is Verdict.HOLDS else f"{COMPLETES_ONCE} is {found.reason.partition(':')[0]}"


def replayed() -> str:
    """What the refinement says of a specification whose broker does not do what the reference's does."""
    from model_check.explicit_state.spanning_tree import spanning_tree
    from model_check.refinement.edge_replay import joined, walk_here
    from model_check.refinement.lockstep import Disagreement, Sides

    sides = Sides(scope("bounce"), AS_CODED, planted(SystemKey("bounce", AS_CODED).built(), NO_EPOCH))
    tree = spanning_tree(sides.system)
    try:
        joined(sides, tree, walk_here(sides, tree, lambda _: None, lambda: False) or [])
    except Disagreement as found:
        return str(found).splitlines()[-1].strip()
    return NOT_SEEN


def asked() -> str:
    """What the claims say of a recording in which a leader epoch goes back, which no defect of its release excuses."""
    with unpacked() as home:
        changed(home / RECORDING / ZOOKEEPER, _goes_back)
        return broken(home / RECORDING, GOES_BACK)


def searched() -> str:
    """Where the search ends in a log in which a replica goes to another state than Kafka has it go."""
    from model_check.judging.judge import Outcome, judge
    from model_check.recordings.reading import read

    with unpacked() as home:
        changed(home / RECORDING / "broker-1" / "state-change.log", _goes_elsewhere)
        recording = read(home / RECORDING)
    found = judge(recording, AS_CODED, budget=ENOUGH * recording.observations // 4)
    ends = () if found.stuck is None else [one.place for one in found.stuck.next]
    return f"{found.outcome}, at {CHANGED}" if found.outcome is Outcome.UNEXPLAINED and CHANGED in ends else NOT_SEEN


def recorded(folder: Path) -> Comparison:
    """What the claims say of a live run once the last epoch that was written in it is one higher."""
    changed(folder / ZOOKEEPER, _epoch_is_higher)
    return seen(VIOLATES.format(EACH_ELECTION), broken(folder, EACH_ELECTION))


def changed(file: Path, change: Callable[[str], str]) -> None:
    """A file of a recording has one other value; ValueError if it has not what is to be changed."""
    before = file.read_text(encoding="utf-8")
    after = change(before)
    if after == before:
        raise ValueError(f"{file.name} has nothing to plant a fault in")
    file.write_text(after, encoding="utf-8")


def broken(folder: Path, claim: str) -> str:
    """What is said of a recording that breaks a claim: of that, and in all, after what its release is excused."""
    from model_check.two_questions import Question, claims_run, readable

    question = Question(chosen=(claim,))
    run = claims_run(folder, question, readable(folder, question))
    is_seen = run.verdict is Verdict.VIOLATED and any(one.verdict is Verdict.VIOLATED for one in run.findings)
    return VIOLATES.format(claim) if is_seen else NOT_SEEN


def _goes_back(log: str) -> str:
    head, mark, tail = log.partition('"zxid": "0x5b"')
    return head + mark + tail.replace('leader_epoch\\":2', 'leader_epoch\\":0', 1)


def _goes_elsewhere(log: str) -> str:
    return log.replace("from OnlineReplica to OfflineReplica", "from OnlineReplica to NewReplica", 1)


def _epoch_is_higher(log: str) -> str:
    lines = log.splitlines(keepends=True)
    number = max(number for number, one in enumerate(lines) if '"path": "/controller_epoch"' in one)
    lines[number] = re.sub(r'"data": "(\d+)"', lambda found: f'"data": "{int(found[1]) + 1}"', lines[number])
    return "".join(lines)


FAULTS: Final[Mapping[str, tuple[Callable[[], str], str]]] = {
    "explorer": (partial(explored, tables=True), TWICE),
    "kernel": (partial(explored, tables=False), TWICE),
    "proof": (proved, f"{COMPLETES_ONCE} is not inductive"),
    "refinement": (replayed, "brokers[2].controller_epoch is 0 in the specification, 1 in the reference"),
    "claims": (asked, VIOLATES.format(GOES_BACK)),
    "search": (searched, f"unexplained, at {CHANGED}"),
}
"""By engine, the fault that is planted, and what the engine must say."""


def planted_faults() -> Iterator[Check]:
    """A check for each engine."""
    for engine in FAULTS:
        yield Reusable(ENGINE, engine, "", COST, partial(alone, compared, engine), files=archives_of(""))


def compared(engine: str) -> Run:
    """What an engine says of the fault that is planted for it, against what it must say."""
    ask, expected = FAULTS[engine]
    comparison = seen(expected, ask())
    return Run(ENGINE, engine, "", comparison.verdict, comparisons=(comparison,))


def seen(expected: str, found: str) -> Comparison:
    """Whether a planted fault is seen; where it is not, nothing that holds can be trusted."""
    return Comparison.of(ENGINE, expected, found, Verdict.ERROR)
