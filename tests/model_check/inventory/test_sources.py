"""Which files a check runs, read from the text of the imports."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.inventory import sources as module
from model_check.inventory.sources import ROOT, are_as_loaded, digest_of_files, reached, sources

FILES: Mapping[str, bytes] = {
    "spec/__init__.py": b"",
    "spec/a.py": b"import spec.b\n",
    "spec/b.py": b"def f():\n    from spec.c import x\n",
    "spec/c/__init__.py": b'__import__("model_check.late")\n',
    "spec/c/data.toml": b"",
    "spec/d.py": b"from spec import (\n    a,\n    e as f,\n)\n",
    "spec/e.py": b"",
    "spec/manifest.toml": b"",
    "model_check/__init__.py": b"",
    "model_check/late.py": b"",
    "model_check/unseen.py": b"",
}


def test_imports_are_followed_wherever_they_stand() -> None:
    """At the head, inside a function, as a string; with the packages around, and the data beside."""
    found = {
        "spec/__init__.py", "spec/a.py", "spec/b.py", "spec/c/__init__.py", "spec/c/data.toml",
        "model_check/__init__.py", "model_check/late.py",
    }  # fmt: skip
    assert reached(["spec.a"], files=FILES) == found
    assert reached(["spec.d"], files=FILES) == found | {"spec/d.py", "spec/e.py"}


def test_what_only_makes_terms_is_a_source_but_not_what_it_imports() -> None:
    assert reached(["spec.a"], ["spec.b"], files=FILES) == {"spec/__init__.py", "spec/a.py", "spec/b.py"}


def test_of_a_package_around_what_is_imported_the_functions_are_left_out() -> None:
    """They are followed where the package itself is named."""
    lazy = b"import spec.e\nif TYPE_CHECKING:\n    import spec.d\n\ndef f():\n    from spec.d import x\n"
    files = {**FILES, "spec/c/__init__.py": lazy, "spec/c/g.py": b""}
    around = {"spec/__init__.py", "spec/c/__init__.py", "spec/c/data.toml", "spec/c/g.py", "spec/e.py"}
    assert reached(["spec.c.g"], files=files) == around
    assert reached(["spec.c.g", "spec.b"], files=files) >= {*around, "spec/d.py"}
    assert reached(["spec.b", "spec.c.g"], files=files) >= {*around, "spec/d.py"}


@pytest.mark.parametrize(
    "package",
    [
        b"def f():\n    import spec.d\n\nX = f()\n",
        b"def g():\n    import spec.d\n\ndef f():\n    g()\n\nif TYPE_CHECKING:\n    Y = 1\nelse:\n    f()\n",
        b"def f(of):\n    import spec.d\n\n@f\ndef g(): ...\n",
        b"def f(of=import_module('spec.d')): ...\n",
        b"@import_module('spec.d')\nclass A: ...\n",
        b"if TYPE_CHECKING:\n    import spec.b\nelse:\n    import spec.d\n",
    ],
)
def test_what_a_package_around_calls_as_it_is_loaded_is_followed(package: bytes) -> None:
    """Also what that calls, what decorates it, its defaults, and what is there where types are not checked."""
    assert "spec/d.py" in reached(["spec.c.g"], files={**FILES, "spec/c/__init__.py": package, "spec/c/g.py": b""})


@pytest.mark.parametrize(
    "importer",
    [
        b"import spec\n",
        b"def f():\n    import os, spec as s  # whose face it is\n",
        b"f = import_module('spec')\n",
        b'f = __import__(\n    "spec")\n',
    ],
)
def test_a_package_that_is_imported_by_its_name_alone_is_followed(importer: bytes) -> None:
    """Into its functions, too, for who imports it may call them; a word is no import."""
    files = {**FILES, "spec/__init__.py": b"def face():\n    from spec.e import x\n", "model_check/late.py": importer}
    assert {"spec/__init__.py", "spec/e.py"} <= reached(["model_check.late"], files=files)
    files["model_check/late.py"] = b"import os  # nothing of spec\nspec = 'import spec'\n"
    assert reached(["model_check.late"], files=files) == {"model_check/__init__.py", "model_check/late.py"}


def test_a_digest_changes_with_any_byte_and_any_name() -> None:
    some = ["spec/a.py", "spec/b.py"]
    other = {**FILES, "spec/b.py": FILES["spec/b.py"] + b"\n"}
    moved = {**FILES, "spec/a.py": FILES["spec/b.py"], "spec/b.py": FILES["spec/a.py"]}
    digests = {digest_of_files(some, files) for files in (FILES, other, moved)} | {digest_of_files(some[:1], FILES)}
    assert len(digests) == 4
    assert digest_of_files(some, FILES) == digest_of_files(some[::-1], FILES)


@pytest.mark.parametrize(
    "entry",
    [pytest.param("model_check.checks.exploration", marks=pytest.mark.slow), "model_check.checks.recorded_checks"],
)
def test_all_that_python_loads_of_ours_is_reached(entry: str) -> None:
    """What is loaded by importing a module is known from outside: Python says it."""
    program = f"import sys, {entry}\nprint(*(getattr(one, '__file__', None) for one in list(sys.modules.values())))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = {os.path.relpath(file, ROOT) for file in said.split()} & set(sources())
    assert len(loaded) > 100
    assert loaded <= reached([entry])


def test_files_are_as_loaded_until_one_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = module._changed()
    monkeypatch.setattr(module, "_changed", lambda: changed)
    latest = max(changed.values())
    monkeypatch.setattr(module, "_began", lambda: latest)
    assert are_as_loaded()
    changed["spec/system.py"], before = latest + 1, changed["spec/system.py"]
    assert not are_as_loaded()
    changed["spec/system.py"] = before
    assert are_as_loaded()
    del changed["spec/system.py"]
    assert not are_as_loaded()


def test_this_process_began_a_short_while_ago(tmp_path: Path) -> None:
    """A file that was just written is younger."""
    (tmp_path / "new").touch()
    assert 0 < module._began() < (tmp_path / "new").stat().st_ctime_ns
