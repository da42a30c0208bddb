"""The plain definition of the digest of a set of states, which `model_check/explicit_state/digest.py` must equal."""

from collections.abc import Mapping
from functools import lru_cache

from model_check.explicit_state.digest import LANE, SetDigest, codes
from spec.language.rules import Variable

_A, _B, _C = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15


def mixed(low: int, high: int) -> tuple[int, int]:
    """A bijection of both lanes in which every bit of the result depends on every bit of the sum."""
    low = avalanche(low ^ high * _C & LANE)
    return low, avalanche(high ^ low * _C & LANE)


def avalanche(lane: int) -> int:
    """The finalizer of splitmix64."""
    lane = (lane ^ lane >> 30) * _A & LANE
    lane = (lane ^ lane >> 27) * _B & LANE
    return lane ^ lane >> 31


_codes = lru_cache(maxsize=4096)(codes)
"""Those of a variable are made once, not for every state."""


def add_plainly(digest: SetDigest, variables: tuple[Variable, ...], state: Mapping[str, int]) -> SetDigest:
    """The digest with one more state in the set: the definition."""
    chosen = [_codes(variable)[state[variable.name]] for variable in variables]
    low, high = mixed(sum(low for low, _ in chosen) & LANE, sum(high for _, high in chosen) & LANE)
    return digest + SetDigest(1, low, high)
