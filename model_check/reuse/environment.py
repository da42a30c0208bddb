"""What a check depends on beside our own files: Python, every installed library by its version, Java, and the machine.

Every library counts, also one that no check uses: to run a check once too often after an upgrade costs minutes, to
reason about which of them matters costs trust.
"""

import platform
import shutil
import sys
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import z3


@cache
def environment() -> str:
    """One line for each thing, as text."""
    return "\n".join((f"Python {sys.version}", f"machine {_machine()}", f"Java {_java()}", *libraries()))


def libraries() -> tuple[str, ...]:
    """Every installed distribution and its version; z3 says its own, which is that of the library that was loaded."""
    found = {f"library {one.name} {one.version}" for one in distributions()}
    return (*sorted(found), f"z3 {z3.get_full_version()}")


def _machine() -> str:
    return f"{platform.system()} {platform.machine()} {sys.byteorder}"


def _java() -> str:
    """The program that starts Spark and ZooKeeper, known by place and size: to ask it for its version takes long."""
    found = shutil.which("java")
    if found is None:
        return "none"
    program = Path(found).resolve()
    return f"{program} {program.stat().st_size} {program.stat().st_mtime_ns}"
