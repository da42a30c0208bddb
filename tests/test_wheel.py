"""A wheel has what the program, its help and its documents name, and works from any folder, without the checkout.

What a wheel is packed from is looked at every day, and run a little; with `--deep` pip makes the wheel itself, and all
verbs are run that need neither a ZooKeeper nor hours.
"""

import ast
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from model_check.cli.verbs import VERBS
from tests import installed
from tests.installed import PACKAGES, ROOT, tracked

NOWHERE = Path("/proc")
"""A folder in which nobody can write, root neither."""

NAMED = re.compile(r"(?<![\w./<~-])(?:spec|reference|model_check)/[\w./-]*\w")
"""A file of ours, as help texts, messages and documents name it."""

nowhere = pytest.mark.skipif(not (NOWHERE / "self").exists(), reason="a folder that nobody can write to, root neither")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel is packed from, as it would lie where it is installed."""
    return installed.put_together(tmp_path_factory.mktemp("wheel"))


def named_in(folder: Path) -> Iterator[tuple[str, str]]:
    """What is named below a folder: by the strings of modules, help texts among them, and in documents."""
    for path in folder.rglob("*"):
        if path.suffix == ".md":
            yield from ((one, path.name) for one in NAMED.findall(path.read_text("utf-8")))
        elif path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from ((one, path.name) for one in NAMED.findall(node.value))


@pytest.mark.takes("It copies the tree, and puts a wheel together.")
def test_a_wheel_has_every_file_of_the_three_packages_and_nothing_else(site: Path) -> None:
    inside = sorted(one.relative_to(site).as_posix() for one in site.rglob("*") if one.is_file())
    assert inside == tracked(*PACKAGES)
    assert {"model_check/RECORDING.md", "spec/PROTOCOL.md", "model_check/reports/page/page.js"} <= set(inside)


@pytest.mark.slow
def test_whatever_is_named_is_in_it(site: Path) -> None:
    """What begins with `tests/` is of the repository, as its name says, and no part of a wheel."""
    named = dict(named_in(site))
    assert {"model_check/RECORDING.md", "model_check/conformance/FORMAT.md", "spec/manifest.toml"} <= named.keys()
    assert {one: by for one, by in named.items() if not (site / one).exists()} == {}


@pytest.mark.slow
@nowhere
def test_it_runs_from_a_folder_in_which_nobody_can_write(site: Path, tmp_path: Path) -> None:
    told = installed.run(site, "--version", within=NOWHERE)
    assert told.stdout.splitlines()[-1].endswith(f" are in {site}"), "nothing of the checkout is in reach"
    assert "(no git checkout)" in told.stdout
    for arguments in (["show", "tables"], ["conform", "--selftest", "--self"]):
        done = installed.run(site, *arguments, within=NOWHERE, cache=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout


SHOWN = (
    "tables", "handlers", "diagrams", "actions", "state", "properties", "scopes", "pairs", "lines", "znodes",
    "requests", "variants", "schema",
)  # fmt: skip
RECORDING, SCRIPT = "30-D50-deadlock", "model_check/conformance/adapters/javascript/adapter.mjs"

DEEP: tuple[tuple[int, str], ...] = (
    *((0, f"show {one}") for one in SHOWN),
    *((0, f"{one} --help") for one in VERBS),
    (0, "explore tiny"),
    (0, "explore tiny --traces {here}/traces"),
    (0, "replay {here}/traces/tiny-AS_CODED-two_brokers_lead.itf.json"),
    (0, "defects D12 --report html={here}/d12.html --report sarif={here}/d12.sarif --report json={here}/d12.json"),
    (0, "show results {here}/d12.json"),
    (0, "judge {here}/" + RECORDING),
    (0, "check tiny"),
    (0, "verify --only explore tiny"),
    (0, "prove proof --property isr_is_within_assigned"),
    (0, "refine tiny"),
    (0, "coverage tiny"),
    (0, "export promela tiny --to {here}/spin"),
    (4, "export promela tiny"),  # which would write beside a checkout
    (3, "conform --self --only elect"),  # not all was asked
    (0, "enumerate tiny --folder {here}/run"),
    (2, "verify --since HEAD"),
    (2, "judge no-such-folder"),
    (2, "replay no-such-file"),
)
"""Verbs with the exit code of each, where nothing can be written but where it is said; `{here}` stands for that."""


@pytest.mark.slow
def test_pip_makes_a_wheel_with_the_same_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(installed.wheel(tmp_path)) as made:
        names = [one for one in made.namelist() if ".dist-info/" not in one]
        assert sorted(names) == tracked(*PACKAGES)
        assert all(made.read(one) == (ROOT / one).read_bytes() for one in names)
        entry = next(one for one in made.namelist() if one.endswith("entry_points.txt"))
        assert "kcheck = model_check.cli:main" in made.read(entry).decode()


@nowhere
@pytest.mark.slow
def test_every_verb_does_its_quickest_from_there(site: Path, tmp_path: Path) -> None:
    with tarfile.open(site / "model_check/shipped/deletions.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for code, line in DEEP:
        arguments = line.format(here=tmp_path).split()
        done = installed.run(site, *arguments, within=NOWHERE, cache=tmp_path / "cache")
        assert done.returncode == code, f"{line}: {done.stdout[-500:]}{done.stderr[-1000:]}"
        assert done.stderr.count("\n") <= 1, f"{line}: {done.stderr}"
        assert done.stdout or code, line
    assert {"d12.html", "d12.sarif", "spin", "run"} <= {one.name for one in tmp_path.iterdir()}


@pytest.mark.slow
@pytest.mark.skipif(which("node") is None, reason="no node on the PATH, which runs the adapter in JavaScript")
def test_the_adapters_that_come_along_run_from_there(site: Path, tmp_path: Path) -> None:
    done = installed.run(site, "conform", "--selftest", "--", "node", str(site / SCRIPT), within=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
