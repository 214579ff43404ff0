"""The one line that a failing run prints: how to see it again."""

from __future__ import annotations

import shlex
from pathlib import Path

from results.records.folder import RunFolder


def replay_command(what: RunFolder | Path) -> str:
    """For a run, or for a plan file. It can be pasted into a shell."""
    path = what.path if isinstance(what, RunFolder) else what
    return f"fencepost replay {shlex.quote(str(path))}"
