"""`kcheck --version`: which revision of the project runs, on what."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version

from model_check.inventory.checkout import is_checkout
from model_check.inventory.sources import ROOT


def versions() -> str:
    """A line for the project and its revision, and one for each thing that a verdict depends on."""
    return "".join(
        f"{line}\n"
        for line in (
            f"kcheck {_library('kafka-controller-spec')} ({revision()})",
            f"Python {platform.python_version()}",
            *(f"{name} {_library(library)}" for name, library in (("z3", "z3-solver"), ("Spark", "pyspark"))),
            f"numba {_library('numba')}, llvmlite {_library('llvmlite')}",
            f"Java {_java()}",
            f"Files that are named as spec/... and model_check/... are in {ROOT}",
        )
    )


def revision() -> str:
    """The revision of the checkout, and whether files differ from it; outside of a checkout, that there is none."""
    commit = is_checkout(ROOT) and _said("git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD")
    if not commit:
        return "no git checkout"
    return f"revision {commit}{' and changes' if _said('git', '-C', str(ROOT), 'status', '--porcelain') else ''}"


def _library(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _java() -> str:
    """What java says of itself, on standard error: `openjdk version "17.0.15" ...`."""
    said = _said("java", "-version")
    return said.split('"')[1] if said.count('"') >= 2 else "not found"


def _said(*command: str) -> str:
    """The first line that a program prints; nothing if it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines and done.returncode == 0 else ""
