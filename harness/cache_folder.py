"""The folder for everything that is fetched or prepared once, for all projects of a user."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return `~/.cache/fencepost`, or the folder `fencepost` of `$XDG_CACHE_HOME`. It need not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fencepost"
