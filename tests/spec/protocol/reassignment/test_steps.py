"""The worked examples of PROTOCOL.md section 8, as the specification goes through them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.model import Model
from spec.scopes import Scope, scope
from spec.variants import AS_CODED
from tests.reassignment_examples import EXAMPLES
from tests.reassignment_moves import Make
from tests.reassignment_odd_targets import ODD_TARGETS


class Specified:
    """The specification of a cluster that has settled, led step by step."""

    def __init__(self, scope: Scope) -> None:
        self.system = OpenSystem(Model(scope, AS_CODED))
        self.state: PlainState = self.system.initial

    def can(self, rule: str, **parameters: int) -> bool:
        """Whether a rule is enabled."""
        return self.system.step(self.state, rule, parameters) is not None

    def do(self, rule: str, **parameters: int) -> list[str]:
        """Take a step; what was seen of it, as text."""
        step = self.system.step(self.state, rule, parameters)
        assert step is not None, f"{rule}({parameters}) is not enabled"
        self.state, seen, _ = step
        return [str(one) for one in seen]

    def __getitem__(self, path: str) -> str:
        """A variable as text."""
        values: Mapping[str, Any] = {name: self._show(keys, cell) for name, keys, cell in self.system.layout.names}
        return str(values[path])

    def _show(self, keys: tuple[Any, ...], cell: Any) -> str:
        record: Any = self.state
        for key in keys[:-1]:
            record = record.get(key, {})
        return str(cell.kind.show(record.get(keys[-1], cell.initial)))


@pytest.mark.parametrize("example", [*EXAMPLES, *ODD_TARGETS], ids=lambda example: example.__name__)
def test_the_specification_goes_through_the_example(example: Callable[[Make], None]) -> None:
    example(Specified)


def test_rar_goes_online_in_its_own_order() -> None:
    """Each replica of RAR has a batch of its own, of which everybody gets the UpdateMetadata.

    Recording 11a, requests 75 and 76 to broker 3: the first batch is that for broker 1, since RAR is [2, 1, 3].
    """
    bounds = scope("reassignment_again")
    told = Specified(replace(bounds, parts=bounds.parts | {"connections", "metadata"}, connection_capacity=4))
    told.do("request_reassignment", k=0)
    told.do("on_reassignment_request", c=1)
    told.do("accept_reassignment", c=1, p=0)
    told.do("read_whether_caught_up", c=1, p=0)
    stages = {b: [told[f"connections[1][{b}][{place}].stage"] for place in range(3)] for b in (1, 2)}
    assert stages == {
        1: ["UPDATE_METADATA", "LEADER_AND_ISR", "EMPTY"],
        2: ["LEADER_AND_ISR", "UPDATE_METADATA", "EMPTY"],
    }
