"""Files that tests write again and again."""

from pathlib import Path


def written_anew(file: Path, content: bytes) -> Path:
    """The file, with this content; to cut one to nothing and write it again would wait for the disk."""
    file.unlink(missing_ok=True)
    file.write_bytes(content)
    return file
