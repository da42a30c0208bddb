"""The project as it is where it was installed: what a wheel has of the checkout, and nothing else of it.

`put_together` makes what a wheel is packed from, with nothing but setuptools; `wheel` makes the wheel, as pip does,
which fetches what builds it. Either is made from a copy, since both leave folders behind where they run.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("spec", "reference", "model_check")
NAMED = ("pyproject.toml", "README.md", "LICENSE")
CALLED = "from model_check.cli import main; main()"


def tracked(*folders: str) -> list[str]:
    """The files that git knows below some folders, or would know; what else lies there is a cache."""
    told = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if told.returncode:
        pytest.skip("no git checkout: which files a wheel has to have is not known")
    return sorted({one for one in told.stdout.split("\0") if one and (ROOT / one).is_file()})


def copied(to: Path) -> Path:
    """A copy of what is built, as a checkout has it."""
    for one in (*NAMED, *tracked(*PACKAGES, "tests")):
        (to / one).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / one, to / one)
    return to


def put_together(folder: Path) -> Path:
    """The folder that a wheel is packed from."""
    pytest.importorskip("setuptools", reason="no setuptools here, with which a wheel is put together")
    built = folder / "built"
    command = [sys.executable, "-W", "ignore", "-c", "import setuptools; setuptools.setup()", "-q", "build_py"]
    done = subprocess.run(
        [*command, "--build-lib", str(built)], cwd=copied(folder / "copy"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return built


def wheel(folder: Path) -> Path:
    """The wheel, as pip makes it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(folder),
    ]
    done = subprocess.run(
        [*command, str(copied(folder / "copy"))], cwd=folder, capture_output=True, text=True, check=False
    )
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("pip cannot fetch setuptools, with which it makes a wheel")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def run(site: Path, *arguments: str, within: Path, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program as it lies in a folder, with nothing of this checkout in reach."""
    around = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KCHECK_CACHE")}
    around |= {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        around["KCHECK_CACHE"] = str(cache)
    return subprocess.run(
        [sys.executable, "-P", "-c", CALLED, *arguments],
        cwd=within, env=around, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
