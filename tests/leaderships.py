"""Leaderships for tests, told in one line."""

from spec.formats.leadership import NO_VERSION, LeaderIsrAndControllerEpoch


def led(
    leader: int, leader_epoch: int, isr: tuple[int, ...], controller_epoch: int, zk_version: int = NO_VERSION
) -> LeaderIsrAndControllerEpoch:
    """A leadership with all of its fields."""
    return LeaderIsrAndControllerEpoch(
        controller_epoch=controller_epoch, leader=leader, leader_epoch=leader_epoch, isr=isr, zk_version=zk_version
    )
