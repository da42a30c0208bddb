"""Both texts of the hash give the same, and it spreads."""

from pathlib import Path

import numpy as np
import pytest

from model_check.kernel.expansion import expand_block, make_tally
from model_check.kernel.hashing import hash_rows
from model_check.kernel.kernel import load_kernel
from model_check.kernel.slicing import BLOCK
from tests.model_check.systems import odometer


@pytest.mark.parametrize("wheels", [3, 20, 40])  # one, two and three words
def test_actions_write_the_hashes_of_what_they_write(wheels: int, tmp_path: Path) -> None:
    kernel = load_kernel(odometer(wheels, 15), tmp_path)
    generator, scratch = np.random.default_rng(wheels), kernel.make_scratch()
    states = [{one: int(generator.integers(0, 16)) for one in kernel.packing.places} for _ in range(BLOCK)]
    rows = np.array([kernel.packing.pack(state) for state in states])
    made = expand_block(kernel.program, rows, 0, BLOCK, scratch, make_tally(len(kernel.predicates)))
    assert made > BLOCK
    assert len(np.unique(scratch.hashes[:made])) > made // 2
    assert scratch.hashes[:made].tolist() == hash_rows(scratch.successors[:made]).tolist()


def test_hashes_spread() -> None:
    # 100,000 neighbouring states over 2**20 buckets: with chance alone, about 4,600 pairs share one.
    rows = np.zeros((100_000, 4), dtype=np.uint64)
    rows[:, 2] = np.arange(100_000)
    buckets = np.unique(hash_rows(rows) >> np.uint64(44))
    assert 100_000 - 5_200 < len(buckets) < 100_000 - 4_000
