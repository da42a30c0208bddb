"""The systems that the manifest expects anything of, and the fact of each: its digests, part by part."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Final, TypeVar

from model_check.inventory.system_digests import digests
from model_check.kernel.system_digest import for_the_last_system
from model_check.verdicts.second_process import leave_to_the_first_process
from spec.expectations import Plan
from spec.language.rules import TransitionSystem
from spec.scopes import Scope, scope
from spec.system import system
from spec.variants import Switches, show_switches, switches_named

Found = TypeVar("Found")

FEW: Final = 4
"""So many systems are built sooner than another process is there."""


@dataclass(frozen=True)
class SystemKey:
    """Which system: a scope under switches, for a proof or to be explored."""

    scope: str
    switches: Switches
    proving: bool = False

    @property
    def name(self) -> str:
        """The name of its fact."""
        return f"system {self.scope} {show_switches(self.switches)}{' proving' if self.proving else ''}"

    def built(self) -> TransitionSystem:
        """The system itself; the last ones are kept, since several checks ask for one, and its key does."""
        return _built(scope(self.scope), self.switches, self.proving)


@lru_cache(maxsize=2)
def _built(bounds: Scope, switches: Switches, proving: bool) -> TransitionSystem:
    return system(bounds, switches, proving=proving)


def system_keys(plans: Iterable[Plan]) -> Iterator[SystemKey]:
    """Every system that is explored, proved something of, or has a crash matrix; each once."""
    found: dict[SystemKey, None] = {}
    for plan in plans:
        found |= dict.fromkeys(SystemKey(plan.scope, one.switches) for one in plan.explorations)
        found |= dict.fromkeys(SystemKey(plan.scope, one.switches, proving=True) for one in plan.proofs)
        expected = plan.matrix.expected if plan.matrix is not None else ()
        found |= dict.fromkeys(SystemKey(plan.scope, switches_named(one)) for one in expected)
    yield from found


digests_of: Final = for_the_last_system(digests)
"""The digests of a system's parts; those of the last system are kept, since they are asked for twice."""


def system_fact(built: TransitionSystem) -> str:
    """What the inventory has of a system."""
    sizes = f"{len(built.variables)} variables, {len(built.actions)} actions, {len(built.properties)} claims"
    return f"{sizes}: {', '.join(f'{part} {digest}' for part, digest in digests_of(built).items())}"


def system_facts(
    keys: Iterable[SystemKey], tell: Callable[[int, str], None] = lambda _done, _what: None
) -> Iterator[tuple[str, str]]:
    """The facts of some systems; `tell` hears how far it is."""
    wanted = list(keys)
    for done, (key, found) in enumerate(zip(wanted, of_each(_fact, wanted), strict=True), start=1):
        tell(done, key.scope)
        yield found


def of_each(what: Callable[[SystemKey], Found], keys: Sequence[SystemKey]) -> Generator[Found, None, None]:
    """Something of each system, in their order, found by as many processes as there are processors."""
    if len(keys) <= FEW:
        yield from map(what, keys)
        return
    pool = ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=leave_to_the_first_process)
    try:
        yield from pool.map(what, keys)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _fact(key: SystemKey) -> tuple[str, str]:
    return key.name, system_fact(key.built())
