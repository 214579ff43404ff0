"""The files that testcases name, the same on each machine."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

KEPT = 2
"""Last parts of an absolute path that are kept: the folder of a checkout differs from machine to machine."""


def stable(path: str | None) -> str:
    """Return a path as it is, but of an absolute one only its last parts; empty for none."""
    text = (path or "").strip()
    is_windows = PureWindowsPath(text).is_absolute()
    if not is_windows and not PurePosixPath(text).is_absolute():
        return text
    parts = (PureWindowsPath if is_windows else PurePosixPath)(text).parts[1:]
    return "/".join(parts[-KEPT:])
