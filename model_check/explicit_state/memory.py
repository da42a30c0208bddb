"""How much memory the machine has free."""

import os


def free_memory() -> int:
    """Bytes that the machine has free, file caches counted as free where the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 - a kernel file, not a path of ours
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
