"""Every script of a theme as cases: of what the controller does, and of what it logs."""

from collections.abc import Iterable, Iterator

from model_check.conformance.making.cases import Case, vector_of
from model_check.conformance.making.controlled import case_of, walked
from model_check.conformance.making.logged import kinds_of, log_case, shows
from model_check.conformance.vector import Vector


def every_case(theme: str) -> list[Case]:
    """What each script comes to, and what is logged of it, where that is compared."""
    walker, found = walked(theme)
    done, kinds = [case_of(theme, walker, one) for one in found], kinds_of(found)
    logged = [log_case(case, one, kinds) for case, one in zip(done, found, strict=True) if shows(theme, one)]
    return [*done, *logged]


def vectors_of(theme: str, cases: Iterable[Case]) -> Iterator[Vector]:
    """The cases as vectors."""
    return (vector_of(f"kcs-{theme}-{number:04}", one) for number, one in enumerate(cases))
