"""`python -m model_check.benchmarks.warming BYTES`: use so much memory and give it back.

A virtual machine's host takes memory back that lies idle, and hands it out again page by page, at up to four seconds a
gigabyte: more than our whole search takes. So each engine starts with memory that was in use just before.
"""

import mmap
import subprocess
import sys


def warm(amount: int) -> None:
    """Use so many bytes and give them back, in a process of its own: what this one takes at most is measured."""
    subprocess.run([sys.executable, "-m", "model_check.benchmarks.warming", str(amount)], check=True)


def _use(amount: int) -> None:
    with mmap.mmap(-1, max(1, amount), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for place in range(0, amount, mmap.PAGESIZE):
            memory[place] = 1


if __name__ == "__main__":
    _use(int(sys.argv[1]))
