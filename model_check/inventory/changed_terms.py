"""Which systems have other terms than the accepted ones, found as fast as that can be.

What is known of a system as the code is now is taken from the cache folder. After an edit of the code all are built,
the ones of fewest states first, so that the first answer is there at once, by as many processes as there are
processors.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from model_check.inventory.known_terms import KnownTerms, Parts, parts_of
from model_check.inventory.system_facts import SystemKey, of_each

TERMS: Final = ("variables", "actions", "claims", "rows")
"""The parts of a system's digests that an exploration depends on."""


def changed_terms(keys: Iterable[SystemKey], accepted: Mapping[str, str]) -> Iterator[tuple[SystemKey, bool]]:
    """Every system in the order given, and whether its terms are others than those of its accepted fact."""
    asked, known = list(keys), KnownTerms()
    found = {key: known.get(key) for key in dict.fromkeys(asked)}
    made = of_each(parts_of_system, [key for key, parts in found.items() if parts is None])
    try:
        for key in asked:
            parts = found[key]
            if parts is None:
                parts = found[key] = next(made)
                known.put(key, parts)
            yield key, _terms(parts) != terms_of_fact(accepted.get(key.name, ""))
    finally:
        made.close()


def terms_of_fact(fact: str) -> Parts:
    """The digests of a system's terms, from the fact that the inventory has of it."""
    return _terms(parts_of_fact(fact))


def parts_of_fact(fact: str) -> Parts:
    """The digests of all parts of a system, from the fact that the inventory has of it."""
    parts = [one.split(" ") for one in fact.partition(": ")[2].split(", ")]
    return {one[0]: one[1] for one in parts if len(one) == 2}


def parts_of_system(key: SystemKey) -> Parts:
    """The digests of the parts of a system, which is built for that."""
    return parts_of(key.built())


def _terms(parts: Parts) -> Parts:
    return {part: digest for part, digest in parts.items() if part in TERMS}
