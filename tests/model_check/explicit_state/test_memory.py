"""How much memory a process may take, in control groups of either version, real ones among them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_check.explicit_state import memory
from model_check.explicit_state.memory import VERSION_1, VERSION_2, _Files, free_memory

MIB = 1 << 20


def group(folder: Path, files: _Files, limit: str, used: int, caches: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / files.limit).write_text(f"{limit}\n")
    (folder / files.used).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"cache 1\n{files.caches} {caches}\n")


def process(folder: Path, groups: str, mounts: str) -> Path:
    """What Linux tells of a process."""
    (folder / "cgroup").write_text(groups)
    (folder / "mounts").write_text(mounts)
    return folder


def version_1(folder: Path, mine: str) -> Path:
    mounts = (
        f"proc /proc proc rw 0 0\ncgroup {folder}/cpu cgroup rw,cpu 0 0\ncgroup {folder}/memory cgroup rw,memory 0 0\n"
    )
    return process(folder, f"5:cpu:/elsewhere\n4:memory:{mine}\n0::/\n", mounts)


def version_2(folder: Path, mine: str) -> Path:
    return process(folder, f"0::{mine}\n", f"cgroup2 {folder}/unified cgroup2 rw,nsdelegate 0 0\n")


@pytest.fixture(autouse=True)
def _large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_of_machine", lambda: 1 << 40)


def free(monkeypatch: pytest.MonkeyPatch, told: Path) -> int:
    monkeypatch.setattr(memory, "PROCESS", told)
    return free_memory()


def test_a_group_of_version_1_leaves_what_its_limit_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group(tmp_path / "memory" / "mine", VERSION_1, str(700 * MIB), 300 * MIB, caches=100 * MIB)
    group(tmp_path / "memory", VERSION_1, "9223372036854771712", 900 * MIB)
    assert free(monkeypatch, version_1(tmp_path, "/mine")) == 500 * MIB


def test_a_group_of_version_2_leaves_what_its_limit_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group(tmp_path / "unified" / "a" / "mine", VERSION_2, str(700 * MIB), 300 * MIB, caches=100 * MIB)
    group(tmp_path / "unified" / "a", VERSION_2, "max", 900 * MIB)
    assert free(monkeypatch, version_2(tmp_path, "/a/mine")) == 500 * MIB


def test_the_smallest_limit_on_the_way_up_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group(tmp_path / "unified" / "a" / "mine", VERSION_2, str(700 * MIB), 0)
    group(tmp_path / "unified" / "a", VERSION_2, str(800 * MIB), 600 * MIB)
    assert free(monkeypatch, version_2(tmp_path, "/a/mine")) == 200 * MIB


def test_where_the_own_group_is_not_seen_the_mount_is_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container of version 1, which is told its path on the host."""
    group(tmp_path / "memory", VERSION_1, str(700 * MIB), 100 * MIB)
    assert free(monkeypatch, version_1(tmp_path, "/docker/0123")) == 600 * MIB


def test_a_group_that_is_full_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group(tmp_path / "memory" / "mine", VERSION_1, str(100 * MIB), 101 * MIB)
    assert free(monkeypatch, version_1(tmp_path, "/mine")) == 0


def test_without_groups_the_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert free(monkeypatch, tmp_path) == 1 << 40
    assert free(monkeypatch, version_2(tmp_path, "/mine")) == 1 << 40


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A real control group of 700 MiB."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    found = [(one[1], VERSION_1) for one in mounts if one[2] == "cgroup" and "memory" in one[3].split(",")]
    found += [(one[1], VERSION_2) for one in mounts if one[2] == "cgroup2"]
    for mount, files in found:
        folder = Path(mount) / f"kcheck-{os.getpid()}"
        try:
            folder.mkdir()
            (folder / files.limit).write_text(str(700 * MIB))
        except OSError:
            if folder.exists():
                folder.rmdir()
            continue
        yield folder
        folder.rmdir()
        return
    pytest.skip("makes a control group with a limit of memory: Linux lets only root do that")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/sys/fs/cgroup").exists(), reason="makes a control group, which Linux has")
def test_in_a_real_group_a_scope_that_does_not_fit_is_refused(small_group: Path) -> None:
    """In place of being killed without a word."""
    asked = [str(Path(sys.executable).with_name("kcheck")), "explore", "ci"]
    entered = ["sh", "-c", f'echo $$ > {small_group}/cgroup.procs && exec "$@"', "sh", *asked]
    result = subprocess.run(entered, capture_output=True, text=True, check=False)
    assert result.returncode == 4, result.stdout + result.stderr
    assert "memory" in result.stderr
    assert "are free" in result.stderr
