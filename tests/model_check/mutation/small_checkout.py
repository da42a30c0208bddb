"""A checkout of two modules and their tests, in which a mutant is soon asked about."""

import subprocess
from pathlib import Path
from typing import Final

FILES: Final = {
    "tests/conftest.py": "",
    "model_check/__init__.py": "",
    "model_check/least.py": "def least(a, b):\n    return a if a < b else b\n",
    "model_check/using.py": "from model_check.least import least\n\n\ndef all_least(some):\n    return least(*some)\n",
    "tests/model_check/test_least.py": (
        "from model_check.least import least\n\n\ndef test_of_two():\n    assert least(1, 2) == least(2, 1) == 1\n"
    ),
    "tests/model_check/test_using.py": (
        "from model_check.using import all_least\n\n\ndef test_of_some():\n    assert all_least([3, 4]) == 3\n"
    ),
}


def small_checkout(folder: Path, **changed: str) -> Path:
    """The checkout, with other texts of some modules, by their names."""
    for path, text in FILES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changed.get(file.stem, text), encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder
