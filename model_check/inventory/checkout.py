"""Whether our own files are a checkout of the repository, or were installed from a wheel.

What is installed in a virtual environment may lie within a checkout of somebody else's project. Git would then tell
that project's revisions and changes, as if they were ours.
"""

import subprocess
from pathlib import Path


def is_checkout(root: Path) -> bool:
    """Whether a folder is the top of a checkout."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0 and Path(done.stdout.rstrip("\n")).resolve() == root.resolve()
