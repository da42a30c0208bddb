"""What a defect's row says: how an enumeration finds it, and what makes it disappear."""

from dataclasses import dataclass

from spec.variants import AS_CODED, Switch, Switches


@dataclass(frozen=True)
class Defect:
    """One row.

    `breaks` names a property. `first_depth` is the length of the shortest trace under `base` that takes the `defining`
    steps in their order (a rule, such as "crash", a single action, such as "crash(b=2)", or a kind of what is seen) and
    breaks it. `fix` are the switches to turn over: with the fixes among them on, and the older behaviour off, there is
    no such trace; none, where only another design would help. Unless said otherwise it is each switch whose text names
    the defect; and what older behaviour is in it, `base` has. `remains` says what 0.10.2 has of it still, where `base`
    reintroduces more.
    """

    id: str
    title: str
    breaks: str
    scope: str
    first_depth: int
    fix: Switches = frozenset()
    base: Switches = AS_CODED
    defining: tuple[str, ...] = ()
    remains: str = ""

    def __post_init__(self) -> None:
        fix = self.fix or frozenset(one for one in Switch if self.id.partition("-")[0] in one.defects)
        object.__setattr__(self, "fix", fix)
        object.__setattr__(self, "base", self.base | {one for one in fix if one.reintroduces})

    @property
    def fixed(self) -> Switches:
        """The switches under which the defect must be gone."""
        return self.base ^ self.fix

    @property
    def remedy(self) -> str:
        """The fix as text: the fixes by name, and what is no longer so."""
        names = sorted(self.fix, key=lambda one: one.name)
        return ", ".join(f"not {one.name}" if one.reintroduces else one.name for one in names) or "nothing"


@dataclass(frozen=True)
class Unfound:
    """A defect that no enumeration here shows, and why; what a real run shows `breaks` a property, and has a `fix`."""

    id: str
    title: str
    reason: str
    breaks: str = ""
    fix: Switches = frozenset()
