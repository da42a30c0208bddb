"""What counts as an epoch that goes back: any reset but a resignation's, and but what a process takes along."""

from typing import Any

import pytest

from model_check.stepping.open_system import Taken, open_system
from spec.claims.controller import epochs_never_go_back
from spec.state.enumerations import At, Session

OPENED = open_system(2, (), (), controller_epochs=3)
LIVE = list(Session).index(Session.LIVE)
ACTIVE = {"epoch": 2, "active": 1, "at": list(At).index(At.IDLE), "listening": {"brokers": 1}}
RESIGNED = {"at": list(At).index(At.ELECT_READ)}


def keeps(controller: dict[str, Any], *, session: int = LIVE, epoch: int = 2) -> bool:
    """Whether an active controller of epoch 2 that becomes this one keeps the claim; `epoch` is ZooKeeper's then."""
    before, after = (
        OPENED.view({"processes": {1: {"session": one}}, "controllers": {1: mine}, "zookeeper": {"epoch": known}})
        for one, mine, known in ((LIVE, ACTIVE, 2), (session, controller, epoch))
    )
    value = epochs_never_go_back.function(before, after, OPENED.model, Taken("any", {"c": 1}))
    assert value is not None
    return bool(value.raw)


def test_a_resignation_and_the_end_of_the_process_forget_the_epoch() -> None:
    assert keeps(ACTIVE)
    assert keeps({**ACTIVE, "epoch": 3}, epoch=3)
    assert keeps(RESIGNED)
    assert keeps({**ACTIVE, "epoch": 0}, session=list(Session).index(Session.NONE))


@pytest.mark.parametrize(
    "left",
    [
        {**ACTIVE, "epoch": 1},
        {**ACTIVE, "epoch": 0},
        {**RESIGNED, "epoch": 1},
        {**RESIGNED, "active": 1},
        {**RESIGNED, "listening": {"brokers": 1}},
        {**RESIGNED, "at": list(At).index(At.READ_EPOCH)},
    ],
)
def test_any_other_reset_goes_back(left: dict[str, Any]) -> None:
    assert not keeps(left)


def test_zookeepers_epoch_does_not_go_back_either() -> None:
    assert not keeps(ACTIVE, epoch=1)
