"""What a check is about, as all of them say it."""

from dataclasses import dataclass

from spec.variants import Switches, show_switches


@dataclass(frozen=True)
class Subject:
    """A scope under switches."""

    scope: str
    switches: Switches

    @property
    def variant(self) -> str:
        """The switches as text."""
        return show_switches(self.switches)

    @property
    def title(self) -> str:
        """What is checked, on a bar."""
        return f"{self.scope} {self.variant}"
