"""The command that repeats a run, which a failing run prints."""

from __future__ import annotations

import shlex
from pathlib import Path

from fencepost.results.records.folder import RunFolder


def replay_command(what: RunFolder | Path) -> str:
    """Return the command for a run folder or a plan file, quoted for a shell."""
    path = what.path if isinstance(what, RunFolder) else what
    return f"fencepost replay {shlex.quote(str(path))}"
