"""A manifest of two small scopes for the command line, whose expectations the plain interpreter counted.

`solo` is a lone controller that may crash once; `pair` is two, with an expiry and an exception, enough for violations,
open questions and bounds. `kcheck` runs a command line on them in this process.
"""

import signal
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from importlib import import_module
from typing import Any, Self

import pytest
from typer.testing import CliRunner, Result

from model_check.checks import exploration, gate, proof
from model_check.checks.processes import shared_out
from model_check.cli import coverage, verify, verify_options
from model_check.cli.verbs import app
from model_check.explicit_state.digest import SetDigest
from model_check.reuse import reuse
from model_check.waiting import drawn_bars, progress
from model_check.waiting.progress import interruptible
from spec import expectations, scopes
from spec.language.rules import TransitionSystem
from spec.scopes import Scope
from spec.system import rules, system
from spec.variants import AS_CODED
from tests.model_check.plain_digest import add_plainly
from tests.model_check.plain_exploration import Exploration, explore_plainly

BOUNDS: dict[str, dict[str, Any]] = {
    "solo": {
        "statement": "One broker.",
        "brokers": 1,
        "controllers": 1,
        "controller_epochs": 3,
        "budgets": {"crashes": 1},
    },
    "pair": {
        "statement": "Two brokers.",
        "brokers": 2,
        "controllers": 2,
        "controller_epochs": 3,
        "callback_capacity": 4,
        "budgets": {"expiries": 1, "exceptions": 1},
    },
}

Kcheck = Callable[..., Result]


def built(name: str) -> TransitionSystem:
    """The system of a scope under AS_CODED."""
    bounds = dict(BOUNDS[name])
    budgets = tuple(bounds.pop("budgets").items())
    return system(Scope(name=name, budgets=budgets, **bounds), AS_CODED)


@cache
def counted(name: str) -> tuple[TransitionSystem, Exploration]:
    """The system and what the plain interpreter finds in it."""
    one = built(name)
    return one, explore_plainly(one)


@cache
def expectation(name: str) -> dict[str, Any]:
    """What the manifest would say, from the plain interpreter's counts; goals are left out, it knows none."""
    one, found = counted(name)
    digest = SetDigest()
    for raw in found.reached:
        digest = add_plainly(digest, one.variables, dict(zip(found.names, raw, strict=True)))
    by_rule = {rule.name: [a.name for a in one.actions if a.rule == rule.name] for rule in rules()}
    return {
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "digest": str(digest),
        "violated": {name: len(finding.trace) for name, finding in found.violations.items()},
        "unwitnessed": [p.name for p in one.properties if p.kind == "sometimes" and p.name not in found.witnesses],
        "never_fired": [rule for rule, names in by_rule.items() if names and not any(found.fired[n] for n in names)],
        "bounds_hit": [rule for rule, names in by_rule.items() if any(found.overflows[n] for n in names)],
    }


@pytest.fixture
def manifest(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The two scopes as the manifest, for a test to change; `solo` is deep, so that there is something that is."""
    entries = {
        name: {"bounds": bounds, "verify": {"goals": False}, "expect": {"AS_CODED": deepcopy(expectation(name))}}
        for name, bounds in BOUNDS.items()
    }
    entries["solo"]["verify"]["deep"] = True
    given = {"scope": entries}
    monkeypatch.setattr(scopes, "manifest", lambda: given)
    monkeypatch.setattr(expectations, "manifest", lambda: given)
    scopes.scopes.cache_clear()
    yield entries
    scopes.scopes.cache_clear()


class Bars:
    """A stand-in for rich's bars: of each, every title, and how much of how much was done at last."""

    def __init__(self) -> None:
        self.told: list[tuple[list[str], int, int | None]] = []

    def __call__(self, *_: object, **_options: object) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_task(self, title: str, total: int | None) -> int:
        self.told.append(([title], 0, total))
        return len(self.told) - 1

    def update(self, task: int, completed: int, total: int | None, description: str) -> None:
        titles, _, of = self.told[task]
        self.told[task] = ([*titles, description], completed, of if total is None else total)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    """What the bars of a command tell a person at a terminal."""
    import_module("model_check.cli.enumerate")  # which would keep what is put in the place of `is_watched` here
    made = Bars()
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    monkeypatch.setattr(drawn_bars, "Progress", made)
    return made


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for compiled kernels that all tests of a run share."""
    return str(tmp_path_factory.mktemp("kcheck"))


INVENTORY = "gate inventory"


@pytest.fixture
def kcheck(manifest: dict[str, Any], kernels: str, monkeypatch: pytest.MonkeyPatch) -> Kcheck:
    """Run a command line on the small manifest: no recordings, live runs, planted faults and inventory are in it."""
    assert manifest
    monkeypatch.setenv("KCHECK_CACHE", kernels)
    for outside in ("judgements", "live_runs", "planted_faults"):
        monkeypatch.setattr(gate, outside, lambda **_: iter(()))
    monkeypatch.setattr(gate, "_inventoried", list)  # which has other scopes and systems than these
    monkeypatch.setattr(verify, "accepted", lambda: {name: when for name, when in gate.gate() if name != INVENTORY})
    for module in (exploration, proof):
        monkeypatch.setattr(module, "with_system_compared", lambda run, *_: run)  # as above
    monkeypatch.setattr(verify_options, "fitting", lambda *_: 1)  # another process would not know this manifest
    monkeypatch.setattr(coverage, "shared_out", partial(shared_out, helpers=0))  # nor would that one
    monkeypatch.setattr(reuse, "are_as_loaded", lambda: False)  # tests put faults into what a key takes for granted

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return run


@pytest.fixture
def ctrl_c_behind_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody presses ctrl-c as an exploration ends."""
    real = exploration.run

    def pressed(task: exploration.Task) -> Any:
        found = real(task)
        with interruptible():
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(exploration, "run", pressed)
